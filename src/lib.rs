//! Everything of the `crystalmath` program except its start, so that tests can reach it.

#[cfg(feature = "ipc")]
pub mod cli;
pub mod error;
#[cfg(feature = "ipc")]
pub mod ipc;
pub mod rpc;
