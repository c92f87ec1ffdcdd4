//! A table of which only the rows that are seen are ever made.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::{scrollbar, text};
use crate::theme::{Role, Theme};

/// A column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its head.
    pub title: String,
    /// The columns it takes at least.
    pub width: u16,
    /// Its share of what is left over.
    pub share: u16,
    /// Whether it stands on the right.
    pub right: bool,
    /// In a narrow table, columns with the highest rank go first.
    pub rank: u8,
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cell {
    /// What is read.
    pub text: String,
    /// How it looks.
    pub style: Style,
}

/// Where the cursor is and what is seen; kept by the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Place {
    /// The row with the cursor.
    pub cursor: usize,
    /// The first row that is seen.
    pub offset: usize,
}

impl Place {
    /// Go to a row, and scroll as little as that needs.
    pub fn go(&mut self, to: usize, count: usize, rows: usize) {
        self.cursor = to.min(count.saturating_sub(1));
        let rows = rows.max(1);
        if self.cursor < self.offset {
            self.offset = self.cursor;
        } else if self.cursor >= self.offset + rows {
            self.offset = self.cursor + 1 - rows;
        }
        self.offset = self.offset.min(count.saturating_sub(rows));
    }

    /// Go `by` rows down, or up when negative.
    pub fn step(&mut self, by: isize, count: usize, rows: usize) {
        self.go(self.cursor.saturating_add_signed(by), count, rows);
    }
}

/// A row as it is drawn.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Line {
    /// Its cells, one per column.
    pub cells: Vec<Cell>,
    /// Whether it is selected.
    pub selected: bool,
    /// Whether it is out of date or on its way out.
    pub faded: bool,
}

/// What there is to draw.
pub struct Table<'a> {
    /// The columns.
    pub columns: &'a [Column],
    /// How many rows there are.
    pub count: usize,
    /// Where the cursor is.
    pub place: Place,
    /// Whether the table has the keys.
    pub focused: bool,
    /// Makes the row with this number; called for those that are seen only.
    pub row: &'a dyn Fn(usize) -> Line,
}

/// The rows that fit into `area`, below the head.
#[must_use]
pub fn rows(area: Rect) -> usize {
    usize::from(area.height.saturating_sub(1))
}

/// Draw the head and the rows.
pub fn draw(table: &Table<'_>, area: Rect, buf: &mut Buffer, theme: &Theme) {
    if area.height == 0 || area.width < 4 {
        return;
    }
    let scrolls = table.count > rows(area);
    let widths = widths(table.columns, room(area, table.count));
    let head = theme.style(Role::Head);
    let mut x = area.x + 1;
    for (column, width) in table.columns.iter().zip(&widths) {
        let Some(width) = *width else { continue };
        let title = text::pad(&column.title, usize::from(width), column.right, "");
        text::put(buf, (x, area.y), &title, width, head);
        x += width + 1;
    }
    let body = Rect {
        y: area.y + 1,
        height: area.height - 1,
        ..area
    };
    for (index, y) in (table.place.offset..table.count).zip(body.top()..body.bottom()) {
        let line = Rect {
            y,
            height: 1,
            width: area.width - u16::from(scrolls),
            ..area
        };
        draw_row(table, index, &widths, line, buf, theme);
    }
    scrollbar::draw(body, buf, theme, table.place.offset, table.count);
}

fn draw_row(
    table: &Table<'_>,
    index: usize,
    widths: &[Option<u16>],
    area: Rect,
    buf: &mut Buffer,
    theme: &Theme,
) {
    let line = (table.row)(index);
    let here = index == table.place.cursor;
    let more = theme.glyphs().more;
    let mut x = area.x + 1;
    for ((cell, column), width) in line.cells.iter().zip(table.columns).zip(widths) {
        let Some(width) = *width else { continue };
        let style = if line.faded {
            theme.style(Role::Stale)
        } else {
            theme.style(Role::Text).patch(cell.style)
        };
        let text = text::pad(&cell.text, usize::from(width), column.right, more);
        text::put(buf, (x, area.y), &text, width, style);
        x += width + 1;
    }
    if line.selected {
        let mark = theme.glyphs().selected;
        buf.set_style(area, theme.style(Role::Selected));
        text::put(buf, (area.x, area.y), mark, 1, theme.style(Role::Selected));
    }
    if here {
        let role = if table.focused {
            Role::Cursor
        } else {
            Role::CursorAway
        };
        buf.set_style(area, theme.style(role));
    }
}

/// Which columns there is room for in `area`, above `count` rows.
#[must_use]
pub fn shown(columns: &[Column], area: Rect, count: usize) -> Vec<bool> {
    let widths = widths(columns, room(area, count));
    widths.iter().map(Option::is_some).collect()
}

/// What the margins and the scroll bar leave.
fn room(area: Rect, count: usize) -> u16 {
    let scrolls = count > rows(area);
    area.width.saturating_sub(2 + u16::from(scrolls))
}

/// The widths of the columns in `room`; `None` for those that there is no room for.
fn widths(columns: &[Column], room: u16) -> Vec<Option<u16>> {
    let mut kept: Vec<usize> = (0..columns.len()).collect();
    let needed = |kept: &[usize]| -> usize {
        let wide: usize = kept
            .iter()
            .map(|index| usize::from(columns[*index].width))
            .sum();
        wide + kept.len().saturating_sub(1)
    };
    while needed(&kept) > usize::from(room) {
        let Some(worst) = kept
            .iter()
            .copied()
            .max_by_key(|index| (columns[*index].rank, *index))
        else {
            break;
        };
        kept.retain(|index| *index != worst);
    }
    let left = room - u16::try_from(needed(&kept)).unwrap_or(room);
    let shares: u16 = kept.iter().map(|index| columns[*index].share).sum();
    let mut widths = vec![None; columns.len()];
    let mut given = 0;
    for index in &kept {
        let column = &columns[*index];
        let part = u32::from(left) * u32::from(column.share) / u32::from(shares.max(1));
        let part = u16::try_from(part).unwrap_or(0);
        widths[*index] = Some(column.width + part);
        given += part;
    }
    let first = kept.iter().find(|index| columns[**index].share > 0);
    if let Some(width) = first.and_then(|index| widths[*index].as_mut()) {
        *width += left - given;
    }
    widths
}
