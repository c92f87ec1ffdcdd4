//! `crystalmath man`: the manual pages, from the same definitions as the help.

use std::path::PathBuf;

use serde_json::json;

use super::output::{Failure, Outcome};
use super::session::Session;

/// Arguments of `man`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where the pages go; made if it is not there
    pub dir: PathBuf,
}

pub(super) fn run(session: &Session, args: &Args, command: clap::Command) -> Outcome {
    let failed = |error| Failure::Io(args.dir.display().to_string(), error);
    std::fs::create_dir_all(&args.dir).map_err(failed)?;
    clap_mangen::generate_to(command, &args.dir).map_err(failed)?;
    let raw = json!({"status": "ok", "data": {"directory": args.dir}});
    session.print(&raw, || {
        format!("manual pages written to {}", args.dir.display())
    })?;
    Ok(0)
}
