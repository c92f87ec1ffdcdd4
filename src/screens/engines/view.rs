//! Draws the screen of the engines: a row of tabs, a table, and what is known of the row under the
//! cursor, beside it or instead of it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::words::{self, Look, bytes_of};
use super::{Engines, TABS, Tab, detail};
use crate::app::Data;
use crate::msg::{Action, Link};
use crate::rpc::types::{
    EngineInfo, EnvironmentInfo, ForcesStatusResult, PropertyName, WorkerInfo,
};
use crate::screens::ViewCx;
use crate::screens::listing::{Seen, below, column, link_words, said};
use crate::screens::wording::speak;
use crate::theme::{Role, Theme};
use crate::widgets::table::{Cell, Column, Line};
use crate::widgets::text;

pub(super) fn draw(engines: &Engines, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
    draw_tabs(engines, area, buf, cx.theme);
    let facts = detail::lines(engines, cx.data.now, cx.theme.glyphs());
    let stale = is_stale(cx.data);
    let row = |index: usize| Line {
        cells: cells(engines, index, cx),
        selected: false,
        faded: stale,
    };
    let seen = Seen {
        above: above(engines, cx),
        columns: &columns(engines.tab),
        rows: engines.count(),
        row: &row,
        facts: &facts,
        empty: empty(engines, cx),
        stale,
    };
    engines.listing().draw(&seen, below(area, 1), buf, cx);
}

/// What stands above the table: why it could not be read, and the totals.
fn above(engines: &Engines, cx: &ViewCx<'_>) -> Vec<(String, Role)> {
    let error = engines.error().map(|error| {
        let mark = cx.theme.glyphs().attention;
        (format!("{mark} not read: {error}"), Role::Bad)
    });
    let status = engines.rows.status.as_ref();
    let status = status.filter(|_| engines.tab == Tab::Workers);
    error.into_iter().chain(status.map(totals)).collect()
}

/// Whether what is shown may be out of date.
fn is_stale(data: &Data) -> bool {
    !matches!(data.link, Link::Ready(_))
}

fn draw_tabs(engines: &Engines, area: Rect, buf: &mut Buffer, theme: &Theme) {
    let mut x = area.x;
    for (tab, title) in TABS {
        let (words, role) = if tab == engines.tab {
            (format!("[{title}]"), Role::TabActive)
        } else {
            (format!(" {title} "), Role::Text)
        };
        let left = area.right().saturating_sub(x);
        x = text::put(buf, (x, area.y), &words, left, theme.style(role)) + 1;
    }
}

/// What all workers do together; what is not started again for a while comes first.
fn totals(status: &ForcesStatusResult) -> (String, Role) {
    let words = format!(
        "{:.0} of {} MiB, clients {}, structures {}, crashes {}",
        status.rss_mib, status.limits.memory_mib, status.clients, status.structures, status.crashes
    );
    match &status.broken[..] {
        [] => (words, Role::Dim),
        [first, ..] => {
            let why = speak(&first.last_error);
            let words = format!(
                "{} crashes and is not started for a while: {why}",
                first.engine
            );
            (words, Role::Warn)
        }
    }
}

/// Why there is no row, and what to do.
fn empty(engines: &Engines, cx: &ViewCx<'_>) -> String {
    let key = |action| cx.keymap.main_key(action);
    if let Some(words) = link_words(cx) {
        return words;
    }
    if engines.error().is_some() {
        return format!("{} tries again.", key(Action::Refresh));
    }
    match engines.tab {
        _ if !engines.is_read() => "reading".into(),
        Tab::Engines => "No engine is declared.".into(),
        Tab::Workers => format!(
            "No worker runs. One is started by the first use of an engine; {} on an engine checks \
             it.",
            key(Action::Doctor)
        ),
        Tab::Environments => format!(
            "No environment is built. {} on an engine builds one.",
            key(Action::Install)
        ),
    }
}

fn columns(tab: Tab) -> Vec<Column> {
    match tab {
        Tab::Engines => vec![
            column("State", 18, 0, false, 0),
            column("Engine", 10, 1, false, 0),
            column("Model", 12, 1, false, 2),
            column("Workers", 7, 0, true, 3),
            column("Devices", 8, 1, false, 5),
            column("Doctor", 10, 0, false, 1),
            column("Gives", 14, 3, false, 4),
        ],
        Tab::Workers => vec![
            column("State", 10, 0, false, 0),
            column("Name", 4, 0, false, 0),
            column("Engine", 7, 1, false, 0),
            column("Phase", 8, 1, false, 4),
            column("Model", 8, 1, false, 3),
            column("Device", 6, 0, false, 5),
            column("MiB", 5, 0, true, 1),
            column("Queue", 5, 0, true, 2),
            column("Per s", 6, 0, true, 6),
            column("Last error", 10, 3, false, 7),
        ],
        Tab::Environments => vec![
            column("State", 9, 0, false, 0),
            column("Environment", 16, 0, false, 0),
            column("Engines", 12, 2, false, 1),
            column("Size", 10, 0, true, 0),
            column("Python", 8, 0, false, 3),
            column("Last used", 10, 0, false, 2),
        ],
    }
}

