//! A text that is written to a file: where to is typed, and a file that is there is only replaced
//! when the user says so. For every screen that has something to save.

use std::path::PathBuf;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::new_job::absolute;
use super::{Cx, Question, ViewCx};
use crate::msg::{Edit, Tone, Unwritten};
use crate::theme::Role;
use crate::widgets::input::TextLine;
use crate::widgets::{dialog, text};

/// The slot of what is being written.
pub const SLOT: &str = "save-text";
/// The token of the question whether a file may be replaced.
pub const ASK_REPLACE: u32 = 90;

/// Where the text goes, while it is asked for and written.
#[derive(Debug)]
pub struct Save {
    title: String,
    text: String,
    input: TextLine,
    error: Option<String>,
    /// Where it is being written.
    writing: Option<PathBuf>,
}

impl Save {
    /// Ask where to write `text`; `name` is proposed.
    #[must_use]
    pub fn new(title: &str, name: &str, text: &str) -> Self {
        Self {
            title: title.to_owned(),
            text: text.to_owned(),
            input: TextLine::of(name),
            error: None,
            writing: None,
        }
    }

    fn write(&mut self, path: PathBuf, replace: bool, cx: &mut Cx<'_>) {
        self.error = None;
        self.writing = Some(path.clone());
        cx.write_text(SLOT, path, self.text.clone(), replace);
    }
}

/// Take a key in, while a [`Save`] is open; it is gone when it was given up.
pub fn edit(save: &mut Option<Save>, edit: &Edit, cx: &mut Cx<'_>) {
    let Some(one) = save else { return };
    cx.redraw();
    match edit {
        Edit::Cancel => *save = None,
        // What is being written has to be waited for.
        _ if one.writing.is_some() => {}
        Edit::Submit if one.input.text().trim().is_empty() => {
            one.error = Some("type the name of a file".into());
        }
        Edit::Submit => {
            let path = absolute(one.input.text().trim(), &cx.data().client);
            one.write(path, false, cx);
        }
        edit => {
            if one.input.apply(edit) {
                one.error = None;
            }
        }
    }
}

/// It was written, or not; gives the file when it was.
pub fn written(
    save: &mut Option<Save>,
    result: &Result<(), Unwritten>,
    cx: &mut Cx<'_>,
) -> Option<PathBuf> {
    let one = save.as_mut()?;
    let path = one.writing.clone()?;
    cx.redraw();
    match result {
        Ok(()) => {
            *save = None;
            cx.toast(Tone::Good, format!("{} is written", path.display()));
            return Some(path);
        }
        Err(Unwritten::Exists) => {
            let question = Question {
                title: "Replace the file?".into(),
                lines: vec![
                    path.display().to_string(),
                    "What stands in it is then gone.".into(),
                ],
                yes: "Replace".into(),
            };
            cx.question(ASK_REPLACE, question);
        }
        Err(Unwritten::Failed(why)) => {
            one.writing = None;
            one.error = Some(why.clone());
        }
    }
    None
}

/// Whether to replace the file was answered.
pub fn answered(save: &mut Option<Save>, yes: bool, cx: &mut Cx<'_>) {
    let Some(one) = save else { return };
    let Some(path) = one.writing.take() else {
        return;
    };
    cx.redraw();
    if yes {
        one.write(path, true, cx);
    } else {
        one.error = Some("there is such a file; type another name".into());
    }
}

/// Draw it over `area`.
pub fn draw(save: &Save, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
    let theme = cx.theme;
    let columns = area.width.saturating_sub(8).min(64);
    let (words, role) = match (&save.error, &save.writing) {
        (Some(error), _) => (format!("{} {error}", theme.glyphs().attention), Role::Bad),
        (None, Some(_)) => ("writing".to_owned(), Role::Running),
        (None, None) => {
            let here = cx.data.client.directory.display();
            (
                format!("Enter writes it, Esc gives up. From {here}."),
                Role::Dim,
            )
        }
    };
    let mut lines = text::wrap(&words, usize::from(columns));
    lines.truncate(usize::from(area.height.saturating_sub(4)).max(1));
    let rows = u16::try_from(lines.len()).unwrap_or(1);
    let inside = dialog::open(area, (columns, rows + 1), &save.title, buf, theme);
    let line = Rect::new(inside.x, inside.y, inside.width, 1.min(inside.height));
    let cursor = save.input.draw(line, buf, theme);
    if cx.focused && save.writing.is_none() {
        cx.cursor.set(cursor);
    }
    for (line, y) in lines.iter().zip(inside.top() + 1..inside.bottom()) {
        text::put(buf, (inside.x, y), line, inside.width, theme.style(role));
    }
}
