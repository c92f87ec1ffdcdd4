//! The force engines: what there is and what is being installed, the workers that have one loaded, the
//! environments on the disk, and how the last check of each engine ended.
//!
//! It is read when it comes into view; from then on the daemon tells what changes.

mod act;
mod detail;
mod doctor;
mod install;
mod rows;
mod view;
mod words;

use std::collections::BTreeMap;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::json;

use super::listing::{Extent, Listing, below};
use super::{Cx, Event, Handled, Screen, ViewCx, tabs};
use crate::app::Data;
use crate::msg::{Action, EngineNews, Link};
use crate::rpc::types::{EngineInfo, EnvironmentInfo, InstallState, WorkerInfo};
use crate::theme::Glyphs;
use crate::widgets::text;
use doctor::Checks;
use install::Plan;
use rows::{Rows, runs};

/// The tabs, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Tab {
    #[default]
    Engines,
    Workers,
    Environments,
}

const TABS: [(Tab, &str); 3] = [
    (Tab::Engines, "Engines"),
    (Tab::Workers, "Workers"),
    (Tab::Environments, "Environments"),
];

/// What is read, by the slots that the calls have.
const READ: [&str; 4] = [
    "forces.engines",
    "forces.workers",
    "forces.status",
    "forces.environments",
];
const STATUS: &str = READ[2];
const ENVIRONMENTS: &str = READ[3];

/// The state of the screen.
#[derive(Debug)]
pub struct Engines {
    tab: Tab,
    rows: Rows,
    listings: [Listing; 3],
    checks: Checks,
    /// Engines whose installation was asked for, until the daemon answers, by the number of the call.
    asked: BTreeMap<i64, String>,
    /// Workers that were told to stop, until they are gone, in the same way.
    stopping: BTreeMap<i64, String>,
    calls: i64,
    /// What a question or a list to choose from is about.
    plan: Option<Plan>,
    checking: Option<String>,
    ending: Option<String>,
}

impl Default for Engines {
    fn default() -> Self {
        Self {
            tab: Tab::default(),
            rows: Rows::default(),
            listings: [const { Listing::sharing(55) }; 3],
            checks: Checks::default(),
            asked: BTreeMap::new(),
            stopping: BTreeMap::new(),
            calls: 0,
            plan: None,
            checking: None,
            ending: None,
        }
    }
}

impl Engines {
    const fn listing(&self) -> &Listing {
        &self.listings[self.tab as usize]
    }

    const fn listing_mut(&mut self) -> &mut Listing {
        &mut self.listings[self.tab as usize]
    }

    /// The area without the row of tabs, and what is in it.
    fn extent(&self, area: Rect) -> Extent {
        let totals = self.tab == Tab::Workers && self.rows.status.is_some();
        Extent {
            area: below(area, 1),
            above: usize::from(totals) + usize::from(self.error().is_some()),
            rows: self.count(),
        }
    }

    fn count(&self) -> usize {
        match self.tab {
            Tab::Engines => self.rows.engines.rows.len(),
            Tab::Workers => self.rows.workers.rows.len(),
            Tab::Environments => self.rows.environments.rows.len(),
        }
    }

    fn is_read(&self) -> bool {
        match self.tab {
            Tab::Engines => self.rows.engines.read,
            Tab::Workers => self.rows.workers.read,
            Tab::Environments => self.rows.environments.read,
        }
    }

    /// Why the rows of this tab could not be read.
    fn error(&self) -> Option<&str> {
        match self.tab {
            Tab::Engines => self.rows.engines.error.as_deref(),
            Tab::Workers => self.rows.workers.error.as_deref(),
            Tab::Environments => self.rows.environments.error.as_deref(),
        }
    }

    fn current_engine(&self) -> Option<&EngineInfo> {
        let here = self.tab == Tab::Engines;
        here.then(|| self.rows.engines.rows.get(self.listing().place.cursor))?
    }

    fn current_worker(&self) -> Option<&WorkerInfo> {
        let here = self.tab == Tab::Workers;
        here.then(|| self.rows.workers.rows.get(self.listing().place.cursor))?
    }

    fn current_environment(&self) -> Option<&EnvironmentInfo> {
        let here = self.tab == Tab::Environments;
        here.then(|| self.rows.environments.rows.get(self.listing().place.cursor))?
    }

    fn current_name(&self) -> Option<&str> {
        let names = self.names();
        names.into_iter().nth(self.listing().place.cursor)
    }

    /// The names of the rows of this tab.
    fn names(&self) -> Vec<&str> {
        match self.tab {
            Tab::Engines => self.rows.engines.names().collect(),
            Tab::Workers => self.rows.workers.names().collect(),
            Tab::Environments => self.rows.environments.names().collect(),
        }
    }

    fn is_asked(&self, engine: &str) -> bool {
        self.asked.values().any(|asked| asked == engine)
    }

    fn is_stopping(&self, worker: &str) -> bool {
        self.stopping.values().any(|stopping| stopping == worker)
    }

    /// Change the rows; the cursor stays on what it is on.
    fn keeping_place<T>(&mut self, cx: &mut Cx<'_>, change: impl FnOnce(&mut Self) -> T) -> T {
        let held = self.current_name().map(str::to_owned);
        let answer = change(self);
        let at = held.and_then(|held| self.names().iter().position(|name| *name == held));
        let extent = self.extent(cx.area());
        self.listing_mut().hold(at, extent);
        cx.redraw();
        answer
    }

