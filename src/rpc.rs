//! The methods of the daemon, as the program uses them.
//!
//! `types` is generated from the daemon's contract; [`BridgeService`] and [`EventSource`] are the
//! interfaces that the terminal UI's runtime holds, and [`MemoryBridge`] stands for a daemon in both.

mod bridge;
mod events;
mod memory;
pub mod types;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::error::IpcError;

pub use bridge::{BridgeReply, BridgeService};
pub use events::{ConnState, EventSource, Listener, Notification, Subscription};
pub use memory::MemoryBridge;
pub use types::{BridgeRequest, METHODS, MethodInfo, SCHEMA_SHA256, method};

/// Whether a call may be sent a second time when the connection ended before its answer came.
#[must_use]
pub fn may_resend(name: &str, params: &Value) -> bool {
    match name {
        "jobs.submit" => params["client_token"].is_string(),
        _ => method(name).is_some_and(|info| info.read_only),
    }
}

/// A result, as a value or a reference to one, as the contract says that it is.
///
/// # Errors
///
/// [`IpcError::Protocol`] with the method, for any other.
pub fn fit<'de, T: Deserialize<'de>>(
    method: &str,
    result: impl Deserializer<'de, Error = serde_json::Error>,
) -> Result<T, IpcError> {
    T::deserialize(result)
        .map_err(|error| IpcError::Protocol(format!("{method} does not fit its contract: {error}")))
}
