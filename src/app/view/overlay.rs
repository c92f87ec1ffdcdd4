//! Draws what lies over the screens: help, palette, questions, lists, messages.

use std::cell::Cell;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use super::places::{below, first_row, help_size, labels, last_row, offset, pick_title, size_of};
use super::{tone_glyph, tone_role};
use crate::app::Model;
use crate::app::cx::{Picker, Question};
use crate::app::overlays::Overlay;
use crate::app::palette::Palette;
use crate::msg::{Action, Group};
use crate::theme::Role;
use crate::widgets::input::TextLine;
use crate::widgets::viewer::{self, Viewer};
use crate::widgets::{dialog, scrollbar, text};

/// Columns of the names in the help, and of its keys at most.
const NAMES: usize = 15;
const KEYS: usize = 24;

/// One row of the help; what does not fit one goes on in the next.
pub(in crate::app) struct HelpRow {
    heading: bool,
    keys: String,
    name: String,
    words: String,
}

pub(super) fn draw(model: &Model, window: Rect, buf: &mut Buffer, cursor: &Cell<Option<Position>>) {
    let Some(overlay) = &model.overlay else {
        return;
    };
    let size = size_of(model, overlay, window);
    let open = |title: &str, buf: &mut Buffer| dialog::open(window, size, title, buf, &model.theme);
    match overlay {
        Overlay::Help { input, scroll } => {
            let area = open("Help: type to filter, Esc closes", buf);
            help(model, input, *scroll, area, buf, cursor);
        }
        Overlay::Palette(palette) => {
            let area = open("Command: Enter runs, Tab completes, Esc closes", buf);
            draw_palette(model, palette, area, buf, cursor);
        }
        Overlay::Confirm { question, yes, .. } => {
            let area = open(&question.title, buf);
            confirm(model, question, *yes, area, buf);
        }
        Overlay::Pick { picker, cursor, .. } => {
            let area = open(&pick_title(picker), buf);
            pick(model, picker, *cursor, area, buf);
        }
        Overlay::Messages { scroll } => {
            let area = open("Messages: Esc closes", buf);
            messages(model, *scroll, area, buf);
        }
    }
}

impl Model {
    /// The help: what works here, then everything else; only what fits the text.
    pub(in crate::app) fn help_rows(&self, typed: &str) -> Vec<HelpRow> {
        let window = Rect::new(0, 0, self.size.0, self.size.1);
        let columns = dialog::places(window, help_size(window)).1.width;
        let words = usize::from(columns)
            .saturating_sub(self.key_columns() + NAMES + 5)
            .max(12);
        let typed = typed.trim().to_lowercase();
        let here: Vec<Action> = self.actions_here().collect();
        let mut lines = Vec::new();
        let groups = [Group::Do, Group::View, Group::Move, Group::Program];
        for group in groups {
            let fitting = here.iter().filter(|action| action.info().group == group);
            self.help_part(group.title(), fitting, &typed, words, &mut lines);
        }
        let others: Vec<Action> = Action::all()
            .iter()
            .map(|info| info.action)
            .filter(|action| !here.contains(action))
            .collect();
        self.help_part("On other screens", others.iter(), &typed, words, &mut lines);
        lines
    }

    fn keys_of(&self, action: Action) -> String {
        let keys = self.keymap.keys(action).iter();
        keys.map(|key| key.label()).collect::<Vec<_>>().join(" ")
    }

    fn key_columns(&self) -> usize {
        let all = Action::all().iter();
        let columns = all.map(|info| text::width(&self.keys_of(info.action)));
        columns.max().unwrap_or(0).min(KEYS)
    }

    fn help_part<'a>(
        &self,
        title: &str,
        actions: impl Iterator<Item = &'a Action>,
        typed: &str,
        columns: usize,
        lines: &mut Vec<HelpRow>,
    ) {
        let start = lines.len();
        for action in actions {
            let info = action.info();
            let keys = self.keys_of(*action);
            let whole = format!("{keys} {} {}", info.name, info.help);
            if !whole.to_lowercase().contains(typed) {
                continue;
            }
            let parts = text::wrap(info.help, columns).into_iter();
            lines.extend(parts.enumerate().map(|(index, words)| {
                let first = |text: &str| {
                    if index == 0 {
                        text.to_owned()
                    } else {
                        String::new()
                    }
                };
                HelpRow {
                    heading: false,
                    keys: first(&keys),
                    name: first(info.name),
                    words,
                }
            }));
        }
        if lines.len() > start {
            let heading = HelpRow {
                heading: true,
                keys: String::new(),
                name: String::new(),
                words: title.to_owned(),
            };
            lines.insert(start, heading);
        }
    }
}

