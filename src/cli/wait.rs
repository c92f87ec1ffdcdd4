//! Waiting for a job, with one line about its progress on stderr. Used by everything
//! that makes a job.
//!
//! The job belongs to the daemon: an interrupt ends the waiting, never the job.

use std::io::{IsTerminal as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use signal_hook::consts::SIGINT;
use signal_hook::flag;

use super::news::{News, Told};
use super::output::{Failure, INTERRUPTED, Outcome};
use super::results;
use super::session::{Session, note};
use super::text;
use crate::error::{IpcError, Result};
use crate::rpc::fit;
use crate::rpc::types::{Job, JobSummary, Reply};

const FIRST_PAUSE: Duration = Duration::from_millis(200);
pub(super) const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// How often an interrupt is looked for.
pub(super) const TICK: Duration = Duration::from_millis(50);
/// How long the daemon may be away, e.g. while it is restarted.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// Options of everything that can wait for its job.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct WaitArgs {
    /// Wait until the job has ended, and print its result
    #[arg(long)]
    pub wait: bool,
    /// Wait at most so many seconds; the job goes on
    #[arg(long, value_name = "SECONDS", requires = "wait", value_parser = seconds)]
    pub timeout: Option<f64>,
}

fn seconds(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number <= 1e9 => Ok(number),
        _ => Err("give a positive number of seconds".into()),
    }
}

/// Say what became of a call that made job `id`, and wait for the job if that is wanted.
pub(super) fn follow(
    session: &Session,
    raw: &Value,
    id: i64,
    said: &str,
    args: &WaitArgs,
) -> Outcome {
    if args.wait {
        if !session.globals.json {
            note(said);
        }
        return run(session, id, args);
    }
    session.print(raw, || said.to_owned())?;
    Ok(0)
}

/// Wait for job `id` and print its result: 0 if it completed, 1 if not.
fn run(session: &Session, id: i64, args: &WaitArgs) -> Outcome {
    let mut watch = Watch::new(session, id, args)?;
    let ended = watch.until_ended();
    watch.line.clear();
    let (raw, job) = ended?;
    session.print(&raw, || results::render(&job, session.colour()))?;
    Ok(u8::from(job.state.as_str() != "COMPLETED"))
}

/// A flag that an interrupt sets; a second interrupt ends the program at once, whatever it waits
/// for.
pub(super) fn interrupt() -> std::result::Result<Arc<AtomicBool>, Failure> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let no_handler = |error| Failure::Io("cannot watch for an interrupt".into(), error);
    flag::register_conditional_shutdown(SIGINT, INTERRUPTED.into(), interrupted.clone())
        .map_err(no_handler)?;
    flag::register(SIGINT, interrupted.clone()).map_err(no_handler)?;
    Ok(interrupted)
}

struct Watch<'a> {
    session: &'a Session,
    id: i64,
    until: Option<Instant>,
    interrupted: Arc<AtomicBool>,
    line: Line,
}

impl<'a> Watch<'a> {
    fn new(session: &'a Session, id: i64, args: &WaitArgs) -> std::result::Result<Self, Failure> {
        Ok(Self {
            session,
            id,
            until: args
                .timeout
                .map(|seconds| Instant::now() + Duration::from_secs_f64(seconds)),
            interrupted: interrupt()?,
            line: Line::new(session.globals.json),
        })
    }

    fn until_ended(&mut self) -> std::result::Result<(Value, Job), Failure> {
        let mut pause = FIRST_PAUSE;
        // Before the first look, so that nothing happens in between.
        let mut news = News::of(self.session.client()?, &[&format!("job:{}", self.id)]);
        let mut heard = Instant::now();
        loop {
            match self.look() {
                Ok(Some((raw, job))) => {
                    heard = Instant::now();
                    if text::ended(job.state.as_str()) {
                        return Ok((raw, job));
                    }
                    self.line.show(&summary(&job));
                }
                Ok(None) => {}
                Err(error) if passes(&error) && heard.elapsed() < PATIENCE => {
                    self.line
                        .say(&format!("job {}: {error}; trying again", self.id));
                }
                Err(error) => return Err(error.into()),
            }
            if let Some(told) = &news
                && self.told(told)?
            {
                continue;
            }
            // Without a connection, or without events, asking again is all there is.
            news = news.filter(|told| !told.is_over());
            self.rest(pause)?;
            pause = pause.mul_f64(1.25).min(LONGEST_PAUSE);
        }
    }

    fn rest(&self, pause: Duration) -> std::result::Result<(), Failure> {
        let next = Instant::now() + pause;
        while Instant::now() < next {
            self.stop()?;
            std::thread::sleep(TICK);
        }
        self.stop()
    }

