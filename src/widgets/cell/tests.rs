//! Cells as they are drawn: which atoms, where, and what is in front.

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;

use super::{Crystal, Vector, View, draw};
use crate::theme::{Glyphs, Theme};

fn cube(length: f64) -> [Vector; 3] {
    [[length, 0.0, 0.0], [0.0, length, 0.0], [0.0, 0.0, length]]
}

fn crystal(lattice: Option<[Vector; 3]>, periodic: [bool; 3], atoms: &[(&str, Vector)]) -> Crystal {
    Crystal {
        lattice,
        periodic,
        atoms: atoms
            .iter()
            .map(|(symbol, at)| ((*symbol).to_owned(), *at))
            .collect(),
    }
}

/// Rock salt: one ion in the corner, the other in the middle of an edge, on all faces as well.
fn rock_salt() -> Crystal {
    let mut atoms = Vec::new();
    for (symbol, shift) in [("Mg", 0.0), ("O", 2.1)] {
        for at in [
            [0.0, 0.0, 0.0],
            [0.0, 2.1, 2.1],
            [2.1, 0.0, 2.1],
            [2.1, 2.1, 0.0],
        ] {
            atoms.push((symbol, [at[0] + shift, at[1], at[2]]));
        }
    }
    crystal(Some(cube(4.2)), [true; 3], &atoms)
}

fn drawn(crystal: &Crystal, view: &View, size: (u16, u16), ascii: bool) -> Vec<String> {
    let area = Rect::new(0, 0, size.0, size.1);
    let mut buf = Buffer::empty(area);
    let mut theme = Theme::built_in("dark").expect("a built-in theme");
    if ascii {
        theme = theme.with_glyphs(Glyphs::ASCII);
    }
    draw(crystal, view, area, &mut buf, &theme);
    let row = |y| {
        let cells = (0..size.0).filter_map(|x| buf.cell((x, y)));
        cells.map(Cell::symbol).collect::<String>()
    };
    (0..size.1).map(row).collect()
}

/// Looking along the axis with this number, counted from 0.
fn along(crystal: &Crystal, axis: usize) -> View {
    let mut view = View::default();
    let lattice = crystal.lattice.expect("a lattice");
    (0..=axis).for_each(|_| {
        view.along_next(&lattice);
    });
    view
}

/// Where a text is: column and row.
fn place(lines: &[String], wanted: &str) -> Option<(usize, usize)> {
    let rows = lines[..lines.len() - 1].iter().enumerate();
    let mut found = rows.filter_map(|(y, line)| {
        let at = line.find(wanted)?;
        Some((line[..at].chars().count(), y))
    });
    found.next()
}

#[test]
fn atoms_on_faces_stand_on_the_faces_across_as_well() {
    let of = |at: Vector| {
        crystal(Some(cube(4.0)), [true; 3], &[("Cu", at)])
            .shown(1)
            .len()
    };
    assert_eq!(of([0.0, 0.0, 0.0]), 8, "a corner");
    assert_eq!(of([2.0, 0.0, 0.0]), 4, "an edge");
    assert_eq!(of([2.0, 2.0, 0.0]), 2, "a face");
    assert_eq!(of([2.0, 2.0, 2.0]), 1, "inside");
    // A rounded place, and one in another cell.
    assert_eq!(of([3.999, 4.001, -0.001]), 8);
    assert_eq!(of([-2.0, 6.0, 10.0]), 1);
    assert_eq!(rock_salt().shown(1).len(), 14 + 13);
    assert_eq!(rock_salt().shown(2).len(), 125);
    assert_eq!(rock_salt().counts(), [("Mg", 4), ("O", 4)]);
}

#[test]
fn copies_are_whole_axes_away() {
    let lattice = [[3.0, 0.0, 0.0], [-1.5, 2.6, 0.0], [0.3, 0.1, 5.0]];
    let given = [0.4, 0.7, 1.1];
    let one = crystal(Some(lattice), [true, true, false], &[("C", given)]);
    let shown = one.shown(2);
    assert_eq!(shown.len(), 4, "nothing repeats along the third axis");
    for atom in shown {
        let away = super::space::plus(&atom.at, -1.0, &given);
        let parts = super::space::fractions_in(&lattice, &away).expect("volume");
        for part in parts {
            assert!((part - part.round()).abs() < 1e-9, "{parts:?}");
        }
    }
}

#[test]
fn a_molecule_is_its_atoms_alone() {
    let water = [
        ("O", [0.0, 0.0, 0.12]),
        ("H", [0.0, 0.76, -0.48]),
        ("H", [0.0, -0.76, -0.48]),
    ];
    let water = crystal(None, [false; 3], &water);
    assert_eq!(water.shown(2).len(), 3);
    let lines = drawn(&water, &View::default(), (40, 16), true);
    let text = lines.concat();
    assert_eq!(
        text.matches('H').count(),
        2 + 1,
        "two atoms and the legend: {lines:#?}"
    );
    assert!(!text.contains('.'), "no edges: {lines:#?}");
    assert!(
        lines[15].contains("O 1") && lines[15].contains("H 2"),
        "{lines:#?}"
    );
    assert!(lines[15].contains("3 drawn"), "{lines:#?}");
}

