//! Where everything is in a window of a given size. Pure; `update` and `view` use the same.

use ratatui::layout::Rect;

use super::Model;
use crate::msg::{Action, Link};
use crate::screens::ScreenId;
use crate::screens::wording::speak;
use crate::widgets::text;

/// From this width on, list and detail stand side by side.
pub const WIDE: u16 = 110;
/// From this height on, panes have a line at the bottom as well.
const BOXED_ROWS: u16 = 30;
/// The smallest window in which anything can be used.
pub const SMALLEST: (u16, u16) = (40, 8);

/// A screen with the place of its frame and of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pane {
    pub id: ScreenId,
    pub frame: Rect,
    pub inner: Rect,
}

/// The parts of the window.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[allow(clippy::struct_field_names, reason = "the panes are panes")]
pub(super) struct Panes {
    pub header: Rect,
    /// What is wrong with the connection or the list; may be empty.
    pub trouble: Rect,
    pub panes: Vec<Pane>,
    pub footer: Rect,
    /// Whether panes have sides and a bottom.
    pub boxed: bool,
}

/// A tab of the header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tab {
    pub id: ScreenId,
    pub text: String,
    pub from: u16,
    pub to: u16,
}

impl Model {
    pub(super) fn panes(&self) -> Panes {
        let (columns, rows) = self.size;
        if columns < SMALLEST.0 || rows < SMALLEST.1 {
            return Panes::default();
        }
        let trouble_rows = u16::try_from(self.trouble().len())
            .unwrap_or(0)
            .min(rows / 3);
        let body = Rect::new(0, 1 + trouble_rows, columns, rows - 2 - trouble_rows);
        let boxed = columns >= WIDE || rows >= BOXED_ROWS;
        let mut panes = Panes {
            header: Rect::new(0, 0, columns, 1),
            trouble: Rect::new(0, 1, columns, trouble_rows),
            panes: Vec::new(),
            footer: Rect::new(0, rows - 1, columns, 1),
            boxed,
        };
        let split = columns >= WIDE && self.over.is_empty() && !self.zoomed;
        match self.detail().filter(|_| split) {
            Some(detail) => {
                // The frames share the line between them.
                let left = columns * 58 / 100;
                let list = Rect::new(0, body.y, left + 1, body.height);
                let rest = Rect::new(left, body.y, columns - left, body.height);
                panes.panes.push(pane(self.tab, list, boxed));
                panes.panes.push(pane(detail, rest, boxed));
            }
            None => panes.panes.push(pane(self.focused(), body, boxed)),
        }
        panes
    }

    pub(super) fn area_of(&self, id: ScreenId) -> Rect {
        let panes = self.panes();
        let found = panes.panes.iter().find(|pane| pane.id == id);
        found.map_or(Rect::ZERO, |pane| pane.inner)
    }

    /// What is wrong, in lines that fit the window: first what, then what to do.
    pub(super) fn trouble(&self) -> Vec<String> {
        let key = self.keymap.main_key(crate::msg::Action::Refresh);
        let parts = match &self.data.link {
            Link::Down { cause, hint, log } => {
                let mut parts = vec![speak(&format!("no daemon: {cause}"))];
                parts.extend(log.iter().map(|log| format!("log: {log}")));
                let hint = hint.as_deref().map(|hint| format!("{}; ", speak(hint)));
                parts.push(format!("{}{key} tries again", hint.unwrap_or_default()));
                parts
            }
            Link::Busy => vec![format!(
                "the daemon does not answer; see crystalmath-server status; {key} tries again"
            )],
            Link::Ready(_) => match &self.data.jobs.list {
                super::ListState::Failed { message, hint } => {
                    let hint = hint.as_ref().map(|hint| format!(" ({hint})"));
                    vec![speak(&format!(
                        "the list could not be read: {message}{}",
                        hint.unwrap_or_default()
                    ))]
                }
                _ => Vec::new(),
            },
            Link::Starting | Link::Reconnecting => Vec::new(),
        };
        let columns = usize::from(self.size.0).saturating_sub(2);
        parts
            .iter()
            .flat_map(|part| text::wrap(part, columns))
            .collect()
    }
}

fn pane(id: ScreenId, frame: Rect, boxed: bool) -> Pane {
    let inner = if boxed {
        Rect::new(
            frame.x + 1,
            frame.y + 1,
            frame.width.saturating_sub(2),
            frame.height.saturating_sub(2),
        )
    } else {
        Rect::new(
            frame.x,
            frame.y + 1,
            frame.width,
            frame.height.saturating_sub(1),
        )
    };
    Pane { id, frame, inner }
}

/// The tabs as they fit beside the connection: with the program's name, without, or shortened.
pub(super) fn tabs(model: &Model, header: Rect) -> Vec<Tab> {
    let room = usize::from(header.width).saturating_sub(24);
    let all: Vec<(u8, ScreenId, &str)> = model
        .tabs()
        .map(|(number, spec)| (number, spec.id, spec.title))
        .collect();
    let width = |cut: usize| -> usize {
        all.iter()
            .map(|(_, _, title)| title.chars().count().min(cut) + 4)
            .sum()
    };
    let cut = [usize::MAX, 6, 4, 2]
        .into_iter()
        .find(|cut| width(*cut) <= room);
    let mut from = brand(model, header);
    all.iter()
        .map(|(number, id, title)| {
            let text = format!(" {number} {} ", text::head(title, cut.unwrap_or(1)));
            let to = from + u16::try_from(text::width(&text)).unwrap_or(0);
            let tab = Tab {
                id: *id,
                text,
                from,
                to,
            };
            from = to;
            tab
        })
        .collect()
}

/// A key that works here, in the footer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hint {
    pub action: Action,
    pub key: String,
    pub from: u16,
    pub to: u16,
}

/// The keys of the footer, as many as fit; help and palette always do. None while keys are text.
pub(super) fn hints(model: &Model, footer: Rect) -> Vec<Hint> {
    if model.takes_text() && model.overlay.is_none() {
        return Vec::new();
    }
    let own = model.screen(model.focused());
    let own = own.map_or_else(Vec::new, |screen| screen.hints(&model.data));
    let always = [Action::Palette, Action::Help];
    let room = |action: Action| {
        let key = model.keymap.main_key(action);
        let columns = text::width(&key) + text::width(action.info().title) + 3;
        u16::try_from(columns).unwrap_or(u16::MAX)
    };
    let tail: u16 = always.iter().map(|action| room(*action)).sum();
    let mut left = footer.width.saturating_sub(tail + 1);
    let mut fitting: Vec<Action> = own
        .into_iter()
        .filter(|action| !model.keymap.keys(*action).is_empty())
        .take_while(|action| {
            let fits = left.checked_sub(room(*action));
            left = fits.unwrap_or(left);
            fits.is_some()
        })
        .collect();
    fitting.extend(always);
    let mut from = footer.x + 1;
    fitting
        .into_iter()
        .map(|action| {
            // Two blanks part it from the next one.
            let to = from + room(action) - 2;
            let key = model.keymap.main_key(action);
            let hint = Hint {
                action,
                key,
                from,
                to,
            };
            from = to + 2;
            hint
        })
        .collect()
}

/// The columns that the program's name takes.
pub(super) fn brand(model: &Model, header: Rect) -> u16 {
    let tabs: usize = model.tabs().map(|(_, spec)| spec.title.len() + 4).sum();
    if usize::from(header.width) >= tabs + 14 + 26 {
        14
    } else {
        1
    }
}
