//! The deck of a new job: what stands in the chosen file, or what the daemon writes for the chosen
//! structure; with the linter's marks, and opened in the user's editor.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::form::{CODE, Form};
use super::{NewJob, Pane, schema, view};
use crate::error::IpcError;
use crate::msg::{Action, Program, Tone, Unwritten};
use crate::rpc::types::{D12Result, Reply};
use crate::screens::save::{self, Save};
use crate::screens::{Cx, Handled, answers, deck};
use crate::submission::{Kind, Source};

const GENERATE: &str = "materials.generate_d12";
const DISCOVER: &str = "rpc.discover";
/// The slot of the file of the deck that is being read.
const READ: &str = "deck-text";
/// Whose decks are shown.
const CRYSTAL: &str = "crystal";
/// What the names of those end with that the linter knows.
const LINTED: &str = "d12";

/// How it stands with the deck.
#[derive(Debug, Default)]
pub(super) struct DeckState {
    /// The deck with its marks.
    pub shown: deck::Deck,
    /// The version of the form that it was written for.
    pub written_for: i64,
    /// Why there is none.
    pub missing: Option<String>,
    /// A geometry file goes with it.
    with_gui: bool,
    /// Its file is being read, and whether it has to be read once more.
    reading: Option<bool>,
    /// The options of a deck were asked for.
    options_asked: bool,
    /// The deck as it is written to a file.
    pub save: Option<Save>,
    /// It is to be opened in the editor once it is saved.
    edit_saved: bool,
}

impl Form {
    /// The file of the deck that would be run, if one was chosen.
    pub(super) fn deck_file(&self) -> Option<&Source> {
        let file = self.file.as_ref()?;
        (self.text(CODE) == CRYSTAL && file.kind == Kind::CrystalDeck).then_some(file)
    }

    /// The template that is filled in, if it is one.
    pub(super) fn template_id(&self) -> Option<&str> {
        let file = self.file.as_ref()?;
        (file.kind == Kind::Template).then_some(file.path.as_str())
    }

    /// Whether the daemon makes the deck, of a structure or of a template.
    fn gets_deck(&self) -> bool {
        self.writes_deck() || (self.text(CODE) == CRYSTAL && self.template_id().is_some())
    }
}

impl NewJob {
    /// Whether the job has a deck of CRYSTAL, or gets one.
    pub(super) fn has_deck(&self) -> bool {
        self.form.deck_file().is_some() || self.form.gets_deck()
    }

    /// Whether what is shown belongs to what is written in the form.
    pub(super) fn deck_is_current(&self) -> bool {
        let deck = &self.deck;
        !deck.shown.is_empty()
            && deck.missing.is_none()
            && (!self.form.gets_deck() || deck.written_for == self.version)
    }

    pub(super) fn forget_deck(&mut self) {
        let deck = &mut self.deck;
        deck.shown.clear();
        deck.missing = None;
        deck.with_gui = false;
        deck.save = None;
        // A read that is under way is of another file now.
        deck.reading = deck.reading.map(|_| true);
        self.pane = Pane::Form;
    }

    pub(super) fn next_pane(&mut self) {
        self.plan_offset = 0;
        self.pane = match self.pane {
            Pane::Form if self.has_deck() => Pane::Deck,
            Pane::Form | Pane::Deck => Pane::Plan,
            Pane::Plan => Pane::Form,
        };
    }

    /// Read the file of the deck, if there is one.
    pub(super) fn read_deck(&mut self, cx: &mut Cx<'_>) {
        let Some(path) = self.form.deck_file().map(|file| PathBuf::from(&file.path)) else {
            return;
        };
        let again = self.deck.reading.is_some();
        self.deck.reading = Some(again);
        if !again {
            cx.read_text(READ, path);
        }
    }

    /// The file of the deck was read.
    pub(super) fn deck_read(
        &mut self,
        slot: &str,
        result: &Result<String, String>,
        cx: &mut Cx<'_>,
    ) {
        if slot != READ {
            return;
        }
        if self.deck.reading.take() == Some(true) {
            return self.read_deck(cx);
        }
        let Some(file) = self.form.deck_file() else {
            return;
        };
        let ending = Path::new(&file.name).extension().unwrap_or_default();
        let linted = ending.eq_ignore_ascii_case(LINTED);
        let path = file.path.clone();
        let deck = &mut self.deck;
        deck.missing = result.as_ref().err().cloned();
        match result {
            Ok(text) if linted => deck.shown.show(text, CRYSTAL, cx),
            // A deck of properties belongs to the one of the wave function beside it.
            Ok(text) => deck.shown.show_file(text, &path, cx),
            Err(_) => deck.shown.clear(),
        }
        cx.redraw();
    }

