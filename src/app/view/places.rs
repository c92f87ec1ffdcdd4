//! Where what lies over the screens is: `update` finds out what was clicked, `view` draws it there.

use ratatui::layout::{Position, Rect};

use crate::app::Model;
use crate::app::cx::{Picker, Question};
use crate::app::overlays::Overlay;
use crate::widgets::{dialog, text};

/// What is at a place while something lies over the screens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) enum Hit {
    /// Beside it.
    Outside,
    /// Nothing that can be clicked.
    Inside,
    /// The entry with this number.
    Entry(usize),
    /// The button No.
    No,
    /// The button Yes.
    Yes,
}

impl Model {
    /// What is at this place of the window, where something lies over the screens.
    pub(in crate::app) fn hit(&self, at: Position) -> Hit {
        let window = Rect::new(0, 0, self.size.0, self.size.1);
        let Some(size) = self
            .overlay
            .as_ref()
            .map(|over| size_of(self, over, window))
        else {
            return Hit::Outside;
        };
        let (frame, inside) = dialog::places(window, size);
        if !frame.contains(at) {
            return Hit::Outside;
        }
        let entry = |body: Rect, cursor: usize| {
            let offset = offset(body, cursor);
            let row = body.contains(at).then(|| usize::from(at.y - body.y));
            row.map_or(Hit::Inside, |row| Hit::Entry(offset + row))
        };
        match &self.overlay {
            Some(Overlay::Palette(palette)) => entry(below(inside, 1), palette.cursor),
            Some(Overlay::Pick { cursor, .. }) => entry(inside, *cursor),
            Some(Overlay::Confirm { question, .. }) => {
                let (no, yes) = labels(question);
                let [no, yes] = dialog::button_places(last_row(inside), [no, &yes]);
                match (no.contains(at), yes.contains(at)) {
                    (true, _) => Hit::No,
                    (_, true) => Hit::Yes,
                    _ => Hit::Inside,
                }
            }
            _ => Hit::Inside,
        }
    }
}

fn size(window: Rect, columns: u16, rows: usize) -> (u16, u16) {
    let rows = u16::try_from(rows).unwrap_or(u16::MAX);
    (
        columns.min(window.width.saturating_sub(6)),
        rows.min(window.height.saturating_sub(4)),
    )
}

/// The size of what lies over the screens.
pub(super) fn size_of(model: &Model, overlay: &Overlay, window: Rect) -> (u16, u16) {
    match overlay {
        Overlay::Help { .. } => help_size(window),
        Overlay::Palette(_) => size(window, 76, 16),
        Overlay::Confirm { question, .. } => {
            let lines = question.lines.iter().map(|line| text::width(line));
            let columns = lines.max().unwrap_or(0);
            let columns = columns.max(text::width(&question.title) + 4).max(34);
            let columns = u16::try_from(columns).unwrap_or(76).min(76);
            size(window, columns, question.lines.len() + 3)
        }
        Overlay::Pick { picker, .. } => {
            let titles = picker
                .choices
                .iter()
                .map(|choice| text::width(&choice.title) + 6);
            let columns = titles.max().unwrap_or(0);
            let columns = columns.max(text::width(&pick_title(picker)) + 2);
            let columns = u16::try_from(columns).unwrap_or(76);
            size(window, columns, picker.choices.len())
        }
        Overlay::Messages { .. } => {
            let count = model.toasts.history().count();
            size(window, 96, count.max(3))
        }
    }
}

/// The size of the help.
pub(super) fn help_size(window: Rect) -> (u16, u16) {
    size(window, 96, usize::from(window.height))
}

/// The first entry that is seen in `body`, so that the one with the cursor is.
pub(super) fn offset(body: Rect, cursor: usize) -> usize {
    (cursor + 1).saturating_sub(usize::from(body.height).max(1))
}

pub(super) fn pick_title(picker: &Picker) -> String {
    if picker.several {
        format!("{}: Space chooses, Enter takes", picker.title)
    } else {
        format!("{}: Enter takes, Esc leaves", picker.title)
    }
}

/// The words of the buttons No and Yes.
pub(super) fn labels(question: &Question) -> (&'static str, String) {
    ("n  No", format!("y  {}", question.yes))
}

pub(super) fn last_row(area: Rect) -> Rect {
    Rect {
        y: area.bottom().saturating_sub(1),
        height: area.height.min(1),
        ..area
    }
}

pub(super) fn first_row(area: Rect) -> Rect {
    Rect {
        height: area.height.min(1),
        ..area
    }
}

pub(super) fn below(area: Rect, rows: u16) -> Rect {
    Rect {
        y: area.y + rows.min(area.height),
        height: area.height.saturating_sub(rows),
        ..area
    }
}
