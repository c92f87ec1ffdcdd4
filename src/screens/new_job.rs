//! A new job: a file is chosen, a form made from the code's own parameters is filled in while the
//! daemon checks it, and it is submitted.

mod begun;
mod check;
mod deck;
pub(super) mod files;
mod fill;
pub(super) mod form;
pub(super) mod schema;
pub(super) mod view;

use std::collections::BTreeMap;
use std::path::PathBuf;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::{Map, Value, json};

use super::save;
use super::{Choice, Cx, Event, Handled, Picker, Screen, ViewCx};
use crate::app::Data;
use crate::error::IpcError;
use crate::msg::Action;
use crate::rpc::types::DryRun;
use crate::submission::Source;
use crate::widgets::input::TextLine;
use deck::DeckState;
use files::Files;
pub(super) use files::absolute;
use form::{Field, Form};

const FORM_ACTIONS: &[Action] = &[
    Action::Open,
    Action::Submit,
    Action::Preview,
    Action::Select,
    Action::NextPane,
];
/// What can be done where there is a deck.
const DECK_ACTIONS: &[Action] = &[
    Action::Open,
    Action::Submit,
    Action::Preview,
    Action::OpenFile,
    Action::Save,
    Action::FindNext,
    Action::FindPrevious,
    Action::Select,
    Action::NextPane,
];
const CODES: &str = "codes";
const CLUSTERS: &str = "clusters";
const MORE: &str = "look-further";
const PICK: u32 = 1;
/// From this width on the preview stands beside the form.
const WIDE: u16 = 100;

/// What is done at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Step {
    /// The file is chosen.
    #[default]
    File,
    /// The form is filled in.
    Form,
}

/// What has the keys and, in a narrow window, what is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Pane {
    /// The form.
    #[default]
    Form,
    /// The deck with the linter's marks.
    Deck,
    /// What would be written and started.
    Plan,
}

/// The state of the screen.
#[derive(Debug, Default)]
pub struct NewJob {
    step: Step,
    files: Files,
    form: Form,
    /// The field with the cursor; one after the last is the button.
    cursor: usize,
    /// Whether anything was done in the form.
    touched: bool,
    /// What stood in the field that is written in, to go back to.
    editing: Option<TextLine>,
    /// Rises with every change; tells which answer is about what is written now.
    version: i64,
    /// The version that the faults and the preview are about.
    checked: i64,
    faults: BTreeMap<String, String>,
    whole: Option<String>,
    dry: Option<DryRun>,
    codes_error: Option<String>,
    /// The further file that is looked at.
    looking: Option<PathBuf>,
    pane: Pane,
    plan_offset: usize,
    /// The deck that would be run, where the code has one.
    deck: DeckState,
    /// The submission that is under way.
    submitting: Option<i64>,
    /// Parameters to begin with, until the codes are known that have them.
    begun: Map<String, Value>,
}

impl NewJob {
    fn field(&self) -> Option<&Field> {
        self.form.fields.get(self.cursor)
    }

    fn go(&mut self, to: usize, cx: &mut Cx<'_>) {
        self.cursor = to.min(self.form.fields.len());
        cx.redraw();
    }

    fn move_by(&mut self, by: isize, cx: &mut Cx<'_>) {
        if self.pane == Pane::Plan {
            let most = view::preview::lines(self).len().saturating_sub(1);
            self.plan_offset = self.plan_offset.saturating_add_signed(by).min(most);
            cx.redraw();
        } else {
            self.go(self.cursor.saturating_add_signed(by), cx);
        }
    }

    fn act(&mut self, action: Action, cx: &mut Cx<'_>) -> Handled {
        if self.step == Step::File {
            return Handled::No;
        }
        self.touched = true;
        // The mouse may ask for something while a field is written in; what is written stays.
        self.editing = None;
        if let Some(handled) = self.act_on_deck(action, cx) {
            return handled;
        }
        let half = (isize::from(cx.area().height.cast_signed()) / 2).max(1);
        match action {
            Action::Down | Action::NextPane => self.move_by(1, cx),
            Action::Up | Action::PreviousPane => self.move_by(-1, cx),
            Action::PageDown | Action::HalfPageDown => self.move_by(half, cx),
            Action::PageUp | Action::HalfPageUp => self.move_by(-half, cx),
            Action::Top => self.move_by(isize::MIN / 2, cx),
            Action::Bottom => self.move_by(isize::MAX / 2, cx),
            Action::Left if self.pane == Pane::Form => self.turn(-1, cx),
            Action::Right | Action::Select if self.pane == Pane::Form => self.turn(1, cx),
            Action::Open if self.pane == Pane::Form => self.enter(cx),
            Action::Submit => self.submit(cx),
            Action::Preview => self.next_pane(),
            Action::Back if self.pane != Pane::Form => self.pane = Pane::Form,
            Action::Back => self.step = Step::File,
            _ => return Handled::No,
        }
        cx.redraw();
        Handled::Yes
    }

