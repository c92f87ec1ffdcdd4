//! Everything that is known of a job, in lines of name and value.

use serde_json::{Map, Value};

use crate::app::{Data, Row};
use crate::results::NOTHING;
use crate::rpc::types::{Job, JobState};
use crate::screens::jobs::words;
use crate::screens::wording::speak;
use crate::tasks;
use crate::theme::{Role, Theme};
use crate::units;
use crate::widgets::facts::{Fact, Facts};
use crate::widgets::plot::value_text;
use crate::widgets::text;

/// Members of the results document that have a line of their own, or are no single values.
const TOLD: [&str; 18] = [
    "format",
    "status",
    "task",
    "formula",
    "n_atoms",
    "energy_ev",
    "energy_per_atom_ev",
    "energy_ry",
    "converged",
    "pressure_gpa",
    "pressure_kbar",
    "fmax_ev_per_a",
    // The length of all forces together, which a code prints for its own use.
    "total_force_ev_per_a",
    "total_force_ry_per_bohr",
    "smax_gpa",
    "volume_angstrom3",
    "elapsed_s",
    "started",
];

/// The lines of a job, as far as it is known.
#[must_use]
pub fn lines(row: &Row, detail: Option<&Job>, data: &Data, theme: &Theme) -> Vec<Fact> {
    let mut lines = Facts::default();
    axes(&mut lines, row, detail, data, theme);
    if let Some(job) = detail {
        lines.gap();
        results(&mut lines, job);
    } else {
        let energy = row.job.science.energy_ev;
        lines.some(
            "energy",
            energy.map(|ev| format!("{ev:.6} eV")),
            Role::Title,
        );
    }
    lines.gap();
    what(&mut lines, row, detail);
    let workflow = row.job.workflow.map(|id| format!("step of workflow {id}"));
    lines.some("workflow", workflow, Role::Text);
    lines.gap();
    times(&mut lines, row, detail, data);
    if let Some(job) = detail {
        lines.gap();
        origin(&mut lines, job);
    }
    lines.0
}

/// The scheduler's and the science's side, each with its reason.
fn axes(lines: &mut Facts, row: &Row, detail: Option<&Job>, data: &Data, theme: &Theme) {
    let job = &row.job;
    let glyphs = theme.glyphs();
    let (glyph, role) = words::state_look(row, glyphs);
    lines.add("state", format!("{glyph} {}", words::state_word(row)), role);
    let reason = job.reason.as_ref().map(|reason| reason.replace('_', " "));
    lines.some("reason", reason, Role::Bad);
    lines.some(
        "message",
        detail.and_then(|job| Some(speak(job.message.as_ref()?))),
        Role::Text,
    );
    let hint = detail.and_then(|job| Some(speak(job.hint.as_ref()?)));
    lines.some("hint", hint, Role::Info);
    let attention = words::attention(job).filter(|text| {
        let message = detail.and_then(|job| job.message.as_deref());
        message.map(speak).as_ref() != Some(text)
    });
    lines.some(
        "look at",
        attention.map(|text| format!("{} {text}", glyphs.attention)),
        Role::Warn,
    );
    if let Some(axis) = &job.scheduler {
        let parts = [axis.state.clone(), axis.reason.clone(), axis.id.clone()];
        let name = if job.runner == "local" {
            "process"
        } else {
            "scheduler"
        };
        let told: Vec<String> = parts.into_iter().flatten().collect();
        lines.add(name, told.join(", "), Role::Text);
    }
    let science = match job.science.status.as_str() {
        "converged" => ("converged", Role::Good),
        "not_converged" => ("not converged", Role::Warn),
        "failed" => ("failed", Role::Bad),
        _ if matches!(job.state, JobState::Completed) => ("", Role::Text),
        _ => ("not known yet", Role::Dim),
    };
    lines.add("science", science.0, science.1);
    if !matches!(
        job.state,
        JobState::Completed | JobState::Failed | JobState::Cancelled
    ) {
        let bar = job.progress.fraction.map(|fraction| {
            format!(
                "{} {:.0} %  ",
                text::bar(fraction, 16, theme),
                fraction * 100.0
            )
        });
        let progress = format!("{}{}", bar.unwrap_or_default(), job.progress.text);
        lines.add("progress", progress, Role::Running);
    }
    if job.state == JobState::Running {
        running_time(lines, row, data, theme);
    }
    if let Some(job) = detail {
        tasks_of(lines, job);
    }
    for warning in detail.iter().flat_map(|job| &job.warnings) {
        lines.add(
            "warning",
            format!("{} {}", glyphs.attention, speak(warning)),
            Role::Warn,
        );
    }
}