fn cells(engines: &Engines, index: usize, cx: &ViewCx<'_>) -> Vec<Cell> {
    let rows = &engines.rows;
    match engines.tab {
        Tab::Engines => rows
            .engines
            .rows
            .get(index)
            .map_or_else(Vec::new, |engine| engine_cells(engines, engine, cx)),
        Tab::Workers => rows
            .workers
            .rows
            .get(index)
            .map_or_else(Vec::new, |worker| worker_cells(engines, worker, cx.theme)),
        Tab::Environments => rows
            .environments
            .rows
            .get(index)
            .map_or_else(Vec::new, |one| environment_cells(one, cx.theme)),
    }
}

fn looked(look: &Look, theme: &Theme) -> Cell {
    said(look.text(), look.role, theme)
}

fn engine_cells(engines: &Engines, engine: &EngineInfo, cx: &ViewCx<'_>) -> Vec<Cell> {
    let theme = cx.theme;
    let look = words::engine(
        engine,
        &engines.rows,
        engines.is_asked(&engine.name),
        theme.glyphs(),
    );
    let plain = |text: String| said(text, Role::Text, theme);
    let name = if engine.default {
        format!("{} *", engine.name)
    } else {
        engine.name.clone()
    };
    let workers = engines.rows.workers_of(&engine.name).count();
    let gives: Vec<&str> = engine.properties.iter().map(PropertyName::as_str).collect();
    vec![
        looked(&look, theme),
        plain(name),
        plain(
            engine
                .models
                .first()
                .map_or_else(|| "-".into(), |m| m.id.clone()),
        ),
        plain(if workers == 0 {
            "-".into()
        } else {
            workers.to_string()
        }),
        plain(engine.devices.join(" ")),
        doctor_cell(engines, &engine.name, theme),
        plain(gives.join(" ")),
    ]
}

/// How the last check ended, in a word.
fn doctor_cell(engines: &Engines, engine: &str, theme: &Theme) -> Cell {
    let glyphs = theme.glyphs();
    let Some(checked) = engines.checks.get(engine) else {
        return said("-", Role::Dim, theme);
    };
    if checked.running.is_some() {
        return said(format!("{} checking", glyphs.running), Role::Running, theme);
    }
    match &checked.last {
        Some(Ok(found)) if found.ok => {
            said(format!("{} passed", glyphs.completed), Role::Good, theme)
        }
        Some(_) => said(format!("{} failed", glyphs.failed), Role::Bad, theme),
        None => said("-", Role::Dim, theme),
    }
}

fn worker_cells(engines: &Engines, worker: &WorkerInfo, theme: &Theme) -> Vec<Cell> {
    let stopping = engines.is_stopping(&worker.id);
    let look = words::worker(worker, stopping, theme.glyphs());
    let plain = |text: String| said(text, Role::Text, theme);
    let error = worker.last_error.as_ref();
    let error = error.map_or_else(|| "-".into(), |crash| speak(&crash.message));
    vec![
        looked(&look, theme),
        plain(worker.id.clone()),
        plain(worker.engine.clone()),
        plain(worker.phase.clone()),
        plain(worker.model.clone()),
        plain(worker.device.clone()),
        plain(
            worker
                .rss_mib
                .map_or_else(|| "-".into(), |mib| format!("{mib:.0}")),
        ),
        plain(worker.waiting.to_string()),
        plain(format!("{:.1}", worker.rate_per_s)),
        said(
            error,
            if worker.last_error.is_some() {
                Role::Bad
            } else {
                Role::Dim
            },
            theme,
        ),
    ]
}

fn environment_cells(environment: &EnvironmentInfo, theme: &Theme) -> Vec<Cell> {
    let plain = |text: String| said(text, Role::Text, theme);
    let used = environment.last_used_at.as_deref();
    vec![
        looked(&words::environment(environment, theme.glyphs()), theme),
        plain(environment.id.clone()),
        plain(environment.engines.join(" ")),
        plain(bytes_of(environment.size_bytes)),
        plain(environment.python.clone().unwrap_or_else(|| "-".into())),
        plain(used.map_or_else(|| "-".into(), |at| at.get(..10).unwrap_or(at).to_owned())),
    ]
}
