//! A deck that is shown with what the daemon's linter says of it. For every screen that has one.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::{Value, json};

use super::wording::speak;
use super::{Cx, Handled, ViewCx, answers};
use crate::error::IpcError;
use crate::msg::Action;
use crate::rpc::types::{LintFinding, LintFindingSeverity, LintMeta, Page};
use crate::theme::Role;
use crate::widgets::deck_text::{DeckText, Mark, Severity};
use crate::widgets::text;

const METHOD: &str = "codes.lint";
/// The slot of the linter; the newest text of a screen wins.
pub const SLOT: &str = METHOD;

/// What is known of the text.
#[derive(Debug, Clone, Default, PartialEq)]
enum Lint {
    /// Nobody was asked.
    #[default]
    Unknown,
    /// The daemon looks at it.
    Asked,
    /// It has said what it has to say.
    Done,
    /// It cannot be said, and why.
    Failed(String),
}

/// A deck and what was found in it.
#[derive(Debug, Default)]
pub struct Deck {
    text: String,
    shown: DeckText,
    lint: Lint,
    /// What the linter was asked.
    asked: Value,
    /// Rises with every text; an answer about an older one is none.
    version: i64,
}

impl Deck {
    /// Show this text, and let the linter of a code look at it. The same text again changes
    /// nothing.
    pub fn show(&mut self, text: &str, code: &str, cx: &mut Cx<'_>) {
        self.show_asking(text, json!({"text": text, "code": code}), cx);
    }

    /// Show the text of a file, and let the linter look at the file: it may look beside it.
    pub fn show_file(&mut self, text: &str, path: &str, cx: &mut Cx<'_>) {
        // What lies beside it may be another file now.
        self.lint = Lint::Unknown;
        self.show_asking(text, json!({"path": path}), cx);
    }

    fn show_asking(&mut self, text: &str, params: Value, cx: &mut Cx<'_>) {
        if self.text == text && matches!(self.lint, Lint::Asked | Lint::Done) {
            return;
        }
        self.set(text);
        self.asked = params;
        self.ask(cx);
    }

    fn ask(&mut self, cx: &mut Cx<'_>) {
        self.lint = Lint::Asked;
        cx.ask(SLOT, self.version, METHOD, self.asked.clone());
        cx.redraw();
    }

    /// Show this text with what was found in it already.
    pub fn show_found(&mut self, text: &str, found: Vec<Mark>) {
        self.set(text);
        self.take(found);
    }

    /// Show this text, of which no linter knows.
    pub fn show_plain(&mut self, text: &str) {
        if self.text != text || self.lint != Lint::Unknown {
            self.set(text);
            self.lint = Lint::Unknown;
        }
    }

    fn take(&mut self, found: Vec<Mark>) {
        self.shown.set_marks(found);
        self.lint = Lint::Done;
    }

    fn set(&mut self, text: &str) {
        self.version += 1;
        text.clone_into(&mut self.text);
        self.shown.set_text(text);
    }

    /// Forget the text.
    pub fn clear(&mut self) {
        *self = Self {
            version: self.version + 1,
            ..Self::default()
        };
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Whether the linter still looks at it.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.lint == Lint::Asked
    }

    /// How many errors were found; none while nothing is known.
    #[must_use]
    pub fn errors(&self) -> usize {
        self.shown.count(Severity::Error)
    }

    /// Whether anything was found.
    #[must_use]
    pub fn has_marks(&self) -> bool {
        self.errors() + self.shown.count(Severity::Warning) > 0
    }

    /// Take an answer in, if it is one of the linter.
    pub fn reply(
        &mut self,
        slot: &str,
        tag: i64,
        result: &Result<Value, IpcError>,
        cx: &mut Cx<'_>,
    ) -> bool {
        if slot != SLOT {
            return false;
        }
        if tag != self.version {
            return true;
        }
        match answers::read::<Page<LintFinding, LintMeta>>(METHOD, result) {
            Ok(page) => self.take(page.data.iter().map(mark).collect()),
            Err(error) => self.lint = Lint::Failed(error),
        }
        cx.redraw();
        true
    }

