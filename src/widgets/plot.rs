//! Curves with axes, ticks, units and the value under a cursor, in braille or in plain ASCII.

pub(in crate::widgets) mod canvas;
mod ticks;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::text;
use crate::theme::{Role, Theme};
use canvas::{Canvas, Stroke};
use ticks::{Span, decade_ticks, round_ticks, tick_text};

pub use ticks::value_text;

/// One curve, in the order of x. A value that is not finite is a gap.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Curve {
    /// Its name, for the legend; may be empty.
    pub name: String,
    /// The points.
    pub points: Vec<(f64, f64)>,
    /// Whether they are points by themselves, without a line from one to the next.
    pub apart: bool,
    /// Which colour and sign it has: those with the same belong together.
    pub series: usize,
}

/// What there is to draw.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Plot {
    /// The curves.
    pub curves: Vec<Curve>,
    /// What x is, with its unit.
    pub x_label: String,
    /// What y is, with its unit.
    pub y_label: String,
    /// Whether y is drawn as its logarithm; points that are not positive are left out.
    pub log_y: bool,
    /// The point of the first curve whose value is told.
    pub cursor: Option<usize>,
    /// Places along x with a name instead of numbers, each with a line through the plot.
    pub places: Vec<(f64, String)>,
}

const CURVES: [Role; 3] = [Role::Plot1, Role::Plot2, Role::Plot3];
const MARKS: [&str; 3] = ["*", "o", "+"];
/// How the lines of a plot are told apart without colour, and what stands for them in the legend.
const STROKES: [(Stroke, &str); 3] = [(canvas::SOLID, "──"), ((4, 4), "╌╌"), ((1, 3), "┈┈")];

/// The smallest area in which a plot says something.
pub const SMALLEST: (u16, u16) = (24, 6);

/// Draw the plot; a line of text where there is nothing to draw or no room.
pub fn draw(plot: &Plot, area: Rect, buf: &mut Buffer, theme: &Theme) {
    let dim = theme.style(Role::Dim);
    let curves: Vec<Vec<(f64, f64)>> = plot
        .curves
        .iter()
        .map(|curve| scaled(plot, curve))
        .collect();
    let seen = || {
        let points = curves.iter().flatten();
        points.filter(|(x, y)| x.is_finite() && y.is_finite())
    };
    let (Some(x), Some(y)) = (
        Span::of(seen().map(|point| point.0)),
        Span::of(seen().map(|point| point.1)),
    ) else {
        let any = plot.curves.iter().any(|curve| !curve.points.is_empty());
        let words = if plot.log_y && any {
            "no positive values for a logarithm"
        } else {
            "no values yet"
        };
        text::put(buf, (area.x, area.y), words, area.width, dim);
        return;
    };
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        text::put(
            buf,
            (area.x, area.y),
            "too small for a plot",
            area.width,
            dim,
        );
        return;
    }
    legend(plot, area, buf, theme);
    let inner = axes(plot, (x, y), area, buf, theme);
    for (place, _) in &plot.places {
        upright(*place, x, inner, buf, theme);
    }
    let point = plot
        .cursor
        .and_then(|at| plot.curves.first()?.points.get(at));
    if let Some((at, _)) = point {
        upright(*at, x, inner, buf, theme);
    }
    for (curve, points) in plot.curves.iter().zip(&curves) {
        let mark = theme
            .glyphs()
            .ascii
            .then(|| MARKS[curve.series % MARKS.len()]);
        let canvas = Canvas::new(inner, mark);
        let (columns, rows) = canvas.size();
        let dots: Vec<_> = points
            .iter()
            .map(|(px, py)| {
                let row = y.place(*py, rows)?;
                Some((x.place(*px, columns)?, rows - 1 - row))
            })
            .collect();
        let style = theme.style(CURVES[curve.series % CURVES.len()]);
        if curve.apart {
            canvas.draw_apart(&dots, buf, style);
        } else {
            canvas.draw_stroked(&dots, stroke(plot, curve).0, buf, style);
        }
    }
}

