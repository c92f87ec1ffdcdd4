//! A scroll bar of one column.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::text;
use crate::theme::{Role, Theme};

/// Draw one into the last column of `area`, if not everything is seen.
pub fn draw(area: Rect, buf: &mut Buffer, theme: &Theme, offset: usize, total: usize) {
    let seen = usize::from(area.height);
    if area.width == 0 || seen == 0 || total <= seen {
        return;
    }
    let thumb = (seen * seen / total).max(1);
    let free = seen - thumb;
    let start = (offset * free).div_ceil(total - seen).min(free);
    for (row, at) in (area.top()..area.bottom()).enumerate() {
        let inside = (start..start + thumb).contains(&row);
        let (glyph, role) = if inside {
            (theme.glyphs().thumb, Role::Dim)
        } else {
            (theme.glyphs().track, Role::Border)
        };
        text::put(buf, (area.right() - 1, at), glyph, 1, theme.style(role));
    }
}