/// The tasks of a job array: how many are where, and those to look at.
fn tasks_of(lines: &mut Facts, job: &Job) {
    lines.some("tasks", tasks::counted(&job.tasks), Role::Text);
    for (label, said) in tasks::notable(&job.tasks) {
        let role = if said.starts_with("running") {
            Role::Running
        } else {
            Role::Bad
        };
        lines.add(&label, speak(&said), role);
    }
}

/// How long it runs already, against its limit where it has one.
fn running_time(lines: &mut Facts, row: &Row, data: &Data, theme: &Theme) {
    let Some(elapsed) = data.elapsed_s(row) else {
        return;
    };
    let so_far = text::so_far(elapsed);
    let words = match (words::time_used(row, data), row.job.walltime_s) {
        (Some(used), Some(limit)) => {
            let (used, limit) = (words::used_text(used, 16, theme), words::limit_text(limit));
            format!("{used} {so_far} of {limit}")
        }
        _ => so_far,
    };
    lines.add("elapsed", words, words::time_role(row, data));
}

fn results(lines: &mut Facts, job: &Job) {
    let document = &job.results;
    let number = |name: &str| document.get(name).and_then(Value::as_f64);
    let with = |name: &str, unit: &str| number(name).map(|value| format!("{} {unit}", told(value)));
    let ev = |value: f64| format!("{value:.8} eV");
    if let Some(energy) = job.science.energy_ev {
        let rydberg = number("energy_ry").map(|ry| format!(" = {ry:.8} Ry"));
        lines.add(
            "energy",
            format!("{}{}", ev(energy), rydberg.unwrap_or_default()),
            Role::Title,
        );
    }
    lines.some(
        "per atom",
        job.science.energy_per_atom_ev.map(ev),
        Role::Text,
    );
    lines.some("max force", with("fmax_ev_per_a", "eV/Å"), Role::Text);
    lines.some("max stress", with("smax_gpa", "GPa"), Role::Text);
    lines.some("pressure", with("pressure_gpa", "GPa"), Role::Text);
    if let Some(lattice) = document.get("lattice").and_then(Value::as_object) {
        let (lengths, angles) = lattice_text(lattice);
        lines.some("lattice", lengths, Role::Text);
        lines.some("", angles, Role::Text);
    }
    lines.some("volume", with("volume_angstrom3", "Å³"), Role::Text);
    for (name, value) in document {
        match value {
            Value::Object(inner)
                if !matches!(name.as_str(), "engine" | "structure" | "lattice") =>
            {
                let parts: Vec<String> = inner
                    .iter()
                    .filter_map(|(part, value)| {
                        let (words, told) = scalar(part, value)?;
                        Some(format!("{words} {told}"))
                    })
                    .collect();
                lines.add(&name.replace('_', " "), parts.join(", "), Role::Text);
            }
            value if !TOLD.contains(&name.as_str()) => {
                if let Some((words, told)) = scalar(name, value) {
                    lines.add(&words, told, Role::Text);
                }
            }
            _ => {}
        }
    }
}

/// A value, where what rounding has left of zero is zero.
fn told(value: f64) -> String {
    value_text(if value.abs() < NOTHING { 0.0 } else { value })
}

