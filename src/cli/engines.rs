//! `crystalmath engines`: force engines, their environments, models and workers.

mod ask;
mod doctor;
mod evaluate;
mod gc;
pub(super) mod install;
mod list;
mod relax;
mod serve;
mod workers;

use std::path::PathBuf;

use serde_json::Value;

use super::output::{Failure, Outcome};
use super::params::{Given, key_value};
use super::session::Session;
pub(super) use ask::Agreement;

/// Arguments of `engines`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to do; the engines are listed when left out.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What can be done with engines.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// List the engines, and which of them can be used now
    List,
    /// Build the environment of an engine, and fetch models
    Install(install::Args),
    /// List the models of an engine
    Models(list::ModelsArgs),
    /// List the environments on the disk, with their sizes
    Environments,
    /// Compute energies and forces of structures, without a job
    Evaluate(evaluate::Args),
    /// Relax a structure, as a job
    Relax(relax::Args),
    /// List the workers that have a model loaded, and how the last ones ended
    Workers,
    /// Tell what all workers do together, and what is allowed
    Status,
    /// Stop a worker or an installation
    Stop(workers::StopArgs),
    /// Check an engine against itself: forces and stress by differences, symmetry, refusals
    Doctor(doctor::Args),
    /// Name what nothing needs any more; --yes removes it
    Gc(gc::Args),
    /// Let a foreign i-PI server drive an engine
    Serve(serve::Args),
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    dispatch(session, args).map_err(|failure| match failure {
        Failure::Ipc(error) => Failure::Engines(error),
        other => other,
    })
}

fn dispatch(session: &Session, args: &Args) -> Outcome {
    match args.command.as_ref().unwrap_or(&Command::List) {
        Command::List => list::run(session),
        Command::Install(args) => install::run(session, args),
        Command::Models(args) => list::models(session, args),
        Command::Environments => list::environments(session),
        Command::Evaluate(args) => evaluate::run(session, args),
        Command::Relax(args) => relax::run(session, args),
        Command::Workers => workers::run(session),
        Command::Status => workers::status(session),
        Command::Stop(args) => workers::stop(session, args),
        Command::Doctor(args) => doctor::run(session, args),
        Command::Gc(args) => gc::run(session, args),
        Command::Serve(args) => serve::run(session, args),
    }
}

/// Which model of an engine is meant, and where it is to run.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ModelArgs {
    /// Name of the model, or a file of weights; the engine's default when left out
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Precision; that of the model when left out
    #[arg(long, value_name = "TYPE", value_parser = ["float32", "float64"])]
    pub dtype: Option<String>,
    /// Where to compute
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<String>,
    /// An option of the engine, as JSON or text; repeat for more
    #[arg(long = "option", value_name = "KEY=VALUE", value_parser = key_value)]
    pub options: Vec<(String, Value)>,
}

impl ModelArgs {
    /// Add what was given to the params.
    fn fill(&self, given: &mut Given) -> Result<(), Failure> {
        given.put("model", self.model()?.map(Value::from));
        given.text("dtype", self.dtype.as_ref());
        given.text("device", self.device.as_ref());
        let options: serde_json::Map<String, Value> = self.options.iter().cloned().collect();
        given.put(
            "options",
            (!options.is_empty()).then_some(Value::Object(options)),
        );
        Ok(())
    }

    fn model(&self) -> Result<Option<String>, Failure> {
        self.model.as_deref().map(model_name).transpose()
    }
}

/// A model as the daemon knows it: a file that is there by its absolute path, else a name.
pub(super) fn model_name(model: &str) -> Result<String, Failure> {
    let path = PathBuf::from(model);
    if path.is_file() || model.contains('/') {
        return super::params::absolute_file(&path);
    }
    Ok(model.to_owned())
}

/// Bytes as people read them; `?` where nobody knows.
fn size(bytes: Option<i64>) -> String {
    bytes
        .and_then(|bytes| u64::try_from(bytes).ok())
        .map_or_else(|| "?".to_owned(), crate::widgets::text::bytes)
}
