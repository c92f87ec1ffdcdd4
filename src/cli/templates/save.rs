//! Saving a template of the user's own.

use std::path::PathBuf;

use super::list::{self, Which};
use super::values::values;
use crate::cli::output::{Failure, Outcome};
use crate::cli::params::key_text;
use crate::cli::session::Session;
use crate::cli::wording::Commands;
use crate::rpc::types::{SaveTemplateParams, calls};

/// Arguments of `save`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Its name; folder/name makes the folder
    #[arg(value_name = "NAME")]
    pub name: String,
    /// The file: front matter and text
    #[arg(value_name = "FILE", required_unless_present = "from")]
    pub file: Option<PathBuf>,
    /// Take over this template, with other defaults
    #[arg(long, value_name = "TEMPLATE", conflicts_with = "file")]
    pub from: Option<String>,
    /// A new default; repeat for more
    #[arg(long = "param", value_name = "KEY=VALUE", value_parser = key_text, requires = "from")]
    pub params: Vec<(String, String)>,
    /// Its title
    #[arg(long, value_name = "TEXT", requires = "from")]
    pub title: Option<String>,
    /// Which one to take over, where one of yours has the name of one of the program
    #[command(flatten)]
    pub which: Which,
    /// Replace a template of yours
    #[arg(long)]
    pub replace: bool,
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    let mut asked = SaveTemplateParams {
        id: args.name.clone(),
        replace: args.replace.then_some(true),
        ..SaveTemplateParams::default()
    };
    match (&args.from, &args.file) {
        (Some(from), _) => {
            let origin = args.which.origin();
            let template = list::get(session, from, origin.clone())?.read.data.template;
            asked.source = Some(from.clone());
            asked.parameters = Some(values(&template, None, &args.params)?);
            asked.title.clone_from(&args.title);
            asked.origin = origin;
        }
        (None, Some(file)) => {
            let text = std::fs::read_to_string(file)
                .map_err(|error| Failure::Io(format!("cannot read {}", file.display()), error))?;
            asked.text = Some(text);
        }
        (None, None) => {
            return Err(Failure::usage(
                "nothing says what to save",
                "give a file, or --from TEMPLATE",
            ));
        }
    }
    let answer = session.call::<calls::TemplatesSave>(&asked)?;
    let made = &answer.read.data;
    session.print(&answer.raw, || {
        let verb = if made.replaced { "replaced" } else { "saved" };
        format!("{} {verb}: {}", made.template.id, made.path)
    })?;
    session.warn(Commands::Templates, &made.warnings);
    Ok(0)
}
