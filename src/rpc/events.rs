//! What is told without being asked for: events of the daemon, and how the connection is.
//!
//! [`EventSource`] is what the terminal UI's runtime and the commands hold: the client offers it,
//! and [`MemoryBridge`](super::MemoryBridge) does for tests. Everything comes on one channel in the
//! order in which it happened, so whoever listens has nothing to poll.

use super::types::Event;
use crate::error::IpcError;

/// How the connection is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConnState {
    /// The first connection is being made.
    Starting,
    /// Connected, and hello was answered.
    Ready,
    /// Something listens, but does not answer.
    Busy,
    /// The connection ended; the next one is being made.
    Reconnecting,
    /// No connection can be made, and why.
    Down(String),
}

/// One thing that is told.
#[derive(Debug, Clone, PartialEq)]
pub enum Notification {
    /// What happened, oldest first.
    Events(Vec<Event>),
    /// Something was missed: read again everything that these topics are about.
    Resync(Vec<String>),
    /// The daemon does not accept a subscription; nothing will be told of these topics.
    Refused {
        /// What was to be subscribed to.
        topics: Vec<String>,
        /// Why not.
        error: IpcError,
    },
    /// The connection is in another state.
    State(ConnState),
}

/// Takes notifications, on a thread of the client; it must not block.
pub type Listener = Box<dyn FnMut(Notification) + Send>;

/// Tells what happens.
pub trait EventSource {
    /// Have everything told to `listener` from now on, and to no earlier one. The state of the
    /// connection is the first thing it hears.
    fn listen(&self, listener: Listener);

    /// Be told what happens under `topics`, also across reconnects, until the subscription is
    /// dropped. Returns at once.
    #[must_use = "a subscription ends when it is dropped"]
    fn subscribe(&self, topics: &[&str]) -> Subscription;
}

/// A subscription, which ends when this is dropped.
pub struct Subscription {
    end: Option<Box<dyn FnOnce() + Send>>,
}

impl Subscription {
    pub(crate) fn new(end: impl FnOnce() + Send + 'static) -> Self {
        Self {
            end: Some(Box::new(end)),
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if let Some(end) = self.end.take() {
            end();
        }
    }
}

impl std::fmt::Debug for Subscription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Subscription")
    }
}
