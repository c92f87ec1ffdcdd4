//! Draws the model. Pure: the same model gives the same picture.

mod overlay;
mod places;

use std::cell::Cell;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

use super::layout::{self, Panes};
use super::{ListState, Model};
pub(super) use places::Hit;

use crate::msg::{Action, Link, Tone};
use crate::screens::ViewCx;
use crate::theme::{Role, Theme};
use crate::widgets::{ascii, dialog, frame, text};

/// Draw everything; gives the place of the terminal's cursor, if it is to be seen.
pub fn draw(model: &Model, buf: &mut Buffer) -> Option<Position> {
    let cursor = draw_window(model, buf);
    if model.theme.glyphs().ascii {
        ascii::only(buf, cursor)
    } else {
        cursor
    }
}

fn draw_window(model: &Model, buf: &mut Buffer) -> Option<Position> {
    let window = buf.area;
    buf.set_style(window, model.theme.style(Role::Text));
    let panes = model.panes();
    if panes.panes.is_empty() {
        too_small(model, window, buf);
        return None;
    }
    let cursor = Cell::new(None);
    header(model, panes.header, buf);
    trouble(model, panes.trouble, buf);
    draw_panes(model, &panes, buf, &cursor);
    footer(model, panes.footer, buf);
    toasts(model, panes.footer, buf);
    if model.overlay.is_some() {
        cursor.set(None);
        overlay::draw(model, window, buf, &cursor);
    }
    cursor.get()
}

fn too_small(model: &Model, window: Rect, buf: &mut Buffer) {
    let (columns, rows) = layout::SMALLEST;
    let quit = model.keymap.main_key(Action::Quit);
    let words = format!(
        "{} jobs, {} running. The window is too small: {columns}×{rows} is the least. {quit} leaves, \
         every other key still works; without a screen: crystalmath jobs",
        model.data.jobs.len(),
        model.data.jobs.running(),
    );
    let lines = text::wrap(&words, usize::from(window.width));
    for (line, y) in lines.iter().zip(window.top()..window.bottom()) {
        text::put(
            buf,
            (window.x, y),
            line,
            window.width,
            model.theme.style(Role::Text),
        );
    }
}

fn header(model: &Model, area: Rect, buf: &mut Buffer) {
    let theme = &model.theme;
    let bar = theme.style(Role::Bar);
    buf.set_style(area, bar);
    if layout::brand(model, area) > 1 {
        text::put(
            buf,
            (area.x + 1, area.y),
            "CrystalMath",
            12,
            theme.style(Role::Title).patch(bar),
        );
    }
    let mut end = area.x;
    for tab in layout::tabs(model, area) {
        end = tab.to;
        let active = tab.id == model.tab;
        let style = if active {
            theme.style(Role::TabActive)
        } else {
            bar
        };
        text::put(buf, (tab.from, area.y), &tab.text, tab.to - tab.from, style);
    }
    let (glyph, words, role) = connection(model);
    let words = format!("{glyph} {words} ");
    let columns = u16::try_from(text::width(&words))
        .unwrap_or(0)
        .min(area.width);
    let style = bar.patch(theme.style(role));
    text::put(
        buf,
        (area.right() - columns, area.y),
        &words,
        columns,
        style,
    );
    let room = Rect::new(end, area.y, area.right().saturating_sub(columns + end), 1);
    fleet(model, room, buf);
}

/// The clusters with live jobs, as many as there is room for beside the connection.
fn fleet(model: &Model, room: Rect, buf: &mut Buffer) {
    let bar = model.theme.style(Role::Bar);
    let mut to = room.right();
    for one in model.mentions() {
        let columns = u16::try_from(text::width(&one.words)).unwrap_or(u16::MAX);
        let Some(from) = to.checked_sub(columns.saturating_add(2)) else {
            return;
        };
        if from < room.x.saturating_add(1) {
            return;
        }
        let style = bar.patch(model.theme.style(one.role));
        text::put(buf, (from, room.y), &one.words, columns, style);
        to = from;
    }
}

/// The connection in a glyph and a few words.
fn connection(model: &Model) -> (&'static str, String, Role) {
    let glyphs = model.theme.glyphs();
    let age = model.data.age_s().map(text::age);
    let stale = |word: &str| match &age {
        Some(age) => format!("{word} {} data {age} old", glyphs.dot),
        None => word.to_owned(),
    };
    match &model.data.link {
        Link::Ready(_) if model.data.is_live() => (glyphs.live, "live".into(), Role::Good),
        Link::Ready(_) if model.data.jobs.list == ListState::Loading => {
            (glyphs.live, "reading the list".into(), Role::Info)
        }
        Link::Ready(_) => (glyphs.away, stale("list not read"), Role::Bad),
        Link::Starting => (glyphs.away, stale("daemon starting"), Role::Warn),
        Link::Reconnecting => (glyphs.away, stale("reconnecting"), Role::Warn),
        Link::Busy => (glyphs.away, stale("daemon busy"), Role::Warn),
        Link::Down { .. } => (glyphs.away, stale("no daemon"), Role::Bad),
    }
}

