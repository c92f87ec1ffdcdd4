//! Draws one workflow.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{TABS, Tab, WorkflowScreen, quantities};
use crate::rpc::types::Workflow;
use crate::screens::listing::below;
use crate::screens::{ViewCx, tabs};
use crate::theme::Role;
use crate::widgets::{scrollbar, text};

pub(super) fn draw(screen: &WorkflowScreen, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
    tabs::draw(&TABS, screen.tab, area, buf, cx);
    let mut body = below(area, 1);
    if body.height == 0 || body.width < 4 {
        return;
    }
    let Some(detail) = &screen.detail else {
        let (words, role) = match (&screen.error, screen.id) {
            (Some(error), _) => (error.as_str(), Role::Bad),
            (None, Some(_)) => ("reading", Role::Dim),
            (None, None) => ("no workflow", Role::Dim),
        };
        return say(words, role, body, buf, cx);
    };
    if let Some(error) = &screen.error {
        let line = Rect { height: 1, ..body };
        let words = format!("{} not read: {error}", cx.theme.glyphs().attention);
        say(&words, Role::Bad, line, buf, cx);
        body = below(body, 1);
    }
    match screen.tab {
        Tab::Steps => screen
            .steps
            .draw(screen.summary.as_ref(), detail, body, buf, cx),
        Tab::Results => draw_results(screen, detail, body, buf, cx),
        Tab::Plots => {
            let none = match &screen.document {
                Some(Ok(_)) => "these results have no plots",
                Some(Err(error)) => error.as_str(),
                None => "no plots yet; they come with the results",
            };
            screen.plots.draw(none, body, buf, cx);
        }
        Tab::Tables => screen.tables.draw(body, buf, cx),
    }
}

fn draw_results(
    screen: &WorkflowScreen,
    detail: &Workflow,
    area: Rect,
    buf: &mut Buffer,
    cx: &ViewCx<'_>,
) {
    let room = area.width.saturating_sub(2);
    let document = screen.document.as_ref();
    let lines = quantities::lines(detail, document, usize::from(room), cx.theme.glyphs());
    let most = lines.len().saturating_sub(usize::from(area.height));
    let offset = screen.quantities.scroll.min(most);
    let stale = cx.data.is_stale();
    for ((words, role), y) in lines[offset..].iter().zip(area.top()..area.bottom()) {
        let role = if stale { Role::Stale } else { *role };
        text::put(buf, (area.x + 1, y), words, room, cx.theme.style(role));
    }
    scrollbar::draw(area, buf, cx.theme, offset, lines.len());
}

fn say(words: &str, role: Role, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
    text::say(words, area, buf, cx.theme.style(role));
}
