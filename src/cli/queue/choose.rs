//! Which cluster is meant when none is named.

use crate::cli::output::Failure;
use crate::cli::session::Session;
use crate::rpc::types::{ClusterViewKind, NoParams, calls};

/// The only cluster that has a scheduler.
pub(super) fn only(session: &Session) -> Result<String, Failure> {
    let answer = session.call::<calls::ClustersList>(&NoParams {})?;
    let with_queue = answer.read.data.into_iter();
    let with_queue = with_queue.filter(|cluster| cluster.kind == ClusterViewKind::Slurm);
    let names: Vec<String> = with_queue.map(|cluster| cluster.name).collect();
    match &names[..] {
        [name] => Ok(name.clone()),
        [] => Err(Failure::usage(
            "no cluster with a scheduler is described",
            "describe one with: crystalmath clusters add --help",
        )),
        names => Err(Failure::usage(
            "which cluster?",
            format!("one of: {}", names.join(", ")),
        )),
    }
}
