//! The connection to the daemon: one socket, calls matched to answers by id, deadlines, reconnect
//! and auto-start.
//!
//! It knows how to talk, not what about: the methods are in `rpc`. Used by `cli`, and by whatever
//! holds a [`BridgeService`](crate::rpc::BridgeService).

pub mod codec;
mod connector;
mod engine;
mod hello;
mod launch;
pub mod paths;
pub mod pointer;
mod socket;
mod timing;

use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use serde_json::Value;

pub use engine::Answer;
pub use hello::{PROTOCOL, ServerInfo};
pub use launch::{Binary, LaunchPlan, Notice, Places};
pub use timing::Timing;

use crate::error::{IpcError, Result};
pub use crate::rpc::ConnState;
use crate::rpc::{BridgeReply, BridgeRequest, BridgeService, EventSource, Listener, Subscription};
use connector::{Connector, Route};
use engine::Engine;
use paths::Surroundings;

/// What came from the daemon and belonged to no call that waits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Answers to calls that had ended before: late or repeated.
    pub late: u64,
    /// Answers to calls that were never made.
    pub unknown: u64,
    /// Notifications.
    pub notifications: u64,
    /// Lines that are not messages.
    pub garbage: u64,
}

/// How a client finds its daemon.
pub struct Options {
    /// `--socket`.
    pub socket: Option<PathBuf>,
    /// Whether a daemon may be started.
    pub start: bool,
    /// Environment variables and directories.
    pub surroundings: Surroundings,
    /// What a start needs.
    pub launch: LaunchPlan,
    /// Every duration.
    pub timing: Timing,
}

impl Options {
    /// The options of this process: its environment, and notes to nobody.
    ///
    /// # Errors
    /// `CRYSTALMATH_START_TIMEOUT` is not a positive number of seconds.
    pub fn of_process() -> Result<Self> {
        let mut timing = Timing::default();
        if let Some(text) = std::env::var_os("CRYSTALMATH_START_TIMEOUT") {
            timing.start = text
                .to_str()
                .and_then(|text| text.trim().parse().ok())
                .filter(|seconds: &f64| *seconds > 0.0)
                .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
                .ok_or_else(|| {
                    IpcError::Protocol(
                        "CRYSTALMATH_START_TIMEOUT must be a positive number of seconds".into(),
                    )
                })?;
            timing.start_max = timing.start_max.max(timing.start);
        }
        Ok(Self {
            socket: None,
            start: true,
            surroundings: Surroundings::of_process(),
            launch: LaunchPlan {
                places: Places::of_process(),
                environment: Vec::new(),
                notice: Arc::new(|_| {}),
            },
            timing,
        })
    }
}

/// Closes the engine with the last clone of the client.
struct Owner(Arc<Engine>);

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// A client of the daemon. Cheap to clone; all clones share one connection.
#[derive(Clone)]
pub struct IpcClient {
    engine: Arc<Owner>,
    replies: Option<Sender<BridgeReply>>,
}

impl IpcClient {
    /// Find the daemon, start it if there is none, and say hello.
    ///
    /// # Errors
    /// No daemon can be reached: every variant but those of a single call.
    pub fn connect() -> Result<Self> {
        Self::connect_with(Options::of_process()?)
    }

    /// Connect to the daemon at `path`; nothing is ever started.
    ///
    /// # Errors
    /// As [`IpcClient::connect`].
    pub fn connect_to(path: &Path) -> Result<Self> {
        Self::connect_to_with(path, Timing::default())
    }

    /// [`IpcClient::connect_to`] with other durations.
    ///
    /// # Errors
    /// As [`IpcClient::connect`].
    pub fn connect_to_with(path: &Path, timing: Timing) -> Result<Self> {
        let client = Self::begin(Route::Exact(path.to_owned()), timing)?;
        client.engine.0.wait_connected()?;
        Ok(client)
    }

