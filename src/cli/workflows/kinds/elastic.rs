//! `workflows elastic`.

use serde_json::Value;

use crate::cli::output::Outcome;
use crate::cli::params::{Given, finite};
use crate::cli::session::Session;
use crate::cli::workflows::create::{CreateArgs, CriteriaArgs, create};

/// Arguments of `workflows elastic`.
#[derive(Debug, clap::Args)]
pub struct ElasticArgs {
    /// What every workflow is asked for with.
    #[command(flatten)]
    pub create: CreateArgs,
    /// Take the structure as it is; forces and stress that are too large are refused
    #[arg(long)]
    pub no_relax: bool,
    /// Sizes of the strains, each applied with both signs: 0.005,0.01 is ± 0.5 and ± 1 %
    #[arg(long, value_name = "SIZES", value_delimiter = ',', value_parser = finite)]
    pub strains: Vec<f64>,
    /// When a relaxation is at its end.
    #[command(flatten)]
    pub criteria: CriteriaArgs,
}

pub(in crate::cli::workflows) fn start(session: &Session, args: &ElasticArgs) -> Outcome {
    let mut options = Given::default();
    options.put("relax", args.no_relax.then_some(Value::Bool(false)));
    options.list("sizes", &args.strains);
    args.criteria.fill(&mut options);
    create(session, "workflows.create_elastic", &args.create, options)
}
