//! The files of a job, with a preview of the one under the cursor.

use std::path::PathBuf;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use serde_json::{Value, json};

use super::log::{self, LogView, Source};
use super::summary::time_text;
use crate::app::error_text;
use crate::error::IpcError;
use crate::msg::{Action, Edit};
use crate::rpc::types::{FileEntry, FileEntryKind, FilesMeta, Page};
use crate::screens::listing::split;
use crate::screens::{Cx, Handled, ViewCx};
use crate::theme::Role;
use crate::widgets::table::{self, Cell, Column, Line, Place, Table};
use crate::widgets::text;

const SLOT: &str = "files";
/// From this width on the preview stands beside the list.
const WIDE: u16 = 96;

/// The list and the preview.
#[derive(Debug)]
pub struct Files {
    job: Option<i64>,
    rows: Option<Vec<FileEntry>>,
    directory: String,
    truncated: bool,
    error: Option<String>,
    place: Place,
    preview: LogView,
    /// The preview has the keys.
    opened: bool,
}

impl Default for Files {
    fn default() -> Self {
        Self {
            job: None,
            rows: None,
            directory: String::new(),
            truncated: false,
            error: None,
            place: Place::default(),
            preview: LogView::new(["preview", "preview-back"]),
            opened: false,
        }
    }
}

impl Files {
    /// Forget the job.
    pub fn close(&mut self) {
        self.preview.close();
        self.job = None;
        self.rows = None;
        self.error = None;
        self.place = Place::default();
        self.opened = false;
    }

    /// Read the list.
    pub fn ask(&mut self, job: i64, cx: &mut Cx<'_>) {
        self.job = Some(job);
        cx.ask(SLOT, job, "jobs.files", json!({"id": job}));
    }

    /// Whether the preview has the keys.
    #[must_use]
    pub const fn is_opened(&self) -> bool {
        self.opened
    }

    /// Whether a search is typed.
    #[must_use]
    pub const fn takes_text(&self) -> bool {
        self.opened && self.preview.takes_text()
    }

    /// Change the search that is typed.
    pub fn edit(&mut self, edit: &Edit, area: Rect, cx: &mut Cx<'_>) {
        let area = self.areas(area).1;
        self.preview.edit(edit, area, cx);
    }

    /// Where the file under the cursor is on this machine.
    #[must_use]
    pub fn path(&self) -> Option<PathBuf> {
        let row = self.current()?;
        Some(PathBuf::from(&self.directory).join(&row.path))
    }

    fn current(&self) -> Option<&FileEntry> {
        self.rows.as_ref()?.get(self.place.cursor)
    }

    /// Take an answer in, if it is one of ours.
    pub fn reply(
        &mut self,
        slot: &str,
        tag: i64,
        result: &Result<Value, IpcError>,
        area: Rect,
        cx: &mut Cx<'_>,
    ) -> bool {
        if slot != SLOT {
            return self.preview.reply(slot, tag, result, cx);
        }
        if self.job != Some(tag) {
            return true;
        }
        cx.redraw();
        match result {
            Err(error) => self.error = Some(error_text(error)),
            Ok(value) => {
                let page: Page<FileEntry, FilesMeta> =
                    serde_json::from_value(value.clone()).unwrap_or_default();
                let held = self.current().map(|row| row.path.clone());
                let mut rows = page.data;
                // What only the program itself uses comes last.
                rows.sort_by_key(|row| row.kind == FileEntryKind::Internal);
                self.directory = page.meta.directory;
                self.truncated = page.meta.truncated;
                let at = held.and_then(|path| rows.iter().position(|row| row.path == path));
                let (count, seen) = (rows.len(), table::rows(self.areas(area).0));
                self.rows = Some(rows);
                self.error = None;
                self.place.go(at.unwrap_or(self.place.cursor), count, seen);
                self.show_beside(area, cx);
            }
        }
        true
    }

    /// The list and the preview; side by side where there is room, else one of them.
    fn areas(&self, area: Rect) -> (Rect, Rect) {
        if area.width < WIDE {
            return if self.opened {
                (Rect::ZERO, area)
            } else {
                (area, Rect::ZERO)
            };
        }
        split(area, 45)
    }

    /// The preview follows the cursor where it is seen beside the list.
    fn show_beside(&mut self, area: Rect, cx: &mut Cx<'_>) {
        if area.width >= WIDE || self.opened {
            self.show(cx);
        }
    }

    fn show(&mut self, cx: &mut Cx<'_>) {
        let Some((job, row)) = self.job.zip(self.current()) else {
            return;
        };
        if self.preview.is_about(job) && self.preview.path() == row.path {
            return;
        }
        let bytes = u64::try_from(row.size).unwrap_or(0);
        let source = Source::File(row.path.clone(), bytes);
        self.preview.open(job, source, false, cx);
    }

