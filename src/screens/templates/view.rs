//! Draws the templates: the list with what is known of one, or the form with what comes of it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::fill::{Filler, Pane};
use super::{Templates, detail};
use crate::msg::{Action, Link};
use crate::screens::form::Around;
use crate::screens::listing::{Seen, below, column, link_words, said};
use crate::screens::wording::speak;
use crate::screens::{ViewCx, save};
use crate::theme::Role;
use crate::widgets::table::{Cell, Column, Line};
use crate::widgets::text;

/// From this width on form and text stand side by side.
const WIDE: u16 = 100;
/// The most lines of warnings above the text.
const WARNINGS: usize = 3;

pub(super) fn draw(screen: &Templates, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
    if let Some(filler) = &screen.filler {
        return draw_filler(filler, area, buf, cx);
    }
    let stale = !matches!(cx.data.link, Link::Ready(_));
    let row = |index: usize| Line {
        cells: cells(screen, index, cx),
        selected: false,
        faded: stale,
    };
    let attention = cx.theme.glyphs().attention;
    let above = screen.error.iter();
    let above = above.map(|error| (format!("{attention} not read: {error}"), Role::Bad));
    let facts = detail::lines(screen);
    let seen = Seen {
        above: above.collect(),
        columns: &columns(),
        rows: screen.rows.len(),
        row: &row,
        facts: &facts,
        empty: empty(screen, cx),
        stale,
    };
    screen.listing.draw(&seen, area, buf, cx);
}

fn empty(screen: &Templates, cx: &ViewCx<'_>) -> String {
    match link_words(cx) {
        Some(words) => words,
        None if screen.error.is_some() => {
            let key = cx.keymap.main_key(Action::Refresh);
            format!("{key} tries again.")
        }
        None if !screen.is_read => "reading".into(),
        None => format!(
            "There are no templates. Your own are read from {}.",
            screen.folder
        ),
    }
}

fn columns() -> Vec<Column> {
    vec![
        column("Template", 20, 2, false, 0),
        column("Title", 20, 3, false, 1),
        column("For", 10, 0, false, 2),
        column("From", 7, 0, false, 3),
        column("Trouble", 10, 3, false, 1),
    ]
}

fn cells(screen: &Templates, index: usize, cx: &ViewCx<'_>) -> Vec<Cell> {
    let Some(template) = screen.rows.get(index) else {
        return Vec::new();
    };
    let theme = cx.theme;
    let plain = |text: String| said(text, Role::Text, theme);
    let trouble = match &template.problem {
        Some(problem) => {
            let words = format!("{} {}", theme.glyphs().failed, speak(&problem.message));
            said(words, Role::Bad, theme)
        }
        None if template.shadowed => said("your own is used", Role::Dim, theme),
        None => plain(String::new()),
    };
    let origin = match template.origin.as_str() {
        "user" => "own",
        _ => "program",
    };
    vec![
        plain(template.id.clone()),
        plain(template.title.clone()),
        plain(detail::kind(template)),
        plain(origin.to_owned()),
        trouble,
    ]
}

/// Where form and text are; in a narrow window one of them is empty.
fn areas(filler: &Filler, area: Rect) -> (Rect, Rect) {
    if area.width >= WIDE {
        let left = area.width / 2;
        let form = Rect {
            width: left,
            ..area
        };
        let rest = Rect {
            x: area.x + left + 1,
            width: area.width - left - 1,
            ..area
        };
        return (form, rest);
    }
    match filler.pane {
        Pane::Form => (area, Rect::ZERO),
        Pane::Text => (Rect::ZERO, area),
    }
}

pub(super) fn form_area(filler: &Filler, area: Rect) -> Rect {
    areas(filler, area).0
}

/// Where the text is, below the warnings.
pub(super) fn text_area(filler: &Filler, area: Rect) -> Rect {
    let rest = areas(filler, area).1;
    below(rest, warnings(filler, rest).len())
}

/// What the daemon says beside the marks, in lines.
fn warnings(filler: &Filler, area: Rect) -> Vec<String> {
    let room = usize::from(area.width).saturating_sub(2);
    let said = filler.warnings().iter();
    // What the linter says is said by its marks.
    let said = said.filter(|warning| !filler.is_mark(warning));
    let lines = said.flat_map(|warning| text::wrap(&speak(warning), room));
    lines.take(WARNINGS).collect()
}

fn draw_filler(filler: &Filler, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
    if area.height < 4 || area.width < 20 {
        return;
    }
    let (form, rest) = areas(filler, area);
    if form.width > 0 {
        let around = Around {
            state: state(filler, cx),
            button: "Submit as a job",
            button_help: "Go on to a new job with the files that come of it.",
        };
        let focused = cx.focused && filler.pane == Pane::Form;
        let cx = ViewCx { focused, ..*cx };
        filler.form.draw(&around, form, buf, &cx);
    }
    if rest.width > 0 {
        if form.width > 0 {
            for y in area.top()..area.bottom() {
                let bar = cx.theme.glyphs().vertical;
                text::put(buf, (rest.x - 1, y), bar, 1, cx.theme.style(Role::Border));
            }
        }
        draw_text(filler, rest, buf, cx);
    }
    if let Some(save) = &filler.save {
        save::draw(save, area, buf, cx);
    }
}

fn draw_text(filler: &Filler, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
    let room = area.width.saturating_sub(2);
    if filler.deck.is_empty() {
        let words = "nothing to show yet";
        let style = cx.theme.style(Role::Dim);
        text::put(buf, (area.x + 1, area.y), words, room, style);
        return;
    }
    let said = warnings(filler, area);
    let style = cx.theme.style(Role::Warn);
    for (line, y) in said.iter().zip(area.top()..area.bottom()) {
        text::put(buf, (area.x + 1, y), line, room, style);
    }
    let current = filler.is_current();
    let files = filler
        .result
        .as_ref()
        .map_or(0, |result| result.files.len());
    let mut name = filler.file_name().unwrap_or_default().to_owned();
    if files > 1 {
        name = format!("{name} ({} of {files})", filler.file + 1);
    }
    if !current {
        name = format!("{name} as it was");
    }
    let is_old = !current || !matches!(cx.data.link, Link::Ready(_));
    let area = below(area, said.len());
    filler.deck.draw(&name, area, buf, cx, is_old);
}

/// How it stands with the whole.
fn state(filler: &Filler, cx: &ViewCx<'_>) -> (String, Role) {
    let glyphs = cx.theme.glyphs();
    if let Some(trouble) = filler.form.trouble(glyphs) {
        return trouble;
    }
    if !matches!(cx.data.link, Link::Ready(_)) {
        let words = format!("{} no daemon to fill it in", glyphs.attention);
        return (words, Role::Warn);
    }
    if !filler.is_current() {
        return ("filling in".into(), Role::Dim);
    }
    match filler.errors() {
        0 => (format!("{} filled in", glyphs.completed), Role::Good),
        1 => (
            format!("{} the linter finds an error", glyphs.failed),
            Role::Bad,
        ),
        count => {
            let words = format!("{} the linter finds {count} errors", glyphs.failed);
            (words, Role::Bad)
        }
    }
}
