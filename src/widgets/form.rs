//! The rows of a form: names, what is written, what is wrong, and below them what the field with the
//! cursor is. Only draws; the form itself is kept by a screen.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::input::TextLine;
use super::{scrollbar, text};
use crate::theme::{Glyphs, Role, Theme};

/// Columns of the names of fields.
const NAMES: u16 = 23;
/// Rows below the form that explain the field, with the line above them; one more where there is room.
const HELP: u16 = 3;
const HELP_IN_TALL: u16 = 4;
const TALL: u16 = 20;

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub enum Row<'a> {
    /// The name of a part.
    Heading(&'a str),
    /// A field.
    Field(Field<'a>),
    /// What is wrong with the field above.
    Fault(&'a str),
    /// Nothing.
    Gap,
    /// What is done with the form.
    Button(&'a str),
}

/// One field.
#[derive(Debug, Clone, PartialEq)]
pub struct Field<'a> {
    /// Its name, for people.
    pub label: &'a str,
    /// How many switches it stands under.
    pub depth: u16,
    /// What is written, else what applies then.
    pub value: String,
    /// How that looks.
    pub role: Role,
    /// Its unit; may be empty.
    pub unit: &'a str,
    /// Whether it is chosen, not written.
    pub chosen: bool,
    /// What is written, while keys are text.
    pub input: Option<&'a TextLine>,
}

/// What there is to draw.
#[derive(Debug)]
pub struct Form<'a> {
    /// How it stands with the whole, above the rows.
    pub state: (String, Role),
    /// The rows.
    pub rows: Vec<Row<'a>>,
    /// The row with the cursor.
    pub cursor: usize,
    /// What the row with the cursor is.
    pub help: (String, Role),
    /// Whether keys go there.
    pub focused: bool,
}

/// How it stands with a form that has so many faults.
#[must_use]
pub fn to_correct(faults: usize, glyphs: &Glyphs) -> (String, Role) {
    let many = if faults == 1 { "" } else { "s" };
    let words = format!("{} {faults} thing{many} to correct", glyphs.attention);
    (words, Role::Warn)
}

impl Form<'_> {
    /// The first row that is seen, so that the one with the cursor and its fault are.
    fn offset(&self, seen: usize) -> usize {
        let below = self.rows.get(self.cursor + 1);
        let fault = usize::from(matches!(below, Some(Row::Fault(_))));
        // One more row of what follows, where there is one.
        let last = self.cursor + fault + 2;
        last.min(self.rows.len()).saturating_sub(seen.max(1))
    }

    /// The row at this line of the area.
    #[must_use]
    pub fn row_at(&self, area: Rect, line: u16) -> Option<usize> {
        let body = body(area);
        let line = usize::from(line.checked_sub(1)?);
        let at = self.offset(usize::from(body.height)) + line;
        (line < usize::from(body.height) && at < self.rows.len()).then_some(at)
    }

    /// Draw it; gives the place of the terminal's cursor while a field is written in.
    pub fn draw(&self, area: Rect, buf: &mut Buffer, theme: &Theme) -> Option<Position> {
        if area.height < 4 || area.width < 30 {
            return None;
        }
        let room = area.width.saturating_sub(2);
        let more = theme.glyphs().more;
        let (words, role) = &self.state;
        let words = text::fit(words, usize::from(room), more);
        text::put(buf, (area.x + 1, area.y), &words, room, theme.style(*role));
        let body = body(area);
        let first = self.offset(usize::from(body.height));
        let mut cursor = None;
        let rows = self.rows.iter().enumerate().skip(first);
        for ((index, row), y) in rows.zip(body.top()..body.bottom()) {
            let line = Rect::new(area.x, y, area.width, 1);
            cursor = cursor.or(self.draw_row(row, index == self.cursor, line, buf, theme));
        }
        scrollbar::draw(body, buf, theme, first, self.rows.len());
        let help = Rect {
            y: body.bottom(),
            height: area.bottom().saturating_sub(body.bottom()),
            ..area
        };
        self.draw_help(help, buf, theme);
        cursor
    }

    fn draw_row(
        &self,
        row: &Row<'_>,
        here: bool,
        line: Rect,
        buf: &mut Buffer,
        theme: &Theme,
    ) -> Option<Position> {
        let room = line.width.saturating_sub(2);
        match row {
            Row::Heading(words) => {
                let style = theme.style(Role::Head);
                text::put(buf, (line.x + 1, line.y), words, room, style);
            }
            Row::Field(field) => return self.draw_field(field, here, line, buf, theme),
            Row::Fault(fault) => {
                let words = format!("{} {fault}", theme.glyphs().attention);
                let left = line.width.saturating_sub(6);
                let words = text::fit(&words, usize::from(left), theme.glyphs().more);
                let style = theme.style(Role::Bad);
                text::put(buf, (line.x + 4, line.y), &words, left, style);
            }
            Row::Gap => {}
            Row::Button(words) => {
                let (words, role) = if here {
                    (format!("[ {words} ]"), self.cursor_role())
                } else {
                    (format!("  {words}  "), Role::Text)
                };
                text::put(buf, (line.x + 2, line.y), &words, room, theme.style(role));
            }
        }
        None
    }

    const fn cursor_role(&self) -> Role {
        if self.focused {
            Role::Cursor
        } else {
            Role::CursorAway
        }
    }

    fn draw_field(
        &self,
        field: &Field<'_>,
        here: bool,
        line: Rect,
        buf: &mut Buffer,
        theme: &Theme,
    ) -> Option<Position> {
        let more = theme.glyphs().more;
        let indent = " ".repeat(usize::from(2 + 2 * field.depth.min(4)));
        let name = format!("{indent}{}", field.label);
        let name = text::pad(&name, usize::from(NAMES - 1), false, more);
        let style = theme.style(Role::Text);
        text::put(buf, (line.x, line.y), &name, NAMES, style);
        let unit = u16::try_from(text::width(field.unit)).unwrap_or(0);
        let left = line.width.saturating_sub(NAMES + unit + 3);
        let place = Rect::new(line.x + NAMES, line.y, left, 1);
        let dim = theme.style(Role::Dim);
        let at = line.right().saturating_sub(unit + 2);
        text::put(buf, (at, line.y), field.unit, unit, dim);
        if let Some(input) = field.input {
            return input.draw(place, buf, theme).filter(|_| self.focused);
        }
        let words = if field.chosen && here {
            format!("< {} >", field.value)
        } else {
            field.value.clone()
        };
        let words = text::fit(&words, usize::from(left), more);
        let style = theme.style(field.role);
        text::put(buf, (place.x, place.y), &words, left, style);
        if here {
            let row = Rect::new(line.x, line.y, line.width.saturating_sub(1), 1);
            buf.set_style(row, theme.style(self.cursor_role()));
        }
        None
    }

    fn draw_help(&self, area: Rect, buf: &mut Buffer, theme: &Theme) {
        let line = theme.glyphs().horizontal.repeat(usize::from(area.width));
        let border = theme.style(Role::Border);
        text::put(buf, (area.x, area.y), &line, area.width, border);
        let room = area.width.saturating_sub(2);
        let (words, role) = &self.help;
        let lines = text::wrap(words, usize::from(room));
        for (line, y) in lines.iter().zip(area.top() + 1..area.bottom()) {
            text::put(buf, (area.x + 1, y), line, room, theme.style(*role));
        }
    }
}

/// Where the rows are.
fn body(area: Rect) -> Rect {
    let help = if area.height >= TALL {
        HELP_IN_TALL
    } else {
        HELP
    };
    Rect {
        y: area.y + 1,
        height: area.height.saturating_sub(help + 1).max(1),
        ..area
    }
}