    /// Ask again what was not answered, for example as the connection was lost.
    pub fn ask_again(&mut self, cx: &mut Cx<'_>) {
        if matches!(self.lint, Lint::Asked | Lint::Failed(_)) {
            self.version += 1;
            self.ask(cx);
        }
    }

    /// Move about in `area`, where it is drawn.
    pub fn act(&mut self, action: Action, area: Rect) -> Handled {
        let area = below(area);
        let rows = isize::from(area.height.cast_signed()).max(1);
        match action {
            Action::Down => self.shown.scroll(1, area),
            Action::Up => self.shown.scroll(-1, area),
            Action::PageDown => self.shown.scroll(rows, area),
            Action::PageUp => self.shown.scroll(-rows, area),
            Action::HalfPageDown => self.shown.scroll((rows / 2).max(1), area),
            Action::HalfPageUp => self.shown.scroll(-(rows / 2).max(1), area),
            Action::Top => self.shown.scroll(isize::MIN, area),
            Action::Bottom => self.shown.scroll(isize::MAX, area),
            Action::Left => self.shown.sideways(-8, area),
            Action::Right => self.shown.sideways(8, area),
            Action::FindNext => {
                self.shown.to_mark(true, area);
            }
            Action::FindPrevious => {
                self.shown.to_mark(false, area);
            }
            _ => return Handled::No,
        }
        Handled::Yes
    }

    /// Draw what was found in one row, and below it the text.
    pub fn draw(&self, name: &str, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>, stale: bool) {
        if area.height == 0 || area.width < 4 {
            return;
        }
        let (words, role) = self.verdict(cx);
        let role = if stale { Role::Stale } else { role };
        let words = format!("{name}  {words}");
        let room = area.width - 2;
        let words = text::fit(&words, usize::from(room), cx.theme.glyphs().more);
        text::put(
            buf,
            (area.x + 1, area.y),
            &words,
            room,
            cx.theme.style(role),
        );
        self.shown.draw(below(area), buf, cx.theme, stale);
    }

    fn verdict(&self, cx: &ViewCx<'_>) -> (String, Role) {
        let glyphs = cx.theme.glyphs();
        let count = |severity: Severity| {
            let count = self.shown.count(severity);
            let end = if count == 1 { "" } else { "s" };
            (count > 0).then(|| {
                let (glyph, _) = severity.look(cx.theme);
                format!("{glyph} {count} {}{end}", severity.word())
            })
        };
        match &self.lint {
            Lint::Unknown => (String::new(), Role::Dim),
            Lint::Asked => ("the linter looks at it".into(), Role::Dim),
            Lint::Failed(why) => (format!("{} not linted: {why}", glyphs.attention), Role::Bad),
            Lint::Done => {
                let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
                let role = match (&errors, &warnings) {
                    (Some(_), _) => Role::Bad,
                    (None, Some(_)) => Role::Warn,
                    (None, None) => {
                        return (
                            format!("{} the linter finds nothing", glyphs.completed),
                            Role::Good,
                        );
                    }
                };
                let found: Vec<String> = errors.into_iter().chain(warnings).collect();
                let key = cx.keymap.main_key(Action::FindNext);
                (format!("{}   {key} next", found.join("  ")), role)
            }
        }
    }
}

/// Below the row of the verdict.
fn below(area: Rect) -> Rect {
    super::listing::below(area, 1)
}

fn mark(found: &LintFinding) -> Mark {
    let severity = match found.severity {
        LintFindingSeverity::Warning => Severity::Warning,
        // What is not known is taken seriously.
        _ => Severity::Error,
    };
    let place = (found.line, found.column);
    mark_at(place, severity, &found.code, &found.message, &found.hint)
}

/// A mark of a linter: where, how bad, the rule, what is wrong and what to write instead.
#[must_use]
pub fn mark_at(
    place: (i64, i64),
    severity: Severity,
    code: &str,
    message: &str,
    hint: &str,
) -> Mark {
    let number = |number: i64| usize::try_from(number).unwrap_or(0);
    Mark {
        line: number(place.0),
        column: number(place.1),
        severity,
        code: code.to_owned(),
        message: speak(message),
        fix: speak(hint),
    }
}
