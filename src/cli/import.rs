//! `crystalmath import`: take in a finished calculation that somebody ran by hand.

use std::path::PathBuf;

use super::output::Outcome;
use super::params;
use super::session::Session;
use super::submit;
use super::wait::{self, WaitArgs};
use crate::rpc::types::{ImportParams, calls};

/// Arguments of `import`.
#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// Directory of the calculation, or its main output
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// Which code it is of; recognised when left out
    #[arg(long, value_name = "CODE")]
    pub code: Option<String>,
    /// Name of the job; that of the directory or the file when left out
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Whether to wait for the verdict.
    #[command(flatten)]
    pub wait: WaitArgs,
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    let answer = session.call::<calls::JobsImportResults>(&ImportParams {
        path: params::absolute_path(&args.path)?,
        code: args.code.clone(),
        name: args.name.clone(),
        client_token: Some(params::client_token()),
    })?;
    let found = &answer.read.data;
    let said = submit::accepted(&found.job, "imported", found.repeated);
    wait::follow(session, &answer.raw, found.job.id, &said, &args.wait)
}
