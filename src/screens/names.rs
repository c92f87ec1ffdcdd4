//! A row of names of which one is chosen: curves, tables.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::screens::ViewCx;
use crate::theme::Role;
use crate::widgets::text;

/// Where each name that is seen stands, and its columns; the chosen one always is.
fn name_places<'a>(names: &[&'a str], chosen: &str, area: Rect) -> Vec<(&'a str, u16, u16)> {
    let at = names.iter().position(|name| *name == chosen).unwrap_or(0);
    let width = |name: &&str| text::width(name) + 3;
    let room = usize::from(area.width);
    // Those before the chosen one go first where there is no room for all.
    let mut from = 0;
    while from < at && names[from..=at].iter().map(width).sum::<usize>() > room {
        from += 1;
    }
    let mut x = area.x;
    let mut places = Vec::new();
    for name in &names[from..] {
        let columns = u16::try_from(width(name)).unwrap_or(u16::MAX);
        let seen = columns.min(area.right().saturating_sub(x));
        if seen == 0 {
            break;
        }
        places.push((*name, x, seen));
        x += seen;
    }
    places
}

/// The name in this column of the row.
pub(super) fn name_at<'a>(
    names: &[&'a str],
    chosen: &str,
    area: Rect,
    column: u16,
) -> Option<&'a str> {
    let at = area.x + column;
    let mut places = name_places(names, chosen, area).into_iter();
    let hit = places.find(|(_, x, columns)| (*x..x + columns).contains(&at));
    hit.map(|(name, ..)| name)
}

/// The name that stands so many further; the first or the last one where there are not so many.
pub(super) fn name_beside<'a>(
    names: &[&'a str],
    chosen: Option<&str>,
    by: isize,
) -> Option<&'a str> {
    let at = names.iter().position(|name| Some(*name) == chosen);
    let to = at.unwrap_or(0).saturating_add_signed(by);
    names.get(to.min(names.len().saturating_sub(1))).copied()
}

/// One row with the names.
pub(super) fn draw_names(
    names: &[&str],
    chosen: &str,
    area: Rect,
    buf: &mut Buffer,
    cx: &ViewCx<'_>,
) {
    for (name, x, columns) in name_places(names, chosen, area) {
        let (words, role) = if name == chosen {
            (format!("[{name}]"), Role::TabActive)
        } else {
            (format!(" {name} "), Role::Dim)
        };
        text::put(buf, (x, area.y), &words, columns, cx.theme.style(role));
    }
}
