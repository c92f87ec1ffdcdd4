//! The machines that jobs can be sent to: how each does, what its test found, and its description.
//!
//! It reads the daemon's own list, which asks no cluster anything; a cluster is tried only when
//! somebody wants it.

mod act;
mod detail;
mod editor;
mod form;
mod login;
mod view;

use std::collections::BTreeMap;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::{Value, json};

use super::answers;
use super::listing::{Extent, Listing};
use super::{Cx, Event, Handled, Screen, Subject, ViewCx};
use crate::app::Data;
use crate::clusters as health;
use crate::error::IpcError;
use crate::msg::{Action, ClusterNews, Link};
use crate::rpc::types::{ClusterReport, ClusterView, ClustersMeta, Page};
use crate::theme::Glyphs;
use crate::widgets::text;
use editor::Editor;

const LIST: &str = "clusters.list";
const TEST: &str = "clusters.test";
/// Seconds after which the list is read again while it is seen.
const REREAD_S: f64 = 30.0;

/// The state of the screen.
#[derive(Debug, Default)]
pub struct Clusters {
    rows: Vec<ClusterView>,
    is_read: bool,
    error: Option<String>,
    read_at: f64,
    listing: Listing,
    /// Since when each is being tried.
    testing: BTreeMap<i64, f64>,
    /// What the last try found, of those that were tried here.
    reports: BTreeMap<i64, Result<ClusterReport, String>>,
    /// What the daemon has kept of the last try of each.
    kept: BTreeMap<i64, ClusterReport>,
    /// The form, while a cluster is described.
    editor: Option<Editor>,
    /// The dialogue, while somebody logs in.
    login: Option<login::Login>,
    /// What a question is about.
    asked: Option<act::Asked>,
    /// Where the cursor is to be once the list is read.
    wanted: Option<i64>,
}

impl Clusters {
    fn current(&self) -> Option<&ClusterView> {
        self.rows.get(self.listing.place.cursor)
    }

    /// The newest report of a cluster, or why there is none.
    fn report(&self, cluster: &ClusterView) -> Option<Result<&ClusterReport, &str>> {
        let here = self.reports.get(&cluster.id);
        let here = here.map(|found| found.as_ref().map_err(String::as_str));
        here.or_else(|| self.kept.get(&cluster.id).map(Ok))
    }

    fn extent(&self, area: Rect) -> Extent {
        Extent {
            area,
            above: usize::from(self.error.is_some()),
            rows: self.rows.len(),
        }
    }

    fn read(&mut self, cx: &mut Cx<'_>) {
        self.read_at = cx.now();
        cx.ask(LIST, 0, LIST, json!({}));
    }

    fn take(&mut self, result: &Result<Value, IpcError>, cx: &mut Cx<'_>) {
        cx.redraw();
        if answers::is_cut_off(result) && self.is_read {
            return;
        }
        match answers::read::<Page<ClusterView, ClustersMeta>>(LIST, result) {
            Err(error) => self.error = Some(error),
            Ok(page) => {
                let held = self
                    .wanted
                    .take()
                    .or_else(|| self.current().map(|one| one.id));
                self.rows = page.data;
                let kept = |one: &ClusterView| Some((one.id, health::last_report(one)?));
                self.kept = self.rows.iter().filter_map(kept).collect();
                self.is_read = true;
                self.error = None;
                let known = |id: &i64| self.rows.iter().any(|one| one.id == *id);
                self.reports.retain(|id, _| known(id));
                self.put_cursor_on(held, cx);
            }
        }
    }

    /// Take in what the daemon tells of clusters.
    fn told(&mut self, news: &[ClusterNews], cx: &mut Cx<'_>) {
        let held = self.current().map(|one| one.id);
        for one in news {
            match one {
                ClusterNews::Gone(id) => self.rows.retain(|row| row.id != *id),
                ClusterNews::Changed(cluster) => {
                    match health::last_report(cluster) {
                        Some(report) => self.kept.insert(cluster.id, report),
                        None => self.kept.remove(&cluster.id),
                    };
                    match self.rows.iter_mut().find(|row| row.id == cluster.id) {
                        Some(row) => *row = (**cluster).clone(),
                        None => self.rows.push((**cluster).clone()),
                    }
                }
            }
        }
        self.rows.sort_by(|one, other| one.name.cmp(&other.name));
        let known = |id: &i64| self.rows.iter().any(|one| one.id == *id);
        self.reports.retain(|id, _| known(id));
        self.put_cursor_on(held, cx);
        cx.redraw();
    }

