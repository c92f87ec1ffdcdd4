//! `workflows phonon`.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::cli::output::{Failure, Outcome};
use crate::cli::params::{Given, finite};
use crate::cli::session::Session;
use crate::cli::workflows::create::{CreateArgs, CriteriaArgs, create};

/// Arguments of `workflows phonon`.
#[derive(Debug, clap::Args)]
pub struct PhononArgs {
    /// What every workflow is asked for with.
    #[command(flatten)]
    pub create: CreateArgs,
    /// Take the structure as it is; forces that are too large are refused
    #[arg(long)]
    pub no_relax: bool,
    /// Repetitions of the cell, like 4x4x4; chosen by the edge when left out
    #[arg(long, value_name = "NxNxN", value_parser = supercell)]
    pub supercell: Option<[u32; 3]>,
    /// Least distance of an atom from its image, in Å
    #[arg(long, value_name = "ANGSTROM", value_parser = finite)]
    pub edge: Option<f64>,
    /// How far an atom is moved, in Å
    #[arg(long, value_name = "ANGSTROM", value_parser = finite)]
    pub distance: Option<f64>,
    /// Points along each reciprocal vector for states and thermodynamics
    #[arg(long, value_name = "N")]
    pub mesh: Option<i64>,
    /// Highest temperature, in kelvin
    #[arg(long, value_name = "KELVIN", value_parser = finite)]
    pub max_temperature: Option<f64>,
    /// Step of the temperatures, in kelvin
    #[arg(long, value_name = "KELVIN", value_parser = finite)]
    pub temperature_step: Option<f64>,
    /// Born charges and the dielectric tensor: a file BORN as phonopy reads it
    #[arg(long, value_name = "FILE")]
    pub born: Option<PathBuf>,
    /// When the relaxation is at its end.
    #[command(flatten)]
    pub criteria: CriteriaArgs,
}

pub(in crate::cli::workflows) fn start(session: &Session, args: &PhononArgs) -> Outcome {
    let mut options = Given::default();
    options.put("relax", args.no_relax.then_some(Value::Bool(false)));
    options.put("supercell", args.supercell.map(|sizes| json!(sizes)));
    options.put("edge_angstrom", args.edge.map(Value::from));
    options.put("distance_angstrom", args.distance.map(Value::from));
    options.put("mesh", args.mesh.map(Value::from));
    let most = args.max_temperature.map(Value::from);
    options.put("temperature_max_k", most);
    let step = args.temperature_step.map(Value::from);
    options.put("temperature_step_k", step);
    if let Some(file) = &args.born {
        let text = std::fs::read_to_string(file)
            .map_err(|error| Failure::Io(file.display().to_string(), error))?;
        options.put("born", Some(json!({ "text": text })));
    }
    args.criteria.fill(&mut options);
    create(session, "workflows.create_phonon", &args.create, options)
}

/// Three numbers, like 4x4x4.
fn supercell(text: &str) -> Result<[u32; 3], String> {
    let sizes: Option<Vec<u32>> = text
        .split(['x', 'X', '×'])
        .map(|size| size.trim().parse().ok())
        .collect();
    sizes
        .and_then(|sizes| sizes.try_into().ok())
        .ok_or_else(|| "write three whole numbers, like 4x4x4".into())
}

#[cfg(test)]
mod tests {
    use super::supercell;

    #[test]
    fn a_supercell_is_three_numbers() {
        assert_eq!(supercell("4x4x4"), Ok([4, 4, 4]));
        assert_eq!(supercell("2 × 3 X 1"), Ok([2, 3, 1]));
        for bad in ["4", "4x4", "4x4x4x4", "4x4x-1", "4x4x", "axbxc", "1.5x2x2"] {
            assert!(supercell(bad).is_err(), "{bad}");
        }
    }
}
