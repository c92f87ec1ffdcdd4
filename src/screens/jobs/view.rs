//! Draws the job list.

use std::fmt::Write as _;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::Jobs;
use crate::app::{Data, ListState};
use crate::msg::{Action, Link};
use crate::rpc::types::JobState;
use crate::screens::ViewCx;
use crate::theme::Role;
use crate::widgets::table::{self, Line, Table};
use crate::widgets::text;

pub(super) fn draw(jobs: &Jobs, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
    let mut y = area.y;
    if let Some(input) = &jobs.input {
        let label = " filter ";
        let x = text::put(
            buf,
            (area.x, y),
            label,
            area.width,
            cx.theme.style(Role::Head),
        );
        let line = Rect::new(x, y, area.right().saturating_sub(x), 1);
        let cursor = input.draw(line, buf, cx.theme);
        if cx.focused {
            cx.cursor.set(cursor);
        }
        y += 1;
    }
    if let Some(error) = &jobs.filter_error {
        let words = format!(" {} {error}", cx.theme.glyphs().attention);
        let words = text::fit(&words, usize::from(area.width), cx.theme.glyphs().more);
        text::put(
            buf,
            (area.x, y),
            &words,
            area.width,
            cx.theme.style(Role::Warn),
        );
    }
    let area = jobs.table_area(area);
    if jobs.listed().is_empty() {
        empty(jobs, area, buf, cx);
        return;
    }
    let columns: Vec<_> = jobs
        .columns
        .iter()
        .map(|column| column.column((*column == jobs.sort).then_some(jobs.descending), cx.theme))
        .collect();
    let row = |index: usize| -> Line {
        let row = jobs
            .listed()
            .get(index)
            .and_then(|id| cx.data.jobs.get(*id));
        row.map_or_else(Line::default, |row| Line {
            cells: jobs
                .columns
                .iter()
                .map(|column| column.cell(row, cx.data, cx.theme))
                .collect(),
            selected: jobs.selected.contains(&row.job.id),
            faded: cx.data.is_stale(),
        })
    };
    let table = Table {
        columns: &columns,
        count: jobs.listed().len(),
        place: jobs.place,
        focused: cx.focused,
        row: &row,
    };
    table::draw(&table, area, buf, cx.theme);
}

/// Why there is no row, and what to do.
fn empty(jobs: &Jobs, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
    let key = |action: Action| cx.keymap.main_key(action);
    let words = if !jobs.filter.text().is_empty() && !cx.data.jobs.is_empty() {
        format!("No job fits the filter. {} clears it.", key(Action::Back))
    } else {
        match (&cx.data.link, &cx.data.jobs.list) {
            (Link::Starting, _) => "Connecting to the daemon; it is started if none runs.".into(),
            (Link::Busy, _) => "The daemon does not answer yet.".into(),
            (Link::Reconnecting, _) => {
                "The connection was lost; the next one is being made.".into()
            }
            (Link::Down { .. }, _) => format!(
                "There is no daemon, so there is nothing to show. {} tries again.",
                key(Action::Refresh)
            ),
            (Link::Ready(_), ListState::Loading) => "Reading the job list.".into(),
            (Link::Ready(_), ListState::Failed { .. }) => format!(
                "The daemon is there, but the list could not be read. {} tries again.",
                key(Action::Refresh)
            ),
            (Link::Ready(_), ListState::Ready) => {
                format!("No jobs yet. {} submits one.", key(Action::New))
            }
        }
    };
    let lines = text::wrap(&words, usize::from(area.width).saturating_sub(4));
    for (line, y) in lines.iter().zip(area.top() + 1..area.bottom()) {
        text::put(
            buf,
            (area.x + 2, y),
            line,
            area.width,
            cx.theme.style(Role::Dim),
        );
    }
}

pub(super) fn title(jobs: &Jobs, data: &Data) -> String {
    let store = &data.jobs;
    let mut title = match store.expected {
        Some(total) if !store.is_empty() => format!("Jobs {} of {total}", store.len()),
        _ => format!("Jobs {}", store.len()),
    };
    let counted = [
        (JobState::Running, "running"),
        (JobState::Failed, "failed"),
        (JobState::Lost, "lost"),
    ];
    let counts: Vec<String> = counted
        .iter()
        .map(|(state, word)| (store.count(state), word))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{word} {count}"))
        .collect();
    if !counts.is_empty() {
        let _ = write!(title, " ({})", counts.join(", "));
    }
    if !jobs.selected.is_empty() {
        let _ = write!(title, "  selected {}", jobs.selected.len());
    }
    if jobs.range.is_some() {
        title.push_str("  range");
    }
    if !jobs.filter.text().is_empty() {
        let _ = write!(
            title,
            "  shown {}  filter: {}",
            jobs.listed().len(),
            jobs.filter.text()
        );
    }
    title
}