fn help(
    model: &Model,
    input: &TextLine,
    scroll: usize,
    area: Rect,
    buf: &mut Buffer,
    cursor: &Cell<Option<Position>>,
) {
    let theme = &model.theme;
    let lines = model.help_rows(input.text());
    cursor.set(input.draw(first_row(area), buf, theme));
    let body = below(area, 1);
    if lines.is_empty() {
        let dim = theme.style(Role::Dim);
        text::put(buf, (body.x, body.y), "nothing fits", body.width, dim);
    }
    let more = theme.glyphs().more;
    let columns = model.key_columns();
    for (line, y) in lines.iter().skip(scroll).zip(body.top()..body.bottom()) {
        if line.heading {
            let head = theme.style(Role::Head);
            text::put(buf, (body.x, y), &line.words, body.width, head);
            continue;
        }
        let keys = text::pad(&line.keys, columns, false, more);
        let rest = format!(
            " {} {}",
            text::pad(&line.name, NAMES, false, more),
            line.words
        );
        let info = theme.style(Role::Info);
        let x = text::put(buf, (body.x + 1, y), &keys, body.width, info);
        // The last column is that of the scroll bar.
        let left = body.right().saturating_sub(x + 1);
        text::put(buf, (x, y), &rest, left, theme.style(Role::Text));
    }
    scrollbar::draw(body, buf, theme, scroll, lines.len());
}

fn draw_palette(
    model: &Model,
    palette: &Palette,
    area: Rect,
    buf: &mut Buffer,
    cursor: &Cell<Option<Position>>,
) {
    let theme = &model.theme;
    cursor.set(palette.input.draw(first_row(area), buf, theme));
    let body = below(area, 1);
    let offset = offset(body, palette.cursor);
    if palette.entries.is_empty() {
        text::put(
            buf,
            (body.x, body.y),
            "nothing fits",
            body.width,
            theme.style(Role::Dim),
        );
    }
    for (index, y) in (offset..palette.entries.len()).zip(body.top()..body.bottom()) {
        let entry = &palette.entries[index];
        let key = &entry.key;
        let columns = usize::from(body.width).saturating_sub(19 + 10);
        let line = format!(
            " {} {} {} ",
            text::pad(&entry.title, 17, false, theme.glyphs().more),
            text::pad(&entry.help, columns, false, theme.glyphs().more),
            text::pad(key, 7, true, ""),
        );
        text::put(buf, (body.x, y), &line, body.width, theme.style(Role::Text));
        if index == palette.cursor {
            buf.set_style(
                Rect::new(body.x, y, body.width, 1),
                theme.style(Role::Cursor),
            );
        }
    }
    scrollbar::draw(body, buf, theme, offset, palette.entries.len());
}

fn confirm(model: &Model, question: &Question, yes: bool, area: Rect, buf: &mut Buffer) {
    let theme = &model.theme;
    let body = Rect {
        height: area.height.saturating_sub(2),
        ..area
    };
    for (line, y) in question.lines.iter().zip(body.top()..body.bottom()) {
        let line = text::fit(line, usize::from(body.width), theme.glyphs().more);
        text::put(buf, (body.x, y), &line, body.width, theme.style(Role::Text));
    }
    let (no, yes_label) = labels(question);
    dialog::buttons(last_row(area), buf, theme, [no, &yes_label], yes);
}

fn pick(model: &Model, picker: &Picker, cursor: usize, area: Rect, buf: &mut Buffer) {
    let theme = &model.theme;
    let rows = picker.choices.len();
    let offset = offset(area, cursor);
    for (index, y) in (offset..rows).zip(area.top()..area.bottom()) {
        let choice = &picker.choices[index];
        let mark = match (picker.several, choice.chosen) {
            (false, _) => "",
            (true, true) => theme.glyphs().boxes[0],
            (true, false) => theme.glyphs().boxes[1],
        };
        let line = format!(" {mark} {}", choice.title);
        let line = text::fit(
            line.trim_end(),
            usize::from(area.width),
            theme.glyphs().more,
        );
        text::put(buf, (area.x, y), &line, area.width, theme.style(Role::Text));
        if index == cursor {
            buf.set_style(
                Rect::new(area.x, y, area.width, 1),
                theme.style(Role::Cursor),
            );
        }
    }
    scrollbar::draw(area, buf, theme, offset, rows);
}

fn messages(model: &Model, scroll: usize, area: Rect, buf: &mut Buffer) {
    let theme = &model.theme;
    let all: Vec<_> = model.toasts.history().collect();
    if all.is_empty() {
        text::put(
            buf,
            (area.x, area.y),
            "none so far",
            area.width,
            theme.style(Role::Dim),
        );
    }
    let line = |index: usize| -> (String, Style) {
        let toast = all[index];
        let ago = text::age((model.data.now - toast.at).max(0.0));
        let glyph = tone_glyph(toast.tone, theme);
        (
            format!("{ago:>4}  {glyph} {}", toast.text),
            theme.style(tone_role(toast.tone)),
        )
    };
    let viewer = Viewer {
        count: all.len(),
        offset: scroll,
        left: 0,
        line: &line,
    };
    viewer::draw(&viewer, area, buf, theme);
}
