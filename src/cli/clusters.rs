//! `crystalmath clusters`: the machines that jobs can be sent to.

mod change;
mod fields;
mod key;
mod list;
mod login;
mod test;

use super::output::Outcome;
use super::session::Session;
use super::wording::Commands;

/// Arguments of `clusters`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to do; the clusters are listed when left out.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What can be done with clusters.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// List the clusters, and how each does
    List,
    /// Tell everything about one cluster
    Show(list::OneArgs),
    /// Describe a cluster; nothing is tried yet
    Add(Box<change::AddArgs>),
    /// Change what is given, and keep the rest
    Edit(Box<change::EditArgs>),
    /// Forget a cluster; jobs on it that have ended keep its name
    Remove(change::RemoveArgs),
    /// Try a cluster, part by part; it changes nothing there
    Test(list::OneArgs),
    /// Log in with a passphrase, a password or what else the host asks; no answer is stored
    Login(list::OneArgs),
    /// Trust the key that a host shows, after its fingerprint was compared
    AcceptHostKey(key::Args),
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    let outcome = match args.command.as_ref().unwrap_or(&Command::List) {
        Command::List => list::run(session),
        Command::Show(args) => list::show(session, args),
        Command::Add(args) => change::add(session, args),
        Command::Edit(args) => change::edit(session, args),
        Command::Remove(args) => change::remove(session, args),
        Command::Test(args) => test::run(session, args),
        Command::Login(args) => login::run(session, args),
        Command::AcceptHostKey(args) => key::run(session, args),
    };
    outcome.map_err(|failure| failure.of(Commands::Clusters))
}
