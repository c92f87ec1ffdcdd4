//! From where a cell is looked at.

use super::space::{Vector, cross, direction, dot, plus};

/// How much larger or smaller one step makes it.
const ZOOM: f64 = 1.25;
const ZOOMS: std::ops::RangeInclusive<f64> = 0.25..=16.0;

/// A way to look at a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct View {
    /// The directions in space that are to the right, up, and to the eye.
    axes: [Vector; 3],
    zoom: f64,
    /// The axis of the lattice that points to the eye, while it does.
    along: Option<usize>,
    /// How many cells are drawn along each axis.
    pub cells: u8,
}

impl Default for View {
    /// From a little above and to the side, with x to the eye and z up.
    fn default() -> Self {
        let mut view = Self {
            axes: [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]],
            zoom: 1.0,
            along: None,
            cells: 1,
        };
        view.turn(-25.0, -17.0);
        view
    }
}

impl View {
    /// Turn what is seen by so many degrees to the right and upwards, as if a hand moved its front.
    pub fn turn(&mut self, right: f64, up: f64) {
        let [x, y, z] = self.axes;
        let (sin, cos) = right.to_radians().sin_cos();
        // What was in front goes to the right: the eye then looks from further left.
        let (x, z) = (
            plus(&x.map(|v| v * cos), sin, &z),
            plus(&z.map(|v| v * cos), -sin, &x),
        );
        let (sin, cos) = up.to_radians().sin_cos();
        let (y, z) = (
            plus(&y.map(|v| v * cos), sin, &z),
            plus(&z.map(|v| v * cos), -sin, &y),
        );
        self.look([x, y, z]);
        self.along = None;
    }

    /// Look so that the next axis of the lattice points to the eye, and the one before it up; gives
    /// its name.
    pub fn along_next(&mut self, lattice: &[Vector; 3]) -> &'static str {
        let axis = self.along.map_or(0, |axis| (axis + 1) % 3);
        let up = lattice[(axis + 2) % 3];
        if let Some(z) = direction(&lattice[axis])
            && let Some(y) = direction(&plus(&up, -dot(&up, &z), &z))
        {
            self.look([cross(&y, &z), y, z]);
            self.along = Some(axis);
        }
        ["a", "b", "c"][axis]
    }

    /// Keep the directions at right angles, whatever was rounded.
    fn look(&mut self, axes: [Vector; 3]) {
        let [_, y, z] = axes;
        if let Some(z) = direction(&z)
            && let Some(y) = direction(&plus(&y, -dot(&y, &z), &z))
        {
            self.axes = [cross(&y, &z), y, z];
        }
    }

    /// Larger, or smaller.
    pub fn zoom(&mut self, larger: bool) {
        let to = if larger {
            self.zoom * ZOOM
        } else {
            self.zoom / ZOOM
        };
        if ZOOMS.contains(&to) {
            self.zoom = to;
        }
    }

    /// One cell along each axis, or two.
    pub const fn repeat(&mut self) {
        self.cells = 3 - self.cells;
    }

    /// How much larger than it fits.
    #[must_use]
    pub const fn scale(&self) -> f64 {
        self.zoom
    }

    /// Which axis points to the eye, by its name.
    #[must_use]
    pub fn looks_along(&self) -> Option<&'static str> {
        self.along.map(|axis| ["a", "b", "c"][axis])
    }

    /// Where a place is seen: how far to the right, how far up, how near, in Å.
    #[must_use]
    pub fn seen(&self, at: &Vector) -> Vector {
        self.axes.map(|axis| dot(&axis, at))
    }
}

#[cfg(test)]
mod tests {
    use super::{Vector, View};
    use crate::widgets::cell::space::{cross, dot};

    const CUBE: [Vector; 3] = [[4.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 4.0]];

    fn near(a: &Vector, b: &Vector) -> bool {
        a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9)
    }

    #[test]
    fn right_handed_axes_stay_right_handed() {
        let mut view = View::default();
        for step in 0..500 {
            view.turn(f64::from(step % 7) * 11.0, f64::from(step % 5) * -7.0);
            let [x, y, z] = view.axes;
            assert!(near(&cross(&x, &y), &z), "{view:?}");
            assert!((dot(&x, &x) - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn along_an_axis_the_next_one_is_to_the_right_and_the_one_before_it_up() {
        let mut view = View::default();
        for (name, right, up) in [("a", 1, 2), ("b", 2, 0), ("c", 0, 1), ("a", 1, 2)] {
            assert_eq!(view.along_next(&CUBE), name);
            assert!(near(&view.seen(&CUBE[right]), &[4.0, 0.0, 0.0]), "{name}");
            assert!(near(&view.seen(&CUBE[up]), &[0.0, 4.0, 0.0]), "{name}");
            assert_eq!(view.looks_along(), Some(name));
        }
    }

    #[test]
    fn the_front_goes_where_it_is_turned_to() {
        let mut view = View::default();
        view.along_next(&CUBE);
        let front = CUBE[0];
        view.turn(30.0, 0.0);
        assert!(view.seen(&front)[0] > 0.1, "to the right");
        assert_eq!(view.looks_along(), None);
        view.turn(-30.0, 0.0);
        view.turn(0.0, 30.0);
        assert!(view.seen(&front)[1] > 0.1, "upwards");
        // All around is where it was.
        let before = view.clone();
        (0..12).for_each(|_| view.turn(30.0, 0.0));
        assert!(near(&view.seen(&front), &before.seen(&front)));
    }

    #[test]
    fn zooming_has_an_end() {
        let mut view = View::default();
        (0..100).for_each(|_| view.zoom(true));
        assert!(view.scale() <= 16.0);
        (0..100).for_each(|_| view.zoom(false));
        assert!(view.scale() >= 0.25);
        view.repeat();
        assert_eq!(view.cells, 2);
        view.repeat();
        assert_eq!(view.cells, 1);
    }
}
