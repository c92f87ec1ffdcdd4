//! `crystalmath workflows export`: the results as files for other programs.

use std::path::PathBuf;

use crate::cli::output::{self, Outcome};
use crate::cli::session::Session;
use crate::cli::writing;
use crate::rpc::types::{ExportFormat, ExportWorkflowParams, calls};

/// Arguments of `workflows export`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Number of the workflow
    pub id: i64,
    /// json: everything; csv: the numbers as tables; phonopy, pymatgen: what these programs read
    #[arg(long, value_name = "FORMAT", value_parser = ["json", "csv", "phonopy", "pymatgen"])]
    pub format: String,
    /// Write there instead of to stdout: a file, or a directory for several files
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// Replace files that are there
    #[arg(long)]
    pub force: bool,
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    let answer = session.call::<calls::WorkflowsExport>(&ExportWorkflowParams {
        id: args.id,
        format: ExportFormat::from(&*args.format),
    })?;
    let files = answer.read.data.files.iter();
    let files: Vec<_> = files.map(|file| (&*file.path, &*file.content)).collect();
    match &args.output {
        None if session.json() => output::document(&answer.raw)?,
        None => output::text(&writing::printed(&files))?,
        Some(path) => {
            let written = writing::write_all(path, &files, args.force)?;
            session.print(&answer.raw, || written)?;
        }
    }
    Ok(0)
}
