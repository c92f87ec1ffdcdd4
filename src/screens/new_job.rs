//! A new job: a file is chosen, a form made from the code's own parameters is filled in while the
//! daemon checks it, and it is submitted.

mod begun;
mod check;
pub(super) mod files;
mod form;
pub(super) mod schema;
pub(super) mod view;

use std::collections::BTreeMap;
use std::path::PathBuf;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::{Map, Value, json};

use super::{Choice, Cx, Event, Handled, Picker, Screen, ViewCx};
use crate::app::Data;
use crate::error::IpcError;
use crate::msg::{Action, Edit};
use crate::rpc::types::DryRun;
use crate::submission::Source;
use crate::widgets::input::TextLine;
use files::Files;
use form::{Field, Form};
use schema::Kind;

const FORM_ACTIONS: &[Action] = &[
    Action::Open,
    Action::Submit,
    Action::Preview,
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
    preview: bool,
    preview_offset: usize,
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
        if self.preview && cx.area().width < WIDE {
            let most = view::preview::lines(self).len().saturating_sub(1);
            self.preview_offset = self.preview_offset.saturating_add_signed(by).min(most);
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
        let half = (isize::from(cx.area().height.cast_signed()) / 2).max(1);
        match action {
            Action::Down | Action::NextPane => self.move_by(1, cx),
            Action::Up | Action::PreviousPane => self.move_by(-1, cx),
            Action::PageDown | Action::HalfPageDown => self.move_by(half, cx),
            Action::PageUp | Action::HalfPageUp => self.move_by(-half, cx),
            Action::Top => self.move_by(isize::MIN / 2, cx),
            Action::Bottom => self.move_by(isize::MAX / 2, cx),
            Action::Left => self.turn(-1, cx),
            Action::Right | Action::Select => self.turn(1, cx),
            Action::Open => self.enter(cx),
            Action::Submit => self.submit(cx),
            Action::Preview => {
                self.preview ^= true;
                self.preview_offset = 0;
            }
            Action::Back if self.preview => self.preview = false,
            Action::Back => self.step = Step::File,
            _ => return Handled::No,
        }
        cx.redraw();
        Handled::Yes
    }

    /// Change a field by one choice.
    fn turn(&mut self, by: isize, cx: &mut Cx<'_>) {
        let Some(field) = self.field() else {
            return;
        };
        let words: Vec<String> = match &field.spec.kind {
            Kind::Choice(words) => words.clone(),
            Kind::Yes => vec!["no".into(), "yes".into()],
            _ => return,
        };
        // What is in force when nothing is written counts as the place to turn from.
        let written = Some(field.input.text()).filter(|text| !text.is_empty());
        let now = written.or(field.spec.default.as_deref());
        let at = now.and_then(|now| words.iter().position(|word| word == now));
        let count = words.len().cast_signed().max(1);
        let to = match at {
            Some(at) => (at.cast_signed() + by).rem_euclid(count),
            None if by < 0 => count - 1,
            None => 0,
        };
        let key = field.key.clone();
        if let Some(word) = words.get(to.cast_unsigned()) {
            self.set(&key, word, cx);
        }
    }

    fn set(&mut self, key: &str, text: &str, cx: &mut Cx<'_>) {
        self.form.choose(key, text);
        self.check(cx);
    }

    /// Write in the field, choose from its list, or press the button.
    fn enter(&mut self, cx: &mut Cx<'_>) {
        let Some(field) = self.field() else {
            self.submit(cx);
            return;
        };
        match &field.spec.kind {
            Kind::Yes => self.turn(1, cx),
            Kind::Choice(words) => {
                let choice = |word: &String| Choice {
                    name: word.clone(),
                    title: self.title_of(&field.key, word),
                    chosen: word == field.input.text(),
                };
                let mut choices = Vec::new();
                if field.key != form::CODE && !field.spec.required {
                    choices.push(Choice {
                        name: String::new(),
                        title: if field.key == form::CLUSTER {
                            "this machine".into()
                        } else {
                            "as the code decides".into()
                        },
                        chosen: field.input.is_empty(),
                    });
                }
                choices.extend(words.iter().map(choice));
                let picker = Picker {
                    title: field.spec.label.clone(),
                    choices,
                    several: false,
                };
                cx.pick(PICK, picker);
            }
            _ => self.editing = Some(field.input.clone()),
        }
    }

    /// A choice as it is read; codes say what they are.
    fn title_of(&self, key: &str, word: &str) -> String {
        let code = self.form.codes.iter().find(|code| code.name == word);
        match code.filter(|_| key == form::CODE) {
            Some(code) => {
                let problem = code.problem.as_ref().filter(|_| !code.usable);
                let problem = problem.map(|why| format!(" (cannot run: {why})"));
                format!("{word:10} {}{}", code.title, problem.unwrap_or_default())
            }
            None => word.to_owned(),
        }
    }

    fn edit(&mut self, edit: &Edit, cx: &mut Cx<'_>) {
        if self.step == Step::File {
            if *edit == Edit::Cancel {
                cx.close();
            } else {
                let rows = view::files::rows(cx.area());
                self.files.edit(edit, rows, cx);
            }
            return;
        }
        cx.redraw();
        let Some(field) = self.form.fields.get_mut(self.cursor) else {
            self.editing = None;
            return;
        };
        match edit {
            Edit::Cancel => {
                if let Some(before) = self.editing.take() {
                    field.input = before;
                }
                self.check(cx);
            }
            Edit::Submit | Edit::Next | Edit::Down => {
                self.editing = None;
                self.go(self.cursor + 1, cx);
            }
            Edit::Previous | Edit::Up => {
                self.editing = None;
                self.go(self.cursor.saturating_sub(1), cx);
            }
            edit => {
                if field.input.apply(edit) {
                    self.check(cx);
                }
            }
        }
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
        self.form.begin(Source {
            name,
            path: path.to_string_lossy().into_owned(),
            kind,
        });
        self.step = Step::Form;
        self.touched = false;
        self.go_to_open();
        self.check(cx);
    }

    /// Put the cursor on the first thing that is open: the code, else what it is to do.
    fn go_to_open(&mut self) {
        let open =
            self.form.fields.iter().position(|field| {
                matches!(field.spec.kind, Kind::Choice(_)) && field.input.is_empty()
            });
        self.cursor = open.unwrap_or(0);
    }

    fn reply(&mut self, slot: &str, tag: i64, result: &Result<Value, IpcError>, cx: &mut Cx<'_>) {
        match slot {
            CODES => self.take_codes(result, cx),
            CLUSTERS => self.take_clusters(result, cx),
            check::CHECK => self.checked(tag, result, cx),
            check::SUBMIT => self.submitted(tag, result, cx),
            _ => {}
        }
    }
}

