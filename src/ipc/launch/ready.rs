//! Runs `crystalmath-server start` and reads its ready pipe: progress, then the socket or the error.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use command_fds::{CommandFdExt as _, FdMapping};
use serde_json::Value;

use super::{Binary, LaunchPlan, Notice, log_size, log_tail};
use crate::error::{IpcError, Result, StartFailure};
use crate::ipc::codec::{Line, LineBuffer};
use crate::ipc::paths::{Origin, SocketPath};
use crate::ipc::socket::readable;
use crate::ipc::timing::Timing;

/// The number under which the child finds the pipe.
const READY_FD: i32 = 3;
const LONGEST_LINE: usize = 64 * 1024;
const STDERR_LINES: usize = 20;
/// Python's own variables would make the daemon load the modules of another environment.
const REMOVED: [&str; 3] = ["PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP"];

/// Start the daemon and wait for its verdict: the socket it can be reached at.
pub(super) fn start(
    binary: &Binary,
    wanted: &SocketPath,
    plan: &LaunchPlan,
    log_path: &Path,
    timing: &Timing,
) -> Result<PathBuf> {
    let old_size = log_size(log_path);
    let failed = |failure: StartFailure| {
        let told = !failure.log_path.as_os_str().is_empty();
        IpcError::StartFailed(Box::new(StartFailure {
            log_path: if told {
                failure.log_path
            } else {
                log_path.to_owned()
            },
            tried: vec![binary.to_string()],
            ..failure
        }))
    };
    let because = |cause: String| {
        failed(StartFailure {
            cause,
            ..StartFailure::default()
        })
    };
    let (mut child, ready) = spawn(binary, wanted, plan)
        .map_err(|error| because(format!("{} cannot be run: {error}", binary.path.display())))?;
    let errors = child
        .stderr
        .take()
        .map(|pipe| Pipe::new(File::from(OwnedFd::from(pipe))));
    let mut watch = Watch {
        ready: Pipe::new(ready),
        errors,
        said: VecDeque::new(),
        notice: &plan.notice,
        binary,
        timing,
    };
    let verdict = watch.verdict();
    let ended = reap(&mut child, timing);
    match verdict {
        Verdict::Ready(socket) => Ok(socket),
        Verdict::Failed(failure) => Err(failed(failure)),
        Verdict::Silent(after) => Err(because(format!(
            "it was not ready within {:.1} s",
            after.as_secs_f64()
        ))),
        Verdict::Died => Err(failed(StartFailure {
            cause: last_words(ended, &watch.said),
            tail: log_tail(log_path, old_size),
            ..StartFailure::default()
        })),
    }
}

fn last_words(ended: Option<ExitStatus>, said: &VecDeque<String>) -> String {
    let how = ended.map_or("closed its pipe".to_owned(), |status| {
        format!("ended ({status})")
    });
    let mut cause = format!("it {how} before it was ready");
    for line in said {
        cause.push_str("\n  ");
        cause.push_str(line);
    }
    cause
}

fn spawn(
    binary: &Binary,
    wanted: &SocketPath,
    plan: &LaunchPlan,
) -> std::io::Result<(Child, File)> {
    let (ready, theirs) = std::io::pipe()?;
    let mut command = Command::new(&binary.path);
    command
        .arg("start")
        .arg("--ready-fd")
        .arg(READY_FD.to_string());
    if wanted.origin == Origin::Flag {
        command
            .arg("--socket")
            .arg(wanted.shortened_from.as_ref().unwrap_or(&wanted.path));
    }
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command.envs(plan.environment.iter().map(|(name, value)| (name, value)));
    for name in REMOVED {
        command.env_remove(name);
    }
    command
        .fd_mappings(vec![FdMapping {
            parent_fd: theirs.into(),
            child_fd: READY_FD,
        }])
        .map_err(std::io::Error::other)?;
    // Our copy of the writing end goes with `command`, so that the child's end is the last one.
    let child = command.spawn()?;
    Ok((child, File::from(OwnedFd::from(ready))))
}

/// The `start` command ends by itself once it has reported; it is never signalled.
fn reap(child: &mut Child, timing: &Timing) -> Option<ExitStatus> {
    let until = Instant::now() + timing.connect * 2;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Err(_) => return None,
            Ok(None) if Instant::now() >= until => return None,
            Ok(None) => thread::sleep(timing.poll),
        }
    }
}

