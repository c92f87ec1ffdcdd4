//! `crystalmath codes [CODE]`: which codes there are, and what each can do here; of one code, all
//! parameters of its tasks.

use serde_json::{Map, Value};

use super::output::{Failure, Outcome};
use super::session::Session;
use super::text;
use crate::rpc::types::{CodeInfo, NoParams, calls};

/// Arguments of `codes`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Show one code, with the parameters of its tasks and their defaults
    code: Option<String>,
}

pub(super) fn run(session: &Session, args: &Args) -> Outcome {
    let answer = session.call::<calls::CodesList>(&NoParams {})?;
    let codes = &answer.read.data;
    let Some(name) = &args.code else {
        session.print(&answer.raw, || {
            codes.iter().map(render).collect::<Vec<_>>().join("\n\n")
        })?;
        return Ok(0);
    };
    let Some(code) = codes.iter().find(|code| code.name == *name) else {
        let known: Vec<&str> = codes.iter().map(|code| code.name.as_str()).collect();
        return Err(Failure::usage(
            format!("there is no code {name}"),
            format!("there are {}", known.join(", ")),
        ));
    };
    let raw = answer.raw["data"]
        .as_array()
        .and_then(|rows| rows.iter().find(|row| row["name"] == name.as_str()));
    session.print(raw.unwrap_or(&Value::Null), || render_whole(code))?;
    Ok(0)
}

fn render(code: &CodeInfo) -> String {
    let mut lines = head(code);
    let names = parameters(&code.parameters);
    if !names.is_empty() {
        let listed: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
        lines.push(field("parameters", &listed.join(", ")));
    }
    lines.join("\n")
}

/// The code, and under each task the parameters that it takes.
fn render_whole(code: &CodeInfo) -> String {
    let mut lines = head(code);
    let mut shown: Option<&Map<String, Value>> = None;
    for task in &code.tasks {
        let Some(schema) = code.parameters_by_task.get(task) else {
            continue;
        };
        lines.push(String::new());
        if shown == Some(schema) {
            lines.push(format!("{task}: the same"));
            continue;
        }
        shown = Some(schema);
        lines.push(format!("parameters of {task}"));
        for (name, value) in parameters(schema) {
            lines.push(format!("  {name}{}", default_of(value)));
            if let Some(told) = value.get("description").and_then(Value::as_str) {
                let lead = " ".repeat(6);
                lines.push(format!(
                    "{lead}{}",
                    text::wrap(told, text::WIDTH - 6, &lead)
                ));
            }
        }
    }
    lines.join("\n")
}

fn head(code: &CodeInfo) -> Vec<String> {
    let mut lines = vec![format!("{}  {}", code.name, text::fit(&code.title, 60))];
    if !code.tasks.is_empty() {
        lines.push(field("tasks", &code.tasks.join(", ")));
    }
    if !code.engines.is_empty() {
        lines.push(field("engines", &code.engines.join(", ")));
    }
    if let Some(executable) = &code.executable {
        lines.push(field("program", executable));
    }
    match &code.problem {
        Some(problem) => lines.push(field("not usable", problem)),
        None if !code.usable => lines.push(field("not usable", "the daemon gives no reason")),
        None => {}
    }
    lines
}

fn field(label: &str, value: &str) -> String {
    let lead = format!("  {}", text::pad(label, 12, false));
    let rest = text::wrap(value, text::WIDTH - 14, &" ".repeat(14));
    format!("{lead}{rest}")
}

fn parameters(schema: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let found = schema.get("properties").and_then(Value::as_object);
    found.map(|map| map.iter().collect()).unwrap_or_default()
}

fn default_of(parameter: &Value) -> String {
    match parameter.get("default") {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => format!(" = {text}"),
        Some(value) => format!(" = {value}"),
    }
}
