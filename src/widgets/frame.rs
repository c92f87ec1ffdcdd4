//! Lines around and between panes, with the title in the upper one.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::text;
use crate::theme::{Role, Theme};

/// Draw the frame of a pane. Without `boxed` there is only the line with the title.
pub fn draw(area: Rect, buf: &mut Buffer, theme: &Theme, title: &str, focused: bool, boxed: bool) {
    if area.width < 4 || area.height == 0 {
        return;
    }
    let glyphs = theme.glyphs();
    let role = if focused {
        Role::BorderFocused
    } else {
        Role::Border
    };
    let style = theme.style(role);
    let line = glyphs.horizontal.repeat(usize::from(area.width));
    text::put(buf, (area.x, area.y), &line, area.width, style);
    let (right, bottom) = (area.right() - 1, area.bottom() - 1);
    if boxed && area.height > 1 {
        text::put(buf, (area.x, bottom), &line, area.width, style);
        for y in area.y + 1..bottom {
            text::put(buf, (area.x, y), glyphs.vertical, 1, style);
            text::put(buf, (right, y), glyphs.vertical, 1, style);
        }
        for (glyph, (x, y)) in glyphs.corners.iter().zip([
            (area.x, area.y),
            (right, area.y),
            (area.x, bottom),
            (right, bottom),
        ]) {
            text::put(buf, (x, y), glyph, 1, style);
        }
    }
    let room = usize::from(area.width).saturating_sub(4);
    let title = text::fit(title, room, glyphs.more);
    text::put(
        buf,
        (area.x + 1, area.y),
        &format!(" {title} "),
        area.width - 2,
        theme.style(if focused { Role::Title } else { Role::Dim }),
    );
}

/// Mend the corners where two boxed panes share the line at `x`.
pub fn join(buf: &mut Buffer, theme: &Theme, x: u16, top: u16, bottom: u16, focused_left: bool) {
    let role = if focused_left {
        Role::BorderFocused
    } else {
        Role::Border
    };
    let style = theme.style(role);
    let tees = theme.glyphs().tees;
    text::put(buf, (x, top), tees[0], 1, style);
    text::put(buf, (x, bottom), tees[1], 1, style);
}
