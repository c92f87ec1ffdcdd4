//! Draws the summary of a job, and what stands where a tab has nothing yet.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{JobScreen, summary};
use crate::app::Row;
use crate::screens::ViewCx;
use crate::theme::Role;
use crate::widgets::{facts, text};

impl JobScreen {
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
        text::say(words, area, buf, cx.theme.style(role));
    }
}
