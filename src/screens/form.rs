//! A form made of the parameters of a schema: what is written in each, what is wrong, moving about, and
//! the value that the whole stands for. Whether it is good is for the daemon to say.
//!
//! Names have dots where objects stand in objects. A part of the schema, like `optgeom`, switches its
//! parameters on, like `optgeom.type`: they are seen, and count, while it is `yes`.

mod draw;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::new_job::schema::{self, Kind, Spec};
use super::wording::speak;
use super::{Choice, Cx, Picker, answers};
use crate::app::error_text;
use crate::error::IpcError;
use crate::msg::{Action, Edit};
use crate::widgets::input::TextLine;
pub use draw::Around;

/// One field.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// What it is and takes.
    pub spec: Spec,
    /// What is written.
    pub input: TextLine,
}

/// The form.
#[derive(Debug, Default)]
pub struct Form {
    fields: Vec<Field>,
    /// The field with the cursor, among those that are seen; one after the last is the button.
    cursor: usize,
    /// What stood in the field that is written in, to go back to.
    editing: Option<TextLine>,
    /// What is wrong, by name.
    pub faults: BTreeMap<String, String>,
    /// What is wrong with the whole.
    pub whole: Option<String>,
    /// How a choice of a field is read in its list, where its word alone does not say enough.
    pub titles: BTreeMap<(String, String), String>,
}

/// What became of an action or a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Done {
    /// It means nothing here.
    No,
    /// The cursor moved, or text is typed that is not taken yet.
    Moved,
    /// Something else is written now.
    Changed,
    /// The button was pressed.
    Pressed,
}

impl Form {
    /// With these parameters, empty.
    #[must_use]
    pub fn of(specs: Vec<Spec>) -> Self {
        let fields = specs.into_iter().map(|spec| Field {
            spec,
            input: TextLine::default(),
        });
        Self {
            fields: fields.collect(),
            ..Self::default()
        }
    }

    /// Have these parameters instead; what is written in those that stay stays, and so does the cursor.
    pub fn change(&mut self, specs: Vec<Spec>) {
        let here = self.field().map(|field| field.spec.name.clone());
        let on_button = here.is_none() && !self.fields.is_empty();
        let mut before = std::mem::take(&mut self.fields);
        let fields = specs.into_iter().map(|spec| {
            let same = |old: &Field| old.spec.name == spec.name;
            let at = before.iter().position(same);
            let input = at.map(|at| before.swap_remove(at).input);
            Field {
                input: input.unwrap_or_default(),
                spec,
            }
        });
        self.fields = fields.collect();
        let stays = |(_, field): (usize, &Field)| Some(&field.spec.name) == here.as_ref();
        let at = self.shown().position(stays);
        let count = self.shown().count();
        self.cursor = at.unwrap_or(if on_button {
            count
        } else {
            self.cursor.min(count)
        });
        let known = &self.fields;
        self.faults
            .retain(|name, _| known.iter().any(|field| field.spec.name == *name));
    }

    /// Write something into a field.
    pub fn write(&mut self, name: &str, text: &str) {
        if let Some(field) = self.fields.iter_mut().find(|field| field.spec.name == name) {
            field.input = TextLine::of(text);
        }
    }

