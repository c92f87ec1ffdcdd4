//! The job list: a table of any length with a filter, sorting, columns to choose and a selection.
//!
//! It shows the shared job list; what it does with jobs goes through `app`.

pub mod columns;
pub mod filter;
pub mod words;

mod act;
mod order;
mod view;

use std::collections::BTreeSet;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Cx, Event, Handled, Screen, Subject, ViewCx};
use crate::app::{Data, Row};
use crate::config::{Chosen, Config, SortBy};
use crate::msg::{Action, Edit};
use crate::widgets::input::TextLine;
use crate::widgets::table::{self, Place};

use order::{By, Order};

pub use columns::{COLUMN_NAMES, ColumnId};
pub use filter::Filter;

const PICK_COLUMNS: u32 = 1;
const PICK_COPY: u32 = 2;

/// The state of the job list.
#[derive(Debug)]
pub struct Jobs {
    columns: Vec<ColumnId>,
    sort: ColumnId,
    descending: bool,
    filter: Filter,
    /// The filter as it is typed; `None` while it is not.
    input: Option<TextLine>,
    /// What is wrong with what is typed; the filter before stays in force.
    filter_error: Option<String>,
    /// The jobs that fit, in their order.
    order: Order,
    place: Place,
    /// The job that the user put the cursor on; it may be filtered out at the moment.
    wanted: Option<i64>,
    selected: BTreeSet<i64>,
    /// Where a range began.
    range: Option<i64>,
    /// What was seen when the list last changed.
    seen: Seen,
}

/// What is seen of the list, but for what stands in its rows.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    title: String,
    rows: Vec<i64>,
    place: Place,
    count: usize,
}

