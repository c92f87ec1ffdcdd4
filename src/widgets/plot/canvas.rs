//! Dots and lines in a part of the window: braille, two by four dots a cell, or one ASCII character.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::widgets::text;

const BITS: [[u32; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];

/// A grid of dots over an area.
pub struct Canvas {
    area: Rect,
    mark: Option<&'static str>,
}

/// A dot, in dots from the top left.
pub type Dot = (usize, usize);

/// How a line is drawn with braille: so many dots, then so many that are left out.
pub type Stroke = (usize, usize);

/// Without gaps.
pub const SOLID: Stroke = (1, 0);

impl Canvas {
    /// With braille; with `mark` one character for each dot instead.
    #[must_use]
    pub const fn new(area: Rect, mark: Option<&'static str>) -> Self {
        Self { area, mark }
    }

    /// How many dots there are from left to right and from top to bottom.
    #[must_use]
    pub fn size(&self) -> (usize, usize) {
        let (columns, rows) = (usize::from(self.area.width), usize::from(self.area.height));
        if self.mark.is_some() {
            (columns, rows)
        } else {
            (columns * 2, rows * 4)
        }
    }

    /// Draw lines from dot to dot; a dot of its own where the line is broken on both sides.
    pub fn draw(&self, dots: &[Option<Dot>], buf: &mut Buffer, style: Style) {
        self.draw_stroked(dots, SOLID, buf, style);
    }

    /// The same with gaps in the lines; where dots are characters, those differ already.
    pub fn draw_stroked(
        &self,
        dots: &[Option<Dot>],
        stroke: Stroke,
        buf: &mut Buffer,
        style: Style,
    ) {
        let Some(mark) = self.mark else {
            self.braille(dots, stroke, buf, style);
            return;
        };
        let mut put = |dot: Dot, mark: &str| {
            if let (Ok(x), Ok(y)) = (u16::try_from(dot.0), u16::try_from(dot.1)) {
                text::put(buf, (self.area.x + x, self.area.y + y), mark, 1, style);
            }
        };
        for pair in dots.windows(2) {
            if let [Some(from), Some(to)] = pair {
                line(*from, *to, &mut |dot| put(dot, "."));
            }
        }
        for dot in dots.iter().flatten() {
            put(*dot, mark);
        }
    }

    /// Draw the dots alone, each as a small cross where there are dots enough to be told from a line.
    pub fn draw_apart(&self, dots: &[Option<Dot>], buf: &mut Buffer, style: Style) {
        let (columns, rows) = self.size();
        for (x, y) in dots.iter().flatten().copied() {
            let mut cross = vec![Some((x, y)), None];
            if self.mark.is_none() {
                let beside = [x.checked_sub(1), Some(x + 1).filter(|x| *x < columns)];
                cross.extend(
                    beside
                        .into_iter()
                        .flatten()
                        .flat_map(|x| [Some((x, y)), None]),
                );
                let above = [y.checked_sub(1), Some(y + 1).filter(|y| *y < rows)];
                cross.extend(
                    above
                        .into_iter()
                        .flatten()
                        .flat_map(|y| [Some((x, y)), None]),
                );
            }
            self.draw(&cross, buf, style);
        }
    }

    fn braille(&self, dots: &[Option<Dot>], stroke: Stroke, buf: &mut Buffer, style: Style) {
        let columns = usize::from(self.area.width);
        let mut cells = vec![0_u32; columns * usize::from(self.area.height)];
        let mut set = |(x, y): Dot| {
            if let Some(cell) = cells.get_mut(y / 4 * columns + x / 2) {
                *cell |= BITS[x % 2][y % 4];
            }
        };
        let mut alone = true;
        // Where the line is, in dots from its beginning: short parts go on with the stroke.
        let mut at = 0;
        for (index, dot) in dots.iter().enumerate() {
            let (Some(dot), next) = (dot, dots.get(index + 1).copied().flatten()) else {
                alone = true;
                continue;
            };
            match next {
                Some(next) => {
                    let from = at;
                    line(*dot, next, &mut |dot| {
                        if at % (stroke.0 + stroke.1) < stroke.0 {
                            set(dot);
                        }
                        at += 1;
                    });
                    // The next part begins with the dot that this one ends with.
                    at = at.saturating_sub(1).max(from);
                    alone = false;
                }
                None if alone => set(*dot),
                None => {}
            }
        }
        for (index, bits) in cells.iter().enumerate().filter(|(_, bits)| **bits != 0) {
            let (Ok(x), Ok(y)) = (
                u16::try_from(index % columns),
                u16::try_from(index / columns),
            ) else {
                continue;
            };
            let at = (self.area.x + x, self.area.y + y);
            // Dots of another curve in the same cell stay.
            let old = buf.cell(at).and_then(|cell| cell.symbol().chars().next());
            let old = old.map_or(0, |c| (c as u32).wrapping_sub(0x2800));
            let bits = bits | if old < 0x100 { old } else { 0 };
            if let Some(c) = char::from_u32(0x2800 + bits) {
                text::put(buf, at, c.encode_utf8(&mut [0; 4]), 1, style);
            }
        }
    }
}

fn line(from: Dot, to: Dot, set: &mut impl FnMut(Dot)) {
    let (wide, high) = (from.0.abs_diff(to.0), from.1.abs_diff(to.1));
    let steps = wide.max(high).max(1);
    let between = |a: usize, b: usize, step: usize| {
        let part = a.abs_diff(b) * step / steps;
        if b >= a { a + part } else { a - part }
    };
    for step in 0..=steps {
        set((between(from.0, to.0, step), between(from.1, to.1, step)));
    }
}
