//! The queue of a cluster as its scheduler sees it: arrays folded, reasons in plain words, and what can
//! be done about them.
//!
//! To look costs the scheduler a question, so it is asked when somebody comes here, wants it read
//! again or has changed something, and never again and again by a clock.

mod act;
mod detail;
mod view;

use std::collections::BTreeMap;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::{Value, json};

use super::answers;
use super::listing::{Extent, Listing};
use super::{Cx, Event, Handled, Screen, Subject, ViewCx};
use crate::app::Data;
use crate::error::IpcError;
use crate::msg::{Action, Link};
use crate::queue::{Entry, fold};
use crate::rpc::types::{ClusterView, ClusterViewKind, ClustersMeta, Page, QueueMeta, QueueRow};
use crate::theme::Glyphs;
use crate::widgets::text;

const CLUSTERS: &str = "clusters.list";
const QUEUE: &str = "slurm.queue";
/// Rows of this age are not asked for again by coming here.
const FRESH_S: f64 = 10.0;
/// Seconds after which it is looked, once, at what an action has done: the daemon answers from
/// what it has while that is younger.
const SETTLED_S: f64 = 6.0;

/// What was asked for and is not seen yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Cancelling,
    Releasing,
    Adopting,
}

/// What a cluster answered.
#[derive(Debug, Default)]
struct Answer {
    cluster: i64,
    all_users: bool,
    entries: Vec<Entry>,
    meta: QueueMeta,
    /// When it came, in seconds since 1970.
    at: f64,
}

/// The state of the screen.
#[derive(Debug, Default)]
pub struct Queue {
    /// The clusters that have a queue.
    clusters: Vec<ClusterView>,
    clusters_read: bool,
    /// The one that is looked at.
    chosen: Option<i64>,
    all_users: bool,
    answer: Option<Answer>,
    /// Why there is no newer one.
    error: Option<String>,
    /// The number of the question that is under way.
    asking: Option<i64>,
    asked: i64,
    /// When it is looked, once, at what an action has done.
    look_at: Option<f64>,
    listing: Listing,
    marks: BTreeMap<i64, Mark>,
    /// The job that a question is about.
    question: Option<i64>,
}

impl Queue {
    fn cluster(&self) -> Option<&ClusterView> {
        let chosen = self.chosen?;
        self.clusters.iter().find(|one| one.id == chosen)
    }

    /// The answer about what is looked at now.
    fn shown(&self) -> Option<&Answer> {
        let answer = self.answer.as_ref()?;
        let fits = Some(answer.cluster) == self.chosen && answer.all_users == self.all_users;
        fits.then_some(answer)
    }

    fn entries(&self) -> &[Entry] {
        self.shown().map_or(&[], |answer| &answer.entries)
    }

    fn current(&self) -> Option<&Entry> {
        self.entries().get(self.listing.place.cursor)
    }

    /// How old the rows are, in seconds.
    fn age_s(&self, now: f64) -> Option<f64> {
        let answer = self.shown()?;
        Some(answer.meta.age_s? + (now - answer.at).max(0.0))
    }

    fn extent(&self, area: Rect) -> Extent {
        Extent {
            area,
            above: 1 + usize::from(self.error.is_some()),
            rows: self.entries().len(),
        }
    }

    fn read_clusters(cx: &mut Cx<'_>) {
        cx.ask(CLUSTERS, 0, CLUSTERS, json!({}));
    }

    /// Ask the chosen cluster; only the newest question counts.
    fn look(&mut self, cx: &mut Cx<'_>) {
        let Some(cluster) = self.chosen else { return };
        self.look_at = None;
        self.asked += 1;
        self.asking = Some(self.asked);
        let mut params = json!({"cluster": cluster});
        if self.all_users {
            params["all_users"] = true.into();
        }
        cx.ask(QUEUE, self.asked, QUEUE, params);
        cx.redraw();
    }

    fn take_clusters(&mut self, result: &Result<Value, IpcError>, cx: &mut Cx<'_>) {
        cx.redraw();
        if answers::is_cut_off(result) && self.clusters_read {
            return;
        }
        let page: Page<ClusterView, ClustersMeta> = match answers::read(CLUSTERS, result) {
            Ok(page) => page,
            Err(error) => {
                self.error = Some(error);
                return;
            }
        };
        let with_queue = page.data.into_iter();
        let with_queue = with_queue.filter(|one| one.kind == ClusterViewKind::Slurm);
        self.clusters = with_queue.collect();
        self.clusters_read = true;
        if self.cluster().is_none() {
            self.chosen = self.clusters.first().map(|one| one.id);
            self.error = None;
        }
        let fresh = |answer: &Answer| !answer.meta.stale && cx.now() < answer.at + FRESH_S;
        let wanted = self.error.is_some() || !self.shown().is_some_and(fresh);
        if wanted && self.asking.is_none() {
            self.look(cx);
        }
    }