impl Jobs {
    /// The list at the start.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        let named: Vec<ColumnId> = config
            .job_columns
            .iter()
            .filter_map(|name| ColumnId::named(name))
            .collect();
        let sort = config.job_sort.as_ref();
        let column = sort.and_then(|sort| ColumnId::named(&sort.column));
        Self {
            columns: if named.is_empty() {
                ColumnId::DEFAULT.to_vec()
            } else {
                named
            },
            sort: column.unwrap_or(ColumnId::Id),
            descending: column.is_none() || sort.is_some_and(|sort| sort.descending),
            filter: Filter::default(),
            input: None,
            filter_error: None,
            order: Order::default(),
            place: Place::default(),
            wanted: None,
            selected: BTreeSet::new(),
            range: None,
            seen: Seen::default(),
        }
    }

    /// The numbers of the jobs that are listed, in their order.
    #[must_use]
    pub fn listed(&self) -> &[i64] {
        self.order.ids()
    }

    fn remember_sort(&self, cx: &mut Cx<'_>) {
        cx.remember(Chosen::JobSort(SortBy {
            column: self.sort.name().to_owned(),
            descending: self.descending,
        }));
    }

    fn remember_columns(&self, cx: &mut Cx<'_>) {
        let names = self.columns.iter().map(|column| column.name().to_owned());
        cx.remember(Chosen::JobColumns(names.collect()));
    }

    fn current(&self) -> Option<i64> {
        self.listed().get(self.place.cursor).copied()
    }

    fn current_row<'a>(&self, data: &'a Data) -> Option<&'a Row> {
        data.jobs.get(self.current()?)
    }

    /// What an action is about: the selection, else the job under the cursor.
    fn targets(&self) -> Vec<i64> {
        if self.selected.is_empty() {
            self.current().into_iter().collect()
        } else {
            self.selected.iter().copied().collect()
        }
    }

    /// Rows above the table: the filter while it is typed, and what is wrong with it.
    fn rows_above(&self) -> u16 {
        u16::from(self.input.is_some()) + u16::from(self.filter_error.is_some())
    }

    fn table_area(&self, area: Rect) -> Rect {
        let above = self.rows_above().min(area.height);
        Rect {
            y: area.y + above,
            height: area.height - above,
            ..area
        }
    }

    fn rows_seen(&self, cx: &Cx<'_>) -> usize {
        table::rows(self.table_area(cx.area()))
    }

    fn by(&self) -> By {
        By {
            filter: self.filter.clone(),
            column: self.sort,
            descending: self.descending,
        }
    }

    /// Make the order anew.
    fn arrange(&mut self, cx: &mut Cx<'_>) {
        self.order.make(self.by(), cx.data());
        self.arranged(cx);
        cx.redraw();
    }

    /// Put these jobs in their places. Of ten thousand jobs most are not seen, and nothing is drawn
    /// for them.
    fn rearrange(&mut self, ids: &[i64], cx: &mut Cx<'_>) {
        self.order.change(ids, self.by(), cx.data());
        self.arranged(cx);
        let seen = self.seen(cx);
        if seen != self.seen || ids.iter().any(|id| seen.rows.contains(id)) {
            self.seen = seen;
            cx.redraw();
        }
    }

    /// What is seen of the list, but for what stands in its rows.
    fn seen(&self, cx: &Cx<'_>) -> Seen {
        let rows = self.listed().iter().skip(self.place.offset);
        Seen {
            title: view::title(self, cx.data()),
            rows: rows.take(self.rows_seen(cx)).copied().collect(),
            place: self.place,
            count: self.listed().len(),
        }
    }

    /// The order is another one: the cursor stays on its job and the job on its line; but what has
    /// come in above is seen where the list stands at its top.
    fn arranged(&mut self, cx: &mut Cx<'_>) {
        let data = cx.data();
        let line = self.place.cursor.saturating_sub(self.place.offset);
        self.selected.retain(|id| data.jobs.get(*id).is_some());
        let wanted = self.wanted;
        let found = wanted.and_then(|id| self.listed().iter().position(|other| *other == id));
        let (count, rows) = (self.listed().len(), self.rows_seen(cx));
        let to = found.unwrap_or(self.place.cursor);
        if found.is_some() && (self.place.offset > 0 || to >= rows) {
            self.place.offset = to.saturating_sub(line);
        }
        self.place.go(to, count, rows);
        if self.wanted.is_none() {
            self.wanted = self.current();
        }
    }

    /// The user moved the cursor.
    fn go(&mut self, to: usize, cx: &mut Cx<'_>) {
        let rows = self.rows_seen(cx);
        let from = self.place.cursor;
        self.place.go(to, self.listed().len(), rows);
        self.wanted = self.current();
        if self.range.is_some() {
            self.extend_range(from);
        }
        cx.redraw();
    }

    fn extend_range(&mut self, from: usize) {
        let anchor = self
            .range
            .and_then(|id| self.listed().iter().position(|other| *other == id));
        let Some(anchor) = anchor else {
            self.range = None;
            return;
        };
        let span = |a: usize, b: usize| a.min(b)..=a.max(b);
        let (old, new) = (span(anchor, from), span(anchor, self.place.cursor));
        let listed = self.order.ids();
        for index in old {
            if let Some(id) = listed.get(index).filter(|_| !new.contains(&index)) {
                self.selected.remove(id);
            }
        }
        self.selected
            .extend(new.filter_map(|index| listed.get(index)));
    }

    fn set_filter(&mut self, text: &str, cx: &mut Cx<'_>) {
        match Filter::parse(text) {
            Ok(filter) => {
                self.filter = filter;
                self.filter_error = None;
                self.arrange(cx);
            }
            Err(reason) => self.filter_error = Some(reason),
        }
        cx.redraw();
    }

    fn edit(&mut self, edit: &Edit, cx: &mut Cx<'_>) {
        let Some(input) = &mut self.input else {
            return;
        };
        match edit {
            Edit::Submit => {
                self.input = None;
                self.filter_error = None;
                self.arrange(cx);
            }
            Edit::Cancel => {
                self.input = None;
                self.set_filter("", cx);
            }
            Edit::Up | Edit::Down | Edit::PageUp | Edit::PageDown => {
                let rows = self.rows_seen(cx);
                let by = match edit {
                    Edit::Up => -1,
                    Edit::Down => 1,
                    Edit::PageUp => -rows.cast_signed(),
                    _ => rows.cast_signed(),
                };
                self.go(self.place.cursor.saturating_add_signed(by), cx);
            }
            edit => {
                if input.apply(edit) {
                    let text = input.text().to_owned();
                    self.set_filter(&text, cx);
                }
                cx.redraw();
            }
        }
    }

    fn show(&mut self, id: i64, cx: &mut Cx<'_>) {
        self.wanted = Some(id);
        self.range = None;
        self.selected.clear();
        if !self.listed().contains(&id) {
            self.input = None;
            self.set_filter("", cx);
        }
        if let Some(at) = self.listed().iter().position(|other| *other == id) {
            self.go(at, cx);
        }
    }
}

