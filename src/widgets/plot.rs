//! Curves with axes, ticks, units and the last value, in braille or in plain ASCII.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::text;
use crate::theme::{Role, Theme};

/// One curve: points in the order of x; gaps are points that are not there.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Curve {
    /// Its name, for the legend.
    pub name: String,
    /// The points.
    pub points: Vec<(f64, f64)>,
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
}

const CURVES: [Role; 3] = [Role::Plot1, Role::Plot2, Role::Plot3];
const MARKS: [&str; 3] = ["*", "o", "+"];

#[derive(Debug, Clone, Copy, PartialEq)]
struct Span {
    low: f64,
    high: f64,
}

impl Span {
    fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        if low > high {
            return None;
        }
        // A constant still needs some height.
        let room = if high > low {
            0.0
        } else {
            (low.abs() * 0.01).max(0.5)
        };
        Some(Self {
            low: low - room,
            high: high + room,
        })
    }

    fn place(self, value: f64, cells: usize) -> Option<usize> {
        let share = (value - self.low) / (self.high - self.low);
        if !share.is_finite() {
            return None;
        }
        // Between 0 and the number of cells.
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss
        )]
        let cell = (share.clamp(0.0, 1.0) * (cells.saturating_sub(1)) as f64).round() as usize;
        Some(cell)
    }
}

