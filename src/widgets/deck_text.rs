//! The text of a deck with what a linter says of its lines: each finding stands below the line that
//! it is about, with what to write instead. Errors and warnings differ by mark and word.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{scrollbar, text};
use crate::theme::{Role, Theme};

/// Columns before the text of a line beside its number: the mark, and blanks around the number.
const GUTTER: usize = 4;
/// The fewest digits that a number has room for.
const DIGITS: usize = 3;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// It cannot run, or would compute something else.
    Error,
    /// It is to be looked at.
    Warning,
}

impl Severity {
    /// As a word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }

    /// Its mark, and how it looks.
    #[must_use]
    pub const fn look(self, theme: &Theme) -> (&'static str, Role) {
        match self {
            Self::Error => (theme.glyphs().failed, Role::Bad),
            Self::Warning => (theme.glyphs().attention, Role::Warn),
        }
    }
}

/// What is said of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// The line, counted from 1; one after the last is the end of the text.
    pub line: usize,
    /// The column, counted from 1.
    pub column: usize,
    /// How bad it is.
    pub severity: Severity,
    /// Short name of the rule.
    pub code: String,
    /// What is wrong.
    pub message: String,
    /// What to write instead; may be empty.
    pub fix: String,
}

impl Mark {
    fn words(&self, lines: usize) -> String {
        let place = match (self.line > lines, self.column > 1) {
            (true, _) => ", at the end".to_owned(),
            (false, true) => format!(", column {}", self.column),
            (false, false) => String::new(),
        };
        let fix = if self.fix.is_empty() {
            String::new()
        } else {
            format!("; {}", self.fix)
        };
        let word = self.severity.word();
        format!("{word}{place}: {}{fix} [{}]", self.message, self.code)
    }
}

/// A text, its marks, and what of it is seen.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DeckText {
    lines: Vec<String>,
    /// By line.
    marks: Vec<Mark>,
    /// The first row that is seen.
    offset: usize,
    /// The columns that are scrolled away to the left.
    left: usize,
}

/// One row: a line of the text, or a part of what is said of one.
enum Row<'a> {
    Line(usize),
    Said(&'a Mark, &'a str),
}

/// What is said below a line.
struct Said<'a> {
    /// The number of the line from 0.
    line: usize,
    rows: Vec<(&'a Mark, String)>,
}

impl DeckText {
    /// Another text. Its marks are not known; what is seen stays where it is.
    pub fn set_text(&mut self, text: &str) {
        // Not `lines()`: a carriage return belongs to what is wrong.
        let text = text.strip_suffix('\n').unwrap_or(text);
        self.lines = text.split('\n').map(str::to_owned).collect();
        self.marks.clear();
    }

    /// What is said of the text.
    pub fn set_marks(&mut self, mut marks: Vec<Mark>) {
        marks.sort_by_key(|mark| (mark.line, mark.column));
        self.marks = marks;
    }