impl Screen for Jobs {
    fn actions(&self) -> &'static [Action] {
        &[
            Action::Open,
            Action::Log,
            Action::Filter,
            Action::Cancel,
            Action::Rerun,
            Action::Select,
            Action::Sort,
            Action::Copy,
            Action::Columns,
            Action::Workflow,
            Action::Delete,
            Action::SortReverse,
            Action::SelectRange,
            Action::Shell,
        ]
    }

    fn hints(&self, data: &Data) -> Vec<Action> {
        self.hints_for(data)
    }

    fn update(&mut self, event: &Event<'_>, cx: &mut Cx<'_>) -> Handled {
        match event {
            Event::Act(action) => return self.act(*action, cx),
            Event::Edit(edit) => self.edit(edit, cx),
            Event::JobsChanged([]) => {
                if self.order.is_old(cx.data()) {
                    self.arrange(cx);
                }
            }
            Event::JobsChanged(ids) => self.rearrange(ids, cx),
            Event::Entered | Event::Resized => {
                let rows = self.rows_seen(cx);
                self.place.go(self.place.cursor, self.listed().len(), rows);
                cx.redraw();
            }
            Event::Tick => cx.redraw(),
            Event::Show(Some(Subject::Job(id))) => self.show(*id, cx),
            Event::Show(Some(Subject::Workflow(id))) => {
                self.input = None;
                self.selected.clear();
                self.range = None;
                self.set_filter(&format!("workflow:{id}"), cx);
            }
            Event::Click(_, row) => {
                if let Some(line) = row.checked_sub(self.rows_above() + 1) {
                    let index = self.place.offset + usize::from(line);
                    if index < self.listed().len() {
                        self.go(index, cx);
                    }
                }
            }
            Event::Picked { token, names } => self.picked(*token, names, cx),
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn view(&self, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
        view::draw(self, area, buf, cx);
    }

    fn title(&self, data: &Data) -> String {
        view::title(self, data)
    }

    fn takes_text(&self) -> bool {
        self.input.is_some()
    }

    fn selected(&self) -> Option<Subject> {
        self.current().map(Subject::Job)
    }

    /// Elapsed times and ages go on where they are seen.
    fn wake_at(&self, area: Rect, data: &Data) -> Option<f64> {
        let area = self.table_area(area);
        let columns: Vec<_> = self.columns.iter().map(|id| id.unmarked()).collect();
        let shown = table::shown(&columns, area, self.listed().len());
        let shown = || {
            let columns = self.columns.iter().zip(&shown);
            columns.filter_map(|(id, shown)| shown.then_some(id))
        };
        let ids = self.listed().iter().skip(self.place.offset);
        ids.take(table::rows(area))
            .filter_map(|id| data.jobs.get(*id))
            .flat_map(|row| shown().filter_map(|id| id.changes_at(row, data)))
            .reduce(f64::min)
    }
}
