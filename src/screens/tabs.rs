//! The row of tabs of a screen that has several parts.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::ViewCx;
use crate::msg::Action;
use crate::theme::Role;
use crate::widgets::text;

/// Each tab as it is written, and the column where it begins; closer together where that is needed to
/// see them all.
pub(super) fn places<T: Copy + PartialEq>(
    tabs: &[(T, &'static str)],
    chosen: T,
    width: u16,
) -> Vec<(T, String, u16)> {
    let wide: usize = tabs.iter().map(|(_, title)| title.len() + 3).sum();
    let blank = if wide > usize::from(width) { "" } else { " " };
    let mut from = 0;
    let mut places = Vec::new();
    for (tab, title) in tabs {
        let words = if *tab == chosen {
            format!("[{title}]")
        } else {
            format!("{blank}{title}{blank}")
        };
        let columns = u16::try_from(text::width(&words)).unwrap_or(0);
        places.push((*tab, words, from));
        from += columns + 1;
    }
    places
}

/// The actions of all tabs together.
pub(super) fn all_actions<T: Copy>(
    tabs: &[(T, &'static str)],
    of: fn(T) -> &'static [Action],
) -> Vec<Action> {
    let tabs = tabs.iter();
    tabs.flat_map(|(tab, _)| of(*tab).iter().copied()).collect()
}

/// Draw them in the first row of the area.
pub(super) fn draw<T: Copy + PartialEq>(
    tabs: &[(T, &'static str)],
    chosen: T,
    area: Rect,
    buf: &mut Buffer,
    cx: &ViewCx<'_>,
) {
    for (tab, words, from) in places(tabs, chosen, area.width) {
        let role = if tab == chosen {
            Role::TabActive
        } else {
            Role::Text
        };
        let left = area.width.saturating_sub(from);
        let at = (area.x.saturating_add(from), area.y);
        text::put(buf, at, &words, left, cx.theme.style(role));
    }
}

/// The tab in this column.
pub(super) fn at<T: Copy + PartialEq>(
    tabs: &[(T, &'static str)],
    chosen: T,
    width: u16,
    column: u16,
) -> Option<T> {
    let places = places(tabs, chosen, width);
    let (tab, words, from) = places.iter().rev().find(|(_, _, from)| *from <= column)?;
    (usize::from(column - from) <= text::width(words)).then_some(*tab)
}

/// The tab so many further; none at either end.
pub(super) fn beside<T: Copy + PartialEq>(
    tabs: &[(T, &'static str)],
    chosen: T,
    by: isize,
) -> Option<T> {
    let at = tabs.iter().position(|(tab, _)| *tab == chosen)?;
    let to = at.checked_add_signed(by)?;
    tabs.get(to).map(|(tab, _)| *tab)
}
