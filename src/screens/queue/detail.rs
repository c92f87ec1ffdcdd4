//! Everything that is known of the job with the cursor, in lines.

use super::{Queue, view};
use crate::app::Data;
use crate::queue::Entry;
use crate::rpc::types::QueueRow;
use crate::screens::job::time_text;
use crate::screens::wording::speak;
use crate::theme::{Glyphs, Role};
use crate::widgets::facts::{Fact, Facts};
use crate::widgets::text;

/// Columns of the bar of the time that is used.
const BAR: usize = 20;
/// How many tasks are told one by one.
const TASKS: usize = 200;

/// The lines about what the cursor is on; none where there is nothing.
pub(super) fn lines(screen: &Queue, data: &Data, glyphs: &Glyphs) -> Vec<Fact> {
    let mut lines = Facts::default();
    if let Some(entry) = screen.current() {
        let lead = entry.lead().cloned().unwrap_or_default();
        let (state, role) = view::state(screen, entry, glyphs);
        lines.add("state", state, role);
        for sentence in entry.sentences() {
            lines.add("why", speak(&sentence), Role::Warn);
        }
        ours(&mut lines, &lead, data);
        lines.gap();
        about(&mut lines, &lead, glyphs);
        lines.gap();
        parts(&mut lines, entry);
    }
    lines.0
}

/// What is known here of the same job.
fn ours(lines: &mut Facts, lead: &QueueRow, data: &Data) {
    let Some(job) = lead.job else {
        lines.add("here", "not known here", Role::Dim);
        return;
    };
    let row = data.jobs.get(job);
    let name = row.map_or_else(String::new, |row| format!(" {}", row.job.name));
    lines.add("here", format!("job {job}{name}"), Role::Info);
}

fn about(lines: &mut Facts, lead: &QueueRow, glyphs: &Glyphs) {
    lines.add("name", lead.name.clone(), Role::Text);
    lines.add("user", lead.user.clone(), Role::Text);
    let place = [&lead.partition, &lead.account, &lead.qos];
    for (name, value) in ["partition", "account", "qos"].into_iter().zip(place) {
        lines.some(name, value.clone(), Role::Text);
    }
    used(lines, lead, glyphs);
    let size = [(lead.n_nodes, "node"), (lead.n_cpus, "core")];
    let size: Vec<String> = size
        .into_iter()
        .filter_map(|(count, what)| {
            let many = if count? == 1 { "" } else { "s" };
            Some(format!("{} {what}{many}", count?))
        })
        .collect();
    lines.add("size", size.join(", "), Role::Text);
    lines.some("nodes", lead.nodes.clone(), Role::Text);
    let times = [
        ("submitted", &lead.submitted_at),
        ("expected", &lead.expected_at),
        ("started", &lead.started_at),
    ];
    for (name, at) in times {
        lines.some(name, at.as_deref().map(time_text), Role::Text);
    }
    lines.some("directory", lead.workdir.clone(), Role::Text);
}

/// How much of its time it has used.
fn used(lines: &mut Facts, lead: &QueueRow, glyphs: &Glyphs) {
    let elapsed = lead.elapsed_s.filter(|elapsed| *elapsed > 0.0);
    let limit = lead.limit_s.filter(|limit| *limit > 0.0);
    let words = match (elapsed, limit) {
        (Some(elapsed), Some(limit)) => {
            let part = elapsed / limit;
            let bar = bar(part, glyphs);
            let (elapsed, limit) = (text::so_far(elapsed), text::duration(limit));
            let role = if part > 0.9 { Role::Warn } else { Role::Text };
            return lines.add("time", format!("{bar} {elapsed} of {limit}"), role);
        }
        (Some(elapsed), None) => text::so_far(elapsed),
        (None, Some(limit)) => format!("at most {}", text::duration(limit)),
        (None, None) => String::new(),
    };
    lines.add("time", words, Role::Text);
}

fn bar(part: f64, glyphs: &Glyphs) -> String {
    // Between 0 and the number of columns.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss
    )]
    let full = (part.clamp(0.0, 1.0) * BAR as f64).round() as usize;
    let rest = BAR - full.min(BAR);
    format!(
        "{}{}",
        glyphs.bar_full.repeat(full),
        glyphs.bar_rest.repeat(rest)
    )
}

/// The tasks of an array or the parts of a heterogeneous job, one by one.
fn parts(lines: &mut Facts, entry: &Entry) {
    if entry.rows.len() < 2 && !entry.is_array() {
        return;
    }
    let name = if entry.is_array() { "tasks" } else { "parts" };
    for (index, row) in entry.rows.iter().take(TASKS).enumerate() {
        let mut words = vec![row.job_id.clone(), row.state.to_lowercase()];
        words.extend(row.n_tasks.filter(|count| *count > 1).map(|count| {
            let more = if row.at_least { "at least " } else { "" };
            format!("{more}{count} tasks")
        }));
        words.extend(row.nodes.clone().filter(|nodes| !nodes.is_empty()));
        let elapsed = row.elapsed_s.filter(|elapsed| *elapsed > 0.0);
        words.extend(elapsed.map(text::so_far));
        lines.add(
            if index == 0 { name } else { "" },
            words.join(", "),
            Role::Text,
        );
    }
    if entry.rows.len() > TASKS {
        let rest = entry.rows.len() - TASKS;
        lines.add("", format!("and {rest} more"), Role::Dim);
    }
}