    fn told(&mut self, news: &[EngineNews], cx: &mut Cx<'_>) {
        let now = cx.now();
        let ended = self.keeping_place(cx, |screen| screen.rows.tell(news, now));
        let rows = &self.rows;
        self.stopping
            .retain(|_, id| rows.workers.get(id).is_some_and(runs));
        for task in &ended {
            act::tell_ended(task, cx);
        }
        // The totals and the sizes are not told.
        if news.iter().any(|one| matches!(one, EngineNews::Worker(_))) {
            cx.ask(STATUS, 0, STATUS, json!({}));
        }
        if ended.iter().any(|task| task.state == InstallState::Done) {
            cx.ask(ENVIRONMENTS, 0, ENVIRONMENTS, json!({}));
        }
        cx.redraw();
    }

    fn go(&mut self, to: usize, cx: &mut Cx<'_>) {
        let extent = self.extent(cx.area());
        self.listing_mut().go(to, extent);
        cx.redraw();
    }

    fn go_to(&mut self, tab: Tab, cx: &mut Cx<'_>) {
        self.tab = tab;
        self.listing_mut().close();
        self.go(self.listing().place.cursor, cx);
    }

    fn beside(&self, by: usize) -> Tab {
        let at = TABS.iter().position(|(tab, _)| *tab == self.tab);
        TABS[(at.unwrap_or(0) + by) % TABS.len()].0
    }

    fn move_about(&mut self, action: Action, cx: &mut Cx<'_>) -> Handled {
        match action {
            Action::NextPane => self.go_to(self.beside(1), cx),
            Action::PreviousPane => self.go_to(self.beside(TABS.len() - 1), cx),
            action => {
                // Marks take one column in every set.
                let facts = detail::lines(self, cx.now(), &Glyphs::UNICODE);
                let extent = self.extent(cx.area());
                cx.redraw();
                return self.listing_mut().act(action, extent, &facts);
            }
        }
        Handled::Yes
    }

    fn click(&mut self, at: (u16, u16), cx: &mut Cx<'_>) {
        if at.1 == 0 {
            let mut x = 0;
            for (tab, title) in TABS {
                x += u16::try_from(title.len()).unwrap_or(0) + 3;
                if at.0 < x {
                    return self.go_to(tab, cx);
                }
            }
            return;
        }
        let extent = self.extent(cx.area());
        self.listing_mut().click((at.0, at.1 - 1), extent);
        cx.redraw();
    }
}

/// Read everything that is shown.
fn read(cx: &mut Cx<'_>) {
    for method in READ {
        cx.ask(method, 0, method, json!({}));
    }
}

impl Screen for Engines {
    fn actions(&self) -> &'static [Action] {
        act::actions(self.tab)
    }

    fn hints(&self, _: &Data) -> Vec<Action> {
        self.useful()
    }

    fn all_actions(&self) -> Vec<Action> {
        tabs::all_actions(&TABS, act::actions)
    }

    fn update(&mut self, event: &Event<'_>, cx: &mut Cx<'_>) -> Handled {
        match event {
            Event::Entered => {
                cx.watch_engines(true);
                read(cx);
                self.go(self.listing().place.cursor, cx);
            }
            Event::Left => cx.watch_engines(false),
            Event::Resync => {
                // The connection may be another one, and what was told may be old.
                self.rows.engines.forget_told();
                self.rows.workers.forget_told();
                cx.watch_engines(true);
                read(cx);
            }
            Event::Resized => self.go(self.listing().place.cursor, cx),
            Event::Tick => cx.redraw(),
            Event::Act(action) => return self.act(*action, cx),
            Event::Click(column, row) => self.click((*column, *row), cx),
            Event::EngineNews(news) => self.told(news, cx),
            Event::Reply { slot, tag, result } => match *slot {
                doctor::SLOT => self.checks.reply(*tag, result, cx),
                method if READ.contains(&method) => {
                    let now = cx.now();
                    self.keeping_place(cx, |screen| screen.rows.take(method, result, now));
                }
                slot => self.done(slot, *tag, result, cx),
            },
            Event::Answered { token, yes: true } => self.agreed(*token, cx),
            Event::Picked { token, names } => self.picked(*token, names, cx),
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn view(&self, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
        view::draw(self, area, buf, cx);
    }

    fn title(&self, _: &Data) -> String {
        let engines = &self.rows.engines.rows;
        let installed = engines.iter().filter(|engine| engine.installed).count();
        let workers = self.rows.workers.rows.iter();
        let workers = workers.filter(|worker| runs(worker)).count();
        let mut title = format!("Engines {}", engines.len());
        if !engines.is_empty() {
            title = format!("{title} (installed {installed}, workers {workers})");
        }
        match self.current_name().filter(|_| self.listing().opened) {
            Some(name) => format!("{title}  {name}"),
            None => title,
        }
    }

    /// A check that runs and a worker that computes count seconds where they are seen.
    fn wake_at(&self, _: Rect, data: &Data) -> Option<f64> {
        let engine = self.current_engine();
        let check = engine.and_then(|engine| self.checks.runs_since(&engine.name));
        let worker = self.current_worker();
        let busy = worker.and_then(|worker| self.rows.busy_since(&worker.id));
        let live = matches!(data.link, Link::Ready(_));
        let since = check.or(busy).filter(|_| live)?;
        let after = text::so_far_changes_in((data.now - since).max(0.0))?;
        Some((data.now + after).ceil())
    }
}