    /// What is in force in a field: what is written, else its default; empty where there is none.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        self.named(name).map_or("", Field::text)
    }

    /// Whether there are no parameters.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Its parameters.
    pub fn specs(&self) -> impl Iterator<Item = &Spec> {
        self.fields.iter().map(|field| &field.spec)
    }

    /// Whether keys are text now.
    #[must_use]
    pub const fn is_written_in(&self) -> bool {
        self.editing.is_some()
    }

    /// Whether something is written.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        self.fields.iter().any(|field| !field.input.is_empty())
    }

    /// The fields that are seen.
    fn shown(&self) -> impl Iterator<Item = (usize, &Field)> {
        let fields = self.fields.iter().enumerate();
        fields.filter(|(_, field)| self.is_on(&field.spec.name))
    }

    /// Whether every switch that a name stands under is on.
    fn is_on(&self, name: &str) -> bool {
        let dots = name.match_indices('.').map(|(at, _)| &name[..at]);
        dots.map(|above| self.named(above))
            .all(|switch| switch.is_none_or(|field| field.text() == "yes"))
    }

    fn named(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.spec.name == name)
    }

    /// The field with the cursor; none on the button.
    #[must_use]
    pub fn field(&self) -> Option<&Field> {
        self.shown().nth(self.cursor).map(|(_, field)| field)
    }

    fn field_mut(&mut self) -> Option<&mut Field> {
        let index = self.shown().nth(self.cursor)?.0;
        self.fields.get_mut(index)
    }

    /// The value that the form stands for: what is written, and nothing of what is left to the daemon.
    ///
    /// # Errors
    /// The fields whose text stands for no value, each with the reason.
    pub fn values(&self) -> Result<Map<String, Value>, BTreeMap<String, String>> {
        let (mut values, mut faults) = (Map::new(), BTreeMap::new());
        for (_, field) in self.shown() {
            let name = &field.spec.name;
            match schema::value(&field.spec.kind, field.input.text()) {
                Ok(None) => {}
                Ok(Some(value)) => schema::put(&mut values, name, value),
                Err(reason) => {
                    faults.insert(name.clone(), reason);
                }
            }
        }
        if faults.is_empty() {
            Ok(values)
        } else {
            Err(faults)
        }
    }

    /// What the daemon refuses: below the field that it names without `prefix`, else as a whole.
    pub fn refused(&mut self, error: &IpcError, prefix: &str) {
        self.faults.clear();
        self.whole = None;
        let IpcError::Rpc { message, data, .. } = error else {
            self.whole = Some(error_text(error));
            return;
        };
        let hint = error.hint().as_deref().map(speak);
        for (path, words) in answers::faults(data, message) {
            // The field says its own name already.
            let words = words.strip_prefix(path).map_or(words, |rest| {
                rest.trim_start_matches(": ").trim_start_matches(' ')
            });
            let words = with_hint(&speak(words), hint.as_deref());
            match self.owner(path.strip_prefix(prefix).unwrap_or(path)) {
                Some(name) => {
                    self.faults.entry(name).or_insert(words);
                }
                None => self.whole = Some(words),
            }
        }
    }

    /// The parameter that a path of the daemon is about: itself, or what it stands in.
    fn owner(&self, path: &str) -> Option<String> {
        let shown = self.shown().map(|(_, field)| &field.spec.name);
        let owns = |name: &&String| {
            let rest = path.strip_prefix(name.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let owner = shown.filter(owns).max_by_key(|name| name.len());
        owner.cloned()
    }

    /// Put the cursor on the first field with a fault.
    pub fn go_to_fault(&mut self) {
        let wrong = |(_, field): (usize, &Field)| self.faults.contains_key(&field.spec.name);
        let at = self.shown().position(wrong);
        self.cursor = at.unwrap_or(self.cursor);
    }

    fn go(&mut self, to: usize) {
        self.cursor = to.min(self.shown().count());
    }

    /// Do what a key asks for; a list to choose from is opened with `token`.
    pub fn act(&mut self, action: Action, token: u32, cx: &mut Cx<'_>) -> Done {
        // The mouse may ask for something while a field is written in; what is written stays.
        self.editing = None;
        let half = (usize::from(cx.area().height) / 2).max(1);
        let at = self.cursor;
        cx.redraw();
        match action {
            Action::Down | Action::NextPane => self.go(at + 1),
            Action::Up | Action::PreviousPane => self.go(at.saturating_sub(1)),
            Action::PageDown | Action::HalfPageDown => self.go(at + half),
            Action::PageUp | Action::HalfPageUp => self.go(at.saturating_sub(half)),
            Action::Top => self.go(0),
            Action::Bottom => self.go(usize::MAX),
            Action::Left => return self.turn(-1),
            Action::Right | Action::Select => return self.turn(1),
            Action::Open => return self.enter(token, cx),
            _ => return Done::No,
        }
        Done::Moved
    }

    /// Change a field by one choice.
    fn turn(&mut self, by: isize) -> Done {
        let Some(field) = self.field_mut() else {
            return Done::Moved;
        };
        let Some(word) = field.spec.turned(field.input.text(), by) else {
            return Done::Moved;
        };
        field.input = TextLine::of(&word);
        self.changed()
    }

    fn changed(&mut self) -> Done {
        if let Some(name) = self.field().map(|field| field.spec.name.clone()) {
            self.faults.remove(&name);
        }
        self.whole = None;
        Done::Changed
    }

    /// Write in the field, choose from its list, or press the button.
    fn enter(&mut self, token: u32, cx: &mut Cx<'_>) -> Done {
        let Some(field) = self.field() else {
            return Done::Pressed;
        };
        let Kind::Choice(words) = &field.spec.kind else {
            if matches!(field.spec.kind, Kind::Yes | Kind::Part) {
                return self.turn(1);
            }
            self.editing = Some(field.input.clone());
            return Done::Moved;
        };
        let title = |word: &String| {
            let key = (field.spec.name.clone(), word.clone());
            self.titles.get(&key).unwrap_or(word).clone()
        };
        let choice = |word: &String| Choice {
            name: word.clone(),
            title: title(word),
            chosen: word == field.text(),
        };
        let mut choices: Vec<Choice> = words.iter().map(choice).collect();
        if !field.spec.required && field.spec.default.is_none() {
            let none = Choice {
                name: String::new(),
                title: "as it is decided".into(),
                chosen: field.input.is_empty(),
            };
            choices.insert(0, none);
        }
        let picker = Picker {
            title: field.spec.label.clone(),
            choices,
            several: false,
        };
        cx.pick(token, picker);
        Done::Moved
    }

    /// What the list to choose from was answered with.
    pub fn picked(&mut self, names: &[String]) -> Done {
        let (Some(field), [name]) = (self.field_mut(), names) else {
            return Done::No;
        };
        field.input = TextLine::of(name);
        self.changed()
    }

    /// A change to the text of the field that is written in.
    pub fn edit(&mut self, edit: &Edit) -> Done {
        let at = self.cursor;
        let editing = self.editing.take();
        let Some(field) = self.field_mut() else {
            return Done::Moved;
        };
        match edit {
            Edit::Cancel => {
                if let Some(before) = editing {
                    field.input = before;
                }
                return self.changed();
            }
            Edit::Submit | Edit::Next | Edit::Down => self.go(at + 1),
            Edit::Previous | Edit::Up => self.go(at.saturating_sub(1)),
            edit => {
                let changed = field.input.apply(edit);
                self.editing = editing;
                if changed {
                    return self.changed();
                }
            }
        }
        Done::Moved
    }
}

impl Field {
    /// What is in force: what is written, else the default.
    fn text(&self) -> &str {
        let written = Some(self.input.text()).filter(|text| !text.is_empty());
        written.or(self.spec.default.as_deref()).unwrap_or_default()
    }
}

fn with_hint(words: &str, hint: Option<&str>) -> String {
    match hint {
        Some(hint) if !words.contains(hint) => format!("{words} ({hint})"),
        _ => words.to_owned(),
    }
}
