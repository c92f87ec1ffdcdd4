//! One job: what is known of it, its log, curves, tables, files, input and history, each on a tab.
//!
//! What the job list knows is shown at once; the rest follows. Only the tab that is seen is read.

mod act;
pub(super) mod begin;
mod events;
mod files;
mod input;
mod log;
mod outputs;
mod plots;
mod summary;
pub(super) mod tables;
mod view;
mod watch;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::{Value, json};

use super::answers;
use super::{Cx, Event, Handled, Screen, Subject, ViewCx, tabs};
use crate::app::{Data, Row, is_terminal};
use crate::error::IpcError;
use crate::msg::{Action, Edit};
use crate::rpc::types::{Job, Reply};
use crate::theme::Role;
use crate::widgets::text;
use log::{LogView, Source};
pub use summary::time_text;

const DETAIL: &str = "detail";

/// The tabs, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Tab {
    #[default]
    Summary,
    Log,
    Plots,
    Tables,
    Files,
    Input,
    Events,
}

const TABS: [(Tab, &str); 7] = [
    (Tab::Summary, "Summary"),
    (Tab::Log, "Log"),
    (Tab::Plots, "Plots"),
    (Tab::Tables, "Tables"),
    (Tab::Files, "Files"),
    (Tab::Input, "Input"),
    (Tab::Events, "Events"),
];

/// The state of the screen.
#[derive(Debug)]
pub struct JobScreen {
    id: Option<i64>,
    tab: Tab,
    /// Whether it is seen; what is not is not read.
    seen: bool,
    detail: Option<Box<Job>>,
    error: Option<String>,
    scroll: usize,
    log: LogView,
    plots: plots::Plots,
    tables: tables::Tables,
    files: files::Files,
    input: input::Input,
    events: events::Events,
    watch: watch::Watch,
    /// The number of the next submission of this screen, for its token.
    submissions: u32,
}

impl Default for JobScreen {
    fn default() -> Self {
        Self {
            id: None,
            tab: Tab::Summary,
            seen: false,
            detail: None,
            error: None,
            scroll: 0,
            log: LogView::new(["log", "log-back"]),
            plots: plots::Plots::default(),
            tables: tables::Tables::default(),
            files: files::Files::default(),
            input: input::Input::default(),
            events: events::Events::default(),
            watch: watch::Watch::default(),
            submissions: 0,
        }
    }
}

