//! Keeps the job list: subscribes to its events and reads it in pages.
//!
//! A daemon without events is asked each second whether the list has changed; that is the one place
//! where anything is polled, and it ends with the first daemon that has them.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::Model;
use super::data::{ListState, Put};
use super::requests::Owner;
use crate::error::IpcError;
use crate::msg::{Effect, Link};
use crate::rpc::fit;
use crate::rpc::types::{JobSummary, ListMeta, Page, Status};
use crate::screens::wording::error_text;

/// Rows of the first page: enough for any window, and quick.
const FIRST_PAGE: i64 = 200;
/// Rows of every further page.
const NEXT_PAGES: i64 = 1000;
/// Seconds between two questions to a daemon without events.
const POLL_S: f64 = 1.0;
/// Seconds until a list that could not be read is asked for again.
const RETRY_S: f64 = 5.0;

/// Which call of the feed an answer belongs to.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum FeedCall {
    Subscribe,
    /// A page; the number says of which reading of the list.
    Page(u64),
}

/// How the list is kept.
#[derive(Debug, Default)]
pub(super) struct Feed {
    instance: Option<String>,
    rev: Option<i64>,
    /// The reading under way: its number, the revision of its first page, the jobs seen.
    reading: Option<Reading>,
    readings: u64,
    /// Another reading is wanted when this one is done.
    again: bool,
    poll_at: Option<f64>,
}

#[derive(Debug)]
struct Reading {
    number: u64,
    rev: Option<i64>,
    /// The jobs of its pages.
    seen: HashSet<i64>,
    /// The jobs that events told about meanwhile; they are newer than the list.
    told: HashSet<i64>,
}

impl Feed {
    pub(super) const fn wake_at(&self) -> Option<f64> {
        self.poll_at
    }
}

impl Model {
    /// The connection changed.
    pub(super) fn feed_linked(&mut self) -> Vec<Effect> {
        let Link::Ready(server) = &self.data.link else {
            self.feed.poll_at = None;
            self.feed.reading = None;
            return Vec::new();
        };
        if self.feed.instance.as_ref() != Some(&server.instance) {
            self.feed.rev = None;
            self.feed.instance = Some(server.instance.clone());
        }
        self.data.has_events = false;
        let subscribe = self.requests.call(
            Owner::Feed(FeedCall::Subscribe),
            "events.subscribe",
            json!({"topics": ["jobs", "workflows"]}),
        );
        let mut effects = vec![subscribe];
        self.feed.reading = None;
        effects.extend(self.feed_read(None));
        effects
    }

    /// Read the list from its start, or once more when a reading is under way.
    pub(super) fn feed_read(&mut self, if_rev: Option<i64>) -> Vec<Effect> {
        if !matches!(self.data.link, Link::Ready(_)) {
            return Vec::new();
        }
        if self.feed.reading.is_some() {
            self.feed.again = true;
            return Vec::new();
        }
        self.feed.readings += 1;
        self.feed.poll_at = None;
        self.feed.reading = Some(Reading {
            number: self.feed.readings,
            rev: None,
            seen: HashSet::new(),
            told: HashSet::new(),
        });
        let mut params = json!({"limit": FIRST_PAGE});
        if let Some(rev) = if_rev {
            params["if_rev"] = rev.into();
        }
        vec![self.feed_page(params)]
    }

    fn feed_page(&mut self, params: Value) -> Effect {
        let owner = Owner::Feed(FeedCall::Page(self.feed.readings));
        self.requests.call(owner, "jobs.list", params)
    }

    pub(super) fn feed_tick(&mut self) -> Vec<Effect> {
        if self.feed.poll_at.is_some_and(|at| at <= self.data.now) {
            return self.feed_read(self.feed.rev);
        }
        Vec::new()
    }

    pub(super) fn feed_reply(
        &mut self,
        call: &FeedCall,
        result: Result<Value, IpcError>,
    ) -> Vec<Effect> {
        match (call, result) {
            (FeedCall::Subscribe, Ok(_)) => {
                self.data.has_events = true;
                self.feed.poll_at = None;
                Vec::new()
            }
            (FeedCall::Subscribe, Err(error)) => self.feed_refused(&error),
            (FeedCall::Page(number), result) => {
                // Pages of a reading that was given up mean nothing any more.
                if self
                    .feed
                    .reading
                    .as_ref()
                    .is_none_or(|now| now.number != *number)
                {
                    return Vec::new();
                }
                match result.and_then(read_page) {
                    Ok(page) => self.feed_take(page),
                    Err(error) => self.feed_failed(&error),
                }
            }
        }
    }

