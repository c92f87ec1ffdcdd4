//! How old what is known of the clusters with live jobs is: for the header.
//!
//! The daemon's own list is read, which asks no cluster anything, and only while a job lives on one.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::Model;
use super::requests::Owner;
use crate::clusters::{Verdict, age_s, health};
use crate::error::IpcError;
use crate::msg::{ClusterNews, Effect, Link};
use crate::rpc::fit;
use crate::rpc::types::{ClusterView, ClustersMeta, Page};
use crate::theme::Role;
use crate::widgets::text;

const LIST: &str = "clusters.list";
/// Seconds after which the list is read again.
const REREAD_S: f64 = 30.0;
/// Younger than this, an age is not counted in seconds: the header would be drawn each second.
const FRESH_S: f64 = 60.0;

/// What the header says of one cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mention {
    pub words: String,
    pub role: Role,
}

/// The clusters, as the daemon last told of them.
#[derive(Debug, Default)]
pub(super) struct Fleet {
    rows: Vec<ClusterView>,
    /// The clusters that the list was last read for.
    read_for: BTreeSet<String>,
    read_at: Option<f64>,
    under_way: bool,
}

impl Model {
    fn has_fleet(&self) -> bool {
        let is_ready = matches!(self.data.link, Link::Ready(_));
        is_ready && self.data.jobs.live_clusters().next().is_some()
    }

    /// Read the list of clusters when it is time to.
    pub(super) fn fleet_look(&mut self) -> Vec<Effect> {
        if self.fleet.under_way || !self.has_fleet() {
            return Vec::new();
        }
        let mut live = self.data.jobs.live_clusters();
        let is_known = live.all(|name| self.fleet.read_for.contains(name));
        let is_fresh = |at: f64| self.data.now < at + REREAD_S;
        if is_known && self.fleet.read_at.is_some_and(is_fresh) {
            return Vec::new();
        }
        self.fleet.under_way = true;
        vec![self.requests.call(Owner::Fleet, LIST, json!({}))]
    }

    pub(super) fn fleet_reply(&mut self, result: Result<Value, IpcError>) {
        self.fleet.under_way = false;
        self.fleet.read_at = Some(self.data.now);
        self.fleet.read_for = self.data.jobs.live_clusters().map(str::to_owned).collect();
        // What was read before stays, with its age, when there is no answer.
        let page = result.and_then(|value| fit::<Page<ClusterView, ClustersMeta>>(LIST, value));
        if let Ok(page) = page {
            self.dirty |= !page.data.is_empty();
            self.fleet.rows = page.data;
        }
    }

    /// Take in what the daemon tells of clusters, while somebody wants to know.
    pub(super) fn fleet_told(&mut self, news: &[ClusterNews]) {
        for one in news {
            match one {
                ClusterNews::Gone(id) => self.fleet.rows.retain(|row| row.id != *id),
                ClusterNews::Changed(cluster) => {
                    let mut rows = self.fleet.rows.iter_mut();
                    if let Some(row) = rows.find(|row| row.id == cluster.id) {
                        *row = (**cluster).clone();
                    }
                }
            }
        }
    }

    /// What the header says of the clusters with live jobs, those in trouble first.
    pub(super) fn mentions(&self) -> Vec<Mention> {
        let shown = self.shown_clusters().map(|row| mention(row, self.data.now));
        let (bad, good): (Vec<_>, Vec<_>) = shown.partition(|one| one.role == Role::Warn);
        bad.into_iter().chain(good).collect()
    }

    fn shown_clusters(&self) -> impl Iterator<Item = &ClusterView> {
        let rows = self.fleet.rows.iter();
        rows.filter(|row| self.data.jobs.is_live_on(&row.name))
    }

    /// When the header says something else of the clusters, or their list is read again.
    pub(super) fn fleet_at(&self) -> Option<f64> {
        if !self.has_fleet() {
            return None;
        }
        let ages = self.shown_clusters();
        let ages = ages.filter_map(|row| age_s(row, self.data.now));
        let next = ages.filter_map(|age| match age {
            age if age < FRESH_S => Some(FRESH_S - age),
            age => text::age_changes_in(age),
        });
        let next = next.map(|after| (self.data.now + after).ceil());
        let read = self.fleet.read_at.map(|at| at + REREAD_S);
        next.chain(read).reduce(f64::min)
    }
}

fn mention(row: &ClusterView, now: f64) -> Mention {
    let age = age_s(row, now).map(|age| match age {
        age if age < FRESH_S => "<1m".to_owned(),
        age => text::age(age),
    });
    let (word, verdict) = health(row);
    let words = match (verdict, age) {
        (Verdict::Bad, Some(age)) if word == "unreachable" => format!("{} stale {age}", row.name),
        (Verdict::Bad, _) => format!("{} {word}", row.name),
        (_, Some(age)) => format!("{} {age}", row.name),
        (_, None) => format!("{} not asked yet", row.name),
    };
    let role = if verdict == Verdict::Bad {
        Role::Warn
    } else {
        Role::Bar
    };
    Mention { words, role }
}