impl JobScreen {
    fn row<'a>(&self, data: &'a Data) -> Option<&'a Row> {
        data.jobs.get(self.id?)
    }

    fn runs(&self, data: &Data) -> bool {
        self.row(data)
            .is_some_and(|row| !is_terminal(&row.job.state))
    }

    /// Below the row of tabs.
    fn body(area: Rect) -> Rect {
        Rect {
            y: area.y + 1.min(area.height),
            height: area.height.saturating_sub(1),
            ..area
        }
    }

    fn show(&mut self, subject: Option<Subject>, cx: &mut Cx<'_>) {
        let id = match subject {
            Some(Subject::Job(id)) => Some(id),
            _ => None,
        };
        if id != self.id {
            self.id = id;
            self.detail = None;
            self.error = None;
            self.scroll = 0;
            self.log.close();
            self.plots = plots::Plots::default();
            self.tables = tables::Tables::default();
            self.files.close();
            self.input.close();
            self.events = events::Events::default();
            self.read(cx);
        }
        cx.redraw();
    }

    /// Read what is seen, if anything is.
    fn read(&mut self, cx: &mut Cx<'_>) {
        let Some(id) = self.id.filter(|_| self.seen) else {
            self.watch.set(None, cx);
            return;
        };
        cx.ask(DETAIL, id, "jobs.get", json!({"id": id}));
        self.read_tab(cx);
    }

    /// Read what the tab that is seen needs beside the job itself.
    fn read_tab(&mut self, cx: &mut Cx<'_>) {
        let Some(id) = self.id.filter(|_| self.seen) else {
            return;
        };
        let watched = self.tab == Tab::Log && self.runs(cx.data());
        self.watch.set(watched.then_some(id), cx);
        match self.tab {
            Tab::Log if self.log.is_about(id) => self.log.read_on(cx),
            Tab::Log => self.log.open(id, self.first_output(), true, cx),
            Tab::Plots => plots::Plots::ask(id, cx),
            Tab::Files => self.files.ask(id, cx),
            Tab::Input => {
                if let Some(job) = &self.detail {
                    self.input.open(job, cx);
                }
            }
            Tab::Summary | Tab::Tables | Tab::Events => {}
        }
    }

    fn go_to(&mut self, tab: Tab, cx: &mut Cx<'_>) {
        self.tab = tab;
        self.read_tab(cx);
        cx.redraw();
    }

    /// Jobs have changed; ours may be among them.
    fn changed(&mut self, ids: &[i64], cx: &mut Cx<'_>) {
        let ours = self
            .id
            .is_some_and(|id| ids.is_empty() || ids.contains(&id));
        if !ours || !self.seen {
            return;
        }
        let known = self.detail.as_ref().map(|job| job.rev);
        let newer = self
            .row(cx.data())
            .is_some_and(|row| Some(row.job.rev) != known);
        if newer {
            self.read(cx);
        }
        cx.redraw();
    }

    fn reply(
        &mut self,
        slot: &'static str,
        tag: i64,
        result: &Result<Value, IpcError>,
        cx: &mut Cx<'_>,
    ) {
        let area = Self::body(cx.area());
        let current = self.id == Some(tag);
        if slot == DETAIL {
            if current {
                self.take_detail(tag, result, cx);
            }
            return;
        }
        let taken = self.log.reply(slot, tag, result, cx)
            || self.plots.reply(slot, result, current, cx)
            || self.files.reply(slot, tag, result, area, cx)
            || self.input.reply(slot, tag, result, cx);
        if !taken {
            self.continued(slot, tag, result, cx);
        }
    }

    fn take_detail(&mut self, tag: i64, result: &Result<Value, IpcError>, cx: &mut Cx<'_>) {
        if answers::is_cut_off(result) && self.detail.is_some() {
            return;
        }
        match answers::read::<Reply<Job>>("jobs.get", result) {
            Ok(reply) => {
                self.tables.take(&reply.data.results);
                self.detail = Some(Box::new(reply.data));
                self.error = None;
                if self.tab == Tab::Input {
                    self.read_tab(cx);
                }
                if self.tab == Tab::Log && self.wants_task() {
                    self.log.open(tag, self.first_output(), true, cx);
                }
            }
            Err(error) => self.error = Some(error),
        }
        cx.redraw();
    }

    fn edit(&mut self, edit: &Edit, cx: &mut Cx<'_>) {
        let area = Self::body(cx.area());
        if self.tab == Tab::Files {
            self.files.edit(edit, area, cx);
        } else {
            self.log.edit(edit, area, cx);
        }
    }

    fn click(&mut self, column: u16, row: u16, cx: &mut Cx<'_>) {
        if row == 0 {
            if let Some(tab) = tabs::at(&TABS, self.tab, cx.area().width, column) {
                self.go_to(tab, cx);
            }
            return;
        }
        let (area, row) = (Self::body(cx.area()), row - 1);
        match (self.tab, &self.detail) {
            (Tab::Files, _) => self.files.click((column, row), area, cx),
            (Tab::Plots, _) if row == 0 => self.plots.click(column, area, cx),
            (Tab::Tables, _) => self.tables.click((column, row), area, cx),
            (Tab::Events, Some(job)) => self.events.click(row, &job.events, area, cx),
            _ => {}
        }
    }
}