    /// The form was checked: the deck of the dry run, or the same one without a program to run it.
    pub(super) fn find_deck(&mut self, error: Option<&IpcError>, cx: &mut Cx<'_>) {
        if !self.form.gets_deck() {
            return;
        }
        if let Some(dry) = &self.dry {
            let ends = |path: &str, ending: &str| {
                let found = Path::new(path).extension().unwrap_or_default();
                found.eq_ignore_ascii_case(ending)
            };
            let mut files = dry.files.iter();
            let found = files.find(|file| ends(&file.path, LINTED));
            let text = found.and_then(|file| file.content.clone());
            let with_gui = dry.files.iter().any(|file| ends(&file.path, "gui"));
            return self.show_written(text, with_gui, cx);
        }
        let about_deck = |field: &str| {
            let begins = |name: &str| field == name || field.starts_with(&format!("{name}."));
            begins("structure") || begins("inputs.options")
        };
        let is_template = self.form.template_id().is_some();
        if is_template || error.is_some_and(|error| fields_of(error).any(about_deck)) {
            self.deck.missing = Some("to be seen when everything is right".into());
            return;
        }
        let Ok(params) = self.form.params(&cx.data().client) else {
            return;
        };
        let mut asked = json!({"structure": params["structure"]});
        if params["inputs"]["options"].is_object() {
            asked["options"] = params["inputs"]["options"].clone();
        }
        cx.ask(GENERATE, self.version, GENERATE, asked);
    }

    fn show_written(&mut self, text: Option<String>, with_gui: bool, cx: &mut Cx<'_>) {
        let deck = &mut self.deck;
        deck.written_for = self.version;
        deck.with_gui = with_gui;
        match text {
            Some(text) => {
                deck.missing = None;
                deck.shown.show(&text, CRYSTAL, cx);
            }
            None => deck.missing = Some("the daemon names no deck".into()),
        }
    }

    /// Ask for the options that a deck can have, once.
    pub(super) fn ask_options(&mut self, cx: &mut Cx<'_>) {
        if self.form.wants_options() && !self.deck.options_asked {
            self.deck.options_asked = true;
            cx.ask(DISCOVER, 0, DISCOVER, json!({}));
        }
    }

    pub(super) fn deck_reply(
        &mut self,
        slot: &str,
        tag: i64,
        result: &Result<Value, IpcError>,
        cx: &mut Cx<'_>,
    ) {
        match slot {
            DISCOVER => self.take_options(result, cx),
            GENERATE if tag == self.version => {
                match answers::read::<Reply<D12Result>>(GENERATE, result) {
                    Ok(reply) => {
                        let with_gui = reply.data.gui.is_some();
                        self.show_written(Some(reply.data.d12), with_gui, cx);
                    }
                    Err(error) => self.deck.missing = Some(error),
                }
                cx.redraw();
            }
            slot => {
                self.deck.shown.reply(slot, tag, result, cx);
            }
        }
    }

    /// Without them the options are written as a whole.
    fn take_options(&mut self, result: &Result<Value, IpcError>, cx: &mut Cx<'_>) {
        let Ok(document) = result else { return };
        let Some(options) = schema::of_method(document, GENERATE, "options") else {
            return;
        };
        let here = self.field().map(|field| field.key.clone());
        self.form.take_options(options);
        self.keep_place(here.as_deref());
        self.check(cx);
    }

    /// The connection is back.
    pub(super) fn deck_again(&mut self, cx: &mut Cx<'_>) {
        self.deck.options_asked = false;
        self.deck.shown.ask_again(cx);
    }

    /// A program gave the terminal back: the file may be another one.
    pub(super) fn returned(&mut self, cx: &mut Cx<'_>) {
        if self.form.deck_file().is_some() {
            self.read_deck(cx);
            self.check(cx);
        }
    }

    /// What actions mean for the deck; nothing where they mean something for the form.
    pub(super) fn act_on_deck(&mut self, action: Action, cx: &mut Cx<'_>) -> Option<Handled> {
        if !self.has_deck() {
            return None;
        }
        match action {
            Action::OpenFile => self.open_deck(cx),
            Action::Save => self.save_deck(false, cx),
            Action::FindNext | Action::FindPrevious => {
                self.pane = Pane::Deck;
                let area = view::deck_area(cx.area());
                self.deck.shown.act(action, area);
            }
            action if self.pane == Pane::Deck => {
                let area = view::deck_area(cx.area());
                if self.deck.shown.act(action, area) == Handled::No {
                    return None;
                }
            }
            _ => return None,
        }
        cx.redraw();
        Some(Handled::Yes)
    }

