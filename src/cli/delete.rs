//! `crystalmath delete`: remove ended jobs from the list.

use super::cancel::report;
use super::output::Outcome;
use super::session::Session;
use crate::rpc::types::{DeleteParams, calls};

/// Arguments of `delete`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Numbers of the jobs
    #[arg(required = true)]
    pub ids: Vec<i64>,
    /// Remove their directories as well
    #[arg(long)]
    pub files: bool,
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    let answer = session.call::<calls::JobsDelete>(&DeleteParams {
        ids: args.ids.clone(),
        files: Some(args.files),
    })?;
    report(session, &answer.raw, &answer.read.data)
}
