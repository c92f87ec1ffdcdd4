//! `crystalmath` without a command: what the daemon does, the newest jobs, and where help is.

use serde_json::Value;

use super::jobs;
use super::output::{Failure, Outcome};
use super::session::Session;
use super::text;
use crate::rpc::types::{ListParams, NoParams, StatusResult, calls};

const NEWEST: i64 = 15;

pub(super) fn run(session: &Session) -> Outcome {
    let (raw, text) = ask(session, session.colour())?;
    session.print(&raw, || text)?;
    Ok(0)
}

/// What there is to tell: for scripts, and for people.
pub(super) fn ask(session: &Session, colour: bool) -> Result<(Value, String), Failure> {
    let status = session.call::<calls::SystemStatus>(&NoParams {})?;
    let list = session.call::<calls::JobsList>(&ListParams {
        limit: Some(NEWEST),
        ..ListParams::default()
    })?;
    let raw = serde_json::json!({
        "status": "ok",
        "data": {"daemon": status.raw["data"], "jobs": list.raw["data"]},
    });
    let text = format!(
        "{}\n\n{}\n\nsubmit a calculation:  crystalmath submit FILE --task TASK\nall commands:          \
         crystalmath --help",
        daemon(&status.read.data),
        jobs::render(&list.read.data, list.read.meta.total, colour),
    );
    Ok((raw, text))
}

fn daemon(status: &StatusResult) -> String {
    let counts: Vec<String> = status
        .jobs
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(state, count)| format!("{count} {state}"))
        .collect();
    format!(
        "crystalmath-server {} is {}, for {} (pid {}, {:.0} MiB)\nsocket  {}\ndata    {}\njobs    {}",
        status.version,
        status.state,
        text::duration(status.uptime_s),
        status.pid,
        status.rss_mib,
        status.socket,
        status.data_dir,
        if counts.is_empty() {
            "none".to_owned()
        } else {
            counts.join(", ")
        },
    )
}
