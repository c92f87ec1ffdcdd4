//! What the actions do on the screen of one job.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::begin::begin_workflow;
use super::{JobScreen, TABS, Tab};
use crate::app::{Command, Row, error_text, is_terminal};
use crate::error::IpcError;
use crate::msg::{Action, Program, Tone};
use crate::rpc::types::{JobState, JobSummary, method};
use crate::screens::{Choice, Cx, Handled, Picker, Question, ScreenId, Subject, tabs};
use crate::widgets::text;

const PICK_COPY: u32 = 1;
const ASK_CONTINUE: u32 = 2;
const PLAN: &str = "continue-plan";
const CONTINUE: &str = "continue";
/// How many changed lines a question shows.
const CHANGES: usize = 14;
/// How many lines of one change it shows before and after.
const PART: usize = 3;

/// The lists of the tabs end with the same actions.
macro_rules! with_job {
    ($($action:ident),*) => {
        &[
            $(Action::$action,)*
            Action::NextPane,
            Action::Continue,
            Action::Cancel,
            Action::Rerun,
            Action::Workflow,
            Action::Delete,
            Action::Shell,
        ]
    };
}

/// What can be done on a tab, in the order of the footer.
pub(super) fn actions(tab: Tab, previewed: bool) -> &'static [Action] {
    match (tab, previewed) {
        (Tab::Summary, _) => with_job![Log, Copy],
        (Tab::Log, _) => with_job![
            Follow,
            Filter,
            Stream,
            Wrap,
            NextFile,
            PreviousFile,
            FindNext,
            FindPrevious,
            Log,
            OpenFile,
            Copy
        ],
        (Tab::Plots, _) => with_job![NextFile, PreviousFile, LogScale, Copy, Log],
        (Tab::Tables, _) => with_job![NextFile, PreviousFile, Copy, Log],
        (Tab::Files, false) => with_job![Open, Copy, OpenFile, NextFile, PreviousFile, Log],
        (Tab::Files, true) => with_job![
            Filter,
            Copy,
            OpenFile,
            NextFile,
            PreviousFile,
            Wrap,
            Follow,
            FindNext,
            FindPrevious,
            Log
        ],
        (Tab::Input, _) => with_job![Copy, Log],
        (Tab::Events, _) => with_job![Open, Copy, Log],
    }
}

/// Those of the actions of a tab that mean something for the job as it is. Beside the reason why it
/// stopped, to go on comes first.
pub(super) fn hints(actions: &[Action], tab: Tab, row: Option<&Row>) -> Vec<Action> {
    let Some(state) = row.map(|row| &row.job.state) else {
        return Vec::new();
    };
    let has_structure = row.is_some_and(|row| row.job.formula.is_some());
    let ended = is_terminal(state);
    let stopped = ended && *state != JobState::Completed;
    let of_use = |action: &Action| match action {
        Action::Cancel => !ended && *state != JobState::Cancelling,
        Action::Rerun | Action::Delete => ended,
        Action::Continue => stopped,
        Action::Workflow => *state == JobState::Completed && has_structure,
        _ => true,
    };
    let mut hints: Vec<Action> = actions.iter().copied().filter(of_use).collect();
    let going_on = hints.iter().position(|action| *action == Action::Continue);
    if let Some(at) = going_on.filter(|_| tab == Tab::Summary) {
        hints[..=at].rotate_right(1);
    }
    hints
}

impl JobScreen {
    pub(super) fn act(&mut self, action: Action, cx: &mut Cx<'_>) -> Handled {
        let job: Vec<i64> = self.id.into_iter().collect();
        match action {
            Action::Cancel => cx.command(Command::Cancel, job),
            Action::Rerun => cx.command(Command::Rerun, job),
            Action::Delete => cx.command(Command::Delete, job),
            Action::Continue => self.plan(cx),
            Action::Workflow => begin_workflow(self.row(cx.data()), cx),
            Action::Shell => self.shell(cx),
            Action::Log => {
                self.go_to(Tab::Log, cx);
                cx.zoom(true);
            }
            action => {
                if self.act_on_tab(action, cx) == Handled::Yes {
                    return Handled::Yes;
                }
                return self.change_tab(action, cx);
            }
        }
        Handled::Yes
    }

    fn change_tab(&mut self, action: Action, cx: &mut Cx<'_>) -> Handled {
        let tab = match action {
            Action::NextPane | Action::Right => tabs::beside(&TABS, self.tab, 1),
            Action::PreviousPane | Action::Left => tabs::beside(&TABS, self.tab, -1),
            _ => return Handled::No,
        };
        match (tab, action) {
            (Some(tab), _) => self.go_to(tab, cx),
            (None, Action::Left) => cx.close(),
            (None, Action::Right) => {}
            // At the end the program goes to the next pane.
            (None, _) => return Handled::No,
        }
        Handled::Yes
    }

