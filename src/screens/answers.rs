//! What the daemon has answered, as screens take it.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::app::error_text;
use crate::error::IpcError;
use crate::rpc::fit;

/// The result of a method, or why there is none, for people.
///
/// # Errors
///
/// The daemon's own words, or that its answer is not what the contract says.
pub fn read<T: DeserializeOwned>(
    method: &str,
    result: &Result<Value, IpcError>,
) -> Result<T, String> {
    match result {
        Ok(value) => fit(method, value).map_err(|error| error.to_string()),
        Err(error) => Err(error_text(error)),
    }
}

/// What the daemon has against a request, fault by fault: the field, empty where it names none, and
/// the words.
#[must_use]
pub fn faults<'a>(data: &'a Value, message: &'a str) -> Vec<(&'a str, &'a str)> {
    let field = |one: &'a Value| one["field"].as_str().unwrap_or_default();
    match data["fields"].as_array() {
        Some(listed) if !listed.is_empty() => {
            let words = |one: &'a Value| one["message"].as_str().unwrap_or(message);
            listed.iter().map(|one| (field(one), words(one))).collect()
        }
        _ => vec![(field(data), message)],
    }
}

/// Whether the connection was lost before there was an answer. What is shown stays then; the
/// connection's own line tells of it.
#[must_use]
pub fn is_cut_off(result: &Result<Value, IpcError>) -> bool {
    matches!(result, Err(error) if error.kind() == "disconnected")
}
