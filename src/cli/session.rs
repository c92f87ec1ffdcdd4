//! What the commands share: the connection, made when it is first needed, and the way to report.

use std::cell::OnceCell;
use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use serde_json::Value;

use super::Globals;
use super::output::{self, Failure};
use super::wording::{Commands, speak_of};
use crate::error::{IpcError, Result};
use crate::ipc::{IpcClient, Options};
use crate::rpc::SCHEMA_SHA256;
use crate::rpc::fit;
use crate::rpc::types::Call;

/// An answer of the daemon.
pub struct Answer<R> {
    /// The `result` object as it came, for `--json`.
    pub raw: Value,
    /// The same, read.
    pub read: R,
}

/// One run of the program.
pub struct Session {
    /// Options of every command.
    pub globals: Globals,
    client: OnceCell<IpcClient>,
}

impl Session {
    /// A session that is not connected yet.
    #[must_use]
    pub fn new(globals: Globals) -> Self {
        Self {
            globals,
            client: OnceCell::new(),
        }
    }

    /// The options that a client of this session is opened with.
    ///
    /// # Errors
    /// A wrong variable, or a current directory that is gone.
    pub fn options(&self) -> Result<Options> {
        let mut options = Options::of_process()?;
        options.start = !self.globals.no_start;
        options.socket = match &self.globals.socket {
            Some(path) => Some(
                std::path::absolute(path).map_err(|error| IpcError::Refused {
                    socket: path.clone(),
                    reason: error.to_string(),
                })?,
            ),
            None => None,
        };
        options.launch.notice = Arc::new(note);
        Ok(options)
    }

    /// The connection.
    ///
    /// # Errors
    /// There is no daemon, and none can be started.
    pub fn client(&self) -> Result<&IpcClient> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let client = IpcClient::connect_with(self.options()?)?;
        if let Some(server) = client.server()
            && !SCHEMA_SHA256.is_empty()
            && server.schema != SCHEMA_SHA256
        {
            note(&format!(
                "the daemon ({}) and this program ({}) were built for different contracts; when no \
                 job needs it, restart the daemon: crystalmath-server stop",
                server.version,
                env!("CARGO_PKG_VERSION")
            ));
        }
        Ok(self.client.get_or_init(|| client))
    }

    /// Call a method and wait for its `result` object.
    ///
    /// # Errors
    /// The daemon's error answer, or the reason why there is no answer.
    pub fn ask(&self, method: &str, params: Value) -> Result<Value> {
        self.client()?.send_request(method, params)
    }

    /// Call a method by its type: the `result` object as it came, and as the type says.
    ///
    /// # Errors
    /// As [`Session::ask`], and an answer of another shape.
    pub fn call<C: Call>(&self, params: &C::Params) -> Result<Answer<C::Reply>> {
        let params = serde_json::to_value(params).map_err(|error| {
            IpcError::Protocol(format!("{} cannot be sent so: {error}", C::METHOD))
        })?;
        let raw = self.ask(C::METHOD, params)?;
        let read = fit(C::METHOD, &raw)?;
        Ok(Answer { raw, read })
    }

    /// Whether stdout is one JSON document and nothing else.
    #[must_use]
    pub fn json(&self) -> bool {
        self.globals.json
    }

    /// Print `result` as it is with `--json`, else what `render` makes of it.
    ///
    /// # Errors
    /// stdout cannot be written.
    pub fn print(
        &self,
        result: &Value,
        render: impl FnOnce() -> String,
    ) -> std::result::Result<(), Failure> {
        if self.globals.json {
            return output::document(result);
        }
        let text = render();
        if text.is_empty() {
            Ok(())
        } else {
            output::line(&text)
        }
    }

    /// Say the daemon's warnings beside the output, in the words of these commands; not with
    /// `--json`, whose document has them.
    pub fn warn(&self, commands: Commands, warnings: &[String]) {
        if self.globals.json {
            return;
        }
        for warning in warnings {
            note(&format!("warning: {}", speak_of(commands, warning, None)));
        }
    }

    /// Whether stdout may be coloured.
    #[must_use]
    pub fn colour(&self) -> bool {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        !self.globals.json && !refused && !dumb && std::io::stdout().is_terminal()
    }

    /// Report a failure where it belongs.
    #[must_use]
    pub fn report(&self, failure: &Failure) -> ExitCode {
        if !matches!(failure, Failure::BrokenPipe) {
            if self.globals.json {
                // Nobody reads any more when this fails.
                let _ = output::document(&failure.document());
            } else {
                let _ = writeln!(std::io::stderr(), "{}", failure.render());
            }
        }
        ExitCode::from(failure.exit_code())
    }
}

/// A note for the user, beside the output.
pub fn note(text: &str) {
    // A closed stderr is no reason to stop.
    let _ = writeln!(std::io::stderr(), "{text}");
}
