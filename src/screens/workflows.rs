//! The workflows: what each is, how far it is and how it ended. The one with the cursor is shown beside
//! it; new ones begin here.
//!
//! It is read when it comes into view; from then on the daemon tells what changes.

mod act;
mod filter;
mod view;
pub mod words;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::{Value, json};

use super::listing::below;
use super::{Cx, Event, Handled, Screen, Subject, ViewCx, answers};
use crate::app::Data;
use crate::error::IpcError;
use crate::msg::{Action, Edit, Link};
use crate::rpc::types::{Page, WorkflowSummary, WorkflowsMeta};
use crate::widgets::input::TextLine;
use crate::widgets::table::{self, Place};
use crate::widgets::text;
use filter::Filter;

const LIST: &str = "workflows.list";
/// Workflows of one page.
const PAGE: i64 = 500;

/// The state of the screen.
#[derive(Debug, Default)]
pub struct Workflows {
    /// The newest first.
    rows: Vec<WorkflowSummary>,
    is_read: bool,
    error: Option<String>,
    filter: Filter,
    /// The filter as it is typed; `None` while it is not.
    input: Option<TextLine>,
    place: Place,
    /// The workflow that the cursor is to be on; it may not be listed at the moment.
    wanted: Option<i64>,
    /// What was read of the pages so far, while they are read.
    pages: Vec<WorkflowSummary>,
    /// What a question is about.
    asked: Option<i64>,
}

impl Workflows {
    /// Those that fit the filter.
    fn listed(&self) -> impl Iterator<Item = &WorkflowSummary> {
        self.rows.iter().filter(|row| self.filter.fits(row))
    }

    fn current(&self) -> Option<&WorkflowSummary> {
        self.listed().nth(self.place.cursor)
    }

    /// Rows above the table.
    fn above(&self) -> usize {
        usize::from(self.input.is_some()) + usize::from(self.error.is_some())
    }

    fn rows_seen(&self, cx: &Cx<'_>) -> usize {
        table::rows(below(cx.area(), self.above()))
    }

    fn read(&mut self, cx: &mut Cx<'_>) {
        self.pages.clear();
        cx.ask(LIST, 0, LIST, json!({"limit": PAGE}));
    }

    fn take(&mut self, tag: i64, result: &Result<Value, IpcError>, cx: &mut Cx<'_>) {
        cx.redraw();
        if answers::is_cut_off(result) && self.is_read {
            return;
        }
        match answers::read::<Page<WorkflowSummary, WorkflowsMeta>>(LIST, result) {
            Err(error) => self.error = Some(error),
            Ok(page) => {
                if tag == 0 {
                    self.pages.clear();
                }
                self.pages.extend(page.data);
                if let Some(after) = page.meta.next {
                    cx.ask(LIST, after, LIST, json!({"limit": PAGE, "after": after}));
                    return;
                }
                let read = std::mem::take(&mut self.pages);
                self.error = None;
                self.is_read = true;
                self.put(&read, cx);
            }
        }
    }

    /// Take rows in, unless what is here is newer. The cursor stays on what it is on.
    fn put(&mut self, news: &[WorkflowSummary], cx: &mut Cx<'_>) {
        for new in news {
            match self.rows.iter_mut().find(|row| row.id == new.id) {
                Some(row) if row.rev <= new.rev => row.clone_from(new),
                Some(_) => {}
                None => self.rows.push(new.clone()),
            }
        }
        self.rows.sort_by_key(|row| std::cmp::Reverse(row.id));
        self.hold(cx);
    }

    /// Put the cursor where its workflow is now.
    fn hold(&mut self, cx: &mut Cx<'_>) {
        let at = self
            .wanted
            .and_then(|id| self.listed().position(|row| row.id == id));
        let (count, rows) = (self.listed().count(), self.rows_seen(cx));
        self.place.go(at.unwrap_or(self.place.cursor), count, rows);
        if self.wanted.is_none() {
            self.wanted = self.current().map(|row| row.id);
        }
        cx.redraw();
    }

    /// The user moved the cursor.
    fn go(&mut self, to: usize, cx: &mut Cx<'_>) {
        let rows = self.rows_seen(cx);
        self.place.go(to, self.listed().count(), rows);
        self.wanted = self.current().map(|row| row.id);
        cx.redraw();
    }

    fn show(&mut self, id: i64, cx: &mut Cx<'_>) {
        self.wanted = Some(id);
        if !self.listed().any(|row| row.id == id) {
            self.input = None;
            self.filter = Filter::default();
        }
        self.hold(cx);
    }

    fn edit(&mut self, edit: &Edit, cx: &mut Cx<'_>) {
        let Some(input) = &mut self.input else {
            return;
        };
        match edit {
            Edit::Submit => self.input = None,
            Edit::Cancel => {
                self.input = None;
                self.filter = Filter::default();
            }
            Edit::Up => return self.go(self.place.cursor.saturating_sub(1), cx),
            Edit::Down => return self.go(self.place.cursor + 1, cx),
            edit => {
                if input.apply(edit) {
                    self.filter = Filter::of(input.text());
                }
            }
        }
        self.hold(cx);
    }
}

impl Screen for Workflows {
    fn actions(&self) -> &'static [Action] {
        act::ACTIONS
    }

    fn hints(&self, _: &Data) -> Vec<Action> {
        self.useful()
    }

    fn update(&mut self, event: &Event<'_>, cx: &mut Cx<'_>) -> Handled {
        match event {
            Event::Entered | Event::Resync => self.read(cx),
            Event::WorkflowsChanged(news) => self.put(news, cx),
            // Without events of workflows, those of their jobs tell that something has changed.
            Event::JobsChanged(_) if !cx.data().has_events && !cx.area().is_empty() => {
                self.read(cx);
            }
            Event::Show(Some(Subject::Workflow(id))) => self.show(*id, cx),
            Event::Resized => self.hold(cx),
            Event::Tick => cx.redraw(),
            Event::Act(action) => return self.act(*action, cx),
            Event::Edit(edit) => self.edit(edit, cx),
            Event::Click(_, row) => {
                let line = usize::from(*row).checked_sub(self.above() + 1);
                let to = line.map(|line| self.place.offset + line);
                if let Some(to) = to.filter(|to| *to < self.listed().count()) {
                    self.go(to, cx);
                }
            }
            Event::Reply {
                slot: LIST,
                tag,
                result,
            } => self.take(*tag, result, cx),
            Event::Reply { slot, tag, result } => words::done(slot, *tag, result, cx),
            Event::Answered { yes, .. } => {
                if let Some(id) = self.asked.take().filter(|_| *yes) {
                    words::cancel(id, cx);
                }
            }
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn view(&self, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
        view::draw(self, area, buf, cx);
    }

    fn title(&self, _: &Data) -> String {
        view::title(self)
    }

    fn takes_text(&self) -> bool {
        self.input.is_some()
    }

    fn selected(&self) -> Option<Subject> {
        self.current().map(|row| Subject::Workflow(row.id))
    }

    /// Ages go on where they are seen.
    fn wake_at(&self, area: Rect, data: &Data) -> Option<f64> {
        if !matches!(data.link, Link::Ready(_)) {
            return None;
        }
        let seen = table::rows(below(area, self.above()));
        let rows = self.listed().skip(self.place.offset).take(seen);
        let ages = rows.filter_map(|row| view::age_s(row, data));
        let next = ages.filter_map(text::age_changes_in).reduce(f64::min);
        next.map(|after| (data.now + after).ceil())
    }
}
