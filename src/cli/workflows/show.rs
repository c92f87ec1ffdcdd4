//! `crystalmath workflows show`: the steps of a workflow, and its results with their units, their
//! doubts and where they come from.

use serde_json::{Map, Value};

use super::plot;
use crate::cli::output::Outcome;
use crate::cli::results::field;
use crate::cli::session::Session;
use crate::cli::table::{Cell, Column, cell, render};
use crate::cli::text;
use crate::cli::wording::{Commands, speak_of};
use crate::results::{error_figures, figures_within, is_repeated, made_from, short_hash};
use crate::rpc::types::{StepView, Workflow, WorkflowIdParams, calls};

pub(super) fn run(session: &Session, id: i64) -> Outcome {
    let answer = session.call::<calls::WorkflowsGet>(&WorkflowIdParams { id })?;
    let workflow = &answer.read.data;
    let drawn = plot::first(session, workflow);
    session.print(&answer.raw, || {
        whole(workflow, drawn.as_deref(), session.colour())
    })?;
    Ok(0)
}

/// Everything.
fn whole(workflow: &Workflow, drawn: Option<&str>, colour: bool) -> String {
    let mut lines = vec![outcome(workflow, drawn, colour), String::new()];
    let columns = [
        Column::left("STEP", 24),
        Column::left("STATE", 10),
        Column::right("TRY", 4),
        Column::right("JOB", 8),
        Column::left("WHAT", 0),
    ];
    let rows: Vec<_> = workflow.graph.iter().map(step).collect();
    lines.push(render(&columns, &rows, colour));
    for step in &workflow.graph {
        for said in [&step.message, &step.hint].into_iter().flatten() {
            lines.push(field(&step.name, &spoken(said, workflow.id)));
        }
    }
    lines.join("\n")
}

fn step(step: &StepView) -> Vec<Cell> {
    let more = [&step.progress, &step.reused].into_iter().flatten();
    let more: String = more.flat_map(|more| [" (", more, ")"]).collect();
    let what = format!("{}{more}", step.title);
    let job = step
        .job
        .map_or_else(|| "-".to_owned(), |job| job.to_string());
    let state = step.state.as_str();
    vec![
        cell(&step.name),
        (state.to_owned(), text::state_colour(state)),
        cell(step.attempt.to_string()),
        cell(job),
        cell(what),
    ]
}

/// State, numbers, the first plot, doubts and origin.
pub(super) fn outcome(workflow: &Workflow, drawn: Option<&str>, colour: bool) -> String {
    let state = workflow.state.as_str();
    let painted = text::paint(state, text::state_colour(state), colour);
    let mut lines = vec![format!(
        "workflow {} {}: {painted}",
        workflow.id,
        text::fit(&workflow.name, 50)
    )];
    let told = [("message", &workflow.message), ("hint", &workflow.hint)];
    for (label, said) in told {
        lines.extend(
            said.as_ref()
                .map(|said| field(label, &spoken(said, workflow.id))),
        );
    }
    lines.extend(
        workflow
            .warnings
            .iter()
            .map(|warning| field("warning", &spoken(warning, workflow.id))),
    );
    if !workflow.results.is_empty() {
        lines.push(String::new());
        lines.push(numbers(&workflow.results, colour));
        if let Some(drawn) = drawn {
            lines.push(format!("\n{}", drawn.trim_end()));
        }
        for flag in list(&workflow.results, "flags") {
            let doubt = spoken(word(flag, "message"), workflow.id);
            lines.push(field("doubt", &doubt));
        }
        lines.push(String::new());
        lines.extend(origin(workflow));
    }
    lines.join("\n")
}

fn numbers(results: &Map<String, Value>, colour: bool) -> String {
    let columns = [
        Column::left("QUANTITY", 40),
        Column::right("VALUE", 18),
        Column::right("± ERROR", 12),
        Column::left("UNIT", 0),
    ];
    let rows: Vec<_> = list(results, "quantities").iter().map(quantity).collect();
    let title = results.get("title").and_then(Value::as_str);
    format!(
        "{}\n{}",
        title.unwrap_or("Results"),
        render(&columns, &rows, colour)
    )
}

fn quantity(one: &Value) -> Vec<Cell> {
    let value = one["value"].as_f64();
    let error = one["error"].as_f64();
    vec![
        cell(word(one, "label")),
        cell(value.map_or_else(|| "-".to_owned(), |value| figures_within(value, error))),
        cell(error.map_or_else(String::new, error_figures)),
        cell(word(one, "unit")),
    ]
}

fn origin(workflow: &Workflow) -> Vec<String> {
    let mut lines = Vec::new();
    let known = workflow
        .results
        .get("provenance")
        .and_then(Value::as_object);
    let of = |name: &str| known?.get(name)?.as_str();
    for (name, value) in known.into_iter().flatten() {
        let text = value.as_str().unwrap_or_default();
        if is_repeated(name, text, of) {
            continue;
        }
        let text = if name == "structure" {
            short_hash(text)
        } else {
            text
        };
        lines.push(field(&name.replace('_', " "), text));
    }
    let from = made_from(&workflow.source);
    if !from.is_empty() {
        lines.push(field("made from", &from));
    }
    let jobs: Vec<String> = workflow
        .graph
        .iter()
        .filter_map(|step| step.job)
        .map(|job| job.to_string())
        .collect();
    if !jobs.is_empty() {
        lines.push(field("jobs", &jobs.join(" ")));
    }
    lines
}

fn list<'a>(results: &'a Map<String, Value>, name: &str) -> &'a [Value] {
    let found = results.get(name).and_then(Value::as_array);
    found.map_or(&[], Vec::as_slice)
}

fn word<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

fn spoken(sentence: &str, id: i64) -> String {
    speak_of(Commands::Workflows, sentence, Some(id))
}
