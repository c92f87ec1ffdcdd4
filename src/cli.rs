//! The command line: what a user or a script can ask for, one file per command.
//!
//! Each command turns its arguments into params, calls the daemon and prints the answer; it decides
//! nothing about calculations. With `--json` a command writes exactly one JSON document to stdout:
//! the daemon's `result` object, `{"status": "ok", "data": …}` of the same shape where no daemon is
//! asked, or `{"error": …}`.

mod adopt;
mod call;
mod cancel;
mod cat;
mod changes;
mod clusters;
mod code_inputs;
mod codes;
mod completions;
mod continuation;
mod convert;
mod d12;
mod d3;
mod delete;
mod doctor;
mod engines;
mod files;
mod import;
mod inputs;
mod inspect;
mod jobs;
mod lint;
mod log;
mod man;
mod news;
mod output;
mod overview;
mod params;
mod plain;
mod question;
mod queue;
mod read;
mod rerun;
mod results;
mod search;
mod session;
mod show;
mod submit;
mod table;
mod templates;
mod text;
mod ui;
mod usage;
mod wait;
mod watch;
mod wording;
mod workflows;
mod writing;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

pub use crate::submission::{Kind, kind_of};
pub use output::{Failure, INTERRUPTED, Outcome, USAGE};
use session::Session;

/// Terminal workbench for crystallographic calculations.
///
/// Without a command: the terminal UI, or on no terminal what the daemon does now and the newest jobs.
#[derive(Debug, Parser)]
#[command(name = "crystalmath", version, max_term_width = 100)]
pub struct Cli {
    /// Options of every command.
    #[command(flatten)]
    pub globals: Globals,
    /// Options of the terminal UI.
    #[command(flatten)]
    pub ui: ui::Args,
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Options of every command.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Globals {
    /// Write one JSON document to stdout and nothing else
    #[arg(long, global = true)]
    pub json: bool,
    /// Use the daemon at this socket
    #[arg(long, global = true, value_name = "PATH")]
    pub socket: Option<PathBuf>,
    /// Do not start a daemon if none runs
    #[arg(long, global = true)]
    pub no_start: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Submit a calculation
    Submit(Box<submit::Args>),
    /// List jobs
    Jobs(jobs::Args),
    /// Tell everything about one job
    Show(show::Args),
    /// Print a job's output
    Log(log::Args),
    /// Tell every change of jobs until they end
    Watch(watch::Args),
    /// End jobs, with everything they started
    Cancel(cancel::Args),
    /// Submit a job again, from the same input
    Rerun(rerun::Args),
    /// Go on where a job stopped that did not complete, with what failed set right
    Continue(continuation::Args),
    /// Take in a finished calculation that was run by hand, or keep a structure
    Import(import::Args),
    /// Judge an output and print its results, without a job
    Read(read::Args),
    /// Look for structures, here and in databases
    Search(Box<search::Args>),
    /// Tell what a structure is: cell, symmetry, sites, neighbours
    Inspect(inspect::Args),
    /// Write a structure in another format
    Convert(convert::Args),
    /// Write a CRYSTAL deck for a structure
    D12(Box<d12::Args>),
    /// Write a deck of properties: bands, density of states
    D3(Box<d3::Args>),
    /// Write the input files of a code for a structure
    Inputs(Box<inputs::Args>),
    /// Find what is wrong with an input of a code
    Lint(lint::Args),
    /// Inputs and job scripts with places to fill in: list, fill in, save your own
    Templates(Box<templates::Args>),
    /// Remove ended jobs from the list
    Delete(delete::Args),
    /// List the files of a job
    Files(files::Args),
    /// Print a file of a job
    Cat(cat::Args),
    /// Call any method of the daemon
    Call(call::Args),
    /// Look for what is wrong with this installation
    Doctor,
    /// List the codes and what each can do here
    Codes(codes::Args),
    /// Force engines: install, evaluate, workers, checks
    Engines(Box<engines::Args>),
    /// Several calculations that lead to one result: relaxation, equation of state
    Workflows(workflows::Args),
    /// Machines that jobs can be sent to: describe, try, change
    Clusters(Box<clusters::Args>),
    /// List the jobs of a cluster as its scheduler sees them
    Queue(queue::Args),
    /// Follow a job that was submitted to a cluster by hand
    Adopt(adopt::Args),
    /// Print the completions of a shell
    Completions(completions::Args),
    /// Write the manual pages into a directory
    Man(man::Args),
}

/// Run the program with the arguments of this process.
#[must_use]
pub fn main() -> ExitCode {
    run(&std::env::args_os().collect::<Vec<_>>())
}

fn run(arguments: &[OsString]) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return usage::answer(&error, arguments),
    };
    let session = Session::new(cli.globals);
    let outcome = match cli.command {
        None => ui::run(&session, &cli.ui),
        Some(command) => dispatch(&session, command),
    };
    match outcome {
        Ok(code) => ExitCode::from(code),
        Err(failure) => session.report(&failure),
    }
}

fn dispatch(session: &Session, command: Command) -> Outcome {
    match command {
        Command::Submit(args) => submit::run(session, &args),
        Command::Jobs(args) => jobs::run(session, &args),
        Command::Show(args) => show::run(session, &args),
        Command::Log(args) => log::run(session, &args),
        Command::Watch(args) => watch::run(session, &args),
        Command::Cancel(args) => cancel::run(session, &args),
        Command::Rerun(args) => rerun::run(session, &args),
        Command::Continue(args) => continuation::run(session, &args),
        Command::Import(args) => import::run(session, &args),
        Command::Read(args) => read::run(session, &args),
        Command::Search(args) => search::run(session, &args),
        Command::Inspect(args) => inspect::run(session, &args),
        Command::Convert(args) => convert::run(session, &args),
        Command::D12(args) => d12::run(session, &args),
        Command::D3(args) => d3::run(session, &args),
        Command::Inputs(args) => inputs::run(session, &args),
        Command::Lint(args) => lint::run(session, &args),
        Command::Templates(args) => templates::run(session, &args),
        Command::Delete(args) => delete::run(session, &args),
        Command::Files(args) => files::run(session, &args),
        Command::Cat(args) => cat::run(session, &args),
        Command::Call(args) => call::run(session, &args),
        Command::Doctor => doctor::run(session),
        Command::Codes(args) => codes::run(session, &args),
        Command::Engines(args) => engines::run(session, &args),
        Command::Workflows(args) => workflows::run(session, &args),
        Command::Clusters(args) => clusters::run(session, &args),
        Command::Queue(args) => queue::run(session, &args),
        Command::Adopt(args) => adopt::run(session, &args),
        Command::Completions(args) => completions::run(session, &args, Cli::command()),
        Command::Man(args) => man::run(session, &args, Cli::command()),
    }
}
