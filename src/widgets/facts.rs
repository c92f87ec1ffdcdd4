//! What is known of one thing, in lines of name and value; long values go on below themselves.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{scrollbar, text};
use crate::theme::{Role, Theme};

/// One line: what it is, what is said, how it looks.
pub type Fact = (String, String, Role);

/// Columns of the names.
const NAMES: u16 = 11;
/// Where the values begin.
const VALUES: u16 = 13;

/// Facts as they are collected.
#[derive(Debug, Default)]
pub struct Facts(pub Vec<Fact>);

impl Facts {
    /// A line, unless nothing is said.
    pub fn add(&mut self, name: &str, value: impl Into<String>, role: Role) {
        let value = value.into();
        if !value.is_empty() {
            self.0.push((name.to_owned(), value, role));
        }
    }

    /// A line, if there is a value.
    pub fn some(&mut self, name: &str, value: Option<impl Into<String>>, role: Role) {
        if let Some(value) = value {
            self.add(name, value, role);
        }
    }

    /// An empty line between two parts.
    pub fn gap(&mut self) {
        if self.0.last().is_some_and(|line| !line.1.is_empty()) {
            self.0.push((String::new(), String::new(), Role::Text));
        }
    }
}

/// The rows that the facts take in `area`.
#[must_use]
pub fn count(facts: &[Fact], area: Rect) -> usize {
    rows(facts, area).len()
}

fn rows(facts: &[Fact], area: Rect) -> Vec<(&str, String, Role)> {
    let room = usize::from(area.width).saturating_sub(usize::from(VALUES) + 2);
    let mut rows = Vec::new();
    for (name, value, role) in facts {
        for (index, part) in text::wrap(value, room).into_iter().enumerate() {
            rows.push((if index == 0 { name.as_str() } else { "" }, part, *role));
        }
    }
    rows
}

/// Draw the facts from the row `scroll` on; past the end the last rows are shown.
pub fn draw(
    facts: &[Fact],
    scroll: usize,
    area: Rect,
    buf: &mut Buffer,
    theme: &Theme,
    stale: bool,
) {
    let rows = rows(facts, area);
    let most = rows.len().saturating_sub(usize::from(area.height));
    let offset = scroll.min(most);
    for ((name, value, role), y) in rows[offset..].iter().zip(area.top()..area.bottom()) {
        let name = text::fit(name, usize::from(NAMES), theme.glyphs().more);
        text::put(buf, (area.x + 1, y), &name, NAMES, theme.style(Role::Dim));
        let role = if stale { Role::Stale } else { *role };
        let left = area.width.saturating_sub(VALUES + 1);
        text::put(buf, (area.x + VALUES, y), value, left, theme.style(role));
    }
    scrollbar::draw(area, buf, theme, offset, rows.len());
}
