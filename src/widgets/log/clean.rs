//! A line of a log as it can be shown: progress that overwrites itself collapsed, terminal sequences
//! taken out, control characters made visible, tabs as blanks.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

const TAB: usize = 8;
/// The most rows that one line is broken into.
const MOST_ROWS: usize = 20_000;

fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| (0x20..0x7f).contains(&byte))
}

/// What a terminal would have left of the line, without anything that acts on a terminal.
#[must_use]
pub fn clean(line: &str) -> Cow<'_, str> {
    if is_plain(line) {
        return Cow::Borrowed(line);
    }
    let line = line.trim_end_matches('\r');
    // Only what was written after the last return to the start is left; it may be an empty rest.
    let line = line.rsplit('\r').next().unwrap_or_default();
    if is_plain(line) {
        return Cow::Borrowed(line);
    }
    let mut shown = String::with_capacity(line.len());
    let mut column = 0;
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '\u{1b}' => rest = after_sequence(rest),
            '\t' => {
                let blanks = TAB - column % TAB;
                shown.extend(std::iter::repeat_n(' ', blanks));
                column += blanks;
            }
            '\u{8}' => {
                if shown.pop().is_some() {
                    column = column.saturating_sub(1);
                }
            }
            '\0'..='\u{1f}' | '\u{7f}' => {
                shown.push('^');
                // '@' and the letters for the first 32, '?' for the last one.
                shown.push(char::from_u32(u32::from(c) ^ 0x40).unwrap_or('?'));
                column += 2;
            }
            // The other control characters, and those that turn the direction of writing.
            '\u{80}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                shown.push(char::REPLACEMENT_CHARACTER);
                column += 1;
            }
            c => {
                shown.push(c);
                column += c.width().unwrap_or(0);
            }
        }
    }
    Cow::Owned(shown)
}

/// The rest after a terminal sequence (ECMA-48 §5.4, §5.6) whose escape was read already.
fn after_sequence(rest: &str) -> &str {
    let mut chars = rest.char_indices();
    match chars.next() {
        Some((_, '[')) => {
            for (at, c) in chars {
                if ('\u{40}'..='\u{7e}').contains(&c) {
                    return &rest[at + c.len_utf8()..];
                }
                if !('\u{20}'..='\u{3f}').contains(&c) {
                    // Not a sequence after all; what follows is text.
                    return &rest[at..];
                }
            }
            ""
        }
        Some((_, ']' | 'P' | '_' | '^' | 'X')) => {
            let end = rest
                .find(['\u{7}', '\u{9c}'])
                .map(|at| at + rest[at..].chars().next().map_or(1, char::len_utf8));
            let long = rest.find("\u{1b}\\").map(|at| at + 2);
            match (end, long) {
                (Some(a), Some(b)) => &rest[a.min(b)..],
                (Some(at), None) | (None, Some(at)) => &rest[at..],
                (None, None) => "",
            }
        }
        Some((at, c)) if ('\u{20}'..='\u{2f}').contains(&c) => {
            // A character set is chosen: one more character belongs to it.
            let next = rest[at + 1..].chars().next().map_or(0, char::len_utf8);
            &rest[at + 1 + next..]
        }
        Some((at, c)) if c.is_ascii() => &rest[at + 1..],
        _ => rest,
    }
}

/// Whether the beginning of a text shows that it is none: NUL, or much that is no UTF-8.
#[must_use]
pub fn looks_binary(text: &str) -> bool {
    let (mut all, mut strange) = (0_usize, 0_usize);
    for c in text.chars().take(4096) {
        if c == '\0' {
            return true;
        }
        all += 1;
        strange += usize::from(c == char::REPLACEMENT_CHARACTER);
    }
    strange * 10 > all
}

/// The rest of a clean line after `columns`.
#[must_use]
pub fn skip_columns(text: &str, columns: usize) -> &str {
    if text.is_ascii() {
        return text.get(columns..).unwrap_or_default();
    }
    crate::widgets::text::skip(text, columns)
}

/// A clean line broken into rows of at most `columns`; at least one.
#[must_use]
pub fn rows(text: &str, columns: usize) -> Vec<&str> {
    let columns = columns.max(2);
    let mut rows = Vec::new();
    if text.is_ascii() {
        let mut from = 0;
        while from < text.len() && rows.len() < MOST_ROWS {
            let to = (from + columns).min(text.len());
            rows.push(&text[from..to]);
            from = to;
        }
    } else {
        let (mut from, mut used) = (0, 0);
        for (at, grapheme) in text.grapheme_indices(true) {
            let width = grapheme.width();
            if used + width > columns {
                rows.push(&text[from..at]);
                (from, used) = (at, 0);
                if rows.len() >= MOST_ROWS {
                    return rows;
                }
            }
            used += width;
        }
        if from < text.len() {
            rows.push(&text[from..]);
        }
    }
    if rows.is_empty() {
        rows.push("");
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_that_overwrites_itself_is_its_last_state() {
        assert_eq!(clean(" 10%\r 50%\r100%"), "100%");
        assert_eq!(clean("windows line\r"), "windows line");
        assert_eq!(clean(" 10%\r 50%\r"), " 50%");
        assert_eq!(clean("\r\r"), "");
    }

    #[test]
    fn terminal_sequences_are_taken_out() {
        let cases = [
            ("\u{1b}[1;31mred\u{1b}[0m text", "red text"),
            ("\u{1b}]0;title\u{7}text", "text"),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}(Bascii", "ascii"),
            ("\u{1b}[2J\u{1b}[Hhome", "home"),
            ("\u{1b}cfull reset", "full reset"),
            ("cut \u{1b}[12", "cut "),
            ("cut \u{1b}]0;never ends", "cut "),
            ("no\u{1b}[3ésequence", "noésequence"),
            ("end\u{1b}", "end"),
        ];
        for (raw, shown) in cases {
            assert_eq!(clean(raw), shown, "{raw:?}");
        }
    }

    #[test]
    fn control_characters_are_seen_and_do_nothing() {
        assert_eq!(clean("a\0b\u{7}c\u{7f}"), "a^@b^Gc^?");
        assert_eq!(clean("a\u{9b}31mb"), "a\u{fffd}31mb");
        assert_eq!(clean("\u{202e}evil"), "\u{fffd}evil");
        assert_eq!(clean("ab\u{8}c"), "ac");
        assert_eq!(clean("a\tb\t\tc"), "a       b               c");
        assert_eq!(clean("日本\tc"), "日本    c");
        assert!(
            clean("\u{1}\u{2}\u{3}\u{fffd}\u{85}")
                .chars()
                .all(|c| !c.is_control())
        );
    }

    #[test]
    fn rows_lose_nothing_and_cut_no_wide_character() {
        let text = "日本語abc日本";
        for columns in 2..12 {
            let rows = rows(text, columns);
            assert_eq!(rows.concat(), text);
            assert!(rows.iter().all(|row| row.width() <= columns), "{rows:?}");
        }
        assert_eq!(rows("", 10), [""]);
        assert_eq!(rows("abcdef", 4), ["abcd", "ef"]);
    }

    #[test]
    fn a_line_of_a_million_characters_is_quick_and_bounded() {
        let line = "x".repeat(1_000_000);
        assert!(matches!(clean(&line), Cow::Borrowed(_)));
        assert_eq!(rows(&line, 80).len(), 12_500);
        assert_eq!(rows(&line, 2).len(), MOST_ROWS);
        assert_eq!(skip_columns(&line, 999_990).len(), 10);
    }
}