    /// Open the file of the deck in the editor; one that is only written here has to be saved first.
    fn open_deck(&mut self, cx: &mut Cx<'_>) {
        let Some(file) = self.form.deck_file() else {
            return self.save_deck(true, cx);
        };
        edit(Path::new(&file.path), cx);
    }

    fn save_deck(&mut self, to_edit: bool, cx: &mut Cx<'_>) {
        if let Some(file) = self.form.deck_file() {
            let words = format!("it is a file already: {}", file.path);
            return cx.toast(Tone::Info, words);
        }
        if !self.deck_is_current() {
            return cx.toast(Tone::Warn, "there is no deck yet");
        }
        if self.deck.with_gui {
            let words =
                "an EXTERNAL deck is two files: crystalmath d12 STRUCTURE -o FILE writes both";
            return cx.toast(Tone::Warn, words);
        }
        let file = self.form.file.as_ref();
        let stem = file.and_then(|file| Path::new(&file.name).file_stem());
        let stem = stem.unwrap_or_default().to_string_lossy();
        let title = if to_edit {
            "Save the deck, then edit it"
        } else {
            "Save the deck"
        };
        let name = format!("{stem}.{LINTED}");
        self.deck.save = Some(Save::new(title, &name, self.deck.shown.text()));
        self.deck.edit_saved = to_edit;
    }

    /// The deck was written to a file, or not.
    pub(super) fn deck_written(&mut self, result: &Result<(), Unwritten>, cx: &mut Cx<'_>) {
        let Some(path) = save::written(&mut self.deck.save, result, cx) else {
            return;
        };
        if !std::mem::take(&mut self.deck.edit_saved) {
            return;
        }
        let name = path.file_name().unwrap_or_default();
        let file = Source {
            name: name.to_string_lossy().into_owned(),
            path: path.to_string_lossy().into_owned(),
            kind: Kind::CrystalDeck,
        };
        // From now on the job is about this deck.
        self.form.replace_file(file);
        self.cursor = self.cursor.min(self.form.fields.len());
        self.pane = Pane::Deck;
        edit(&path, cx);
        self.check(cx);
    }

    /// Why the deck must not be run as it is.
    pub(super) fn deck_forbids(&self) -> Option<String> {
        if !self.has_deck() {
            return None;
        }
        let shown = &self.deck.shown;
        let missing = self.deck.missing.is_some();
        if self.deck.reading.is_some() && self.form.deck_file().is_some() {
            return Some("the deck is still being read".into());
        }
        if !self.deck_is_current() && !missing {
            // What is wrong in the form is said by itself.
            let waits = self.checked == self.version && !self.faults.is_empty();
            return (!waits && self.whole.is_none())
                .then(|| "the deck is still being written".into());
        }
        if shown.is_asked() {
            return Some("the linter still looks at the deck".into());
        }
        match shown.errors() {
            0 => None,
            1 => Some("the linter finds an error in the deck".into()),
            count => Some(format!("the linter finds {count} errors in the deck")),
        }
    }

    /// The actions that are of use now.
    pub(super) fn useful(&self) -> Vec<Action> {
        let of_use = |action: &Action| match action {
            Action::Save => self.form.deck_file().is_none(),
            Action::FindNext => self.deck.shown.has_marks(),
            Action::FindPrevious => false,
            Action::Open | Action::Select => self.pane == Pane::Form,
            _ => true,
        };
        let actions = crate::screens::Screen::actions(self);
        actions.iter().copied().filter(of_use).collect()
    }
}

fn edit(path: &Path, cx: &mut Cx<'_>) {
    let folder = path.parent().unwrap_or(Path::new("/"));
    cx.run(Program::Editor(path.to_owned()), folder.to_owned());
}

/// The fields that an error is about.
fn fields_of(error: &IpcError) -> impl Iterator<Item = &str> {
    let listed = match error {
        IpcError::Rpc { data, .. } => data["fields"].as_array(),
        _ => None,
    };
    let listed = listed.into_iter().flatten();
    let named = listed.filter_map(|one| one["field"].as_str());
    named.chain(error.field())
}
