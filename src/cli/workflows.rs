//! `crystalmath workflows`: several calculations that lead to one result, with its numbers.

mod available;
mod create;
mod export;
mod kinds;
mod list;
mod plot;
mod show;
mod wait;

use super::output::Outcome;
use super::session::Session;
use super::wait::WaitArgs;
use super::wording::Commands;
use crate::rpc::fit;
use crate::rpc::types::{Reply, WorkflowResult};
use serde_json::{Value, json};

/// Arguments of `workflows`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to do; the workflows are listed when left out.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What can be done with workflows.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// List workflows, the newest first
    List(list::Args),
    /// Tell which kinds there are, what each can use here, and why others cannot be used
    Available,
    /// Relax atoms and cell, and compare the symmetry before and after
    Relax(Box<kinds::relax::RelaxArgs>),
    /// Compute an equation of state: equilibrium volume, bulk modulus and its derivative
    Eos(Box<kinds::eos::EosArgs>),
    /// Find how fine a cutoff, a mesh of k points, a smearing or a supercell must be
    Convergence(Box<kinds::convergence::ConvergenceArgs>),
    /// Move atoms in time, and average temperature, energy and pressure after the start
    Md(Box<kinds::md::MdArgs>),
    /// Compute phonons: bands, density of states, thermodynamic functions
    Phonon(Box<kinds::phonon::PhononArgs>),
    /// Compute elastic constants, Born stability and the moduli of a polycrystal
    Elastic(Box<kinds::elastic::ElasticArgs>),
    /// Compute bands along the path of the lattice, the gap, and the density of states
    Bands(Box<kinds::bands::BandsArgs>),
    /// Tell everything about one workflow: its steps, and its results when it is done
    Show(OneArgs),
    /// Draw a plot of the results in the terminal, or as a picture
    Plot(plot::Args),
    /// Give the results as files for other programs: JSON, CSV, phonopy, pymatgen
    Export(export::Args),
    /// End a workflow, with the jobs of it that run
    Cancel(OneArgs),
    /// Go on with a workflow that waits or was cancelled; what it has computed is kept
    Resume(GoOnArgs),
    /// Run one step again that did not complete
    Retry(RetryArgs),
}

/// Which workflow.
#[derive(Debug, clap::Args)]
pub struct OneArgs {
    /// Number of the workflow
    pub id: i64,
}

/// Which workflow goes on.
#[derive(Debug, clap::Args)]
pub struct GoOnArgs {
    /// Number of the workflow
    pub id: i64,
    /// Whether to wait for it.
    #[command(flatten)]
    pub wait: WaitArgs,
}

/// Which step is run again.
#[derive(Debug, clap::Args)]
pub struct RetryArgs {
    /// Number of the workflow
    pub id: i64,
    /// Name of the step
    #[arg(value_name = "STEP")]
    pub step: String,
    /// Whether to wait for the workflow.
    #[command(flatten)]
    pub wait: WaitArgs,
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    let commands = match args.command {
        Some(Command::Bands(_)) => Commands::Bands,
        _ => Commands::Workflows,
    };
    dispatch(session, args).map_err(|failure| failure.of(commands))
}

fn dispatch(session: &Session, args: &Args) -> Outcome {
    match &args.command {
        None => list::run(session, &list::Args::default()),
        Some(Command::List(args)) => list::run(session, args),
        Some(Command::Available) => available::run(session),
        Some(Command::Relax(args)) => kinds::relax::start(session, args),
        Some(Command::Eos(args)) => kinds::eos::start(session, args),
        Some(Command::Convergence(args)) => kinds::convergence::start(session, args),
        Some(Command::Md(args)) => kinds::md::start(session, args),
        Some(Command::Phonon(args)) => kinds::phonon::start(session, args),
        Some(Command::Elastic(args)) => kinds::elastic::start(session, args),
        Some(Command::Bands(args)) => kinds::bands::start(session, args),
        Some(Command::Show(args)) => show::run(session, args.id),
        Some(Command::Plot(args)) => plot::run(session, args),
        Some(Command::Export(args)) => export::run(session, args),
        Some(Command::Cancel(args)) => {
            let said = |state: &str| match state {
                "RUNNING" => "is being cancelled".to_owned(),
                state => format!("is {state}"),
            };
            change(
                session,
                "workflows.cancel",
                &json!({"id": args.id}),
                said,
                None,
            )
        }
        Some(Command::Resume(args)) => {
            let params = json!({"id": args.id});
            change(
                session,
                "workflows.resume",
                &params,
                goes_on,
                Some(&args.wait),
            )
        }
        Some(Command::Retry(args)) => {
            let params = json!({"id": args.id, "step": args.step});
            change(
                session,
                "workflows.retry",
                &params,
                goes_on,
                Some(&args.wait),
            )
        }
    }
}

fn goes_on(_state: &str) -> String {
    "goes on".to_owned()
}

/// Ask for a change of a workflow, say what became of it, and wait if that is wanted.
fn change(
    session: &Session,
    method: &str,
    params: &Value,
    said: impl Fn(&str) -> String,
    wait: Option<&WaitArgs>,
) -> Outcome {
    let raw = session.ask(method, params.clone())?;
    let reply: Reply<WorkflowResult> = fit(method, &raw)?;
    let workflow = &reply.data.workflow;
    let said = format!("workflow {} {}", workflow.id, said(workflow.state.as_str()));
    wait::follow(session, &raw, workflow.id, &said, wait)
}
