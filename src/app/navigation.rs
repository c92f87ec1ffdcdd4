//! Which screen is seen and has the keys, and what an action does before or after the screen.

use super::Model;
use super::cx::{Choice, Picker, Wish};
use super::overlays::{Overlay, Owner};
use crate::msg::{Action, Effect, Link, Scope, Tone};
use crate::screens::{Event, Handled, Place, ScreenId, Subject};
use crate::widgets::input::TextLine;

impl Model {
    /// The screen that has the keys.
    pub(super) fn focused(&self) -> ScreenId {
        if let Some(top) = self.over.last() {
            return *top;
        }
        match self.detail() {
            Some(detail) if self.focus_detail => detail,
            _ => self.tab,
        }
    }

    /// The actions that work now: the screen's own first.
    pub(super) fn actions_here(&self) -> impl Iterator<Item = Action> {
        let own = self
            .screen(self.focused())
            .map_or(&[][..], |screen| screen.actions());
        let opening = self
            .screens
            .iter()
            .filter(|(spec, _)| spec.id != self.focused())
            .filter_map(|(spec, _)| spec.opened_by)
            .filter(|action| !own.contains(action));
        let general = Action::all()
            .iter()
            .filter(|info| info.scope == Scope::Everywhere && !own.contains(&info.action))
            .map(|info| info.action)
            .filter(|action| self.works_here(*action));
        own.iter().copied().chain(opening).chain(general)
    }

    fn works_here(&self, action: Action) -> bool {
        match action {
            Action::Zoom => self.over.is_empty() && self.detail().is_some(),
            _ => action
                .screen_number()
                .is_none_or(|number| self.tabs().any(|(tab, _)| tab == number)),
        }
    }

    /// Do what was asked for.
    pub(super) fn act(&mut self, action: Action) -> Vec<Effect> {
        let focused = self.focused();
        let own = self
            .screen(focused)
            .is_some_and(|screen| screen.actions().contains(&action));
        let mut effects = Vec::new();
        // Some keys are for the program alone; the rest the screen may take first.
        let general = action.info().scope == Scope::Everywhere;
        let first = !matches!(
            action,
            Action::Palette | Action::Help | Action::Messages | Action::Theme | Action::Zoom
        );
        if own || (general && first && action != Action::Quit) {
            let (handled, asked) = self.tell(focused, &Event::Act(action));
            effects.extend(asked);
            if handled == Handled::Yes && action != Action::Refresh {
                return effects;
            }
        }
        effects.extend(self.act_generally(action));
        effects
    }

    fn act_generally(&mut self, action: Action) -> Vec<Effect> {
        match action {
            Action::Back => self.back(),
            Action::Quit => {
                if self.over.is_empty() && !self.focus_detail {
                    self.quit = true;
                }
                self.leave();
            }
            Action::Help => {
                self.overlay = Some(Overlay::Help {
                    input: TextLine::default(),
                    scroll: 0,
                });
            }
            Action::Messages => self.overlay = Some(Overlay::Messages { scroll: 0 }),
            Action::Palette => {
                self.dirty = true;
                return self.open_palette();
            }
            Action::Theme => self.pick_theme(),
            Action::Zoom if self.detail().is_some() => self.zoomed ^= true,
            Action::Refresh => return self.refresh(),
            Action::NextPane | Action::PreviousPane
                if self.over.is_empty() && self.detail().is_some() && self.has_subject() =>
            {
                self.focus_detail ^= true;
            }
            action => return self.act_by_table(action),
        }
        self.dirty = true;
        Vec::new()
    }

    fn act_by_table(&mut self, action: Action) -> Vec<Effect> {
        if let Some(number) = action.screen_number() {
            let tab = self
                .tabs()
                .find(|(tab, _)| *tab == number)
                .map(|(_, spec)| spec.id);
            return tab.map_or_else(Vec::new, |tab| self.open(tab, None));
        }
        let opened = self
            .screens
            .iter()
            .find(|(spec, _)| spec.opened_by == Some(action))
            .map(|(spec, _)| spec.id);
        opened.map_or_else(Vec::new, |id| self.open(id, None))
    }

    fn back(&mut self) {
        // A message must not take the key from what it covers.
        self.toasts.dismiss(self.data.now);
        self.leave();
    }

    /// One level up: out of the topmost screen, out of the detail pane.
    fn leave(&mut self) {
        if self.over.pop().is_none() {
            self.focus_detail = false;
            self.zoomed = false;
        }
    }

    pub(super) fn has_subject(&self) -> bool {
        self.screen(self.tab)
            .is_some_and(|tab| tab.selected().is_some())
    }

    fn refresh(&mut self) -> Vec<Effect> {
        self.dirty = true;
        match &self.data.link {
            Link::Ready(_) => self.resync(),
            Link::Down { .. } | Link::Busy => {
                self.connect_at = None;
                self.data.link = Link::Starting;
                vec![Effect::Connect { start: true }]
            }
            Link::Starting | Link::Reconnecting => {
                self.toast(Tone::Info, "the connection is already being made");
                Vec::new()
            }
        }
    }

    fn pick_theme(&mut self) {
        let now = self.theme.name().to_owned();
        let names = self.config.theme_names();
        let choices = names.map(|name| Choice {
            chosen: name == now,
            title: name.clone(),
            name,
        });
        let picker = Picker {
            title: "Colours".into(),
            choices: choices.collect(),
            several: false,
        };
        self.overlay = Some(Overlay::pick(picker, Owner::Theme(now)));
    }