    /// The cursor goes to this cluster.
    fn put_cursor_on(&mut self, id: Option<i64>, cx: &Cx<'_>) {
        let at = id.and_then(|id| self.rows.iter().position(|one| one.id == id));
        let extent = self.extent(cx.area());
        self.listing.hold(at, extent);
    }

    fn reply(&mut self, slot: &str, tag: i64, result: &Result<Value, IpcError>, cx: &mut Cx<'_>) {
        match slot {
            LIST => self.take(result, cx),
            TEST => self.tested(tag, result, cx),
            login::LOGIN => self.login_said(tag, result, cx),
            editor::SAVE => self.saved(result, cx),
            slot => self.done(slot, tag, result, cx),
        }
    }

    fn movement(&mut self, action: Action, cx: &mut Cx<'_>) -> Handled {
        // Marks take one column in every set.
        let facts = detail::lines(self, cx.now(), &Glyphs::UNICODE);
        let extent = self.extent(cx.area());
        cx.redraw();
        self.listing.act(action, extent, &facts)
    }
}

impl Screen for Clusters {
    fn actions(&self) -> &'static [Action] {
        if self.editor.is_some() {
            act::FORM
        } else {
            act::LISTED
        }
    }

    fn hints(&self, _: &Data) -> Vec<Action> {
        self.useful()
    }

    fn all_actions(&self) -> Vec<Action> {
        [act::LISTED, act::FORM].concat()
    }

    fn update(&mut self, event: &Event<'_>, cx: &mut Cx<'_>) -> Handled {
        match event {
            Event::Entered | Event::Resync => {
                cx.watch_clusters(true);
                self.read(cx);
            }
            Event::Left => cx.watch_clusters(false),
            Event::ClusterNews(news) => self.told(news, cx),
            Event::Tick if cx.now() >= self.read_at + REREAD_S => {
                self.read(cx);
                cx.redraw();
            }
            Event::Tick => cx.redraw(),
            Event::Resized => {
                let extent = self.extent(cx.area());
                self.listing.go(self.listing.place.cursor, extent);
                cx.redraw();
            }
            Event::Show(Some(Subject::Cluster(id))) => {
                self.put_cursor_on(Some(*id), cx);
                self.wanted = Some(*id);
            }
            Event::Act(action) => return self.act(*action, cx),
            Event::Edit(edit) if self.login.is_some() => self.login_edit(edit, cx),
            Event::Edit(edit) => self.edit(edit, cx),
            Event::Click(column, row) => self.click((*column, *row), cx),
            Event::Reply { slot, tag, result } => self.reply(slot, *tag, result, cx),
            Event::Answered { token, yes } => self.answered(*token, *yes, cx),
            Event::Picked { token, names } => self.picked(*token, names, cx),
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn view(&self, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
        view::draw(self, area, buf, cx);
    }

    fn title(&self, _: &Data) -> String {
        if let Some(editor) = &self.editor {
            return editor.title();
        }
        let bad = |one: &&ClusterView| health::health(one).1 == health::Verdict::Bad;
        let mut title = format!("Clusters {}", self.rows.len());
        match self.rows.iter().filter(bad).count() {
            0 => {}
            count => title = format!("{title} (in trouble {count})"),
        }
        match self.current().filter(|_| self.listing.opened) {
            Some(cluster) => format!("{title}  {}", cluster.name),
            None => title,
        }
    }

    fn takes_text(&self) -> bool {
        self.login.is_some() || self.editor.as_ref().is_some_and(Editor::is_written_in)
    }

    /// Ages and the time of a try are counted where they are seen, and the list is read again.
    fn wake_at(&self, _: Rect, data: &Data) -> Option<f64> {
        if !matches!(data.link, Link::Ready(_)) || self.editor.is_some() {
            return None;
        }
        let ages = self
            .rows
            .iter()
            .filter_map(|one| health::age_s(one, data.now));
        let ages = ages.filter_map(text::age_changes_in);
        let since = self
            .testing
            .values()
            .map(|since| (data.now - since).max(0.0));
        let tries = since.filter_map(text::so_far_changes_in);
        let next = ages.chain(tries).reduce(f64::min);
        let next = next.map(|after| (data.now + after).ceil());
        let read = self.is_read.then_some(self.read_at + REREAD_S);
        next.into_iter().chain(read).reduce(f64::min)
    }
}
