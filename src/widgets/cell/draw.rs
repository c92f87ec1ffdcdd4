//! Puts a cell into a part of the window.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use super::space::{Vector, combined, dot, plus};
use super::{Crystal, Shown, View};
use crate::theme::{Role, Theme};
use crate::widgets::plot::canvas::Canvas;
use crate::widgets::text;

/// Half of what is drawn is never smaller, in Å: one atom is not blown up.
const LEAST_ANGSTROM: f64 = 1.0;
/// How far beyond its end an axis has its name, in parts of its length, the first one that is free.
const NAMES_AT: [f64; 3] = [1.1, 1.2, 1.32];
const ELEMENTS: [Role; 3] = [Role::Plot1, Role::Plot2, Role::Plot3];

/// The smallest area in which a cell says something.
pub const SMALLEST: (u16, u16) = (16, 6);

/// From places in Å to the window.
struct Frame {
    area: Rect,
    middle: Vector,
    /// Rows of one Å; a row is as high as two columns are wide.
    rows: f64,
}

impl Frame {
    /// So that everything fits, however it is turned.
    fn of(points: &[Vector], area: Rect, scale: f64) -> Self {
        let mut ends = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
        for point in points {
            for axis in 0..3 {
                ends[0][axis] = ends[0][axis].min(point[axis]);
                ends[1][axis] = ends[1][axis].max(point[axis]);
            }
        }
        let middle = std::array::from_fn(|axis| f64::midpoint(ends[0][axis], ends[1][axis]));
        let away = |point: &Vector| {
            let from = plus(point, -1.0, &middle);
            dot(&from, &from).sqrt()
        };
        let radius = points.iter().map(away).fold(LEAST_ANGSTROM, f64::max);
        let high = (f64::from(area.height) - 1.0) / 2.0;
        let wide = (f64::from(area.width) - 3.0) / 4.0;
        Self {
            area,
            middle,
            rows: high.min(wide) / radius * scale,
        }
    }

    /// Columns and rows from the top left, and how near it is.
    fn place(&self, view: &View, at: &Vector) -> Vector {
        let [x, y, z] = view.seen(&plus(at, -1.0, &self.middle));
        let half = |cells: u16| (f64::from(cells) - 1.0) / 2.0;
        [
            (2.0 * self.rows).mul_add(x, half(self.area.width)),
            self.rows.mul_add(-y, half(self.area.height)),
            z,
        ]
    }
}

/// What was drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Drawn {
    /// Atoms that are seen.
    pub seen: usize,
    /// Atoms that are behind others, as far as letters go.
    pub behind: usize,
    /// Atoms that are outside of the area.
    pub outside: usize,
}

/// Draw the cell, with a line below that tells the elements and how much of it is seen.
pub fn draw(crystal: &Crystal, view: &View, area: Rect, buf: &mut Buffer, theme: &Theme) -> Drawn {
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        let dim = theme.style(Role::Dim);
        text::put(
            buf,
            (area.x, area.y),
            "too small to draw the cell",
            area.width,
            dim,
        );
        return Drawn::default();
    }
    let inner = Rect {
        height: area.height - 1,
        ..area
    };
    let atoms = crystal.shown(view.cells);
    let edges = crystal.edges(view.cells);
    let names = names(crystal, view);
    let ends = names.iter().map(|(_, at)| at[0]);
    let corners = edges.iter().flat_map(|(from, to)| [*from, *to]);
    let points: Vec<Vector> = atoms.iter().map(|atom| atom.at).collect();
    let points: Vec<Vector> = points.into_iter().chain(corners).chain(ends).collect();
    if points.is_empty() {
        return Drawn::default();
    }
    let frame = Frame::of(&points, inner, view.scale());
    draw_edges(&edges, &frame, view, buf, theme);
    let mut taken = Taken::of(inner);
    let counts = crystal.counts();
    let drawn = draw_atoms(&atoms, &counts, &frame, view, &mut taken, buf, theme);
    for (name, places) in &names {
        let place = places.iter().map(|at| frame.place(view, at));
        let mut free = place.filter_map(|place| taken.take(place, name));
        if let Some(at) = free.next() {
            text::put(buf, at, name, 1, theme.style(Role::Axis));
        }
    }
    let legend = Rect::new(area.x, inner.bottom(), area.width, 1);
    draw_legend(&counts, drawn, legend, buf, theme);
    drawn
}

