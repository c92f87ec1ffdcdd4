//! The model of the terminal UI and [`update`], the only place where it changes.
//!
//! Pure: no I/O, no clock, no terminal. What is to be done elsewhere comes back as effects; what
//! came of them arrives as messages. The runtime calls `update`, then [`view::draw`] when the model
//! says that something seen has changed.

mod clock;
mod commands;
mod cx;
mod data;
mod feed;
mod fleet;
mod layout;
mod lines;
mod mouse;
mod navigation;
mod overlays;
mod palette;
mod requests;
mod telling;
mod toasts;
pub mod view;
mod workflows;

use ratatui::layout::Rect;

pub use crate::screens::wording::error_text;
pub use commands::Command;
pub use cx::{Choice, Cx, Picker, Question};
pub use data::{Client, Data, JobStore, ListState, Mark, Row, is_terminal};
pub use lines::Lines;

use crate::config::{Chosen, Config};
use crate::keymap::{Key, Keymap};
use crate::msg::{Action, Effect, Link, Msg, Tone};
use crate::screens::{Event, Place, SPECS, Screen, ScreenId, Spec, Subject};
use crate::theme::Theme;
use feed::Feed;
use fleet::Fleet;
use overlays::Overlay;
use requests::{Owner, Requests};
use toasts::Toasts;
use workflows::Progress;

/// Seconds between two attempts to connect after the first one failed.
const RECONNECT_S: f64 = 5.0;

/// The whole state of the UI.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Model {
    /// What the screens share.
    pub data: Data,
    keymap: Keymap,
    theme: Theme,
    config: Config,
    size: (u16, u16),
    screens: Vec<(Spec, Option<Box<dyn Screen>>)>,
    /// The tab that is seen.
    tab: ScreenId,
    /// Screens over the tab, the topmost last.
    over: Vec<ScreenId>,
    focus_detail: bool,
    zoomed: bool,
    /// What was last told about what is seen where.
    seen: Vec<(ScreenId, Rect)>,
    shown: Vec<(ScreenId, Option<Subject>)>,
    overlay: Option<Overlay>,
    toasts: Toasts,
    recent: Vec<Action>,
    requests: Requests,
    feed: Feed,
    fleet: Fleet,
    workflows: Progress,
    connect_at: Option<f64>,
    dirty: bool,
    quit: bool,
}

impl Model {
    /// The model at the start, before anything is connected.
    #[must_use]
    pub fn new(config: Config, size: (u16, u16), now: f64) -> Self {
        let mut model = Self {
            data: Data {
                now,
                ..Data::default()
            },
            keymap: config.keymap.clone(),
            theme: config.theme(&config.theme),
            screens: SPECS
                .iter()
                .map(|spec| (*spec, Some((spec.make)(&config))))
                .collect(),
            config,
            size,
            tab: ScreenId::Jobs,
            over: Vec::new(),
            focus_detail: false,
            zoomed: false,
            seen: Vec::new(),
            shown: Vec::new(),
            overlay: None,
            toasts: Toasts::default(),
            recent: Vec::new(),
            requests: Requests::default(),
            feed: Feed::default(),
            fleet: Fleet::default(),
            workflows: Progress::default(),
            connect_at: None,
            dirty: true,
            quit: false,
        };
        for note in std::mem::take(&mut model.config.notes) {
            model.toast(Tone::Warn, note);
        }
        // Nothing is connected, so no screen can have asked for anything.
        let _ = model.settle();
        model
    }

    /// Whether something that is seen has changed since it was last asked.
    pub const fn take_dirty(&mut self) -> bool {
        std::mem::replace(&mut self.dirty, false)
    }

    /// Whether the user left.
    #[must_use]
    pub const fn wants_quit(&self) -> bool {
        self.quit
    }

    /// The key map in force.
    #[must_use]
    pub const fn keymap(&self) -> &Keymap {
        &self.keymap
    }

    pub(super) fn toast(&mut self, tone: Tone, text: impl Into<String>) {
        self.toasts.push(tone, text.into(), self.data.now);
        self.dirty = true;
    }
}

/// Take one message in. The only place where the model changes.
pub fn update(model: &mut Model, msg: Msg) -> Vec<Effect> {
    let mut effects = match msg {
        Msg::Clock(now) => model.tick(now),
        Msg::Key(key) => model.key(key),
        Msg::Paste(text) => model.paste(&text),
        Msg::Mouse(mouse) => model.mouse(mouse),
        Msg::Resize(columns, rows) => {
            model.size = (columns, rows);
            model.dirty = true;
            Vec::new()
        }
        Msg::Focus(_) => Vec::new(),
        Msg::Link(link) => model.linked(link),
        Msg::Reply { id, result } => model.replied(id, result),
        Msg::JobsChanged(jobs) => model.feed_told(jobs),
        Msg::JobsGone(ids) => {
            for id in &ids {
                model.data.jobs.remove(*id);
            }
            model.dirty = true;
            model.tell_jobs_changed(&ids)
        }
        Msg::WorkflowsChanged(news) => model.workflows_told(&news),
        Msg::Resync => model.resync(),
        Msg::NoEvents(error) => model.feed_refused(&error),
        Msg::Directory { id, result } => model.worked(id, |slot| Event::Directory {
            slot,
            result: &result,
        }),
        Msg::LogGrown { job, stream, bytes } => {
            let stream = stream.as_str();
            model.tell_seen(&Event::LogGrown { job, stream, bytes })
        }
        Msg::ClusterNews(news) => {
            model.fleet_told(&news);
            model.tell_seen(&Event::ClusterNews(&news))
        }
        Msg::EngineNews(news) => model.tell_seen(&Event::EngineNews(&news)),
        Msg::FileSeen { id, result } => model.worked(id, |slot| Event::FileSeen {
            slot,
            result: &result,
        }),
        Msg::TextRead { id, result } => model.worked(id, |slot| Event::TextRead {
            slot,
            result: &result,
        }),
        Msg::TextWritten { id, result } => model.worked(id, |slot| Event::TextWritten {
            slot,
            result: &result,
        }),
        Msg::Returned => model.tell_seen(&Event::Returned),
        Msg::Quit => {
            model.quit = true;
            Vec::new()
        }
        Msg::Note(tone, text) => {
            model.toast(tone, text);
            Vec::new()
        }
    };
    effects.extend(model.fleet_look());
    effects.extend(model.settle());
    effects
}

