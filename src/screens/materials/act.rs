//! What the actions do with structures.

use serde_json::Map;

use super::Materials;
use crate::msg::{Action, Edit, Tone};
use crate::screens::new_job::files::Files;
use crate::screens::new_job::view::files as chooser;
use crate::screens::{Cx, Handled, Start};
use crate::submission::{Kind, Source};

/// What can be done in the list, in the order of the footer.
pub(super) const LISTED: &[Action] = &[
    Action::Open,
    Action::Filter,
    Action::Deck,
    Action::New,
    Action::Workflow,
    Action::Import,
    Action::TurnRight,
    Action::AlongAxis,
    Action::Images,
    Action::Larger,
    Action::TurnLeft,
    Action::TurnUp,
    Action::TurnDown,
    Action::Smaller,
    Action::Cell,
    Action::Copy,
    Action::Refresh,
];
/// What can be done while a deck is written.
pub(super) const WRITING: &[Action] = &[
    Action::Open,
    Action::Submit,
    Action::Preview,
    Action::Save,
    Action::FindNext,
    Action::FindPrevious,
    Action::Select,
    Action::NextPane,
];
/// Degrees of one turn.
const TURN: f64 = 15.0;

/// What can be done now.
pub(super) const fn actions(screen: &Materials) -> &'static [Action] {
    if screen.import.is_some() {
        &[]
    } else if screen.writer.is_open() {
        WRITING
    } else {
        LISTED
    }
}

/// Those of the actions that mean something for what the cursor is on.
pub(super) fn useful(screen: &Materials) -> Vec<Action> {
    if screen.import.is_some() || screen.writer.is_open() {
        return actions(screen).to_vec();
    }
    let row = screen.current();
    let drawn = matches!(screen.look(), Some(Ok(look)) if look.crystal.is_some());
    let of_use = |action: &Action| match action {
        Action::Filter | Action::Import => true,
        Action::Open => row.is_some() && !screen.listing.opened,
        Action::Deck | Action::New | Action::Workflow => {
            row.is_some_and(|row| row.reason().is_none())
        }
        Action::Copy => row.is_some(),
        Action::Refresh => false,
        _ => drawn,
    };
    LISTED.iter().copied().filter(of_use).collect()
}

impl Materials {
    pub(super) fn act(&mut self, action: Action, cx: &mut Cx<'_>) -> Handled {
        if self.import.is_some() {
            return Handled::No;
        }
        if self.writer.is_open() {
            return self.act_on_deck(action, cx);
        }
        match action {
            Action::Filter => self.search.type_query(),
            Action::Deck => self.write_deck(cx),
            Action::New => self.begin_job(Map::new(), None, cx),
            Action::Workflow => {
                if self.is_usable(cx)
                    && let Some(row) = self.current()
                {
                    cx.begin_workflow(row.material());
                }
            }
            Action::Import => {
                let mut files = Files::default();
                files.enter(cx);
                self.import = Some(files);
            }
            Action::Copy => {
                if let Some(row) = self.current() {
                    cx.copy("name", row.material());
                }
            }
            Action::Refresh => self.search.anew = true,
            Action::Cell => {
                self.as_given ^= true;
                self.look_at(cx);
            }
            action if self.turn(action) => {}
            action => return self.movement(action, cx),
        }
        cx.redraw();
        Handled::Yes
    }

    /// Turn the drawn cell, or draw it otherwise; whether the action is one of these.
    fn turn(&mut self, action: Action) -> bool {
        match action {
            Action::TurnRight => self.view.turn(TURN, 0.0),
            Action::TurnLeft => self.view.turn(-TURN, 0.0),
            Action::TurnUp => self.view.turn(0.0, TURN),
            Action::TurnDown => self.view.turn(0.0, -TURN),
            Action::Images => self.view.repeat(),
            Action::Larger => self.view.zoom(true),
            Action::Smaller => self.view.zoom(false),
            Action::AlongAxis => {
                let crystal = match self.look() {
                    Some(Ok(look)) => look.crystal.as_ref(),
                    _ => None,
                };
                if let Some(lattice) = crystal.and_then(|crystal| crystal.lattice) {
                    self.view.along_next(&lattice);
                }
            }
            _ => return false,
        }
        true
    }

    /// Say why nothing can be made of the structure with the cursor; whether something can.
    fn is_usable(&self, cx: &mut Cx<'_>) -> bool {
        match self.current().map(|row| (row.formula(), row.reason())) {
            None => cx.toast(Tone::Info, "no structure is chosen"),
            Some((formula, Some(reason))) => {
                cx.toast(Tone::Warn, format!("{formula} cannot be used: {reason}"));
            }
            Some((_, None)) => return true,
        }
        false
    }

    fn write_deck(&mut self, cx: &mut Cx<'_>) {
        if !self.is_usable(cx) {
            return;
        }
        if let Some(row) = self.current() {
            let (material, formula) = (row.material().to_owned(), row.formula().to_owned());
            self.writer.open(&material, &formula, cx);
        }
    }

    fn act_on_deck(&mut self, action: Action, cx: &mut Cx<'_>) -> Handled {
        if action != Action::Submit {
            return self.writer.act(action, cx);
        }
        if let Some(options) = self.writer.options_to_submit(cx) {
            let mut inputs = Map::new();
            if !options.is_empty() {
                inputs.insert("options".into(), options.into());
            }
            self.begin_job(inputs, Some("crystal"), cx);
        }
        Handled::Yes
    }

    /// A new job with the structure with the cursor.
    fn begin_job(
        &self,
        inputs: Map<String, serde_json::Value>,
        code: Option<&str>,
        cx: &mut Cx<'_>,
    ) {
        if !self.is_usable(cx) {
            return;
        }
        let Some(row) = self.current() else { return };
        cx.begin_job(Start {
            source: Source {
                name: row.formula().to_owned(),
                path: row.material().to_owned(),
                kind: Kind::Material,
            },
            code: code.map(str::to_owned),
            inputs,
        });
    }

    pub(super) fn edit(&mut self, edit: &Edit, cx: &mut Cx<'_>) {
        cx.redraw();
        if let Some(files) = &mut self.import {
            if *edit == Edit::Cancel {
                self.import = None;
            } else {
                files.edit(edit, chooser::rows(cx.area()), cx);
            }
        } else if self.search.is_typed() {
            if self.search.edit(edit) {
                self.search.start(cx);
                self.listing.close();
                self.hold(None, cx);
            }
        } else {
            self.writer.edit(edit, cx);
        }
    }

    pub(super) fn click(&mut self, at: (u16, u16), cx: &mut Cx<'_>) {
        cx.redraw();
        let area = cx.area();
        if let Some(files) = &mut self.import {
            if let Some(line) = at.1.checked_sub(chooser::ABOVE) {
                files.click(usize::from(line), chooser::rows(area), cx);
            }
        } else if self.writer.is_open() {
            self.writer.click(at, cx);
        } else {
            let extent = self.extent(area);
            self.listing.click(at, extent);
            self.look_at(cx);
        }
    }
}
