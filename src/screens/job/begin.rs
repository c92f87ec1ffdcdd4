//! What begins with a job that has ended; for the screen of one and for the list.

use crate::app::Row;
use crate::msg::Tone;
use crate::rpc::types::JobState;
use crate::screens::Cx;

/// Start a workflow from what a job has ended with; else from what is written then.
pub(in crate::screens) fn begin_workflow(row: Option<&Row>, cx: &mut Cx<'_>) {
    match row.map(|row| &row.job) {
        Some(job) if job.state == JobState::Completed => {
            cx.begin_workflow(format!("job:{}", job.id));
        }
        Some(job) => {
            let state = job.state.as_str().to_lowercase();
            let words = format!(
                "job {} is {state}; a workflow starts from what a completed job ended with",
                job.id
            );
            cx.toast(Tone::Info, words);
            cx.begin_workflow("");
        }
        None => cx.begin_workflow(""),
    }
}
