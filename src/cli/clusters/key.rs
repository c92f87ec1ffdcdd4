//! `crystalmath clusters accept-host-key`: only somebody who has compared the fingerprint can say that
//! a host is the right one.

use serde_json::json;

use super::list::OneArgs;
use crate::cli::output::{Failure, Outcome};
use crate::cli::question;
use crate::cli::session::Session;
use crate::clusters;
use crate::rpc::types::calls;

/// Arguments of `clusters accept-host-key`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which cluster.
    #[command(flatten)]
    pub one: OneArgs,
    /// The fingerprint that the site publishes, as SHA256:…; asked for when left out
    #[arg(long, value_name = "SHA256")]
    pub fingerprint: Option<String>,
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    let cluster = &args.one.cluster;
    let fingerprint = match &args.fingerprint {
        Some(fingerprint) => fingerprint.clone(),
        None => compared(session, &args.one)?,
    };
    let raw = session.ask(
        "clusters.accept_host_key",
        json!({"id": cluster, "fingerprint": fingerprint}),
    )?;
    session.print(&raw, || {
        format!("the key {fingerprint} of {cluster} is known now")
    })?;
    Ok(0)
}

/// The fingerprint that is offered now, once somebody has compared it.
fn compared(session: &Session, one: &OneArgs) -> Result<String, Failure> {
    let cluster = &one.cluster;
    if !question::can_be_asked(session) {
        return Err(Failure::usage(
            "whether the key is the right one can be asked on a terminal only",
            "give the fingerprint that the site publishes: --fingerprint SHA256:…; the one that is \
             offered is shown by: crystalmath clusters test",
        ));
    }
    let answer = session.call::<calls::ClustersTest>(&one.params())?;
    let report = &answer.read.data;
    let Some((kind, fingerprint)) = clusters::unknown_key(report) else {
        let known = report.host_key.as_ref().is_some_and(|key| key.known);
        let message = if known {
            format!("the key of {cluster} is known already")
        } else {
            format!("{cluster} offers no key")
        };
        let hint = format!("what works and what does not: crystalmath clusters test {cluster}");
        return Err(Failure::usage(message, hint));
    };
    let asked = format!(
        "{cluster} shows the {kind} key\n  {fingerprint}\nIs this what the site publishes?"
    );
    if question::ask(&asked)? {
        return Ok(fingerprint);
    }
    Err(Failure::usage(
        "the key was not accepted",
        "ask the site for its fingerprints",
    ))
}
