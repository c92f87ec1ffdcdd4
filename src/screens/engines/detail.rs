//! Everything that is known of the engine, worker or environment under the cursor, in lines.

mod worker;

use std::collections::BTreeMap;

use super::doctor::{self, Checked};
use super::rows::Rows;
use super::words::{self, bytes_of};
use super::{Engines, Tab, install};
use crate::rpc::types::{EngineCheck, EngineDoctorResult, EngineInfo, EngineModel};
use crate::screens::job::time_text;
use crate::screens::wording::speak;
use crate::theme::{Glyphs, Role};
use crate::widgets::facts::{Fact, Facts};
use crate::widgets::text;

/// The lines about what the cursor is on; none where there is nothing.
pub fn lines(engines: &Engines, now: f64, glyphs: &Glyphs) -> Vec<Fact> {
    let mut lines = Facts::default();
    match engines.tab {
        Tab::Engines => {
            if let Some(engine) = engines.current_engine() {
                about_engine(&mut lines, engines, engine, now, glyphs);
            }
        }
        Tab::Workers => {
            if let Some(worker) = engines.current_worker() {
                worker::about(&mut lines, engines, worker, now, glyphs);
            }
        }
        Tab::Environments => {
            if let Some(environment) = engines.current_environment() {
                worker::about_environment(&mut lines, environment, glyphs);
            }
        }
    }
    lines.0
}

fn about_engine(
    lines: &mut Facts,
    engines: &Engines,
    engine: &EngineInfo,
    now: f64,
    glyphs: &Glyphs,
) {
    let rows = &engines.rows;
    let look = words::engine(engine, rows, engines.is_asked(&engine.name), glyphs);
    lines.add("state", look.text(), look.role);
    lines.some("title", engine.title.as_deref(), Role::Text);
    installation(lines, engine, glyphs);
    if engine.default {
        lines.add("default", "used where no engine is named", Role::Text);
    }
    if engine.additive {
        let words = format!("is added to another one: mace+{}", engine.name);
        lines.add("sum", words, Role::Text);
    }
    lines.add("gives", join(&engine.properties), Role::Text);
    lines.add("devices", engine.devices.join(" "), Role::Text);
    for warning in &engine.warnings {
        let words = format!("{} {}", glyphs.attention, speak(warning));
        lines.add("warning", words, Role::Warn);
    }
    lines.gap();
    environment_of(lines, engine, rows);
    for worker in rows.workers_of(&engine.name) {
        let look = words::worker(worker, engines.is_stopping(&worker.id), glyphs);
        let words = format!("{} {}, {}", worker.id, look.text(), worker.model);
        lines.add("worker", words, look.role);
    }
    lines.gap();
    checks(
        lines,
        engine,
        engines.checks.get(&engine.name),
        rows,
        now,
        glyphs,
    );
    lines.gap();
    for model in &engine.models {
        about_model(lines, model, glyphs);
    }
}

/// The installation that goes on or failed, or why there is none.
fn installation(lines: &mut Facts, engine: &EngineInfo, glyphs: &Glyphs) {
    if let Some(task) = &engine.install {
        if let Some(message) = &task.message {
            lines.add("failed", speak(message), Role::Bad);
            lines.some("hint", task.hint.as_deref().map(speak), Role::Info);
            return;
        }
        let bar = task.fraction.map(|fraction| bar(fraction, glyphs));
        let words = format!("{}{}", bar.unwrap_or_default(), words::progress(task));
        lines.add("installing", words, Role::Running);
        return;
    }
    if !engine.installed {
        lines.some("problem", engine.problem.as_deref().map(speak), Role::Warn);
        lines.some("hint", engine.hint.as_deref().map(speak), Role::Info);
    }
}

fn bar(fraction: f64, glyphs: &Glyphs) -> String {
    const COLUMNS: usize = 12;
    let (full, rest) = (glyphs.bar_full, glyphs.bar_rest);
    let cells = (0_u8..).zip(0..COLUMNS);
    let bar: String = cells
        .map(|(cell, _)| f64::from(cell) + 0.5)
        .map(|cell| if cell < fraction * 12.0 { full } else { rest })
        .collect();
    format!("{bar} {:.0} % ", fraction * 100.0)
}

fn environment_of(lines: &mut Facts, engine: &EngineInfo, rows: &Rows) {
    let Some(id) = &engine.environment else {
        return;
    };
    let found = rows.environments.get(id);
    let size = found.map(|one| format!(", {}", bytes_of(one.size_bytes)));
    let python = engine
        .python
        .as_deref()
        .map(|version| format!(", Python {version}"));
    let words = format!(
        "{id}{}{}",
        python.unwrap_or_default(),
        size.unwrap_or_default()
    );
    lines.add("environment", words, Role::Text);
    if let Some(problem) = found.and_then(|one| one.problem.as_deref()) {
        lines.add("broken", speak(problem), Role::Bad);
    }
    let versions = engine.versions.iter();
    let versions: Vec<String> = versions
        .map(|(name, one)| format!("{name} {one}"))
        .collect();
    lines.add("versions", versions.join(", "), Role::Text);
}

