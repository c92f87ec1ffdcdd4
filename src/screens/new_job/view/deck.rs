//! Draws the deck with the linter's marks.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::NewJob;
use crate::msg::Link;
use crate::screens::ViewCx;
use crate::theme::Role;
use crate::widgets::text;

pub(super) fn draw(job: &NewJob, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
    let deck = &job.deck;
    let name = match job.form.deck_file() {
        Some(file) => file.name.clone(),
        None => "deck".to_owned(),
    };
    if deck.shown.is_empty() {
        let (words, role) = match &deck.missing {
            Some(why) => (why.as_str(), Role::Dim),
            None => ("nothing to show yet", Role::Dim),
        };
        let room = usize::from(area.width).saturating_sub(2);
        let lines = text::wrap(&format!("{name}: {words}"), room);
        for (line, y) in lines.iter().zip(area.top()..area.bottom()) {
            let style = cx.theme.style(role);
            text::put(buf, (area.x + 1, y), line, area.width - 1, style);
        }
        return;
    }
    let current = job.deck_is_current();
    let name = if current {
        name
    } else {
        format!("{name} as it was")
    };
    let stale = !current || !matches!(cx.data.link, Link::Ready(_));
    deck.shown.draw(&name, area, buf, cx, stale);
}
