//! `crystalmath import`: take in a finished calculation that somebody ran by hand, or keep a
//! structure. The name of a structure file tells which of the two is meant.

use std::path::PathBuf;

use super::output::Outcome;
use super::params;
use super::results::field;
use super::session::Session;
use super::submit;
use super::wait::{self, WaitArgs};
use crate::rpc::types::{ImportParams, ImportStructureParams, ImportStructureResult, calls};
use crate::submission::is_structure_name;

/// Arguments of `import`.
#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// Directory of the calculation, its main output, or a structure file
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// Which code it is of; recognised when left out
    #[arg(long, value_name = "CODE")]
    pub code: Option<String>,
    /// Name of the job or the structure; that of the path or the formula when left out
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Keep the file as a structure, of this format; told by its name when left out
    #[arg(long, value_name = "FORMAT", conflicts_with_all = ["code", "wait"])]
    pub from: Option<String>,
    /// Whether to wait for the verdict.
    #[command(flatten)]
    pub wait: WaitArgs,
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    let is_structure = args.from.is_some() || is_structure_name(&args.path);
    if args.code.is_none() && is_structure && !args.path.is_dir() {
        return keep(session, args);
    }
    let answer = session.call::<calls::JobsImportResults>(&ImportParams {
        path: params::absolute_path(&args.path)?,
        code: args.code.clone(),
        name: args.name.clone(),
        client_token: Some(params::client_token()),
    })?;
    let found = &answer.read.data;
    let said = submit::accepted(&found.job, "imported", found.repeated);
    wait::follow(session, &answer.raw, found.job.id, &said, &args.wait)
}

fn keep(session: &Session, args: &Args) -> Outcome {
    let answer = session.call::<calls::MaterialsImport>(&ImportStructureParams {
        path: Some(params::absolute_path(&args.path)?),
        format: args.from.clone(),
        name: args.name.clone(),
        ..ImportStructureParams::default()
    })?;
    let found = &answer.read.data;
    session.print(&answer.raw, || render(found))?;
    Ok(0)
}

fn render(found: &ImportStructureResult) -> String {
    let stored = &found.material;
    let known = if found.known {
        "was kept before"
    } else {
        "kept"
    };
    let group = stored.space_group.map(|n| format!(", space group {n}"));
    let mut lines = vec![format!(
        "{} {known}: {} {}, {} atoms{}",
        stored.material,
        stored.name,
        stored.cell_formula,
        stored.n_atoms,
        group.unwrap_or_default()
    )];
    lines.extend(found.warnings.iter().map(|text| field("warning", text)));
    lines.join("\n")
}