#[test]
fn a_crystal_is_not_drawn_as_its_mirror_image() {
    // Along c: a to the right, b up, and the atom at a quarter of each between them.
    let atoms = [("Fe", [1.0, 0.0, 2.0]), ("O", [0.0, 1.0, 2.0])];
    let one = crystal(Some(cube(4.0)), [true; 3], &atoms);
    let lines = drawn(&one, &along(&one, 2), (50, 24), true);
    let (a, b) = (place(&lines, "a"), place(&lines, "b"));
    let ((ax, ay), (bx, by)) = (a.expect("a"), b.expect("b"));
    assert!(ax > bx && by < ay, "a is right of b, b above a: {lines:#?}");
    let (fe, o) = (place(&lines, "Fe"), place(&lines, "O"));
    assert!(fe.is_some() && o.is_some(), "{lines:#?}");
    // The one along a is lower and farther right than the one along b.
    let lowest = |symbol: &str| {
        let rows = lines[..23].iter().enumerate();
        rows.filter(|(_, line)| line.contains(symbol))
            .map(|(y, _)| y)
            .max()
    };
    assert!(lowest("Fe") > lowest("O"), "{lines:#?}");
}

#[test]
fn what_is_nearer_hides_what_is_behind_it_as_a_whole() {
    let atoms = [("Co", [2.0, 2.0, 1.0]), ("O", [2.0, 2.0, 3.0])];
    let one = crystal(Some(cube(4.0)), [true; 3], &atoms);
    let top = drawn(&one, &along(&one, 2), (50, 24), true);
    let drawing = top[..23].concat();
    assert!(drawing.contains('O') && !drawing.contains('C'), "{top:#?}");
    assert!(top[23].contains("1 drawn, 1 behind others"), "{top:#?}");
    // From the side both are seen.
    let side = drawn(&one, &along(&one, 0), (50, 24), true);
    assert!(
        side[23].contains("2 drawn") && !side[23].contains("behind"),
        "{side:#?}"
    );
}

#[test]
fn edges_are_braille_or_dots_and_axes_have_names() {
    let ascii = drawn(&rock_salt(), &View::default(), (50, 24), true);
    assert!(ascii.concat().is_ascii(), "{ascii:#?}");
    for name in ["a", "b", "c"] {
        assert!(place(&ascii, name).is_some(), "{name} in {ascii:#?}");
    }
    assert!(ascii[..23].concat().matches('.').count() > 20, "{ascii:#?}");
    let unicode = drawn(&rock_salt(), &View::default(), (50, 24), false);
    let braille = |c: char| ('\u{2801}'..='\u{28ff}').contains(&c);
    assert!(
        unicode.concat().chars().filter(|c| braille(*c)).count() > 20,
        "{unicode:#?}"
    );
}

#[test]
fn a_layer_has_no_edges_across() {
    let lattice = Some([[2.46, 0.0, 0.0], [-1.23, 2.13, 0.0], [0.0, 0.0, 20.0]]);
    let atoms = [("C", [0.0, 0.0, 10.0]), ("C", [0.0, 1.42, 10.0])];
    let layer = crystal(lattice, [true, true, false], &atoms);
    let edges = layer.edges(1);
    assert_eq!(edges.len(), 4);
    for (from, to) in edges {
        assert!((from[2] - 10.0).abs() < 1e-9 && (to[2] - 10.0).abs() < 1e-9);
    }
    assert_eq!(rock_salt().edges(1).len(), 12);
}

#[test]
fn it_keeps_its_size_while_it_is_turned_and_nothing_leaves_the_window() {
    let mut view = View::default();
    for step in 0..24 {
        view.turn(15.0, f64::from(step % 3) * 10.0);
        let lines = drawn(&rock_salt(), &view, (40, 18), true);
        assert!(!lines[17].contains("outside"), "{lines:#?}");
    }
    (0..4).for_each(|_| view.zoom(true));
    let lines = drawn(&rock_salt(), &view, (40, 18), true);
    assert!(lines[17].contains("outside"), "{lines:#?}");
}

#[test]
fn odd_cells_and_windows_draw_something_or_nothing() {
    let flat = Some([[1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 1.0]]);
    let odd = [
        Crystal::default(),
        crystal(flat, [true; 3], &[("Si", [0.0, 0.0, 0.0])]),
        crystal(Some(cube(f64::NAN)), [true; 3], &[("Si", [0.0, 0.0, 0.0])]),
        crystal(
            Some(cube(1e300)),
            [true; 3],
            &[("Si", [1e300, f64::INFINITY, 0.0])],
        ),
        crystal(Some(cube(0.0)), [true; 3], &[("Si", [0.0, 0.0, 0.0])]),
        crystal(
            Some(cube(4.0)),
            [true; 3],
            &[("", [1.0; 3]), ("晶", [2.0; 3])],
        ),
    ];
    for crystal in &odd {
        for size in [(0, 0), (1, 1), (16, 6), (80, 24)] {
            drawn(crystal, &View::default(), size, false);
        }
    }
    let small = drawn(&rock_salt(), &View::default(), (30, 3), true);
    assert!(small.concat().contains("too small"), "{small:#?}");
}
