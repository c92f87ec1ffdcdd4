//! What the actions do in the job list.

use std::path::{Path, PathBuf};

use super::{ColumnId, Jobs, PICK_COLUMNS, PICK_COPY, TextLine};
use crate::app::{Command, Data, Row, is_terminal};
use crate::msg::{Action, Link, Program, Tone};
use crate::rpc::types::JobState;
use crate::screens::job::begin::begin_workflow;
use crate::screens::{Choice, Cx, Handled, Picker, Screen as _, ScreenId, Subject};

impl Jobs {
    pub(super) fn act(&mut self, action: Action, cx: &mut Cx<'_>) -> Handled {
        let rows = self.rows_seen(cx);
        let (cursor, last) = (self.place.cursor, self.listed().len().saturating_sub(1));
        let half = (rows / 2).max(1);
        match action {
            Action::Down => self.go(cursor + 1, cx),
            Action::Up => self.go(cursor.saturating_sub(1), cx),
            Action::PageDown => self.go(cursor + rows, cx),
            Action::PageUp => self.go(cursor.saturating_sub(rows), cx),
            Action::HalfPageDown => self.go(cursor + half, cx),
            Action::HalfPageUp => self.go(cursor.saturating_sub(half), cx),
            Action::Top => self.go(0, cx),
            Action::Bottom => self.go(last, cx),
            Action::Open | Action::Right => {
                if let Some(id) = self.current() {
                    cx.open(ScreenId::Job, Some(Subject::Job(id)));
                }
            }
            Action::Log => {
                if let Some(id) = self.current() {
                    cx.open(ScreenId::Job, Some(Subject::Job(id)));
                    cx.act(Action::Log);
                }
            }
            Action::Cancel => cx.command(Command::Cancel, self.targets()),
            Action::Rerun => cx.command(Command::Rerun, self.targets()),
            Action::Delete => cx.command(Command::Delete, self.targets()),
            Action::Workflow => begin_workflow(self.current_row(cx.data()), cx),
            Action::Back => return self.back(cx),
            action => return self.act_on_view(action, cx),
        }
        Handled::Yes
    }

    /// What is of use now: here new jobs begin, and the rest needs rows that it fits.
    pub(super) fn hints_for(&self, data: &Data) -> Vec<Action> {
        let states: Vec<_> = self
            .targets()
            .iter()
            .filter_map(|id| Some(&data.jobs.get(*id)?.job.state))
            .collect();
        let ended = states.iter().any(|state| is_terminal(state));
        let going_on = |state: &&JobState| !is_terminal(state) && **state != JobState::Cancelling;
        let of_use = |action: &Action| match action {
            Action::Filter => !data.jobs.is_empty(),
            Action::Cancel => states.iter().any(going_on),
            Action::Rerun | Action::Delete => ended,
            Action::Workflow => states.contains(&&JobState::Completed),
            _ => !states.is_empty(),
        };
        let own = self.actions().iter().copied().filter(of_use);
        std::iter::once(Action::New).chain(own).collect()
    }

    fn act_on_view(&mut self, action: Action, cx: &mut Cx<'_>) -> Handled {
        match action {
            Action::Filter => self.input = Some(TextLine::of(self.filter.text())),
            Action::Select => self.toggle(cx),
            Action::SelectRange => {
                self.range = if self.range.is_some() {
                    None
                } else {
                    self.current()
                };
                self.selected.extend(self.range);
            }
            Action::Sort => {
                let at = self.columns.iter().position(|column| *column == self.sort);
                let next = at.map_or(0, |at| (at + 1) % self.columns.len());
                self.sort = self.columns.get(next).copied().unwrap_or(ColumnId::Id);
                self.descending = self.sort.starts_descending();
                self.remember_sort(cx);
                self.arrange(cx);
            }
            Action::SortReverse => {
                self.descending ^= true;
                self.remember_sort(cx);
                self.arrange(cx);
            }
            Action::Columns => self.pick_columns(cx),
            Action::Copy => self.pick_copy(cx),
            Action::Shell => self.shell(cx),
            _ => return Handled::No,
        }
        cx.redraw();
        Handled::Yes
    }

