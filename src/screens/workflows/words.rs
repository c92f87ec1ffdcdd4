//! Workflows and their steps in words, glyphs and roles, and what is asked of the daemon about one;
//! for the list and for the screen of one.

use serde_json::{Value, json};

use crate::error::IpcError;
use crate::msg::Tone;
use crate::rpc::types::{Reply, StepState, WorkflowResult, WorkflowState, WorkflowSummary};
use crate::screens::{Cx, Question, answers};
use crate::theme::{Glyphs, Role};

/// The token of the question whether to cancel.
pub const ASK_CANCEL: u32 = 1;
const CANCEL: &str = "workflows.cancel";
const RESUME: &str = "workflows.resume";
const RETRY: &str = "workflows.retry";

/// The state in a word, its glyph and its role.
#[must_use]
pub fn look(row: &WorkflowSummary, glyphs: &Glyphs) -> (String, &'static str, Role) {
    let word = state_word(row);
    if row.cancelling {
        return (word, glyphs.cancelled, Role::Cancelled);
    }
    let (glyph, role) = match row.state {
        WorkflowState::Running => (glyphs.running, Role::Running),
        WorkflowState::Waiting => (glyphs.attention, Role::Warn),
        WorkflowState::Completed => (glyphs.completed, Role::Good),
        WorkflowState::Failed => (glyphs.failed, Role::Bad),
        WorkflowState::Cancelled => (glyphs.cancelled, Role::Cancelled),
        WorkflowState::Other(_) => (glyphs.lost, Role::Warn),
    };
    (word, glyph, role)
}

/// The state in a word.
#[must_use]
pub fn state_word(row: &WorkflowSummary) -> String {
    if row.cancelling {
        "cancelling".into()
    } else {
        row.state.as_str().to_lowercase()
    }
}

/// The glyph and the role of a step.
#[must_use]
pub const fn step_look(state: &StepState, glyphs: &Glyphs) -> (&'static str, Role) {
    match state {
        StepState::Running => (glyphs.running, Role::Running),
        StepState::Completed => (glyphs.completed, Role::Good),
        StepState::Failed => (glyphs.failed, Role::Bad),
        StepState::Cancelled => (glyphs.cancelled, Role::Cancelled),
        _ => (glyphs.waiting, Role::Waiting),
    }
}

/// How many steps have ended well, and how many have not: `7/12, 1 failed`.
#[must_use]
pub fn steps_text(row: &WorkflowSummary) -> String {
    let steps = &row.steps;
    let done = format!("{}/{}", steps.completed, steps.total);
    match steps.failed {
        0 => done,
        failed => format!("{done}, {failed} failed"),
    }
}

/// Whether it can be ended.
#[must_use]
pub const fn can_be_cancelled(row: &WorkflowSummary) -> bool {
    let going_on = matches!(row.state, WorkflowState::Running | WorkflowState::Waiting);
    going_on && !row.cancelling
}

/// Whether it can go on.
#[must_use]
pub const fn can_be_resumed(row: &WorkflowSummary) -> bool {
    matches!(row.state, WorkflowState::Waiting | WorkflowState::Cancelled)
}

/// Ask whether to end it.
pub fn ask_cancel(row: &WorkflowSummary, cx: &mut Cx<'_>) {
    let running = match row.steps.running {
        0 => "No job of it runs.".to_owned(),
        1 => "A step of it runs and is ended.".to_owned(),
        count => format!("{count} steps of it run and are ended."),
    };
    let question = Question {
        title: format!("Cancel workflow {}?", row.id),
        lines: vec![
            row.name.clone(),
            running,
            "What it has computed is kept.".into(),
        ],
        yes: "Cancel".into(),
    };
    cx.question(ASK_CANCEL, question);
}

/// Say why there is nothing to end.
pub fn say_ended(row: &WorkflowSummary, cx: &mut Cx<'_>) {
    let state = state_word(row);
    cx.toast(Tone::Warn, format!("workflow {} is {state}", row.id));
}

/// End it.
pub fn cancel(id: i64, cx: &mut Cx<'_>) {
    cx.send(CANCEL, id, CANCEL, json!({"id": id}));
}

/// Go on with it.
pub fn resume(row: &WorkflowSummary, cx: &mut Cx<'_>) {
    if can_be_resumed(row) {
        cx.send(RESUME, row.id, RESUME, json!({"id": row.id}));
    } else {
        let state = row.state.as_str().to_lowercase();
        let words = format!(
            "workflow {} is {state}; one that waits or was cancelled goes on",
            row.id
        );
        cx.toast(Tone::Warn, words);
    }
}

/// Run a step of it again.
pub fn retry(id: i64, step: &str, cx: &mut Cx<'_>) {
    cx.send(RETRY, id, RETRY, json!({"id": id, "step": step}));
}

/// The answer to one of these.
pub fn done(slot: &str, id: i64, result: &Result<Value, IpcError>, cx: &mut Cx<'_>) {
    let what = match slot {
        CANCEL => "Cancel",
        RESUME => "Continue",
        RETRY => "Rerun",
        _ => return,
    };
    match answers::read::<Reply<WorkflowResult>>(slot, result) {
        Err(error) => cx.toast(Tone::Bad, format!("{what} workflow {id}: {error}")),
        Ok(reply) => {
            if slot != CANCEL {
                cx.toast(Tone::Good, format!("workflow {id} goes on"));
            }
            cx.take_workflow(reply.data.workflow);
        }
    }
}
