//! What a screen is that has a list and, beside it or in its place, what is known of the row with the
//! cursor: where both are, moving about in them, and drawing them.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::{Handled, ViewCx};
use crate::msg::{Action, Link};
use crate::theme::{Role, Theme};
use crate::widgets::facts::{self, Fact};
use crate::widgets::table::{self, Cell, Column, Line, Place, Table};
use crate::widgets::text;

/// From this width on list and detail stand side by side.
const WIDE: u16 = 96;
/// Where the cursor is, and what is seen.
#[derive(Debug)]
pub struct Listing {
    /// Percent of a wide window that the list has.
    share: u16,
    /// The row with the cursor.
    pub place: Place,
    /// The detail has the keys; in a narrow window only then it is seen.
    pub opened: bool,
    /// The first line of the detail that is seen.
    pub scroll: usize,
    /// Which part of the detail has the facts; the rest is the screen's own.
    facts: fn(Rect) -> Rect,
}

/// How much there is of everything now.
#[derive(Debug, Clone, Copy, Default)]
pub struct Extent {
    /// Where the screen is.
    pub area: Rect,
    /// Lines above the table.
    pub above: usize,
    /// Rows of the table.
    pub rows: usize,
}

/// What is drawn.
pub struct Seen<'a> {
    /// Lines above the table.
    pub above: Vec<(String, Role)>,
    /// The columns.
    pub columns: &'a [Column],
    /// How many rows there are.
    pub rows: usize,
    /// Makes a row.
    pub row: &'a dyn Fn(usize) -> Line,
    /// What is known of the row with the cursor.
    pub facts: &'a [Fact],
    /// Why there is no row, and what to do.
    pub empty: String,
    /// Whether it may be out of date.
    pub stale: bool,
}

/// Two areas side by side with a column between them; the first has so many percent.
#[must_use]
pub fn split(area: Rect, percent: u16) -> (Rect, Rect) {
    let left = area.width * percent / 100;
    let list = Rect {
        width: left,
        ..area
    };
    let rest = Rect {
        x: area.x + left + 1,
        width: area.width - left - 1,
        ..area
    };
    (list, rest)
}

impl Default for Listing {
    fn default() -> Self {
        Self::sharing(58)
    }
}

impl Listing {
    /// One whose list has so many percent of a wide window.
    #[must_use]
    pub const fn sharing(percent: u16) -> Self {
        Self {
            share: percent,
            place: Place {
                cursor: 0,
                offset: 0,
            },
            opened: false,
            scroll: 0,
            facts: |detail| detail,
        }
    }

    /// The same with the facts in a part of the detail alone.
    #[must_use]
    pub const fn with_facts_in(mut self, facts: fn(Rect) -> Rect) -> Self {
        self.facts = facts;
        self
    }

    /// List and detail; the one that is not seen is empty.
    #[must_use]
    pub fn areas(&self, area: Rect) -> (Rect, Rect) {
        if area.width < WIDE {
            return if self.opened {
                (Rect::ZERO, area)
            } else {
                (area, Rect::ZERO)
            };
        }
        split(area, self.share)
    }

    /// Move about; `facts` are those of the row with the cursor.
    pub fn act(&mut self, action: Action, extent: Extent, facts: &[Fact]) -> Handled {
        let (list, rest) = self.areas(extent.area);
        match action {
            Action::Open | Action::Right => self.opened = extent.rows > 0,
            Action::Back | Action::Left if self.opened => self.close(),
            action if self.opened => {
                let place = (self.facts)(rest);
                let seen = usize::from(place.height);
                let most = facts::count(facts, place).saturating_sub(seen);
                match moved(action, self.scroll, seen, most + 1) {
                    Some(to) => self.scroll = to,
                    None => return Handled::No,
                }
            }
            action => {
                let seen = table::rows(below(list, extent.above));
                match moved(action, self.place.cursor, seen, extent.rows) {
                    Some(to) => self.go(to, extent),
                    None => return Handled::No,
                }
            }
        }
        Handled::Yes
    }

    /// Put the cursor on a row.
    pub fn go(&mut self, to: usize, extent: Extent) {
        if to != self.place.cursor {
            self.scroll = 0;
        }
        let (list, _) = self.areas(extent.area);
        let seen = table::rows(below(list, extent.above));
        self.place.go(to, extent.rows, seen);
        self.opened &= extent.rows > 0;
    }

    /// The rows are others: put the cursor where its row is now. Where that is gone, the keys go
    /// back to the list, so that they do not reach the next one.
    pub fn hold(&mut self, at: Option<usize>, extent: Extent) {
        if at.is_none() {
            self.close();
        }
        self.go(at.unwrap_or(self.place.cursor), extent);
    }

