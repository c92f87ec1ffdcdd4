//! Draws the form of a new workflow, and beside it what its kind gives and what it can be computed by.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{NewWorkflow, fields};
use crate::msg::{Action, Link};
use crate::screens::ViewCx;
use crate::screens::form::Around;
use crate::screens::listing::split;
use crate::screens::wording::speak;
use crate::theme::{Glyphs, Role};
use crate::widgets::facts::{self, Fact, Facts};
use crate::widgets::text;

/// From this width on what is known of the kind stands beside the form.
const WIDE: u16 = 100;

/// Form and the rest; in a narrow window there is no rest.
pub(super) fn areas(area: Rect) -> (Rect, Rect) {
    if area.width < WIDE {
        return (area, Rect::ZERO);
    }
    split(area, 58)
}

pub(super) fn draw(screen: &NewWorkflow, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
    let (form, rest) = areas(area);
    let around = Around {
        state: state(screen, cx),
        button: "Start",
        button_help: "Start the workflow; it runs at once.",
    };
    screen.form.draw(&around, form, buf, cx);
    if rest.width == 0 {
        return;
    }
    for y in rest.top()..rest.bottom() {
        let bar = cx.theme.glyphs().vertical;
        text::put(buf, (rest.x - 1, y), bar, 1, cx.theme.style(Role::Border));
    }
    let stale = !matches!(cx.data.link, Link::Ready(_));
    let facts = about(screen, cx.theme.glyphs());
    facts::draw(&facts, 0, rest, buf, cx.theme, stale);
}

/// How it stands with the whole.
fn state(screen: &NewWorkflow, cx: &ViewCx<'_>) -> (String, Role) {
    let glyphs = cx.theme.glyphs();
    if let Some(trouble) = screen.form.trouble(glyphs) {
        return trouble;
    }
    let attention = glyphs.attention;
    if let (Some(error), true) = (&screen.error, screen.kinds.is_empty()) {
        let words = format!("{attention} the kinds are not known: {error}");
        return (words, Role::Bad);
    }
    if screen.sent.is_some() {
        return ("starting".into(), Role::Running);
    }
    if !matches!(cx.data.link, Link::Ready(_)) {
        return (format!("{attention} no daemon to start it"), Role::Warn);
    }
    if screen.kinds.is_empty() {
        return ("reading".into(), Role::Dim);
    }
    let key = cx.keymap.main_key(Action::Submit);
    if fields::missing(screen).is_empty() {
        (format!("{key} starts it"), Role::Good)
    } else {
        let words = "choose a kind, a structure and what computes it";
        (words.into(), Role::Dim)
    }
}

/// What is known of the kind; of all of them while none is chosen.
fn about(screen: &NewWorkflow, glyphs: &Glyphs) -> Vec<Fact> {
    let mut lines = Facts::default();
    let mark = |usable: bool| {
        if usable {
            (glyphs.completed, Role::Good)
        } else {
            (glyphs.failed, Role::Dim)
        }
    };
    let Some(kind) = screen.kind() else {
        for kind in &screen.kinds {
            let (mark, role) = mark(kind.usable);
            let why = kind.reason.as_deref().filter(|_| !kind.usable);
            let words = why.map_or_else(|| kind.summary.clone(), speak);
            lines.add(&kind.kind, format!("{mark} {words}"), role);
        }
        return lines.0;
    };
    lines.add("kind", kind.title.clone(), Role::Title);
    lines.add("gives", speak(&kind.summary), Role::Text);
    let why = kind.reason.as_deref().filter(|_| !kind.usable);
    lines.some("not usable", why.map(speak), Role::Bad);
    for (name, uses) in [("engines", &kind.engines), ("codes", &kind.codes)] {
        lines.gap();
        for (index, one) in uses.iter().enumerate() {
            let (mark, role) = mark(one.usable);
            let why = one.reason.as_deref().map(|why| format!(": {}", speak(why)));
            let words = format!("{mark} {}{}", one.name, why.unwrap_or_default());
            lines.add(if index == 0 { name } else { "" }, words, role);
        }
    }
    lines.0
}
