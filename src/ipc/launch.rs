//! Auto-start: one of many starters starts the daemon, the others wait for it.
//!
//! Called by the connector when nothing listens at the socket. It gives back a connection, on which
//! hello is still to be said. It never signals or stops a process.

mod binary;
mod ready;
mod start_lock;

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

pub use binary::{Binary, Places};

use super::paths::{Origin, SocketPath, Surroundings};
use super::pointer::{self, Machine};
use super::socket;
use super::timing::Timing;
use crate::error::{IpcError, Result};
use start_lock::Turn;

/// Takes the lines that tell the user what a start waits for.
pub type Notice = Arc<dyn Fn(&str) + Send + Sync>;

/// What a start needs to know beside the socket.
#[derive(Clone)]
pub struct LaunchPlan {
    /// Where the executable may be.
    pub places: Places,
    /// Changes to the daemon's environment, for tests that keep it in a temporary directory.
    pub environment: Vec<(OsString, OsString)>,
    /// Where notes for the user go.
    pub notice: Notice,
}

impl fmt::Debug for LaunchPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LaunchPlan")
            .field("places", &self.places)
            .finish_non_exhaustive()
    }
}

/// Starts daemons, but not many in a row.
#[derive(Debug)]
pub(super) struct Launcher {
    plan: LaunchPlan,
    spawned: VecDeque<Instant>,
    last_failure: Option<IpcError>,
}

impl Launcher {
    pub(super) fn new(plan: LaunchPlan) -> Self {
        Self {
            plan,
            spawned: VecDeque::new(),
            last_failure: None,
        }
    }

    /// Connect to a daemon, starting it if nobody else does.
    pub(super) fn bring_up(
        &mut self,
        wanted: &SocketPath,
        around: &Surroundings,
        timing: &Timing,
    ) -> Result<(UnixStream, PathBuf)> {
        let path = &wanted.path;
        let turn = start_lock::take(path, around, timing, &self.plan.notice)?;
        let _lock = match turn {
            Turn::Connected(stream) => return Ok((stream, path.clone())),
            Turn::Ours(lock) => lock,
        };
        match socket::connect(path, around.uid, timing) {
            Err(IpcError::Down { .. }) => {}
            other => return other.map(|stream| (stream, path.clone())),
        }
        if let Some(found) = follow_pointer(wanted, around, timing)? {
            return Ok(found);
        }
        let published = self.spawn(wanted, around, timing)?;
        socket::connect(&published, around.uid, timing).map(|stream| (stream, published.clone()))
    }

    fn spawn(
        &mut self,
        wanted: &SocketPath,
        around: &Surroundings,
        timing: &Timing,
    ) -> Result<PathBuf> {
        let now = Instant::now();
        while self
            .spawned
            .front()
            .is_some_and(|at| now - *at >= timing.spawn_window)
        {
            self.spawned.pop_front();
        }
        let log_path = around.log_path()?;
        if self.spawned.len() >= timing.spawns_max {
            return Err(self.last_failure.clone().unwrap_or_else(|| {
                let cause = format!(
                    "it was started {} times within {:.0} s and did not stay",
                    self.spawned.len(),
                    timing.spawn_window.as_secs_f64()
                );
                IpcError::start_failed(cause, &log_path)
            }));
        }
        self.spawned.push_back(now);
        let published = self
            .plan
            .places
            .choose(&log_path)
            .and_then(|binary| ready::start(&binary, wanted, &self.plan, &log_path, timing));
        self.last_failure = published.as_ref().err().cloned();
        published
    }
}

/// Connect to the socket that `server.json` names, if there is one and it answers.
pub(super) fn follow_pointer(
    wanted: &SocketPath,
    around: &Surroundings,
    timing: &Timing,
) -> Result<Option<(UnixStream, PathBuf)>> {
    let named = pointer::follow(&around.data_dir()?, around.uid, &Machine::here());
    let Some(path) = named.filter(|path| wanted.origin != Origin::Flag && *path != wanted.path)
    else {
        return Ok(None);
    };
    match socket::connect(&path, around.uid, timing) {
        Ok(stream) => Ok(Some((stream, path))),
        Err(error @ IpcError::Busy { .. }) => Err(error),
        // A note about a daemon that is gone; its successor will overwrite it.
        Err(_) => Ok(None),
    }
}

/// The size of the log now; what comes after it is the new daemon's.
fn log_size(log_path: &Path) -> u64 {
    std::fs::metadata(log_path).map_or(0, |found| found.len())
}

/// The last lines of what the log has gained since it was `old_size` bytes long.
fn log_tail(log_path: &Path, old_size: u64) -> Vec<String> {
    const LINES: usize = 20;
    const BYTES: u64 = 64 * 1024;
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(log_path)?;
        let size = file.metadata()?.len();
        // A log that became smaller was begun anew.
        let new = if size < old_size { 0 } else { old_size };
        file.seek(SeekFrom::Start(new.max(size.saturating_sub(BYTES))))?;
        let mut bytes = Vec::new();
        file.take(BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    // Without a log there are no lines; its path is shown all the same.
    let bytes = read().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    let last = &lines[lines.len().saturating_sub(LINES)..];
    last.iter().map(|line| (*line).to_owned()).collect()
}
