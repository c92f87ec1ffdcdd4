//! `crystalmath rerun`: submit a job again.

use super::changes::ChangeArgs;
use super::output::Outcome;
use super::session::Session;
use super::submit::send;
use super::wait::WaitArgs;

/// Arguments of `rerun`.
#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// Number of the job
    pub id: i64,
    /// What differs.
    #[command(flatten)]
    pub changes: ChangeArgs,
    /// Whether to wait for the job.
    #[command(flatten)]
    pub wait: WaitArgs,
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    send(
        session,
        "jobs.rerun",
        args.changes.params(args.id),
        &args.wait,
    )
}
