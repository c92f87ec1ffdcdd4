//! What all screens share: the job list, how fresh it is, and the connection.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::msg::Link;
use crate::rpc::types::{JobState, JobSummary};
use crate::widgets::text;

/// The shared data. Screens read it; only `app` changes it.
#[derive(Debug, Default)]
pub struct Data {
    /// The jobs.
    pub jobs: JobStore,
    /// The connection.
    pub link: Link,
    /// Whether the daemon tells what happens by itself.
    pub has_events: bool,
    /// The time, in seconds since 1970.
    pub now: f64,
    /// What is known of this program's own surroundings.
    pub client: Client,
}

/// The surroundings of this program, as they were when it started.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Client {
    /// Its current directory.
    pub directory: PathBuf,
    /// The user's home, for `~`.
    pub home: Option<PathBuf>,
    /// The variables that travel with a submission.
    pub context: Value,
    /// Begins every token of a submission; unique to this run.
    pub token: String,
}

impl Client {
    /// Put the variables that travel into params, if there are any.
    pub fn put_context(&self, params: &mut Map<String, Value>) {
        if self.context.as_object().is_some_and(|set| !set.is_empty()) {
            params.insert("context".into(), self.context.clone());
        }
    }
}

impl Data {
    /// Whether what is shown is what the daemon has.
    #[must_use]
    pub fn is_live(&self) -> bool {
        matches!(self.link, Link::Ready(_)) && self.jobs.list == ListState::Ready
    }

    /// Whether there are rows that may be out of date.
    #[must_use]
    pub fn is_stale(&self) -> bool {
        !self.is_live() && self.jobs.as_of.is_some()
    }

    /// How old the rows are, in seconds; `None` when there never were any.
    #[must_use]
    pub fn age_s(&self) -> Option<f64> {
        self.jobs.as_of.map(|as_of| (self.now - as_of).max(0.0))
    }

    /// How long the job has run, in seconds; goes on while it runs and data is live.
    #[must_use]
    pub fn elapsed_s(&self, row: &Row) -> Option<f64> {
        let elapsed = row.job.elapsed_s?;
        if row.job.state != JobState::Running {
            return Some(elapsed);
        }
        let until = if self.is_live() {
            self.now
        } else {
            self.jobs.as_of.unwrap_or(row.received_at)
        };
        Some(elapsed + (until - row.received_at).max(0.0))
    }

    /// When what is shown of the time that this job runs says something else; `None` while it stands.
    /// On whole seconds, so that many jobs change together.
    #[must_use]
    pub fn elapsed_changes_at(&self, row: &Row) -> Option<f64> {
        if row.job.state != JobState::Running || !self.is_live() {
            return None;
        }
        let after = text::so_far_changes_in(self.elapsed_s(row)?)?;
        Some((self.now + after).ceil())
    }
}

/// How the list was last read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ListState {
    /// Not yet.
    #[default]
    Loading,
    /// It was.
    Ready,
    /// The daemon refused.
    Failed {
        /// What it said.
        message: String,
        /// What to do about it.
        hint: Option<String>,
    },
}

/// What was asked for and is not confirmed yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// It is to be cancelled.
    Cancelling,
    /// It is to be submitted again.
    Rerunning,
    /// It is to be removed.
    Deleting,
}

impl Mark {
    /// As a word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Cancelling => "cancelling",
            Self::Rerunning => "rerunning",
            Self::Deleting => "deleting",
        }
    }
}

/// One job of the list.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// What the daemon said.
    pub job: JobSummary,
    /// When it said so, in seconds since 1970.
    pub received_at: f64,
    /// What was asked for since.
    pub mark: Option<Mark>,
    /// What a search looks through, in lower case: name, formula, number and tags, a line each.
    pub words: Box<str>,
}

impl Row {
    /// What the daemon says `now`.
    #[must_use]
    pub fn new(job: JobSummary, now: f64) -> Self {
        let number = job.id.to_string();
        let formula = job.formula.as_deref().unwrap_or_default();
        let tags = job.tags.iter().map(String::as_str);
        let words: Vec<&str> = [job.name.as_str(), formula, number.as_str()]
            .into_iter()
            .chain(tags)
            .collect();
        Self {
            words: words.join("\n").to_lowercase().into(),
            received_at: now,
            mark: None,
            job,
        }
    }
}

/// The jobs. They stand one behind the other, as they came: going through all of them is what a
/// filter or an order costs.
#[derive(Debug, Default)]
pub struct JobStore {
    rows: Vec<Row>,
    /// Where each is, by its number.
    places: HashMap<i64, usize>,
    counts: HashMap<JobState, usize>,
    /// How many live jobs each cluster has; one without any is not in it.
    live_on: BTreeMap<String, usize>,
    /// Rises with every change.
    pub version: u64,
    /// How the list was last read.
    pub list: ListState,
    /// When the list was last known to be what the daemon has, in seconds since 1970.
    pub as_of: Option<f64>,
    /// How many jobs the daemon has, while not all are here.
    pub expected: Option<i64>,
}

