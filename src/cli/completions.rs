//! `crystalmath completions`: the completions of a shell, from the same definitions as the help.

use clap_complete::Shell;

use super::output::{self, Outcome};

/// Arguments of `completions`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell
    pub shell: Shell,
}

pub(super) fn run(args: &Args, mut command: clap::Command) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "crystalmath", &mut script);
    output::text(&String::from_utf8_lossy(&script))?;
    Ok(0)
}
