//! Everything in ASCII, for terminals and locales that have nothing else: one pass over the drawn
//! window, so that no screen has to know of it.
//!
//! Signs of our own words become what people write for them (`eV/Å³` becomes `eV/A^3`), which may be
//! longer; blanks that follow give way, and lines between panes stay where they are. Anything else,
//! such as letters in the name of a job, becomes a `?` for each of its columns: nothing that is there
//! goes unseen.

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Position;
use unicode_segmentation::UnicodeSegmentation as _;

use super::text;

/// Signs and what is written for them.
#[rustfmt::skip]
const SIGNS: &[(char, &str)] = &[
    ('Å', "A"), ('\u{212b}', "A"), ('²', "^2"), ('³', "^3"), ('¹', "^1"), ('⁻', "^-"),
    ('°', "deg"), ('×', "x"), ('·', "*"), ('÷', "/"), ('±', "+-"), ('−', "-"), ('≈', "~"),
    ('≠', "!="), ('≤', "<="), ('≥', ">="), ('→', "->"), ('←', "<-"), ('⇒', "=>"), ('∞', "inf"),
    ('√', "sqrt"), ('∂', "d"), ('∇', "grad"), ('–', "-"), ('—', "-"), ('‐', "-"), ('‑', "-"),
    ('…', "..."), ('‘', "'"), ('’', "'"), ('“', "\""), ('”', "\""), ('«', "\""), ('»', "\""),
    ('\u{a0}', " "), ('•', "*"), ('µ', "u"), ('ħ', "hbar"), ('½', "1/2"), ('¼', "1/4"),
    ('α', "alpha"), ('β', "beta"), ('γ', "gamma"), ('δ', "delta"), ('ε', "epsilon"), ('ζ', "zeta"),
    ('η', "eta"), ('θ', "theta"), ('ι', "iota"), ('κ', "kappa"), ('λ', "lambda"), ('μ', "mu"),
    ('ν', "nu"), ('ξ', "xi"), ('π', "pi"), ('ρ', "rho"), ('σ', "sigma"), ('τ', "tau"),
    ('υ', "upsilon"), ('φ', "phi"), ('χ', "chi"), ('ψ', "psi"), ('ω', "omega"), ('Γ', "Gamma"),
    ('Δ', "Delta"), ('Θ', "Theta"), ('Λ', "Lambda"), ('Ξ', "Xi"), ('Π', "Pi"), ('Σ', "Sigma"),
    ('Φ', "Phi"), ('Ψ', "Psi"), ('Ω', "Omega"),
];

/// What stands for characters that cannot be shown.
const UNKNOWN: &str = "?";

/// Where characters had to go, as everywhere in ASCII.
const CUT: &str = "~";

/// `text` in ASCII.
#[must_use]
pub fn of(text: &str) -> String {
    text.graphemes(true).map(sign).collect()
}

/// One grapheme in ASCII.
fn sign(grapheme: &str) -> String {
    if grapheme.is_ascii() {
        return grapheme.to_owned();
    }
    let mut chars = grapheme.chars();
    let first = chars.next().unwrap_or(' ');
    if let Some((_, written)) = SIGNS.iter().find(|(known, _)| *known == first) {
        return (*written).to_owned();
    }
    if first.is_ascii() {
        // A letter that something was put on.
        return first.to_string();
    }
    UNKNOWN.repeat(text::width(grapheme).max(1))
}

/// A character with the column in which it was drawn.
struct Sign {
    from: u16,
    cell: Cell,
}

/// Leave only ASCII in what is drawn; gives the place of the cursor, which may have moved with its
/// line.
pub fn only(buf: &mut Buffer, cursor: Option<Position>) -> Option<Position> {
    let mut cursor = cursor;
    for y in buf.area.top()..buf.area.bottom() {
        let row = buf.area.left()..buf.area.right();
        let ascii = |x| buf.cell((x, y)).is_none_or(|cell| cell.symbol().is_ascii());
        if row.clone().all(ascii) {
            continue;
        }
        let signs = written(buf, y);
        if let Some(at) = cursor.as_mut().filter(|at| at.y == y) {
            let moved = signs.iter().position(|sign| sign.from >= at.x);
            let moved = moved.and_then(|index| u16::try_from(index).ok());
            at.x = moved.map_or(at.x, |index| buf.area.x + index);
        }
        for (x, sign) in row.zip(signs) {
            if let Some(cell) = buf.cell_mut((x, y)) {
                *cell = sign.cell;
            }
        }
    }
    cursor
}

