//! A text of many lines, of which only those that are seen are touched.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::{scrollbar, text};
use crate::theme::Theme;

/// What there is to draw.
pub struct Viewer<'a> {
    /// How many lines there are.
    pub count: usize,
    /// The first line that is seen.
    pub offset: usize,
    /// How many columns are scrolled away to the left.
    pub left: usize,
    /// Gives the line with this number and its style; called for those that are seen only.
    pub line: &'a dyn Fn(usize) -> (String, Style),
}

/// Draw the lines, cut at the right.
pub fn draw(viewer: &Viewer<'_>, area: Rect, buf: &mut Buffer, theme: &Theme) {
    let scrolls = viewer.count > usize::from(area.height);
    let room = area.width.saturating_sub(u16::from(scrolls));
    for (index, y) in (viewer.offset..viewer.count).zip(area.top()..area.bottom()) {
        let (line, style) = (viewer.line)(index);
        let seen = text::skip(&line, viewer.left);
        let fitted = text::fit(seen, usize::from(room), theme.glyphs().more);
        text::put(buf, (area.x, y), &fitted, room, style);
    }
    scrollbar::draw(area, buf, theme, viewer.offset, viewer.count);
}
