//! `crystalmath engines evaluate`: energies and forces without a job.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::ModelArgs;
use crate::cli::output::{Failure, Outcome};
use crate::cli::params::{self, Given};
use crate::cli::results::field;
use crate::cli::session::Session;
use crate::cli::wording::Commands;
use crate::results::fixed;
use crate::rpc::fit;
use crate::rpc::types::{EvaluateResult, ForceIdentity, Reply, StructureForces};

/// Arguments of `engines evaluate`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which engine, or a sum of them like mace+dftd3
    #[arg(value_name = "ENGINE")]
    pub engine: String,
    /// Structure files
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// What to give, with commas: energy, forces, stress, energies, magmoms, charges …
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub properties: Vec<String>,
    /// Which model, and where it runs.
    #[command(flatten)]
    pub model: ModelArgs,
    /// Accept elements with toy parameters
    #[arg(long)]
    pub allow_toy_elements: bool,
    /// Write the arrays of each atom to this file, .npz or .extxyz
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    let mut structures = Vec::with_capacity(args.files.len());
    for file in &args.files {
        structures.push(json!({"path": params::absolute_file(file)?}));
    }
    let mut given = Given::default();
    given.text("engine", Some(&args.engine));
    given.list("structures", &structures);
    given.list("properties", &args.properties);
    args.model.fill(&mut given)?;
    given.put(
        "allow_toy_elements",
        args.allow_toy_elements.then_some(Value::Bool(true)),
    );
    if let Some(file) = &args.file {
        let absolute = std::path::absolute(file)
            .map_err(|error| Failure::Io(file.display().to_string(), error))?;
        given.put("file", Some(json!(absolute.display().to_string())));
    }
    let raw = session.ask("forces.evaluate", given.object())?;
    let reply: Reply<EvaluateResult> = fit("forces.evaluate", &raw)?;
    session.warn(Commands::Engines, &reply.data.warnings);
    session.print(&raw, || render(&reply.data, &args.files))?;
    Ok(u8::from(reply.data.failed > 0))
}

fn render(found: &EvaluateResult, files: &[PathBuf]) -> String {
    let mut lines = Vec::new();
    for one in &found.structures {
        let file = usize::try_from(one.index)
            .ok()
            .and_then(|index| files.get(index))
            .map(|file| file.display().to_string())
            .unwrap_or_default();
        lines.extend(structure(one, &file));
    }
    lines.extend(
        found
            .identity
            .iter()
            .map(|who| field("computed with", &origin(who))),
    );
    if let Some(file) = &found.file {
        lines.push(field("arrays in", file));
    }
    lines.join("\n")
}

fn structure(one: &StructureForces, file: &str) -> Vec<String> {
    let mut lines = vec![field(
        "structure",
        &format!("{}, {} atoms ({file})", one.formula, one.n_atoms),
    )];
    if let Some(message) = &one.message {
        lines.push(field("failed", message));
        return lines;
    }
    let mut put = |label: &str, value: Option<String>| {
        lines.extend(value.map(|value| field(label, &value)));
    };
    #[allow(clippy::cast_precision_loss)]
    let atoms = one.n_atoms.max(1) as f64;
    put(
        "energy",
        one.energy_ev
            .map(|e| format!("{} eV ({} eV per atom)", fixed(e, 6), fixed(e / atoms, 6))),
    );
    put(
        "free energy",
        one.free_energy_ev.map(|e| format!("{} eV", fixed(e, 6))),
    );
    put(
        "largest force",
        one.fmax_ev_per_a.map(|f| format!("{} eV/Å", fixed(f, 6))),
    );
    put(
        "pressure",
        one.pressure_gpa.map(|p| format!("{} GPa", fixed(p, 4))),
    );
    lines
}

/// Engine, version, model, its weights, precision and device: what makes a number repeatable.
pub(super) fn origin(who: &ForceIdentity) -> String {
    let weights = who
        .model_sha256
        .as_ref()
        .map(|sha| format!(" (sha256 {})", sha.get(..12).unwrap_or(sha)))
        .unwrap_or_default();
    format!(
        "{}, {}, model {}{weights}, {}, {}",
        who.engine, who.version, who.model, who.dtype, who.device
    )
}