enum Verdict {
    Ready(PathBuf),
    Failed(StartFailure),
    Died,
    Silent(Duration),
}

struct Pipe {
    file: File,
    lines: LineBuffer,
    ended: bool,
}

impl Pipe {
    fn new(file: File) -> Self {
        Self {
            file,
            lines: LineBuffer::new(LONGEST_LINE),
            ended: false,
        }
    }

    /// Read what is there within `patience`.
    fn fill(&mut self, patience: Duration) {
        if self.ended || !readable(&self.file, patience).unwrap_or(true) {
            return;
        }
        let mut bytes = [0; 4096];
        match self.file.read(&mut bytes) {
            Ok(0) => {
                self.lines.push(b"\n");
                self.ended = true;
            }
            Ok(count) => self.lines.push(&bytes[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => self.ended = true,
        }
    }

    fn next(&mut self) -> Option<String> {
        loop {
            if let Line::Text(text) = self.lines.next_line()? {
                return Some(String::from_utf8_lossy(&text).into_owned());
            }
        }
    }
}

struct Watch<'a> {
    ready: Pipe,
    errors: Option<Pipe>,
    said: VecDeque<String>,
    notice: &'a Notice,
    binary: &'a Binary,
    timing: &'a Timing,
}

impl Watch<'_> {
    fn verdict(&mut self) -> Verdict {
        let begun = Instant::now();
        let mut until = begun + self.timing.start;
        let mut progress: Option<String> = None;
        let mut told = false;
        loop {
            self.ready.fill(self.timing.poll);
            self.listen();
            while let Some(line) = self.ready.next() {
                match message(&line) {
                    Message::Progress(text) => {
                        until =
                            (Instant::now() + self.timing.start).min(begun + self.timing.start_max);
                        if told {
                            (self.notice)(&text);
                        }
                        progress = Some(text);
                    }
                    Message::Verdict(verdict) => return verdict,
                    Message::Other => {}
                }
            }
            if self.ready.ended {
                self.drain();
                return Verdict::Died;
            }
            if Instant::now() >= until {
                return Verdict::Silent(begun.elapsed());
            }
            if !told && begun.elapsed() >= self.timing.notice_after {
                told = true;
                let doing = progress
                    .as_ref()
                    .map(|text| format!(": {text}"))
                    .unwrap_or_default();
                (self.notice)(&format!("starting the daemon {}{doing}", self.binary));
            }
        }
    }

    /// Keep the last lines of what the command says on its standard error.
    fn listen(&mut self) {
        let Some(errors) = &mut self.errors else {
            return;
        };
        errors.fill(Duration::ZERO);
        while let Some(line) = errors.next() {
            if self.said.len() == STDERR_LINES {
                self.said.pop_front();
            }
            self.said.push_back(line);
        }
    }

    fn drain(&mut self) {
        let until = Instant::now() + self.timing.connect;
        while self.errors.as_ref().is_some_and(|errors| !errors.ended) && Instant::now() < until {
            if let Some(errors) = &mut self.errors {
                errors.fill(self.timing.poll);
            }
            self.listen();
        }
        self.listen();
    }
}

enum Message {
    Progress(String),
    Verdict(Verdict),
    Other,
}

fn message(line: &str) -> Message {
    let Ok(message) = serde_json::from_str::<Value>(line) else {
        return Message::Other;
    };
    if let Some(text) = message["progress"].as_str() {
        return Message::Progress(text.to_owned());
    }
    if let Some(socket) = message["ready"]["socket"].as_str() {
        return Message::Verdict(Verdict::Ready(PathBuf::from(socket)));
    }
    let error = &message["error"];
    if error.is_object() {
        return Message::Verdict(Verdict::Failed(StartFailure {
            cause: error["message"]
                .as_str()
                .unwrap_or("no cause given")
                .to_owned(),
            hint: error["hint"].as_str().map(str::to_owned),
            log_path: error["log_path"]
                .as_str()
                .map(PathBuf::from)
                .unwrap_or_default(),
            ..StartFailure::default()
        }));
    }
    Message::Other
}
