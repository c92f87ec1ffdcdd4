//! Draws a form, and finds what is at a place of it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Done, Field, Form};
use crate::screens::{Cx, ViewCx};
use crate::theme::{Glyphs, Role};
use crate::widgets::form::{self, Row};
use crate::widgets::text;

/// What stands around the fields.
#[derive(Debug, Clone)]
pub struct Around<'a> {
    /// How it stands with the whole.
    pub state: (String, Role),
    /// What the button does.
    pub button: &'a str,
    /// That in a sentence.
    pub button_help: &'a str,
}

impl Form {
    /// Draw it.
    pub fn draw(&self, around: &Around<'_>, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
        let (rows, _) = self.rows(around.button);
        let cursor = self.cursor_row(&rows);
        let drawn = form::Form {
            state: around.state.clone(),
            cursor,
            rows,
            help: self.help(around, area),
            focused: cx.focused,
        };
        if let Some(at) = drawn.draw(area, buf, cx.theme) {
            cx.cursor.set(Some(at));
        }
    }

    /// What is wrong with it, in a line; none where nothing is known to be.
    #[must_use]
    pub fn trouble(&self, glyphs: &Glyphs) -> Option<(String, Role)> {
        if let Some(whole) = &self.whole {
            return Some((format!("{} {whole}", glyphs.attention), Role::Bad));
        }
        let count = self.faults.len();
        (count > 0).then(|| form::to_correct(count, glyphs))
    }

    /// A click puts the cursor there; where it is already, it does what Enter does.
    pub fn click(&mut self, area: Rect, line: u16, token: u32, cx: &mut Cx<'_>) -> Done {
        cx.redraw();
        let (rows, fields) = self.rows("");
        let drawn = form::Form {
            state: (String::new(), Role::Text),
            cursor: self.cursor_row(&rows),
            rows,
            help: (String::new(), Role::Text),
            focused: true,
        };
        let row = drawn.row_at(area, line);
        let Some(field) = row.and_then(|row| fields.get(row).copied().flatten()) else {
            return Done::Moved;
        };
        let again = field == self.cursor && self.editing.is_none();
        self.editing = None;
        self.go(field);
        if again {
            return self.enter(token, cx);
        }
        Done::Moved
    }

    /// The rows, and for each the field that it belongs to, among those that are seen.
    fn rows<'a>(&'a self, button: &'a str) -> (Vec<Row<'a>>, Vec<Option<usize>>) {
        let (mut rows, mut fields) = (Vec::new(), Vec::new());
        let count = self.shown().count();
        for (index, (_, field)) in self.shown().enumerate() {
            rows.push(Row::Field(self.row(index, field)));
            fields.push(Some(index));
            if let Some(fault) = self.faults.get(&field.spec.name) {
                rows.push(Row::Fault(fault));
                fields.push(Some(index));
            }
        }
        rows.extend([Row::Gap, Row::Button(button)]);
        fields.extend([None, Some(count)]);
        (rows, fields)
    }

    fn cursor_row(&self, rows: &[Row<'_>]) -> usize {
        let is_place = |row: &Row<'_>| matches!(row, Row::Field(_) | Row::Button(_));
        let mut places = rows.iter().enumerate().filter(|(_, row)| is_place(row));
        places.nth(self.cursor).map_or(0, |(row, _)| row)
    }

    fn row<'a>(&'a self, index: usize, field: &'a Field) -> form::Field<'a> {
        let spec = &field.spec;
        let dots = spec.name.matches('.').count();
        let needed = spec.required || self.faults.contains_key(&spec.name);
        let (value, role) = match (field.input.text(), spec.default.as_deref()) {
            ("", None) if needed => ("(needed)".into(), Role::Warn),
            ("", None) => ("-".into(), Role::Dim),
            ("", Some(default)) => (format!("({default})"), Role::Dim),
            (text, _) => (text.to_owned(), Role::Text),
        };
        let here = index == self.cursor;
        form::Field {
            label: &spec.label,
            depth: u16::try_from(dots).unwrap_or(0),
            value,
            role,
            unit: &spec.unit,
            chosen: spec.kind.is_chosen(),
            input: (here && self.editing.is_some()).then_some(&field.input),
        }
    }

    /// What the field with the cursor is; a fault that does not fit its row stands here in full.
    fn help(&self, around: &Around<'_>, area: Rect) -> (String, Role) {
        let Some(field) = self.field() else {
            return (around.button_help.to_owned(), Role::Dim);
        };
        let spec = &field.spec;
        if let Some(fault) = self.faults.get(&spec.name)
            && text::width(fault) + 8 > usize::from(area.width)
        {
            return (fault.clone(), Role::Bad);
        }
        let bounds = Some(&spec.bounds).filter(|bounds| !bounds.is_empty());
        let default = spec.default.as_ref();
        let parts = [
            Some(spec.help.clone()),
            bounds.map(|bounds| format!("{bounds}.")),
            default.map(|default| format!("Default {default}.")),
            Some(spec.kind.takes().to_owned()),
        ];
        let parts = parts.into_iter().flatten();
        let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
        (parts.join(" "), Role::Dim)
    }
}
