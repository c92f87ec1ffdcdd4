//! `crystalmath queue`: the jobs of a cluster as its scheduler sees them.

mod act;
mod choose;
mod render;

use super::output::Outcome;
use super::session::Session;
use super::wording::Commands;
use crate::rpc::types::{QueueParams, calls};
use render::Shown;

/// Arguments of `queue`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    /// Which cluster; the only one with a scheduler when left out
    #[arg(value_name = "CLUSTER")]
    pub cluster: Option<String>,
    /// Everybody's jobs, not only your own
    #[arg(long)]
    pub all_users: bool,
    /// What to do with jobs of the queue; they are listed when left out.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What can be done with jobs of a queue.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Ask the scheduler to end jobs
    Cancel(act::Args),
    /// Let held jobs go on
    Release(act::Args),
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    let outcome = match &args.command {
        Some(Command::Cancel(args)) => act::cancel(session, args),
        Some(Command::Release(args)) => act::release(session, args),
        None => list(session, args),
    };
    outcome.map_err(|failure| failure.of(Commands::Clusters))
}

fn list(session: &Session, args: &Args) -> Outcome {
    let cluster = match &args.cluster {
        Some(cluster) => cluster.clone(),
        None => choose::only(session)?,
    };
    let params = QueueParams {
        cluster: cluster.into(),
        all_users: args.all_users.then_some(true),
    };
    let answer = session.call::<calls::SlurmQueue>(&params)?;
    let shown = Shown {
        all_users: args.all_users,
        colour: session.colour(),
    };
    session.print(&answer.raw, || {
        render::queue(answer.read.data, &answer.read.meta, shown)
    })?;
    Ok(0)
}
