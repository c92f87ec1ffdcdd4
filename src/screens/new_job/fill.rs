//! What keys and clicks do with the fields of the form.

use super::schema::Kind;
use super::{Choice, Cx, NewJob, PICK, Pane, Picker, Step, WIDE, form, view};
use crate::msg::Edit;

impl NewJob {
    /// Change a field by one choice.
    pub(super) fn turn(&mut self, by: isize, cx: &mut Cx<'_>) {
        let Some(field) = self.field() else {
            return;
        };
        if let Some(word) = field.spec.turned(field.input.text(), by) {
            let key = field.key.clone();
            self.set(&key, &word, cx);
        }
    }

    pub(super) fn set(&mut self, key: &str, text: &str, cx: &mut Cx<'_>) {
        self.form.choose(key, text);
        self.check(cx);
    }

    /// Write in the field, choose from its list, or press the button.
    pub(super) fn enter(&mut self, cx: &mut Cx<'_>) {
        let Some(field) = self.field() else {
            self.submit(cx);
            return;
        };
        match &field.spec.kind {
            Kind::Yes | Kind::Part => self.turn(1, cx),
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

    pub(super) fn edit(&mut self, edit: &Edit, cx: &mut Cx<'_>) {
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

    pub(super) fn click(&mut self, row: u16, cx: &mut Cx<'_>) {
        match self.step {
            Step::File => {
                if let Some(line) = row.checked_sub(view::files::ABOVE) {
                    let rows = view::files::rows(cx.area());
                    self.files.click(usize::from(line), rows, cx);
                }
            }
            Step::Form if self.pane != Pane::Form && cx.area().width < WIDE => {}
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
