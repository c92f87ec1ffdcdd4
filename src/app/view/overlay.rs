//! Draws what lies over the screens: help, palette, questions, lists, messages.

use std::cell::Cell;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use super::places::{below, first_row, labels, last_row, offset, pick_title, size_of};
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

/// One line of the help.
pub(in crate::app) struct HelpLine {
    heading: bool,
    keys: String,
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
    pub(in crate::app) fn help_lines(&self, typed: &str) -> Vec<HelpLine> {
        let typed = typed.trim().to_lowercase();
        let here: Vec<Action> = self.actions_here().collect();
        let mut lines = Vec::new();
        let groups = [Group::Do, Group::View, Group::Move, Group::Program];
        for group in groups {
            let fitting = here.iter().filter(|action| action.info().group == group);
            self.help_part(group.title(), fitting, &typed, &mut lines);
        }
        let others: Vec<Action> = Action::all()
            .iter()
            .map(|info| info.action)
            .filter(|action| !here.contains(action))
            .collect();
        self.help_part("On other screens", others.iter(), &typed, &mut lines);
        lines
    }

    fn help_part<'a>(
        &self,
        title: &str,
        actions: impl Iterator<Item = &'a Action>,
        typed: &str,
        lines: &mut Vec<HelpLine>,
    ) {
        let start = lines.len();
        for action in actions {
            let info = action.info();
            let keys: Vec<String> = self
                .keymap
                .keys(*action)
                .iter()
                .map(|key| key.label())
                .collect();
            let keys = keys.join(" ");
            let whole = format!("{keys} {} {}", info.name, info.help);
            if !whole.to_lowercase().contains(typed) {
                continue;
            }
            lines.push(HelpLine {
                heading: false,
                keys,
                words: format!("{:16} {}", info.name, info.help),
            });
        }
        if lines.len() > start {
            let heading = HelpLine {
                heading: true,
                keys: String::new(),
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
    let lines = model.help_lines(input.text());
    cursor.set(input.draw(first_row(area), buf, theme));
    let body = below(area, 1);
    let keys = lines
        .iter()
        .map(|line| text::width(&line.keys))
        .max()
        .unwrap_or(0);
    if lines.is_empty() {
        text::put(
            buf,
            (body.x, body.y),
            "nothing fits",
            body.width,
            theme.style(Role::Dim),
        );
    }
    for (line, y) in lines.iter().skip(scroll).zip(body.top()..body.bottom()) {
        if line.heading {
            text::put(
                buf,
                (body.x, y),
                &line.words,
                body.width,
                theme.style(Role::Head),
            );
            continue;
        }
        let columns = usize::from(body.width);
        let padded = text::pad(&line.keys, keys.min(columns / 3), false, "");
        let x = text::put(
            buf,
            (body.x + 1, y),
            &padded,
            body.width,
            theme.style(Role::Info),
        );
        let left = (body.right().saturating_sub(x + 2)).saturating_sub(1);
        let words = text::fit(&line.words, usize::from(left), theme.glyphs().more);
        text::put(buf, (x + 2, y), &words, left, theme.style(Role::Text));
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