/// The stroke of a line: by its place among the lines, points do not count.
fn stroke(plot: &Plot, curve: &Curve) -> (Stroke, &'static str) {
    let mut lines: Vec<usize> = Vec::new();
    for line in plot.curves.iter().filter(|curve| !curve.apart) {
        if !lines.contains(&line.series) {
            lines.push(line.series);
        }
    }
    let place = lines.iter().position(|series| *series == curve.series);
    STROKES[place.unwrap_or(0) % STROKES.len()]
}

fn scaled(plot: &Plot, curve: &Curve) -> Vec<(f64, f64)> {
    let log = |y: f64| if y > 0.0 { y.log10() } else { f64::NAN };
    let points = curve.points.iter();
    points
        .map(|(x, y)| (*x, if plot.log_y { log(*y) } else { *y }))
        .collect()
}

/// The first row: what y is, and the value of the first curve at the cursor, else of a single one the
/// last; others are named.
fn legend(plot: &Plot, area: Rect, buf: &mut Buffer, theme: &Theme) {
    let right = area.right();
    let glyphs = theme.glyphs();
    let scale = if plot.log_y { ", log scale" } else { "" };
    let label = format!("{}{scale}", plot.y_label);
    let label = text::fit(&label, usize::from(area.width), glyphs.more);
    let axis = theme.style(Role::Axis);
    let mut x = text::put(buf, (area.x, area.y), &label, area.width, axis);
    // Lines and points, and lines, are told apart without colour, too.
    let first = plot.curves.first().map_or(0, |curve| curve.series);
    let is_mixed = plot
        .curves
        .iter()
        .any(|curve| curve.apart || curve.series != first);
    for (index, curve) in plot.curves.iter().enumerate() {
        let Some(said) = said(plot, index, curve) else {
            continue;
        };
        let mark = if glyphs.ascii {
            MARKS[curve.series % MARKS.len()]
        } else if is_mixed && !curve.apart {
            stroke(plot, curve).1
        } else {
            glyphs.live
        };
        let words = format!("  {mark} {said}");
        let style = theme.style(CURVES[curve.series % CURVES.len()]);
        x = text::put(buf, (x, area.y), &words, right.saturating_sub(x), style);
    }
}

/// What the legend says of a curve; nothing where it has neither a name nor a value to tell.
fn said(plot: &Plot, index: usize, curve: &Curve) -> Option<String> {
    let alone = plot.curves.len() == 1;
    let at = plot.cursor.filter(|_| index == 0);
    let point = at.and_then(|at| curve.points.get(at));
    match (point, curve.points.last()) {
        (Some((x, y)), _) => {
            let name = if alone { "" } else { curve.name.as_str() };
            let words = format!(
                "{name} {} {}: {}",
                plot.x_label,
                value_text(*x),
                value_text(*y)
            );
            Some(words.trim_start().to_owned())
        }
        (None, Some((_, y))) if alone => Some(format!("last: {}", value_text(*y))),
        _ => Some(curve.name.clone()).filter(|name| !name.is_empty()),
    }
}

