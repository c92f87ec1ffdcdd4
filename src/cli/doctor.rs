//! `crystalmath doctor`: one diagnosis. This side's findings come first, so that there is an answer
//! when the daemon cannot be reached; then the daemon's own.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::output::{self, Outcome};
use super::session::Session;
use super::text;
use super::wording;
use crate::error::Result;
use crate::ipc::paths;
use crate::rpc::SCHEMA_SHA256;
use crate::rpc::types::{Check, NoParams, calls};

pub(super) fn run(session: &Session) -> Outcome {
    let mut checks = own_checks(session);
    let daemon = session.call::<calls::SystemDoctor>(&NoParams {});
    match &daemon {
        Ok(answer) => {
            checks.push(contract(session));
            checks.extend(answer.read.data.checks.iter().cloned());
        }
        Err(error) => checks.push(Check {
            name: "daemon".into(),
            ok: false,
            detail: error.to_string(),
            hint: error.hint(),
        }),
    }
    let ok = checks.iter().all(|check| check.ok);
    let raw = json!({"status": "ok", "data": {"ok": ok, "checks": as_json(&checks)}});
    if session.globals.json {
        output::document(&raw)?;
    } else {
        let colour = session.colour();
        let lines: Vec<String> = checks.iter().map(|check| render(check, colour)).collect();
        let verdict = if ok {
            "everything is fine"
        } else {
            "something needs attention"
        };
        output::line(&format!("{}\n{verdict}", lines.join("\n")))?;
    }
    Ok(u8::from(!ok))
}

fn own_checks(session: &Session) -> Vec<Check> {
    let found = |name: &str, outcome: Result<String>| match outcome {
        Ok(detail) => Check {
            name: name.into(),
            ok: true,
            detail,
            hint: None,
        },
        Err(error) => Check {
            name: name.into(),
            ok: false,
            detail: error.to_string(),
            hint: error.hint(),
        },
    };
    let socket = || {
        let options = session.options()?;
        let chosen = paths::resolve(options.socket.as_deref(), &options.surroundings)?;
        Ok(format!(
            "{} ({})",
            chosen.path.display(),
            chosen.origin.word()
        ))
    };
    let program = || {
        let options = session.options()?;
        let log_path = options.surroundings.log_path()?;
        Ok(options.launch.places.choose(&log_path)?.to_string())
    };
    vec![
        Check {
            name: "client".into(),
            ok: true,
            detail: format!("crystalmath {}", env!("CARGO_PKG_VERSION")),
            hint: None,
        },
        found("socket", socket()),
        found("daemon program", program()),
    ]
}

fn contract(session: &Session) -> Check {
    let server = session
        .client()
        .ok()
        .and_then(crate::ipc::IpcClient::server);
    let same = server
        .as_ref()
        .is_some_and(|server| server.schema == SCHEMA_SHA256);
    let version = server
        .map(|server| server.version.clone())
        .unwrap_or_default();
    Check {
        name: "contract".into(),
        ok: same,
        detail: if same {
            format!("client and daemon {version} were built for the same one")
        } else {
            format!("the daemon ({version}) was built for another one than this program")
        },
        hint: (!same).then(|| "when no job needs it: crystalmath-server stop".to_owned()),
    }
}

fn as_json(checks: &[Check]) -> Value {
    serde_json::to_value(checks).unwrap_or(Value::Null)
}

fn render(check: &Check, colour: bool) -> String {
    let (mark, tint) = if check.ok {
        ("ok  ", "\x1b[32m")
    } else {
        ("FAIL", "\x1b[31m")
    };
    let lead = format!("  {} ", text::pad(&check.name, 16, false));
    let indent = " ".repeat(lead.len() + 4);
    let width = text::WIDTH - indent.len();
    let detail = text::wrap(&check.detail, width, &indent);
    let mut line = format!("{}{lead}{detail}", text::paint(mark, tint, colour));
    if let Some(hint) = check.hint.as_ref().filter(|_| !check.ok) {
        let _ = write!(
            line,
            "\n{indent}hint: {}",
            text::wrap(&wording::speak(hint, None), width - 6, &indent)
        );
    }
    line
}
