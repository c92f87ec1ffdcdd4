//! What happens because time passes, and when.

use super::Model;
use crate::msg::Effect;
use crate::screens::{Event, ScreenId};
use crate::widgets::text;

impl Model {
    /// When the next [`Msg::Clock`] is wanted, in seconds since 1970; `None` while nothing moves.
    #[must_use]
    pub fn wake_at(&self) -> Option<f64> {
        let screens = self
            .seen
            .iter()
            .filter_map(|(id, area)| self.screen(*id)?.wake_at(*area, &self.data));
        screens
            .chain(self.feed.wake_at())
            .chain(self.connect_at)
            .chain(self.toasts.wake_at(self.data.now))
            .chain(self.age_at())
            .chain(self.fleet_at())
            .reduce(f64::min)
    }

    /// When the shown age of the data changes.
    pub(super) fn age_at(&self) -> Option<f64> {
        let age = self.data.age_s().filter(|_| self.data.is_stale())?;
        Some(self.data.now + text::age_changes_in(age)?)
    }

    pub(super) fn tick(&mut self, now: f64) -> Vec<Effect> {
        let before = self.data.now;
        let (seen, age) = (self.toasts.seen(before).count(), self.age_at());
        let fleet = self.fleet_at();
        // Screens name their time from the clock as it was.
        let due: Vec<ScreenId> = self
            .seen
            .iter()
            .filter(|(id, area)| {
                let screen = self.screen(*id);
                let at = screen.and_then(|screen| screen.wake_at(*area, &self.data));
                at.is_some_and(|at| at <= now)
            })
            .map(|(id, _)| *id)
            .collect();
        self.data.now = now;
        self.dirty |= self.toasts.seen(now).count() != seen;
        self.dirty |= age.is_some_and(|at| at <= now) | fleet.is_some_and(|at| at <= now);
        let mut effects = self.feed_tick();
        if self.connect_at.is_some_and(|at| at <= now) {
            self.connect_at = None;
            effects.push(Effect::Connect { start: false });
        }
        for id in due {
            effects.extend(self.tell(id, &Event::Tick).1);
        }
        effects
    }
}
