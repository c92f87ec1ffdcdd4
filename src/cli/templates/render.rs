//! Filling in: the files go to stdout, into one file or into a directory.

use std::path::PathBuf;

use super::list::{self, Which};
use super::values::values;
use crate::cli::output::{self, Outcome};
use crate::cli::params::{key_text, own_context};
use crate::cli::session::Session;
use crate::cli::wording::Commands;
use crate::cli::writing;
use crate::rpc::types::{RenderParams, RenderResult, RenderedFindingSeverity, calls};

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
        context: serde_json::from_value(own_context()).ok(),
    })?;
    let made = &answer.read.data;
    let files = made.files.iter();
    let files: Vec<_> = files.map(|file| (&*file.path, &*file.content)).collect();
    match &args.output {
        None if session.json() => output::document(&answer.raw)?,
        None => output::text(&writing::printed(&files))?,
        Some(path) => {
            let written = writing::write_all(path, &files, args.force)?;
            session.print(&answer.raw, || written)?;
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
