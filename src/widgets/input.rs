//! A line of text that is typed.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use unicode_segmentation::UnicodeSegmentation as _;

use super::text;
use crate::msg::Edit;
use crate::theme::{Role, Theme};

/// The text and the place of the cursor.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TextLine {
    text: String,
    /// In bytes, always between two graphemes.
    cursor: usize,
}

impl TextLine {
    /// A line with this text, the cursor at its end.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            cursor: text.len(),
        }
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Remove everything.
    pub fn clear(&mut self) {
        self.text.clear();
        self.cursor = 0;
    }

    /// Make a change; whether the text is different now.
    pub fn apply(&mut self, edit: &Edit) -> bool {
        let (before, after) = self.text.split_at(self.cursor);
        let left = before.graphemes(true).next_back().map_or(0, str::len);
        let right = after.graphemes(true).next().map_or(0, str::len);
        match edit {
            Edit::Insert(new) => {
                let new = text::clean(new);
                self.text.insert_str(self.cursor, &new);
                self.cursor += new.len();
                // What was typed may have joined its neighbour to one grapheme.
                self.snap();
                return !new.is_empty();
            }
            Edit::Backspace => return self.cut(self.cursor - left, self.cursor),
            Edit::Delete => return self.cut(self.cursor, self.cursor + right),
            Edit::DeleteWord => {
                let trimmed = before.trim_end();
                let start = trimmed.rfind(' ').map_or(0, |at| at + 1);
                return self.cut(start, self.cursor);
            }
            Edit::DeleteToStart => return self.cut(0, self.cursor),
            Edit::Left => self.cursor -= left,
            Edit::Right => self.cursor += right,
            Edit::Home => self.cursor = 0,
            Edit::End => self.cursor = self.text.len(),
            _ => {}
        }
        false
    }

    fn cut(&mut self, from: usize, to: usize) -> bool {
        self.text.replace_range(from..to, "");
        self.cursor = from;
        self.snap();
        from != to
    }

    fn snap(&mut self) {
        let starts = self.text.grapheme_indices(true).map(|(at, _)| at);
        let next = starts
            .chain([self.text.len()])
            .find(|at| *at >= self.cursor);
        self.cursor = next.unwrap_or(self.text.len());
    }

    /// Draw it into one row; gives the place of the cursor. A long line is shown around the cursor.
    pub fn draw(&self, area: Rect, buf: &mut Buffer, theme: &Theme) -> Option<Position> {
        if area.width < 2 || area.height == 0 {
            return None;
        }
        let style = theme.style(Role::Input);
        let columns = usize::from(area.width);
        let before = text::width(&self.text[..self.cursor]);
        let hidden = (before + 1).saturating_sub(columns);
        let seen = text::skip(&self.text, hidden);
        buf.set_style(Rect { height: 1, ..area }, style);
        text::put(
            buf,
            (area.x, area.y),
            &text::pad(seen, columns, false, ""),
            area.width,
            style,
        );
        let cursor = before.saturating_sub(text::width(&self.text) - text::width(seen));
        let column = u16::try_from(cursor).unwrap_or(0).min(area.width - 1);
        Some(Position::new(area.x + column, area.y))
    }
}