/// Draw the plot; a line of text where there is nothing to draw or no room.
pub fn draw(plot: &Plot, area: Rect, buf: &mut Buffer, theme: &Theme) {
    let dim = theme.style(Role::Dim);
    let curves: Vec<Vec<(f64, f64)>> = plot
        .curves
        .iter()
        .map(|curve| usable(plot, curve))
        .collect();
    let points = || curves.iter().flatten();
    let (Some(x), Some(y)) = (
        Span::of(points().map(|point| point.0)),
        Span::of(points().map(|point| point.1)),
    ) else {
        text::put(buf, (area.x, area.y), "no values yet", area.width, dim);
        return;
    };
    if area.width < 24 || area.height < 6 {
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
    for (index, points) in curves.iter().enumerate() {
        let style = theme.style(CURVES[index % CURVES.len()]);
        let spot = |point: &(f64, f64), size: (usize, usize)| {
            let row = y.place(point.1, size.1)?;
            Some((x.place(point.0, size.0)?, size.1 - 1 - row))
        };
        if theme.glyphs().ascii {
            let size = (usize::from(inner.width), usize::from(inner.height));
            let dots = points.iter().filter_map(|point| spot(point, size));
            stars(dots, MARKS[index % MARKS.len()], inner, buf, style);
        } else {
            let size = (usize::from(inner.width) * 2, usize::from(inner.height) * 4);
            let dots: Vec<_> = points
                .iter()
                .filter_map(|point| spot(point, size))
                .collect();
            braille(&dots, inner, buf, style);
        }
    }
}

fn usable(plot: &Plot, curve: &Curve) -> Vec<(f64, f64)> {
    let finite = curve
        .points
        .iter()
        .filter(|(x, y)| x.is_finite() && y.is_finite());
    if plot.log_y {
        finite
            .filter(|(_, y)| *y > 0.0)
            .map(|(x, y)| (*x, y.log10()))
            .collect()
    } else {
        finite.copied().collect()
    }
}

/// The first row: what y is, and the last value of each curve.
fn legend(plot: &Plot, area: Rect, buf: &mut Buffer, theme: &Theme) {
    let right = area.right();
    let label = text::fit(&plot.y_label, usize::from(area.width), theme.glyphs().more);
    let mut x = text::put(
        buf,
        (area.x, area.y),
        &label,
        area.width,
        theme.style(Role::Axis),
    );
    for (index, curve) in plot.curves.iter().enumerate() {
        let Some(last) = curve.points.last() else {
            continue;
        };
        let mark = if theme.glyphs().ascii {
            MARKS[index % MARKS.len()]
        } else {
            theme.glyphs().live
        };
        let text = format!(
            "  {mark} {} {}",
            curve.name,
            number(last.1, last.1.abs() * 1e-6)
        );
        let style = theme.style(CURVES[index % CURVES.len()]);
        x = text::put(buf, (x, area.y), &text, right.saturating_sub(x), style);
    }
}

/// Draw the axes with their ticks; gives the place of the curves.
fn axes(plot: &Plot, (x, y): (Span, Span), area: Rect, buf: &mut Buffer, theme: &Theme) -> Rect {
    let style = theme.style(Role::Axis);
    let glyphs = theme.glyphs();
    let rows = area.height - 3;
    let ticks = usize::from(rows / 4).clamp(1, 6);
    let at = |span: Span, index: usize, count: usize| {
        // A handful of ticks.
        #[allow(clippy::cast_precision_loss)]
        let share = index as f64 / count as f64;
        span.low + (span.high - span.low) * share
    };
    let step = (y.high - y.low) / 10.0;
    let y_text = |value: f64| {
        if plot.log_y {
            format!("{:.1e}", 10f64.powf(value))
        } else {
            number(value, step)
        }
    };
    let labels: Vec<(usize, String)> = (0..=ticks)
        .filter_map(|index| {
            let value = at(y, index, ticks);
            Some((y.place(value, usize::from(rows))?, y_text(value)))
        })
        .collect();
    let wide = labels
        .iter()
        .map(|(_, label)| text::width(label))
        .max()
        .unwrap_or(0);
    let left = u16::try_from(wide).unwrap_or(0).min(area.width / 2);
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
    text::put(
        buf,
        (inner.x - 1, inner.bottom()),
        glyphs.corners[2],
        1,
        style,
    );
    let spread = (x.high - x.low) / 10.0;
    let (low, high) = (number(x.low, spread), number(x.high, spread));
    let bottom = inner.bottom() + 1;
    text::put(buf, (inner.x, bottom), &low, inner.width, style);
    let end = u16::try_from(text::width(&high)).unwrap_or(0);
    text::put(
        buf,
        (area.right().saturating_sub(end), bottom),
        &high,
        end,
        style,
    );
    let room = usize::from(inner.width).saturating_sub(text::width(&low) + text::width(&high) + 2);
    let label = text::fit(&plot.x_label, room, glyphs.more);
    let columns = u16::try_from(text::width(&label)).unwrap_or(0);
    let middle = inner.x + (inner.width.saturating_sub(columns)) / 2;
    text::put(buf, (middle, bottom), &label, columns, style);
    inner
}

fn stars(
    dots: impl Iterator<Item = (usize, usize)>,
    mark: &str,
    area: Rect,
    buf: &mut Buffer,
    style: Style,
) {
    for (column, row) in dots {
        let (Ok(column), Ok(row)) = (u16::try_from(column), u16::try_from(row)) else {
            continue;
        };
        text::put(buf, (area.x + column, area.y + row), mark, 1, style);
    }
}

/// Lines between the dots; a cell of the terminal has two by four of them.
fn braille(dots: &[(usize, usize)], area: Rect, buf: &mut Buffer, style: Style) {
    const BITS: [[u32; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
    let columns = usize::from(area.width);
    let mut cells = vec![0_u32; columns * usize::from(area.height)];
    let mut set = |x: usize, y: usize| {
        if let Some(cell) = cells.get_mut(y / 4 * columns + x / 2) {
            *cell |= BITS[x % 2][y % 4];
        }
    };
    if let [(x, y)] = dots {
        set(*x, *y);
    }
    for pair in dots.windows(2) {
        line(pair[0], pair[1], &mut set);
    }
    for (index, bits) in cells.iter().enumerate().filter(|(_, bits)| **bits != 0) {
        let (Ok(x), Ok(y)) = (
            u16::try_from(index % columns),
            u16::try_from(index / columns),
        ) else {
            continue;
        };
        let at = (area.x + x, area.y + y);
        // Dots of another curve in the same cell stay.
        let old = buf.cell(at).and_then(|cell| cell.symbol().chars().next());
        let old = old.map_or(0, |c| (c as u32).wrapping_sub(0x2800));
        let bits = bits | if old < 0x100 { old } else { 0 };
        if let Some(c) = char::from_u32(0x2800 + bits) {
            text::put(buf, at, c.encode_utf8(&mut [0; 4]), 1, style);
        }
    }
}

fn line(from: (usize, usize), to: (usize, usize), set: &mut impl FnMut(usize, usize)) {
    let (wide, high) = (from.0.abs_diff(to.0), from.1.abs_diff(to.1));
    let steps = wide.max(high).max(1);
    let between = |a: usize, b: usize, step: usize| {
        let part = a.abs_diff(b) * step / steps;
        if b >= a { a + part } else { a - part }
    };
    for step in 0..=steps {
        set(between(from.0, to.0, step), between(from.1, to.1, step));
    }
}

/// A number with as many digits as a step of this size needs.
fn number(value: f64, step: f64) -> String {
    let size = value.abs().max(step.abs());
    if size != 0.0 && !(1e-4..1e7).contains(&size) {
        return format!("{value:.2e}");
    }
    let digits = if step > 0.0 {
        -step.log10().floor()
    } else {
        0.0
    };
    // A few digits.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let digits = digits.clamp(0.0, 8.0) as usize;
    format!("{value:.digits$}")
}
