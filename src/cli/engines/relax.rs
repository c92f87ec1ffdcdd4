//! `crystalmath engines relax`: a relaxation as a job, with the engine named first.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::ask::Agreement;
use super::{ModelArgs, install};
use crate::cli::output::Outcome;
use crate::cli::params::{self, Given, finite};
use crate::cli::session::Session;
use crate::cli::submit::accepted;
use crate::cli::wait::{self, WaitArgs};
use crate::rpc::fit;
use crate::rpc::types::{RelaxResult, Reply};

/// Arguments of `engines relax`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which engine
    #[arg(value_name = "ENGINE")]
    pub engine: String,
    /// A structure file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Which model, and where it runs.
    #[command(flatten)]
    pub model: ModelArgs,
    /// What the cell may do
    #[arg(long, value_name = "HOW", value_parser = ["full", "isotropic", "fixed"])]
    pub cell: Option<String>,
    /// Largest force left on an atom, in eV/Å
    #[arg(long, value_name = "EV_PER_A", value_parser = finite)]
    pub fmax: Option<f64>,
    /// Largest stress left, in gigapascal
    #[arg(long, value_name = "GPA", value_parser = finite)]
    pub smax: Option<f64>,
    /// Steps before it gives up
    #[arg(long, value_name = "N")]
    pub max_steps: Option<i64>,
    /// Keep the space group
    #[arg(long)]
    pub keep_symmetry: bool,
    /// Name of the job
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Whether the user agrees beforehand.
    #[command(flatten)]
    pub agreement: Agreement,
    /// Whether to wait for the job.
    #[command(flatten)]
    pub wait: WaitArgs,
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    let mut given = Given::default();
    given.text("engine", Some(&args.engine));
    given.put(
        "structure",
        Some(json!({"path": params::absolute_file(&args.file)?})),
    );
    args.model.fill(&mut given)?;
    given.text("name", args.name.as_ref());
    given.text("cell", args.cell.as_ref());
    given.put("fmax_ev_per_a", args.fmax.map(Value::from));
    given.put("smax_gpa", args.smax.map(Value::from));
    given.put("max_steps", args.max_steps.map(Value::from));
    given.put(
        "keep_symmetry",
        args.keep_symmetry.then_some(Value::Bool(true)),
    );
    given.put("client_token", Some(params::client_token().into()));
    let params = given.object();
    let raw = match session.ask("forces.relax", params.clone()) {
        Err(error) if error.kind() == install::NOT_INSTALLED => {
            install::for_submission(session, Some(&args.engine), args.agreement)?;
            session.ask("forces.relax", params)?
        }
        other => other?,
    };
    let reply: Reply<RelaxResult> = fit("forces.relax", &raw)?;
    let job = &reply.data.job;
    let said = accepted(job, "submitted", reply.data.repeated);
    wait::follow(session, &raw, job.id, &said, &args.wait)
}