impl JobStore {
    /// The row of a job.
    #[must_use]
    pub fn get(&self, id: i64) -> Option<&Row> {
        self.rows.get(*self.places.get(&id)?)
    }

    fn get_mut(&mut self, id: i64) -> Option<&mut Row> {
        self.rows.get_mut(*self.places.get(&id)?)
    }

    /// Every row, in no order.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many run.
    #[must_use]
    pub fn running(&self) -> usize {
        self.count(&JobState::Running)
    }

    /// How many are in this state.
    #[must_use]
    pub fn count(&self, state: &JobState) -> usize {
        self.counts.get(state).copied().unwrap_or(0)
    }

    /// The clusters that have live jobs, by name.
    pub fn live_clusters(&self) -> impl Iterator<Item = &str> {
        self.live_on.keys().map(String::as_str)
    }

    /// Whether a cluster has live jobs.
    #[must_use]
    pub fn is_live_on(&self, cluster: &str) -> bool {
        self.live_on.contains_key(cluster)
    }

    fn counted(&mut self, before: Option<&Counted>, after: Option<&Counted>) {
        if let Some(before) = before {
            if let Some(count) = self.counts.get_mut(&before.state) {
                *count = count.saturating_sub(1);
            }
            let left = before.live_on().and_then(|name| {
                let count = self.live_on.get_mut(name)?;
                *count = count.saturating_sub(1);
                Some((name, *count))
            });
            if let Some((name, 0)) = left {
                self.live_on.remove(name);
            }
        }
        if let Some(after) = after {
            *self.counts.entry(after.state.clone()).or_default() += 1;
            if let Some(name) = after.live_on() {
                *self.live_on.entry(name.to_owned()).or_default() += 1;
            }
        }
        self.version += 1;
    }

    /// Take in what the daemon says about one job. Older news than what is here changes nothing,
    /// unless it is what a list has `now`.
    pub(super) fn put(&mut self, job: JobSummary, now: f64, from_list: bool) -> Put {
        let before = self.get(job.id);
        let mut mark = before.and_then(|row| row.mark);
        let mut put = Put::Changed;
        if let Some(row) = before {
            if row.job.rev > job.rev && !from_list {
                return Put::Same;
            }
            if row.job == job {
                return Put::Same;
            }
            if !is_terminal(&row.job.state) && is_terminal(&job.state) {
                put = Put::Ended;
            }
            let settled = job.state == JobState::Cancelling || is_terminal(&job.state);
            if mark == Some(Mark::Cancelling) && settled {
                mark = None;
            }
        }
        let was = before.map(|row| Counted::of(&row.job));
        self.counted(was.as_ref(), Some(&Counted::of(&job)));
        let row = Row {
            mark,
            ..Row::new(job, now)
        };
        if let Some(old) = self.get_mut(row.job.id) {
            *old = row;
        } else {
            self.places.insert(row.job.id, self.rows.len());
            self.rows.push(row);
        }
        put
    }

    pub(super) fn remove(&mut self, id: i64) {
        let Some(place) = self.places.remove(&id) else {
            return;
        };
        let row = self.rows.swap_remove(place);
        if let Some(moved) = self.rows.get(place) {
            self.places.insert(moved.job.id, place);
        }
        self.counted(Some(&Counted::of(&row.job)), None);
    }

    /// Keep only the rows that `keep` wants.
    pub(super) fn retain(&mut self, keep: impl Fn(&Row) -> bool) {
        let gone: Vec<i64> = self
            .rows()
            .filter(|row| !keep(row))
            .map(|row| row.job.id)
            .collect();
        for id in gone {
            self.remove(id);
        }
    }

    pub(super) fn mark(&mut self, id: i64, mark: Option<Mark>) {
        if let Some(row) = self.get_mut(id) {
            row.mark = mark;
            self.version += 1;
        }
    }

    pub(super) fn set_state(&mut self, id: i64, state: &JobState) {
        let Some(row) = self.get_mut(id) else {
            return;
        };
        if !is_terminal(&row.job.state) {
            let was = Counted::of(&row.job);
            row.job.state = state.clone();
            let is = Counted::of(&row.job);
            self.counted(Some(&was), Some(&is));
        }
    }
}

/// What a job is counted by.
#[derive(Debug)]
struct Counted {
    state: JobState,
    cluster: Option<String>,
}

impl Counted {
    fn of(job: &JobSummary) -> Self {
        Self {
            state: job.state.clone(),
            cluster: job.cluster.clone(),
        }
    }

    fn live_on(&self) -> Option<&str> {
        let cluster = self.cluster.as_deref()?;
        (!is_terminal(&self.state)).then_some(cluster)
    }
}

/// What became of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Put {
    /// Nothing.
    Same,
    /// It is new or different.
    Changed,
    /// The job has ended.
    Ended,
}

/// Whether a job in this state has ended for good.
#[must_use]
pub fn is_terminal(state: &JobState) -> bool {
    matches!(
        state,
        JobState::Completed | JobState::Failed | JobState::Cancelled
    )
}
