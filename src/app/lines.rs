//! What happens, one line at a time, for those who read the UI as a stream: screen readers and
//! logs. Pure; `runtime` says when to look.

use std::collections::BTreeMap;

use super::data::{Data, ListState, Row, is_terminal};
use crate::msg::Link;
use crate::rpc::types::{JobState, JobSummary};
use crate::widgets::text;
use crate::wording::with_commands;

/// What was told last.
#[derive(Debug, Default)]
pub struct Lines {
    begun: bool,
    version: u64,
    seen: BTreeMap<i64, Seen>,
    away: Option<String>,
}

/// What was told of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    state: JobState,
    attention: Option<String>,
}

impl Lines {
    /// Whether the whole list was there once, from which on changes are told.
    #[must_use]
    pub const fn has_begun(&self) -> bool {
        self.begun
    }

    /// What has changed since the last look. What is there at first is no change.
    pub fn look(&mut self, data: &Data) -> Vec<String> {
        if !self.begun {
            let whole = data.is_live() && data.jobs.expected.is_none();
            if whole {
                self.begun = true;
                self.version = data.jobs.version;
                self.seen = data
                    .jobs
                    .rows()
                    .map(|row| (row.job.id, seen(row)))
                    .collect();
            }
            return Vec::new();
        }
        let mut lines = self.connection(data);
        if self.version != data.jobs.version {
            self.version = data.jobs.version;
            self.jobs(data, &mut lines);
        }
        lines
    }

    fn connection(&mut self, data: &Data) -> Vec<String> {
        let away = away(data);
        if away == self.away {
            return Vec::new();
        }
        let line = match &away {
            Some(words) => words.clone(),
            None => "the daemon is connected again".to_owned(),
        };
        // While the list is being read again, it is not certain yet that all is well.
        if away.is_none() && !data.is_live() {
            return Vec::new();
        }
        self.away = away;
        vec![line]
    }

    fn jobs(&mut self, data: &Data, lines: &mut Vec<String>) {
        let mut ids: Vec<i64> = data.jobs.rows().map(|row| row.job.id).collect();
        ids.sort_unstable();
        for row in ids.iter().filter_map(|id| data.jobs.get(*id)) {
            let now = seen(row);
            let before = self.seen.get(&row.job.id);
            if before != Some(&now) {
                lines.extend(told(&row.job, before));
                self.seen.insert(row.job.id, now);
            }
        }
        self.seen.retain(|id, _| {
            let there = data.jobs.get(*id).is_some();
            if !there {
                lines.push(format!("job {id} removed"));
            }
            there
        });
    }
}

fn seen(row: &Row) -> Seen {
    Seen {
        state: row.job.state.clone(),
        attention: row.job.attention.clone(),
    }
}

/// Why nothing can be told now; `None` while all is well, and while the list is being read.
fn away(data: &Data) -> Option<String> {
    let words = match (&data.link, &data.jobs.list) {
        (Link::Ready(_), ListState::Failed { message, .. }) => {
            format!("the job list could not be read: {message}")
        }
        (Link::Ready(_), _) => return None,
        (Link::Starting, _) => "the daemon is being started".to_owned(),
        (Link::Reconnecting, _) => {
            "the connection to the daemon is lost; the next one is being made".to_owned()
        }
        (Link::Busy, _) => "the daemon does not answer".to_owned(),
        (Link::Down { cause, hint, .. }, _) => match hint {
            Some(hint) => format!("no daemon: {cause}; {hint}"),
            None => format!("no daemon: {cause}"),
        },
    };
    Some(text::clean(&with_commands(&words)))
}

/// What to say of a job that is new or different; nothing about steps that mean nothing to people.
fn told(job: &JobSummary, before: Option<&Seen>) -> Option<String> {
    let known = before.map(|seen| &seen.state);
    let attention = job.attention.as_ref().filter(|now| {
        let before = before.and_then(|seen| seen.attention.as_ref());
        before != Some(now) && !is_terminal(&job.state)
    });
    let what = match &job.state {
        state if known == Some(state) => String::new(),
        JobState::Created | JobState::Staged | JobState::Submitted if known.is_none() => {
            "submitted".to_owned()
        }
        JobState::Created | JobState::Staged | JobState::Submitted | JobState::Finished => {
            String::new()
        }
        JobState::Running => "started".to_owned(),
        JobState::Cancelling => "is being cancelled".to_owned(),
        JobState::Completed => "completed".to_owned(),
        JobState::Failed => "failed".to_owned(),
        JobState::Cancelled => "cancelled".to_owned(),
        JobState::Lost => "cannot be found".to_owned(),
        JobState::Other(name) => format!("is {}", name.to_lowercase()),
    };
    let what = match (what.is_empty(), attention) {
        (true, None) => return None,
        (true, Some(_)) => "needs a look".to_owned(),
        _ => what,
    };
    let mut line = format!("job {} {what}: {}", job.id, job.name);
    for part in details(job, attention) {
        line = format!("{line}; {part}");
    }
    Some(text::clean(&line))
}

fn details(job: &JobSummary, attention: Option<&String>) -> Vec<String> {
    let mut parts = Vec::new();
    if job.state == JobState::Failed {
        parts.extend(job.reason.as_ref().map(|reason| reason.replace('_', " ")));
    }
    parts.extend(attention.map(|text| with_commands(text)));
    if is_terminal(&job.state) {
        let energy = job
            .science
            .energy_ev
            .filter(|_| job.state == JobState::Completed);
        parts.extend(energy.map(|ev| format!("{ev:.6} eV")));
        parts.extend(
            job.elapsed_s
                .map(|s| format!("after {}", text::duration(s))),
        );
    }
    parts
}
