//! Tests of the Rust side: one program, so that it is linked once.

#![allow(clippy::unwrap_used, reason = "the helpers of tests are tests too")]

mod bridge;
#[cfg(feature = "ipc")]
mod client;
#[cfg(feature = "ipc")]
mod clusters;
#[cfg(feature = "ipc")]
mod codec;
#[cfg(feature = "ipc")]
mod codes;
#[cfg(feature = "ipc")]
mod command_line;
#[cfg(feature = "ipc")]
mod decks;
#[cfg(feature = "ipc")]
mod events;
mod golden;
#[cfg(feature = "ipc")]
mod installs;
#[cfg(feature = "ipc")]
mod launch;
#[cfg(feature = "ipc")]
mod mock;
#[cfg(feature = "ipc")]
mod outcomes;
#[cfg(feature = "ipc")]
mod paths;
#[cfg(feature = "ipc")]
mod plain;
#[cfg(feature = "ipc")]
mod queue;
#[cfg(feature = "ipc")]
mod refusals;
#[cfg(feature = "ipc")]
mod search;
#[cfg(feature = "ipc")]
mod templates;

mod ui;
#[cfg(feature = "ipc")]
mod wait;
#[cfg(feature = "ipc")]
mod watch;
