//! A row of names of which one is chosen: the curves of a job, its tables.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::screens::ViewCx;
use crate::theme::Role;
use crate::widgets::text;

/// Where each name that is seen stands, and its columns; the chosen one always is.
pub(super) fn name_places<'a>(
    names: &[&'a str],
    chosen: &str,
    area: Rect,
) -> Vec<(&'a str, u16, u16)> {
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
