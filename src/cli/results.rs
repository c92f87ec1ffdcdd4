//! A job's result in words: what came out, and where the numbers come from. Used by `show` and by
//! everything that waits for a job.

use serde_json::{Map, Value};

use super::text;
use crate::rpc::types::Job;

const LABEL: usize = 15;

/// One line: a label and its text, wrapped below itself.
pub(super) fn field(label: &str, value: &str) -> String {
    let indent = " ".repeat(LABEL);
    format!(
        "{}{}",
        text::pad(label, LABEL, false),
        text::wrap(value, text::WIDTH - LABEL, &indent)
    )
}

/// The outcome of a job that has ended: state, reason, numbers, origin.
#[must_use]
pub fn render(job: &Job, colour: bool) -> String {
    let mut lines = vec![headline(job, colour)];
    lines.extend(
        job.message
            .as_deref()
            .map(|message| field("message", message)),
    );
    lines.extend(job.hint.as_deref().map(|hint| field("hint", hint)));
    lines.extend(numbers(job));
    lines.extend(origin(job));
    lines.extend(job.warnings.iter().map(|warning| field("warning", warning)));
    lines.join("\n")
}

fn headline(job: &Job, colour: bool) -> String {
    let state = text::paint(
        job.state.as_str(),
        text::state_colour(job.state.as_str()),
        colour,
    );
    let reason = job
        .reason
        .as_ref()
        .map(|reason| format!(" ({reason})"))
        .unwrap_or_default();
    let elapsed = job
        .elapsed_s
        .map(|s| format!(" after {}", text::duration(s)))
        .unwrap_or_default();
    format!(
        "job {} {}: {state}{reason}{elapsed}",
        job.id,
        text::fit(&job.name, 40)
    )
}

/// The numbers that a person looks for first.
pub(super) fn numbers(job: &Job) -> Vec<String> {
    let results = &job.results;
    let mut lines = Vec::new();
    if let Some(formula) = &job.formula {
        let atoms = job
            .n_atoms
            .map(|n| format!(", {n} atoms"))
            .unwrap_or_default();
        lines.push(field("structure", &format!("{formula}{atoms}")));
    }
    if let Some([lengths, angles]) = lattice(results) {
        lines.push(field("lattice", &lengths));
        lines.push(field("", &angles));
    }
    if let Some(volume) = number(results, "volume_angstrom3") {
        lines.push(field("volume", &format!("{volume:.4} Å³")));
    }
    if let Some(energy) = job.science.energy_ev {
        let each = job
            .science
            .energy_per_atom_ev
            .map(|e| format!(" ({e:.6} eV per atom)"));
        lines.push(field(
            "energy",
            &format!("{energy:.6} eV{}", each.unwrap_or_default()),
        ));
    }
    if let Some(fmax) = number(results, "fmax_ev_per_a") {
        lines.push(field("largest force", &format!("{fmax:.3e} eV/Å")));
    }
    if let Some(pressure) = number(results, "pressure_gpa") {
        // Rounding noise around zero must not print as -0.0000.
        let shown = if pressure.abs() < 5e-5 { 0.0 } else { pressure };
        lines.push(field("pressure", &format!("{shown:.4} GPa")));
    }
    if let Some(steps) = results.get("n_steps").and_then(Value::as_i64) {
        let converged = match job.science.converged {
            Some(true) => ", converged",
            Some(false) => ", NOT converged",
            None => "",
        };
        lines.push(field("steps", &format!("{steps}{converged}")));
    } else if let Some(code) = results.get("exit_code").and_then(Value::as_i64) {
        lines.push(field("exit code", &code.to_string()));
    }
    lines
}

/// Lengths and angles of the cell.
fn lattice(results: &Map<String, Value>) -> Option<[String; 2]> {
    let lattice = results.get("lattice")?.as_object()?;
    let [a, b, c, alpha, beta, gamma] = [
        "a_angstrom",
        "b_angstrom",
        "c_angstrom",
        "alpha_deg",
        "beta_deg",
        "gamma_deg",
    ]
    .map(|name| number(lattice, name));
    Some([
        format!("a = {:.4} Å, b = {:.4} Å, c = {:.4} Å", a?, b?, c?),
        format!("α = {:.3}°, β = {:.3}°, γ = {:.3}°", alpha?, beta?, gamma?),
    ])
}

fn number(map: &Map<String, Value>, name: &str) -> Option<f64> {
    map.get(name)?.as_f64()
}

/// Where the numbers come from: engine or program with its version, and the job.
fn origin(job: &Job) -> Vec<String> {
    let engine = job.results.get("engine").and_then(Value::as_object);
    let program = engine.unwrap_or(&job.provenance.program);
    let word = |name: &str| {
        program
            .get(name)
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
    };
    let parts: Vec<String> = [
        word("name").or_else(|| word("engine")).map(str::to_owned),
        word("version").map(str::to_owned),
        word("model").map(|model| format!("model {model}")),
        word("parameters").map(|parameters| format!("parameters {parameters}")),
    ]
    .into_iter()
    .flatten()
    .collect();
    let mut lines = Vec::new();
    if !parts.is_empty() {
        lines.push(field("computed with", &parts.join(", ")));
    }
    lines.push(field(
        "from",
        &format!("job {} ({}), {}", job.id, job.uuid, job.directory),
    ));
    lines
}
