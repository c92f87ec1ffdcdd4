//! The curves of a job: one at a time, with a cursor that tells values.

use std::collections::BTreeMap;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::{Value, json};

use crate::app::error_text;
use crate::error::IpcError;
use crate::msg::Action;
use crate::rpc::types::{Reply, Series, SeriesResult};
use crate::screens::names::{draw_names, name_at, name_beside};
use crate::screens::{Cx, Handled, ViewCx};
use crate::theme::Role;
use crate::widgets::plot::{self, Curve, Plot};
use crate::widgets::text;

const SLOT: &str = "series";

/// Curves that people look at first, in this order; the rest by name.
const FIRST: [&str; 8] = [
    "energy",
    "fmax",
    "scf_accuracy",
    "scf_energy",
    "smax",
    "pressure",
    "volume",
    "a",
];

/// The curves and which is seen.
#[derive(Debug, Default)]
pub struct Plots {
    series: Option<BTreeMap<String, Series>>,
    error: Option<String>,
    /// By name, so that it stays when others come.
    chosen: Option<String>,
    /// The point with the cursor; none keeps to the last value.
    cursor: Option<usize>,
    /// The curves that are drawn the other way than at first.
    turned: Vec<String>,
}

impl Plots {
    /// Read the curves of this job.
    pub fn ask(job: i64, cx: &mut Cx<'_>) {
        cx.ask(SLOT, job, "jobs.series", json!({"id": job}));
    }

    /// Take an answer in, if it is one of ours.
    pub fn reply(
        &mut self,
        slot: &str,
        result: &Result<Value, IpcError>,
        current: bool,
        cx: &mut Cx<'_>,
    ) -> bool {
        if slot != SLOT {
            return false;
        }
        if !current {
            return true;
        }
        match result {
            Ok(value) => {
                let reply: Reply<SeriesResult> =
                    serde_json::from_value(value.clone()).unwrap_or_default();
                self.series = Some(reply.data.series);
                self.error = None;
            }
            Err(error) => self.error = Some(error_text(error)),
        }
        cx.redraw();
        true
    }

    /// The names of the curves, in their order.
    fn names(&self) -> Vec<&str> {
        let rank = |name: &str| {
            FIRST
                .iter()
                .position(|first| *first == name)
                .unwrap_or(FIRST.len())
        };
        let all = self.series.iter().flatten();
        let mut names: Vec<&str> = all.map(|(name, _)| name.as_str()).collect();
        names.sort_by_key(|name| (rank(name), *name));
        names
    }

    fn current(&self) -> Option<(&str, &Series)> {
        let names = self.names();
        let chosen = self.chosen.as_deref();
        let name = chosen
            .filter(|name| names.contains(name))
            .or_else(|| names.first().copied())?;
        let (name, series) = self.series.as_ref()?.get_key_value(name)?;
        Some((name, series))
    }

    /// Do what was asked for.
    pub fn act(&mut self, action: Action, cx: &mut Cx<'_>) -> Handled {
        // Without curves the keys are free for the tabs.
        let Some((_, series)) = self.current() else {
            return Handled::No;
        };
        let last = points(series).len().saturating_sub(1);
        let here = self.cursor.unwrap_or(last).min(last);
        match action {
            Action::Down | Action::NextFile => self.choose(1),
            Action::Up | Action::PreviousFile => self.choose(-1),
            Action::Left => self.cursor = Some(here.saturating_sub(1)),
            Action::Right => self.cursor = Some(here + 1).filter(|at| *at < last),
            Action::PageUp | Action::HalfPageUp => self.cursor = Some(here.saturating_sub(10)),
            Action::PageDown | Action::HalfPageDown => {
                self.cursor = Some(here + 10).filter(|at| *at < last);
            }
            Action::Top => self.cursor = Some(0),
            Action::Bottom => self.cursor = None,
            Action::LogScale => {
                let Some(name) = self.current().map(|(name, _)| name.to_owned()) else {
                    return Handled::Yes;
                };
                if self.turned.contains(&name) {
                    self.turned.retain(|other| *other != name);
                } else {
                    self.turned.push(name);
                }
            }
            Action::Back if self.cursor.is_some() => self.cursor = None,
            Action::Copy => {
                let Some((name, series)) = self.current() else {
                    return Handled::Yes;
                };
                if let Some((_, y)) = points(series).get(here) {
                    cx.copy(name, &y.to_string());
                }
            }
            _ => return Handled::No,
        }
        cx.redraw();
        Handled::Yes
    }