impl Screen for NewJob {
    fn actions(&self) -> &'static [Action] {
        match self.step {
            Step::File => &[],
            Step::Form => FORM_ACTIONS,
        }
    }

    fn all_actions(&self) -> Vec<Action> {
        FORM_ACTIONS.to_vec()
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
                    self.check(cx);
                }
            }
            Event::Resized => cx.redraw(),
            Event::Begin(start) => self.begin_with_start(start, cx),
            Event::Act(action) => return self.act(*action, cx),
            Event::Edit(edit) => self.edit(edit, cx),
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
        self.step == Step::File || self.editing.is_some()
    }
}

impl NewJob {
    fn click(&mut self, row: u16, cx: &mut Cx<'_>) {
        match self.step {
            Step::File => {
                if let Some(line) = row.checked_sub(view::files::ABOVE) {
                    let rows = view::files::rows(cx.area());
                    self.files.click(usize::from(line), rows, cx);
                }
            }
            Step::Form if self.preview && cx.area().width < WIDE => {}
            Step::Form => {
                let clicked = view::field_at(self, cx.area(), row);
                if let Some(index) = clicked {
                    self.click_field(index, cx);
                }
            }
        }
    }

    /// A click puts the cursor there; where it is already, it does what Enter does.
    fn click_field(&mut self, index: usize, cx: &mut Cx<'_>) {
        let again = index == self.cursor && self.editing.is_none();
        self.editing = None;
        self.touched = true;
        self.go(index, cx);
        if again {
            self.enter(cx);
        }
    }
}
