//! One workflow: its steps with their states, its results with doubts and origin, plots and tables, each
//! on a tab.
//!
//! It is read when it comes into view, and again when the daemon tells that it has changed.

mod act;
mod groups;
mod origin;
mod plots;
mod quantities;
mod steps;
mod view;

use std::mem;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::{Value, json};

use super::job::tables::Tables;
use super::listing::below;
use super::workflows::words;
use super::{Cx, Event, Handled, Screen, Subject, ViewCx, answers, tabs};
use crate::app::Data;
use crate::error::IpcError;
use crate::msg::Action;
use crate::results::{self, Document};
use crate::rpc::types::{Reply, Workflow, WorkflowSummary};
use plots::Plots;
use quantities::Quantities;
use steps::Steps;

const DETAIL: &str = "workflows.get";

/// The tabs, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Tab {
    #[default]
    Steps,
    Results,
    Plots,
    Tables,
}

const TABS: [(Tab, &str); 4] = [
    (Tab::Steps, "Steps"),
    (Tab::Results, "Results"),
    (Tab::Plots, "Plots"),
    (Tab::Tables, "Tables"),
];

/// The state of the screen.
#[derive(Debug, Default)]
pub struct WorkflowScreen {
    id: Option<i64>,
    /// Which one the open question is about: another may be shown when it is answered.
    asked: Option<i64>,
    tab: Tab,
    /// Whether it is seen; what is not is not read.
    seen: bool,
    /// What the list says of it; may be newer than the rest.
    summary: Option<WorkflowSummary>,
    detail: Option<Box<Workflow>>,
    error: Option<String>,
    steps: Steps,
    /// The results without their plots, or why they cannot be read; none while there are none.
    document: Option<Result<Document, String>>,
    quantities: Quantities,
    plots: Plots,
    tables: Tables,
}

impl WorkflowScreen {
    fn show(&mut self, subject: Option<Subject>, cx: &mut Cx<'_>) {
        let id = match subject {
            Some(Subject::Workflow(id)) => Some(id),
            _ => None,
        };
        if id != self.id {
            *self = Self {
                id,
                tab: self.tab,
                seen: self.seen,
                asked: self.asked,
                ..Self::default()
            };
            self.read(cx);
        }
        cx.redraw();
    }

    /// Read it, if it is seen.
    fn read(&self, cx: &mut Cx<'_>) {
        if let Some(id) = self.id.filter(|_| self.seen) {
            cx.ask(DETAIL, id, DETAIL, json!({"id": id}));
        }
    }

    fn take(&mut self, result: &Result<Value, IpcError>, cx: &mut Cx<'_>) {
        cx.redraw();
        if answers::is_cut_off(result) && self.detail.is_some() {
            return;
        }
        let whole = answers::read::<Reply<Workflow>>(DETAIL, result);
        // The whole begins with what the list has.
        let head = answers::read::<Reply<WorkflowSummary>>(DETAIL, result);
        match (whole, head) {
            (Ok(mut whole), Ok(head)) => {
                // The series of a long dynamics are large: they are moved, not copied.
                let read = results::read(mem::take(&mut whole.data.results));
                self.document = read.transpose();
                let mut found = self.document.as_mut().and_then(|read| read.as_mut().ok());
                let plots = found.as_mut().map(|found| mem::take(&mut found.plots));
                self.plots.take(plots.unwrap_or_default());
                let tables = found.map(|found| quantities::tables(found));
                self.tables.take_found(tables.unwrap_or_default());
                self.summary = Some(head.data);
                self.steps.take(
                    &whole.data,
                    steps::rows_in(cx.area(), self.summary.as_ref()),
                );
                self.detail = Some(Box::new(whole.data));
                self.error = None;
            }
            (Err(error), _) | (_, Err(error)) => self.error = Some(error),
        }
    }

    fn told(&mut self, news: &[WorkflowSummary], cx: &mut Cx<'_>) {
        let mine = news.iter().rev().find(|one| Some(one.id) == self.id);
        if let Some(new) = mine {
            self.summary = Some(new.clone());
            self.read(cx);
            cx.redraw();
        }
    }

    /// Jobs have changed: those of steps tell how far they are.
    fn jobs_changed(&self, ids: &[i64], cx: &mut Cx<'_>) {
        let Some(detail) = self.detail.as_ref().filter(|_| self.seen) else {
            return;
        };
        let is_step = |id: &i64| detail.graph.iter().any(|step| step.job == Some(*id));
        if ids.is_empty() || ids.iter().any(is_step) {
            if !cx.data().has_events {
                self.read(cx);
            }
            cx.redraw();
        }
    }

    fn go_to(&mut self, tab: Tab, cx: &mut Cx<'_>) {
        self.tab = tab;
        cx.redraw();
    }

    fn click(&mut self, at: (u16, u16), cx: &mut Cx<'_>) {
        cx.redraw();
        if at.1 == 0 {
            if let Some(tab) = tabs::at(&TABS, self.tab, cx.area().width, at.0) {
                self.go_to(tab, cx);
            }
            return;
        }
        let (body, at) = (below(cx.area(), 1), (at.0, at.1 - 1));
        match self.tab {
            Tab::Steps => {
                let rows = steps::rows_in(cx.area(), self.summary.as_ref());
                let head = steps::head(self.summary.as_ref(), body);
                let again = self.steps.click(at.1, head.len(), rows);
                if again {
                    self.open(cx);
                }
            }
            Tab::Results => {}
            Tab::Plots => self.plots.click(at, body),
            Tab::Tables => self.tables.click(at, body, cx),
        }
    }
}

impl Screen for WorkflowScreen {
    fn actions(&self) -> &'static [Action] {
        act::actions(self.tab)
    }

    fn hints(&self, _: &Data) -> Vec<Action> {
        self.useful()
    }

    fn all_actions(&self) -> Vec<Action> {
        tabs::all_actions(&TABS, act::actions)
    }

    fn update(&mut self, event: &Event<'_>, cx: &mut Cx<'_>) -> Handled {
        match event {
            Event::Show(subject) => self.show(*subject, cx),
            Event::Entered => {
                self.seen = true;
                self.read(cx);
                cx.redraw();
            }
            Event::Left => self.seen = false,
            Event::Resync => self.read(cx),
            Event::Resized | Event::Tick => cx.redraw(),
            Event::WorkflowsChanged(news) => self.told(news, cx),
            Event::JobsChanged(ids) => self.jobs_changed(ids, cx),
            Event::Act(action) => return self.act(*action, cx),
            Event::Click(column, row) => self.click((*column, *row), cx),
            Event::Reply {
                slot: DETAIL,
                tag,
                result,
            } => {
                if self.id == Some(*tag) {
                    self.take(result, cx);
                }
            }
            Event::Reply { slot, tag, result } => words::done(slot, *tag, result, cx),
            Event::Answered {
                token: words::ASK_CANCEL,
                yes,
            } => {
                let asked = self.asked.take();
                if let Some(id) = asked.filter(|_| *yes) {
                    words::cancel(id, cx);
                }
            }
            Event::Picked { names, .. } => act::picked(names, cx),
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn view(&self, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
        view::draw(self, area, buf, cx);
    }

    fn title(&self, _: &Data) -> String {
        match (&self.summary, self.id) {
            (Some(one), _) => {
                let state = words::state_word(one);
                format!("{} {}  {state}", one.id, one.name)
            }
            (None, Some(id)) => format!("Workflow {id}"),
            (None, None) => "Workflow".into(),
        }
    }
}