    /// There will be no events: ask instead.
    pub(super) fn feed_refused(&mut self, error: &IpcError) -> Vec<Effect> {
        self.data.has_events = false;
        if error.kind() != "not_implemented" && error.kind() != "disconnected" {
            self.toast(
                crate::msg::Tone::Warn,
                format!(
                    "no live events, asking each second instead: {}",
                    error_text(error)
                ),
            );
        }
        self.feed_rest(POLL_S);
        Vec::new()
    }

    fn feed_failed(&mut self, error: &IpcError) -> Vec<Effect> {
        self.feed.reading = None;
        self.feed.again = false;
        if error.kind() != "disconnected" {
            self.data.jobs.list = ListState::Failed {
                message: error.to_string(),
                hint: error.hint(),
            };
            self.feed.poll_at = Some(self.data.now + RETRY_S);
            self.feed.rev = None;
            self.dirty = true;
        }
        Vec::new()
    }

    fn feed_take(&mut self, page: Page<JobSummary, ListMeta>) -> Vec<Effect> {
        let was_live = self.data.is_live();
        self.data.jobs.list = ListState::Ready;
        self.data.jobs.as_of = Some(self.data.now);
        self.dirty |= !was_live;
        if page.status == Status::Unchanged {
            return self.feed_done();
        }
        if let Some(reading) = &mut self.feed.reading {
            reading.rev = reading.rev.or(Some(page.meta.rev));
            reading.seen.extend(page.data.iter().map(|job| job.id));
        }
        self.data.jobs.expected = page.meta.total.or(self.data.jobs.expected);
        let told = self.feed.reading.as_ref().map(|reading| &reading.told);
        let (newer, listed): (Vec<_>, Vec<_>) = page
            .data
            .into_iter()
            .partition(|job| told.is_some_and(|told| told.contains(&job.id)));
        let mut effects = self.take_jobs(newer, false);
        effects.extend(self.take_jobs(listed, true));
        if let Some(after) = page.meta.next {
            effects.push(self.feed_page(json!({"limit": NEXT_PAGES, "after": after})));
            return effects;
        }
        if let Some(reading) = self.feed.reading.take() {
            let before = self.data.jobs.version;
            self.data.jobs.retain(|row| {
                let id = row.job.id;
                reading.seen.contains(&id) || reading.told.contains(&id)
            });
            self.feed.rev = reading.rev;
            // The title tells how many are still to come.
            self.dirty |= self.data.jobs.expected.take().is_some();
            if self.data.jobs.version != before {
                self.dirty = true;
                effects.extend(self.tell_jobs_changed(&[]));
            }
        }
        effects.extend(self.feed_done());
        effects
    }

    fn feed_done(&mut self) -> Vec<Effect> {
        self.feed.reading = None;
        if std::mem::take(&mut self.feed.again) {
            return self.feed_read(None);
        }
        if !self.data.has_events {
            self.feed_rest(POLL_S);
        }
        Vec::new()
    }

    fn feed_rest(&mut self, seconds: f64) {
        if self.feed.reading.is_none() {
            self.feed.poll_at = Some(self.data.now + seconds);
        }
    }

    /// Take in what an event tells about jobs.
    pub(super) fn feed_told(&mut self, jobs: Vec<JobSummary>) -> Vec<Effect> {
        if let Some(reading) = &mut self.feed.reading {
            reading.told.extend(jobs.iter().map(|job| job.id));
        }
        self.data.jobs.as_of = Some(self.data.now);
        self.take_jobs(jobs, false)
    }

    /// Take in rows, and tell about jobs that have ended.
    pub(super) fn take_jobs(&mut self, jobs: Vec<JobSummary>, from_list: bool) -> Vec<Effect> {
        let mut changed = Vec::new();
        let mut ended = Vec::new();
        for job in jobs {
            let id = job.id;
            match self.data.jobs.put(job, self.data.now, from_list) {
                Put::Same => {}
                Put::Changed => changed.push(id),
                Put::Ended => {
                    changed.push(id);
                    ended.push(id);
                }
            }
        }
        if changed.is_empty() {
            return Vec::new();
        }
        // The screens know whether anything of it is seen; a window without any shows the counts.
        self.dirty |= self.seen.is_empty();
        let mut effects = self.tell_jobs_changed(&changed);
        effects.extend(self.tell_ended(&ended));
        effects
    }
}

fn read_page(result: Value) -> Result<Page<JobSummary, ListMeta>, IpcError> {
    fit("jobs.list", result)
}
