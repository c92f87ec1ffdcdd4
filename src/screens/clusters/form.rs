//! Draws the form of a cluster: its fields, what is wrong with them, and what the one with the cursor
//! means.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::editor::{Editor, Field};
use crate::msg::{Action, Link};
use crate::screens::ViewCx;
use crate::screens::new_job::schema::Kind;
use crate::theme::Role;
use crate::widgets::form::to_correct;
use crate::widgets::{scrollbar, text};

/// Columns of the names of fields.
const NAMES: u16 = 18;
/// Rows below the form that explain the field, with the line above them.
const HELP: u16 = 3;

/// One row of the form.
enum Row {
    Heading(&'static str),
    Field(usize),
    Fault(usize),
    Gap,
    Button,
}

fn rows(editor: &Editor) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut section = "";
    for (index, field) in editor.fields.iter().enumerate() {
        if field.section != section {
            section = field.section;
            rows.push(Row::Heading(section));
        }
        rows.push(Row::Field(index));
        if editor.faults.contains_key(field.key) {
            rows.push(Row::Fault(index));
        }
    }
    rows.push(Row::Gap);
    rows.push(Row::Button);
    rows
}

/// The first row that is seen, so that the field with the cursor and its fault are.
fn offset(editor: &Editor, rows: &[Row], seen: usize) -> usize {
    let here = |row: &Row| match row {
        Row::Field(index) | Row::Fault(index) => *index == editor.cursor,
        Row::Button => editor.cursor >= editor.fields.len(),
        _ => false,
    };
    let last = rows.iter().rposition(here).unwrap_or(0);
    // One more row of what follows, where there is one.
    (last + 2).min(rows.len()).saturating_sub(seen.max(1))
}

fn form_rows(area: Rect) -> u16 {
    area.height.saturating_sub(HELP + 1).max(1)
}

/// The field in this row of the area.
pub(super) fn field_at(editor: &Editor, area: Rect, row: u16) -> Option<usize> {
    let line = row.checked_sub(1).filter(|line| *line < form_rows(area))?;
    let rows = rows(editor);
    let first = offset(editor, &rows, usize::from(form_rows(area)));
    match rows.get(first + usize::from(line))? {
        Row::Field(index) | Row::Fault(index) => Some(*index),
        Row::Button => Some(editor.fields.len()),
        _ => None,
    }
}

pub(super) fn draw(editor: &Editor, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
    if area.height < 4 || area.width < 30 {
        return;
    }
    let theme = cx.theme;
    draw_state(editor, area, buf, cx);
    let all = rows(editor);
    let body = Rect {
        y: area.y + 1,
        height: form_rows(area),
        ..area
    };
    let first = offset(editor, &all, usize::from(body.height));
    for (row, y) in all[first..].iter().zip(body.top()..body.bottom()) {
        let line = Rect::new(area.x, y, area.width, 1);
        match row {
            Row::Heading(words) => {
                let style = theme.style(Role::Head);
                text::put(buf, (area.x + 1, y), words, area.width - 1, style);
            }
            Row::Field(index) => draw_field(editor, *index, line, buf, cx),
            Row::Fault(index) => {
                let key = editor.fields.get(*index).map_or("", |field| field.key);
                let fault = editor.faults.get(key).map_or("", String::as_str);
                let words = format!("{} {fault}", theme.glyphs().attention);
                let left = area.width.saturating_sub(6);
                let words = text::fit(&words, usize::from(left), theme.glyphs().more);
                text::put(buf, (area.x + 4, y), &words, left, theme.style(Role::Bad));
            }
            Row::Gap => {}
            Row::Button => draw_button(editor, line, buf, cx),
        }
    }
    scrollbar::draw(body, buf, theme, first, all.len());
    let help = Rect {
        y: body.bottom(),
        height: area.bottom().saturating_sub(body.bottom()),
        ..area
    };
    draw_help(editor, help, buf, cx);
}

