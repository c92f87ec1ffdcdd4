//! `crystalmath completions`: the completions of a shell, from the same definitions as the help.

use clap_complete::Shell;
use serde_json::json;

use super::output::{self, Outcome};
use super::session::Session;

/// Arguments of `completions`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell
    pub shell: Shell,
}

pub(super) fn run(session: &Session, args: &Args, mut command: clap::Command) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "crystalmath", &mut script);
    let script = String::from_utf8_lossy(&script);
    if session.globals.json {
        let data = json!({"shell": args.shell.to_string(), "script": script});
        output::document(&json!({"status": "ok", "data": data}))?;
    } else {
        output::text(&script)?;
    }
    Ok(0)
}
