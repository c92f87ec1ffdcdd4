//! What keys and clicks do with templates.

use super::fill::{Filler, PICK, Pane};
use super::{Templates, view};
use crate::msg::{Action, Edit, Tone};
use crate::rpc::types::TemplateKind;
use crate::screens::form::Done;
use crate::screens::save::{self, Save};
use crate::screens::{Cx, Handled, Start};
use crate::submission::{Kind, Source};

/// What can be done in the list, in the order of the footer.
pub(super) const LISTED: &[Action] = &[Action::Open, Action::Copy];
/// What can be done with a template that is filled in.
pub(super) const FORM: &[Action] = &[
    Action::Open,
    Action::Submit,
    Action::Preview,
    Action::Save,
    Action::FindNext,
    Action::FindPrevious,
    Action::NextFile,
    Action::PreviousFile,
    Action::Select,
    Action::NextPane,
];

impl Templates {
    /// The actions that are of use now.
    pub(super) fn useful(&self) -> Vec<Action> {
        let Some(filler) = &self.filler else {
            let usable = self.current().is_some_and(|row| row.problem.is_none());
            let of_use = |action: &&Action| match action {
                Action::Open => usable,
                _ => !self.rows.is_empty(),
            };
            return LISTED.iter().filter(of_use).copied().collect();
        };
        let files = filler
            .result
            .as_ref()
            .map_or(0, |result| result.files.len());
        let of_use = |action: &&Action| match action {
            Action::Open | Action::Select => filler.pane == Pane::Form,
            Action::Submit => is_input(filler),
            Action::FindNext => filler.deck.has_marks(),
            Action::FindPrevious | Action::PreviousFile => false,
            Action::NextFile => files > 1,
            _ => true,
        };
        FORM.iter().filter(of_use).copied().collect()
    }

    pub(super) fn act(&mut self, action: Action, cx: &mut Cx<'_>) -> Handled {
        if self.filler.is_some() {
            return self.act_in_form(action, cx);
        }
        match action {
            Action::Open => self.open(cx),
            Action::Copy => {
                if let Some(template) = self.current() {
                    cx.copy("name", &template.id.clone());
                }
            }
            action => return self.movement(action, cx),
        }
        Handled::Yes
    }

    /// Fill the template with the cursor in.
    fn open(&mut self, cx: &mut Cx<'_>) {
        let Some(template) = self.current() else {
            return;
        };
        if let Some(problem) = &template.problem {
            let words = format!("{} cannot be used: {}", template.id, problem.message);
            return cx.toast(Tone::Warn, words);
        }
        self.filler = Some(Filler::new(template));
        self.changed(cx);
    }

    fn act_in_form(&mut self, action: Action, cx: &mut Cx<'_>) -> Handled {
        let area = cx.area();
        let Some(filler) = &mut self.filler else {
            return Handled::No;
        };
        cx.redraw();
        match action {
            Action::Preview => {
                filler.pane = match filler.pane {
                    Pane::Form => Pane::Text,
                    Pane::Text => Pane::Form,
                };
            }
            Action::Back if filler.pane == Pane::Text => filler.pane = Pane::Form,
            // What is written is soon written again; nothing is lost that the daemon has.
            Action::Back => self.filler = None,
            Action::Submit => self.submit(cx),
            Action::Save => self.save(cx),
            Action::NextFile => filler.show(filler.file + 1),
            Action::PreviousFile => filler.show(filler.file.saturating_sub(1)),
            Action::FindNext | Action::FindPrevious => {
                filler.pane = Pane::Text;
                return filler.deck.act(action, view::text_area(filler, area));
            }
            action if filler.pane == Pane::Text => {
                return filler.deck.act(action, view::text_area(filler, area));
            }
            action => {
                let done = filler.form.act(action, PICK, cx);
                return self.after(done, cx);
            }
        }
        Handled::Yes
    }

    fn after(&mut self, done: Done, cx: &mut Cx<'_>) -> Handled {
        match done {
            Done::No => return Handled::No,
            Done::Moved => {}
            Done::Changed => self.changed(cx),
            Done::Pressed => self.submit(cx),
        }
        Handled::Yes
    }

    pub(super) fn edit(&mut self, edit: &Edit, cx: &mut Cx<'_>) {
        let Some(filler) = &mut self.filler else {
            return;
        };
        cx.redraw();
        if filler.save.is_some() {
            return save::edit(&mut filler.save, edit, cx);
        }
        let done = filler.form.edit(edit);
        self.after(done, cx);
    }

    pub(super) fn picked(&mut self, names: &[String], cx: &mut Cx<'_>) {
        cx.redraw();
        if let Some(filler) = &mut self.filler {
            let done = filler.form.picked(names);
            self.after(done, cx);
        }
    }

    pub(super) fn click(&mut self, at: (u16, u16), cx: &mut Cx<'_>) {
        cx.redraw();
        let area = cx.area();
        let Some(filler) = &mut self.filler else {
            let extent = self.extent(area);
            return self.listing.click(at, extent);
        };
        let form = view::form_area(filler, area);
        if at.0 >= form.width {
            filler.pane = Pane::Text;
        } else {
            filler.pane = Pane::Form;
            let done = filler.form.click(form, at.1, PICK, cx);
            self.after(done, cx);
        }
    }

    /// Write the file that is shown.
    fn save(&mut self, cx: &mut Cx<'_>) {
        let Some(filler) = &mut self.filler else {
            return;
        };
        let name = filler.file_name().map(str::to_owned);
        match name.filter(|_| filler.is_current()) {
            Some(name) => filler.save = Some(Save::new("Save", &name, filler.deck.text())),
            None => cx.toast(
                Tone::Warn,
                "there is no text yet that is made of what stands here",
            ),
        }
    }

    /// On to a new job with it.
    fn submit(&mut self, cx: &mut Cx<'_>) {
        let Some(filler) = &mut self.filler else {
            return;
        };
        if !is_input(filler) {
            let words = "a job script is no input of a code: save it, and send it by sbatch";
            return cx.toast(Tone::Info, words);
        }
        if !filler.form.faults.is_empty() {
            filler.form.go_to_fault();
            return cx.toast(Tone::Warn, "something is still wrong here");
        }
        match filler.errors() {
            0 => {}
            count => {
                let words = format!("the linter finds {count} errors in it");
                return cx.toast(Tone::Warn, words);
            }
        }
        let template = filler.template.clone();
        let Some(parameters) = self.agreed(cx) else {
            return cx.toast(Tone::Warn, "it is still being filled in");
        };
        cx.begin_job(Start {
            source: Source {
                name: template.id.clone(),
                path: template.id,
                kind: Kind::Template,
            },
            code: template.code,
            inputs: parameters,
        });
    }
}

/// Whether it writes what a code reads.
fn is_input(filler: &Filler) -> bool {
    filler.template.kind == Some(TemplateKind::Input)
}
