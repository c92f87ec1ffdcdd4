//! Draws what all tabs of a job share, and the summary.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{JobScreen, TABS, Tab, summary};
use crate::app::Row;
use crate::screens::ViewCx;
use crate::theme::Role;
use crate::widgets::{facts, text};

impl JobScreen {
    pub(super) fn draw_tabs(&self, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
        for (tab, words, from) in self.tab_places(area.width) {
            let role = if tab == self.tab {
                Role::TabActive
            } else {
                Role::Text
            };
            let left = area.width.saturating_sub(from);
            let at = (area.x.saturating_add(from), area.y);
            text::put(buf, at, &words, left, cx.theme.style(role));
        }
    }

    /// Each tab as it is written, and the column where it begins; closer together where that is
    /// needed to see them all.
    pub(super) fn tab_places(&self, width: u16) -> Vec<(Tab, String, u16)> {
        let wide: usize = TABS.iter().map(|(_, title)| title.len() + 3).sum();
        let blank = if wide > usize::from(width) { "" } else { " " };
        let mut from = 0;
        let mut places = Vec::new();
        for (tab, title) in TABS {
            let words = if tab == self.tab {
                format!("[{title}]")
            } else {
                format!("{blank}{title}{blank}")
            };
            let columns = u16::try_from(text::width(&words)).unwrap_or(0);
            places.push((tab, words, from));
            from += columns + 1;
        }
        places
    }

    pub(super) fn draw_summary(&self, row: &Row, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
        let theme = cx.theme;
        let mut lines = summary::lines(row, self.detail.as_deref(), cx.data, theme);
        if let Some(error) = &self.error {
            lines.insert(0, ("not read".into(), error.clone(), Role::Bad));
        }
        let stale = cx.data.is_stale();
        facts::draw(&lines, self.scroll, area, buf, theme, stale);
    }

    pub(super) fn say_why_empty(&self, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
        let (words, role) = match &self.error {
            Some(error) => (error.as_str(), Role::Bad),
            None => ("reading", Role::Dim),
        };
        let lines = text::wrap(words, usize::from(area.width).saturating_sub(2));
        for (line, y) in lines.iter().zip(area.top()..area.bottom()) {
            text::put(
                buf,
                (area.x + 1, y),
                line,
                area.width - 1,
                cx.theme.style(role),
            );
        }
    }
}
