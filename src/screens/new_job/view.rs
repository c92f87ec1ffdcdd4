//! Draws the step that is done: the choice of a file, or the form with the preview beside it.

mod deck;
pub(in crate::screens) mod files;
mod help;
pub(super) mod preview;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::form::{self, CODE, FILE, NAME, TASK};
use super::schema::Kind;
use super::{NewJob, Pane, Step, WIDE};
use crate::msg::{Action, Link};
use crate::screens::{ViewCx, save};
use crate::theme::Role;
use crate::widgets::form::to_correct;
use crate::widgets::{scrollbar, text};

/// Columns of the names of fields.
const NAMES: u16 = 23;
/// Rows below the form that explain the field, with the line above them; one more where there is room.
const HELP: u16 = 3;
const HELP_IN_TALL: u16 = 4;
const TALL: u16 = 20;

pub(super) fn draw(job: &NewJob, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
    if area.height < 4 || area.width < 20 {
        return;
    }
    if job.step == Step::File {
        files::draw(&job.files, area, buf, cx);
    } else if area.width >= WIDE {
        let rest = beside(area);
        let form = Rect {
            width: rest.x - area.x - 1,
            ..area
        };
        draw_form(job, form, buf, cx);
        for y in area.top()..area.bottom() {
            let bar = cx.theme.glyphs().vertical;
            text::put(buf, (rest.x - 1, y), bar, 1, cx.theme.style(Role::Border));
        }
        if job.pane != Pane::Plan && job.has_deck() {
            deck::draw(job, rest, buf, cx);
        } else {
            preview::draw(job, rest, buf, cx);
        }
    } else {
        match job.pane {
            Pane::Form => draw_form(job, area, buf, cx),
            Pane::Deck => deck::draw(job, area, buf, cx),
            Pane::Plan => preview::draw(job, area, buf, cx),
        }
    }
    if let Some(save) = &job.deck.save {
        save::draw(save, area, buf, cx);
    }
}

/// What is beside the form in a wide window.
fn beside(area: Rect) -> Rect {
    let left = area.width / 2;
    Rect {
        x: area.x + left + 1,
        width: area.width - left - 1,
        ..area
    }
}

/// Where the deck is drawn.
pub(super) fn deck_area(area: Rect) -> Rect {
    if area.width >= WIDE {
        beside(area)
    } else {
        area
    }
}

/// One row of the form.
enum Row {
    Heading(&'static str),
    Field(usize),
    Fault(usize),
    Gap,
    Button,
}

fn rows(job: &NewJob) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut section = "";
    for (index, field) in job.form.fields.iter().enumerate() {
        if field.section != section {
            section = field.section;
            rows.push(Row::Heading(section));
        }
        rows.push(Row::Field(index));
        if job.faults.contains_key(&field.key) {
            rows.push(Row::Fault(index));
        }
    }
    rows.push(Row::Gap);
    rows.push(Row::Button);
    rows
}

/// The first row that is seen, so that the field with the cursor and its fault are.
fn offset(job: &NewJob, rows: &[Row], seen: usize) -> usize {
    let here = |row: &Row| match row {
        Row::Field(index) | Row::Fault(index) => *index == job.cursor,
        Row::Button => job.cursor >= job.form.fields.len(),
        _ => false,
    };
    let last = rows.iter().rposition(here).unwrap_or(0);
    // One more row of what follows, where there is one.
    (last + 2).min(rows.len()).saturating_sub(seen.max(1))
}

fn form_rows(area: Rect) -> usize {
    let help = if area.height >= TALL {
        HELP_IN_TALL
    } else {
        HELP
    };
    usize::from(area.height.saturating_sub(help + 1)).max(1)
}

/// The field in this row of the area.
pub(super) fn field_at(job: &NewJob, area: Rect, row: u16) -> Option<usize> {
    let rows = rows(job);
    let first = offset(job, &rows, form_rows(area));
    match rows.get(first + usize::from(row.checked_sub(1)?))? {
        Row::Field(index) | Row::Fault(index) => Some(*index),
        Row::Button => Some(job.form.fields.len()),
        _ => None,
    }
}

fn draw_form(job: &NewJob, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
    let theme = cx.theme;
    draw_state(job, area, buf, cx);
    let all = rows(job);
    let body = Rect {
        y: area.y + 1,
        height: u16::try_from(form_rows(area)).unwrap_or(1),
        ..area
    };
    let first = offset(job, &all, usize::from(body.height));
    for (row, y) in all[first..].iter().zip(body.top()..body.bottom()) {
        match row {
            Row::Heading(words) => {
                text::put(
                    buf,
                    (area.x + 1, y),
                    words,
                    area.width - 1,
                    theme.style(Role::Head),
                );
            }
            Row::Field(index) => {
                draw_field(job, *index, Rect::new(area.x, y, area.width, 1), buf, cx);
            }
            Row::Fault(index) => {
                let fault = job
                    .form
                    .fields
                    .get(*index)
                    .and_then(|field| job.faults.get(&field.key));
                let words = format!(
                    "{} {}",
                    theme.glyphs().attention,
                    fault.map_or("", String::as_str)
                );
                let left = area.width.saturating_sub(5);
                let words = text::fit(&words, usize::from(left), theme.glyphs().more);
                text::put(buf, (area.x + 4, y), &words, left, theme.style(Role::Bad));
            }
            Row::Gap => {}
            Row::Button => draw_button(job, Rect::new(area.x, y, area.width, 1), buf, cx),
        }
    }
    scrollbar::draw(body, buf, theme, first, all.len());
    let help = Rect {
        y: body.bottom(),
        height: area.bottom().saturating_sub(body.bottom()),
        ..area
    };
    help::draw(job, help, buf, cx);
}