    /// One thing less, the latest first: the range, the selection, the filter.
    fn back(&mut self, cx: &mut Cx<'_>) -> Handled {
        if self.range.take().is_none() {
            if !self.selected.is_empty() {
                self.selected.clear();
            } else if !self.filter.text().is_empty() {
                self.set_filter("", cx);
            } else {
                return Handled::No;
            }
        }
        cx.redraw();
        Handled::Yes
    }

    fn toggle(&mut self, cx: &mut Cx<'_>) {
        let Some(id) = self.current() else {
            return;
        };
        self.range = None;
        if !self.selected.remove(&id) {
            self.selected.insert(id);
        }
        self.go(self.place.cursor + 1, cx);
    }

    fn pick_columns(&self, cx: &mut Cx<'_>) {
        // The chosen ones first, in their order, so that the order survives.
        let others = ColumnId::ALL
            .iter()
            .filter(|column| !self.columns.contains(column));
        let choices = self.columns.iter().chain(others).map(|column| Choice {
            name: column.name().to_owned(),
            title: column.describe().to_owned(),
            chosen: self.columns.contains(column),
        });
        let picker = Picker {
            title: "Columns".into(),
            choices: choices.collect(),
            several: true,
        };
        cx.pick(PICK_COLUMNS, picker);
    }

    fn pick_copy(&self, cx: &mut Cx<'_>) {
        let Some(row) = self.current_row(cx.data()) else {
            return;
        };
        let mut choices = vec![choice("number", &row.job.id.to_string())];
        if let Some(path) = directory(row, cx.data()) {
            choices.push(choice("path", &path.display().to_string()));
        }
        choices.push(choice("name", &row.job.name));
        choices.push(choice("unique id", &row.job.uuid));
        if self.selected.len() > 1 {
            let all: Vec<String> = self.selected.iter().map(ToString::to_string).collect();
            choices.insert(0, choice("numbers", &all.join(" ")));
        }
        let picker = Picker {
            title: "Copy".into(),
            choices,
            several: false,
        };
        cx.pick(PICK_COPY, picker);
    }

    fn shell(&self, cx: &mut Cx<'_>) {
        let Some(row) = self.current_row(cx.data()) else {
            return;
        };
        match directory(row, cx.data()) {
            Some(path) if row.job.runner == "local" => cx.run(Program::Shell, path),
            _ => cx.toast(
                Tone::Warn,
                format!("job {} has no directory on this machine", row.job.id),
            ),
        }
    }

    pub(super) fn picked(&mut self, token: u32, names: &[String], cx: &mut Cx<'_>) {
        match (token, names) {
            (PICK_COLUMNS, []) => cx.toast(Tone::Info, "at least one column stays"),
            (PICK_COLUMNS, names) => {
                self.columns = names
                    .iter()
                    .filter_map(|name| ColumnId::named(name))
                    .collect();
                self.remember_columns(cx);
                cx.redraw();
            }
            (PICK_COPY, [both]) => {
                if let Some((what, text)) = both.split_once('\n') {
                    cx.copy(what, text);
                }
            }
            _ => {}
        }
    }
}

/// An entry whose answer holds what it is and the text itself.
fn choice(what: &str, text: &str) -> Choice {
    Choice {
        name: format!("{what}\n{text}"),
        title: format!("{what:9}  {text}"),
        chosen: false,
    }
}

/// Where the job's files are, as far as the connected daemon says where it keeps them.
#[must_use]
pub fn directory(row: &Row, data: &Data) -> Option<PathBuf> {
    match &data.link {
        Link::Ready(server) if !server.data_dir.is_empty() => {
            Some(Path::new(&server.data_dir).join("jobs").join(&row.job.uuid))
        }
        _ => None,
    }
}