fn about_model(lines: &mut Facts, model: &EngineModel, glyphs: &Glyphs) {
    let mut parts = vec![model.id.clone()];
    parts.extend(model.title.clone());
    if model.default {
        parts.push("default".into());
    }
    parts.push(if model.present { "here" } else { "not here" }.into());
    parts.extend(model.size_bytes.map(bytes_of));
    parts.extend(model.dtype.clone());
    lines.add("model", parts.join(", "), Role::Title);
    lines.add("gives", join(&model.properties), Role::Text);
    let elements = model.elements.as_ref().map(|all| match all.len() {
        0..=24 => all.join(" "),
        many => format!("{many} elements"),
    });
    lines.some("elements", elements, Role::Text);
    if !model.toy_elements.is_empty() {
        let words = format!("{} on request only", model.toy_elements.join(" "));
        lines.add("toys", words, Role::Dim);
    }
    let licence = model.license.as_deref().unwrap_or("no licence named");
    match (install::needs_consent(model), model.consent.as_str()) {
        (true, _) => {
            let words = format!("{} {licence}, to be accepted", glyphs.attention);
            lines.add("licence", words, Role::Warn);
        }
        (_, "given") => lines.add("licence", format!("{licence}, accepted"), Role::Text),
        _ => lines.some("licence", model.license.as_deref(), Role::Text),
    }
    if install::needs_consent(model) {
        for line in model.license_text.iter().flat_map(|text| text.lines()) {
            lines.add("", line, Role::Dim);
        }
    }
    lines.some("sha256", model.sha256.as_deref(), Role::Dim);
    lines.some("file", model.path.as_deref(), Role::Dim);
}

fn checks(
    lines: &mut Facts,
    engine: &EngineInfo,
    checked: Option<&Checked>,
    rows: &Rows,
    now: f64,
    glyphs: &Glyphs,
) {
    let running = checked.and_then(|checked| checked.running);
    if let Some((_, since)) = running {
        let so_far = text::so_far((now - since).max(0.0));
        let phase = doctor::phase(&engine.name, rows).unwrap_or_default();
        let words = format!("{} checking for {so_far} {phase}", glyphs.running);
        lines.add("doctor", words, Role::Running);
    }
    match checked.and_then(|checked| checked.last.as_ref()) {
        Some(Ok(found)) => results(lines, found, running.is_some(), glyphs),
        Some(Err(error)) => lines.add("doctor", format!("not checked: {error}"), Role::Bad),
        None if running.is_none() && engine.installed => {
            lines.add(
                "doctor",
                "not run since this program was started",
                Role::Dim,
            );
        }
        None => {}
    }
}

/// What was found, part by part.
fn results(lines: &mut Facts, found: &EngineDoctorResult, again: bool, glyphs: &Glyphs) {
    let (glyph, role) = if found.ok {
        (glyphs.completed, Role::Good)
    } else {
        (glyphs.failed, Role::Bad)
    };
    let name = if again { "before" } else { "doctor" };
    let words = format!(
        "{glyph} {}; took {}, {}",
        doctor::summary(found),
        text::duration(found.elapsed_s),
        time_text(&found.at)
    );
    lines.add(name, words, role);
    let of = found.identity.as_ref();
    let of = of.map(|one| {
        format!(
            "{}, {}, {}, {}",
            one.version, one.model, one.dtype, one.device
        )
    });
    lines.some("of", of, Role::Text);
    lines.add("usable", join(&found.usable), Role::Text);
    withheld(lines, &found.withheld, glyphs);
    for check in &found.checks {
        let look = words::verdict(&check.verdict, glyphs);
        let tells = check.value.is_none() || check.verdict.as_str() != "passed";
        let detail = if tells {
            speak(&check.detail)
        } else {
            String::new()
        };
        let words = match detail.as_str() {
            "" => numbers(check),
            detail => format!("{}; {detail}", numbers(check)),
        };
        lines.add(&look.text(), words, look.role);
    }
}

/// What was looked at, on what, what was found and what is allowed.
fn numbers(check: &EngineCheck) -> String {
    let on = check.structure.as_ref();
    let on = on.map(|structure| format!(" on {structure}"));
    let unit = if check.unit.is_empty() {
        String::new()
    } else {
        format!(" {}", check.unit)
    };
    let found = match (check.value, check.tolerance) {
        (Some(value), Some(most)) => format!(": {value:.2e}{unit}, allowed {most:.2e}{unit}"),
        (Some(value), None) => format!(": {value:.3}{unit}"),
        (None, _) => String::new(),
    };
    format!("{}{}{found}", check.name, on.unwrap_or_default())
}

/// Properties that are switched off, each with the reason.
fn withheld(lines: &mut Facts, off: &BTreeMap<String, String>, glyphs: &Glyphs) {
    for (property, why) in off {
        let property = property.replace('_', " ");
        let words = format!("{} {property}: {}", glyphs.attention, speak(why));
        lines.add("off", words, Role::Warn);
    }
}

fn join<T: ToString>(words: &[T]) -> String {
    let words: Vec<String> = words.iter().map(ToString::to_string).collect();
    words.join(" ")
}
