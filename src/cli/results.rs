//! A job's result in words: what came out, and where the numbers come from. Used by `show` and by
//! everything that waits for a job.

pub(super) mod tables;

use serde_json::{Map, Value};

use super::text;
use super::wording;
use crate::results::{NOTHING, fixed};
use crate::rpc::types::{Job, ReadOutputResult};

const LABEL: usize = 15;

/// One line: a label and its text, wrapped below itself.
pub(super) fn field(label: &str, value: &str) -> String {
    let indent = " ".repeat(LABEL);
    format!(
        "{} {}",
        text::pad(label, LABEL - 1, false),
        text::wrap(value, text::WIDTH - LABEL, &indent)
    )
}

/// The outcome of a job that has ended: state, reason, numbers, origin.
#[must_use]
pub fn render(job: &Job, colour: bool) -> String {
    let mut lines = vec![headline(job, colour)];
    lines.extend(words(job.message.as_ref(), job.hint.as_ref(), Some(job.id)));
    lines.extend(numbers(&Numbers::of_job(job)));
    lines.extend(origin(job));
    lines.extend(job.warnings.iter().map(|warning| field("warning", warning)));
    lines.join("\n")
}

/// What was said about the end, and what to do next.
pub(super) fn words(
    message: Option<&String>,
    hint: Option<&String>,
    job: Option<i64>,
) -> Vec<String> {
    [("message", message), ("hint", hint)]
        .into_iter()
        .filter_map(|(label, text)| Some(field(label, &wording::speak(text?, job))))
        .collect()
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

/// What the numbers of a result are taken from, whether a job or an output has them.
pub(super) struct Numbers<'a> {
    formula: Option<&'a str>,
    n_atoms: Option<i64>,
    energy_ev: Option<f64>,
    energy_per_atom_ev: Option<f64>,
    converged: Option<bool>,
    results: &'a Map<String, Value>,
}

impl<'a> Numbers<'a> {
    /// Those of a job.
    pub(super) fn of_job(job: &'a Job) -> Self {
        Self {
            formula: job.formula.as_deref(),
            n_atoms: job.n_atoms,
            energy_ev: job.science.energy_ev,
            energy_per_atom_ev: job.science.energy_per_atom_ev,
            converged: job.science.converged,
            results: &job.results,
        }
    }

    /// Those of an output.
    pub(super) fn of_output(found: &'a ReadOutputResult) -> Self {
        Self {
            formula: found.formula.as_deref(),
            n_atoms: found.n_atoms,
            energy_ev: found.energy_ev,
            energy_per_atom_ev: number(&found.results, "energy_per_atom_ev"),
            converged: found.converged,
            results: &found.results,
        }
    }
}

/// The numbers that a person looks for first.
pub(super) fn numbers(found: &Numbers<'_>) -> Vec<String> {
    let results = found.results;
    let mut lines = Vec::new();
    if let Some(formula) = found.formula {
        let atoms = found.n_atoms.map(|n| format!(", {n} atoms"));
        lines.push(field(
            "structure",
            &format!("{formula}{}", atoms.unwrap_or_default()),
        ));
    }
    if let Some([lengths, angles]) = lattice(results) {
        lines.push(field("lattice", &lengths));
        lines.push(field("", &angles));
    }
    let mut put = |label: &str, value: Option<String>| {
        lines.extend(value.map(|value| field(label, &value)));
    };
    let number = |name: &str| number(results, name);
    put(
        "volume",
        number("volume_angstrom3").map(|v| format!("{v:.4} Å³")),
    );
    put("energy", energy(found));
    put(
        "largest force",
        number("fmax_ev_per_a").map(|force| {
            if force.abs() < NOTHING {
                "0 eV/Å".into()
            } else {
                format!("{force:.3e} eV/Å")
            }
        }),
    );
    for (label, name, decimals, unit) in [
        ("pressure", "pressure_gpa", 4, "GPa"),
        ("Fermi level", "fermi_ev", 4, "eV"),
        ("gap", "gap_ev", 4, "eV"),
        ("magnetisation", "magnetisation_mu_b", 2, "μB"),
    ] {
        let value = number(name).map(|value| format!("{} {unit}", fixed(value, decimals)));
        put(label, value);
    }
    lines.extend(effort(found));
    lines
}

fn energy(found: &Numbers<'_>) -> Option<String> {
    let each = found
        .energy_per_atom_ev
        .map(|energy| format!(" ({} eV per atom)", fixed(energy, 6)));
    let energy = fixed(found.energy_ev?, 6);
    Some(format!("{energy} eV{}", each.unwrap_or_default()))
}

/// How many steps it took, and whether that was enough.
fn effort(found: &Numbers<'_>) -> Option<String> {
    let count = |name: &str| found.results.get(name).and_then(Value::as_i64);
    let iterations = found
        .results
        .get("scf")
        .and_then(|scf| scf["iterations"].as_i64());
    let converged = match found.converged {
        Some(true) => ", converged",
        Some(false) => ", NOT converged",
        None => "",
    };
    if let Some(steps) = count("n_steps").or(count("n_ionic_steps")) {
        return Some(field("steps", &format!("{steps}{converged}")));
    }
    let dynamics = found.results.get("md").and_then(|md| md["steps"].as_i64());
    if let Some(steps) = dynamics {
        return Some(field("MD steps", &steps.to_string()));
    }
    if let Some(iterations) = iterations.filter(|count| *count > 0) {
        return Some(field("SCF", &format!("{iterations} iterations{converged}")));
    }
    count("exit_code").map(|code| field("exit code", &code.to_string()))
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
    let mut lines = program(&job.results, Some(&job.provenance.program));
    lines.push(field(
        "from",
        &format!("job {} ({}), {}", job.id, job.uuid, job.directory),
    ));
    if job.directory_gone {
        let gone = "GONE: it was deleted or moved by hand; what is shown here is what the database \
                    knows";
        lines.push(field("directory", gone));
    }
    lines
}

/// The engine or program that computed the results, with its version.
pub(super) fn program(
    results: &Map<String, Value>,
    known: Option<&Map<String, Value>>,
) -> Vec<String> {
    let engine = results.get("engine").and_then(Value::as_object);
    let Some(program) = engine.or(known) else {
        return Vec::new();
    };
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
    let line = (!parts.is_empty()).then(|| field("computed with", &parts.join(", ")));
    line.into_iter().collect()
}
