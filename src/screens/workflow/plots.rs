//! The plots of a results document: one at a time, with a cursor that tells values.

use std::collections::BTreeSet;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::msg::Action;
use crate::results;
use crate::screens::listing::below;
use crate::screens::names::{draw_names, name_at, name_beside};
use crate::screens::{Cx, ViewCx};
use crate::theme::Role;
use crate::widgets::plot::{self, Curve, Plot};
use crate::widgets::text;

/// More curves than these are not told apart one by one.
const FEW: usize = 4;

/// The plots and which is seen.
#[derive(Debug, Default)]
pub struct Plots {
    all: Vec<results::Plot>,
    /// By name, so that it stays when others come.
    chosen: Option<String>,
    /// The point with the cursor.
    cursor: Option<usize>,
    /// The plots that are drawn by their logarithm.
    logarithmic: BTreeSet<String>,
}

impl Plots {
    /// Show these plots.
    pub fn take(&mut self, plots: Vec<results::Plot>) {
        self.all = plots;
    }

    fn names(&self) -> Vec<&str> {
        self.all.iter().map(|plot| plot.name.as_str()).collect()
    }

    fn current(&self) -> Option<&results::Plot> {
        let same = |plot: &&results::Plot| Some(&plot.name) == self.chosen.as_ref();
        self.all.iter().find(same).or_else(|| self.all.first())
    }

    fn choose(&mut self, by: isize) {
        let now = self.current().map(|plot| plot.name.as_str());
        self.chosen = name_beside(&self.names(), now, by).map(str::to_owned);
        self.cursor = None;
    }

    /// Do what was asked for; whether it means something here.
    pub fn act(&mut self, action: Action, cx: &mut Cx<'_>) -> bool {
        // Without plots the keys are free for the tabs.
        let Some(now) = self.current() else {
            return false;
        };
        let points = now.curves.first().map_or(0, |curve| curve.x.len());
        let last = points.saturating_sub(1);
        match (action, self.cursor) {
            (Action::Down | Action::NextFile, _) => self.choose(1),
            (Action::Up | Action::PreviousFile, _) => self.choose(-1),
            (Action::Left, Some(0)) | (Action::Back, Some(_)) => self.cursor = None,
            (Action::Left, Some(at)) => self.cursor = Some(at.min(last).saturating_sub(1)),
            (Action::Right, Some(at)) => self.cursor = Some((at + 1).min(last)),
            (Action::Right, None) | (Action::Top, _) => self.cursor = Some(0),
            (Action::Bottom, _) => self.cursor = Some(last),
            (Action::LogScale, _) => {
                let name = now.name.clone();
                if !self.logarithmic.remove(&name) {
                    self.logarithmic.insert(name);
                }
            }
            (Action::Copy, at) => {
                let y = now
                    .curves
                    .first()
                    .and_then(|curve| curve.y.get(at.unwrap_or(last)));
                if let Some(y) = y {
                    cx.copy(&now.y_label, &y.to_string());
                }
            }
            _ => return false,
        }
        cx.redraw();
        true
    }

    /// A click in the row of the names chooses the plot.
    pub fn click(&mut self, at: (u16, u16), area: Rect) {
        let Some(now) = self.current().filter(|_| at.1 == 0) else {
            return;
        };
        let hit = name_at(&self.names(), &now.name, area, at.0).map(str::to_owned);
        if hit.is_some() {
            self.chosen = hit;
            self.cursor = None;
        }
    }

    /// Draw the names and the chosen plot; `none` says why there is none.
    pub fn draw(&self, none: &str, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
        let theme = cx.theme;
        let Some(now) = self.current() else {
            let style = theme.style(Role::Dim);
            text::put(buf, (area.x + 1, area.y), none, area.width - 1, style);
            return;
        };
        draw_names(&self.names(), &now.name, area, buf, cx);
        let mut drawn = drawn(now);
        drawn.cursor = self.cursor;
        drawn.log_y = self.logarithmic.contains(&now.name);
        plot::draw(&drawn, below(area, 1), buf, theme);
    }
}

/// Whether it is a part of the path, `line 2`: the branches of all parts are one thing.
fn is_part(label: &str) -> bool {
    let number = label.strip_prefix("line ");
    number.is_some_and(|number| number.parse::<u32>().is_ok())
}

/// A plot as it is drawn. Many curves, like bands, are told apart by the beginning of their names only.
fn drawn(plot: &results::Plot) -> Plot {
    let many = plot.curves.len() > FEW;
    let mut series: Vec<&str> = Vec::new();
    let curves = plot.curves.iter().map(|curve| {
        let of = match curve.label.split_once(',') {
            Some((of, _)) if many && is_part(of) => "",
            Some((of, _)) if many => of,
            _ => curve.label.as_str(),
        };
        let known = series.iter().position(|known| *known == of);
        let number = known.unwrap_or_else(|| {
            series.push(of);
            series.len() - 1
        });
        Curve {
            // Each is named once.
            name: if known.is_none() {
                of.to_owned()
            } else {
                String::new()
            },
            points: curve
                .x
                .iter()
                .copied()
                .zip(curve.y.iter().copied())
                .collect(),
            apart: curve.style == "points",
            series: number,
        }
    });
    Plot {
        curves: curves.collect(),
        x_label: plot.x_label.clone(),
        y_label: plot.y_label.clone(),
        places: plot.ticks.clone(),
        ..Plot::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_of_one_spin_belong_together() {
        let curve = |label: String| results::Curve {
            label,
            x: vec![0.0, 1.0],
            y: vec![0.0, 1.0],
            style: "line".into(),
        };
        let bands =
            |spin: usize| (1..=3).map(move |band| format!("spin {spin}, line 1, band {band}"));
        let plot = results::Plot {
            curves: bands(1).chain(bands(2)).map(curve).collect(),
            ticks: vec![(0.0, "Γ".into()), (1.0, "X".into())],
            ..results::Plot::default()
        };
        let drawn = drawn(&plot);
        let series: Vec<usize> = drawn.curves.iter().map(|curve| curve.series).collect();
        assert_eq!(series, [0, 0, 0, 1, 1, 1]);
        let names: Vec<&str> = drawn
            .curves
            .iter()
            .map(|curve| curve.name.as_str())
            .collect();
        assert_eq!(names, ["spin 1", "", "", "spin 2", "", ""]);
        assert_eq!(drawn.places.len(), 2);
    }

    #[test]
    fn the_parts_of_a_path_are_no_curves_of_their_own() {
        let branches = (1..=6).map(|at| results::Curve {
            label: format!("line {}, branch {}", at.min(2), at),
            x: vec![0.0, 1.0],
            y: vec![0.0, 1.0],
            style: "line".into(),
        });
        let plot = results::Plot {
            curves: branches.collect(),
            ..results::Plot::default()
        };
        let mut curves = drawn(&plot).curves.into_iter();
        assert!(curves.all(|curve| curve.series == 0 && curve.name.is_empty()));
    }
}
