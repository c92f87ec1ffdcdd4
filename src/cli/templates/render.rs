//! Filling in: the files go to stdout, into one file or into a directory.

use std::path::{Path, PathBuf};

use super::list::{self, Which};
use super::values::values;
use crate::cli::output::{self, Failure, Outcome};
use crate::cli::params::key_text;
use crate::cli::session::Session;
use crate::cli::wording::Commands;
use crate::cli::writing;
use crate::rpc::types::{RenderParams, RenderResult, RenderedFile, RenderedFindingSeverity, calls};

/// Arguments of `render`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Name of the template, like crystal/scf
    #[arg(value_name = "NAME")]
    pub name: String,
    /// The structure, where the template takes one: a file, or local:N for one that was taken in
    #[arg(value_name = "STRUCTURE")]
    pub structure: Option<PathBuf>,
    /// What is filled in; text may be @FILE, a structure FILE, local:N or job:N; repeat for more
    #[arg(long = "param", value_name = "KEY=VALUE", value_parser = key_text)]
    pub params: Vec<(String, String)>,
    /// Which template, where one of yours has the name of one of the program
    #[command(flatten)]
    pub which: Which,
    /// Write there instead of to stdout: a file, or a directory for several files
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// Replace files that are there
    #[arg(long)]
    pub force: bool,
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    let origin = args.which.origin();
    let template = list::get(session, &args.name, origin.clone())?
        .read
        .data
        .template;
    let parameters = values(&template, args.structure.as_deref(), &args.params)?;
    let answer = session.call::<calls::TemplatesRender>(&RenderParams {
        id: args.name.clone(),
        parameters: Some(parameters),
        origin,
    })?;
    let made = &answer.read.data;
    match &args.output {
        None if session.json() => output::document(&answer.raw)?,
        None => output::text(&printed(&made.files))?,
        Some(path) => {
            let written = write(path, &made.files, args.force)?;
            session.print(&answer.raw, || {
                let names: Vec<String> = written.iter().map(|p| p.display().to_string()).collect();
                format!("{} written", names.join(", "))
            })?;
        }
    }
    session.warn(Commands::Templates, &made.warnings);
    Ok(u8::from(is_wrong(made)))
}

/// Whether the linter calls one of the files wrong.
fn is_wrong(made: &RenderResult) -> bool {
    let mut findings = made.findings.iter();
    findings.any(|finding| finding.severity == RenderedFindingSeverity::Error)
}

/// One file as it is, several with their names.
fn printed(files: &[RenderedFile]) -> String {
    match files {
        [one] => one.content.clone(),
        several => several
            .iter()
            .map(|file| format!("--- {}\n{}", file.path, file.content))
            .collect::<Vec<_>>()
            .concat(),
    }
}

/// Write one file where it is wanted, or several below a directory.
fn write(path: &Path, files: &[RenderedFile], force: bool) -> Result<Vec<PathBuf>, Failure> {
    let targets: Vec<PathBuf> = match files {
        [_] if !path.is_dir() => vec![path.to_owned()],
        _ => files.iter().map(|file| path.join(&file.path)).collect(),
    };
    writing::check_free(targets.iter().map(PathBuf::as_path), force)?;
    for (target, file) in targets.iter().zip(files) {
        if let Some(folder) = target.parent().filter(|_| target != path) {
            std::fs::create_dir_all(folder)
                .map_err(|error| Failure::Io(format!("cannot make {}", folder.display()), error))?;
        }
        writing::write(target, &file.content, force)?;
    }
    Ok(targets)
}
