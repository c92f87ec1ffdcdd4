//! The rows of a scheduler's queue, one entry for each job: the tasks of an array and the parts of a
//! heterogeneous job belong together. Pure; for the command line and for the UI.

use std::collections::HashMap;

use crate::rpc::types::{QueueRow, QueueRowOffer, QueueRowOutlook};

/// One job of the scheduler, with the rows that it has.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Entry {
    /// Its number, without task and part.
    pub base_id: i64,
    /// Its rows, as they came; never empty.
    pub rows: Vec<QueueRow>,
}

/// Put the rows that belong together into one entry. What has ended comes last; else the order is
/// that of the first rows.
#[must_use]
pub fn fold(rows: Vec<QueueRow>) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut places: HashMap<i64, usize> = HashMap::new();
    for row in rows {
        let base_id = row.base_id;
        let place = *places.entry(base_id).or_insert(entries.len());
        if place == entries.len() {
            entries.push(Entry {
                base_id,
                rows: Vec::new(),
            });
        }
        entries[place].rows.push(row);
    }
    entries.sort_by_key(|entry| !entry.is_under_way());
    entries
}

/// Whether a row waits for nothing that would have to be changed.
#[must_use]
pub fn will_start(row: &QueueRow) -> bool {
    let outlook = row.outlook.as_ref();
    outlook.is_none_or(|word| *word == QueueRowOutlook::Waiting)
}

impl Entry {
    /// Its number here, if it is known.
    #[must_use]
    pub fn job(&self) -> Option<i64> {
        self.rows.iter().find_map(|row| row.job)
    }

    /// Whether it is an array of tasks.
    #[must_use]
    pub fn is_array(&self) -> bool {
        let mut rows = self.rows.iter();
        rows.any(|row| row.task.is_some() || row.n_tasks.is_some())
    }

    /// How many tasks or parts are in the queue, and whether there are more than that.
    #[must_use]
    pub fn size(&self) -> (i64, bool) {
        let count = self.rows.iter().map(tasks_of);
        let count = count.fold(0, i64::saturating_add);
        (count, self.rows.iter().any(|row| row.at_least))
    }

    /// The row that says most about the whole: one that wants a look, then one that runs.
    #[must_use]
    pub fn lead(&self) -> Option<&QueueRow> {
        let rank = |row: &&QueueRow| match (&row.attention, row.phase.as_str()) {
            (Some(_), _) => 0,
            _ if !will_start(row) => 1,
            (_, "running") => 2,
            (_, "waiting") => 3,
            _ => 4,
        };
        self.rows.iter().min_by_key(rank)
    }

    /// Its number and what it is made of: `8100`, `8100 (3 tasks)`, `9000 (2 parts)`.
    #[must_use]
    pub fn id_text(&self) -> String {
        let (count, more) = self.size();
        let more = if more { "at least " } else { "" };
        match (self.is_array(), self.rows.len()) {
            (true, _) if count == 1 => format!("{} (1 task)", self.base_id),
            (true, _) => format!("{} ({more}{count} tasks)", self.base_id),
            (false, 0 | 1) => self.base_id.to_string(),
            (false, parts) => format!("{} ({parts} parts)", self.base_id),
        }
    }

    /// The scheduler's words, each with its count where there are several: `2 PENDING, 1 RUNNING`.
    #[must_use]
    pub fn state_text(&self) -> String {
        let mut counts: Vec<(&str, i64, bool)> = Vec::new();
        for row in &self.rows {
            let found = counts.iter_mut().find(|(word, ..)| *word == row.state);
            match found {
                Some((_, count, more)) => {
                    *count = count.saturating_add(tasks_of(row));
                    *more |= row.at_least;
                }
                None => counts.push((&row.state, tasks_of(row), row.at_least)),
            }
        }
        if let [(word, ..)] = counts[..] {
            return word.to_owned();
        }
        let said = counts.iter().map(|(word, count, more)| {
            let more = if *more { "+" } else { "" };
            format!("{count}{more} {word}")
        });
        said.collect::<Vec<_>>().join(", ")
    }

    /// Whether something of it waits or runs.
    #[must_use]
    pub fn is_under_way(&self) -> bool {
        !self.rows.iter().all(has_ended)
    }

