//! The description of a cluster as a form: its fields, what is written in them, and what it says to the
//! daemon. Whether it is good is for the daemon to say; it says so of each field when it is saved.

mod fields;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::act::PICK;
use super::{Clusters, form};
use crate::app::error_text;
use crate::error::IpcError;
use crate::msg::{Action, Edit, Tone};
use crate::rpc::types::{ClusterView, Reply};
use crate::screens::new_job::schema::Kind;
use crate::screens::wording::speak;
use crate::screens::{Choice, Cx, Handled, Picker, Question, answers};
use crate::widgets::input::TextLine;
pub use fields::Field;

/// The slot of a description that is being saved.
pub const SAVE: &str = "save";
/// The token of the question whether to leave what is not saved.
const ASK_LEAVE: u32 = 4;

/// The form.
#[derive(Debug)]
pub struct Editor {
    /// The cluster that is changed: its number and its name; none for a new one.
    cluster: Option<(i64, String)>,
    /// The fields, in their order.
    pub fields: Vec<Field>,
    /// The field with the cursor; one after the last is the button.
    pub cursor: usize,
    /// What stood in the field that is written in, to go back to.
    pub editing: Option<TextLine>,
    /// What is wrong, by field.
    pub faults: BTreeMap<String, String>,
    /// What is wrong with the whole.
    pub whole: Option<String>,
    /// It is being saved.
    pub saving: bool,
}

impl Editor {
    /// For a new cluster.
    #[must_use]
    pub fn new() -> Self {
        Self {
            cluster: None,
            fields: fields::all(),
            cursor: 0,
            editing: None,
            faults: BTreeMap::new(),
            whole: None,
            saving: false,
        }
    }

    /// For a cluster that is there.
    #[must_use]
    pub fn of(cluster: &ClusterView) -> Self {
        let mut editor = Self::new();
        editor.cluster = Some((cluster.id, cluster.name.clone()));
        for field in &mut editor.fields {
            let text = fields::written(field.key, cluster);
            field.input = TextLine::of(&text);
            field.before = text;
        }
        editor
    }

    /// The line over the form.
    #[must_use]
    pub fn title(&self) -> String {
        match &self.cluster {
            Some((_, name)) => format!("Cluster {name}"),
            None => "New cluster".into(),
        }
    }

    /// Whether keys are text now.
    #[must_use]
    pub const fn is_written_in(&self) -> bool {
        self.editing.is_some()
    }