/// The first row: how it stands with saving.
fn draw_state(editor: &Editor, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
    let glyphs = cx.theme.glyphs();
    let key = cx.keymap.main_key(Action::Submit);
    let (words, role) = if let Some(whole) = &editor.whole {
        (format!("{} {whole}", glyphs.attention), Role::Bad)
    } else if editor.saving {
        ("saving".into(), Role::Running)
    } else if !editor.faults.is_empty() {
        to_correct(editor.faults.len(), glyphs)
    } else if !matches!(cx.data.link, Link::Ready(_)) {
        let words = format!("{} no daemon to save it", glyphs.attention);
        (words, Role::Warn)
    } else if editor.is_changed() {
        (format!("not saved yet: {key} saves"), Role::Info)
    } else {
        ("as it is saved".into(), Role::Dim)
    };
    let left = area.width.saturating_sub(2);
    let words = text::fit(&words, usize::from(left), glyphs.more);
    text::put(
        buf,
        (area.x + 1, area.y),
        &words,
        left,
        cx.theme.style(role),
    );
}

fn draw_field(editor: &Editor, index: usize, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
    let theme = cx.theme;
    let Some(field) = editor.fields.get(index) else {
        return;
    };
    let here = index == editor.cursor;
    let more = theme.glyphs().more;
    let name = format!("  {}", field.label);
    let name = text::pad(&name, usize::from(NAMES), false, more);
    text::put(buf, (area.x, area.y), &name, NAMES, theme.style(Role::Text));
    let left = area.width.saturating_sub(NAMES + 2);
    let place = Rect::new(area.x + NAMES, area.y, left, 1);
    if here && editor.editing.is_some() {
        let cursor = field.input.draw(place, buf, theme);
        if cx.focused {
            cx.cursor.set(cursor);
        }
        return;
    }
    let (words, role) = value_words(field);
    let words = match &field.kind {
        Kind::Choice(_) if here => format!("< {words} >"),
        _ => words,
    };
    let words = text::fit(&words, usize::from(left), more);
    text::put(buf, (place.x, place.y), &words, left, theme.style(role));
    if here {
        let row = Rect::new(area.x, area.y, area.width.saturating_sub(1), 1);
        let role = if cx.focused {
            Role::Cursor
        } else {
            Role::CursorAway
        };
        buf.set_style(row, theme.style(role));
    }
}

/// What is written, else what applies then.
fn value_words(field: &Field) -> (String, Role) {
    let needed = matches!(field.key, "name" | "hostname" | "remote_workdir");
    match field.input.text() {
        "" if needed => ("(needed)".into(), Role::Warn),
        "" if field.default.is_empty() => ("-".into(), Role::Dim),
        "" => (format!("({})", field.default), Role::Dim),
        text => (text.to_owned(), Role::Text),
    }
}

fn draw_button(editor: &Editor, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
    let here = editor.cursor >= editor.fields.len();
    let role = match (here, cx.focused) {
        (true, true) => Role::Cursor,
        (true, false) => Role::CursorAway,
        _ => Role::Text,
    };
    let words = if here { "[ Save ]" } else { "  Save  " };
    let left = area.width.saturating_sub(2);
    text::put(buf, (area.x + 2, area.y), words, left, cx.theme.style(role));
}

/// What the field with the cursor is; a fault that does not fit its row stands here in full.
fn draw_help(editor: &Editor, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
    let theme = cx.theme;
    let line = theme.glyphs().horizontal.repeat(usize::from(area.width));
    let border = theme.style(Role::Border);
    text::put(buf, (area.x, area.y), &line, area.width, border);
    let field = editor.fields.get(editor.cursor);
    let fault = field.and_then(|field| editor.faults.get(field.key));
    let (words, role) = match (field, fault) {
        (_, Some(fault)) if text::width(fault) + 8 > usize::from(area.width) => {
            (fault.as_str(), Role::Bad)
        }
        (Some(field), _) => (field.help, Role::Dim),
        (None, _) => ("Save what stands here; nothing is tried yet.", Role::Dim),
    };
    let room = area.width.saturating_sub(2);
    let lines = text::wrap(words, usize::from(room));
    for (line, y) in lines.iter().zip(area.top() + 1..area.bottom()) {
        text::put(buf, (area.x + 1, y), line, room, theme.style(role));
    }
}
