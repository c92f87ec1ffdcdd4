//! Tells screens what happened, and the user's desktop when jobs have ended.

use super::cx::Cx;
use super::requests::Owner;
use super::{Model, Row};
use crate::msg::{Effect, Tone};
use crate::screens::{Event, Handled, ScreenId};
use crate::widgets::ascii;

impl Model {
    /// Tell a screen something, and grant what it asks for.
    pub(super) fn tell(&mut self, id: ScreenId, event: &Event<'_>) -> (Handled, Vec<Effect>) {
        let area = self.area_of(id);
        let Some(slot) = self.screens.iter_mut().find(|(spec, _)| spec.id == id) else {
            return (Handled::No, Vec::new());
        };
        let Some(mut screen) = slot.1.take() else {
            return (Handled::No, Vec::new());
        };
        let (mut effects, mut wishes) = (Vec::new(), Vec::new());
        let mut cx = Cx {
            screen: id,
            data: &self.data,
            area,
            requests: &mut self.requests,
            effects: &mut effects,
            wishes: &mut wishes,
            dirty: &mut self.dirty,
        };
        let handled = screen.update(event, &mut cx);
        if let Some(slot) = self.screens.iter_mut().find(|(spec, _)| spec.id == id) {
            slot.1 = Some(screen);
        }
        for wish in wishes {
            effects.extend(self.grant(id, wish));
        }
        (handled, effects)
    }

    /// A piece of work for a screen is done; `event` makes what the screen is told.
    pub(super) fn worked<'a>(
        &mut self,
        id: u64,
        event: impl FnOnce(&'static str) -> Event<'a>,
    ) -> Vec<Effect> {
        let (owner, next) = self.requests.answered(id);
        let mut effects: Vec<Effect> = next.into_iter().collect();
        if let Some(Owner::Screen(screen, slot, _)) = owner {
            effects.extend(self.tell(screen, &event(slot)).1);
        }
        effects
    }

    pub(super) fn tell_seen(&mut self, event: &Event<'_>) -> Vec<Effect> {
        let seen: Vec<ScreenId> = self.seen.iter().map(|(id, _)| *id).collect();
        seen.into_iter()
            .flat_map(|id| self.tell(id, event).1)
            .collect()
    }

    /// Tell every screen, seen or not.
    pub(super) fn tell_all(&mut self, event: &Event<'_>) -> Vec<Effect> {
        let all: Vec<ScreenId> = self.screens.iter().map(|(spec, _)| spec.id).collect();
        all.into_iter()
            .flat_map(|id| self.tell(id, event).1)
            .collect()
    }

    /// Tell every screen, seen or not, that jobs have changed.
    pub(super) fn tell_jobs_changed(&mut self, ids: &[i64]) -> Vec<Effect> {
        self.tell_all(&Event::JobsChanged(ids))
    }

    /// Tell the user that jobs have ended. Of those that are steps of a workflow its own end is told.
    pub(super) fn tell_ended(&mut self, ids: &[i64]) -> Vec<Effect> {
        let rows: Vec<&Row> = ids
            .iter()
            .filter_map(|id| self.data.jobs.get(*id))
            .filter(|row| row.job.workflow.is_none())
            .collect();
        let (title, body) = match rows[..] {
            [] => return Vec::new(),
            [row] => (
                format!(
                    "job {} {}",
                    row.job.id,
                    row.job.state.as_str().to_lowercase()
                ),
                match &row.job.reason {
                    Some(reason) => format!("{} ({})", row.job.name, reason.replace('_', " ")),
                    None => row.job.name.clone(),
                },
            ),
            _ => {
                let failed = rows
                    .iter()
                    .filter(|row| row.job.state.as_str() == "FAILED")
                    .count();
                (
                    format!("{} jobs ended", rows.len()),
                    format!("{failed} of them failed"),
                )
            }
        };
        let bad = rows.iter().any(|row| row.job.state.as_str() == "FAILED");
        let tone = if bad { Tone::Bad } else { Tone::Good };
        self.tell_user(tone, title, body)
    }

    /// Say something here and to the user's desktop.
    pub(super) fn tell_user(&mut self, tone: Tone, title: String, body: String) -> Vec<Effect> {
        self.toast(tone, format!("{title}: {body}"));
        if self.config.notify {
            let body = if self.theme.glyphs().ascii {
                ascii::of(&body)
            } else {
                body
            };
            vec![Effect::Notify { title, body }]
        } else {
            Vec::new()
        }
    }
}
