//! A part of a file in memory, of bounded size, that grows at its end and can be read further back.
//!
//! The file's bytes come as text in pieces; a piece is dropped as a whole. Nothing is read here.

use std::borrow::Cow;
use std::collections::VecDeque;

use super::clean::clean;
use crate::widgets::text;

/// The most text that is kept.
pub const WINDOW_BYTES: usize = 4 << 20;
/// The most lines that are kept.
const WINDOW_LINES: usize = 300_000;
/// A piece takes in more until it has this size.
const PIECE_BYTES: usize = 256 << 10;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Piece {
    /// In bytes of the file.
    start: u64,
    end: u64,
    /// In bytes of the text; differs from the file's where bytes were no UTF-8.
    len: usize,
}

/// The part of the file that is here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogText {
    raw: String,
    /// Where each line starts in `raw`.
    starts: Vec<u32>,
    pieces: VecDeque<Piece>,
}

/// Where a search found something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// The line.
    pub line: usize,
    /// The column at which it starts in the clean line.
    pub column: usize,
}

impl LogText {
    /// The first byte of the file that is here.
    #[must_use]
    pub fn start(&self) -> u64 {
        self.pieces.front().map_or(0, |piece| piece.start)
    }

    /// The byte of the file after the last one that is here.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.pieces.back().map_or(0, |piece| piece.end)
    }

    /// Bytes of text in memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.raw.len()
    }

    /// How many lines are here; the last one may still grow, and the first may lack its beginning.
    #[must_use]
    pub fn count(&self) -> usize {
        match self.starts.last() {
            Some(last) if *last as usize == self.raw.len() => self.starts.len() - 1,
            _ => self.starts.len(),
        }
    }

    /// A line as it can be shown; empty where there is none.
    #[must_use]
    pub fn line(&self, index: usize) -> Cow<'_, str> {
        clean(self.raw_line(index))
    }

    fn raw_line(&self, index: usize) -> &str {
        let Some(from) = self.starts.get(index) else {
            return "";
        };
        let next = self.starts.get(index + 1).map(|next| *next as usize - 1);
        let to = next.unwrap_or(self.raw.len());
        self.raw.get(*from as usize..to).unwrap_or_default()
    }

    /// Everything that is here, as it came.
    #[must_use]
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// Forget everything and begin with these bytes.
    pub fn restart(&mut self, start: u64, end: u64, text: &str) {
        *self = Self::default();
        self.append(start, end, text);
    }

    /// Add what follows; gives the number of lines that were dropped at the front for it.
    pub fn append(&mut self, start: u64, end: u64, text: &str) -> usize {
        if text.is_empty() && !self.pieces.is_empty() {
            return 0;
        }
        match self.pieces.back_mut() {
            Some(piece) if piece.len < PIECE_BYTES => {
                piece.end = end;
                piece.len += text.len();
            }
            _ => self.pieces.push_back(Piece {
                start,
                end,
                len: text.len(),
            }),
        }
        let from = self.raw.len();
        self.raw.push_str(text);
        self.index(from);
        let mut dropped = 0;
        while self.pieces.len() > 1 && self.is_over() {
            dropped += self.drop_front();
        }
        dropped
    }

    /// Add what comes before; gives the number of lines that are in front of the old first one now.
    /// What no longer fits is dropped at the end.
    pub fn prepend(&mut self, start: u64, end: u64, text: &str) -> usize {
        if text.is_empty() {
            return 0;
        }
        self.pieces.push_front(Piece {
            start,
            end,
            len: text.len(),
        });
        self.raw.insert_str(0, text);
        self.starts.clear();
        self.index(0);
        while self.pieces.len() > 1 && self.is_over() {
            let len = self.pieces.pop_back().map_or(0, |piece| piece.len);
            self.raw.truncate(self.raw.len() - len);
            let len = self.raw.len();
            self.starts.retain(|start| (*start as usize) <= len);
        }
        text.bytes().filter(|byte| *byte == b'\n').count()
    }

    fn is_over(&self) -> bool {
        self.raw.len() > WINDOW_BYTES || self.starts.len() > WINDOW_LINES
    }

    /// Find the lines from byte `from` of the text on.
    fn index(&mut self, from: usize) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        let bytes = self.raw.as_bytes()[from..].iter().enumerate();
        let found = bytes
            .filter(|(_, byte)| **byte == b'\n')
            .filter_map(|(at, _)| u32::try_from(from + at + 1).ok());
        self.starts.extend(found);
    }

    fn drop_front(&mut self) -> usize {
        let Some(piece) = self.pieces.pop_front() else {
            return 0;
        };
        let cut = u32::try_from(piece.len).unwrap_or(u32::MAX);
        let first = self.starts.partition_point(|start| *start < cut);
        let whole = self.starts.get(first) == Some(&cut);
        // A line that the cut goes through stays, without its beginning.
        let dropped = if whole {
            first
        } else {
            first.saturating_sub(1)
        };
        self.raw.drain(..piece.len);
        self.starts.clear();
        self.index(0);
        dropped
    }

    /// The next line from `from` on, or before it, in which `wanted` stands. Upper and lower case
    /// are the same unless `wanted` has upper case.
    #[must_use]
    pub fn find(&self, wanted: &str, from: usize, backwards: bool) -> Option<Hit> {
        if wanted.is_empty() {
            return None;
        }
        let exact = wanted.chars().any(char::is_uppercase);
        let look = |line: usize| {
            let column = column_of(&self.line(line), wanted, exact)?;
            Some(Hit { line, column })
        };
        if backwards {
            (0..from.min(self.count())).rev().find_map(look)
        } else {
            (from..self.count()).find_map(look)
        }
    }
}

