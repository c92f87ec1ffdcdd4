//! What clap answers by itself: help, version, and what is wrong with a command line. People get it
//! as clap writes it; with `--json` it is one document like every other answer.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::CommandFactory as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use serde_json::{Value, json};

use super::output::{self, USAGE};

/// Whether a command line asks for JSON, also one that cannot be parsed.
pub(super) fn wants_json(arguments: &[OsString]) -> bool {
    arguments
        .iter()
        .take_while(|argument| *argument != "--")
        .any(|argument| argument == "--json")
}

/// Say what clap says; the exit code is 0 for what was asked for.
pub(super) fn answer(error: &clap::Error, arguments: &[OsString]) -> ExitCode {
    if wants_json(arguments) {
        // Nobody reads any more when this fails.
        let _ = output::document(&document(error, arguments));
    } else {
        let _ = error.print();
    }
    ExitCode::from(if error.use_stderr() { USAGE } else { 0 })
}

fn document(error: &clap::Error, arguments: &[OsString]) -> Value {
    let text = error.render().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp => json!({"status": "ok", "data": {"help": text}}),
        ErrorKind::DisplayVersion => {
            json!({"status": "ok", "data": {"version": env!("CARGO_PKG_VERSION")}})
        }
        _ => {
            let mut found = json!({
                "code": -32602,
                "kind": "usage",
                "message": message(&text),
                "hint": tip(&text).unwrap_or_else(|| see(arguments)),
            });
            for (name, kind) in [
                ("argument", ContextKind::InvalidArg),
                ("argument", ContextKind::InvalidSubcommand),
                ("value", ContextKind::InvalidValue),
            ] {
                if let Some(value) = error.get(kind).and_then(words) {
                    found[name] = value.into();
                }
            }
            json!({"error": found})
        }
    }
}

/// The first paragraph in one line: what is wrong, with the argument and its value.
fn message(text: &str) -> String {
    let lines = text.lines().take_while(|line| !line.trim().is_empty());
    let said: Vec<&str> = lines.map(str::trim).collect();
    let said = said.join(" ");
    said.strip_prefix("error: ").unwrap_or(&said).to_owned()
}

fn tip(text: &str) -> Option<String> {
    let tips: Vec<&str> = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("tip: "))
        .collect();
    (!tips.is_empty()).then(|| tips.join("; "))
}

/// Where the help of the command is.
fn see(arguments: &[OsString]) -> String {
    let program = super::Cli::command();
    let command = arguments
        .iter()
        .skip(1)
        .filter_map(|argument| argument.to_str())
        .find(|argument| program.find_subcommand(argument).is_some());
    match command {
        Some(command) => format!("see: crystalmath {command} --help"),
        None => "see: crystalmath --help".to_owned(),
    }
}

fn words(value: &ContextValue) -> Option<String> {
    match value {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => Some(texts.join(" ")),
        _ => None,
    }
}
