//! What lies over the screens and has the keys: help, palette, questions, lists to choose from,
//! and the messages of before. State and keys; `view` draws it.

use super::Model;
use super::commands::Command;
use super::cx::{Picker, Question};
use super::palette::Palette;
use crate::config::Chosen;
use crate::keymap::{Code, Key};
use crate::msg::{Action, Edit, Effect};
use crate::screens::{Event, ScreenId};
use crate::widgets::input::TextLine;

/// What lies over the screens.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Overlay {
    Help {
        input: TextLine,
        scroll: usize,
    },
    Palette(Palette),
    Confirm {
        question: Question,
        yes: bool,
        owner: Owner,
    },
    Pick {
        picker: Picker,
        cursor: usize,
        owner: Owner,
    },
    Messages {
        scroll: usize,
    },
}

/// Whom the answer of an overlay is for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Owner {
    Screen(ScreenId, u32),
    Command(Command, Vec<i64>),
    /// The theme picker, with the theme to go back to.
    Theme(String),
}

impl Overlay {
    pub(super) const fn confirm(question: Question, owner: Owner) -> Self {
        Self::Confirm {
            question,
            yes: false,
            owner,
        }
    }

    pub(super) fn pick(picker: Picker, owner: Owner) -> Self {
        let cursor = picker.choices.iter().position(|choice| choice.chosen);
        Self::Pick {
            cursor: if picker.several {
                0
            } else {
                cursor.unwrap_or(0)
            },
            picker,
            owner,
        }
    }
}

impl Model {
    /// A key while something lies over the screens.
    pub(super) fn overlay_key(&mut self, key: Key) -> Vec<Effect> {
        let Some(overlay) = self.overlay.take() else {
            return Vec::new();
        };
        self.dirty = true;
        match overlay {
            Overlay::Help { input, scroll } => self.help_key(key, input, scroll),
            Overlay::Messages { scroll } => self.messages_key(key, scroll),
            Overlay::Palette(palette) => match key.edit() {
                Some(edit) => self.palette_edit(palette, &edit),
                None => self.keep(Overlay::Palette(palette)),
            },
            Overlay::Confirm {
                question,
                yes,
                owner,
            } => self.confirm_key(key, question, yes, owner),
            Overlay::Pick {
                picker,
                cursor,
                owner,
            } => self.pick_key(key, picker, cursor, owner),
        }
    }

    /// Text that was pasted while something lies over the screens.
    pub(super) fn overlay_paste(&mut self, text: &str) -> Vec<Effect> {
        let edit = Edit::Insert(text.to_owned());
        self.dirty = true;
        match self.overlay.take() {
            Some(Overlay::Palette(palette)) => self.palette_edit(palette, &edit),
            Some(Overlay::Help { mut input, .. }) => {
                input.apply(&edit);
                self.keep(Overlay::Help { input, scroll: 0 })
            }
            other => {
                self.overlay = other;
                Vec::new()
            }
        }
    }

    pub(super) fn keep(&mut self, overlay: Overlay) -> Vec<Effect> {
        self.overlay = Some(overlay);
        Vec::new()
    }

    fn help_key(&mut self, key: Key, mut input: TextLine, mut scroll: usize) -> Vec<Effect> {
        let page = usize::from(self.size.1) / 2;
        match key.edit() {
            Some(Edit::Cancel) if !input.is_empty() => {
                input.clear();
                scroll = 0;
            }
            Some(Edit::Cancel | Edit::Submit) => return Vec::new(),
            Some(Edit::Insert(text)) if text == "?" && input.is_empty() => return Vec::new(),
            Some(edit) => {
                if let Some(to) = scrolled(&edit, scroll, page, self.help_rows(input.text()).len())
                {
                    scroll = to;
                } else {
                    input.apply(&edit);
                    scroll = 0;
                }
            }
            None => {}
        }
        self.keep(Overlay::Help { input, scroll })
    }

