//! `workflows relax`.

use serde_json::Value;

use crate::cli::output::Outcome;
use crate::cli::params::Given;
use crate::cli::session::Session;
use crate::cli::workflows::create::{CreateArgs, CriteriaArgs, create};

/// Arguments of `workflows relax`.
#[derive(Debug, clap::Args)]
pub struct RelaxArgs {
    /// What every workflow is asked for with.
    #[command(flatten)]
    pub create: CreateArgs,
    /// What the cell may do
    #[arg(long, value_name = "HOW",
        value_parser = ["full", "isotropic", "constant_volume", "fixed"])]
    pub cell: Option<String>,
    /// When it is at its end.
    #[command(flatten)]
    pub criteria: CriteriaArgs,
    /// Keep the space group
    #[arg(long)]
    pub keep_symmetry: bool,
}

pub(in crate::cli::workflows) fn start(session: &Session, args: &RelaxArgs) -> Outcome {
    let mut options = Given::default();
    options.text("cell", args.cell.as_ref());
    args.criteria.fill(&mut options);
    let keep = args.keep_symmetry.then_some(Value::Bool(true));
    options.put("keep_symmetry", keep);
    create(session, "workflows.create_relax", &args.create, options)
}