    /// The file was looked at: on to the form.
    fn begin(&mut self, kind: crate::submission::Kind, cx: &mut Cx<'_>) {
        self.begun.clear();
        let path = self.files.typed(&cx.data().client);
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        let Some(name) = name else {
            return;
        };
        self.begin_with(
            Source {
                name,
                path: path.to_string_lossy().into_owned(),
                kind,
            },
            cx,
        );
    }

    /// On to the form of this file.
    fn begin_with(&mut self, file: Source, cx: &mut Cx<'_>) {
        self.form.begin(file);
        self.step = Step::Form;
        self.touched = false;
        self.forget_deck();
        self.read_deck(cx);
        self.go_to_open();
        self.check(cx);
    }

    /// Put the cursor on the first thing that is open: the code, else what it is to do.
    fn go_to_open(&mut self) {
        let open = self.form.fields.iter().position(|field| {
            matches!(field.spec.kind, schema::Kind::Choice(_)) && field.input.is_empty()
        });
        self.cursor = open.unwrap_or(0);
    }

    fn reply(&mut self, slot: &str, tag: i64, result: &Result<Value, IpcError>, cx: &mut Cx<'_>) {
        match slot {
            CODES => self.take_codes(result, cx),
            CLUSTERS => self.take_clusters(result, cx),
            check::CHECK => self.checked(tag, result, cx),
            check::SUBMIT => self.submitted(tag, result, cx),
            slot => self.deck_reply(slot, tag, result, cx),
        }
    }
}

impl Screen for NewJob {
    fn actions(&self) -> &'static [Action] {
        match self.step {
            Step::File => &[],
            Step::Form if self.has_deck() => DECK_ACTIONS,
            Step::Form => FORM_ACTIONS,
        }
    }

    fn hints(&self, _: &Data) -> Vec<Action> {
        self.useful()
    }

    fn all_actions(&self) -> Vec<Action> {
        DECK_ACTIONS.to_vec()
    }

    fn update(&mut self, event: &Event<'_>, cx: &mut Cx<'_>) -> Handled {
        match event {
            Event::Entered => {
                self.files.enter(cx);
                cx.ask(CODES, 0, "codes.list", json!({}));
                cx.ask(CLUSTERS, 0, "clusters.list", json!({}));
                cx.redraw();
            }
            Event::Resync => {
                cx.ask(CODES, 0, "codes.list", json!({}));
                cx.ask(CLUSTERS, 0, "clusters.list", json!({}));
                if self.step == Step::Form {
                    self.deck_again(cx);
                    self.check(cx);
                }
            }
            Event::Resized => cx.redraw(),
            Event::Begin(start) => self.begin_with_start(start, cx),
            Event::Act(action) => return self.act(*action, cx),
            Event::Edit(edit) if self.deck.save.is_some() => {
                save::edit(&mut self.deck.save, edit, cx);
            }
            Event::Edit(edit) => self.edit(edit, cx),
            Event::Returned if self.step == Step::Form => self.returned(cx),
            Event::TextRead { slot, result } => self.deck_read(slot, result, cx),
            Event::TextWritten { result, .. } => self.deck_written(result, cx),
            Event::Answered { token, yes } if *token == save::ASK_REPLACE => {
                save::answered(&mut self.deck.save, *yes, cx);
            }
            Event::Directory { slot, result } => self.files.listed(slot, result, cx),
            Event::FileSeen { slot, result } if Files::is_mine(slot) => {
                match result {
                    Ok(kind) => self.begin(*kind, cx),
                    Err(reason) => self.files.error = Some(reason.clone()),
                }
                cx.redraw();
            }
            Event::FileSeen { slot: MORE, result } => self.looked(result, cx),
            Event::Reply { slot, tag, result } => self.reply(slot, *tag, result, cx),
            Event::Picked { token: PICK, names } => {
                let key = self.field().map(|field| field.key.clone());
                if let (Some(key), [name]) = (key, *names) {
                    self.set(&key, name, cx);
                    cx.redraw();
                }
            }
            Event::Click(_, row) => self.click(*row, cx),
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn view(&self, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
        view::draw(self, area, buf, cx);
    }

    fn title(&self, _: &Data) -> String {
        match (self.step, &self.form.file) {
            (Step::Form, Some(file)) => format!("New job: {}", file.path),
            _ => "New job: choose a structure, an input or a program".into(),
        }
    }

    fn takes_text(&self) -> bool {
        self.step == Step::File || self.editing.is_some() || self.deck.save.is_some()
    }
}
