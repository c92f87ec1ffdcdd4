//! Cancelling and releasing jobs by the scheduler's ids.

use crate::cli::output::{self, Outcome};
use crate::cli::session::{Session, note};
use crate::cli::wording;
use crate::rpc::types::{
    Page, SchedulerJobsParams, SchedulerOutcome, SchedulerOutcomeOutcome, SchedulerOutcomesMeta,
    calls,
};

/// Arguments of `queue cancel` and `queue release`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which cluster
    #[arg(value_name = "CLUSTER")]
    pub cluster: String,
    /// The scheduler's ids: 8100 for all of a job, `8100_3` for one task
    #[arg(required = true, value_name = "JOBID")]
    pub ids: Vec<String>,
}

impl Args {
    fn params(&self) -> SchedulerJobsParams {
        SchedulerJobsParams {
            cluster: self.cluster.clone().into(),
            job_ids: self.ids.clone(),
        }
    }
}

pub(super) fn cancel(session: &Session, args: &Args) -> Outcome {
    let answer = session.call::<calls::SlurmCancel>(&args.params())?;
    report(session, &answer.raw, &answer.read)
}

pub(super) fn release(session: &Session, args: &Args) -> Outcome {
    let answer = session.call::<calls::SlurmRelease>(&args.params())?;
    report(session, &answer.raw, &answer.read)
}

/// Say what became of each; 1 if one of them was not done.
fn report(
    session: &Session,
    raw: &serde_json::Value,
    page: &Page<SchedulerOutcome, SchedulerOutcomesMeta>,
) -> Outcome {
    let failed = |one: &SchedulerOutcome| one.outcome == SchedulerOutcomeOutcome::NotDone;
    let all = !page.data.iter().any(failed);
    if session.globals.json {
        output::document(raw)?;
        return Ok(u8::from(!all));
    }
    for one in &page.data {
        let ours = one
            .job
            .map_or_else(String::new, |job| format!(" (job {job})"));
        let said = match &one.outcome {
            // That it was asked is no proof, so no more is said.
            SchedulerOutcomeOutcome::Asked => "the scheduler was asked",
            SchedulerOutcomeOutcome::AlreadyEnding => "it is ending already",
            SchedulerOutcomeOutcome::NotDone => "not done",
            SchedulerOutcomeOutcome::Other(word) => word,
        };
        let line = format!("{}{ours}: {said}", one.job_id);
        if failed(one) {
            note(&format!("error: {line}"));
        } else {
            output::line(&line)?;
        }
    }
    if let Some(trouble) = &page.meta.trouble {
        note(&wording::speak(trouble, None));
    }
    Ok(u8::from(!all))
}