/// The first row: whether it could be submitted.
fn draw_state(job: &NewJob, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
    let theme = cx.theme;
    let glyphs = theme.glyphs();
    let submit = cx.keymap.main_key(Action::Submit);
    let (words, role) = if let Some(fault) = job.faults.get(FILE) {
        (format!("{} {fault}", glyphs.attention), Role::Bad)
    } else if let Some(whole) = &job.whole {
        (format!("{} {whole}", glyphs.attention), Role::Bad)
    } else if let (Some(error), true) = (&job.codes_error, job.form.codes.is_empty()) {
        (
            format!("{} the codes are not known: {error}", glyphs.attention),
            Role::Bad,
        )
    } else if job.submitting.is_some() {
        ("submitting".into(), Role::Running)
    } else if !job.faults.is_empty() {
        to_correct(job.faults.len(), glyphs)
    } else if !matches!(cx.data.link, Link::Ready(_)) {
        (
            format!("{} no daemon to check it", glyphs.attention),
            Role::Warn,
        )
    } else if let (Some(why), true) = (job.deck_forbids(), job.checked == job.version) {
        (format!("{} {why}", glyphs.attention), Role::Warn)
    } else if job.checked == job.version && job.dry.is_some() {
        (
            format!("{} ready: {submit} submits", glyphs.completed),
            Role::Good,
        )
    } else {
        ("checking".into(), Role::Dim)
    };
    let words = text::fit(&words, usize::from(area.width) - 2, glyphs.more);
    text::put(
        buf,
        (area.x + 1, area.y),
        &words,
        area.width - 1,
        theme.style(role),
    );
}

fn draw_field(job: &NewJob, index: usize, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
    let theme = cx.theme;
    let Some(field) = job.form.fields.get(index) else {
        return;
    };
    let here = index == job.cursor;
    let more = theme.glyphs().more;
    let indent = " ".repeat(2 + 2 * field.depth());
    let name = text::pad(
        &format!("{indent}{}", field.spec.label),
        usize::from(NAMES),
        false,
        more,
    );
    text::put(buf, (area.x, area.y), &name, NAMES, theme.style(Role::Text));
    let unit = u16::try_from(text::width(&field.spec.unit)).unwrap_or(0);
    let left = area.width.saturating_sub(NAMES + unit + 3);
    let place = Rect::new(area.x + NAMES, area.y, left, 1);
    if here && job.editing.is_some() {
        let cursor = field.input.draw(place, buf, theme);
        if cx.focused {
            cx.cursor.set(cursor);
        }
    } else {
        let (words, role) = value_words(job, index);
        let words = match &field.spec.kind {
            Kind::Choice(_) | Kind::Yes | Kind::Part if here => format!("< {words} >"),
            _ => words,
        };
        let words = text::fit(&words, usize::from(left), more);
        text::put(buf, (place.x, place.y), &words, left, theme.style(role));
    }
    let at = area.right().saturating_sub(unit + 2);
    text::put(
        buf,
        (at, area.y),
        &field.spec.unit,
        unit,
        theme.style(Role::Dim),
    );
    if here && job.editing.is_none() {
        let row = Rect::new(area.x, area.y, area.width.saturating_sub(1), 1);
        let role = if cx.focused && job.pane == Pane::Form {
            Role::Cursor
        } else {
            Role::CursorAway
        };
        buf.set_style(row, theme.style(role));
    }
}

/// What is written, else what applies then.
fn value_words(job: &NewJob, index: usize) -> (String, Role) {
    let Some(field) = job.form.fields.get(index) else {
        return (String::new(), Role::Text);
    };
    if !field.input.is_empty() {
        return (field.input.text().to_owned(), Role::Text);
    }
    let chosen = match field.key.as_str() {
        TASK => job.dry.as_ref().map(|dry| dry.task.clone()),
        NAME => Some(job.form.default_name()),
        form::DECK => job.form.default_deck(),
        _ => field.spec.default.clone(),
    };
    // What the daemon misses is needed, whatever the schema says.
    let needed = field.key == CODE || field.spec.required || job.faults.contains_key(&field.key);
    match chosen.filter(|words| !words.is_empty()) {
        Some(words) => (format!("({words})"), Role::Dim),
        None if needed => ("(needed)".into(), Role::Warn),
        None if matches!(field.spec.kind, Kind::Choice(_)) => {
            ("(as the code decides)".into(), Role::Dim)
        }
        None => ("-".into(), Role::Dim),
    }
}

fn draw_button(job: &NewJob, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
    let here = job.cursor >= job.form.fields.len();
    let role = match (here, cx.focused && job.pane == Pane::Form) {
        (true, true) => Role::Cursor,
        (true, false) => Role::CursorAway,
        _ => Role::Text,
    };
    let words = if here { "[ Submit ]" } else { "  Submit  " };
    text::put(
        buf,
        (area.x + 2, area.y),
        words,
        area.width - 2,
        cx.theme.style(role),
    );
}
