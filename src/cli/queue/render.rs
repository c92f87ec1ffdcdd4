//! A queue as text: one line for each job, then what there is to say about those that wait.

use crate::cli::table::{self, Cell, Column, cell};
use crate::cli::{text, wording};
use crate::queue::{Entry, fold, will_start};
use crate::rpc::types::{QueueMeta, QueueRow, QueueRowOffer};
use crate::widgets::text::age;

/// How a queue is shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shown {
    /// With the owner of each job.
    pub all_users: bool,
    /// In colour.
    pub colour: bool,
}

/// The table, the advice below it, and how old all that is.
pub(super) fn queue(rows: Vec<QueueRow>, meta: &QueueMeta, shown: Shown) -> String {
    let entries = fold(rows);
    let mut lines = Vec::new();
    if entries.is_empty() {
        let whose = if shown.all_users { "" } else { " of yours" };
        lines.push(format!("no jobs{whose} in the queue of {}", meta.cluster));
    } else {
        let mut columns = vec![
            Column::left("JOBID", 22),
            Column::right("JOB", 7),
            Column::left("NAME", 0),
            Column::left("STATE", 22),
            Column::right("TIME", 8),
            Column::right("LIMIT", 8),
        ];
        if shown.all_users {
            columns.insert(2, Column::left("USER", 8));
        }
        let rows: Vec<Vec<Cell>> = entries.iter().map(|one| row(one, shown)).collect();
        lines.push(table::render(&columns, &rows, shown.colour));
    }
    lines.extend(entries.iter().flat_map(|one| said(one, &meta.cluster)));
    lines.extend(state(meta));
    lines.join("\n")
}

fn row(entry: &Entry, shown: Shown) -> Vec<Cell> {
    let lead = entry.lead().cloned().unwrap_or_default();
    let job = lead.job.map_or_else(|| "-".into(), |job| job.to_string());
    let time = |seconds: Option<f64>| seconds.map_or_else(|| "-".into(), text::duration);
    let mut cells = vec![
        cell(entry.id_text()),
        cell(job),
        cell(&*lead.name),
        (entry.state_text(), colour(entry)),
        cell(time(lead.elapsed_s.filter(|elapsed| *elapsed > 0.0))),
        cell(time(lead.limit_s)),
    ];
    if shown.all_users {
        cells.insert(2, cell(lead.user));
    }
    cells
}

fn colour(entry: &Entry) -> &'static str {
    let Some(lead) = entry.lead() else { return "" };
    match (&lead.attention, lead.phase.as_str()) {
        (Some(_), _) => "\x1b[33m",
        (None, "running") => "\x1b[36m",
        (None, _) if !will_start(lead) => "\x1b[33m",
        _ => "",
    }
}

/// What there is to say about one job, and what can be done.
fn said(entry: &Entry, cluster: &str) -> Vec<String> {
    let mut lines: Vec<String> = entry
        .sentences()
        .iter()
        .map(|sentence| {
            let lead = format!("{}: ", entry.base_id);
            let sentence = wording::speak(sentence, None);
            format!(
                "{lead}{}",
                text::wrap(&sentence, text::WIDTH - lead.len(), "  ")
            )
        })
        .collect();
    let id = entry.base_id;
    for (offer, verb) in [
        (QueueRowOffer::Release, "release"),
        (QueueRowOffer::Cancel, "cancel"),
    ] {
        if entry.offers(&offer) {
            lines.push(format!(
                "  {verb} it with: crystalmath queue {verb} {cluster} {id}"
            ));
        }
    }
    lines
}

/// What is known of the answer itself.
fn state(meta: &QueueMeta) -> Vec<String> {
    let mut lines = Vec::new();
    if meta.stale {
        let old = meta.age_s.map_or_else(|| "unknown".into(), age);
        let why = meta.trouble.as_deref().unwrap_or("it does not answer");
        let why = wording::speak(why, None);
        let said = format!(
            "{} gives no answer now: {why}; these rows are {old} old",
            meta.cluster
        );
        lines.push(text::wrap(&said, text::WIDTH, "  "));
    }
    if meta.rejects > 0 {
        lines.push(format!("{} rows could not be understood", meta.rejects));
    }
    lines
}