    /// Whether there is no text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        matches!(&self.lines[..], [] | [_]) && self.lines.iter().all(String::is_empty)
    }

    /// How many marks are of this kind.
    #[must_use]
    pub fn count(&self, severity: Severity) -> usize {
        let marks = self.marks.iter();
        marks.filter(|mark| mark.severity == severity).count()
    }

    /// The number of the line from 0 under which a mark stands.
    fn place(&self, mark: &Mark) -> usize {
        mark.line.clamp(1, self.lines.len().max(1)) - 1
    }

    /// Columns before the text.
    fn gutter(&self) -> usize {
        self.lines.len().to_string().len().max(DIGITS) + GUTTER
    }

    fn said(&self, area: Rect) -> Vec<Said<'_>> {
        let room = usize::from(area.width).saturating_sub(self.gutter() + 1);
        let mut said: Vec<Said<'_>> = Vec::new();
        for mark in &self.marks {
            let line = self.place(mark);
            let rows = text::wrap(&mark.words(self.lines.len()), room);
            let rows = rows.into_iter().map(|row| (mark, row));
            match said.last_mut().filter(|last| last.line == line) {
                Some(last) => last.rows.extend(rows),
                None => said.push(Said {
                    line,
                    rows: rows.collect(),
                }),
            }
        }
        said
    }

    fn count_rows(&self, said: &[Said<'_>]) -> usize {
        let said: usize = said.iter().map(|said| said.rows.len()).sum();
        self.lines.len() + said
    }

    /// The last row that can be the first one seen.
    fn most(&self, said: &[Said<'_>], area: Rect) -> usize {
        self.count_rows(said)
            .saturating_sub(usize::from(area.height))
    }

    /// Scroll by so many rows.
    pub fn scroll(&mut self, by: isize, area: Rect) {
        let most = self.most(&self.said(area), area);
        self.offset = self.offset.min(most).saturating_add_signed(by).min(most);
    }

    /// Scroll by so many columns; the end of the longest line stays in sight.
    pub fn sideways(&mut self, by: isize, area: Rect) {
        let room = usize::from(area.width).saturating_sub(self.gutter() + 1);
        let longest = self.lines.iter().map(|line| text::width(line)).max();
        let most = longest.unwrap_or(0).saturating_sub(room);
        self.left = self.left.saturating_add_signed(by).min(most);
    }

    /// To the next line with a mark, or to the one before; whether there is one.
    pub fn to_mark(&mut self, forward: bool, area: Rect) -> bool {
        let said = self.said(area);
        let most = self.most(&said, area);
        let mut rows = Vec::with_capacity(said.len());
        let mut before = 0;
        for said in &said {
            rows.push(said.line + before);
            before += said.rows.len();
        }
        let here = self.offset.min(most);
        let to = if forward {
            // Where the end is seen already, the rest is in sight.
            rows.into_iter().find(|row| *row > here && here < most)
        } else {
            rows.into_iter().rev().find(|row| *row < here)
        };
        if let Some(to) = to {
            self.offset = to.min(most);
        }
        to.is_some()
    }

    /// Draw it; what is out of date is faded.
    pub fn draw(&self, area: Rect, buf: &mut Buffer, theme: &Theme, stale: bool) {
        if area.width < 2 || area.height == 0 {
            return;
        }
        let said = self.said(area);
        let count = self.count_rows(&said);
        let offset = self.offset.min(self.most(&said, area));
        for (at, y) in (offset..count).zip(area.top()..area.bottom()) {
            let line = Rect::new(area.x, y, area.width - 1, 1);
            match row(&said, at) {
                Row::Line(index) => self.draw_line(index, line, buf, theme, stale),
                Row::Said(mark, words) => self.draw_said(mark, words, line, buf, theme, stale),
            }
        }
        scrollbar::draw(area, buf, theme, offset, count);
    }

    fn draw_line(&self, index: usize, area: Rect, buf: &mut Buffer, theme: &Theme, stale: bool) {
        let shown = |role| theme.style(if stale { Role::Stale } else { role });
        let gutter = self.gutter();
        let here = self.marks.iter().filter(|mark| self.place(mark) == index);
        let worst = here.min_by_key(|mark| mark.severity == Severity::Warning);
        let (glyph, role) = worst.map_or((" ", Role::Dim), |mark| mark.severity.look(theme));
        let number = format!("{glyph} {:>width$}  ", index + 1, width = gutter - GUTTER);
        let columns = u16::try_from(gutter).unwrap_or(area.width).min(area.width);
        text::put(buf, (area.x, area.y), &number, columns, shown(role));
        let words = self.lines.get(index).map_or("", String::as_str);
        let room = area.width - columns;
        let words = text::fit(
            text::skip(words, self.left),
            usize::from(room),
            theme.glyphs().more,
        );
        let role = worst.map_or(Role::Text, |_| Role::Title);
        text::put(buf, (area.x + columns, area.y), &words, room, shown(role));
    }

    fn draw_said(
        &self,
        mark: &Mark,
        words: &str,
        area: Rect,
        buf: &mut Buffer,
        theme: &Theme,
        stale: bool,
    ) {
        let role = mark.severity.look(theme).1;
        let role = if stale { Role::Stale } else { role };
        let columns = u16::try_from(self.gutter()).unwrap_or(area.width);
        let columns = columns.min(area.width);
        let at = (area.x + columns, area.y);
        text::put(buf, at, words, area.width - columns, theme.style(role));
    }
}

/// The row with this number.
fn row<'a>(said: &'a [Said<'a>], at: usize) -> Row<'a> {
    let mut before = 0;
    for block in said {
        let first = block.line + 1 + before;
        if at < first {
            break;
        }
        if let Some((mark, words)) = block.rows.get(at - first) {
            return Row::Said(mark, words);
        }
        before += block.rows.len();
    }
    Row::Line(at - before)
}

#[cfg(test)]
mod tests {
    use super::*;

    const AREA: Rect = Rect::new(0, 0, 40, 6);

    fn mark(line: usize, severity: Severity, message: &str) -> Mark {
        Mark {
            line,
            column: 1,
            severity,
            code: "rule".into(),
            message: message.into(),
            fix: String::new(),
        }
    }

    fn deck(lines: usize, marks: Vec<Mark>) -> DeckText {
        let text = (1..=lines)
            .map(|n| format!("record {n}"))
            .collect::<Vec<_>>()
            .join("\n");
        let mut deck = DeckText::default();
        deck.set_text(&text);
        deck.set_marks(marks);
        deck
    }

    fn drawn(deck: &DeckText) -> Vec<String> {
        let theme = Theme::built_in(crate::theme::DEFAULT).expect("it is built in");
        let mut buf = Buffer::empty(AREA);
        deck.draw(AREA, &mut buf, &theme, false);
        let row = |y: u16| -> String {
            let cells = (0..AREA.width).map(|x| buf[(x, y)].symbol());
            cells.collect::<String>().trim_end().to_owned()
        };
        (0..AREA.height).map(row).collect()
    }

    #[test]
    fn findings_stand_below_their_lines() {
        let mut warning = mark(1, Severity::Warning, "odd");
        warning.column = 4;
        warning.fix = "write it otherwise".into();
        let shown = drawn(&deck(3, vec![mark(9, Severity::Error, "no END"), warning]));
        assert_eq!(
            shown,
            [
                "!   1  record 1",
                "       warning, column 4: odd; write it",
                "       otherwise [rule]",
                "    2  record 2",
                "✗   3  record 3",
                "       error, at the end: no END [rule]",
            ]
        );
    }

    #[test]
    fn an_error_is_seen_before_a_warning_of_the_same_line() {
        let marks = vec![
            mark(1, Severity::Warning, "odd"),
            mark(1, Severity::Error, "wrong"),
        ];
        assert!(drawn(&deck(1, marks))[0].starts_with('✗'));
    }

    #[test]
    fn scrolling_ends_with_the_text_and_goes_from_mark_to_mark() {
        let marks = vec![
            mark(3, Severity::Error, "a"),
            mark(20, Severity::Warning, "b"),
        ];
        let mut deck = deck(40, marks);
        assert_eq!(deck.count(Severity::Error), 1);
        assert!(deck.to_mark(true, AREA));
        assert!(drawn(&deck)[0].contains("record 3"));
        assert!(deck.to_mark(true, AREA));
        assert!(drawn(&deck)[0].contains("record 20"));
        assert!(!deck.to_mark(true, AREA));
        assert!(deck.to_mark(false, AREA));
        assert!(drawn(&deck)[0].contains("record 3"));
        deck.scroll(isize::MAX, AREA);
        assert!(drawn(&deck)[5].contains("record 40"));
        deck.scroll(isize::MIN, AREA);
        assert!(drawn(&deck)[0].contains("record 1"));
    }

    #[test]
    fn long_lines_are_scrolled_to_their_end_and_no_further() {
        let mut deck = DeckText::default();
        deck.set_text(&format!("{}end\n", "x".repeat(50)));
        deck.sideways(500, AREA);
        assert!(drawn(&deck)[0].ends_with("end"));
        deck.sideways(-500, AREA);
        assert!(drawn(&deck)[0].contains("1  xxx"));
    }

    #[test]
    fn a_text_without_lines_is_empty_and_takes_a_mark() {
        let mut deck = deck(0, vec![]);
        assert!(deck.is_empty());
        deck.set_marks(vec![mark(1, Severity::Error, "nothing in it")]);
        deck.scroll(1, AREA);
        assert_eq!(drawn(&deck)[1], "       error: nothing in it [rule]");
    }
}
