//! What a command ends with, and how text reaches stdout.

use std::io::{self, Write as _};

use serde_json::{Value, json};

use super::wording::{self, Commands};
use crate::error::IpcError;

/// Exit code of a wrong command line or an unusable argument.
pub const USAGE: u8 = 2;
/// Exit code of an interrupted wait; the job goes on.
pub const INTERRUPTED: u8 = 130;

/// An exit code, or the failure to report.
pub type Outcome = Result<u8, Failure>;

/// Why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// The daemon's answer, or the way to it.
    Ipc(IpcError),
    /// The same, of one of these commands, whose arguments have other names.
    Of(Commands, IpcError),
    /// The same, for somebody who has typed the words of the wire.
    Wire(IpcError),
    /// An argument that cannot be used.
    Usage {
        /// What is wrong.
        message: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// Waiting for a job ended before the job did.
    Unfinished {
        /// `interrupted` or `timeout`.
        kind: &'static str,
        /// `job` or `workflow`.
        what: &'static str,
        /// Its number.
        id: i64,
        /// The exit code.
        exit: u8,
    },
    /// The user has ended the waiting for something that is no job.
    Interrupted {
        /// What goes on, and what was not done.
        message: String,
        /// How to end it.
        hint: String,
    },
    /// Reading or writing failed on this side.
    Io(String, io::Error),
    /// Nobody reads our output any more.
    BrokenPipe,
}

impl From<IpcError> for Failure {
    fn from(error: IpcError) -> Self {
        Self::Ipc(error)
    }
}

impl Failure {
    /// An argument that cannot be used, with a hint.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Usage {
            message: message.into(),
            hint: Some(hint.into()),
        }
    }

    /// The same of one of these commands, whose arguments have other names.
    #[must_use]
    pub fn of(self, commands: Commands) -> Self {
        match self {
            Self::Ipc(error) => Self::Of(commands, error),
            other => other,
        }
    }

    /// The exit code of the program.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage { .. } => USAGE,
            Self::Unfinished { exit, .. } => *exit,
            Self::Interrupted { .. } => INTERRUPTED,
            Self::Ipc(error) | Self::Of(_, error) | Self::Wire(error)
                if wording::blames_argument(error) =>
            {
                USAGE
            }
            Self::Of(commands, error) if wording::names_no_cluster(*commands, error) => USAGE,
            Self::Ipc(_) | Self::Of(..) | Self::Wire(_) | Self::Io(..) => 1,
            Self::BrokenPipe => 0,
        }
    }

    /// The failure for scripts.
    #[must_use]
    pub fn document(&self) -> Value {
        let mut error = match self {
            Self::Ipc(error) => spoken_document(Commands::Jobs, error),
            Self::Of(commands, error) => spoken_document(*commands, error),
            Self::Wire(error) => ipc_document(error),
            Self::Usage { message, hint } => {
                json!({"code": -32602, "kind": "usage", "message": message, "hint": hint})
            }
            Self::Interrupted { message, hint } => json!({
                "code": -32800, "kind": "interrupted", "message": message, "hint": hint,
            }),
            Self::Unfinished { kind, what, id, .. } => json!({
                "code": -32800,
                "kind": kind,
                "message": self.render().lines().next(),
                "hint": format!("crystalmath {} {id}", if *what == "job" { "show" } else { "workflows show" }),
                *what: id,
            }),
            Self::Io(what, error) => {
                json!({"code": -32000, "kind": "io", "message": format!("{what}: {error}"), "hint": null})
            }
            Self::BrokenPipe => Value::Null,
        };
        json!({"error": error.take()})
    }

    /// The failure for people.
    #[must_use]
    pub fn render(&self) -> String {
        match self {
            Self::Ipc(error @ IpcError::Rpc { .. }) => wording::render(Commands::Jobs, error),
            Self::Of(commands, error @ IpcError::Rpc { .. }) => wording::render(*commands, error),
            Self::Ipc(error) | Self::Of(_, error) | Self::Wire(error) => error.render(),
            Self::Usage {
                message,
                hint: None,
            } => format!("error: {message}"),
            Self::Usage {
                message,
                hint: Some(hint),
            } => format!("error: {message}\nhint: {hint}"),
            Self::Interrupted { message, hint } => format!("interrupted: {message}\nhint: {hint}"),
            Self::Unfinished { kind, what, id, .. } => {
                let why = if *kind == "timeout" {
                    "the time is over"
                } else {
                    "interrupted"
                };
                let hint = if *what == "job" {
                    format!(
                        "follow it with: crystalmath log {id} -f; end it with: crystalmath cancel \
                         {id}"
                    )
                } else {
                    format!(
                        "look at it with: crystalmath workflows show {id}; end it with: \
                         crystalmath workflows cancel {id}"
                    )
                };
                format!("{why}: {what} {id} goes on\nhint: {hint}")
            }
            Self::Io(what, error) => format!("error: {what}: {error}"),
            Self::BrokenPipe => String::new(),
        }
    }
}

/// The same in the words of the command line.
fn spoken_document(commands: Commands, error: &IpcError) -> Value {
    let mut document = ipc_document(error);
    if let IpcError::Rpc { .. } = error {
        document["message"] = json!(wording::faults(commands, error).join("; "));
        document["hint"] = json!(wording::hint(commands, error));
    }
    if let Some(argument) = error.field().and_then(|field| commands.argument(field)) {
        document["argument"] = json!(argument);
    }
    document
}

/// A failure of the connection, or the daemon's error answer, for scripts.
fn ipc_document(error: &IpcError) -> Value {
    let mut document = json!({
        "code": error.code(),
        "kind": error.kind(),
        "message": error.to_string(),
        "hint": error.hint(),
    });
    if let Some(field) = error.field() {
        document["field"] = json!(field);
    }
    match error {
        IpcError::StartFailed(failure) => {
            document["log_path"] = json!(failure.log_path);
            document["tail"] = json!(failure.tail);
            document["tried"] = json!(failure.tried);
        }
        IpcError::Rpc { data, .. } => {
            document["retryable"] = data["retryable"].clone();
            document["trace_id"] = data["trace_id"].clone();
        }
        _ => {}
    }
    document
}

/// Write text to stdout as it is.
///
/// # Errors
/// [`Failure::BrokenPipe`] when the reader has gone; the program then ends quietly.
pub fn text(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
        .map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::BrokenPipe,
            _ => Failure::Io("cannot write to stdout".into(), error),
        })
}

/// Write one line, or several, to stdout.
///
/// # Errors
/// As [`text()`].
pub fn line(line: &str) -> Result<(), Failure> {
    text(&format!("{line}\n"))
}

/// Write one JSON document to stdout.
///
/// # Errors
/// As [`text()`].
pub fn document(value: &Value) -> Result<(), Failure> {
    line(&format!("{value:#}"))
}
