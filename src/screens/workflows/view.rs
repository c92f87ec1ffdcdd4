//! Draws the list of workflows.

use std::fmt::Write as _;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Workflows, words};
use crate::app::Data;
use crate::msg::{Action, Link};
use crate::rpc::types::{WorkflowState, WorkflowSummary};
use crate::screens::ViewCx;
use crate::screens::listing::{below, column, link_words, said};
use crate::theme::Role;
use crate::widgets::table::{self, Cell, Column, Line, Table};
use crate::widgets::text;

pub(super) fn draw(screen: &Workflows, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
    let mut y = area.y;
    if let Some(input) = &screen.input {
        let head = cx.theme.style(Role::Head);
        let x = text::put(buf, (area.x, y), " filter ", area.width, head);
        let line = Rect::new(x, y, area.right().saturating_sub(x), 1);
        let cursor = input.draw(line, buf, cx.theme);
        if cx.focused {
            cx.cursor.set(cursor);
        }
        y += 1;
    }
    if let Some(error) = &screen.error {
        let words = format!("{} not read: {error}", cx.theme.glyphs().attention);
        let room = area.width.saturating_sub(2);
        let words = text::fit(&words, usize::from(room), cx.theme.glyphs().more);
        text::put(
            buf,
            (area.x + 1, y),
            &words,
            room,
            cx.theme.style(Role::Bad),
        );
    }
    let body = below(area, screen.above());
    let listed: Vec<&WorkflowSummary> = screen.listed().collect();
    if listed.is_empty() {
        let words = empty(screen, cx);
        let lines = text::wrap(&words, usize::from(area.width).saturating_sub(4));
        for (line, y) in lines.iter().zip(body.top() + 1..body.bottom()) {
            text::put(
                buf,
                (body.x + 2, y),
                line,
                body.width,
                cx.theme.style(Role::Dim),
            );
        }
        return;
    }
    let stale = !matches!(cx.data.link, Link::Ready(_));
    let row = |index: usize| Line {
        cells: listed
            .get(index)
            .map_or_else(Vec::new, |row| cells(row, cx)),
        selected: false,
        faded: stale,
    };
    let table = Table {
        columns: &columns(),
        count: listed.len(),
        place: screen.place,
        focused: cx.focused,
        row: &row,
    };
    table::draw(&table, body, buf, cx.theme);
}

fn empty(screen: &Workflows, cx: &ViewCx<'_>) -> String {
    let key = |action| cx.keymap.main_key(action);
    match link_words(cx) {
        Some(words) => words,
        None if !screen.rows.is_empty() => {
            format!(
                "No workflow fits the filter. {} clears it.",
                key(Action::Back)
            )
        }
        None if screen.error.is_some() => format!("{} tries again.", key(Action::Refresh)),
        None if !screen.is_read => "reading".into(),
        None => format!(
            "No workflows yet. {} starts one; {} does so from a structure or a job.",
            key(Action::New),
            key(Action::Workflow)
        ),
    }
}

fn columns() -> Vec<Column> {
    vec![
        column("State", 12, 0, false, 0),
        column("Id", 4, 0, true, 0),
        column("Kind", 11, 0, false, 1),
        column("Name", 14, 3, false, 0),
        column("Steps", 15, 0, false, 1),
        column("Formula", 8, 1, false, 3),
        column("By", 8, 1, false, 2),
        column("Age", 4, 0, true, 4),
    ]
}

fn cells(row: &WorkflowSummary, cx: &ViewCx<'_>) -> Vec<Cell> {
    let theme = cx.theme;
    let plain = |text: String| said(text, Role::Text, theme);
    let (word, glyph, role) = words::look(row, theme.glyphs());
    let steps = match row.steps.failed {
        0 => Role::Text,
        _ => Role::Warn,
    };
    let by = row.engine.as_deref().unwrap_or(&row.code);
    vec![
        said(format!("{glyph} {word}"), role, theme),
        plain(row.id.to_string()),
        plain(row.kind.clone()),
        plain(row.name.clone()),
        said(words::steps_text(row), steps, theme),
        plain(row.formula.clone().unwrap_or_default()),
        plain(by.to_owned()),
        plain(age_s(row, cx.data).map_or_else(|| "-".into(), text::age)),
    ]
}

/// How long ago it was accepted.
pub(super) fn age_s(row: &WorkflowSummary, data: &Data) -> Option<f64> {
    let at = text::unix_time(&row.created_at)?;
    Some((data.now - at).max(0.0))
}

pub(super) fn title(screen: &Workflows) -> String {
    let mut title = format!("Workflows {}", screen.rows.len());
    let counted = [
        (WorkflowState::Running, "running"),
        (WorkflowState::Waiting, "waiting"),
        (WorkflowState::Failed, "failed"),
    ];
    let counts: Vec<String> = counted
        .iter()
        .map(|(state, word)| {
            (
                screen.rows.iter().filter(|row| row.state == *state).count(),
                word,
            )
        })
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{word} {count}"))
        .collect();
    if !counts.is_empty() {
        let _ = write!(title, " ({})", counts.join(", "));
    }
    let filter = screen.filter.text();
    if !filter.is_empty() {
        let shown = screen.listed().count();
        let _ = write!(title, "  shown {shown}  filter: {filter}");
    }
    title
}
