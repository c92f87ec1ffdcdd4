//! The first exchange on a connection: only an answered `system.hello` shows that a daemon lives.
//!
//! Called by the connector with a fresh connection; gives back the connection ready for use, and
//! what the daemon said about itself.

use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::codec::{self, Incoming, Line, LineBuffer};
use super::timing::Timing;
use crate::error::{IpcError, Result};

/// The protocol versions this client speaks.
pub const PROTOCOL: [u64; 2] = [1, 1];
/// Room for the longest reply, used until the daemon has named its own limit.
const RESPONSE_BYTES: usize = 33 * 1024 * 1024;
const REQUEST_BYTES: u64 = 8 * 1024 * 1024;
const METHOD: &str = "system.hello";

/// What a daemon says about itself.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerInfo {
    /// The whole answer.
    pub data: Value,
    /// Its version.
    pub version: String,
    /// Unique id of this run of it.
    pub instance: String,
    /// Hash of the contract it serves.
    pub schema: String,
    /// The longest request it takes, in bytes.
    pub request_bytes: u64,
}

impl ServerInfo {
    /// Whether the daemon has an optional part, like `events`.
    #[must_use]
    pub fn can(&self, capability: &str) -> bool {
        self.data["capabilities"]
            .as_array()
            .is_some_and(|known| known.iter().any(|name| name == capability))
    }

    fn read(mut result: Value) -> Self {
        let data = result["data"].take();
        let text = |name: &str| data[name].as_str().unwrap_or_default().to_owned();
        Self {
            version: text("version"),
            instance: text("instance"),
            schema: text("schema"),
            request_bytes: data["limits"]["request_bytes"]
                .as_u64()
                .unwrap_or(REQUEST_BYTES),
            data,
        }
    }
}

/// A connection on which hello was answered.
#[derive(Debug)]
pub(super) struct Greeted {
    pub stream: UnixStream,
    pub info: ServerInfo,
    /// Bytes that came after the answer.
    pub rest: LineBuffer,
}

/// Say hello on `stream`, again and again until it is answered or `until` has come.
pub(super) fn greet(
    mut stream: UnixStream,
    socket: &Path,
    timing: &Timing,
    until: Instant,
    next_id: &mut dyn FnMut() -> u64,
) -> Result<Greeted> {
    let begun = Instant::now();
    let mut rest = LineBuffer::new(RESPONSE_BYTES);
    let mut pause = timing.hello_pause;
    let mut asked = Vec::new();
    let mut again = begun;
    while Instant::now() < until {
        let now = Instant::now();
        if now >= again {
            let id = next_id();
            asked.push(id);
            ask(&mut stream, id, timing.hello_try).map_err(|error| refused(socket, &error))?;
            again = now + timing.hello_try + pause;
            pause = (pause * 2).min(timing.hello_pause_max);
        }
        let patience = again.min(until).saturating_duration_since(now);
        match listen(&mut stream, &mut rest, patience) {
            Ok(Heard::Nothing) => continue,
            Ok(Heard::Bytes) => {}
            Ok(Heard::End) => {
                return Err(IpcError::Disconnected {
                    method: METHOD.into(),
                });
            }
            Err(error) => return Err(refused(socket, &error)),
        }
        if let Some(info) = answer(&mut rest, &asked, socket)? {
            stream
                .set_read_timeout(None)
                .and_then(|()| stream.set_write_timeout(Some(timing.write_tick)))
                .map_err(|error| refused(socket, &error))?;
            return Ok(Greeted { stream, info, rest });
        }
    }
    Err(IpcError::Busy {
        socket: socket.to_owned(),
        waited: begun.elapsed(),
    })
}

enum Heard {
    Nothing,
    Bytes,
    End,
}

fn listen(
    stream: &mut UnixStream,
    rest: &mut LineBuffer,
    patience: Duration,
) -> std::io::Result<Heard> {
    let mut bytes = [0; 16 * 1024];
    stream.set_read_timeout(Some(patience.max(Duration::from_millis(1))))?;
    match stream.read(&mut bytes) {
        Ok(0) => Ok(Heard::End),
        Ok(count) => {
            rest.push(&bytes[..count]);
            Ok(Heard::Bytes)
        }
        Err(error) if error.kind() == ErrorKind::ConnectionReset => Ok(Heard::End),
        Err(error) if timed_out(&error) || error.kind() == ErrorKind::Interrupted => {
            Ok(Heard::Nothing)
        }
        Err(error) => Err(error),
    }
}

fn refused(socket: &Path, error: &std::io::Error) -> IpcError {
    IpcError::Refused {
        socket: socket.to_owned(),
        reason: error.to_string(),
    }
}

fn ask(stream: &mut UnixStream, id: u64, patience: Duration) -> std::io::Result<()> {
    stream.set_write_timeout(Some(patience))?;
    let request = codec::encode_request(id, METHOD, &params()).map_err(std::io::Error::other)?;
    match stream.write_all(&request) {
        // A daemon that does not read may still wake up; one that refused us has said why.
        Err(error) if timed_out(&error) || error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

pub(super) fn timed_out(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

fn params() -> Value {
    let mut params = json!({
        "client": "crystalmath",
        "version": env!("CARGO_PKG_VERSION"),
        "protocol": PROTOCOL,
    });
    if let Ok(agent) = std::env::var("SSH_AUTH_SOCK")
        && agent.starts_with('/')
    {
        params["env"] = json!({"SSH_AUTH_SOCK": agent});
    }
    params
}

fn answer(rest: &mut LineBuffer, asked: &[u64], socket: &Path) -> Result<Option<ServerInfo>> {
    while let Some(line) = rest.next_line() {
        let message = match line {
            Line::Text(text) => codec::parse(&text),
            Line::TooLong => Incoming::Garbage,
        };
        match message {
            Incoming::Reply { id, outcome } if asked.contains(&id) => {
                return outcome
                    .map(|result| Some(ServerInfo::read(result)))
                    .map_err(verdict);
            }
            Incoming::Orphan(error) => return Err(verdict(error)),
            Incoming::Garbage => {
                return Err(IpcError::Refused {
                    socket: socket.to_owned(),
                    reason: "what listens there is not a CrystalMath daemon".into(),
                });
            }
            Incoming::Reply { .. } | Incoming::Notification { .. } => {}
        }
    }
    Ok(None)
}

fn verdict(error: IpcError) -> IpcError {
    match error {
        IpcError::Rpc {
            code: -32014,
            message,
            data,
        } => IpcError::VersionMismatch {
            message,
            hint: data["hint"].as_str().map(str::to_owned),
        },
        IpcError::Rpc {
            code: -32011,
            message,
            ..
        } => IpcError::Overloaded(message),
        other => other,
    }
}
