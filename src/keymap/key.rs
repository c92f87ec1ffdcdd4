//! A key as the program knows it, and the way it is written: `ctrl-d`, `shift-tab`, `pgdn`, `space`,
//! `:`. No terminal library here.

use std::fmt;

use crate::msg::Edit;

/// Which key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Code {
    /// A character, upper case with Shift.
    Char(char),
    /// Enter.
    Enter,
    /// Escape.
    Esc,
    /// Tab.
    Tab,
    /// Backspace.
    Backspace,
    /// Delete.
    Delete,
    /// Insert.
    Insert,
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Arrow left.
    Left,
    /// Arrow right.
    Right,
    /// Home.
    Home,
    /// End.
    End,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// A function key.
    F(u8),
}

/// A key with what is held down beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    /// Which key.
    pub code: Code,
    /// With Control.
    pub ctrl: bool,
    /// With Alt.
    pub alt: bool,
    /// With Shift; never set for characters, which are upper case instead.
    pub shift: bool,
}

const NAMES: &[(&str, Code)] = &[
    ("enter", Code::Enter),
    ("esc", Code::Esc),
    ("tab", Code::Tab),
    ("backspace", Code::Backspace),
    ("delete", Code::Delete),
    ("insert", Code::Insert),
    ("up", Code::Up),
    ("down", Code::Down),
    ("left", Code::Left),
    ("right", Code::Right),
    ("home", Code::Home),
    ("end", Code::End),
    ("pgup", Code::PageUp),
    ("pgdn", Code::PageDown),
    ("space", Code::Char(' ')),
    ("minus", Code::Char('-')),
];

/// What terminals send for a Control key is another key.
const SAME_BYTES: &[(char, &str)] = &[
    ('i', "tab"),
    ('m', "enter"),
    ('[', "esc"),
    ('h', "backspace"),
    ('j', "enter"),
];

impl Key {
    /// The key alone.
    #[must_use]
    pub const fn plain(code: Code) -> Self {
        Self {
            code,
            ctrl: false,
            alt: false,
            shift: false,
        }
    }

    /// A character.
    #[must_use]
    pub const fn char(c: char) -> Self {
        Self::plain(Code::Char(c))
    }

    /// A character with Control.
    #[must_use]
    pub const fn ctrl(c: char) -> Self {
        Self {
            ctrl: true,
            ..Self::char(c)
        }
    }

    /// Read a key as people write it.
    ///
    /// # Errors
    /// There is no such key, or terminals cannot tell it from another one.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (mut key, mut rest) = (Self::char(' '), text);
        while let Some((modifier, after)) = rest.split_once('-') {
            match modifier {
                "ctrl" => key.ctrl = true,
                "alt" => key.alt = true,
                "shift" => key.shift = true,
                _ => break,
            }
            rest = after;
        }
        key.code = code_named(rest).ok_or_else(|| format!("there is no key {text:?}"))?;
        if let Code::Char(c) = key.code {
            if key.shift {
                return Err(format!(
                    "write {:?} instead of {text:?}",
                    c.to_uppercase().to_string()
                ));
            }
            let same = SAME_BYTES.iter().find(|(other, _)| key.ctrl && c == *other);
            if let Some((_, name)) = same {
                return Err(format!("terminals send {name} for {text}; use {name}"));
            }
        }
        Ok(key)
    }

    /// The key as people read it: `Enter`, `Ctrl-r`, `c`.
    #[must_use]
    pub fn label(self) -> String {
        let text = self.to_string();
        if let Code::Char(c) = self.code
            && c != ' '
            && c != '-'
        {
            let modifiers = &text[..text.len() - c.len_utf8()];
            return format!("{}{c}", capitalised(modifiers));
        }
        capitalised(&text)
    }

    /// The change to a line of text that this key means, if any.
    #[must_use]
    pub fn edit(self) -> Option<Edit> {
        Some(match (self.code, self.ctrl) {
            (Code::Char(c), false) if !self.alt => Edit::Insert(c.to_string()),
            (Code::Char('u'), true) => Edit::DeleteToStart,
            (Code::Char('w'), true) => Edit::DeleteWord,
            (Code::Char('a'), true) | (Code::Home, _) => Edit::Home,
            (Code::Char('e'), true) | (Code::End, _) => Edit::End,
            (Code::Char('c'), true) | (Code::Esc, _) => Edit::Cancel,
            (Code::Char('p'), true) | (Code::Up, _) => Edit::Up,
            (Code::Char('n'), true) | (Code::Down, _) => Edit::Down,
            (Code::Backspace, _) => Edit::Backspace,
            (Code::Delete, _) => Edit::Delete,
            (Code::Left, _) => Edit::Left,
            (Code::Right, _) => Edit::Right,
            (Code::PageUp, _) => Edit::PageUp,
            (Code::PageDown, _) => Edit::PageDown,
            (Code::Tab, _) if self.shift => Edit::Previous,
            (Code::Tab, _) => Edit::Next,
            (Code::Enter, _) => Edit::Submit,
            _ => return None,
        })
    }
}

fn capitalised(text: &str) -> String {
    let part = |part: &str| {
        let mut chars = part.chars();
        let first = chars.next().map(|c| c.to_ascii_uppercase().to_string());
        format!("{}{}", first.unwrap_or_default(), chars.as_str())
    };
    text.split('-').map(part).collect::<Vec<_>>().join("-")
}

fn code_named(name: &str) -> Option<Code> {
    if let Some((_, code)) = NAMES.iter().find(|(known, _)| *known == name) {
        return Some(*code);
    }
    let mut chars = name.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) if !c.is_control() => Some(Code::Char(c)),
        (Some('f'), Some(_)) => match name[1..].parse() {
            Ok(number @ 1..=12) => Some(Code::F(number)),
            _ => None,
        },
        _ => None,
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (held, name) in [
            (self.ctrl, "ctrl-"),
            (self.alt, "alt-"),
            (self.shift, "shift-"),
        ] {
            if held {
                f.write_str(name)?;
            }
        }
        if let Some((name, _)) = NAMES.iter().find(|(_, code)| *code == self.code) {
            return f.write_str(name);
        }
        match self.code {
            Code::Char(c) => write!(f, "{c}"),
            Code::F(number) => write!(f, "f{number}"),
            // Every other code has a name.
            _ => Ok(()),
        }
    }
}
