//! A unit cell with its atoms, turned and drawn: edges in braille or ASCII, atoms as the letters of
//! their elements. Nothing is drawn that is not given, but for the same atoms again on the faces, edges
//! and corners of the cell, as it is done in every drawing of one.
//!
//! The picture is never a mirror image: right-handed axes look right-handed.

mod draw;
mod space;
mod view;

pub use draw::draw;
pub use space::Vector;
pub use view::View;

use space::{combined, fractions_in};

/// How near to a face of the cell an atom is on it, in Å.
const ON_FACE_ANGSTROM: f64 = 0.02;

/// What there is to draw.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Crystal {
    /// The axes a, b, c in Å; none of a molecule.
    pub lattice: Option<[Vector; 3]>,
    /// Along which of them it repeats.
    pub periodic: [bool; 3],
    /// Elements and Cartesian places in Å.
    pub atoms: Vec<(String, Vector)>,
}

/// An atom as it is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shown<'a> {
    /// Its element.
    pub symbol: &'a str,
    /// Its place in Å.
    pub at: Vector,
}

impl Crystal {
    /// The atoms of `cells` cells along each axis that repeats, and those on the faces once more on
    /// the faces across. Along the other axes everything stays where it is.
    #[must_use]
    pub fn shown(&self, cells: u8) -> Vec<Shown<'_>> {
        let finite = |at: &Vector| at.iter().all(|value| value.is_finite());
        let atoms = self.atoms.iter().filter(|(_, at)| finite(at));
        let Some(lattice) = self.lattice.filter(|_| self.periodic.contains(&true)) else {
            let plain = atoms.map(|(symbol, at)| Shown { symbol, at: *at });
            return plain.collect();
        };
        let mut shown = Vec::new();
        for (symbol, at) in atoms {
            // A lattice without volume has no fractions.
            let Some(fractions) = fractions_in(&lattice, at) else {
                shown.push(Shown { symbol, at: *at });
                continue;
            };
            let along = |axis: usize| -> Vec<f64> {
                if self.periodic[axis] {
                    repeated(fractions[axis], space::length(&lattice[axis]), cells)
                } else {
                    vec![fractions[axis]]
                }
            };
            let (along_a, along_b, along_c) = (along(0), along(1), along(2));
            for a in &along_a {
                for b in &along_b {
                    for c in &along_c {
                        let at = combined(&lattice, &[*a, *b, *c]);
                        shown.push(Shown { symbol, at });
                    }
                }
            }
        }
        shown
    }

    /// The elements with the number of atoms that are given, in the order of their first ones.
    #[must_use]
    pub fn counts(&self) -> Vec<(&str, usize)> {
        let mut counts: Vec<(&str, usize)> = Vec::new();
        for (symbol, _) in &self.atoms {
            match counts.iter_mut().find(|(known, _)| known == symbol) {
                Some((_, count)) => *count += 1,
                None => counts.push((symbol, 1)),
            }
        }
        counts
    }

    /// Edges of the box of `cells` cells along each axis that repeats, as pairs of points in Å.
    fn edges(&self, cells: u8) -> Vec<(Vector, Vector)> {
        let Some(lattice) = self.lattice else {
            return Vec::new();
        };
        let corner = |index: usize| {
            let mut at = self.origin();
            for (axis, at) in at.iter_mut().enumerate() {
                if self.periodic[axis] && index >> axis & 1 == 1 {
                    *at = f64::from(cells);
                }
            }
            combined(&lattice, &at)
        };
        let mut edges = Vec::new();
        for axis in (0..3).filter(|axis| self.periodic[*axis]) {
            for index in (0..8_usize).filter(|index| index >> axis & 1 == 0) {
                // Along an axis that does not repeat there is one corner, not two.
                let once = (0..3).all(|other| self.periodic[other] || index >> other & 1 == 0);
                if once {
                    edges.push((corner(index), corner(index | 1 << axis)));
                }
            }
        }
        edges
    }

    /// The fractions at which the edges begin: in the middle of what does not repeat.
    fn origin(&self) -> Vector {
        let mut origin = [0.0; 3];
        let Some(lattice) = &self.lattice else {
            return origin;
        };
        let fractions = self.atoms.iter();
        let fractions = fractions.filter_map(|(_, at)| fractions_in(lattice, at));
        let fractions: Vec<Vector> = fractions.collect();
        for axis in (0..3).filter(|axis| !self.periodic[*axis]) {
            let values = || fractions.iter().map(|at| at[axis]);
            let least = values().fold(f64::INFINITY, f64::min);
            let most = values().fold(f64::NEG_INFINITY, f64::max);
            let middle = f64::midpoint(least, most);
            origin[axis] = if middle.is_finite() { middle } else { 0.0 };
        }
        origin
    }
}

/// The places of an atom along an axis that repeats, in cells.
fn repeated(fraction: f64, length: f64, cells: u8) -> Vec<f64> {
    let near = ON_FACE_ANGSTROM / length.max(ON_FACE_ANGSTROM);
    let mut first = fraction - fraction.floor();
    if first > 1.0 - near {
        first -= 1.0;
    }
    let on_face = first < near;
    let count = cells + u8::from(on_face);
    (0..count).map(|cell| first + f64::from(cell)).collect()
}

#[cfg(test)]
mod tests;
