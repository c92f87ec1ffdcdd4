//! Everything of the `crystalmath` program except its start, so that tests can reach it.

pub mod app;
pub mod base64;
#[cfg(feature = "ipc")]
pub mod cli;
pub mod clusters;
pub mod config;
pub mod error;
pub mod files;
#[cfg(feature = "ipc")]
pub mod ipc;
pub mod keymap;
pub mod msg;
pub mod queue;
pub mod results;
pub mod rpc;
pub mod runtime;
pub mod screens;
pub mod submission;
pub mod tasks;
pub mod theme;
pub mod units;
pub mod widgets;
pub mod wording;
