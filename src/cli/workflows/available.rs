//! `crystalmath workflows available`: the kinds, and what each can use here.

use crate::cli::output::Outcome;
use crate::cli::results::field;
use crate::cli::session::Session;
use crate::cli::wording::{Commands, speak_of};
use crate::rpc::types::{EngineUse, KindInfo, NoParams, calls};

pub(super) fn run(session: &Session) -> Outcome {
    let answer = session.call::<calls::WorkflowsAvailable>(&NoParams {})?;
    let kinds = &answer.read.data;
    session.print(&answer.raw, || {
        let told: Vec<String> = kinds.iter().map(render).collect();
        told.join("\n\n")
    })?;
    Ok(0)
}

fn render(kind: &KindInfo) -> String {
    let can = if kind.usable {
        ""
    } else {
        "  (cannot be used)"
    };
    let mut lines = vec![format!("{}{can}", kind.kind)];
    lines.push(field("what", &kind.summary));
    lines.extend(kind.reason.as_ref().map(|why| field("why not", &said(why))));
    let usable = |one: &&EngineUse| one.usable;
    let ready: Vec<&str> = kind.engines.iter().filter(usable).map(name).collect();
    if !ready.is_empty() {
        lines.push(field("engines", &ready.join(" ")));
    }
    let missing: Vec<&str> = kind
        .engines
        .iter()
        .filter(|one| !one.usable)
        .map(name)
        .collect();
    if !missing.is_empty() {
        lines.push(field("not installed", &missing.join(" ")));
    }
    let codes: Vec<&str> = kind.codes.iter().filter(usable).map(name).collect();
    if !codes.is_empty() {
        lines.push(field("codes", &codes.join(" ")));
    }
    for code in kind.codes.iter().filter(|one| !one.usable) {
        let why = code.reason.as_deref().unwrap_or("cannot be used");
        lines.push(field(&code.name, &said(why)));
    }
    lines.join("\n")
}

fn name(one: &EngineUse) -> &str {
    &one.name
}

fn said(sentence: &str) -> String {
    speak_of(Commands::Workflows, sentence, None)
}
