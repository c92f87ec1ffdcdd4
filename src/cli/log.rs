//! `crystalmath log`: a job's output, whole, its end, or as it grows.

use std::thread;
use std::time::Duration;

use super::news::{News, Told};
use super::output::{self, Failure, Outcome};
use super::session::Session;
use super::text;
use crate::rpc::types::{LogParams, LogResult, LogStream, calls};

const PAGE_BYTES: i64 = 256 * 1024;
/// Between two looks, where the daemon has no events.
const FOLLOW_EVERY: Duration = Duration::from_millis(500);
/// Nothing has to be done meanwhile: an interrupt ends the program.
const PATIENCE: Duration = Duration::from_secs(3600);

/// Arguments of `log`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Number of the job
    pub id: i64,
    /// Go on until the job has ended
    #[arg(short, long)]
    pub follow: bool,
    /// Which output: output (the program's main output file), stdout, stderr or scheduler
    #[arg(long, value_name = "STREAM", default_value = "output",
          value_parser = ["output", "stdout", "stderr", "scheduler"])]
    pub stream: String,
    /// Which task, for a job array
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(0..))]
    pub task: Option<i64>,
    /// Only the last N lines
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(0..=100_000))]
    pub tail: Option<i64>,
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    let first = LogParams {
        id: args.id,
        stream: Some(LogStream::from(args.stream.as_str())),
        offset: args.tail.is_none().then_some(0),
        limit: Some(PAGE_BYTES),
        task: args.task,
        tail: args.tail,
    };
    if session.globals.json {
        if args.follow {
            return Err(Failure::usage(
                "one JSON document cannot follow a log",
                "leave out --follow or --json",
            ));
        }
        return whole_document(session, first);
    }
    let mut params = first;
    let mut news = follow(session, args)?;
    loop {
        let page = session.call::<calls::JobsLog>(&params)?.read.data;
        output::text(&page.text)?;
        if page.eof || (!args.follow && complete(&page)) {
            return Ok(0);
        }
        if page.offset >= page.size && !grown(news.as_ref(), &args.stream, page.offset) {
            news = None;
            thread::sleep(FOLLOW_EVERY);
        }
        params.tail = None;
        params.offset = Some(page.offset);
    }
}

/// Events that tell when there is more to read, where the daemon has them.
fn follow(session: &Session, args: &Args) -> Result<Option<News>, Failure> {
    // Events tell of the logs of whole jobs alone.
    if !args.follow || args.task.is_some() {
        return Ok(None);
    }
    let topics = [format!("log:{}", args.id), format!("job:{}", args.id)];
    Ok(News::of(session.client()?, &[&topics[0], &topics[1]]))
}

/// Wait until there is more to read, or the job has ended; false when nothing tells.
fn grown(news: Option<&News>, stream: &str, offset: i64) -> bool {
    let Some(news) = news else { return false };
    loop {
        match news.next(PATIENCE) {
            Told::Log(log) if log.stream.as_str() == stream && log.size != offset => return true,
            Told::Job(job) if text::ended(job.state.as_str()) => return true,
            // A connection that is lost shows in the next call, as without events.
            Told::Removed(_) | Told::LookAgain | Told::Away => return true,
            Told::Log(_)
            | Told::Job(_)
            | Told::Install(_)
            | Told::Workflow(_)
            | Told::Cluster(_)
            | Told::Nothing => {}
            Told::Over => return false,
        }
    }
}

/// Nothing more was there when the page was read, or the page did not get further.
fn complete(page: &LogResult) -> bool {
    page.offset >= page.size || page.offset <= page.start
}

/// All pages as the one answer that a boundless page would have been.
fn whole_document(session: &Session, mut params: LogParams) -> Outcome {
    let mut text = String::new();
    let mut start = None;
    loop {
        let mut answer = session.call::<calls::JobsLog>(&params)?;
        let page = answer.read.data;
        text.push_str(&page.text);
        start.get_or_insert(page.start);
        if complete(&page) {
            answer.raw["data"]["text"] = text.into();
            answer.raw["data"]["start"] = start.into();
            output::document(&answer.raw)?;
            return Ok(0);
        }
        params.tail = None;
        params.offset = Some(page.offset);
    }
}
