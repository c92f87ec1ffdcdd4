//! From nothing to a greeted connection: where to connect, whether to start a daemon, what to try
//! again. Called by the engine's reader thread, for the first connection and for every later one.

use std::path::PathBuf;
use std::thread;
use std::time::Instant;

use super::hello::{Greeted, greet};
use super::launch::{LaunchPlan, Launcher, follow_pointer};
use super::paths::{SocketPath, Surroundings};
use super::socket;
use super::timing::Timing;
use crate::error::{IpcError, Result};

/// Where the daemon is, and whether one may be started.
#[derive(Debug)]
pub(super) enum Route {
    /// This socket and no other; nothing is started.
    Exact(PathBuf),
    /// The socket by the rule, or the one that `server.json` names.
    Found {
        wanted: SocketPath,
        around: Box<Surroundings>,
        plan: Option<LaunchPlan>,
    },
}

#[derive(Debug)]
pub(super) struct Connector {
    route: Route,
    launcher: Option<Launcher>,
    timing: Timing,
}

impl Connector {
    pub(super) fn new(mut route: Route, timing: Timing) -> Self {
        let plan = match &mut route {
            Route::Exact(_) => None,
            Route::Found { plan, .. } => plan.take(),
        };
        Self {
            route,
            launcher: plan.map(Launcher::new),
            timing,
        }
    }

    /// Connect and say hello; `may_start` also starts a daemon if there is none.
    pub(super) fn establish(
        &mut self,
        may_start: bool,
        next_id: &mut dyn FnMut() -> u64,
    ) -> Result<Greeted> {
        let until = Instant::now() + self.timing.start;
        let mut pause = self.timing.hello_pause;
        loop {
            let outcome = self.attempt(may_start, until, next_id);
            match outcome {
                Err(error) if self.passes(&error, may_start) && Instant::now() + pause < until => {
                    thread::sleep(pause);
                    pause = (pause * 2).min(self.timing.hello_pause_max);
                }
                outcome => return outcome,
            }
        }
    }

    fn attempt(
        &mut self,
        may_start: bool,
        until: Instant,
        next_id: &mut dyn FnMut() -> u64,
    ) -> Result<Greeted> {
        let timing = &self.timing;
        let (path, around, wanted) = match &self.route {
            Route::Exact(path) => (path, None, None),
            Route::Found { wanted, around, .. } => (&wanted.path, Some(around), Some(wanted)),
        };
        let uid = around.map_or_else(socket::own_uid, |around| around.uid);
        let (stream, path, until) = match socket::connect(path, uid, timing) {
            Ok(stream) => (stream, path.clone(), until),
            Err(down @ IpcError::Down { .. }) => {
                let (Some(around), Some(wanted)) = (around, wanted) else {
                    return Err(down);
                };
                let (stream, path) = match &mut self.launcher {
                    Some(launcher) if may_start => launcher.bring_up(wanted, around, timing)?,
                    _ => follow_pointer(wanted, around, timing)?.ok_or(down)?,
                };
                // A start may have used up the time; a daemon that is there gets its own.
                (stream, path, Instant::now() + timing.start)
            }
            Err(error) => return Err(error),
        };
        greet(stream, &path, timing, until, next_id)
    }

    /// Whether the same attempt may succeed in a moment: the daemon is leaving, or full, or it left
    /// between its start and our connection.
    fn passes(&self, error: &IpcError, may_start: bool) -> bool {
        match error {
            IpcError::Disconnected { .. }
            | IpcError::Overloaded(_)
            | IpcError::Rpc { code: -32010, .. } => true,
            IpcError::Down { .. } => may_start && self.launcher.is_some(),
            _ => false,
        }
    }
}
