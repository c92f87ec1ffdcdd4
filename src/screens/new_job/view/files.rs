//! Draws the choice of a file.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::screens::ViewCx;
use crate::screens::new_job::files::Files;
use crate::theme::Role;
use crate::widgets::{scrollbar, text};

/// The rows above the entries: what is typed, and the directory.
pub(in crate::screens) const ABOVE: u16 = 2;

/// The rows of entries.
pub(in crate::screens) fn rows(area: Rect) -> usize {
    usize::from(area.height.saturating_sub(3)).max(1)
}

pub(in crate::screens) fn draw(files: &Files, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
    let theme = cx.theme;
    let x = text::put(
        buf,
        (area.x, area.y),
        " file ",
        area.width,
        theme.style(Role::Head),
    );
    let line = Rect::new(x, area.y, area.right().saturating_sub(x), 1);
    let cursor = files.input.draw(line, buf, theme);
    if cx.focused {
        cx.cursor.set(cursor);
    }
    let directory = files
        .directory
        .as_deref()
        .unwrap_or(&cx.data.client.directory);
    let words = text::fit(
        &format!("in {}", directory.display()),
        usize::from(area.width) - 2,
        theme.glyphs().more,
    );
    text::put(
        buf,
        (area.x + 1, area.y + 1),
        &words,
        area.width - 1,
        theme.style(Role::Dim),
    );
    let body = Rect {
        y: area.y + ABOVE,
        height: area.height - 3,
        ..area
    };
    entries(files, body, buf, cx);
    let last = area.bottom() - 1;
    let (words, role) = match &files.error {
        Some(error) => (format!("{} {error}", theme.glyphs().attention), Role::Bad),
        None => (
            "Tab completes   Shift-Tab goes up   Up and Down choose".into(),
            Role::Dim,
        ),
    };
    let words = text::fit(&words, usize::from(area.width) - 2, theme.glyphs().more);
    text::put(
        buf,
        (area.x + 1, last),
        &words,
        area.width - 1,
        theme.style(role),
    );
}

fn entries(files: &Files, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
    let theme = cx.theme;
    let fitting = files.fitting();
    if fitting.is_empty() {
        let (words, role) = match &files.unlisted {
            Some(error) => (error.as_str(), Role::Bad),
            None if files.waiting => ("reading", Role::Dim),
            None if files.entries.is_empty() => ("nothing in it", Role::Dim),
            None => ("nothing fits", Role::Dim),
        };
        let words = text::fit(words, usize::from(area.width) - 2, theme.glyphs().more);
        text::put(
            buf,
            (area.x + 1, area.y),
            &words,
            area.width - 1,
            theme.style(role),
        );
        return;
    }
    let offset = files.place.offset;
    for (index, y) in (offset..fitting.len()).zip(area.top()..area.bottom()) {
        let entry = fitting[index];
        let slash = if entry.is_dir { "/" } else { "" };
        let structure = crate::submission::is_structure_name(std::path::Path::new(&entry.name));
        let (kind, role) = match (entry.is_dir, structure) {
            (true, _) => ("", Role::Info),
            (false, true) => ("structure", Role::Title),
            (false, false) => ("", Role::Text),
        };
        let bytes = if entry.is_dir {
            String::new()
        } else {
            text::bytes(entry.bytes)
        };
        let room = usize::from(area.width).saturating_sub(26);
        let name = text::pad(
            &format!("{}{slash}", entry.name),
            room,
            false,
            theme.glyphs().more,
        );
        let line = format!(" {name} {bytes:>10}  {kind:9}");
        text::put(buf, (area.x, y), &line, area.width - 1, theme.style(role));
        if index == files.place.cursor {
            let row = Rect::new(area.x, y, area.width - 1, 1);
            buf.set_style(row, theme.style(Role::Cursor));
        }
    }
    scrollbar::draw(area, buf, theme, offset, fitting.len());
}