    fn act_on_tab(&mut self, action: Action, cx: &mut Cx<'_>) -> Handled {
        let area = Self::body(cx.area());
        let rows = usize::from(area.height).max(1);
        match (self.tab, action) {
            (Tab::Files, Action::OpenFile) => {
                self.open_file(self.files.path(), cx);
                Handled::Yes
            }
            (Tab::Files, action) => self.files.act(action, area, cx),
            (Tab::Log, action) => self.act_on_log(action, cx),
            (Tab::Plots, action) => self.plots.act(action, cx),
            (Tab::Tables, action) => self.tables.act(action, area, cx),
            (Tab::Events, action) => {
                let events = self.detail.as_ref().map_or(&[][..], |job| &job.events);
                self.events.act(action, events, rows, cx)
            }
            (Tab::Summary | Tab::Input, Action::Copy) => {
                self.pick_copy(cx);
                Handled::Yes
            }
            (Tab::Input, action) => self.input.act(action, rows, cx),
            (Tab::Summary, action) => self.scroll(action, rows, cx),
        }
    }

    fn scroll(&mut self, action: Action, rows: usize, cx: &mut Cx<'_>) -> Handled {
        // The view knows how many rows there are; beyond its end nothing is scrolled.
        let most = self.summary_rows(cx).saturating_sub(rows);
        let to = match action {
            Action::Down => self.scroll + 1,
            Action::Up => self.scroll.saturating_sub(1),
            Action::PageDown => self.scroll + rows,
            Action::PageUp => self.scroll.saturating_sub(rows),
            Action::HalfPageDown => self.scroll + rows / 2,
            Action::HalfPageUp => self.scroll.saturating_sub(rows / 2),
            Action::Top => 0,
            Action::Bottom => most,
            _ => return Handled::No,
        };
        self.scroll = to.min(most);
        cx.redraw();
        Handled::Yes
    }

    /// A bound of the rows of the summary: every line broken at the width of the pane.
    fn summary_rows(&self, cx: &Cx<'_>) -> usize {
        let Some(row) = self.row(cx.data()) else {
            return 0;
        };
        let theme = crate::theme::Theme::built_in(crate::theme::DEFAULT);
        let room = usize::from(cx.area().width).saturating_sub(15);
        theme.map_or(0, |theme| {
            super::summary::lines(row, self.detail.as_deref(), cx.data(), &theme)
                .iter()
                .map(|(_, value, _)| text::wrap(value, room).len())
                .sum()
        })
    }

    fn act_on_log(&mut self, action: Action, cx: &mut Cx<'_>) -> Handled {
        let Some(id) = self.id else {
            return Handled::No;
        };
        match action {
            Action::Stream => {
                let next = self.log.source().next_stream();
                self.log.open(id, next, true, cx);
            }
            Action::NextFile => self.change_source(1, cx),
            Action::PreviousFile => self.change_source(-1, cx),
            Action::OpenFile => self.open_file(self.log_path(), cx),
            Action::Copy => match self.log_path() {
                Some(path) => cx.copy("path", &path.display().to_string()),
                None => cx.toast(Tone::Info, "the log has no file yet"),
            },
            action => {
                let area = Self::body(cx.area());
                return self.log.act(action, area, cx);
            }
        }
        cx.redraw();
        Handled::Yes
    }

    fn log_path(&self) -> Option<PathBuf> {
        let directory = &self.detail.as_ref()?.directory;
        let path = self.log.path();
        (!path.is_empty()).then(|| Path::new(directory).join(path))
    }

    /// Whether the job's files are on this machine.
    fn directory(&self, cx: &mut Cx<'_>) -> Option<PathBuf> {
        let job = self.detail.as_ref()?;
        if job.runner == "local" && !job.directory.is_empty() {
            return Some(PathBuf::from(&job.directory));
        }
        cx.toast(
            Tone::Warn,
            format!("job {} has no directory on this machine", job.id),
        );
        None
    }

    fn shell(&self, cx: &mut Cx<'_>) {
        if let Some(directory) = self.directory(cx) {
            cx.run(Program::Shell, directory);
        }
    }

    fn open_file(&self, path: Option<PathBuf>, cx: &mut Cx<'_>) {
        if let (Some(path), Some(directory)) = (path, self.directory(cx)) {
            cx.run(Program::Pager(path), directory);
        }
    }

