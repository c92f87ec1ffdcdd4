//! Draws the structures: the list with how each provider does, and beside it one of them with its cell.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::row::Row;
use super::search::Standing;
use super::{Materials, detail};
use crate::msg::{Action, Link};
use crate::rpc::types::ProviderAnswer;
use crate::screens::ViewCx;
use crate::screens::listing::{Seen, column, link_words, said};
use crate::screens::new_job::view::files;
use crate::screens::wording::speak;
use crate::theme::{Glyphs, Role, Theme};
use crate::widgets::table::{Cell, Column, Line};
use crate::widgets::{cell, text};

/// From this width on the cell stands beside the facts, not above them.
const WIDE: u16 = 72;
/// Columns of the cell beside them.
const PICTURE: u16 = 40;

/// The part of the detail that has the facts.
pub(super) fn facts_in(detail: Rect) -> Rect {
    parts(detail).1
}

/// The cell and the facts.
fn parts(detail: Rect) -> (Rect, Rect) {
    if detail.width >= WIDE {
        let picture = Rect {
            width: PICTURE,
            ..detail
        };
        let facts = Rect {
            x: detail.x + PICTURE,
            width: detail.width - PICTURE,
            ..detail
        };
        return (picture, facts);
    }
    let rows = detail.height / 2;
    let picture = Rect {
        height: rows,
        ..detail
    };
    let facts = Rect {
        y: detail.y + rows,
        height: detail.height - rows,
        ..detail
    };
    (picture, facts)
}

pub(super) fn draw(screen: &Materials, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
    if let Some(chooser) = &screen.import {
        if area.height >= 4 && area.width >= 20 {
            files::draw(chooser, area, buf, cx);
        }
        return;
    }
    if screen.writer.is_open() {
        return screen.writer.draw(area, buf, cx);
    }
    let stale = !matches!(cx.data.link, Link::Ready(_));
    let rows: Vec<&Row> = screen.rows().collect();
    let row = |index: usize| Line {
        cells: rows
            .get(index)
            .map_or_else(Vec::new, |one| cells(one, cx.theme)),
        selected: false,
        faded: stale,
    };
    let (list, rest) = screen.listing.areas(area);
    let facts = detail::lines(screen, cx.theme.glyphs());
    let seen = Seen {
        above: above(screen, list, cx.data.now, cx.theme.glyphs()),
        columns: &columns(),
        rows: rows.len(),
        row: &row,
        facts: &facts,
        empty: empty(screen, cx),
        stale,
    };
    screen.listing.draw(&seen, area, buf, cx);
    if screen.search.is_typed() && list.width > 12 {
        let line = Rect::new(list.x + 9, list.y, list.width - 10, 1.min(list.height));
        let cursor = screen.search.query.draw(line, buf, cx.theme);
        if cx.focused {
            cx.cursor.set(cursor);
        }
    }
    draw_cell(screen, parts(rest).0, buf, cx);
}

/// The drawn cell, or why there is none, with the way it is looked at above.
fn draw_cell(screen: &Materials, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
    if area.height < 2 || screen.current().is_none() {
        return;
    }
    let Some(Ok(look)) = screen.look() else {
        return;
    };
    let theme = cx.theme;
    let room = area.width.saturating_sub(2);
    let more = theme.glyphs().more;
    let mut put = |words: &str, role: Role| {
        let words = text::fit(words, usize::from(room), more);
        text::put(buf, (area.x + 1, area.y), &words, room, theme.style(role));
    };
    let Some(crystal) = &look.crystal else {
        return put("too many atoms to draw", Role::Dim);
    };
    let cell = look.found.atoms.as_ref().map(|atoms| atoms.cell.as_str());
    let mut words = match cell {
        Some("conventional") => "conventional cell".to_owned(),
        Some("isolated") => "by itself".to_owned(),
        _ => "cell as given".to_owned(),
    };
    if let Some(axis) = screen.view.looks_along() {
        words = format!("{words}, along {axis}");
    }
    if screen.view.cells > 1 && crystal.lattice.is_some() {
        words = format!("{words}, two cells along each axis");
    }
    put(&words, Role::Head);
    let below = Rect {
        y: area.y + 1,
        height: area.height - 1,
        ..area
    };
    cell::draw(crystal, &screen.view, below, buf, theme);
}

/// What is looked for and how each provider does, in lines for the list.
pub(super) fn above(
    screen: &Materials,
    list: Rect,
    now: f64,
    glyphs: &Glyphs,
) -> Vec<(String, Role)> {
    let search = &screen.search;
    let query = search.query.text();
    let query = if query.is_empty() { "-" } else { query };
    let mut lines = vec![(format!("search  {query}"), Role::Title)];
    let room = usize::from(list.width.saturating_sub(2)).max(1);
    if let Some(error) = &search.error {
        let words = format!("{} {}", glyphs.attention, speak(error));
        let wrapped = text::wrap(&words, room);
        lines.extend(wrapped.into_iter().map(|line| (line, Role::Bad)));
    }
    for notice in &search.notices {
        let wrapped = text::wrap(&speak(notice), room);
        lines.extend(wrapped.into_iter().map(|line| (line, Role::Info)));
    }
    lines.extend(standings(screen, room, now, glyphs));
    // The list is what it is about.
    let most = usize::from(list.height / 2).max(1);
    lines.truncate(most);
    lines
}

