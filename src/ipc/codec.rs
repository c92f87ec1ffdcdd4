//! NDJSON and JSON-RPC 2.0 as bytes in, messages out. No I/O and no clock.
//!
//! Sending is strict, reading is tolerant: members that are not known are ignored, and what is not
//! a message is reported as [`Incoming::Garbage`] instead of ending the connection. Used by the
//! reader, the writer and the handshake.

use serde_json::{Map, Value, json};

use crate::error::IpcError;

/// One line taken out of the stream.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// Its bytes, without the line end.
    Text(Vec<u8>),
    /// It was longer than allowed and has been thrown away.
    TooLong,
}

/// Cuts a stream of bytes into lines, however the bytes arrive.
#[derive(Debug)]
pub struct LineBuffer {
    bytes: Vec<u8>,
    start: usize,
    searched: usize,
    limit: usize,
    skipping: bool,
}

impl LineBuffer {
    /// A buffer that drops lines of more than `limit` bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            start: 0,
            searched: 0,
            limit,
            skipping: false,
        }
    }

    /// Add what was read.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.start > 0 {
            self.bytes.drain(..self.start);
            self.searched -= self.start;
            self.start = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The next complete line that is not blank.
    pub fn next_line(&mut self) -> Option<Line> {
        loop {
            let Some(offset) = self.bytes[self.searched..].iter().position(|&b| b == b'\n') else {
                self.searched = self.bytes.len();
                if self.searched - self.start > self.limit {
                    // Forget the bytes now; the line is reported when its end is seen.
                    self.bytes.clear();
                    self.start = 0;
                    self.searched = 0;
                    self.skipping = true;
                }
                return None;
            };
            let end = self.searched + offset;
            let mut line = &self.bytes[self.start..end];
            let oversize = line.len() > self.limit;
            if let [head @ .., b'\r'] = line {
                line = head;
            }
            let too_long = oversize || self.skipping;
            let text = if too_long { Vec::new() } else { line.to_vec() };
            self.skipping = false;
            self.start = end + 1;
            self.searched = self.start;
            if too_long {
                return Some(Line::TooLong);
            }
            if !text.iter().all(u8::is_ascii_whitespace) {
                return Some(Line::Text(text));
            }
        }
    }
}

/// What one line from the daemon says.
#[derive(Debug, PartialEq)]
pub enum Incoming {
    /// The answer to the call with this id.
    Reply {
        /// The call.
        id: u64,
        /// Its `result`, or the error.
        outcome: Result<Value, IpcError>,
    },
    /// An error that belongs to no call (`id: null`), e.g. a refused connection.
    Orphan(IpcError),
    /// A message that wants no answer.
    Notification {
        /// Its method.
        method: String,
        /// Its params.
        params: Value,
    },
    /// Not a message.
    Garbage,
}

/// Read one line.
#[must_use]
pub fn parse(line: &[u8]) -> Incoming {
    let Ok(Value::Object(mut message)) = serde_json::from_slice::<Value>(line) else {
        return Incoming::Garbage;
    };
    if let Some(Value::String(method)) = message.remove("method") {
        let params = message.remove("params").unwrap_or(Value::Null);
        return Incoming::Notification { method, params };
    }
    let id = message.remove("id").unwrap_or(Value::Null);
    let outcome = outcome(&mut message);
    match (call_id(&id), id, outcome) {
        (Some(id), _, Some(outcome)) => Incoming::Reply { id, outcome },
        (Some(id), _, None) => Incoming::Reply {
            id,
            outcome: Err(IpcError::Protocol(
                "the daemon's answer has neither a result nor an error".into(),
            )),
        },
        (None, Value::Null, Some(Err(error))) => Incoming::Orphan(error),
        _ => Incoming::Garbage,
    }
}

/// Our ids are numbers; a daemon that writes them as strings is understood too.
fn call_id(id: &Value) -> Option<u64> {
    match id {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

fn outcome(message: &mut Map<String, Value>) -> Option<Result<Value, IpcError>> {
    match message.remove("error") {
        Some(Value::Object(mut error)) => {
            return Some(Err(IpcError::Rpc {
                code: error.get("code").and_then(Value::as_i64).unwrap_or(-32603),
                message: match error.remove("message") {
                    Some(Value::String(text)) => text,
                    _ => "the daemon reports an error without a message".into(),
                },
                data: error.remove("data").unwrap_or(Value::Null),
            }));
        }
        Some(Value::Null) | None => {}
        Some(_) => return None,
    }
    message.remove("result").map(Ok)
}

/// Write one request, with its line end.
///
/// # Errors
/// `params` is not an object.
pub fn encode_request(id: u64, method: &str, params: &Value) -> Result<Vec<u8>, IpcError> {
    if !params.is_object() {
        return Err(IpcError::Protocol(format!(
            "the params of {method} must be a JSON object"
        )));
    }
    Ok(line(
        &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}),
    ))
}

/// Write one notification, with its line end.
#[must_use]
pub fn encode_notification(method: &str, params: &Value) -> Vec<u8> {
    line(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
}

fn line(message: &Value) -> Vec<u8> {
    let mut bytes = message.to_string().into_bytes();
    bytes.push(b'\n');
    bytes
}