    /// Show what is told until the job has to be looked at; false when nothing will be told.
    fn told(&mut self, news: &News) -> std::result::Result<bool, Failure> {
        loop {
            self.stop()?;
            match news.next(TICK) {
                Told::Job(job) if job.id != self.id => {}
                Told::Job(job) if text::ended(job.state.as_str()) => return Ok(true),
                Told::Job(job) => self.line.show(&job),
                Told::Removed(_) | Told::LookAgain => return Ok(true),
                Told::Log(_)
                | Told::Install(_)
                | Told::Cluster(_)
                | Told::Workflow(_)
                | Told::Nothing => {}
                Told::Away | Told::Over => return Ok(false),
            }
        }
    }

    /// Ask for the job once; `None` when the waiting is to end before the answer is there.
    fn look(&self) -> Result<Option<(Value, Job)>> {
        let (answer, wait) = mpsc::sync_channel(1);
        let sent = Box::new(move |result| drop(answer.send(result)));
        self.session
            .client()?
            .send_with("jobs.get", json!({"id": self.id}), sent)?;
        let raw = loop {
            match wait.recv_timeout(TICK) {
                Ok(result) => break result?,
                Err(RecvTimeoutError::Timeout) if self.stop().is_err() => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(IpcError::Disconnected {
                        method: "jobs.get".into(),
                    });
                }
            }
        };
        let reply: Reply<Job> = fit("jobs.get", &raw)?;
        Ok(Some((raw, reply.data)))
    }

    fn stop(&self) -> std::result::Result<(), Failure> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Err(Failure::Unfinished {
                kind: "interrupted",
                what: "job",
                id: self.id,
                exit: INTERRUPTED,
            });
        }
        if self.until.is_some_and(|until| Instant::now() >= until) {
            return Err(Failure::Unfinished {
                kind: "timeout",
                what: "job",
                id: self.id,
                exit: 1,
            });
        }
        Ok(())
    }
}

/// What a line about a job shows of it.
pub(super) fn summary(job: &Job) -> JobSummary {
    JobSummary {
        id: job.id,
        name: job.name.clone(),
        state: job.state.clone(),
        reason: job.reason.clone(),
        attention: job.attention.clone(),
        science: job.science.clone(),
        elapsed_s: job.elapsed_s,
        progress: job.progress.clone(),
        ..JobSummary::default()
    }
}

/// Whether the daemon may answer again in a moment.
pub(super) fn passes(error: &IpcError) -> bool {
    match error {
        IpcError::Down { .. }
        | IpcError::Busy { .. }
        | IpcError::Disconnected { .. }
        | IpcError::Deadline { .. }
        | IpcError::Overloaded(_) => true,
        IpcError::Rpc { data, .. } => data["retryable"].as_bool().unwrap_or(false),
        _ => false,
    }
}

/// The progress line: rewritten in place on a terminal, else one line per change of state.
pub(super) struct Line {
    terminal: bool,
    quiet: bool,
    shown: bool,
    last: String,
}

impl Line {
    /// A line on stderr; `quiet` shows nothing.
    pub(super) fn new(quiet: bool) -> Self {
        Self {
            terminal: std::io::stderr().is_terminal(),
            quiet,
            shown: false,
            last: String::new(),
        }
    }

    fn show(&mut self, job: &JobSummary) {
        let state = job.state.as_str();
        let elapsed = job
            .elapsed_s
            .map(|s| format!("  {}", text::duration(s)))
            .unwrap_or_default();
        let fraction = job
            .progress
            .fraction
            .map(|f| format!("  {:.0} %", f * 100.0))
            .unwrap_or_default();
        let doing = match job.progress.text.as_str() {
            "" => String::new(),
            doing => format!("  {doing}"),
        };
        if self.terminal {
            let line = format!("job {}  {state}{elapsed}{fraction}{doing}", job.id);
            self.rewrite(&line);
        } else {
            self.say(&format!("job {}  {state}", job.id));
        }
    }

    /// Say something that stays, once.
    pub(super) fn say(&mut self, line: &str) {
        if self.quiet || self.last == line {
            return;
        }
        line.clone_into(&mut self.last);
        self.clear();
        note(line);
    }

    /// Show how far something is: in place on a terminal, else only when `step` is another one.
    pub(super) fn progress(&mut self, step: &str, line: &str) {
        if self.terminal {
            self.rewrite(line);
        } else {
            self.say(step);
        }
    }

    fn rewrite(&mut self, line: &str) {
        if self.quiet {
            return;
        }
        // A terminal that does not know its width says 0.
        let columns = rustix::termios::tcgetwinsize(std::io::stderr())
            .map_or(0, |size| usize::from(size.ws_col));
        let columns = if columns == 0 { text::WIDTH } else { columns };
        // A closed stderr is no reason to stop waiting.
        let _ = write!(
            std::io::stderr(),
            "\r\x1b[K{}",
            text::fit(line, columns - 1)
        );
        self.shown = true;
    }

    /// Remove the line, so that what follows starts on an empty one.
    pub(super) fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
