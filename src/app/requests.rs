//! Which call belongs to whom. In a slot the latest wins: while one call is under way, only the
//! newest of those asked meanwhile waits for its turn.

use std::collections::HashMap;

use serde_json::Value;

use super::commands::CommandCall;
use super::feed::FeedCall;
use crate::msg::Effect;
use crate::screens::ScreenId;

/// Whom an answer is for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Owner {
    /// A screen, with its slot and tag.
    Screen(ScreenId, &'static str, i64),
    /// The feed of the job list.
    Feed(FeedCall),
    /// What the header says of the clusters.
    Fleet,
    /// A command on jobs.
    Command(CommandCall),
}

type Slot = (ScreenId, &'static str);

#[derive(Debug)]
struct Flight {
    id: u64,
    waiting: Option<(i64, &'static str, Value)>,
}

/// The calls that are not answered yet.
#[derive(Debug, Default)]
pub struct Requests {
    last: u64,
    owners: HashMap<u64, Owner>,
    slots: HashMap<Slot, Flight>,
}

impl Requests {
    fn number(&mut self, owner: Owner) -> u64 {
        self.last += 1;
        self.owners.insert(self.last, owner);
        self.last
    }

    /// A call whose answer is for `owner`.
    pub(super) fn call(&mut self, owner: Owner, method: &'static str, params: Value) -> Effect {
        Effect::Call {
            id: self.number(owner),
            method,
            params,
        }
    }

    /// A call in a slot; nothing when it has to wait.
    pub(super) fn ask(
        &mut self,
        slot: Slot,
        tag: i64,
        method: &'static str,
        params: Value,
    ) -> Option<Effect> {
        if let Some(flight) = self.slots.get_mut(&slot) {
            flight.waiting = Some((tag, method, params));
            return None;
        }
        let effect = self.call(Owner::Screen(slot.0, slot.1, tag), method, params);
        if let Effect::Call { id, .. } = &effect {
            self.slots.insert(
                slot,
                Flight {
                    id: *id,
                    waiting: None,
                },
            );
        }
        Some(effect)
    }

    /// A piece of work that is not a call, whose answer is for a screen.
    pub(super) fn work(&mut self, screen: ScreenId, slot: &'static str) -> u64 {
        self.number(Owner::Screen(screen, slot, 0))
    }

    /// Whom this answer is for, and the call that may go next.
    pub(super) fn answered(&mut self, id: u64) -> (Option<Owner>, Option<Effect>) {
        let owner = self.owners.remove(&id);
        let Some(Owner::Screen(screen, slot, _)) = owner else {
            return (owner, None);
        };
        let key = (screen, slot);
        if self.slots.get(&key).is_none_or(|flight| flight.id != id) {
            return (owner, None);
        }
        let waiting = self.slots.remove(&key).and_then(|flight| flight.waiting);
        let next = waiting.and_then(|(tag, method, params)| self.ask(key, tag, method, params));
        (owner, next)
    }
}