fn trouble(model: &Model, area: Rect, buf: &mut Buffer) {
    let more = model.theme.glyphs().more;
    let style = model.theme.style(Role::Bad);
    for (line, y) in model.trouble().iter().zip(area.top()..area.bottom()) {
        let line = text::fit(line, usize::from(area.width).saturating_sub(2), more);
        text::put(buf, (area.x + 1, y), &line, area.width, style);
    }
}

fn draw_panes(model: &Model, panes: &Panes, buf: &mut Buffer, cursor: &Cell<Option<Position>>) {
    let focused = model.focused();
    // The pane with the keys is drawn last, so that the shared line has its colour.
    let mut order: Vec<_> = panes.panes.iter().collect();
    order.sort_by_key(|pane| pane.id == focused);
    for pane in order {
        let Some(screen) = model.screen(pane.id) else {
            continue;
        };
        let has_keys = pane.id == focused && model.overlay.is_none();
        let cx = ViewCx {
            theme: &model.theme,
            data: &model.data,
            keymap: &model.keymap,
            focused: has_keys,
            cursor,
        };
        let title = screen.title(&model.data);
        frame::draw(
            pane.frame,
            buf,
            &model.theme,
            &title,
            pane.id == focused,
            panes.boxed,
        );
        screen.view(pane.inner, buf, &cx);
    }
    if let [left, right] = panes.panes[..] {
        let (top, bottom) = (left.frame.y, left.frame.bottom() - 1);
        frame::join(buf, &model.theme, right.frame.x, top, bottom, true);
    }
}

/// The keys that work here.
fn footer(model: &Model, area: Rect, buf: &mut Buffer) {
    let theme = &model.theme;
    let bar = theme.style(Role::Bar);
    buf.set_style(area, bar);
    if model.takes_text() && model.overlay.is_none() {
        let words = " Enter take   Esc leave   Ctrl-u empty";
        text::put(buf, (area.x, area.y), words, area.width, bar);
        return;
    }
    for hint in layout::hints(model, area) {
        let left = area.right().saturating_sub(hint.from);
        let key = bar.patch(theme.style(Role::Key));
        let x = text::put(buf, (hint.from, area.y), &hint.key, left, key);
        let title = format!(" {}", hint.action.info().title);
        text::put(
            buf,
            (x, area.y),
            &title,
            area.right().saturating_sub(x),
            bar,
        );
    }
}

pub(super) const fn tone_role(tone: Tone) -> Role {
    match tone {
        Tone::Good => Role::Good,
        Tone::Info => Role::Info,
        Tone::Warn => Role::Warn,
        Tone::Bad => Role::Bad,
    }
}

pub(super) fn tone_glyph(tone: Tone, theme: &Theme) -> &'static str {
    match tone {
        Tone::Good => theme.glyphs().completed,
        Tone::Info => theme.glyphs().dot,
        Tone::Warn => theme.glyphs().attention,
        Tone::Bad => theme.glyphs().failed,
    }
}

/// The newest messages, above the footer on the right.
fn toasts(model: &Model, footer: Rect, buf: &mut Buffer) {
    let theme = &model.theme;
    let room = usize::from(footer.width.min(76)).saturating_sub(6);
    let mut bottom = footer.y;
    for toast in model.toasts.seen(model.data.now) {
        let lines = text::wrap(&toast.text, room);
        let lines = &lines[..lines.len().min(3)];
        let columns = lines
            .iter()
            .map(|line| text::width(line))
            .max()
            .unwrap_or(0)
            + 4;
        let (Ok(width), Ok(height)) = (u16::try_from(columns), u16::try_from(lines.len())) else {
            continue;
        };
        let Some(top) = bottom.checked_sub(height).filter(|top| *top > 1) else {
            return;
        };
        let area = Rect::new(footer.right().saturating_sub(width), top, width, height);
        dialog::clear(area, buf, theme);
        let style = theme.style(tone_role(toast.tone));
        buf.set_style(area, theme.style(Role::Bar).patch(style));
        text::put(
            buf,
            (area.x + 1, area.y),
            tone_glyph(toast.tone, theme),
            1,
            style,
        );
        for (line, y) in lines.iter().zip(area.top()..) {
            text::put(buf, (area.x + 3, y), line, width - 3, style);
        }
        bottom = top;
    }
}