impl Screen for JobScreen {
    fn actions(&self) -> &'static [Action] {
        act::actions(self.tab, self.files.is_opened())
    }

    fn hints(&self, data: &Data) -> Vec<Action> {
        act::hints(self.actions(), self.tab, self.row(data))
    }

    fn all_actions(&self) -> Vec<Action> {
        TABS.iter()
            .flat_map(|(tab, _)| [(*tab, false), (*tab, true)])
            .flat_map(|(tab, previewed)| act::actions(tab, previewed).iter().copied())
            .collect()
    }

    fn update(&mut self, event: &Event<'_>, cx: &mut Cx<'_>) -> Handled {
        match event {
            Event::Show(subject) => self.show(*subject, cx),
            Event::Entered => {
                self.seen = true;
                self.read(cx);
                cx.redraw();
            }
            Event::Left => {
                self.seen = false;
                self.watch.set(None, cx);
            }
            Event::Resync => {
                self.watch.set(None, cx);
                self.read(cx);
            }
            Event::Resized => cx.redraw(),
            Event::Act(action) => return self.act(*action, cx),
            Event::Edit(edit) => self.edit(edit, cx),
            Event::Click(column, row) => self.click(*column, *row, cx),
            Event::JobsChanged(ids) => self.changed(ids, cx),
            Event::LogGrown { job, stream, bytes } if self.id == Some(*job) => {
                if self.tab == Tab::Log {
                    self.log.grown(stream, *bytes, cx);
                }
            }
            Event::Tick => {
                cx.redraw();
                let due = self.log_wake_at(cx.data()).is_some_and(|at| at <= cx.now());
                if due {
                    self.log.read_on(cx);
                }
            }
            Event::Reply { slot, tag, result } => self.reply(slot, *tag, result, cx),
            Event::Answered { token, yes: true } => self.answered(*token, cx),
            Event::Picked { token, names } => act::picked(*token, names, cx),
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn view(&self, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
        let Some(row) = self.row(cx.data) else {
            let at = (area.x + 1, area.y);
            text::put(buf, at, "no job", area.width, cx.theme.style(Role::Dim));
            return;
        };
        tabs::draw(&TABS, self.tab, area, buf, cx);
        let body = Self::body(area);
        if body.height == 0 {
            return;
        }
        match (self.tab, &self.detail) {
            (Tab::Summary, _) => self.draw_summary(row, body, buf, cx),
            (Tab::Log, _) => log::draw(&self.log, body, buf, cx),
            (Tab::Plots, _) => self.plots.draw(body, buf, cx),
            (Tab::Files, _) => self.files.draw(body, buf, cx),
            (Tab::Tables | Tab::Input | Tab::Events, None) => self.say_why_empty(body, buf, cx),
            (Tab::Tables, Some(_)) => self.tables.draw(body, buf, cx),
            (Tab::Input, Some(_)) => self.input.draw(body, buf, cx),
            (Tab::Events, Some(job)) => self.events.draw(&job.events, body, buf, cx),
        }
    }

    fn title(&self, data: &Data) -> String {
        self.row(data).map_or_else(String::new, |row| {
            let state = super::jobs::words::state_word(row);
            format!("{} {}  {state}", row.job.id, row.job.name)
        })
    }

    fn takes_text(&self) -> bool {
        match self.tab {
            Tab::Log => self.log.takes_text(),
            Tab::Files => self.files.takes_text(),
            _ => false,
        }
    }

    fn wake_at(&self, _: Rect, data: &Data) -> Option<f64> {
        let row = self.row(data).filter(|_| self.tab == Tab::Summary);
        let elapsed = row.and_then(|row| data.elapsed_changes_at(row));
        elapsed
            .into_iter()
            .chain(self.log_wake_at(data))
            .reduce(f64::min)
    }
}

impl JobScreen {
    /// When the log is to be asked for more, where the daemon does not tell by itself.
    fn log_wake_at(&self, data: &Data) -> Option<f64> {
        let told = self.watch.is_told(data) && matches!(self.log.source(), Source::Stream(_));
        let wanted = self.tab == Tab::Log && self.runs(data) && data.is_live() && !told;
        wanted.then(|| self.log.wake_at()).flatten()
    }
}
