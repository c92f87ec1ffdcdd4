//! `crystalmath cat`: the text of one file of a job.

use super::output::{self, Outcome};
use super::session::Session;
use crate::rpc::types::{LogResult, ReadFileParams, calls};

const PAGE_BYTES: i64 = 256 * 1024;

/// Arguments of `cat`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Number of the job
    pub id: i64,
    /// The file, relative to the job's directory
    pub path: String,
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    let mut params = ReadFileParams {
        id: args.id,
        path: args.path.clone(),
        offset: Some(0),
        limit: Some(PAGE_BYTES),
    };
    let mut text = String::new();
    loop {
        let mut answer = session.call::<calls::JobsReadFile>(&params)?;
        let page: LogResult = answer.read.data;
        let done = page.offset >= page.size || page.offset <= page.start;
        if session.globals.json {
            text.push_str(&page.text);
        } else {
            output::text(&page.text)?;
        }
        if done {
            if session.globals.json {
                answer.raw["data"]["text"] = text.into();
                answer.raw["data"]["start"] = 0.into();
                output::document(&answer.raw)?;
            }
            return Ok(0);
        }
        params.offset = Some(page.offset);
    }
}
