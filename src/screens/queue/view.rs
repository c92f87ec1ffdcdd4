//! Draws the queue.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Mark, Queue, detail};
use crate::msg::{Action, Link};
use crate::queue::{Entry, will_start};
use crate::rpc::types::QueueRow;
use crate::screens::ViewCx;
use crate::screens::listing::{Seen, column, link_words, said};
use crate::screens::wording::speak;
use crate::theme::{Glyphs, Role, Theme};
use crate::widgets::table::{Cell, Column, Line};
use crate::widgets::text;

pub(super) fn draw(screen: &Queue, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
    let stale = !matches!(cx.data.link, Link::Ready(_))
        || screen.shown().is_some_and(|answer| answer.meta.stale);
    let row = |index: usize| Line {
        cells: screen
            .entries()
            .get(index)
            .map_or_else(Vec::new, |entry| cells(screen, entry, cx.theme)),
        selected: false,
        faded: stale,
    };
    let facts = detail::lines(screen, cx.data, cx.theme.glyphs());
    let columns = columns(screen.all_users);
    let seen = Seen {
        above: above(screen, cx),
        columns: &columns,
        rows: screen.entries().len(),
        row: &row,
        facts: &facts,
        empty: empty(screen, cx),
        stale,
    };
    screen.listing.draw(&seen, area, buf, cx);
}

/// How old the rows are, and why there are no newer ones.
fn above(screen: &Queue, cx: &ViewCx<'_>) -> Vec<(String, Role)> {
    let attention = cx.theme.glyphs().attention;
    let mut lines: Vec<(String, Role)> = screen
        .error
        .iter()
        .map(|error| (format!("{attention} not read: {error}"), Role::Bad))
        .collect();
    let age = screen.age_s(cx.data.now).map(text::age);
    let asking = screen.asking.is_some() && matches!(cx.data.link, Link::Ready(_));
    let answer = screen.shown();
    let rejects = answer.map_or(0, |answer| answer.meta.rejects);
    let mut words = match (answer, age) {
        (Some(answer), age) if answer.meta.stale => {
            let why = answer.meta.trouble.as_deref().map(speak);
            let why = why.unwrap_or_else(|| "it does not answer".into());
            let old = age.unwrap_or_else(|| "of unknown age".into());
            (
                format!("{attention} {why}; these rows are {old} old"),
                Role::Warn,
            )
        }
        (Some(_), Some(age)) => (format!("{age} old"), Role::Dim),
        (Some(_), None) => ("of unknown age".into(), Role::Dim),
        (None, _) => (String::new(), Role::Dim),
    };
    if rejects > 0 {
        words.0 = format!("{}, {rejects} rows could not be understood", words.0);
        words.1 = Role::Warn;
    }
    if asking {
        let lead = if words.0.is_empty() { "" } else { ", " };
        words.0 = format!("{}{lead}asking the scheduler", words.0);
    }
    lines.push(words);
    lines
}

fn empty(screen: &Queue, cx: &ViewCx<'_>) -> String {
    let key = |action| cx.keymap.main_key(action);
    if let Some(words) = link_words(cx) {
        return words;
    }
    match (screen.cluster(), screen.shown()) {
        _ if screen.error.is_some() => format!("{} tries again.", key(Action::Refresh)),
        (None, _) if !screen.clusters_read => "reading".into(),
        (None, _) => format!(
            "No cluster with a scheduler is described. {} shows the clusters.",
            key(Action::Screen7)
        ),
        (Some(_), None) => "reading".into(),
        (Some(cluster), Some(_)) if screen.all_users => {
            format!("The queue of {} is empty.", cluster.name)
        }
        (Some(cluster), Some(_)) => format!(
            "You have no jobs in the queue of {}. {} shows everybody's.",
            cluster.name,
            key(Action::AllUsers)
        ),
    }
}

fn columns(all_users: bool) -> Vec<Column> {
    let mut columns = vec![
        column("State", 14, 1, false, 0),
        column("Id", 15, 0, false, 0),
        column("Job", 5, 0, true, 2),
        column("Name", 10, 2, false, 0),
        column("Time", 11, 0, true, 1),
        column("Partition", 9, 0, false, 5),
        column("Nodes", 5, 0, true, 4),
        column("Why", 14, 5, false, 3),
    ];
    if all_users {
        columns.insert(3, column("User", 8, 0, false, 1));
    }
    columns
}

fn cells(screen: &Queue, entry: &Entry, theme: &Theme) -> Vec<Cell> {
    let lead = entry.lead().cloned().unwrap_or_default();
    let plain = |text: String| said(text, Role::Text, theme);
    let (state, role) = state(screen, entry, theme.glyphs());
    let why = entry.sentences();
    let why = why.first().map(|words| speak(words)).unwrap_or_default();
    let mut cells = vec![
        said(state, role, theme),
        plain(entry.id_text()),
        plain(
            entry
                .job()
                .map_or_else(|| "-".into(), |job| job.to_string()),
        ),
        plain(lead.name.clone()),
        plain(time(&lead)),
        plain(lead.partition.clone().unwrap_or_else(|| "-".into())),
        plain(
            lead.n_nodes
                .map_or_else(|| "-".into(), |nodes| nodes.to_string()),
        ),
        said(
            why,
            if will_start(&lead) {
                Role::Dim
            } else {
                Role::Warn
            },
            theme,
        ),
    ];
    if screen.all_users {
        cells.insert(3, plain(lead.user));
    }
    cells
}

/// How long it has run, of how much it may.
fn time(row: &QueueRow) -> String {
    let elapsed = row.elapsed_s.filter(|elapsed| *elapsed > 0.0);
    match (elapsed.map(text::so_far), row.limit_s.map(text::duration)) {
        (Some(elapsed), Some(limit)) => format!("{elapsed}/{}", short(&limit)),
        (Some(elapsed), None) => elapsed,
        (None, Some(limit)) => format!("0/{}", short(&limit)),
        (None, None) => "-".into(),
    }
}

/// `2:00:00` is two hours without a rest.
fn short(limit: &str) -> String {
    match limit.strip_suffix(":00:00") {
        Some(hours) => format!("{hours}h"),
        None => limit.to_owned(),
    }
}

/// The scheduler's words with a mark, and how they look.
pub(super) fn state(screen: &Queue, entry: &Entry, glyphs: &Glyphs) -> (String, Role) {
    let mark = screen.marks.get(&entry.base_id);
    let word = match mark {
        Some(Mark::Cancelling) => Some((glyphs.cancelled, "cancelling", Role::Cancelled)),
        Some(Mark::Releasing) => Some((glyphs.running, "releasing", Role::Running)),
        Some(Mark::Adopting) => Some((glyphs.running, "adopting", Role::Running)),
        None => None,
    };
    if let Some((glyph, word, role)) = word {
        return (format!("{glyph} {word}"), role);
    }
    let lead = entry.lead().cloned().unwrap_or_default();
    let (glyph, role) = match lead.phase.as_str() {
        _ if lead.attention.is_some() || !will_start(&lead) => (glyphs.attention, Role::Warn),
        "running" => (glyphs.running, Role::Running),
        "waiting" => (glyphs.waiting, Role::Waiting),
        "ended" => (glyphs.finished, Role::Text),
        "cancelled" => (glyphs.cancelled, Role::Cancelled),
        _ => (glyphs.lost, Role::Warn),
    };
    (
        format!("{glyph} {}", entry.state_text().to_lowercase()),
        role,
    )
}