    /// Whether something of it is held, so that it can be released.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.offers(&QueueRowOffer::Release)
    }

    /// Whether this can be done with something of it.
    #[must_use]
    pub fn offers(&self, offer: &QueueRowOffer) -> bool {
        self.rows
            .iter()
            .any(|row| row.offer.as_ref() == Some(offer))
    }

    /// What there is to say about it in plain words, each sentence once.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let mut said: Vec<String> = Vec::new();
        for row in &self.rows {
            // What has ended keeps the reason for which it once waited.
            let reason = row.reason.as_deref();
            let reason = reason.filter(|reason| is_word(reason) && !has_ended(row));
            let advice = match (&row.advice, reason) {
                (Some(advice), Some(reason)) => Some(format!("{advice} ({reason})")),
                (Some(advice), None) => Some(advice.clone()),
                (None, Some(reason)) => Some(format!("the scheduler says {reason}")),
                (None, None) => None,
            };
            let parts = [row.attention.clone(), advice, row.warning.clone()];
            for part in parts.into_iter().flatten() {
                if !said.contains(&part) {
                    said.push(part);
                }
            }
        }
        said
    }
}

/// Whether the scheduler gives a reason at all; `None` is how it writes that it has none.
fn is_word(reason: &str) -> bool {
    !reason.is_empty() && reason != "None"
}

fn has_ended(row: &QueueRow) -> bool {
    matches!(row.phase.as_str(), "ended" | "cancelled")
}

fn tasks_of(row: &QueueRow) -> i64 {
    row.n_tasks.unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::{Entry, fold};
    use crate::rpc::types::{QueueRow, QueueRowOffer, QueueRowOutlook};

    fn row(job_id: &str, state: &str) -> QueueRow {
        let base = job_id.split(['_', '+']).next().unwrap_or_default();
        let phase = if state == "RUNNING" {
            "running"
        } else {
            "waiting"
        };
        QueueRow {
            job_id: job_id.into(),
            base_id: base.parse().unwrap_or(0),
            state: state.into(),
            phase: phase.into(),
            ..QueueRow::default()
        }
    }

    fn tasks(job_id: &str, state: &str, count: i64, at_least: bool) -> QueueRow {
        QueueRow {
            n_tasks: Some(count),
            at_least,
            ..row(job_id, state)
        }
    }

    fn texts(entries: &[Entry]) -> Vec<(String, String)> {
        let texts = entries.iter().map(|one| (one.id_text(), one.state_text()));
        texts.collect()
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        let pairs = expected.iter();
        pairs.map(|(a, b)| ((*a).into(), (*b).into())).collect()
    }

    #[test]
    fn what_belongs_together_is_one_entry() {
        let entries = fold(vec![
            tasks("8100_[3-4%2]", "PENDING", 2, false),
            row("7", "RUNNING"),
            tasks("8100_1", "RUNNING", 1, false),
            tasks("8102_[1-9...", "PENDING", 9, true),
            row("9000+0", "RUNNING"),
            row("9000+1", "PENDING"),
            tasks("8103_5", "RUNNING", 1, false),
        ]);
        let expected = [
            ("8100 (3 tasks)", "2 PENDING, 1 RUNNING"),
            ("7", "RUNNING"),
            ("8102 (at least 9 tasks)", "PENDING"),
            ("9000 (2 parts)", "1 RUNNING, 1 PENDING"),
            ("8103 (1 task)", "RUNNING"),
        ];
        assert_eq!(texts(&entries), pairs(&expected));
        assert!(fold(Vec::new()).is_empty());
    }

    #[test]
    fn what_has_ended_comes_last() {
        let mut ended = row("6", "COMPLETED");
        ended.phase = "ended".into();
        let entries = fold(vec![ended, row("7", "PENDING"), row("8", "RUNNING")]);
        let ids: Vec<i64> = entries.iter().map(|one| one.base_id).collect();
        assert_eq!(ids, [7, 8, 6]);
    }

    #[test]
    fn the_row_that_wants_a_look_leads() {
        let mut held = tasks("5_2", "PENDING", 1, false);
        held.outlook = Some(QueueRowOutlook::Held);
        held.offer = Some(QueueRowOffer::Release);
        held.reason = Some("JobHeldUser".into());
        held.advice = Some("held".into());
        let mut running = tasks("5_1", "RUNNING", 1, false);
        running.reason = Some("None".into());
        let entries = fold(vec![running, held.clone(), held]);
        assert_eq!(entries[0].lead().map(|row| &*row.job_id), Some("5_2"));
        assert!(entries[0].is_held());
        assert_eq!(entries[0].sentences(), ["held (JobHeldUser)"]);
        let mut gone = row("6", "CANCELLED");
        gone.phase = "cancelled".into();
        gone.reason = Some("Resources".into());
        let entries = fold(vec![gone]);
        assert!(entries[0].sentences().is_empty());
        assert!(!entries[0].is_under_way());
    }
}
