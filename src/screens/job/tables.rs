//! The tables of results, one at a time: of a job modes, elastic constants, atoms, spins and whatever
//! else its results document holds.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::{Map, Value};

use crate::msg::Action;
use crate::results::tables::{Found, tables};
use crate::screens::listing::{below, moved, said};
use crate::screens::names::{draw_names, name_at, name_beside};
use crate::screens::{Cx, Handled, ViewCx};
use crate::theme::Role;
use crate::widgets::table::{self, Column, Line, Place};
use crate::widgets::text;

/// The tables and what is seen of them.
#[derive(Debug, Default)]
pub struct Tables {
    /// None while the results are not known.
    all: Option<Vec<Found>>,
    /// By name, so that it stays when others come.
    chosen: Option<String>,
    place: Place,
    /// Columns that are scrolled away; the first one stays.
    left: usize,
}

impl Tables {
    /// Take the results of the job.
    pub fn take(&mut self, results: &Map<String, Value>) {
        self.take_found(tables(results));
    }

    /// Show these.
    pub fn take_found(&mut self, tables: Vec<Found>) {
        self.all = Some(tables);
        if let Some(now) = self.current() {
            let rows = now.rows.len();
            self.place.cursor = self.place.cursor.min(rows.saturating_sub(1));
        }
    }

    fn all(&self) -> &[Found] {
        self.all.as_deref().unwrap_or_default()
    }

    fn current(&self) -> Option<&Found> {
        let all = self.all();
        let chosen = self.chosen.as_deref();
        let same = all.iter().find(|table| Some(table.name.as_str()) == chosen);
        same.or_else(|| all.first())
    }

    /// Do what was asked for.
    pub fn act(&mut self, action: Action, area: Rect, cx: &mut Cx<'_>) -> Handled {
        // Without tables the keys are free for the tabs.
        let Some(now) = self.current() else {
            return Handled::No;
        };
        let body = below(area, 1);
        let rows = table::rows(body);
        let (count, columns) = (now.rows.len(), now.columns.len());
        let hidden = self.hides(now, body);
        match action {
            Action::NextFile => self.choose(1),
            Action::PreviousFile => self.choose(-1),
            Action::Right if hidden => self.left = (self.left + 1).min(columns - 1),
            Action::Left if self.left > 0 => self.left -= 1,
            Action::Copy => {
                let cells = now.rows.get(self.place.cursor).map(|row| row.join("\t"));
                if let Some(cells) = cells {
                    cx.copy("row", &cells);
                }
            }
            action => match moved(action, self.place.cursor, rows, count) {
                Some(to) => self.place.go(to, count, rows),
                None => return Handled::No,
            },
        }
        cx.redraw();
        Handled::Yes
    }

    /// Whether columns on the right are not seen.
    fn hides(&self, table: &Found, body: Rect) -> bool {
        let columns = columns(table, self.left);
        let shown = table::shown(&columns, body, table.rows.len());
        shown.iter().any(|shown| !shown)
    }

    fn choose(&mut self, by: isize) {
        let now = self.current().map(|table| table.name.as_str());
        let to = name_beside(&self.names(), now, by).map(str::to_owned);
        self.show(to);
    }

    /// Show this table from its beginning.
    fn show(&mut self, name: Option<String>) {
        self.chosen = name;
        self.place = Place::default();
        self.left = 0;
    }

    /// A click in the row of the names chooses the table, one below it a row.
    pub fn click(&mut self, at: (u16, u16), area: Rect, cx: &mut Cx<'_>) {
        let Some(now) = self.current() else { return };
        cx.redraw();
        if at.1 == 0 {
            let hit = name_at(&self.names(), &now.name, area, at.0).map(str::to_owned);
            if hit.is_some() {
                self.show(hit);
            }
        } else if let Some(line) = at.1.checked_sub(2) {
            let (count, rows) = (now.rows.len(), table::rows(below(area, 1)));
            let to = self.place.offset + usize::from(line);
            if to < count {
                self.place.go(to, count, rows);
            }
        }
    }

    fn names(&self) -> Vec<&str> {
        self.all().iter().map(|table| table.name.as_str()).collect()
    }

    /// Draw the names and the chosen table.
    pub fn draw(&self, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
        let theme = cx.theme;
        let Some(now) = self.current() else {
            let words = match self.all {
                None => "reading",
                Some(_) => "there are no tables, or none yet",
            };
            let style = theme.style(Role::Dim);
            text::put(buf, (area.x + 1, area.y), words, area.width - 1, style);
            return;
        };
        draw_names(&self.names(), &now.name, area, buf, cx);
        let body = below(area, 1);
        let stale = cx.data.is_stale();
        let row = |index: usize| Line {
            cells: now.rows.get(index).map_or_else(Vec::new, |row| {
                let cells = kept(row, self.left);
                cells.map(|cell| said(cell, Role::Text, theme)).collect()
            }),
            selected: false,
            faded: stale,
        };
        let columns = columns(now, self.left);
        let table = table::Table {
            columns: &columns,
            count: now.rows.len(),
            place: self.place,
            focused: cx.focused,
            row: &row,
        };
        table::draw(&table, body, buf, theme);
        self.draw_sides(now, body, buf, cx);
    }

    /// Marks where columns are not seen.
    fn draw_sides(&self, table: &Found, body: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
        if self.left == 0 && !self.hides(table, body) {
            return;
        }
        let words = format!("columns from {} of {}", self.left + 1, table.columns.len());
        let columns = u16::try_from(text::width(&words)).unwrap_or(0);
        let free = body.bottom().saturating_sub(1);
        let last = usize::from(free.saturating_sub(body.y));
        // Only where no row stands.
        if table.rows.len() < last && columns < body.width {
            let at = (body.right() - columns - 1, free);
            text::put(buf, at, &words, columns, cx.theme.style(Role::Dim));
        }
    }
}

/// The first one and those from `left` on.
fn kept(row: &[String], left: usize) -> impl Iterator<Item = String> {
    let first = row.first().into_iter();
    first.chain(row.iter().skip(1 + left)).cloned()
}

fn columns(table: &Found, left: usize) -> Vec<Column> {
    let all = table.columns.iter().enumerate();
    let seen = all.filter(|(index, _)| *index == 0 || *index > left);
    seen.map(|(index, column)| Column {
        title: column.title.clone(),
        width: column.width,
        share: 0,
        right: column.right,
        // Where there is no room the last ones go.
        rank: u8::try_from(index).unwrap_or(u8::MAX),
    })
    .collect()
}