/// The axes that repeat, each with the places beyond its end where its name may stand.
fn names(crystal: &Crystal, view: &View) -> Vec<(&'static str, [Vector; 3])> {
    let Some(lattice) = &crystal.lattice else {
        return Vec::new();
    };
    let origin = crystal.origin();
    let axes = ["a", "b", "c"].into_iter().enumerate();
    let axes = axes.filter(|(axis, _)| crystal.periodic[*axis]);
    let named = axes.map(|(axis, name)| {
        let at = |beyond: f64| {
            let mut parts = origin;
            parts[axis] = f64::from(view.cells) - 1.0 + beyond;
            combined(lattice, &parts)
        };
        (name, NAMES_AT.map(at))
    });
    named.collect()
}

/// Which cells of the window are taken by what is nearer.
struct Taken {
    area: Rect,
    cells: Vec<bool>,
}

impl Taken {
    fn of(area: Rect) -> Self {
        let count = usize::from(area.width) * usize::from(area.height);
        Self {
            area,
            cells: vec![false; count],
        }
    }

    fn inside(&self, place: Vector, word: &str) -> Option<(u16, u16)> {
        let columns = text::width(word);
        // Two letters stand around the place.
        #[expect(clippy::cast_precision_loss, reason = "one or two")]
        let column = index(place[0] - (columns as f64 - 1.0) / 2.0)?;
        let row = index(place[1])?;
        let fits = usize::from(column) + columns <= usize::from(self.area.width);
        (fits && row < self.area.height).then_some((column, row))
    }

    /// Take the place for a word; none where it is outside, or a letter of it would hide something.
    fn take(&mut self, place: Vector, word: &str) -> Option<(u16, u16)> {
        let (column, row) = self.inside(place, word)?;
        let from = usize::from(row) * usize::from(self.area.width) + usize::from(column);
        let cells = self.cells.get_mut(from..from + text::width(word))?;
        if cells.contains(&true) {
            return None;
        }
        cells.fill(true);
        Some((self.area.x + column, self.area.y + row))
    }
}

/// The nearest whole number, if it is a column or a row.
fn index(value: f64) -> Option<u16> {
    let value = value.round();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and 65535"
    )]
    (0.0..65535.0).contains(&value).then_some(value as u16)
}