/// A member of the results that is one value: its name in words, and the value with its unit.
fn scalar(name: &str, value: &Value) -> Option<(String, String)> {
    let (words, unit) = units::split(name);
    let value = match value {
        Value::Number(number) => match number.as_i64() {
            Some(whole) => whole.to_string(),
            None => told(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::Bool(yes) => (if *yes { "yes" } else { "no" }).to_owned(),
        Value::String(text) => text.clone(),
        _ => return None,
    };
    Some((words, format!("{value} {unit}").trim_end().to_owned()))
}

fn lattice_text(lattice: &Map<String, Value>) -> (Option<String>, Option<String>) {
    let all = |names: [&str; 3]| -> Option<Vec<f64>> {
        names
            .iter()
            .map(|name| lattice.get(*name)?.as_f64())
            .collect()
    };
    let lengths = all(["a_angstrom", "b_angstrom", "c_angstrom"]);
    let angles = all(["alpha_deg", "beta_deg", "gamma_deg"]);
    (
        lengths.map(|l| format!("a {:.5}  b {:.5}  c {:.5} Å", l[0], l[1], l[2])),
        angles.map(|a| format!("α {:.3}  β {:.3}  γ {:.3} °", a[0], a[1], a[2])),
    )
}

/// What was calculated, and with what.
fn what(lines: &mut Facts, row: &Row, detail: Option<&Job>) {
    let job = &row.job;
    let task = job.task.as_deref().unwrap_or_default();
    lines.add(
        "code",
        format!("{} {task}", job.code).trim_end(),
        Role::Text,
    );
    let atoms = job.n_atoms.map(|count| format!("{count} atoms"));
    let parts: Vec<String> = [job.formula.clone(), atoms].into_iter().flatten().collect();
    lines.add("structure", parts.join(", "), Role::Text);
    if let Some(job) = detail {
        let program = &job.provenance.program;
        let words: Vec<&str> = ["name", "version", "model"]
            .iter()
            .filter_map(|name| program.get(*name)?.as_str())
            .collect();
        lines.add("program", words.join(" "), Role::Text);
    }
    lines.add("where", words::place(job), Role::Text);
    if let Some(job) = detail {
        let asked = &job.resources;
        let some = |count: i64, one: &str, many: &str| {
            format!("{count} {}", if count == 1 { one } else { many })
        };
        let mut parts = vec![
            some(asked.ntasks, "process", "processes"),
            format!("{} each", some(asked.cpus_per_task, "thread", "threads")),
        ];
        if asked.nodes > 1 {
            parts.insert(0, format!("{} nodes", asked.nodes));
        }
        parts.extend(asked.memory_mib.map(|mib| format!("{mib} MiB")));
        parts.extend(
            asked
                .walltime_s
                .map(|s| format!("limit {}", text::duration(s))),
        );
        lines.add("resources", parts.join(", "), Role::Text);
    }
    lines.add("tags", job.tags.join(" "), Role::Text);
}

fn times(lines: &mut Facts, row: &Row, detail: Option<&Job>, data: &Data) {
    let job = &row.job;
    if job.state != JobState::Running {
        lines.add("elapsed", words::time(row, data), Role::Text);
    }
    lines.add("created", time_text(&job.created_at), Role::Text);
    lines.some(
        "started",
        job.started_at.as_deref().map(time_text),
        Role::Text,
    );
    lines.some(
        "ended",
        job.finished_at.as_deref().map(time_text),
        Role::Text,
    );
    let used = detail.and_then(|job| tasks::used(job.usage.as_ref()?));
    lines.some("used", used, Role::Text);
}

/// Where it comes from and where it is.
fn origin(lines: &mut Facts, job: &Job) {
    let numbers = |ids: &[i64]| {
        let all: Vec<String> = ids.iter().map(ToString::to_string).collect();
        all.join(", ")
    };
    lines.add("after job", numbers(&job.after), Role::Text);
    lines.some(
        "from",
        job.rerun_of.map(|id| format!("job {id}")),
        Role::Text,
    );
    if job.attempt > 1 {
        lines.add("attempt", job.attempt.to_string(), Role::Text);
    }
    lines.add("directory", job.directory.as_str(), Role::Text);
    if job.directory_gone {
        let words =
            "gone: it was deleted or moved by hand; what stands here is what the database knows";
        lines.add("", words, Role::Bad);
    }
    let structure = job.provenance.structure.get("path");
    lines.some("read from", structure.cloned(), Role::Text);
    let environment: Vec<String> = job
        .provenance
        .environment
        .iter()
        .map(|(name, value)| format!("{name} {value}"))
        .collect();
    lines.add("computed on", environment.join(", "), Role::Text);
    for (path, hash) in &job.provenance.input_hashes {
        let short = hash.get(..12).unwrap_or(hash);
        lines.add("input", format!("{path}  sha256 {short}"), Role::Dim);
    }
    if let Some(error) = job.plumbing.get("last_error").and_then(Value::as_str) {
        lines.add("transport", error, Role::Warn);
    }
}

/// A point in time as the daemon writes it, to the second.
#[must_use]
pub fn time_text(text: &str) -> String {
    let seconds = text.get(..19).unwrap_or(text);
    format!("{} UTC", seconds.replace('T', " "))
}
