//! What is known of the structure with the cursor, in lines.

use serde_json::Value;

use super::Materials;
use super::row::Row;
use crate::rpc::types::{
    Cell, CellParameters, InspectResult, MaterialFound, SiteFound, SymmetryFound,
};
use crate::screens::wording::speak;
use crate::theme::{Glyphs, Role};
use crate::units;
use crate::widgets::facts::{Fact, Facts};

/// Independent sites that are told one by one.
const SITES: usize = 20;

/// The lines about what the cursor is on; none where there is nothing.
pub(super) fn lines(screen: &Materials, glyphs: &Glyphs) -> Vec<Fact> {
    let mut lines = Facts::default();
    let Some(row) = screen.current() else {
        return lines.0;
    };
    lines.add("formula", row.formula(), Role::Title);
    lines.some("name", row.name(), Role::Text);
    if let Some(reason) = row.reason() {
        let words = format!("{} {}", glyphs.attention, speak(reason));
        lines.add("no deck", words, Role::Warn);
    }
    match screen.look() {
        Some(Ok(look)) => inspected(&mut lines, &look.found, glyphs),
        Some(Err(error)) => {
            lines.add(
                "refused",
                format!("{} {error}", glyphs.attention),
                Role::Bad,
            );
        }
        None if row.reason().is_some() => {}
        None if screen.search.is_remote(row) && !screen.listing.opened => {
            lines.add("cell", "fetched when you go into it", Role::Dim);
        }
        None => lines.add("cell", "looking at it", Role::Dim),
    }
    lines.gap();
    match row {
        Row::Found(found) => told(&mut lines, found),
        Row::Kept(stored) => {
            lines.add("called", &*stored.material, Role::Text);
            lines.add("cell of", &*stored.cell_formula, Role::Text);
        }
    }
    lines.0
}

fn inspected(lines: &mut Facts, found: &InspectResult, glyphs: &Glyphs) {
    for warning in &found.warnings {
        let words = format!("{} {}", glyphs.attention, speak(warning));
        lines.add("warning", words, Role::Warn);
    }
    let atoms = format!("{}, {} atoms given", found.cell_formula, found.n_atoms);
    lines.add("cell of", atoms, Role::Text);
    kind(lines, found);
    match &found.symmetry {
        Some(group) => symmetry(lines, group, glyphs),
        None => lines.add("symmetry", "not looked for", Role::Dim),
    }
    if let Some(cell) = &found.cell {
        as_given(lines, cell);
    }
    for (index, site) in found.sites.iter().take(SITES).enumerate() {
        let name = if index == 0 { "sites" } else { "" };
        lines.add(name, site_words(site), Role::Text);
    }
    let more = found.sites.len().saturating_sub(SITES);
    if more > 0 {
        lines.add("", format!("and {more} more"), Role::Dim);
    }
}

fn kind(lines: &mut Facts, found: &InspectResult) {
    let shape = &found.dimensionality;
    let by = match shape.decided_by.as_str() {
        "vacuum" => " by the empty space in its cell",
        "file" => " by the file",
        _ => "",
    };
    let kind = shape.kind.as_str();
    if kind != "crystal" {
        lines.add("kind", format!("{kind}{by}"), Role::Text);
    }
}

fn symmetry(lines: &mut Facts, found: &SymmetryFound, glyphs: &Glyphs) {
    let name = if found.kind.as_str() == "layer" {
        "layer group"
    } else {
        "space group"
    };
    let choice = found.choice.as_ref().map(|choice| format!(":{choice}"));
    let words = format!(
        "{}{} ({}), {}",
        found.symbol,
        choice.unwrap_or_default(),
        found.number,
        found.point_group
    );
    lines.add(name, words, Role::Text);
    let moved = format!(
        "{} Å; idealising moves an atom by up to {:.5} Å",
        found.symprec_angstrom, found.max_displacement_angstrom
    );
    lines.add("tolerance", moved, Role::Text);
    match &found.tighter {
        Some(group) => {
            let words = format!(
                "{} {} ({}) at a tenth of it",
                glyphs.attention, group.symbol, group.number
            );
            lines.add("", words, Role::Warn);
        }
        None => lines.add("", "the same group at a tenth of it", Role::Dim),
    }
    lines.add("standard", cell_words(&found.standard_cell), Role::Text);
    let atoms = format!(
        "{} primitive, {} conventional",
        found.atoms_primitive_cell, found.atoms_conventional_cell
    );
    lines.add("atoms", atoms, Role::Text);
}

fn as_given(lines: &mut Facts, cell: &Cell) {
    let given = CellParameters {
        a_angstrom: cell.a_angstrom,
        b_angstrom: cell.b_angstrom,
        c_angstrom: cell.c_angstrom,
        alpha_degrees: cell.alpha_degrees,
        beta_degrees: cell.beta_degrees,
        gamma_degrees: cell.gamma_degrees,
    };
    lines.add("given", cell_words(&given), Role::Text);
    let volume = cell.volume_angstrom3;
    let volume = volume.map(|volume| format!("{volume:.3} Å³"));
    lines.some("volume", volume, Role::Text);
    let density = cell.density_g_per_cm3;
    let density = density.map(|density| format!("{density:.3} g/cm³"));
    lines.some("density", density, Role::Text);
}

/// Lengths, and angles where they are not all right ones.
fn cell_words(cell: &CellParameters) -> String {
    let lengths = [cell.a_angstrom, cell.b_angstrom, cell.c_angstrom];
    let angles = [cell.alpha_degrees, cell.beta_degrees, cell.gamma_degrees];
    let lengths = lengths.map(|length| format!("{length:.4}")).join(" ");
    if angles.iter().all(|angle| (angle - 90.0).abs() < 5e-5) {
        return format!("{lengths} Å, 90°");
    }
    let angles = angles.map(|angle| format!("{angle:.3}")).join(" ");
    format!("{lengths} Å, {angles}°")
}

fn site_words(site: &SiteFound) -> String {
    let mut words = vec![site.symbol.clone()];
    if let (Some(multiplicity), Some(wyckoff)) = (site.multiplicity, &site.wyckoff) {
        words.push(format!("{multiplicity}{wyckoff}"));
    }
    if let Some(at) = &site.fraction {
        words.extend(at.iter().map(|value| format!("{value:.5}")));
    }
    if let Some(near) = site.neighbours.first() {
        let (count, symbol, distance) = (near.count, &near.symbol, near.distance_angstrom);
        words.push(format!("· {count} {symbol} at {distance:.3} Å"));
    }
    words.join(" ")
}

/// What its provider says of it.
fn told(lines: &mut Facts, found: &MaterialFound) {
    lines.add("called", &*found.material, Role::Text);
    let others = found.ids.iter().filter(|id| **id != found.material);
    for (index, id) in others.enumerate() {
        let name = if index == 0 { "also" } else { "" };
        lines.add(name, &**id, Role::Text);
    }
    if found.prototype {
        let words = "lattice constants are those of the example of the structure type";
        lines.add("prototype", words, Role::Warn);
    }
    for (name, value) in &found.properties {
        let (label, unit) = units::split(name);
        let value = match value {
            Value::Null => continue,
            Value::String(text) => text.clone(),
            Value::Array(items) => plain(items),
            other => other.to_string(),
        };
        lines.add(&label, format!("{value} {unit}").trim_end(), Role::Text);
    }
}

fn plain(items: &[Value]) -> String {
    let words = items.iter().map(|item| match item {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    });
    words.collect::<Vec<_>>().join(", ")
}
