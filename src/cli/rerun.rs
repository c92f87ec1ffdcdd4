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
    /// Of a job array only the tasks that did not complete; --array names others
    #[arg(long, conflicts_with = "array")]
    pub failed: bool,
    /// Whether to wait for the job.
    #[command(flatten)]
    pub wait: WaitArgs,
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    let mut params = args.changes.params(args.id);
    if args.failed {
        params["failed_tasks"] = true.into();
    }
    send(session, "jobs.rerun", params, &args.wait)
}
