//! `crystalmath continue`: go on where a job stopped, as a new job, and say what is different.

use serde_json::Value;

use super::changes::ChangeArgs;
use super::output::Outcome;
use super::results::field;
use super::session::Session;
use super::submit;
use super::text;
use super::wait::{self, WaitArgs};
use crate::error::IpcError;
use crate::rpc::fit;
use crate::rpc::types::{ContinueResult, FileChange, Reply};

const METHOD: &str = "jobs.continue";
/// Lines of the difference that are shown.
const LINES: usize = 30;

/// Arguments of `continue`.
#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// Number of the job that did not complete
    pub id: i64,
    /// What differs beside the proposed fix.
    #[command(flatten)]
    pub changes: ChangeArgs,
    /// Show the fix, the files and the program, and store nothing
    #[arg(long, conflicts_with = "wait")]
    pub dry_run: bool,
    /// Whether to wait for the job.
    #[command(flatten)]
    pub wait: WaitArgs,
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    let mut params = args.changes.params(args.id);
    if args.dry_run {
        params["dry_run"] = Value::Bool(true);
    }
    let raw = session.ask(METHOD, params)?;
    let reply: Reply<ContinueResult> = fit(METHOD, &raw)?;
    let found = reply.data;
    let mut said = Vec::new();
    if let Some(job) = &found.job {
        let verb = format!("continues job {}", args.id);
        said.push(submit::accepted(job, &verb, found.repeated));
    }
    said.push(field("fix", &found.fix));
    said.extend(differences(&found.changes, session.colour()));
    match (&found.job, &found.dry_run) {
        (Some(job), _) => wait::follow(session, &raw, job.id, &said.join("\n"), &args.wait),
        (None, Some(dry_run)) => {
            said.push(String::new());
            said.push(submit::dry_run(dry_run));
            session.print(&raw, || said.join("\n"))?;
            Ok(0)
        }
        (None, None) => Err(IpcError::Protocol(format!("{METHOD} names no job")).into()),
    }
}

/// The difference to the failed input, file by file, as far as a person reads it.
fn differences(changes: &[FileChange], colour: bool) -> Vec<String> {
    let mut lines = Vec::new();
    let mut file = "";
    let mut left = LINES;
    let mut more = 0;
    for change in changes {
        if change.file != file && left > 0 {
            file = &change.file;
            lines.push(field("changes", file));
        }
        let sides = [
            (&change.before, '-', "\x1b[31m"),
            (&change.after, '+', "\x1b[32m"),
        ];
        for (text, sign, tint) in sides {
            let shown = text.lines().take(left);
            let before = lines.len();
            lines.extend(shown.map(|line| text::paint(&format!("{sign} {line}"), tint, colour)));
            left -= lines.len() - before;
            more += text.lines().count() - (lines.len() - before);
        }
    }
    if more > 0 {
        lines.push(format!("… and {more} more lines; with --json all of them"));
    }
    lines
}
