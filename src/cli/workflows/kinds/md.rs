//! `workflows md`.

use serde_json::Value;

use crate::cli::output::Outcome;
use crate::cli::params::{Given, finite};
use crate::cli::session::Session;
use crate::cli::workflows::create::{CreateArgs, create};

/// Arguments of `workflows md`.
#[derive(Debug, clap::Args)]
pub struct MdArgs {
    /// What every workflow is asked for with.
    #[command(flatten)]
    pub create: CreateArgs,
    /// What is kept: energy, temperature (nvt when left out), or temperature and pressure
    #[arg(long, value_name = "WHAT", value_parser = ["nve", "nvt", "npt"])]
    pub ensemble: Option<String>,
    /// Steps in time
    #[arg(long, value_name = "N")]
    pub steps: Option<i64>,
    /// Length of a step, in femtoseconds
    #[arg(long, value_name = "FS", value_parser = finite)]
    pub timestep: Option<f64>,
    /// Temperature of the first velocities and of the thermostat, in kelvin
    #[arg(long, value_name = "K", value_parser = finite)]
    pub temperature: Option<f64>,
    /// How slowly the thermostat acts, in femtoseconds
    #[arg(long, value_name = "FS", value_parser = finite)]
    pub thermostat: Option<f64>,
    /// Pressure to keep, in gigapascal
    #[arg(long, value_name = "GPA", value_parser = finite, allow_hyphen_values = true)]
    pub pressure: Option<f64>,
    /// Period of the cell's motion, in femtoseconds
    #[arg(long, value_name = "FS", value_parser = finite)]
    pub barostat: Option<f64>,
    /// What the cell may do at constant pressure
    #[arg(long, value_name = "HOW", value_parser = ["isotropic", "full"])]
    pub cell: Option<String>,
    /// Of the random numbers
    #[arg(long, value_name = "N")]
    pub seed: Option<i64>,
    /// Steps from one frame to the next; averages are over frames
    #[arg(long, value_name = "N")]
    pub write_every: Option<i64>,
    /// How far an atom is from its images at least, in Å; 0 takes the cell as it is
    #[arg(long, value_name = "ANGSTROM", value_parser = finite)]
    pub edge: Option<f64>,
}

pub(in crate::cli::workflows) fn start(session: &Session, args: &MdArgs) -> Outcome {
    let mut options = Given::default();
    options.text("ensemble", args.ensemble.as_ref());
    options.put("steps", args.steps.map(Value::from));
    options.put("timestep_fs", args.timestep.map(Value::from));
    options.put("temperature_k", args.temperature.map(Value::from));
    options.put("thermostat_fs", args.thermostat.map(Value::from));
    options.put("pressure_gpa", args.pressure.map(Value::from));
    options.put("barostat_fs", args.barostat.map(Value::from));
    options.text("cell", args.cell.as_ref());
    options.put("seed", args.seed.map(Value::from));
    options.put("write_every", args.write_every.map(Value::from));
    options.put("edge_angstrom", args.edge.map(Value::from));
    create(session, "workflows.create_md", &args.create, options)
}
