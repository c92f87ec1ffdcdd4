//! What the actions do on the screen of one workflow.

use super::{TABS, Tab, WorkflowScreen, groups, quantities, steps};
use crate::msg::{Action, Tone};
use crate::results::figures;
use crate::rpc::types::WorkflowSummary;
use crate::screens::listing::below;
use crate::screens::workflows::words;
use crate::screens::{Choice, Cx, Handled, Picker, ScreenId, Subject, tabs};
use crate::theme::Glyphs;

/// The token of the list of what can be copied.
const PICK_COPY: u32 = 2;

/// The lists of the tabs end with the same actions.
macro_rules! with_workflow {
    ($($action:ident),*) => {
        &[
            $(Action::$action,)*
            Action::NextPane,
            Action::Continue,
            Action::Cancel,
            Action::Jobs,
            Action::Copy,
        ]
    };
}

/// What can be done on a tab, in the order of the footer.
pub(super) const fn actions(tab: Tab) -> &'static [Action] {
    match tab {
        Tab::Steps => with_workflow![Open, Rerun],
        Tab::Results => with_workflow![],
        Tab::Plots => with_workflow![NextFile, PreviousFile, LogScale],
        Tab::Tables => with_workflow![NextFile, PreviousFile],
    }
}

impl WorkflowScreen {
    /// Those of the actions that mean something now.
    pub(super) fn useful(&self) -> Vec<Action> {
        let Some(summary) = &self.summary else {
            return Vec::new();
        };
        let step = self
            .detail
            .as_ref()
            .and_then(|whole| self.steps.current(whole));
        let of_use = |action: &Action| match action {
            Action::Open => step.is_none_or(|step| step.job.is_some()),
            Action::Rerun => {
                step.is_some_and(|step| groups::has_stopped(step) && step.can_be_retried)
            }
            Action::Continue => words::can_be_resumed(summary),
            Action::Cancel => words::can_be_cancelled(summary),
            Action::LogScale | Action::NextFile | Action::PreviousFile => {
                matches!(self.document, Some(Ok(_)))
            }
            _ => true,
        };
        actions(self.tab).iter().copied().filter(of_use).collect()
    }

    pub(super) fn act(&mut self, action: Action, cx: &mut Cx<'_>) -> Handled {
        cx.redraw();
        match action {
            Action::Cancel | Action::Continue | Action::Jobs => {
                if let Some(one) = &self.summary {
                    if action == Action::Cancel {
                        self.asked = Some(one.id);
                    }
                    act_on_whole(action, one, cx);
                }
            }
            _ if self.act_on_tab(action, cx) => {}
            _ => return self.change_tab(action, cx),
        }
        Handled::Yes
    }

    fn change_tab(&mut self, action: Action, cx: &mut Cx<'_>) -> Handled {
        let by = match action {
            Action::NextPane | Action::Right => 1,
            Action::PreviousPane | Action::Left => -1,
            _ => return Handled::No,
        };
        match (tabs::beside(&TABS, self.tab, by), action) {
            (Some(tab), _) => self.go_to(tab, cx),
            (None, Action::Left) => cx.close(),
            (None, Action::Right) => {}
            // At the end the program goes to the next pane.
            (None, _) => return Handled::No,
        }
        Handled::Yes
    }

    fn act_on_tab(&mut self, action: Action, cx: &mut Cx<'_>) -> bool {
        let area = cx.area();
        let body = below(area, 1);
        match (self.tab, action) {
            (Tab::Steps, Action::Open) => self.open(cx),
            (Tab::Steps, Action::Rerun) => self.retry(cx),
            (Tab::Steps | Tab::Results, Action::Copy) => self.pick_copy(cx),
            (Tab::Steps, action) => {
                let whole = (self.summary.as_ref(), self.detail.as_deref());
                return self.steps.act(action, whole, area, cx.data());
            }
            (Tab::Results, action) => {
                let Some(detail) = &self.detail else {
                    return false;
                };
                let columns = usize::from(body.width).saturating_sub(2);
                // Marks take one column in every set.
                let document = self.document.as_ref();
                let lines = quantities::lines(detail, document, columns, &Glyphs::UNICODE);
                return self
                    .quantities
                    .act(action, lines.len(), usize::from(body.height));
            }
            (Tab::Plots, action) => return self.plots.act(action, cx),
            (Tab::Tables, action) => return self.tables.act(action, body, cx) == Handled::Yes,
        }
        true
    }

    /// Go to the job of the step with the cursor, or open a group of steps.
    pub(super) fn open(&mut self, cx: &mut Cx<'_>) {
        let Some(detail) = &self.detail else { return };
        let seen = steps::rows_in(cx.area(), self.summary.as_ref());
        if self.steps.turn(detail, seen) {
            return cx.redraw();
        }
        let Some(step) = self.steps.current(detail) else {
            return;
        };
        match step.job {
            Some(job) if cx.data().jobs.get(job).is_some() => {
                cx.open(ScreenId::Job, Some(Subject::Job(job)));
            }
            Some(job) => {
                let words = format!("job {job} is not in the list; it may have been removed");
                cx.toast(Tone::Warn, words);
            }
            None if step.kind.as_str() == "computation" => {
                let words = format!(
                    "{} is a computation of the daemon; it has no job",
                    step.name
                );
                cx.toast(Tone::Info, words);
            }
            None => cx.toast(Tone::Info, format!("{} has no job yet", step.name)),
        }
    }

    /// Run the step with the cursor again.
    fn retry(&self, cx: &mut Cx<'_>) {
        let Some(detail) = &self.detail else { return };
        let Some(step) = self.steps.current(detail) else {
            let words = "no step is chosen: go to one that failed";
            return cx.toast(Tone::Info, words);
        };
        if groups::has_stopped(step) {
            words::retry(detail.id, &step.name, cx);
        } else {
            let state = step.state.as_str().to_lowercase();
            let words = format!(
                "{} is {state}; a step that failed can be run again",
                step.name
            );
            cx.toast(Tone::Info, words);
        }
    }

    fn pick_copy(&self, cx: &mut Cx<'_>) {
        let Some(summary) = &self.summary else { return };
        let choice = |what: &str, text: &str| Choice {
            name: format!("{what}\n{text}"),
            title: format!("{what}  {text}"),
            chosen: false,
        };
        let mut choices = vec![
            choice("number", &summary.id.to_string()),
            choice("name", &summary.name),
            choice("unique id", &summary.uuid),
        ];
        let found = self.document.as_ref().and_then(|read| read.as_ref().ok());
        for one in found.into_iter().flat_map(|found| &found.quantities) {
            if let Some(value) = one.value {
                choices.push(Choice {
                    title: format!("{}  {} {}", one.label, figures(value), one.unit),
                    // With all its digits.
                    ..choice(&one.label, &value.to_string())
                });
            }
        }
        let picker = Picker {
            title: "Copy".into(),
            choices,
            several: false,
        };
        cx.pick(PICK_COPY, picker);
    }
}

fn act_on_whole(action: Action, one: &WorkflowSummary, cx: &mut Cx<'_>) {
    match action {
        Action::Cancel if words::can_be_cancelled(one) => words::ask_cancel(one, cx),
        Action::Cancel => words::say_ended(one, cx),
        Action::Continue => words::resume(one, cx),
        _ => cx.open(ScreenId::Jobs, Some(Subject::Workflow(one.id))),
    }
}

pub(super) fn picked(names: &[String], cx: &mut Cx<'_>) {
    if let [both] = names
        && let Some((what, text)) = both.split_once('\n')
    {
        cx.copy(what, text);
    }
}
