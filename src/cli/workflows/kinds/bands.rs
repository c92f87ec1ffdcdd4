//! `workflows bands`.

use serde_json::Value;

use crate::cli::output::Outcome;
use crate::cli::params::{Given, finite};
use crate::cli::session::Session;
use crate::cli::workflows::create::{CreateArgs, create};

/// Arguments of `workflows bands`.
#[derive(Debug, clap::Args)]
pub struct BandsArgs {
    /// What every workflow is asked for with.
    #[command(flatten)]
    pub create: CreateArgs,
    /// Relax atoms and cell first
    #[arg(long)]
    pub relax: bool,
    /// Largest distance of neighbouring points of the path, in 1/Å with the factor 2π
    #[arg(long, value_name = "PER_A", value_parser = finite)]
    pub spacing: Option<f64>,
    /// Leave the dense mesh out: no density of states, and edges of the path alone
    #[arg(long)]
    pub no_dos: bool,
    /// How much denser that mesh is than the one of the SCF
    #[arg(long, value_name = "N", conflicts_with = "no_dos")]
    pub mesh_factor: Option<i64>,
    /// Number of bands; some more than the electrons fill when left out
    #[arg(long, value_name = "N")]
    pub bands: Option<i64>,
    /// Largest force that the relaxation may leave, in eV/Å
    #[arg(long, value_name = "EV_PER_A", value_parser = finite, requires = "relax")]
    pub fmax: Option<f64>,
    /// Largest stress that it may leave, in gigapascal
    #[arg(long, value_name = "GPA", value_parser = finite, requires = "relax")]
    pub smax: Option<f64>,
    /// Steps before it gives up
    #[arg(long, value_name = "N", requires = "relax")]
    pub max_steps: Option<i64>,
}

pub(in crate::cli::workflows) fn start(session: &Session, args: &BandsArgs) -> Outcome {
    let mut options = Given::default();
    options.put("relax", args.relax.then_some(Value::Bool(true)));
    options.put("spacing_inv_angstrom", args.spacing.map(Value::from));
    options.put("dos", args.no_dos.then_some(Value::Bool(false)));
    options.put("mesh_factor", args.mesh_factor.map(Value::from));
    options.put("n_bands", args.bands.map(Value::from));
    options.put("fmax_ev_per_a", args.fmax.map(Value::from));
    options.put("smax_gpa", args.smax.map(Value::from));
    options.put("max_steps", args.max_steps.map(Value::from));
    create(session, "workflows.create_bands", &args.create, options)
}