    /// The keys go back to the list.
    pub const fn close(&mut self) {
        self.opened = false;
        self.scroll = 0;
    }

    /// A click at this place of the area.
    pub fn click(&mut self, at: (u16, u16), extent: Extent) {
        let (list, rest) = self.areas(extent.area);
        let at = Position::new(extent.area.x + at.0, extent.area.y + at.1);
        self.opened = rest.contains(at) && extent.rows > 0;
        let table = below(list, extent.above);
        let line = at.y.checked_sub(table.y + 1).filter(|_| list.contains(at));
        let to = line.map(|line| self.place.offset + usize::from(line));
        if let Some(to) = to.filter(|to| *to < extent.rows) {
            self.go(to, extent);
        }
    }

    /// Draw list and detail.
    pub fn draw(&self, seen: &Seen<'_>, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
        let (list, rest) = self.areas(area);
        if list.height > 0 {
            self.draw_list(seen, list, buf, cx);
        }
        if rest.width == 0 || rest.height == 0 {
            return;
        }
        if list.width > 0 {
            for y in list.top()..list.bottom() {
                let bar = cx.theme.glyphs().vertical;
                text::put(buf, (rest.x - 1, y), bar, 1, cx.theme.style(Role::Border));
            }
        }
        let place = (self.facts)(rest);
        facts::draw(seen.facts, self.scroll, place, buf, cx.theme, seen.stale);
    }

    fn draw_list(&self, seen: &Seen<'_>, list: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
        let more = cx.theme.glyphs().more;
        let room = list.width.saturating_sub(2);
        for ((words, role), y) in seen.above.iter().zip(list.top()..list.bottom()) {
            let words = text::fit(words, usize::from(room), more);
            text::put(buf, (list.x + 1, y), &words, room, cx.theme.style(*role));
        }
        let body = below(list, seen.above.len());
        if seen.rows == 0 {
            let lines = text::wrap(&seen.empty, usize::from(room.saturating_sub(2)));
            for (line, y) in lines.iter().zip(body.top() + 1..body.bottom()) {
                text::put(buf, (body.x + 2, y), line, room, cx.theme.style(Role::Dim));
            }
            return;
        }
        let table = Table {
            columns: seen.columns,
            count: seen.rows,
            place: self.place,
            focused: cx.focused && !self.opened,
            row: seen.row,
        };
        table::draw(&table, body, buf, cx.theme);
    }
}

/// What is left under so many lines.
#[must_use]
pub fn below(area: Rect, lines: usize) -> Rect {
    let lines = u16::try_from(lines).unwrap_or(u16::MAX).min(area.height);
    Rect {
        y: area.y + lines,
        height: area.height - lines,
        ..area
    }
}

/// Where a movement leads in a list of `count`; `None` when it is no movement.
#[must_use]
pub fn moved(action: Action, at: usize, rows: usize, count: usize) -> Option<usize> {
    let to = match action {
        Action::Down => at.saturating_add(1),
        Action::Up => at.saturating_sub(1),
        Action::PageDown => at.saturating_add(rows),
        Action::PageUp => at.saturating_sub(rows),
        Action::HalfPageDown => at.saturating_add((rows / 2).max(1)),
        Action::HalfPageUp => at.saturating_sub((rows / 2).max(1)),
        Action::Top => 0,
        Action::Bottom => usize::MAX,
        _ => return None,
    };
    Some(to.min(count.saturating_sub(1)))
}

/// Why nothing can be read while the connection is not there; `None` while it is.
#[must_use]
pub fn link_words(cx: &ViewCx<'_>) -> Option<String> {
    let refresh = cx.keymap.main_key(Action::Refresh);
    Some(match &cx.data.link {
        Link::Starting => "Connecting to the daemon; it is started if none runs.".into(),
        Link::Busy => "The daemon does not answer yet.".into(),
        Link::Reconnecting => "The connection was lost; the next one is being made.".into(),
        Link::Down { .. } => {
            format!("There is no daemon, so there is nothing to show. {refresh} tries again.")
        }
        Link::Ready(_) => return None,
    })
}

/// Words in a cell, as what they mean looks.
#[must_use]
pub fn said(text: impl Into<String>, role: Role, theme: &Theme) -> Cell {
    Cell {
        text: text.into(),
        style: theme.style(role),
    }
}

/// A column of a table.
#[must_use]
pub fn column(title: &str, width: u16, share: u16, right: bool, rank: u8) -> Column {
    Column {
        title: title.to_owned(),
        width,
        share,
        right,
        rank,
    }
}
