//! Which key asks for what: the defaults of the action table, changed by the user's `[keys]`.
//!
//! One map for the whole program, so a key never means another thing on the next screen. Read by
//! `app`; filled by `config`.

mod key;

use std::collections::HashMap;

pub use key::{Code, Key};

use crate::msg::Action;

/// The map in force.
#[derive(Debug, Clone, PartialEq)]
pub struct Keymap {
    actions: HashMap<Key, Action>,
    keys: HashMap<Action, Vec<Key>>,
}

/// Why a change of the map is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The action whose keys were to be set.
    pub action: String,
    /// What is wrong.
    pub reason: String,
}

impl Default for Keymap {
    fn default() -> Self {
        // The table's own keys are checked by a test; a wrong one would be missing here.
        let defaults = Action::all().iter().map(|info| {
            let keys = info.keys.iter().filter_map(|key| Key::parse(key).ok());
            (info.action, keys.collect())
        });
        Self::of(defaults.collect())
    }
}

impl Keymap {
    fn of(keys: HashMap<Action, Vec<Key>>) -> Self {
        let actions = keys
            .iter()
            .flat_map(|(action, keys)| keys.iter().map(|key| (*key, *action)))
            .collect();
        Self { actions, keys }
    }

    /// The defaults, with other keys for some actions. An action that gets keys loses its default
    /// ones.
    ///
    /// # Errors
    /// An action or a key that does not exist, or two actions for one key. All are reported.
    pub fn with(changes: &[(String, Vec<String>)]) -> Result<Self, Vec<Refused>> {
        let mut keys = Self::default().keys;
        let mut refused = Vec::new();
        let mut touched = Vec::new();
        for (name, texts) in changes {
            let mut refuse = |reason: String| {
                refused.push(Refused {
                    action: name.clone(),
                    reason,
                });
            };
            let Some(action) = Action::named(name) else {
                refuse(format!("there is no action {name:?}{}", similar(name)));
                continue;
            };
            let mut parsed = Vec::new();
            for text in texts {
                match Key::parse(text) {
                    Ok(key) => parsed.push(key),
                    Err(reason) => refuse(reason),
                }
            }
            keys.insert(action, parsed);
            touched.push(action);
        }
        refused.extend(collisions(&keys, &touched));
        if refused.is_empty() {
            Ok(Self::of(keys))
        } else {
            Err(refused)
        }
    }

    /// What this key asks for.
    #[must_use]
    pub fn action(&self, key: Key) -> Option<Action> {
        self.actions.get(&key).copied()
    }

    /// The keys of an action, the main one first.
    #[must_use]
    pub fn keys(&self, action: Action) -> &[Key] {
        self.keys.get(&action).map_or(&[], Vec::as_slice)
    }

    /// The main key of an action as people read it, `Ctrl-r`; empty when it has none.
    #[must_use]
    pub fn main_key(&self, action: Action) -> String {
        self.keys(action)
            .first()
            .map(|key| key.label())
            .unwrap_or_default()
    }
}

fn collisions(keys: &HashMap<Action, Vec<Key>>, touched: &[Action]) -> Vec<Refused> {
    let mut owners: HashMap<Key, Action> = HashMap::new();
    let mut refused = Vec::new();
    for info in Action::all() {
        for key in keys.get(&info.action).map_or(&[][..], Vec::as_slice) {
            let Some(other) = owners.insert(*key, info.action) else {
                continue;
            };
            // Name the one that the user wrote; both may be.
            let (at, against) = if touched.contains(&info.action) {
                (info.action, other)
            } else {
                (other, info.action)
            };
            refused.push(Refused {
                action: at.info().name.to_owned(),
                reason: format!("{key} is already the key of {}", against.info().name),
            });
        }
    }
    refused
}

fn similar(name: &str) -> String {
    let near = Action::all()
        .iter()
        .map(|info| info.name)
        .find(|known| known.starts_with(name) || name.starts_with(known) || known.contains(name));
    near.map(|near| format!("; did you mean {near:?}?"))
        .unwrap_or_default()
}