/// Draw the axes with their ticks; gives the place of the curves.
fn axes(plot: &Plot, (x, y): (Span, Span), area: Rect, buf: &mut Buffer, theme: &Theme) -> Rect {
    let style = theme.style(Role::Axis);
    let glyphs = theme.glyphs();
    // A row each for the legend, the axis and its numbers, and one for what x is where it fits.
    let named = area.height >= 9;
    let rows = area.height - 3 - u16::from(named);
    let wanted = usize::from(rows / 3).clamp(2, 8);
    let labels: Vec<(usize, String)> = y_ticks(plot, y, wanted)
        .into_iter()
        .filter_map(|(value, label)| Some((y.place(value, usize::from(rows))?, label)))
        .collect();
    let widest = labels.iter().map(|(_, label)| text::width(label)).max();
    let left = u16::try_from(widest.unwrap_or(0))
        .unwrap_or(0)
        .min(area.width / 2);
    let inner = Rect::new(area.x + left + 1, area.y + 1, area.width - left - 1, rows);
    for row in inner.top()..inner.bottom() {
        text::put(buf, (inner.x - 1, row), glyphs.vertical, 1, style);
    }
    for (up, label) in labels {
        let row = inner.bottom() - 1 - u16::try_from(up).unwrap_or(0);
        let label = text::pad(&label, usize::from(left), true, glyphs.more);
        text::put(buf, (area.x, row), &label, left, style);
    }
    let rule = glyphs.horizontal.repeat(usize::from(inner.width));
    text::put(buf, (inner.x, inner.bottom()), &rule, inner.width, style);
    let corner = (inner.x - 1, inner.bottom());
    text::put(buf, corner, glyphs.corners[2], 1, style);
    let labels = if plot.places.is_empty() {
        // Nobody makes half a step.
        let mut abscissas = plot.curves.iter().flat_map(|curve| &curve.points);
        let whole = abscissas.all(|(x, _)| x.fract() == 0.0);
        let least = if whole { 1.0 } else { 0.0 };
        let (ticks, step) = round_ticks(x, usize::from(inner.width / 12).clamp(1, 10), least);
        let labels = ticks.into_iter().map(|tick| (tick, tick_text(tick, step)));
        labels.collect()
    } else {
        plot.places.clone()
    };
    x_labels(x, &labels, inner, buf, theme);
    if named {
        let label = text::fit(&plot.x_label, usize::from(inner.width), glyphs.more);
        let columns = u16::try_from(text::width(&label)).unwrap_or(0);
        let middle = inner.x + inner.width.saturating_sub(columns) / 2;
        text::put(buf, (middle, inner.bottom() + 2), &label, columns, style);
    }
    inner
}

fn y_ticks(plot: &Plot, y: Span, wanted: usize) -> Vec<(f64, String)> {
    if plot.log_y {
        let ticks = decade_ticks(y, wanted).into_iter();
        return ticks
            .map(|tick| {
                let whole = (tick - tick.round()).abs() < 1e-9;
                let value = 10f64.powf(tick);
                let label = if whole {
                    format!("{value:.0e}")
                } else {
                    format!("{value:.1e}")
                };
                (tick, label)
            })
            .collect();
    }
    let (ticks, step) = round_ticks(y, wanted, 0.0);
    ticks
        .into_iter()
        .map(|tick| (tick, tick_text(tick, step)))
        .collect()
}

/// The numbers below the axis, as many as stand apart.
fn x_labels(x: Span, labels: &[(f64, String)], inner: Rect, buf: &mut Buffer, theme: &Theme) {
    let style = theme.style(Role::Axis);
    let mut free = inner.x;
    for (tick, label) in labels {
        let columns = u16::try_from(text::width(label)).unwrap_or(0);
        let Some(at) = x.place(*tick, usize::from(inner.width)) else {
            continue;
        };
        let at = inner.x + u16::try_from(at).unwrap_or(0);
        let from = at.saturating_sub(columns / 2).max(inner.x);
        let from = from.min(inner.right().saturating_sub(columns));
        if from < free {
            continue;
        }
        let up = theme.glyphs().tees[1];
        text::put(buf, (at, inner.bottom()), up, 1, style);
        text::put(buf, (from, inner.bottom() + 1), label, columns, style);
        free = from + columns + 1;
    }
}

/// A line from bottom to top.
fn upright(at: f64, x: Span, inner: Rect, buf: &mut Buffer, theme: &Theme) {
    let Some(column) = x.place(at, usize::from(inner.width)) else {
        return;
    };
    let column = inner.x + u16::try_from(column).unwrap_or(0);
    for row in inner.top()..inner.bottom() {
        let bar = theme.glyphs().vertical;
        text::put(buf, (column, row), bar, 1, theme.style(Role::Dim));
    }
}

#[cfg(test)]
mod tests;