    pub(super) fn grant(&mut self, from: ScreenId, wish: Wish) -> Vec<Effect> {
        self.dirty = true;
        match wish {
            Wish::Toast(tone, text) => self.toast(tone, text),
            Wish::Question(question, token) => {
                self.overlay = Some(Overlay::confirm(question, Owner::Screen(from, token)));
            }
            Wish::Pick(picker, token) => {
                self.overlay = Some(Overlay::pick(picker, Owner::Screen(from, token)));
            }
            Wish::Open(id, subject) => return self.open(id, subject),
            Wish::Show(id, subject) => return self.show(id, subject),
            Wish::Close => {
                if self.over.contains(&from) {
                    self.over.retain(|id| *id != from);
                } else {
                    self.focus_detail = false;
                    self.zoomed = false;
                }
            }
            Wish::Command(command, ids) => self.ask_command(command, &ids),
            Wish::FocusDetail(focused) => {
                self.focus_detail = focused && self.detail().is_some() && self.has_subject();
            }
            Wish::Zoom(zoomed) => self.zoomed = zoomed,
            Wish::Take(job) => return self.feed_told(vec![*job]),
            Wish::TakeWorkflow(workflow) => return self.workflows_told(&[*workflow]),
            Wish::Act(action) => return self.act(action),
            Wish::Begin(start) => {
                let mut effects = self.open(ScreenId::NewJob, None);
                effects.extend(self.tell(ScreenId::NewJob, &Event::Begin(&start)).1);
                return effects;
            }
            Wish::BeginWorkflow(structure) => {
                let mut effects = self.open(ScreenId::NewWorkflow, None);
                let event = Event::BeginWorkflow(&structure);
                effects.extend(self.tell(ScreenId::NewWorkflow, &event).1);
                return effects;
            }
            Wish::Remember(chosen) => return self.remember(chosen),
        }
        Vec::new()
    }

    pub(super) fn open(&mut self, id: ScreenId, subject: Option<Subject>) -> Vec<Effect> {
        self.dirty = true;
        let mut effects = Vec::new();
        if subject.is_some() {
            effects.extend(self.show(id, subject));
        }
        match self.spec(id).map(|spec| spec.place) {
            Some(Place::Tab(_)) => {
                self.tab = id;
                self.over.clear();
                self.focus_detail = false;
                self.zoomed = false;
            }
            Some(Place::DetailOf(tab)) => {
                if subject.is_some() {
                    effects.extend(self.show(tab, subject));
                }
                self.tab = tab;
                self.over.clear();
                self.focus_detail = true;
            }
            Some(Place::Over) => {
                self.over.retain(|other| *other != id);
                self.over.push(id);
            }
            None => {}
        }
        effects
    }

    fn show(&mut self, id: ScreenId, subject: Option<Subject>) -> Vec<Effect> {
        self.shown.retain(|(other, _)| *other != id);
        self.shown.push((id, subject));
        self.tell(id, &Event::Show(subject)).1
    }

    /// Go to the list that has this subject, with the cursor on it.
    pub(super) fn go_to(&mut self, subject: Subject) -> Vec<Effect> {
        let list = match subject {
            Subject::Job(_) => ScreenId::Jobs,
            Subject::Cluster(_) => ScreenId::Clusters,
            Subject::Workflow(_) => ScreenId::Workflows,
        };
        self.open(list, Some(subject))
    }

    /// A job that was removed while it had the keys: back to the list, so that no key meant for it
    /// goes to the next one.
    fn leave_what_is_gone(&mut self) {
        let Some(detail) = self.detail().filter(|_| self.focus_detail) else {
            return;
        };
        let shown = self.shown.iter().find(|(id, _)| *id == detail);
        let Some(Subject::Job(id)) = shown.and_then(|(_, subject)| *subject) else {
            return;
        };
        if self.data.jobs.get(id).is_none() {
            self.focus_detail = false;
            self.zoomed = false;
            if !self.over.is_empty() {
                return;
            }
            if matches!(
                self.overlay,
                Some(Overlay::Confirm { .. } | Overlay::Pick { .. })
            ) {
                self.overlay = None;
            }
            self.toast(Tone::Info, format!("job {id} was removed"));
        }
    }

    /// Tell the screens what has changed about being seen; every update ends with it.
    pub(super) fn settle(&mut self) -> Vec<Effect> {
        let mut effects = Vec::new();
        self.leave_what_is_gone();
        if self.focus_detail && !self.has_subject() {
            self.focus_detail = false;
            self.zoomed = false;
        }
        let now: Vec<_> = self
            .panes()
            .panes
            .iter()
            .map(|pane| (pane.id, pane.inner))
            .collect();
        let before = std::mem::replace(&mut self.seen, now.clone());
        for (id, _) in before
            .iter()
            .filter(|(id, _)| !now.iter().any(|(other, _)| other == id))
        {
            effects.extend(self.tell(*id, &Event::Left).1);
        }
        if let Some(detail) = self
            .detail()
            .filter(|id| now.iter().any(|(seen, _)| seen == id))
        {
            let subject = self
                .screen(self.tab)
                .and_then(super::super::screens::Screen::selected);
            if !self.shown.contains(&(detail, subject)) {
                effects.extend(self.show(detail, subject));
            }
        }
        for (id, area) in now {
            match before.iter().find(|(other, _)| *other == id) {
                None => effects.extend(self.tell(id, &Event::Entered).1),
                Some((_, old)) if *old != area => {
                    effects.extend(self.tell(id, &Event::Resized).1);
                }
                Some(_) => {}
            }
        }
        effects
    }
}
