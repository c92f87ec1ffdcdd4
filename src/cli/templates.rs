//! `crystalmath templates`: texts with places to fill in, of the program and of the user.

mod list;
mod render;
mod save;
pub(super) mod values;

use std::path::Path;

use super::output::{Failure, Outcome};
use super::session::Session;
use super::wording::Commands;
use crate::rpc::types::TemplateRow;
use crate::submission::{Doubt, Kind, kind_of};

/// Arguments of `templates`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to do; the templates are listed when left out.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What can be done with templates.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// List the templates, your own ones among them
    List(list::Args),
    /// Tell what a template is for, and what it is filled in with
    Show(list::OneArgs),
    /// Fill in a template, and print or write the files that it gives
    Render(render::Args),
    /// Save a template of your own: a file, or another one with other defaults
    Save(save::Args),
}

/// The template that a submission names.
///
/// # Errors
/// There is none, or the daemon does not answer.
pub(super) fn get(session: &Session, name: &str) -> Result<TemplateRow, Failure> {
    Ok(list::get(session, name, None)?.read.data.template)
}

/// Whether a file that is given fills in the structure of a template.
pub(super) fn is_structure(path: &Path) -> bool {
    let kept = path.to_str().is_some_and(|text| text.starts_with("local:"));
    kept || matches!(
        kind_of(path),
        Kind::Structure | Kind::Either(Doubt::NamedStructure)
    )
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    let all = Command::List(list::Args::default());
    let outcome = match args.command.as_ref().unwrap_or(&all) {
        Command::List(args) => list::run(session, args),
        Command::Show(args) => list::show(session, args),
        Command::Render(args) => render::run(session, args),
        Command::Save(args) => save::run(session, args),
    };
    outcome.map_err(|failure| failure.of(Commands::Templates))
}
