//! Draws the clusters: the list with what is known of one, or the form.

use std::collections::HashMap;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Clusters, detail, form, login};
use crate::app::{Data, is_terminal};
use crate::clusters::{self, Verdict};
use crate::msg::{Action, Link};
use crate::rpc::types::{ClusterView, JobState};
use crate::screens::ViewCx;
use crate::screens::listing::{Seen, column, link_words, said};
use crate::screens::wording::speak;
use crate::theme::{Glyphs, Role, Theme};
use crate::widgets::table::{Cell, Column, Line};
use crate::widgets::text;

pub(super) fn draw(screen: &Clusters, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
    if let Some(editor) = &screen.editor {
        return form::draw(editor, area, buf, cx);
    }
    let stale = !matches!(cx.data.link, Link::Ready(_));
    let jobs = jobs_by_cluster(cx.data);
    let row = |index: usize| Line {
        cells: screen
            .rows
            .get(index)
            .map_or_else(Vec::new, |one| cells(screen, one, &jobs, cx)),
        selected: false,
        faded: stale,
    };
    let attention = cx.theme.glyphs().attention;
    let above = screen.error.iter();
    let above = above.map(|error| (format!("{attention} not read: {error}"), Role::Bad));
    let facts = detail::lines(screen, cx.data.now, cx.theme.glyphs());
    let seen = Seen {
        above: above.collect(),
        columns: &columns(),
        rows: screen.rows.len(),
        row: &row,
        facts: &facts,
        empty: empty(screen, cx),
        stale,
    };
    screen.listing.draw(&seen, area, buf, cx);
    if let Some(login) = &screen.login {
        login::draw(login, area, buf, cx);
    }
}

fn empty(screen: &Clusters, cx: &ViewCx<'_>) -> String {
    let key = |action| cx.keymap.main_key(action);
    match link_words(cx) {
        Some(words) => words,
        None if screen.error.is_some() => format!("{} tries again.", key(Action::Refresh)),
        None if !screen.is_read => "reading".into(),
        None => format!(
            "No cluster is described. {} describes one; a host of ssh's configuration can be named \
             as it is called there.",
            key(Action::New)
        ),
    }
}

fn columns() -> Vec<Column> {
    vec![
        column("Health", 13, 0, false, 0),
        column("Cluster", 10, 2, false, 0),
        column("Kind", 5, 0, false, 4),
        column("Host", 12, 3, false, 2),
        column("Age", 4, 0, true, 1),
        column("Jobs", 14, 1, false, 1),
        column("Trouble", 12, 4, false, 3),
    ]
}

/// How many jobs of a cluster run, wait, and are lost.
type Counts = [usize; 3];

/// Jobs that have not ended, by cluster.
fn jobs_by_cluster(data: &Data) -> HashMap<&str, Counts> {
    let mut counts: HashMap<&str, Counts> = HashMap::new();
    for row in data.jobs.rows() {
        let Some(cluster) = row.job.cluster.as_deref() else {
            continue;
        };
        let place = match &row.job.state {
            state if is_terminal(state) => continue,
            JobState::Created | JobState::Staged | JobState::Submitted => 1,
            JobState::Lost => 2,
            _ => 0,
        };
        counts.entry(cluster).or_default()[place] += 1;
    }
    counts
}

fn counts_text(counts: Counts) -> String {
    let words = counts.into_iter().zip(["run", "wait", "lost"]);
    let words = words.filter(|(count, _)| *count > 0);
    let words: Vec<String> = words
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    words.join(", ")
}

fn cells(
    screen: &Clusters,
    cluster: &ClusterView,
    jobs: &HashMap<&str, Counts>,
    cx: &ViewCx<'_>,
) -> Vec<Cell> {
    let theme = cx.theme;
    let plain = |text: String| said(text, Role::Text, theme);
    let age = clusters::age_s(cluster, cx.data.now).map_or_else(|| "-".into(), text::age);
    let jobs = jobs.get(cluster.name.as_str()).copied();
    let jobs = jobs.map_or_else(|| "-".into(), counts_text);
    let trouble = cluster.last_error.as_deref().map(speak).unwrap_or_default();
    let mut cells = vec![health_cell(screen, cluster, theme)];
    cells.extend([
        plain(cluster.name.clone()),
        plain(cluster.kind.to_string()),
        plain(cluster.hostname.clone()),
        plain(age),
        plain(jobs),
        said(trouble, Role::Bad, theme),
    ]);
    cells
}

fn health_cell(screen: &Clusters, cluster: &ClusterView, theme: &Theme) -> Cell {
    if screen.testing.contains_key(&cluster.id) {
        let words = format!("{} trying", theme.glyphs().running);
        return said(words, Role::Running, theme);
    }
    let (word, verdict) = clusters::health(cluster);
    let (mark, role) = look(verdict, theme.glyphs());
    said(format!("{mark} {word}"), role, theme)
}

/// The mark of a verdict, and how it looks.
pub(super) const fn look(verdict: Verdict, glyphs: &Glyphs) -> (&'static str, Role) {
    match verdict {
        Verdict::Good => (glyphs.completed, Role::Good),
        Verdict::Bad => (glyphs.failed, Role::Bad),
        Verdict::Look => (glyphs.attention, Role::Warn),
        Verdict::Plain => (" ", Role::Text),
    }
}