    fn take_queue(&mut self, tag: i64, result: &Result<Value, IpcError>, cx: &mut Cx<'_>) {
        if self.asking != Some(tag) {
            return;
        }
        self.asking = None;
        cx.redraw();
        if answers::is_cut_off(result) && self.shown().is_some() {
            return;
        }
        match answers::read::<Page<QueueRow, QueueMeta>>(QUEUE, result) {
            Err(error) => self.error = Some(error),
            Ok(page) => {
                let held = self.current().map(|entry| entry.base_id);
                self.answer = Some(Answer {
                    cluster: self.chosen.unwrap_or_default(),
                    all_users: self.all_users,
                    entries: fold(page.data),
                    meta: page.meta,
                    at: cx.now(),
                });
                self.error = None;
                self.settle_marks();
                self.put_cursor_on(held, cx);
            }
        }
    }

    /// What was asked for and is seen now needs no mark any more.
    fn settle_marks(&mut self) {
        let entries = std::mem::take(&mut self.marks);
        let still = |id: &i64, mark: &Mark| {
            let entry = self.entries().iter().find(|entry| entry.base_id == *id);
            entry.is_some_and(|entry| match mark {
                Mark::Cancelling => entry.is_under_way(),
                Mark::Releasing => entry.is_held(),
                Mark::Adopting => entry.lead().is_some_and(|row| row.job.is_none()),
            })
        };
        let kept = entries.into_iter().filter(|(id, mark)| still(id, mark));
        self.marks = kept.collect();
    }

    /// The cursor stays on its job.
    fn put_cursor_on(&mut self, id: Option<i64>, cx: &Cx<'_>) {
        let mut entries = self.entries().iter();
        let at = id.and_then(|id| entries.position(|one| one.base_id == id));
        let extent = self.extent(cx.area());
        self.listing.hold(at, extent);
    }

    fn movement(&mut self, action: Action, cx: &mut Cx<'_>) -> Handled {
        // Marks take one column in every set.
        let facts = detail::lines(self, cx.data(), &Glyphs::UNICODE);
        let extent = self.extent(cx.area());
        cx.redraw();
        self.listing.act(action, extent, &facts)
    }
}

impl Screen for Queue {
    fn actions(&self) -> &'static [Action] {
        act::ACTIONS
    }

    fn hints(&self, _: &Data) -> Vec<Action> {
        self.useful()
    }

    fn update(&mut self, event: &Event<'_>, cx: &mut Cx<'_>) -> Handled {
        match event {
            Event::Entered => Self::read_clusters(cx),
            Event::Resync => {
                Self::read_clusters(cx);
                self.look(cx);
            }
            Event::Show(Some(Subject::Cluster(id))) => {
                self.choose(*id);
                self.look(cx);
            }
            Event::Tick => {
                if self.look_at.is_some_and(|at| at <= cx.now()) {
                    self.look(cx);
                }
                cx.redraw();
            }
            Event::Resized => {
                let extent = self.extent(cx.area());
                self.listing.go(self.listing.place.cursor, extent);
                cx.redraw();
            }
            Event::Act(action) => return self.act(*action, cx),
            Event::Click(column, row) => {
                let extent = self.extent(cx.area());
                self.listing.click((*column, *row), extent);
                cx.redraw();
            }
            Event::Reply { slot, tag, result } => match *slot {
                CLUSTERS => self.take_clusters(result, cx),
                QUEUE => self.take_queue(*tag, result, cx),
                slot => self.done(slot, *tag, result, cx),
            },
            Event::Answered { yes, .. } => self.answered(*yes, cx),
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn view(&self, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
        view::draw(self, area, buf, cx);
    }

    fn title(&self, _: &Data) -> String {
        let Some(cluster) = self.cluster() else {
            return "Queue".into();
        };
        let whose = if self.all_users {
            "everybody's jobs"
        } else {
            "your jobs"
        };
        let title = match self.shown() {
            Some(answer) => format!(
                "Queue of {}: {whose} {}",
                cluster.name,
                answer.entries.len()
            ),
            None => format!("Queue of {}: {whose}", cluster.name),
        };
        match self.current().filter(|_| self.listing.opened) {
            Some(entry) => format!("{title}  {}", entry.base_id),
            None => title,
        }
    }

    /// The age of the rows is counted where it is seen.
    fn wake_at(&self, _: Rect, data: &Data) -> Option<f64> {
        if !matches!(data.link, Link::Ready(_)) {
            return None;
        }
        let after = self.age_s(data.now).and_then(text::age_changes_in);
        let age = after.map(|after| (data.now + after).ceil());
        age.into_iter().chain(self.look_at).reduce(f64::min)
    }
}