    /// A click in the row of the names chooses the curve.
    pub fn click(&mut self, column: u16, area: Rect, cx: &mut Cx<'_>) {
        let names = self.names();
        let Some((chosen, _)) = self.current() else {
            return;
        };
        let hit = name_at(&names, chosen, area, column).map(str::to_owned);
        if hit.is_some() {
            self.chosen = hit;
            self.cursor = None;
            cx.redraw();
        }
    }

    fn choose(&mut self, by: isize) {
        let names = self.names();
        let now = self.current().map(|(name, _)| name);
        self.chosen = name_beside(&names, now, by).map(str::to_owned);
        self.cursor = None;
    }

    fn is_log(&self, name: &str, series: &Series) -> bool {
        // What falls by orders of magnitude is read by them.
        let residue = ["accuracy", "fmax", "smax"];
        let falls = residue.iter().any(|part| name.contains(part)) || spans_decades(series);
        falls ^ self.turned.iter().any(|other| other == name)
    }

    /// Draw the names and the chosen curve.
    pub fn draw(&self, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
        let theme = cx.theme;
        let Some((name, series)) = self.current() else {
            let words = match (&self.error, &self.series) {
                (Some(error), _) => error.as_str(),
                (None, None) => "reading",
                (None, Some(_)) => "this job has no curves, or none yet",
            };
            let role = if self.error.is_some() {
                Role::Bad
            } else {
                Role::Dim
            };
            return text::say(words, area, buf, theme.style(role));
        };
        let names = self.names();
        draw_names(&names, name, area, buf, cx);
        let unit = if series.unit.is_empty() {
            String::new()
        } else {
            format!(" / {}", series.unit)
        };
        let plot = Plot {
            curves: vec![Curve {
                name: name.to_owned(),
                points: points(series),
                ..Curve::default()
            }],
            x_label: series.x_label.clone(),
            y_label: format!("{}{unit}", series.y_label),
            log_y: self.is_log(name, series),
            cursor: self.cursor,
            ..Plot::default()
        };
        let rest = Rect {
            y: area.y + 1,
            height: area.height.saturating_sub(1),
            ..area
        };
        plot::draw(&plot, rest, buf, theme);
    }
}

fn points(series: &Series) -> Vec<(f64, f64)> {
    let mut points = Vec::with_capacity(series.y.len());
    let mut next = 0.0;
    for (index, y) in series.y.iter().enumerate() {
        let x = series.x.get(index).copied().flatten().unwrap_or(next);
        next = x + 1.0;
        points.push((x, y.unwrap_or(f64::NAN)));
    }
    points
}

/// Whether all values are positive and span at least three decades.
fn spans_decades(series: &Series) -> bool {
    let values = series.y.iter().flatten().copied();
    let (low, high) = values.fold((f64::INFINITY, 0.0_f64), |(low, high), y| {
        (low.min(y), high.max(y))
    });
    low > 0.0 && low.is_finite() && high / low >= 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(y: &[Option<f64>]) -> Series {
        Series {
            y: y.to_vec(),
            ..Series::default()
        }
    }

    #[test]
    fn a_missing_value_is_a_gap_and_a_missing_abscissa_goes_on() {
        let points = points(&series(&[Some(1.0), None, Some(3.0)]));
        assert_eq!((points[0], points[2]), ((0.0, 1.0), (2.0, 3.0)));
        assert!(points[1].1.is_nan());
    }

    #[test]
    fn what_falls_by_orders_of_magnitude_is_drawn_by_them() {
        assert!(spans_decades(&series(&[Some(1.0), None, Some(1e-3)])));
        assert!(!spans_decades(&series(&[Some(1.0), Some(0.0)])));
        assert!(!spans_decades(&series(&[Some(1.0), Some(0.5)])));
        assert!(!spans_decades(&series(&[])));
    }

    #[test]
    fn the_energy_comes_first_and_the_chosen_one_stays() {
        let all = ["a", "energy", "zeta", "fmax"];
        let mut plots = Plots {
            series: Some(
                all.map(|name| (name.to_owned(), series(&[Some(1.0)])))
                    .into(),
            ),
            ..Plots::default()
        };
        assert_eq!(plots.names(), ["energy", "fmax", "a", "zeta"]);
        plots.choose(1);
        assert_eq!(plots.current().map(|(name, _)| name), Some("fmax"));
        plots.choose(99);
        assert_eq!(plots.current().map(|(name, _)| name), Some("zeta"));
        plots.choose(-99);
        assert_eq!(plots.current().map(|(name, _)| name), Some("energy"));
    }
}
