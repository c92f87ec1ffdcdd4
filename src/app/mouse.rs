//! What a click or a turn of the wheel means: everything that is drawn as a thing can be clicked, and
//! the wheel turns what is under it.

use ratatui::layout::Position;

use super::overlays::Overlay;
use super::view::Hit;
use super::{Model, layout};
use crate::keymap::{Code, Key};
use crate::msg::{Action, Edit, Effect, Mouse};
use crate::screens::{Event, Handled, ScreenId};

/// The most lines that one turn of the wheel moves.
const WHEEL: usize = 10;

impl Model {
    pub(super) fn mouse(&mut self, mouse: Mouse) -> Vec<Effect> {
        match (mouse, self.overlay.is_some()) {
            (Mouse::Click(column, row), false) => self.click(Position::new(column, row)),
            (Mouse::Click(column, row), true) => self.click_over(Position::new(column, row)),
            (Mouse::Wheel(column, row, lines), over) => {
                let mut effects = Vec::new();
                for _ in 0..usize::from(lines.unsigned_abs()).min(WHEEL) {
                    effects.extend(if over {
                        let code = if lines > 0 { Code::Down } else { Code::Up };
                        self.overlay_key(Key::plain(code))
                    } else {
                        self.wheel(Position::new(column, row), lines > 0)
                    });
                }
                effects
            }
        }
    }

    /// A click: a tab, a hint of the footer, a pane, or a place within it.
    fn click(&mut self, at: Position) -> Vec<Effect> {
        let panes = self.panes();
        if panes.header.contains(at) {
            let tabs = layout::tabs(self, panes.header).into_iter();
            let hit = tabs
                .into_iter()
                .find(|tab| (tab.from..tab.to).contains(&at.x));
            return hit.map_or_else(Vec::new, |tab| self.open(tab.id, None));
        }
        if panes.footer.contains(at) {
            let hints = layout::hints(self, panes.footer).into_iter();
            let hit = hints
                .into_iter()
                .find(|hint| (hint.from..hint.to).contains(&at.x));
            return hit.map_or_else(Vec::new, |hint| self.act(hint.action));
        }
        let Some(pane) = panes.panes.iter().find(|pane| pane.frame.contains(at)) else {
            return Vec::new();
        };
        if self.over.is_empty() {
            self.focus_detail = self.detail() == Some(pane.id) && self.has_subject();
            self.dirty = true;
        }
        if !pane.inner.contains(at) {
            return Vec::new();
        }
        let event = Event::Click(at.x - pane.inner.x, at.y - pane.inner.y);
        self.tell(pane.id, &event).1
    }

    /// One line of the wheel, in the pane under it.
    fn wheel(&mut self, at: Position, down: bool) -> Vec<Effect> {
        let panes = self.panes();
        let under = panes.panes.iter().find(|pane| pane.frame.contains(at));
        let id = under.map_or_else(|| self.focused(), |pane| pane.id);
        let (action, edit) = if down {
            (Action::Down, Edit::Down)
        } else {
            (Action::Up, Edit::Up)
        };
        let (handled, mut effects) = self.tell(id, &Event::Act(action));
        if handled == Handled::No && self.takes_keys_as_text(id) {
            effects.extend(self.tell(id, &Event::Edit(&edit)).1);
        }
        effects
    }

    fn takes_keys_as_text(&self, id: ScreenId) -> bool {
        let screen = self.screen(id);
        screen.is_some_and(super::super::screens::Screen::takes_text)
    }

    /// A click while something lies over the screens: an entry, a button; outside it closes.
    fn click_over(&mut self, at: Position) -> Vec<Effect> {
        match self.hit(at) {
            Hit::Outside => self.overlay_key(Key::plain(Code::Esc)),
            Hit::Yes => self.overlay_key(Key::char('y')),
            Hit::No => self.overlay_key(Key::char('n')),
            Hit::Entry(index) => self.take_entry(index),
            Hit::Inside => Vec::new(),
        }
    }

    fn take_entry(&mut self, index: usize) -> Vec<Effect> {
        let key = match &mut self.overlay {
            Some(Overlay::Palette(palette)) if index < palette.entries.len() => {
                palette.cursor = index;
                Code::Enter
            }
            Some(Overlay::Pick { picker, cursor, .. }) if index < picker.choices.len() => {
                *cursor = index;
                if picker.several {
                    Code::Char(' ')
                } else {
                    Code::Enter
                }
            }
            _ => return Vec::new(),
        };
        self.overlay_key(Key::plain(key))
    }
}
