//! Where the numbers of a workflow come from: what computed them, with what, from which structure.

use serde_json::Value;

use crate::results::{Document, is_repeated, made_from, short_hash};
use crate::rpc::types::Workflow;
use crate::screens::job::time_text;
use crate::units;

/// Names and values.
pub fn facts(workflow: &Workflow, document: Option<&Document>) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    let mut add = |name: &str, value: String| {
        if !value.is_empty() {
            facts.push((name.to_owned(), value));
        }
    };
    add("kind", workflow.kind.clone());
    let formula = workflow.formula.clone().unwrap_or_default();
    let atoms = workflow
        .n_atoms
        .map(|count| format!(", {count} atoms in the cell"));
    add(
        "structure",
        format!("{formula}{}", atoms.unwrap_or_default()),
    );
    add("made from", made_from(&workflow.source));
    let by = workflow.engine.as_ref().unwrap_or(&workflow.code);
    let model = workflow
        .model
        .as_ref()
        .map(|model| format!(", model {model}"));
    add("by", format!("{by}{}", model.unwrap_or_default()));
    let options = workflow
        .options
        .iter()
        .filter(|(_, value)| !value.is_null());
    let options: Vec<String> = options.map(|(name, value)| option(name, value)).collect();
    add("options", options.join(", "));
    let of = |name: &str| document?.provenance.get(name).map(String::as_str);
    for (name, value) in document.into_iter().flat_map(|found| &found.provenance) {
        let is_hash = value.len() == 64 && value.bytes().all(|byte| byte.is_ascii_hexdigit());
        let value = if is_hash { short_hash(value) } else { value };
        match name.as_str() {
            "engine" | "code" | "model" => {}
            name if is_repeated(name, value, of) => {}
            "structure" => add("hash", value.to_owned()),
            name => add(&name.replace('_', " "), value.to_owned()),
        }
    }
    add("begun", time_text(&workflow.created_at));
    let ended = workflow.finished_at.as_deref().map(time_text);
    add("ended", ended.unwrap_or_default());
    facts
}

/// An option as the form calls it.
fn option(name: &str, value: &Value) -> String {
    let (words, unit) = units::split(name);
    let value = match value {
        Value::String(text) => text.clone(),
        Value::Bool(yes) => (if *yes { "yes" } else { "no" }).to_owned(),
        value => value.to_string(),
    };
    format!("{words} {value} {unit}").trim_end().to_owned()
}