    /// Whether something stands here that is not saved.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        let mut fields = self.fields.iter();
        fields.any(|field| field.input.text().trim() != field.before)
    }

    /// The method that saves it, and its params: for a cluster that is there only what changes,
    /// and null for what was emptied.
    ///
    /// # Errors
    /// The fields whose text stands for no value, each with the reason.
    pub fn params(&self) -> Result<(&'static str, Value), BTreeMap<String, String>> {
        let (mut params, mut faults) = (Map::new(), BTreeMap::new());
        for field in &self.fields {
            let text = field.input.text().trim();
            if text == field.before {
                continue;
            }
            match fields::value(field) {
                Ok(value) => {
                    params.insert(field.key.into(), value);
                }
                Err(reason) => {
                    faults.insert(field.key.to_owned(), reason);
                }
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(match &self.cluster {
            Some((id, _)) => {
                params.insert("id".into(), (*id).into());
                ("clusters.update", params.into())
            }
            None => ("clusters.create", params.into()),
        })
    }

    fn field(&self) -> Option<&Field> {
        self.fields.get(self.cursor)
    }

    fn go(&mut self, to: usize) {
        self.cursor = to.min(self.fields.len());
    }

    fn write(&mut self, text: &str) {
        let cursor = self.cursor;
        if let Some(field) = self.fields.get_mut(cursor) {
            field.input = TextLine::of(text);
            self.faults.remove(field.key);
        }
    }

    /// Take to heart what the daemon says against it.
    fn refused(&mut self, error: &IpcError) {
        self.faults.clear();
        self.whole = None;
        let IpcError::Rpc { message, data, .. } = error else {
            self.whole = Some(error_text(error));
            return;
        };
        for (name, words) in answers::faults(data, message) {
            let key = name.split('.').next().unwrap_or(name);
            if self.fields.iter().any(|field| field.key == key) {
                let words = words.strip_prefix(name).unwrap_or(words);
                let words = words.strip_prefix(": ").unwrap_or(words);
                self.faults.entry(key.to_owned()).or_insert(speak(words));
            }
        }
        if self.faults.is_empty() {
            self.whole = Some(error_text(error));
        }
        let mut fields = self.fields.iter();
        let first = fields.position(|field| self.faults.contains_key(field.key));
        self.cursor = first.unwrap_or(self.cursor);
    }
}

impl Clusters {
    pub(super) fn act_in_form(&mut self, action: Action, cx: &mut Cx<'_>) -> Handled {
        let half = usize::from(cx.area().height / 2).max(1);
        let Some(editor) = &mut self.editor else {
            return Handled::No;
        };
        // The mouse may ask for something while a field is written in; what is written stays.
        editor.editing = None;
        let at = editor.cursor;
        match action {
            Action::Down | Action::NextPane => editor.go(at + 1),
            Action::Up | Action::PreviousPane => editor.go(at.saturating_sub(1)),
            Action::PageDown | Action::HalfPageDown => editor.go(at + half),
            Action::PageUp | Action::HalfPageUp => editor.go(at.saturating_sub(half)),
            Action::Top => editor.go(0),
            Action::Bottom => editor.go(usize::MAX),
            Action::Left => editor.turn(-1),
            Action::Right | Action::Select => editor.turn(1),
            Action::Open => self.enter(cx),
            Action::Submit => self.save(cx),
            Action::Back => self.leave_form(cx),
            // Leaving the program or the screen keeps what is written for later.
            _ => return Handled::No,
        }
        cx.redraw();
        Handled::Yes
    }

    fn leave_form(&mut self, cx: &mut Cx<'_>) {
        let Some(editor) = &self.editor else { return };
        if !editor.is_changed() {
            self.editor = None;
            return self.read(cx);
        }
        let question = Question {
            title: "Leave without saving?".into(),
            lines: vec!["What was written here is then gone.".into()],
            yes: "Leave".into(),
        };
        cx.question(ASK_LEAVE, question);
    }

    /// Write in the field, choose from its list, or save.
    fn enter(&mut self, cx: &mut Cx<'_>) {
        let Some(editor) = &mut self.editor else {
            return;
        };
        let Some(field) = editor.field() else {
            return self.save(cx);
        };
        let Kind::Choice(words) = &field.kind else {
            editor.editing = Some(field.input.clone());
            return;
        };
        let choice = |word: &String| Choice {
            name: word.clone(),
            title: word.clone(),
            chosen: word == field.input.text(),
        };
        let picker = Picker {
            title: field.label.into(),
            choices: words.iter().map(choice).collect(),
            several: false,
        };
        cx.pick(PICK, picker);
    }

    pub(super) fn picked(&mut self, token: u32, names: &[String], cx: &mut Cx<'_>) {
        if let (PICK, Some(editor), [name]) = (token, &mut self.editor, names) {
            editor.write(name);
            cx.redraw();
        }
    }

    /// Whether to leave was answered.
    pub(super) fn left(&mut self, token: u32, cx: &mut Cx<'_>) {
        if token == ASK_LEAVE {
            self.editor = None;
            self.read(cx);
            cx.redraw();
        }
    }

    pub(super) fn edit(&mut self, edit: &Edit, cx: &mut Cx<'_>) {
        cx.redraw();
        let Some(editor) = &mut self.editor else {
            return;
        };
        let at = editor.cursor;
        let Some(field) = editor.fields.get_mut(at) else {
            editor.editing = None;
            return;
        };
        match edit {
            Edit::Cancel => {
                if let Some(before) = editor.editing.take() {
                    field.input = before;
                }
            }
            Edit::Submit | Edit::Next | Edit::Down => {
                editor.editing = None;
                editor.go(at + 1);
            }
            Edit::Previous | Edit::Up => {
                editor.editing = None;
                editor.go(at.saturating_sub(1));
            }
            edit => {
                if field.input.apply(edit) {
                    editor.faults.remove(field.key);
                }
            }
        }
    }

    fn save(&mut self, cx: &mut Cx<'_>) {
        let Some(editor) = &mut self.editor else {
            return;
        };
        if editor.saving {
            return;
        }
        if editor.cluster.is_some() && !editor.is_changed() {
            return cx.toast(Tone::Info, "nothing was changed");
        }
        match editor.params() {
            Ok((method, params)) => {
                editor.saving = true;
                editor.whole = None;
                cx.send(SAVE, 0, method, params);
            }
            Err(faults) => {
                editor.faults = faults;
                let mut fields = editor.fields.iter();
                let first = fields.position(|field| editor.faults.contains_key(field.key));
                editor.cursor = first.unwrap_or(editor.cursor);
                cx.toast(Tone::Warn, "something is still wrong here");
            }
        }
    }

    /// The daemon has taken the description, or not.
    pub(super) fn saved(&mut self, result: &Result<Value, IpcError>, cx: &mut Cx<'_>) {
        cx.redraw();
        match result {
            Ok(value) => {
                let reply: Reply<ClusterView> =
                    serde_json::from_value(value.clone()).unwrap_or_default();
                self.editor = None;
                self.wanted = Some(reply.data.id);
                // What was found before is about another description.
                self.reports.remove(&reply.data.id);
                let words = format!("{} is saved; a test says what works", reply.data.name);
                cx.toast(Tone::Good, words);
                self.read(cx);
            }
            Err(error) => match &mut self.editor {
                Some(editor) => {
                    editor.saving = false;
                    editor.refused(error);
                }
                None => cx.toast(Tone::Bad, format!("not saved: {}", error_text(error))),
            },
        }
    }

    pub(super) fn click(&mut self, at: (u16, u16), cx: &mut Cx<'_>) {
        cx.redraw();
        let area = cx.area();
        let Some(editor) = &mut self.editor else {
            let extent = self.extent(area);
            return self.listing.click(at, extent);
        };
        let Some(index) = form::field_at(editor, area, at.1) else {
            return;
        };
        // A click puts the cursor there; where it is already, it does what Enter does.
        let again = index == editor.cursor && editor.editing.is_none();
        editor.editing = None;
        editor.go(index);
        if again {
            self.enter(cx);
        }
    }
}

impl Editor {
    /// Change a field by one choice.
    fn turn(&mut self, by: isize) {
        let Some(Field {
            kind: Kind::Choice(words),
            input,
            ..
        }) = self.field()
        else {
            return;
        };
        let at = words.iter().position(|word| word == input.text());
        let count = words.len().cast_signed().max(1);
        let to = at.map_or(0, |at| (at.cast_signed() + by).rem_euclid(count));
        if let Some(word) = words.get(to.cast_unsigned()).cloned() {
            self.write(&word);
        }
    }
}
