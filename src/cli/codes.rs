//! `crystalmath codes`: which codes there are, and what each can do here.

use super::output::Outcome;
use super::session::Session;
use super::text;
use crate::rpc::types::{CodeInfo, NoParams, calls};

pub(super) fn run(session: &Session) -> Outcome {
    let answer = session.call::<calls::CodesList>(&NoParams {})?;
    session.print(&answer.raw, || {
        answer
            .read
            .data
            .iter()
            .map(render)
            .collect::<Vec<_>>()
            .join("\n\n")
    })?;
    Ok(0)
}

fn render(code: &CodeInfo) -> String {
    let mut lines = vec![format!("{}  {}", code.name, text::fit(&code.title, 60))];
    let mut field = |label: &str, value: &str| {
        let lead = format!("  {}", text::pad(label, 12, false));
        lines.push(format!(
            "{lead}{}",
            text::wrap(value, text::WIDTH - 14, &" ".repeat(14))
        ));
    };
    if !code.tasks.is_empty() {
        field("tasks", &code.tasks.join(", "));
    }
    if !code.engines.is_empty() {
        field("engines", &code.engines.join(", "));
    }
    if let Some(executable) = &code.executable {
        field("program", executable);
    }
    let parameters = code
        .parameters
        .get("properties")
        .and_then(|found| found.as_object());
    if let Some(names) = parameters.filter(|names| !names.is_empty()) {
        field(
            "parameters",
            &names.keys().cloned().collect::<Vec<_>>().join(", "),
        );
    }
    match &code.problem {
        Some(problem) => field("not usable", problem),
        None if !code.usable => field("not usable", "the daemon gives no reason"),
        None => {}
    }
    lines.join("\n")
}
