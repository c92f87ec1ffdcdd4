//! `crystalmath inspect`: what a structure is, without a job.

use std::path::{Path, PathBuf};

use super::output::{Failure, Outcome};
use super::params::{self, finite};
use super::results::field;
use super::session::Session;
use super::wording::Commands;
use crate::rpc::types::{
    CellParameters, Dimension, InspectParams, InspectResult, Shell, SiteFound, StructureIn,
    SymmetryFound, calls,
};
use crate::submission::material_name;

/// Arguments of `inspect`.
#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// A structure file, or a name that a search gave, like embedded:periclase-MgO or local:3
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Format of the file; told by its name when left out
    #[arg(long, value_name = "FORMAT")]
    pub from: Option<String>,
    /// How far an atom may be from its idealised place, in Å
    #[arg(long, value_name = "ANGSTROM", value_parser = finite)]
    pub symprec: Option<f64>,
    /// What it is; told by the empty space in its cell when left out
    #[arg(long, value_name = "KIND", value_parser = ["crystal", "slab", "polymer", "molecule"])]
    pub dimension: Option<String>,
}

/// What a file, or a name like `local:3`, means on the wire.
///
/// # Errors
/// There is no such file.
pub(super) fn structure_in(file: &Path, format: Option<&String>) -> Result<StructureIn, Failure> {
    if let Some(material) = material_name(file) {
        return Ok(StructureIn {
            material: Some(material.to_owned()),
            ..StructureIn::default()
        });
    }
    Ok(StructureIn {
        path: Some(params::absolute_path(file)?),
        format: format.cloned(),
        ..StructureIn::default()
    })
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    inspect(session, args).map_err(|failure| failure.of(Commands::Structures))
}

fn inspect(session: &Session, args: &Args) -> Outcome {
    let answer = session.call::<calls::MaterialsInspect>(&InspectParams {
        structure: structure_in(&args.file, args.from.as_ref())?,
        symprec_angstrom: args.symprec,
        dimension: args.dimension.as_deref().map(Dimension::from),
        atoms: None,
    })?;
    let found = &answer.read.data;
    session.print(&answer.raw, || render(found))?;
    Ok(0)
}

fn render(found: &InspectResult) -> String {
    let mut lines = vec![format!(
        "{}  {}  {} atoms",
        found.formula, found.cell_formula, found.n_atoms
    )];
    lines.push(field("kind", &kind(found)));
    if let Some(cell) = &found.cell {
        let parameters = CellParameters {
            a_angstrom: cell.a_angstrom,
            b_angstrom: cell.b_angstrom,
            c_angstrom: cell.c_angstrom,
            alpha_degrees: cell.alpha_degrees,
            beta_degrees: cell.beta_degrees,
            gamma_degrees: cell.gamma_degrees,
        };
        lines.push(field("cell", &lengths(&parameters)));
        if let Some(volume) = cell.volume_angstrom3 {
            lines.push(field("volume", &format!("{volume:.4} Å³")));
        }
        if let Some(density) = cell.density_g_per_cm3 {
            lines.push(field("density", &format!("{density:.4} g/cm³")));
        }
    }
    if let Some(symmetry) = &found.symmetry {
        lines.extend(group(symmetry));
    }
    lines.extend(sites(&found.sites));
    lines.extend(
        found
            .warnings
            .iter()
            .map(|warning| field("warning", warning)),
    );
    lines.join("\n")
}

fn kind(found: &InspectResult) -> String {
    let shape = &found.dimensionality;
    let gaps = shape.gaps_angstrom.as_ref().map(|gaps| {
        let told: Vec<String> = ["a", "b", "c"]
            .iter()
            .zip(gaps)
            .filter_map(|(axis, gap)| gap.map(|gap| format!("{axis} {gap:.2}")))
            .collect();
        format!(", empty along {} Å", told.join(", "))
    });
    let by = match shape.decided_by.as_str() {
        "request" => " as asked",
        "file" => " by the file",
        _ => "",
    };
    format!("{}{by}{}", shape.kind.as_str(), gaps.unwrap_or_default())
}

fn lengths(cell: &CellParameters) -> String {
    format!(
        "{:.6} {:.6} {:.6} Å, {:.4} {:.4} {:.4}°",
        cell.a_angstrom,
        cell.b_angstrom,
        cell.c_angstrom,
        cell.alpha_degrees,
        cell.beta_degrees,
        cell.gamma_degrees,
    )
}

fn group(found: &SymmetryFound) -> Vec<String> {
    let choice = found.choice.as_ref().map(|choice| format!(":{choice}"));
    let label = if found.kind.as_str() == "layer" {
        "layer group"
    } else {
        "space group"
    };
    vec![
        field(
            label,
            &format!(
                "{}{} ({}), point group {}, tolerance {} Å",
                found.symbol,
                choice.unwrap_or_default(),
                found.number,
                found.point_group,
                found.symprec_angstrom
            ),
        ),
        field(
            "idealised",
            &format!(
                "an atom moves by up to {:.5} Å, a length by up to {:.5} %",
                found.max_displacement_angstrom,
                found.max_strain * 100.0
            ),
        ),
        field("standard", &lengths(&found.standard_cell)),
        field(
            "atoms",
            &format!(
                "{} in the primitive cell, {} in the standard one",
                found.atoms_primitive_cell, found.atoms_conventional_cell
            ),
        ),
    ]
}

fn sites(sites: &[SiteFound]) -> Vec<String> {
    let mut lines = Vec::new();
    for site in sites {
        let mut told = Vec::new();
        if let (Some(multiplicity), Some(wyckoff)) = (site.multiplicity, &site.wyckoff) {
            told.push(format!("{multiplicity}{wyckoff}"));
        }
        if let Some(at) = &site.fraction {
            let at: Vec<String> = at.iter().map(|value| format!("{value:.6}")).collect();
            told.push(at.join(" "));
        }
        told.push(format!("atom {}", site.atom));
        if let Some(charge) = site.oxidation_state_e {
            told.push(format!("charge {charge:+}"));
        }
        if let Some(moment) = site.moment_mub {
            told.push(format!("moment {moment} μB"));
        }
        if let Some(mass) = site.mass_number {
            told.push(format!("mass {mass}"));
        }
        lines.push(field(&site.symbol, &told.join(", ")));
        if !site.neighbours.is_empty() {
            let near: Vec<String> = site.neighbours.iter().map(shell).collect();
            lines.push(field("", &near.join(", ")));
        }
    }
    lines
}

fn shell(near: &Shell) -> String {
    format!(
        "{} {} at {:.4} Å",
        near.count, near.symbol, near.distance_angstrom
    )
}
