//! Draws a log: its lines, the search in them, and a last row that tells where one is.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::{LogView, Source, State, columns_seen, rows_seen};
use crate::screens::ViewCx;
use crate::theme::{Role, Theme};
use crate::widgets::{log, scrollbar, text};

/// Draw it.
pub fn draw(view: &LogView, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
    if area.height < 2 || area.width < 8 {
        return;
    }
    let theme = cx.theme;
    let rows = Rect {
        height: area.height - 1,
        ..area
    };
    match &view.state {
        State::Failed(reason) => say(reason, Role::Bad, rows, buf, theme),
        State::Loading if view.text.count() == 0 => say("reading", Role::Dim, rows, buf, theme),
        _ if view.text.count() == 0 => {
            let words = if view.complete {
                "it is empty"
            } else {
                "nothing written yet"
            };
            say(words, Role::Dim, rows, buf, theme);
        }
        _ => lines(view, area, buf, theme),
    }
    let last = Rect {
        y: area.bottom() - 1,
        height: 1,
        ..area
    };
    match &view.input {
        Some(input) => {
            let x = text::put(
                buf,
                (last.x, last.y),
                " search ",
                last.width,
                theme.style(Role::Head),
            );
            let line = Rect::new(x, last.y, last.right().saturating_sub(x), 1);
            let cursor: Option<Position> = input.draw(line, buf, theme);
            if cx.focused {
                cx.cursor.set(cursor);
            }
        }
        None => place(view, last, buf, theme),
    }
}

fn say(words: &str, role: Role, area: Rect, buf: &mut Buffer, theme: &Theme) {
    let lines = text::wrap(words, usize::from(area.width).saturating_sub(2));
    for (line, y) in lines.iter().zip(area.top()..area.bottom()) {
        text::put(
            buf,
            (area.x + 1, y),
            line,
            area.width - 1,
            theme.style(role),
        );
    }
}

fn lines(view: &LogView, area: Rect, buf: &mut Buffer, theme: &Theme) {
    let (rows, columns) = (rows_seen(area), columns_seen(area));
    let top = view.top_seen(area);
    let mut y = area.y;
    let bottom = area.bottom() - 1;
    let mut line = top.line;
    while y < bottom && line < view.text.count() {
        let shown = view.text.line(line);
        if view.wrap {
            let parts = log::rows(&shown, columns);
            let skipped = if line == top.line { top.row } else { 0 };
            for part in parts.iter().skip(skipped) {
                if y >= bottom {
                    break;
                }
                row(view, line, part, (area.x, y), columns, buf, theme);
                y += 1;
            }
        } else {
            let rest = log::skip_columns(&shown, view.left);
            row(view, line, rest, (area.x, y), columns, buf, theme);
            y += 1;
        }
        line += 1;
    }
    let bar = Rect {
        height: u16::try_from(rows).unwrap_or(area.height),
        ..area
    };
    scrollbar::draw(bar, buf, theme, top.line, view.text.count());
}

/// One row: its text, cut at the right, with the search marked.
fn row(
    view: &LogView,
    line: usize,
    rest: &str,
    at: (u16, u16),
    columns: usize,
    buf: &mut Buffer,
    theme: &Theme,
) {
    // Enough for any width; a line of a megabyte is not measured.
    let near = log::rows(head(rest, columns * 8), columns);
    let seen = near.first().copied().unwrap_or_default();
    let width = u16::try_from(columns).unwrap_or(u16::MAX);
    let end = text::put(buf, at, seen, width, theme.style(Role::Text));
    if seen.len() < rest.len() && !view.wrap {
        let mark = at.0 + width - 1;
        text::put(
            buf,
            (mark, at.1),
            theme.glyphs().more,
            1,
            theme.style(Role::Dim),
        );
    }
    for column in matches(seen, &view.query) {
        let x = at.0 + u16::try_from(column).unwrap_or(u16::MAX);
        if x < end {
            let wide = u16::try_from(text::width(&view.query)).unwrap_or(1);
            let place = Rect::new(x, at.1, wide.min(end - x), 1);
            buf.set_style(place.intersection(buf.area), theme.style(Role::Match));
        }
    }
    if view.hit == Some(line) && !view.query.is_empty() {
        let place = Rect::new(at.0, at.1, end.saturating_sub(at.0), 1);
        buf.set_style(
            place.intersection(buf.area),
            ratatui::style::Style::new().add_modifier(ratatui::style::Modifier::BOLD),
        );
    }
}

/// The first bytes of a text, whole characters.
fn head(text: &str, bytes: usize) -> &str {
    let mut to = bytes.min(text.len());
    while !text.is_char_boundary(to) {
        to -= 1;
    }
    &text[..to]
}

/// The columns at which the search stands in a row.
fn matches(row: &str, query: &str) -> Vec<usize> {
    if query.is_empty() {
        return Vec::new();
    }
    let exact = query.chars().any(char::is_uppercase);
    let (row, query) = if exact {
        (row.to_owned(), query.to_owned())
    } else {
        (row.to_lowercase(), query.to_lowercase())
    };
    let places = row.match_indices(&query);
    places.map(|(at, _)| text::width(&row[..at])).collect()
}

/// The last row: which file, what of it is here, and how it is shown.
fn place(view: &LogView, area: Rect, buf: &mut Buffer, theme: &Theme) {
    let dot = theme.glyphs().dot;
    let mut parts = Vec::new();
    match &view.source {
        Source::Stream(stream) if view.path.is_empty() => parts.push((*stream).to_owned()),
        Source::Stream(stream) => parts.push(format!("{stream}: {}", view.path)),
        Source::Task(task, stream) if view.path.is_empty() => {
            parts.push(format!("task {task}, {stream}"));
        }
        Source::Task(task, stream) => parts.push(format!("task {task}, {stream}: {}", view.path)),
        Source::File(path, _) => parts.push(path.clone()),
    }
    if view.size > 0 {
        let (start, end) = (view.text.start(), view.text.end());
        if start == 0 && end >= view.size {
            parts.push(text::bytes(view.size));
        } else {
            let size = text::bytes(view.size);
            parts.push(format!(
                "to {} % of {size}",
                end.saturating_mul(100) / view.size
            ));
        }
    }
    if !view.complete && view.follow && !matches!(view.source, Source::File(..)) {
        parts.push("following".into());
    }
    if view.wrap {
        parts.push("wrapped".into());
    } else if view.left > 0 {
        parts.push(format!("from column {}", view.left + 1));
    }
    if !view.query.is_empty() {
        parts.push(format!("search: {}", view.query));
    }
    let line = parts.join(&format!(" {dot} "));
    let line = text::fit(
        &line,
        usize::from(area.width).saturating_sub(2),
        theme.glyphs().more,
    );
    text::put(
        buf,
        (area.x + 1, area.y),
        &line,
        area.width - 1,
        theme.style(Role::Dim),
    );
}
