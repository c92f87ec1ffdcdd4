//! `workflows eos`.

use serde_json::Value;

use crate::cli::output::Outcome;
use crate::cli::params::{Given, finite};
use crate::cli::session::Session;
use crate::cli::workflows::create::{CreateArgs, CriteriaArgs, create};

/// Arguments of `workflows eos`.
#[derive(Debug, clap::Args)]
pub struct EosArgs {
    /// What every workflow is asked for with.
    #[command(flatten)]
    pub create: CreateArgs,
    /// Number of volumes
    #[arg(long, value_name = "N")]
    pub points: Option<i64>,
    /// Largest change of the volume to each side: 0.06 is 6 % in volume, 2 % in length
    #[arg(long, value_name = "FRACTION", value_parser = finite)]
    pub reach: Option<f64>,
    /// Leave the first relaxation out: the volumes lie around that of the structure as it is
    #[arg(long)]
    pub no_relax: bool,
    /// When a relaxation is at its end.
    #[command(flatten)]
    pub criteria: CriteriaArgs,
}

pub(in crate::cli::workflows) fn start(session: &Session, args: &EosArgs) -> Outcome {
    let mut options = Given::default();
    options.put("points", args.points.map(Value::from));
    options.put("reach", args.reach.map(Value::from));
    options.put("relax", args.no_relax.then_some(Value::Bool(false)));
    args.criteria.fill(&mut options);
    create(session, "workflows.create_eos", &args.create, options)
}