/// The nearest atoms first; one whose letters would stand on those of a nearer one is behind it.
fn draw_atoms(
    atoms: &[Shown<'_>],
    counts: &[(&str, usize)],
    frame: &Frame,
    view: &View,
    taken: &mut Taken,
    buf: &mut Buffer,
    theme: &Theme,
) -> Drawn {
    let mut placed: Vec<(Vector, &str)> = atoms
        .iter()
        .map(|atom| (frame.place(view, &atom.at), atom.symbol))
        .collect();
    placed.sort_by(|one, other| other.0[2].total_cmp(&one.0[2]));
    let mut drawn = Drawn::default();
    for (place, symbol) in placed {
        if taken.inside(place, symbol).is_none() {
            drawn.outside += 1;
            continue;
        }
        let Some(at) = taken.take(place, symbol) else {
            drawn.behind += 1;
            continue;
        };
        drawn.seen += 1;
        let mut style = theme.style(element(symbol, counts));
        if place[2] > 0.0 {
            style = style.add_modifier(Modifier::BOLD);
        }
        text::put(buf, at, symbol, 4, style);
    }
    drawn
}

/// How an element looks. Its letters tell it; that there are more elements than colours is no harm.
fn element(symbol: &str, counts: &[(&str, usize)]) -> Role {
    let at = counts.iter().position(|(known, _)| *known == symbol);
    ELEMENTS[at.unwrap_or(0) % ELEMENTS.len()]
}

/// The edges; those that end in the corner that is farthest away are behind the cell, and dotted.
fn draw_edges(
    edges: &[(Vector, Vector)],
    frame: &Frame,
    view: &View,
    buf: &mut Buffer,
    theme: &Theme,
) {
    let canvas = Canvas::new(frame.area, theme.glyphs().ascii.then_some("."));
    let (columns, rows) = canvas.size();
    let per_cell = |dots: usize, cells: u16| {
        let (dots, cells) = (u16::try_from(dots).unwrap_or(u16::MAX), cells.max(1));
        f64::from(dots) / f64::from(cells)
    };
    let (across, down) = (
        per_cell(columns, frame.area.width),
        per_cell(rows, frame.area.height),
    );
    let placed = |at: &Vector| {
        let [x, y, z] = frame.place(view, at);
        // The middle of a cell is the middle of its dots.
        [(x + 0.5) * across - 0.5, (y + 0.5) * down - 0.5, z]
    };
    let edges: Vec<(Vector, Vector)> = edges
        .iter()
        .map(|(from, to)| (placed(from), placed(to)))
        .collect();
    let depths = edges.iter().flat_map(|(from, to)| [from[2], to[2]]);
    let farthest = depths.clone().fold(f64::INFINITY, f64::min);
    let nearest = depths.fold(f64::NEG_INFINITY, f64::max);
    let mut dots = Vec::new();
    for (from, to) in &edges {
        let behind = from[2].min(to[2]) < farthest + 1e-6 && nearest - farthest > 1e-6;
        line(from, to, if behind { 3 } else { 1 }, &mut |x, y| {
            let dot = index(x).zip(index(y));
            let dot = dot.map(|(x, y)| (usize::from(x), usize::from(y)));
            if let Some(dot) = dot.filter(|dot| dot.0 < columns && dot.1 < rows) {
                // Dots, not a line from one to the next.
                dots.extend([Some(dot), None]);
            }
        });
    }
    canvas.draw(&dots, buf, theme.style(Role::Axis));
}

/// Points from one end to the other, no farther apart than `step`.
fn line(from: &Vector, to: &Vector, step: u16, set: &mut impl FnMut(f64, f64)) {
    let long = (to[0] - from[0]).abs().max((to[1] - from[1]).abs());
    // Beyond that nothing is in the window.
    let Some(count) = index((long / f64::from(step)).ceil().max(1.0)) else {
        return;
    };
    for at in 0..=count {
        let part = f64::from(at) / f64::from(count);
        let along = |axis: usize| (to[axis] - from[axis]).mul_add(part, from[axis]);
        set(along(0), along(1));
    }
}

/// The elements with their numbers, and what is not seen.
fn draw_legend(
    counts: &[(&str, usize)],
    drawn: Drawn,
    area: Rect,
    buf: &mut Buffer,
    theme: &Theme,
) {
    let mut x = area.x + 1;
    for (symbol, count) in counts {
        let style = theme
            .style(element(symbol, counts))
            .add_modifier(Modifier::BOLD);
        let left = area.right().saturating_sub(x);
        x = text::put(buf, (x, area.y), symbol, left, style);
        let words = format!(" {count}  ");
        let left = area.right().saturating_sub(x);
        x = text::put(buf, (x, area.y), &words, left, theme.style(Role::Text));
    }
    let mut words = format!("{} drawn", drawn.seen);
    if drawn.behind > 0 {
        words = format!("{words}, {} behind others", drawn.behind);
    }
    if drawn.outside > 0 {
        words = format!("{words}, {} outside", drawn.outside);
    }
    let left = area.right().saturating_sub(x);
    let words = text::fit(&words, usize::from(left), theme.glyphs().more);
    text::put(buf, (x, area.y), &words, left, theme.style(Role::Dim));
}