/// The providers, as many as fit in a line; who has trouble has a line of its own.
fn standings(screen: &Materials, room: usize, now: f64, glyphs: &Glyphs) -> Vec<(String, Role)> {
    let (mut well, mut trouble) = (String::new(), Vec::new());
    for (name, standing) in screen.search.standings() {
        let (words, role) = match standing {
            Standing::Idle => continue,
            Standing::Failed if screen.search.is_refused() => continue,
            Standing::Unusable(reason) => (format!("{name}: {reason}"), Role::Dim),
            Standing::Failed => (format!("{} {name}: no answer", glyphs.failed), Role::Bad),
            Standing::Asked(since) => {
                let so_far = text::so_far((now - since).max(0.0));
                (format!("{} {name} {so_far}", glyphs.running), Role::Text)
            }
            Standing::Answered(answer) => answered(name, answer, glyphs),
        };
        if role == Role::Text {
            let gap = if well.is_empty() { "" } else { "   " };
            well = format!("{well}{gap}{words}");
        } else {
            trouble.push((words, role));
        }
    }
    let well = Some(well).filter(|words| !words.is_empty());
    let well = well
        .into_iter()
        .flat_map(|words| wrap_at_gaps(&words, room));
    let lines = well.map(|line| (line, Role::Dim));
    lines.chain(trouble).collect()
}

/// Broken between providers.
fn wrap_at_gaps(words: &str, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in words.split("   ") {
        match lines.last_mut() {
            Some(line) if text::width(line) + 3 + text::width(part) <= room => {
                line.push_str("   ");
                line.push_str(part);
            }
            _ => lines.push(part.to_owned()),
        }
    }
    lines
}

fn answered(name: &str, answer: &ProviderAnswer, glyphs: &Glyphs) -> (String, Role) {
    let time = milliseconds(answer.elapsed_ms);
    let more = if answer.more { "+" } else { "" };
    let kept = answer.cached_at.as_ref().map_or("", |_| ", kept");
    let count = answer.n_found;
    if answer.status.as_str() == "ok" {
        let words = format!("{} {name} {count}{more} in {time}{kept}", glyphs.completed);
        return (words, Role::Text);
    }
    let status = answer.status.as_str().replace('_', " ");
    let why = answer.error.as_deref().map(speak);
    let hint = answer.hint.as_deref().map(speak);
    let found = if count > 0 {
        format!(", {count} kept from before")
    } else {
        String::new()
    };
    let mut words = format!("{} {name}: {status}, {time}{found}", glyphs.failed);
    for part in [why, hint].into_iter().flatten() {
        words = format!("{words}; {part}");
    }
    (words, Role::Warn)
}

fn milliseconds(elapsed: f64) -> String {
    if elapsed < 1000.0 {
        format!("{elapsed:.0} ms")
    } else {
        format!("{:.1} s", elapsed / 1000.0)
    }
}

fn empty(screen: &Materials, cx: &ViewCx<'_>) -> String {
    let key = |action| cx.keymap.main_key(action);
    let search = &screen.search;
    match link_words(cx) {
        Some(words) => words,
        None if search.is_under_way() => "searching".into(),
        None if search.error.is_some() => format!(
            "{} changes what is looked for, {} tries again.",
            key(Action::Filter),
            key(Action::Refresh)
        ),
        None if !search.asked().is_empty() => {
            format!("Nobody has {}.", search.asked())
        }
        None => format!(
            "{} searches: a formula TiO2, a chemical system Ti-O, a mineral or prototype, an id \
             mp-2657. {} takes a structure file in.",
            key(Action::Filter),
            key(Action::Import)
        ),
    }
}

fn columns() -> Vec<Column> {
    vec![
        column("Formula", 11, 1, false, 0),
        column("Group", 13, 0, false, 1),
        column("Atoms", 5, 0, true, 2),
        column("Provider", 8, 1, false, 0),
        column("Deck", 5, 0, false, 0),
        column("Name", 12, 3, false, 3),
    ]
}

fn cells(row: &Row, theme: &Theme) -> Vec<Cell> {
    let plain = |text: &str| said(text, Role::Text, theme);
    let glyphs = theme.glyphs();
    let (deck, words, role) = match row.reason() {
        Some(reason) => (
            said(format!("{} no", glyphs.failed), Role::Warn, theme),
            speak(reason),
            Role::Warn,
        ),
        None => (
            // Of what was taken in here nobody has said it yet.
            match row {
                Row::Found(_) => said(format!("{} yes", glyphs.completed), Role::Good, theme),
                Row::Kept(_) => said("", Role::Text, theme),
            },
            row.name().unwrap_or_default().to_owned(),
            Role::Text,
        ),
    };
    vec![
        plain(row.formula()),
        plain(&row.group()),
        plain(&row.n_atoms().to_string()),
        plain(row.provider()),
        deck,
        said(words, role, theme),
    ]
}