    /// [`IpcClient::connect`] with other options.
    ///
    /// # Errors
    /// As [`IpcClient::connect`].
    pub fn connect_with(options: Options) -> Result<Self> {
        let client = Self::open(options)?;
        client.engine.0.wait_connected()?;
        Ok(client)
    }

    /// A client that is still looking for its daemon: it returns at once, and
    /// [`listen`](EventSource::listen) tells when there is a connection. Calls wait for it.
    ///
    /// # Errors
    /// There is no path for the socket, or this machine starts no more threads.
    pub fn open(options: Options) -> Result<Self> {
        let Options {
            socket,
            start,
            surroundings,
            launch,
            timing,
        } = options;
        let wanted = paths::resolve(socket.as_deref(), &surroundings)?;
        if let Some(note) = paths::shortening_notice(&wanted) {
            (launch.notice)(&note);
        }
        let route = Route::Found {
            wanted,
            around: Box::new(surroundings),
            plan: start.then_some(launch),
        };
        Self::begin(route, timing)
    }

    fn begin(route: Route, timing: Timing) -> Result<Self> {
        let engine = Engine::start(Connector::new(route, timing.clone()), timing)?;
        Ok(Self {
            engine: Arc::new(Owner(engine)),
            replies: None,
        })
    }

    /// The same connection, with a channel for the answers of [`BridgeService`] functions.
    #[must_use]
    pub fn with_replies(&self, replies: Sender<BridgeReply>) -> Self {
        Self {
            engine: Arc::clone(&self.engine),
            replies: Some(replies),
        }
    }

    /// Call a method and wait for its `result` object.
    ///
    /// # Errors
    /// The daemon's own error answer, or the reason why there is no answer.
    pub fn send_request(&self, method: &str, params: Value) -> Result<Value> {
        let (answer, wait) = mpsc::sync_channel(1);
        self.send_with(
            method,
            params,
            Box::new(move |result| drop(answer.send(result))),
        )?;
        wait.recv().unwrap_or_else(|_| {
            Err(IpcError::Disconnected {
                method: method.into(),
            })
        })
    }

    /// Call a method; the future is ready with its `result` object. Works on any executor.
    ///
    /// # Errors
    /// As [`IpcClient::send_request`].
    pub async fn send_request_async(&self, method: &str, params: Value) -> Result<Value> {
        let (answer, wait) = tokio::sync::oneshot::channel();
        self.send_with(
            method,
            params,
            Box::new(move |result| drop(answer.send(result))),
        )?;
        wait.await.unwrap_or_else(|_| {
            Err(IpcError::Disconnected {
                method: method.into(),
            })
        })
    }

    /// Call a method and return at once; `answer` is called on a thread of the client.
    ///
    /// # Errors
    /// The call cannot be queued; `answer` is not called then.
    pub fn send_with(&self, method: &str, params: Value, answer: Answer) -> Result<()> {
        self.engine.0.call(method, params, answer)
    }

    /// How the connection is.
    #[must_use]
    pub fn state(&self) -> ConnState {
        self.engine.0.phase()
    }

    /// What the daemon said about itself when it was last met.
    #[must_use]
    pub fn server(&self) -> Option<Arc<ServerInfo>> {
        self.engine.0.server()
    }

    /// What came and belonged to nobody.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.engine.0.counters()
    }
}

impl BridgeService for IpcClient {
    fn request(&self, request_id: usize, what: BridgeRequest, params: Value) -> Result<()> {
        let Some(replies) = self.replies.clone() else {
            return Err(IpcError::Protocol(
                "this client has no channel for answers".into(),
            ));
        };
        let answer = move |result| {
            // Whoever asked may have gone; then nobody misses the answer.
            let _ = replies.send(BridgeReply {
                request_id,
                what,
                result,
            });
        };
        self.send_with(what.method(), params, Box::new(answer))
    }
}

impl EventSource for IpcClient {
    fn listen(&self, listener: Listener) {
        self.engine.0.listen(listener);
    }

    fn subscribe(&self, topics: &[&str]) -> Subscription {
        self.engine.0.subscribe(topics)
    }
}
