//! A box over the middle of the window.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{frame, text};
use crate::theme::{Role, Theme};

/// A box of this size in the middle of `window`, and its inside.
#[must_use]
pub fn places(window: Rect, size: (u16, u16)) -> (Rect, Rect) {
    let width = size.0.saturating_add(4).min(window.width);
    let height = size.1.saturating_add(2).min(window.height);
    let area = Rect::new(
        window.x + (window.width - width) / 2,
        window.y + (window.height - height) / 2,
        width,
        height,
    );
    let inside = Rect::new(
        area.x + 2,
        area.y + 1,
        area.width.saturating_sub(4),
        area.height.saturating_sub(2),
    );
    (area, inside)
}

/// Clear the box of this size, frame it, and give its inside.
pub fn open(window: Rect, size: (u16, u16), title: &str, buf: &mut Buffer, theme: &Theme) -> Rect {
    let (area, inside) = places(window, size);
    clear(area, buf, theme);
    frame::draw(area, buf, theme, title, true, true);
    inside
}

/// Empty a part of the window.
pub fn clear(area: Rect, buf: &mut Buffer, theme: &Theme) {
    // A wide character that the box cuts in half must go as a whole.
    for y in area.top()..area.bottom() {
        if area.x > 0
            && let Some(cell) = buf.cell_mut((area.x - 1, y))
            && text::width(cell.symbol()) > 1
        {
            cell.set_symbol(" ");
        }
    }
    let area = area.intersection(buf.area);
    for position in area.positions() {
        if let Some(cell) = buf.cell_mut(position) {
            cell.reset();
            cell.set_style(theme.style(Role::Text));
        }
    }
}

/// The places of two buttons in one row.
#[must_use]
pub fn button_places(area: Rect, labels: [&str; 2]) -> [Rect; 2] {
    let mut x = area.x;
    labels.map(|label| {
        let columns = u16::try_from(text::width(label) + 4).unwrap_or(u16::MAX);
        let place = Rect::new(x, area.y, columns, 1).intersection(area);
        x = x.saturating_add(columns).saturating_add(2);
        place
    })
}

/// Two buttons in one row; the chosen one is set off and marked.
pub fn buttons(area: Rect, buf: &mut Buffer, theme: &Theme, labels: [&str; 2], second: bool) {
    let places = button_places(area, labels);
    for (index, (label, place)) in labels.iter().zip(places).enumerate() {
        let chosen = (index == 1) == second;
        let (text, role) = if chosen {
            (format!("[ {label} ]"), Role::Cursor)
        } else {
            (format!("  {label}  "), Role::Text)
        };
        text::put(
            buf,
            (place.x, place.y),
            &text,
            place.width,
            theme.style(role),
        );
    }
}
