//! `crystalmath adopt`: follow a job that was submitted to a cluster by hand.

use super::output::Outcome;
use super::params::Given;
use super::session::Session;
use super::submit;
use super::wait::WaitArgs;
use super::wording::Commands;
use crate::error::IpcError;
use crate::rpc::fit;
use crate::rpc::types::{Reply, SubmitResult};

/// Arguments of `adopt`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which cluster
    #[arg(value_name = "CLUSTER")]
    pub cluster: String,
    /// The scheduler's id
    #[arg(value_name = "JOBID")]
    pub job_id: String,
    /// Which code it runs; told by its files when left out
    #[arg(long, value_name = "CODE")]
    pub code: Option<String>,
    /// Name of the job here; the scheduler's when left out
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Whether to wait for the job.
    #[command(flatten)]
    pub wait: WaitArgs,
}

const METHOD: &str = "slurm.adopt";

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    adopt(session, args).map_err(|failure| failure.of(Commands::Clusters))
}

fn adopt(session: &Session, args: &Args) -> Outcome {
    let mut given = Given::default();
    given.text("cluster", Some(&args.cluster));
    given.text("job_id", Some(&args.job_id));
    given.text("code", args.code.as_ref());
    given.text("name", args.name.as_ref());
    let raw = session.ask(METHOD, given.object())?;
    let reply: Reply<SubmitResult> = fit(METHOD, &raw)?;
    let Some(job) = &reply.data.job else {
        return Err(IpcError::Protocol(format!("{METHOD} names no job")).into());
    };
    let said = submit::accepted(job, "adopted", false);
    super::wait::follow(session, &raw, job.id, &said, &args.wait)
}
