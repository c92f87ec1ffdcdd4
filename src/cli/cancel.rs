//! `crystalmath cancel`: end jobs.

use super::output::{self, Outcome};
use super::session::Session;
use super::wording;
use crate::rpc::types::{CancelJobsParams, JobOutcome, JobState, calls};

/// Arguments of `cancel`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Numbers of the jobs
    #[arg(required = true)]
    pub ids: Vec<i64>,
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    // One id alone is an error of the call when it cannot be cancelled; several have an outcome each.
    let params = match args.ids[..] {
        [id] => CancelJobsParams {
            id: Some(id),
            ids: None,
        },
        _ => CancelJobsParams {
            id: None,
            ids: Some(args.ids.clone()),
        },
    };
    let answer = session.call::<calls::JobsCancel>(&params)?;
    report(session, &answer.raw, &answer.read.data)
}

/// Print what became of each job; 1 if one of them was not done.
pub(super) fn report(
    session: &Session,
    raw: &serde_json::Value,
    outcomes: &[JobOutcome],
) -> Outcome {
    let all = outcomes.iter().all(|outcome| outcome.ok);
    if session.globals.json {
        output::document(raw)?;
        return Ok(u8::from(!all));
    }
    for outcome in outcomes {
        let lead = format!("job {}", outcome.id);
        let message = outcome.message.as_deref().unwrap_or_default();
        let message = &*wording::speak(message, Some(outcome.id));
        if outcome.ok {
            let state = outcome.state.as_ref().map(JobState::as_str);
            let said: Vec<&str> = state
                .into_iter()
                .chain([message])
                .filter(|word| !word.is_empty())
                .collect();
            output::line(&format!("{lead}: {}", said.join(", ")))?;
            continue;
        }
        let named = message.starts_with(&lead) || message.contains(&format!("{lead} "));
        let lead = if named {
            String::new()
        } else {
            format!("{lead}: ")
        };
        let message = if message.is_empty() {
            "not done"
        } else {
            message
        };
        super::session::note(&format!("error: {lead}{message}"));
    }
    Ok(u8::from(!all))
}