    fn pick_copy(&self, cx: &mut Cx<'_>) {
        let Some(row) = self.row(cx.data()) else {
            return;
        };
        let choice = |what: &str, text: &str| Choice {
            name: format!("{what}\n{text}"),
            title: format!("{what:9}  {text}"),
            chosen: false,
        };
        let mut choices = vec![choice("number", &row.job.id.to_string())];
        if let Some(job) = &self.detail {
            choices.push(choice("path", &job.directory));
        }
        choices.push(choice("name", &row.job.name));
        choices.push(choice("unique id", &row.job.uuid));
        if let Some(energy) = row.job.science.energy_ev {
            choices.push(choice("energy", &energy.to_string()));
        }
        let picker = Picker {
            title: "Copy".into(),
            choices,
            several: false,
        };
        cx.pick(PICK_COPY, picker);
    }

    /// Ask the daemon what going on would change; the answer becomes a question.
    fn plan(&self, cx: &mut Cx<'_>) {
        let Some(row) = self.row(cx.data()) else {
            return;
        };
        let id = row.job.id;
        if method("jobs.continue").is_none_or(|info| info.planned) {
            let text = "this version cannot continue jobs; rerun it from its input instead";
            cx.toast(Tone::Warn, text);
        } else if !is_terminal(&row.job.state) || row.job.state == JobState::Completed {
            let state = row.job.state.as_str().to_lowercase();
            cx.toast(
                Tone::Warn,
                format!("job {id} is {state}; only a job that stopped goes on"),
            );
        } else {
            cx.send(
                PLAN,
                id,
                "jobs.continue",
                json!({"id": id, "dry_run": true}),
            );
        }
    }

    /// The answers about going on.
    pub(super) fn continued(
        &mut self,
        slot: &str,
        tag: i64,
        result: &Result<Value, IpcError>,
        cx: &mut Cx<'_>,
    ) {
        let value = match result {
            Ok(value) => &value["data"],
            Err(error) => {
                cx.toast(
                    Tone::Bad,
                    format!("Continue job {tag}: {}", error_text(error)),
                );
                return;
            }
        };
        match slot {
            PLAN if self.id == Some(tag) => cx.question(ASK_CONTINUE, question(tag, value)),
            CONTINUE => {
                let job: Option<JobSummary> =
                    serde_json::from_value(value["job"].clone()).unwrap_or_default();
                if let Some(job) = job {
                    let id = job.id;
                    cx.toast(Tone::Good, format!("job {tag} goes on as job {id}"));
                    cx.take_job(job);
                    cx.open(ScreenId::Job, Some(Subject::Job(id)));
                }
            }
            _ => {}
        }
    }

    pub(super) fn answered(&mut self, token: u32, cx: &mut Cx<'_>) {
        if let (ASK_CONTINUE, Some(id)) = (token, self.id) {
            self.submissions += 1;
            let token = format!("{}-c{}", cx.data().client.token, self.submissions);
            let params = json!({"id": id, "client_token": token});
            cx.send(CONTINUE, id, "jobs.continue", params);
        }
    }
}

/// The first lines of a part that changes, and how many more there are.
fn begin(text: &str, sign: char) -> Vec<String> {
    let count = text.lines().count();
    let shown = if count > PART { PART - 1 } else { count };
    let mut lines: Vec<String> = text
        .lines()
        .take(shown)
        .map(|line| format!("{sign} {line}"))
        .collect();
    if count > shown {
        lines.push(format!("{sign} and {} more lines", count - shown));
    }
    lines
}

fn question(id: i64, plan: &Value) -> Question {
    let mut lines: Vec<String> = plan["fix"]
        .as_str()
        .into_iter()
        .map(str::to_owned)
        .collect();
    for change in plan["changes"].as_array().into_iter().flatten() {
        let part = |name: &str| change[name].as_str().unwrap_or_default().to_owned();
        lines.push(String::new());
        lines.push(part("file"));
        lines.extend(begin(&part("before"), '-'));
        lines.extend(begin(&part("after"), '+'));
    }
    if lines.len() > CHANGES {
        let more = lines.len() - CHANGES;
        lines.truncate(CHANGES);
        lines.push(format!("and {more} more lines"));
    }
    Question {
        title: format!("Continue job {id} as a new job?"),
        lines,
        yes: "Continue".into(),
    }
}

pub(super) fn picked(token: u32, names: &[String], cx: &mut Cx<'_>) {
    if let (PICK_COPY, [both]) = (token, names)
        && let Some((what, text)) = both.split_once('\n')
    {
        cx.copy(what, text);
    }
}