impl Model {
    fn linked(&mut self, link: Link) -> Vec<Effect> {
        if link == self.data.link {
            return Vec::new();
        }
        self.dirty = true;
        self.connect_at = None;
        if let Link::Ready(server) = &link
            && !server.same_contract
        {
            let text = format!(
                "the daemon ({}) and this program ({}) were built for different contracts; when no \
                 job needs it, restart it: crystalmath-server stop",
                server.version,
                env!("CARGO_PKG_VERSION")
            );
            self.toast(Tone::Warn, text);
        }
        if matches!(link, Link::Down { .. } | Link::Busy) {
            self.connect_at = Some(self.data.now + RECONNECT_S);
        }
        let ready = matches!(link, Link::Ready(_));
        self.data.link = link;
        let mut effects = self.feed_linked();
        if ready {
            effects.extend(self.tell_seen(&Event::Resync));
        }
        effects
    }

    fn resync(&mut self) -> Vec<Effect> {
        let mut effects = self.feed_read(None);
        effects.extend(self.tell_seen(&Event::Resync));
        effects
    }

    fn replied(
        &mut self,
        id: u64,
        result: Result<serde_json::Value, crate::error::IpcError>,
    ) -> Vec<Effect> {
        let (owner, next) = self.requests.answered(id);
        let mut effects: Vec<Effect> = next.into_iter().collect();
        effects.extend(match owner {
            None => Vec::new(),
            Some(Owner::Feed(call)) => self.feed_reply(&call, result),
            Some(Owner::Fleet) => {
                self.fleet_reply(result);
                Vec::new()
            }
            Some(Owner::Command(call)) => self.command_reply(call, result),
            Some(Owner::Screen(screen, slot, tag)) => {
                let event = Event::Reply {
                    slot,
                    tag,
                    result: &result,
                };
                self.tell(screen, &event).1
            }
        });
        effects
    }

    fn key(&mut self, key: Key) -> Vec<Effect> {
        if self.overlay.is_some() {
            return self.overlay_key(key);
        }
        if self.takes_text() {
            let Some(edit) = key.edit() else {
                return Vec::new();
            };
            return self.tell(self.focused(), &Event::Edit(&edit)).1;
        }
        match self.keymap.action(key) {
            Some(action) => self.act(action),
            None => Vec::new(),
        }
    }

    fn paste(&mut self, text: &str) -> Vec<Effect> {
        let clean: String = text
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        if self.overlay.is_some() {
            return self.overlay_paste(&clean);
        }
        if self.takes_text() {
            let edit = crate::msg::Edit::Insert(clean);
            return self.tell(self.focused(), &Event::Edit(&edit)).1;
        }
        Vec::new()
    }

    fn takes_text(&self) -> bool {
        self.screen(self.focused())
            .is_some_and(super::screens::Screen::takes_text)
    }

    fn screen(&self, id: ScreenId) -> Option<&dyn Screen> {
        let (_, screen) = self.screens.iter().find(|(spec, _)| spec.id == id)?;
        screen.as_deref()
    }

    fn spec(&self, id: ScreenId) -> Option<&Spec> {
        self.screens
            .iter()
            .map(|(spec, _)| spec)
            .find(|spec| spec.id == id)
    }

    /// The tabs of the header, in their order.
    fn tabs(&self) -> impl Iterator<Item = (u8, &Spec)> {
        self.screens
            .iter()
            .filter_map(|(spec, _)| match spec.place {
                Place::Tab(number) => Some((number, spec)),
                _ => None,
            })
    }

    fn detail(&self) -> Option<ScreenId> {
        self.screens
            .iter()
            .map(|(spec, _)| spec)
            .find(|spec| spec.place == Place::DetailOf(self.tab))
            .map(|spec| spec.id)
    }

    /// Keep a choice of the user, unless `ui.toml` decides about it.
    pub(super) fn remember(&mut self, chosen: Chosen) -> Vec<Effect> {
        if self.config.named.has(&chosen) {
            let what = chosen.what();
            let text = format!("this holds until you leave: ui.toml sets {what}");
            self.toast(Tone::Info, text);
            return Vec::new();
        }
        if self.config.remembered.take(chosen) {
            return vec![Effect::Keep(self.config.remembered.render())];
        }
        Vec::new()
    }

    pub(super) fn use_theme(&mut self, name: &str) {
        self.theme = self.config.theme(name);
        self.dirty = true;
    }
}
