//! The way from the loop to the daemon: every function returns at once, and answers come as messages.

#[cfg(feature = "ipc")]
mod daemon;
mod memory;

use std::sync::mpsc::Sender;

use serde_json::Value;

use crate::msg::Msg;

#[cfg(feature = "ipc")]
pub use daemon::{Daemon, Opener};

/// What answers the UI.
pub trait Service: Send {
    /// Connect; how that goes comes as [`Msg::Link`], now and whenever it changes.
    fn connect(&mut self, start: bool, messages: &Sender<Msg>);

    /// Call a method; the answer comes as [`Msg::Reply`], always and once.
    fn call(&mut self, id: u64, method: &'static str, params: Value, messages: &Sender<Msg>);

    /// Tell how the log of this job grows, as [`Msg::LogGrown`], and of no other; a service without
    /// events tells nothing.
    fn watch_log(&mut self, _job: Option<i64>) {}

    /// Tell what becomes of engines, installations and workers, as [`Msg::EngineNews`], or no longer.
    fn watch_engines(&mut self, _watched: bool) {}

    /// Tell what becomes of clusters, as [`Msg::ClusterNews`], or no longer.
    fn watch_clusters(&mut self, _watched: bool) {}
}
