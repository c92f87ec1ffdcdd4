//! What the actions do in the list of workflows.

use super::{Workflows, filter::Filter, words};
use crate::msg::Action;
use crate::screens::listing::moved;
use crate::screens::{Cx, Handled, ScreenId, Subject};
use crate::widgets::input::TextLine;

/// What can be done, in the order of the footer.
pub(super) const ACTIONS: &[Action] = &[
    Action::Open,
    Action::New,
    Action::Filter,
    Action::Cancel,
    Action::Continue,
    Action::Jobs,
    Action::Copy,
];

impl Workflows {
    /// Those of the actions that mean something for what the cursor is on.
    pub(super) fn useful(&self) -> Vec<Action> {
        let current = self.current();
        let of_use = |action: &Action| match (action, current) {
            (Action::New, _) => true,
            (Action::Filter, _) => !self.rows.is_empty(),
            (Action::Cancel, Some(row)) => words::can_be_cancelled(row),
            (Action::Continue, Some(row)) => words::can_be_resumed(row),
            (_, current) => current.is_some(),
        };
        ACTIONS.iter().copied().filter(of_use).collect()
    }

    pub(super) fn act(&mut self, action: Action, cx: &mut Cx<'_>) -> Handled {
        cx.redraw();
        let current = self.current().cloned();
        match (action, current) {
            (Action::New, _) => cx.act(Action::Workflow),
            (Action::Filter, _) => self.input = Some(TextLine::of(self.filter.text())),
            (Action::Back, _) if !self.filter.text().is_empty() => {
                self.filter = Filter::default();
                self.hold(cx);
            }
            (Action::Open | Action::Right, Some(row)) => {
                cx.open(ScreenId::Workflow, Some(Subject::Workflow(row.id)));
            }
            (Action::Cancel, Some(row)) if words::can_be_cancelled(&row) => {
                self.asked = Some(row.id);
                words::ask_cancel(&row, cx);
            }
            (Action::Cancel, Some(row)) => words::say_ended(&row, cx),
            (Action::Continue, Some(row)) => words::resume(&row, cx),
            (Action::Jobs, Some(row)) => {
                cx.open(ScreenId::Jobs, Some(Subject::Workflow(row.id)));
            }
            (Action::Copy, Some(row)) => cx.copy("number", &row.id.to_string()),
            (action, _) => {
                let (rows, count) = (self.rows_seen(cx), self.listed().count());
                match moved(action, self.place.cursor, rows, count) {
                    Some(to) => self.go(to, cx),
                    None => return Handled::No,
                }
            }
        }
        Handled::Yes
    }
}