/// A row as it is to be, with exactly as many characters as it has columns.
fn written(buf: &Buffer, y: u16) -> Vec<Sign> {
    let mut signs: Vec<Sign> = Vec::with_capacity(usize::from(buf.area.width));
    // What has come in too much, and where the line between panes before it is.
    let (mut excess, mut begin) = (0, 0);
    let mut x = buf.area.left();
    while x < buf.area.right() {
        let Some(cell) = buf.cell((x, y)) else { break };
        if stays(buf, x, y) {
            give_way(&mut signs, begin, &mut excess);
            begin = signs.len() + 1;
        }
        let columns = text::width(cell.symbol()).max(1);
        let blank = cell.symbol() == " ";
        let gives_way = blank && signs.len() > begin && signs.last().is_some_and(is_blank);
        if excess > 0 && gives_way {
            excess -= 1;
        } else {
            let ascii = format!("{:columns$}", sign(cell.symbol()));
            excess += ascii.len().saturating_sub(columns);
            for c in ascii.chars() {
                let mut cell = cell.clone();
                cell.set_char(c);
                signs.push(Sign { from: x, cell });
            }
        }
        x += u16::try_from(columns).unwrap_or(1);
    }
    give_way(&mut signs, begin, &mut excess);
    signs
}

fn is_blank(sign: &Sign) -> bool {
    sign.cell.symbol() == " "
}

/// Take out what is still too much before a line between panes: a blank, else the last characters.
fn give_way(signs: &mut Vec<Sign>, begin: usize, excess: &mut usize) {
    if *excess == 0 {
        return;
    }
    let keep = signs.len().saturating_sub(*excess).max(begin);
    let lost = signs.drain(keep..).any(|sign| !is_blank(&sign));
    *excess = 0;
    if let Some(last) = signs[begin.min(keep)..].last_mut().filter(|_| lost) {
        last.cell.set_symbol(CUT);
    }
}

/// Whether a cell is part of a line from top to bottom, or of a scroll bar.
fn stays(buf: &Buffer, x: u16, y: u16) -> bool {
    let is = |y: Option<u16>, signs: &[&str]| {
        let cell = y.and_then(|y| buf.cell((x, y)));
        cell.is_some_and(|cell| signs.contains(&cell.symbol()))
    };
    let line = ["|", "#", "+"];
    is(Some(y), &line[..2]) && (is(y.checked_sub(1), &line) || is(y.checked_add(1), &line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::layout::Rect;
    use ratatui::style::{Color, Style};

    fn shown(lines: &[&str], columns: u16) -> Vec<String> {
        let area = Rect::new(0, 0, columns, u16::try_from(lines.len()).unwrap_or(0));
        let mut buf = Buffer::empty(area);
        for (line, y) in lines.iter().zip(0..) {
            buf.set_string(0, y, line, Style::new());
        }
        only(&mut buf, None);
        (0..area.height)
            .map(|y| {
                let cells = (0..columns).filter_map(|x| buf.cell((x, y)));
                cells.map(Cell::symbol).collect::<String>()
            })
            .collect()
    }

    #[test]
    fn signs_are_written_out_and_blanks_give_way() {
        for (line, wanted) in [
            ("σ = 0.1 eV/Å³   next", "sigma = 0.1 eV/A^3 next"),
            (
                "α 90  β 90  γ 90 °        end",
                "alpha 90 beta 90 gamma 90 deg end",
            ),
            ("80×24 → 3", "80x24 -> 3"),
            ("≤ 10", "<= 10"),
        ] {
            let text = shown(&[line], 40).concat();
            assert_eq!(text.trim_end(), wanted);
            assert_eq!(text.len(), 40);
        }
    }

    #[test]
    fn what_cannot_be_shown_is_seen_to_be_there() {
        assert_eq!(
            shown(&["MgO 晶体 e\u{301}té x"], 18),
            ["MgO ???? et? x    "]
        );
        assert_eq!(shown(&["1\u{fe0f}\u{20e3}|"], 4).concat().len(), 4);
        assert_eq!(of("job 晶: 0.1 eV/Å → é"), "job ??: 0.1 eV/A -> ?");
    }

    #[test]
    fn lines_between_panes_stay() {
        assert_eq!(
            shown(&["| Å³  b |xy  |", "+-------+----+"], 14),
            ["| A^3 b |xy  |", "+-------+----+"]
        );
        // The one blank before a line gives way as well, then the text.
        assert_eq!(
            shown(&["| eV/Å³ |Å²|", "| eV/²³ |²²|"], 12),
            ["| eV/A^3|A~|", "| eV/^2~|^~|"]
        );
    }

    #[test]
    fn the_cursor_and_the_looks_go_with_the_text() {
        let mut buf = Buffer::empty(Rect::new(0, 0, 12, 1));
        buf.set_string(0, 0, "Å³", Style::new());
        buf.set_string(2, 0, "x", Style::new().fg(Color::Red));
        let cursor = only(&mut buf, Some(Position::new(3, 0)));
        assert_eq!(cursor, Some(Position::new(4, 0)));
        assert_eq!(buf.cell((3, 0)).map(|cell| cell.fg), Some(Color::Red));
    }
}