fn column_of(line: &str, wanted: &str, exact: bool) -> Option<usize> {
    let at = if exact {
        line.find(wanted)?
    } else if line.is_ascii() && wanted.is_ascii() {
        line.to_ascii_lowercase()
            .find(&wanted.to_ascii_lowercase())?
    } else {
        let at = line.to_lowercase().find(&wanted.to_lowercase())?;
        // Lower case may have another length; the place is near enough then.
        (0..=at.min(line.len()))
            .rev()
            .find(|at| line.is_char_boundary(*at))
            .unwrap_or(0)
    };
    let before = &line[..at];
    Some(if before.is_ascii() {
        before.len()
    } else {
        text::width(before)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &LogText) -> Vec<String> {
        (0..text.count())
            .map(|line| text.line(line).into_owned())
            .collect()
    }

    #[test]
    fn a_line_may_come_in_parts() {
        let mut log = LogText::default();
        log.append(0, 4, "one\n");
        log.append(4, 6, "tw");
        assert_eq!(lines(&log), ["one", "tw"]);
        log.append(6, 8, "o\n");
        assert_eq!(lines(&log), ["one", "two"]);
        assert_eq!((log.start(), log.end()), (0, 8));
        log.append(8, 9, "\n");
        assert_eq!(lines(&log), ["one", "two", ""]);
    }

    #[test]
    fn nothing_is_no_line() {
        let mut log = LogText::default();
        assert_eq!(log.count(), 0);
        log.append(0, 0, "");
        assert_eq!(log.count(), 0);
        assert_eq!(log.line(3), "");
    }

    #[test]
    fn memory_is_bounded_and_the_end_is_kept() {
        let mut log = LogText::default();
        let piece = "0123456789abcde\n".repeat(8192);
        let mut at = 0;
        let mut count = 0;
        for _ in 0..100 {
            let end = at + piece.len() as u64;
            let before = log.count();
            let dropped = log.append(at, end, &piece);
            assert_eq!(log.count(), before + 8192 - dropped);
            at = end;
            count = log.count();
        }
        assert!(log.bytes() <= WINDOW_BYTES, "{}", log.bytes());
        assert!(count > 200_000);
        assert_eq!(log.end(), at);
        assert_eq!(log.end() - log.start(), log.bytes() as u64);
    }

    #[test]
    fn lines_without_text_are_bounded_too() {
        let mut log = LogText::default();
        let piece = "\n".repeat(PIECE_BYTES);
        for index in 0..20_u64 {
            let at = index * piece.len() as u64;
            log.append(at, at + piece.len() as u64, &piece);
        }
        assert!(log.count() <= WINDOW_LINES + PIECE_BYTES);
    }

    #[test]
    fn what_comes_before_is_joined_to_the_first_line() {
        let mut log = LogText::default();
        log.restart(10, 14, "lf\nx");
        assert_eq!(log.prepend(0, 10, "first\nha"), 1);
        assert_eq!(lines(&log), ["first", "half", "x"]);
        assert_eq!((log.start(), log.end()), (0, 14));
    }

    #[test]
    fn reading_back_drops_the_end() {
        let mut log = LogText::default();
        let piece = "0123456789abcde\n".repeat(PIECE_BYTES / 16);
        let size = piece.len() as u64;
        let mut at = 40 * size;
        log.restart(at, at + size, &piece);
        while at > 0 {
            at -= size;
            log.prepend(at, at + size, &piece);
        }
        assert_eq!(log.start(), 0);
        assert!(log.bytes() <= WINDOW_BYTES);
        assert_eq!(log.end(), log.bytes() as u64);
        assert_eq!(log.count(), log.bytes() / 16);
    }

    #[test]
    fn a_million_characters_in_one_line_can_be_searched() {
        let mut log = LogText::default();
        let line = format!("{}needle{}", "x".repeat(700_000), "y".repeat(300_000));
        log.append(0, line.len() as u64, &line);
        let hit = log.find("needle", 0, false);
        assert_eq!(
            hit,
            Some(Hit {
                line: 0,
                column: 700_000
            })
        );
    }

    #[test]
    fn search_goes_both_ways_and_minds_upper_case_when_it_is_typed() {
        let mut log = LogText::default();
        log.append(
            0,
            40,
            "Energy 1\n\u{1b}[31mener\u{1b}[0mgy 2\n50%\renergy é 3\n",
        );
        let at = |hit: Option<Hit>| hit.map(|hit| (hit.line, hit.column));
        assert_eq!(at(log.find("energy", 0, false)), Some((0, 0)));
        assert_eq!(at(log.find("energy", 1, false)), Some((1, 0)));
        assert_eq!(at(log.find("é", 0, false)), Some((2, 7)));
        assert_eq!(at(log.find("energy", 2, true)), Some((1, 0)));
        assert_eq!(at(log.find("Energy", 1, false)), None);
        assert_eq!(at(log.find("50%", 0, false)), None);
    }
}