    fn messages_key(&mut self, key: Key, scroll: usize) -> Vec<Effect> {
        let page = usize::from(self.size.1) / 2;
        let edit = match self.keymap.action(key) {
            Some(Action::Down) => Some(Edit::Down),
            Some(Action::Up) => Some(Edit::Up),
            Some(Action::Messages | Action::Quit | Action::Back) => return Vec::new(),
            _ => key.edit(),
        };
        let lines = self.toasts.history().count();
        match edit {
            Some(Edit::Cancel | Edit::Submit) => Vec::new(),
            Some(edit) => {
                let scroll = scrolled(&edit, scroll, page, lines).unwrap_or(scroll);
                self.keep(Overlay::Messages { scroll })
            }
            None => self.keep(Overlay::Messages { scroll }),
        }
    }

    fn confirm_key(
        &mut self,
        key: Key,
        question: Question,
        yes: bool,
        owner: Owner,
    ) -> Vec<Effect> {
        let answer = match (key.code, key.edit()) {
            (Code::Char('y' | 'Y'), Some(_)) => true,
            (Code::Char('n' | 'N' | 'q'), Some(_)) | (_, Some(Edit::Cancel)) => false,
            (_, Some(Edit::Submit)) => yes,
            (_, edit) => {
                let turn = matches!(
                    edit,
                    Some(Edit::Left | Edit::Right | Edit::Next | Edit::Previous)
                ) || matches!(key.code, Code::Char('h' | 'l'));
                return self.keep(Overlay::Confirm {
                    question,
                    yes: yes ^ turn,
                    owner,
                });
            }
        };
        match owner {
            Owner::Screen(screen, token) => {
                self.tell(screen, &Event::Answered { token, yes: answer }).1
            }
            Owner::Command(command, ids) if answer => self.run_command(command, ids),
            Owner::Command(..) | Owner::Theme(_) => Vec::new(),
        }
    }

    fn pick_key(
        &mut self,
        key: Key,
        mut picker: Picker,
        mut cursor: usize,
        owner: Owner,
    ) -> Vec<Effect> {
        let last = picker.choices.len().saturating_sub(1);
        let edit = match self.keymap.action(key) {
            Some(Action::Down) => Some(Edit::Down),
            Some(Action::Up) => Some(Edit::Up),
            Some(Action::Quit) => Some(Edit::Cancel),
            _ => key.edit(),
        };
        match edit {
            Some(Edit::Cancel) => {
                if let Owner::Theme(before) = owner {
                    self.use_theme(&before);
                }
                return Vec::new();
            }
            Some(Edit::Submit) => return self.picked(&picker, cursor, &owner),
            Some(Edit::Insert(text)) if text == " " && picker.several => {
                if let Some(choice) = picker.choices.get_mut(cursor) {
                    choice.chosen ^= true;
                }
            }
            Some(edit) => {
                cursor = scrolled(&edit, cursor, 5, last + 1)
                    .unwrap_or(cursor)
                    .min(last);
            }
            None => {}
        }
        if let (Owner::Theme(_), Some(choice)) = (&owner, picker.choices.get(cursor)) {
            let name = choice.name.clone();
            self.use_theme(&name);
        }
        self.keep(Overlay::Pick {
            picker,
            cursor,
            owner,
        })
    }

    fn picked(&mut self, picker: &Picker, cursor: usize, owner: &Owner) -> Vec<Effect> {
        let chosen = picker.choices.iter().enumerate().filter(|(index, choice)| {
            if picker.several {
                choice.chosen
            } else {
                *index == cursor
            }
        });
        let names: Vec<String> = chosen.map(|(_, choice)| choice.name.clone()).collect();
        match owner {
            Owner::Screen(screen, token) => {
                let event = Event::Picked {
                    token: *token,
                    names: &names,
                };
                self.tell(*screen, &event).1
            }
            // It is in force since the cursor came to it.
            Owner::Theme(before) => match names.into_iter().next() {
                Some(name) if name != *before => self.remember(Chosen::Theme(name)),
                _ => Vec::new(),
            },
            Owner::Command(..) => Vec::new(),
        }
    }
}

/// Where a movement leads in a list of `count`; `None` when it is no movement.
fn scrolled(edit: &Edit, at: usize, page: usize, count: usize) -> Option<usize> {
    let last = count.saturating_sub(1);
    let to = match edit {
        Edit::Up => at.saturating_sub(1),
        Edit::Down => at + 1,
        Edit::PageUp => at.saturating_sub(page),
        Edit::PageDown => at + page,
        _ => return None,
    };
    Some(to.min(last))
}
