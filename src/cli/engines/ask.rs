//! Asking before something large is fetched.

use std::io::IsTerminal as _;

use super::size;
use crate::cli::output::Failure;
use crate::cli::question;

/// Whether the user agrees beforehand.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub struct Agreement {
    /// Install what is missing without asking
    #[arg(long, short = 'y')]
    pub yes: bool,
}

impl Agreement {
    /// Agree that an engine is installed: by the flag, or by an answer on the terminal.
    pub(in crate::cli) fn obtain(
        self,
        engine: &str,
        bytes: Option<i64>,
        json: bool,
    ) -> Result<(), Failure> {
        if self.yes {
            return Ok(());
        }
        let much = match bytes {
            None => "an unknown amount of data".to_owned(),
            Some(_) => format!("about {}", size(bytes)),
        };
        if json || !std::io::stdin().is_terminal() {
            return Err(Failure::usage(
                format!("the engine {engine} is not installed; {much} would be fetched"),
                format!("agree with --yes, or first: crystalmath engines install {engine} --yes"),
            ));
        }
        let asked =
            format!("The engine {engine} is not installed; {much} would be fetched. Install it?");
        if question::ask(&asked)? {
            return Ok(());
        }
        Err(Failure::usage(
            format!("the engine {engine} was not installed"),
            format!("later: crystalmath engines install {engine}"),
        ))
    }
}
