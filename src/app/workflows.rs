//! What the daemon tells of workflows: passed on to the screens, and to the user when one stops running.

use std::collections::HashSet;

use super::Model;
use crate::msg::{Effect, Tone};
use crate::rpc::types::{WorkflowState, WorkflowSummary};
use crate::screens::Event;

/// The workflows that were last told to run.
#[derive(Debug, Default)]
pub(super) struct Progress {
    running: HashSet<i64>,
}

impl Model {
    /// Take in what is told of workflows.
    pub(super) fn workflows_told(&mut self, news: &[WorkflowSummary]) -> Vec<Effect> {
        let mut effects = self.tell_all(&Event::WorkflowsChanged(news));
        for workflow in news {
            let runs = workflow.state == WorkflowState::Running;
            if runs {
                self.workflows.running.insert(workflow.id);
            } else if self.workflows.running.remove(&workflow.id) {
                effects.extend(self.tell_stopped(workflow));
            }
        }
        effects
    }

    /// Tell the user that a workflow has ended, or waits for him.
    fn tell_stopped(&mut self, workflow: &WorkflowSummary) -> Vec<Effect> {
        let word = match workflow.state {
            WorkflowState::Waiting => "waits".to_owned(),
            ref state => state.as_str().to_lowercase(),
        };
        let title = format!("workflow {} {word}", workflow.id);
        let tone = match workflow.state {
            WorkflowState::Completed => Tone::Good,
            WorkflowState::Cancelled => Tone::Info,
            WorkflowState::Waiting => Tone::Warn,
            _ => Tone::Bad,
        };
        self.tell_user(tone, title, workflow.name.clone())
    }
}
