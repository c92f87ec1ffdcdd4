//! Waiting for a job, with one line about its progress on stderr. Used by `submit` and `rerun`.
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

use super::output::{Failure, INTERRUPTED, Outcome};
use super::results;
use super::session::{Session, note};
use super::text;
use crate::error::{IpcError, Result};
use crate::rpc::types::{Job, Reply};

const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// How often an interrupt is looked for.
const TICK: Duration = Duration::from_millis(50);
/// How long the daemon may be away, e.g. while it is restarted.
const PATIENCE: Duration = Duration::from_secs(60);

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

/// Wait for job `id` and print its result: 0 if it completed, 1 if not.
pub(super) fn run(session: &Session, id: i64, args: &WaitArgs) -> Outcome {
    let mut watch = Watch::new(session, id, args)?;
    let ended = watch.until_ended();
    watch.line.clear();
    let (raw, job) = ended?;
    session.print(&raw, || results::render(&job, session.colour()))?;
    Ok(u8::from(job.state.as_str() != "COMPLETED"))
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
        let interrupted = Arc::new(AtomicBool::new(false));
        let no_handler = |error| Failure::Io("cannot watch for an interrupt".into(), error);
        // A second interrupt ends the program at once, whatever it waits for.
        flag::register_conditional_shutdown(SIGINT, INTERRUPTED.into(), interrupted.clone())
            .map_err(no_handler)?;
        flag::register(SIGINT, interrupted.clone()).map_err(no_handler)?;
        Ok(Self {
            session,
            id,
            until: args
                .timeout
                .map(|seconds| Instant::now() + Duration::from_secs_f64(seconds)),
            interrupted,
            line: Line::new(session.globals.json),
        })
    }

    fn until_ended(&mut self) -> std::result::Result<(Value, Job), Failure> {
        let mut pause = FIRST_PAUSE;
        let mut heard = Instant::now();
        loop {
            match self.look() {
                Ok(Some((raw, job))) => {
                    heard = Instant::now();
                    if ended(&job) {
                        return Ok((raw, job));
                    }
                    self.line.show(&job);
                }
                Ok(None) => {}
                Err(error) if passes(&error) && heard.elapsed() < PATIENCE => {
                    self.line
                        .say(&format!("job {}: {error}; trying again", self.id));
                }
                Err(error) => return Err(error.into()),
            }
            let next = Instant::now() + pause;
            while Instant::now() < next {
                self.stop()?;
                std::thread::sleep(TICK);
            }
            self.stop()?;
            pause = pause.mul_f64(1.25).min(LONGEST_PAUSE);
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
        let reply: Reply<Job> = serde_json::from_value(raw.clone()).map_err(|error| {
            IpcError::Protocol(format!("jobs.get does not fit its contract: {error}"))
        })?;
        Ok(Some((raw, reply.data)))
    }

    fn stop(&self) -> std::result::Result<(), Failure> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Err(Failure::Unfinished {
                kind: "interrupted",
                id: self.id,
                exit: INTERRUPTED,
            });
        }
        if self.until.is_some_and(|until| Instant::now() >= until) {
            return Err(Failure::Unfinished {
                kind: "timeout",
                id: self.id,
                exit: 1,
            });
        }
        Ok(())
    }
}

fn ended(job: &Job) -> bool {
    matches!(job.state.as_str(), "COMPLETED" | "FAILED" | "CANCELLED")
}

/// Whether the daemon may answer again in a moment.
fn passes(error: &IpcError) -> bool {
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
struct Line {
    terminal: bool,
    quiet: bool,
    shown: bool,
    last: String,
}

impl Line {
    fn new(quiet: bool) -> Self {
        Self {
            terminal: std::io::stderr().is_terminal(),
            quiet,
            shown: false,
            last: String::new(),
        }
    }

    fn show(&mut self, job: &Job) {
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
    fn say(&mut self, line: &str) {
        if self.quiet || self.last == line {
            return;
        }
        line.clone_into(&mut self.last);
        self.clear();
        note(line);
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
    fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
