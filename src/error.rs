//! What can go wrong between this program and the daemon.
//!
//! One enum for the whole client side. It is not the daemon's exception tree: an answer that the
//! daemon gave arrives as [`IpcError::Rpc`] with its code and data untouched. Returned by `ipc`
//! and `rpc`, printed by `cli`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

/// The result of everything that talks to the daemon.
pub type Result<T> = std::result::Result<T, IpcError>;

/// Why a daemon could not be started.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StartFailure {
    /// What happened, in one sentence or a few lines.
    pub cause: String,
    /// What the user can do, if the daemon said so.
    pub hint: Option<String>,
    /// The daemon's log.
    pub log_path: PathBuf,
    /// The last lines of that log, if the daemon died without a word.
    pub tail: Vec<String>,
    /// The executable that was run, or the places where one was looked for.
    pub tried: Vec<String>,
}

/// Every way in which a call can fail.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum IpcError {
    /// No daemon listens, and none was to be started.
    #[error("no daemon is running ({})", socket.display())]
    Down {
        /// Where one was expected.
        socket: PathBuf,
    },
    /// Something listens, but does not answer.
    #[error("the daemon at {} is busy: it has not answered for {:.1} s", socket.display(), waited.as_secs_f64())]
    Busy {
        /// Where it listens.
        socket: PathBuf,
        /// For how long it was asked.
        waited: Duration,
    },
    /// The socket must not or cannot be used.
    #[error("cannot use the socket {}: {reason}", socket.display())]
    Refused {
        /// The socket.
        socket: PathBuf,
        /// Why not.
        reason: String,
    },
    /// The daemon could not be started.
    #[error("the daemon could not be started: {}", .0.cause)]
    StartFailed(Box<StartFailure>),
    /// Client and daemon have no protocol version in common.
    #[error("{message}")]
    VersionMismatch {
        /// What the daemon said.
        message: String,
        /// The command that helps.
        hint: Option<String>,
    },
    /// The connection ended before the answer came.
    #[error("the connection to the daemon ended before it answered {method}")]
    Disconnected {
        /// The method that was called.
        method: String,
    },
    /// The answer did not come in time.
    #[error("{method} was not answered within {:.1} s", after.as_secs_f64())]
    Deadline {
        /// The method that was called.
        method: String,
        /// How long was waited.
        after: Duration,
    },
    /// Too many calls wait to be sent, or the daemon refuses one more connection.
    #[error("overloaded: {0}")]
    Overloaded(String),
    /// The other side does not keep to the protocol, or the request cannot be sent as it is.
    #[error("{0}")]
    Protocol(String),
    /// The daemon's own error answer.
    #[error("{message}")]
    Rpc {
        /// The JSON-RPC error code.
        code: i64,
        /// One sentence for the user.
        message: String,
        /// `{kind, hint, retryable, field?, trace_id}`.
        data: Value,
    },
}

impl IpcError {
    /// A start failure of which only the cause and the log are known.
    #[must_use]
    pub fn start_failed(cause: impl Into<String>, log_path: &Path) -> Self {
        Self::StartFailed(Box::new(StartFailure {
            cause: cause.into(),
            log_path: log_path.to_owned(),
            ..StartFailure::default()
        }))
    }

    /// The error code, with the daemon's numbering for the failures that both sides can notice.
    #[must_use]
    pub fn code(&self) -> i64 {
        match self {
            Self::Rpc { code, .. } => *code,
            Self::Overloaded(_) => -32011,
            Self::Deadline { .. } => -32012,
            Self::VersionMismatch { .. } => -32014,
            _ => -32000,
        }
    }

    /// One word for the sort of failure.
    #[must_use]
    pub fn kind(&self) -> &str {
        match self {
            Self::Down { .. } => "down",
            Self::Busy { .. } => "busy",
            Self::Refused { .. } => "refused",
            Self::StartFailed(_) => "start_failed",
            Self::VersionMismatch { .. } => "protocol_mismatch",
            Self::Disconnected { .. } => "disconnected",
            Self::Deadline { .. } => "deadline",
            Self::Overloaded(_) => "overloaded",
            Self::Protocol(_) => "protocol",
            Self::Rpc { data, .. } => data["kind"].as_str().unwrap_or("error"),
        }
    }

    /// What the user can do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Down { .. } => Some("start it with: crystalmath-server start".into()),
            Self::Busy { .. } => Some(
                "see what it does with: crystalmath-server status, or crystalmath-server logs"
                    .into(),
            ),
            Self::StartFailed(failure) => Some(failure.hint.clone().unwrap_or_else(|| {
                "run it on this terminal to see more: crystalmath-server --foreground".into()
            })),
            Self::VersionMismatch { hint, .. } => hint.clone(),
            Self::Disconnected { .. } => {
                Some("it may or may not have been carried out; look before repeating it".into())
            }
            Self::Overloaded(_) => Some("try again in a moment".into()),
            Self::Rpc { data, .. } => data["hint"].as_str().map(str::to_owned),
            Self::Refused { .. } | Self::Deadline { .. } | Self::Protocol(_) => None,
        }
    }

    /// The request field at fault.
    #[must_use]
    pub fn field(&self) -> Option<&str> {
        match self {
            Self::Rpc { data, .. } => data["field"].as_str(),
            _ => None,
        }
    }

    /// The error for people: the message, where it is known to come from, and the hint.
    #[must_use]
    pub fn render(&self) -> String {
        let message = self.to_string();
        let mut text = match self.field() {
            // Most messages about a field begin with its name.
            Some(field) if !message.contains(field) => format!("error: {field}: {message}"),
            _ => format!("error: {message}"),
        };
        if let Self::StartFailed(failure) = self {
            for place in &failure.tried {
                let _ = write!(text, "\n  tried: {place}");
            }
            let _ = write!(text, "\n  log: {}", failure.log_path.display());
            for line in &failure.tail {
                let _ = write!(text, "\n  | {line}");
            }
        }
        if let Some(hint) = self.hint().filter(|hint| !message.contains(hint.as_str())) {
            let _ = write!(text, "\nhint: {hint}");
        }
        if let Self::Rpc {
            code: -32603, data, ..
        } = self
            && let Some(trace) = data["trace_id"].as_str()
        {
            let _ = write!(text, "\n  trace id in the daemon's log: {trace}");
        }
        text
    }
}
