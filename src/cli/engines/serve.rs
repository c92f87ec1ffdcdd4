//! `crystalmath engines serve`: an engine driven by a foreign i-PI server.

use std::path::PathBuf;

use super::ModelArgs;
use crate::cli::output::Outcome;
use crate::cli::params::{self, Given};
use crate::cli::session::Session;

/// Arguments of `engines serve`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which engine
    #[arg(value_name = "ENGINE")]
    pub engine: String,
    /// Where the i-PI server listens: a UNIX socket with unix: before its name, or HOST:PORT
    #[arg(long, value_name = "ADDRESS")]
    pub ipi: String,
    /// A structure file: the server sends no species
    #[arg(long, value_name = "FILE")]
    pub template: Option<PathBuf>,
    /// Which model, and where it runs.
    #[command(flatten)]
    pub model: ModelArgs,
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    let mut given = Given::default();
    given.text("engine", Some(&args.engine));
    given.text("address", Some(&args.ipi));
    if let Some(template) = &args.template {
        given.text("template", Some(&params::absolute_file(template)?));
    }
    args.model.fill(&mut given)?;
    let raw = session.ask("forces.serve", given.object())?;
    session.print(&raw, || {
        let worker = raw["data"]["worker"]["id"].as_str().unwrap_or_default();
        format!(
            "worker {worker} is driven by {}; end it with: crystalmath engines stop {worker}",
            args.ipi
        )
    })?;
    Ok(0)
}
