//! `crystalmath read`: judge an output, without a job.

use std::io::Read as _;
use std::path::PathBuf;

use super::output::{Failure, Outcome};
use super::params;
use super::results::{self, Numbers, field};
use super::session::Session;
use super::text;
use crate::rpc::types::{ReadOutputParams, ReadOutputResult, calls};

/// The most that the daemon takes as text.
const MAX_TEXT_BYTES: u64 = 8 * 1024 * 1024;

/// Arguments of `read`.
#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// An output, or the directory that holds one; - reads it from stdin
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// Which code it is of; recognised when left out
    #[arg(long, value_name = "CODE")]
    pub code: Option<String>,
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    let mut asked = ReadOutputParams {
        code: args.code.clone(),
        ..ReadOutputParams::default()
    };
    let name = if args.path.as_os_str() == "-" {
        asked.text = Some(from_stdin()?);
        "stdin".to_owned()
    } else {
        let path = params::absolute_path(&args.path)?;
        asked.path = Some(path.clone());
        path
    };
    let answer = session.call::<calls::CodesReadOutput>(&asked)?;
    let found = &answer.read.data;
    session.print(&answer.raw, || render(found, &name, session.colour()))?;
    Ok(u8::from(!found.completed))
}

fn from_stdin() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    std::io::stdin()
        .take(MAX_TEXT_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::Io("cannot read stdin".into(), error))?;
    // Outputs may hold bytes of any encoding; what counts in them is ASCII.
    let text = String::from_utf8_lossy(&bytes).into_owned();
    if text.len() as u64 > MAX_TEXT_BYTES {
        return Err(Failure::usage(
            "the output on stdin is larger than 8 MiB",
            "write it to a file and give its path",
        ));
    }
    Ok(text)
}

fn render(found: &ReadOutputResult, name: &str, colour: bool) -> String {
    let state = if found.completed {
        "COMPLETED"
    } else {
        "FAILED"
    };
    let reason = found.reason.as_ref().map(|reason| format!(" ({reason})"));
    let verdict = text::paint(state, text::state_colour(state), colour);
    let mut lines = vec![format!(
        "{} {}: {verdict}{}",
        found.code,
        found.task,
        reason.unwrap_or_default()
    )];
    lines.extend(results::words(
        found.message.as_ref(),
        found.hint.as_ref(),
        None,
    ));
    lines.extend(results::numbers(&Numbers::of_output(found)));
    lines.extend(results::program(&found.results, None));
    lines.push(field("from", name));
    lines.extend(
        found
            .warnings
            .iter()
            .map(|warning| field("warning", warning)),
    );
    lines.join("\n")
}