    /// Do what was asked for.
    pub fn act(&mut self, action: Action, area: Rect, cx: &mut Cx<'_>) -> Handled {
        let (list, preview) = self.areas(area);
        let count = self.rows.as_ref().map_or(0, Vec::len);
        let rows = table::rows(list);
        let (page, half) = (rows.cast_signed(), (rows / 2).max(1).cast_signed());
        match action {
            Action::Copy => {
                if let Some(path) = self.path() {
                    cx.copy("path", &path.display().to_string());
                }
                return Handled::Yes;
            }
            _ if self.opened => {
                if self.preview.act(action, preview, cx) == Handled::Yes {
                    return Handled::Yes;
                }
                match action {
                    Action::Back | Action::Left => self.opened = false,
                    Action::NextFile => self.step(1, count, rows, area, cx),
                    Action::PreviousFile => self.step(-1, count, rows, area, cx),
                    _ => return Handled::No,
                }
            }
            Action::Down | Action::NextFile => self.step(1, count, rows, area, cx),
            Action::Up | Action::PreviousFile => self.step(-1, count, rows, area, cx),
            Action::PageDown => self.step(page, count, rows, area, cx),
            Action::PageUp => self.step(-page, count, rows, area, cx),
            Action::HalfPageDown => self.step(half, count, rows, area, cx),
            Action::HalfPageUp => self.step(-half, count, rows, area, cx),
            Action::Top => self.step(isize::MIN, count, rows, area, cx),
            Action::Bottom => self.step(isize::MAX, count, rows, area, cx),
            Action::Open => {
                self.opened = self.current().is_some();
                self.show(cx);
            }
            _ => return Handled::No,
        }
        cx.redraw();
        Handled::Yes
    }

    fn step(&mut self, by: isize, count: usize, rows: usize, area: Rect, cx: &mut Cx<'_>) {
        self.place.step(by, count, rows);
        self.show_beside(area, cx);
    }

    /// A click at this place: a file, or the preview, which gets the keys.
    pub fn click(&mut self, at: (u16, u16), area: Rect, cx: &mut Cx<'_>) {
        let (list, preview) = self.areas(area);
        let at = Position::new(area.x + at.0, area.y + at.1);
        self.opened = preview.contains(at) && self.current().is_some();
        cx.redraw();
        if !list.contains(at) {
            return;
        }
        let Some(line) = (at.y - list.y).checked_sub(1) else {
            return;
        };
        let count = self.rows.as_ref().map_or(0, Vec::len);
        let to = self.place.offset + usize::from(line);
        if to < count {
            self.place.go(to, count, table::rows(list));
            self.show_beside(area, cx);
        }
    }

    /// Draw it.
    pub fn draw(&self, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
        let theme = cx.theme;
        let (list, preview) = self.areas(area);
        match (&self.rows, &self.error) {
            (None, Some(error)) => {
                text::say(error, area, buf, theme.style(Role::Bad));
                return;
            }
            (None, None) => {
                text::put(
                    buf,
                    (area.x + 1, area.y),
                    "reading",
                    area.width,
                    theme.style(Role::Dim),
                );
                return;
            }
            (Some(rows), _) if rows.is_empty() => {
                let words = "no files yet";
                text::put(
                    buf,
                    (area.x + 1, area.y),
                    words,
                    area.width,
                    theme.style(Role::Dim),
                );
                return;
            }
            (Some(rows), _) => self.draw_list(rows, list, buf, cx),
        }
        if preview.width == 0 {
            return;
        }
        if list.width > 0 {
            for y in area.top()..area.bottom() {
                let bar = theme.glyphs().vertical;
                text::put(buf, (preview.x - 1, y), bar, 1, theme.style(Role::Border));
            }
        }
        if self.preview.is_binary() {
            let size = self
                .current()
                .map_or(0, |row| u64::try_from(row.size).unwrap_or(0));
            let words = format!("binary, {}", text::bytes(size));
            text::put(
                buf,
                (preview.x + 1, preview.y),
                &words,
                preview.width,
                theme.style(Role::Dim),
            );
        } else if self.current().is_some() {
            log::draw(&self.preview, preview, buf, cx);
        }
    }

    fn draw_list(&self, rows: &[FileEntry], area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
        let theme = cx.theme;
        let column = |title: &str, width, share, right, rank| Column {
            title: title.to_owned(),
            width,
            share,
            right,
            rank,
        };
        let columns = [
            column("File", 16, 1, false, 0),
            column("Size", 9, 0, true, 1),
            column("Kind", 8, 0, false, 2),
            column("Changed", 19, 0, false, 3),
        ];
        let style = |role| theme.style(role);
        let row = |index: usize| {
            let Some(file) = rows.get(index) else {
                return Line::default();
            };
            let role = match file.kind {
                FileEntryKind::Input => Role::Info,
                FileEntryKind::Internal => Role::Dim,
                _ => Role::Text,
            };
            let cell = |text: String| Cell {
                text,
                style: style(role),
            };
            let changed = time_text(&file.modified_at);
            Line {
                cells: vec![
                    cell(file.path.clone()),
                    cell(text::bytes(u64::try_from(file.size).unwrap_or(0))),
                    cell(file.kind.as_str().to_owned()),
                    cell(changed.trim_end_matches(" UTC").to_owned()),
                ],
                selected: false,
                faded: cx.data.is_stale(),
            }
        };
        let last = u16::from(self.truncated && area.height > 4);
        let table = Table {
            columns: &columns,
            count: rows.len(),
            place: self.place,
            focused: cx.focused && !self.opened,
            row: &row,
        };
        let body = Rect {
            height: area.height - last,
            ..area
        };
        table::draw(&table, body, buf, theme);
        if last > 0 {
            let words = format!("only the first {} are listed", rows.len());
            text::put(
                buf,
                (area.x + 1, body.bottom()),
                &words,
                area.width,
                theme.style(Role::Warn),
            );
        }
    }
}
