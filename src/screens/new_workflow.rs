//! A new workflow: its kind, the structure, what computes it and its options, in a form that is made of
//! what the daemon says of its kinds. It knows none of them.

mod ask;
mod fields;
mod view;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::form::{Done, Form};
use super::{Cx, Event, Handled, Screen, ViewCx};
use crate::app::Data;
use crate::msg::{Action, Edit, Tone};
use crate::rpc::types::{ClusterView, CodeInfo, KindInfo};

const ACTIONS: &[Action] = &[
    Action::Open,
    Action::Submit,
    Action::Select,
    Action::NextPane,
];
/// The token of a list to choose from.
const PICK: u32 = 1;

/// The state of the screen.
#[derive(Debug, Default)]
pub struct NewWorkflow {
    kinds: Vec<KindInfo>,
    codes: Vec<CodeInfo>,
    clusters: Vec<ClusterView>,
    /// Why the kinds are not known.
    error: Option<String>,
    form: Form,
    /// Rises with every change, and when one was started.
    version: i64,
    /// The version that was sent and is not answered yet.
    sent: Option<i64>,
}

impl NewWorkflow {
    /// The kind that is chosen.
    fn kind(&self) -> Option<&KindInfo> {
        let name = self.form.text(fields::KIND);
        self.kinds.iter().find(|kind| kind.kind == name)
    }

    /// Make the fields anew, after something was chosen or has come.
    fn arrange(&mut self) {
        // What is offered follows from what is chosen, which may be offered only now.
        for _ in 0..2 {
            let specs = fields::specs(self);
            self.form.change(specs);
        }
        self.form.titles = fields::titles(&self.kinds, self.kind());
        self.judge();
    }

    /// Say at once what cannot be used, and why.
    fn judge(&mut self) {
        for (name, fault) in fields::unusable(self) {
            self.form.faults.insert(name.to_owned(), fault);
        }
    }

    fn changed(&mut self, cx: &mut Cx<'_>) {
        self.version += 1;
        self.arrange();
        cx.redraw();
    }

    fn after(&mut self, done: Done, cx: &mut Cx<'_>) -> Handled {
        match done {
            Done::No => return Handled::No,
            Done::Moved => {}
            Done::Changed => self.changed(cx),
            Done::Pressed => self.submit(cx),
        }
        cx.redraw();
        Handled::Yes
    }

    fn act(&mut self, action: Action, cx: &mut Cx<'_>) -> Handled {
        if action == Action::Submit {
            self.submit(cx);
            return Handled::Yes;
        }
        let done = self.form.act(action, PICK, cx);
        self.after(done, cx)
    }

    fn edit(&mut self, edit: &Edit, cx: &mut Cx<'_>) {
        let done = self.form.edit(edit);
        self.after(done, cx);
    }

    /// Start it, unless something is known to be wrong.
    fn submit(&mut self, cx: &mut Cx<'_>) {
        cx.redraw();
        if self.sent.is_some() {
            return;
        }
        let faults = fields::missing(self);
        self.form.faults.extend(faults);
        self.judge();
        let client = &cx.data().client;
        let read = if self.form.faults.is_empty() {
            ask::params(self, client)
        } else {
            Err(std::collections::BTreeMap::new())
        };
        match read {
            Ok((method, params)) => {
                self.form.whole = None;
                self.sent = Some(self.version);
                cx.send(ask::CREATE, self.version, method, params);
            }
            Err(faults) => {
                self.form.faults.extend(faults);
                self.form.go_to_fault();
                cx.toast(Tone::Warn, "something is still wrong here");
            }
        }
    }

    fn click(&mut self, at: (u16, u16), cx: &mut Cx<'_>) {
        let form = view::areas(cx.area()).0;
        if at.0 < form.width {
            let done = self.form.click(form, at.1, PICK, cx);
            self.after(done, cx);
        }
    }
}

impl Screen for NewWorkflow {
    fn actions(&self) -> &'static [Action] {
        ACTIONS
    }

    fn update(&mut self, event: &Event<'_>, cx: &mut Cx<'_>) -> Handled {
        match event {
            Event::Entered | Event::Resync => {
                ask::read(cx);
                self.arrange();
                cx.redraw();
            }
            Event::BeginWorkflow(structure) => {
                self.arrange();
                if !structure.is_empty() {
                    self.form.write(fields::STRUCTURE, structure);
                    self.form.write(fields::NAME, "");
                    self.form.faults.clear();
                    self.changed(cx);
                }
            }
            Event::Resized => cx.redraw(),
            Event::Act(Action::Back) => cx.close(),
            Event::Act(action) => return self.act(*action, cx),
            Event::Edit(edit) => self.edit(edit, cx),
            Event::Click(column, row) => self.click((*column, *row), cx),
            Event::Picked { names, .. } => {
                let done = self.form.picked(names);
                self.after(done, cx);
            }
            Event::Reply { slot, tag, result } => self.reply(slot, *tag, result, cx),
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn view(&self, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
        view::draw(self, area, buf, cx);
    }

    fn title(&self, _: &Data) -> String {
        match self.kind() {
            Some(kind) => format!("New workflow: {}", kind.title),
            None => "New workflow".into(),
        }
    }

    fn takes_text(&self) -> bool {
        self.form.is_written_in()
    }
}
