//! Everything that is known of the engine, worker or environment under the cursor, in lines.

use super::doctor::{self, Checked};
use super::rows::Rows;
use super::words::{self, bytes_of};
use super::{Engines, Tab, install};
use crate::rpc::types::{
    EngineCheck, EngineDoctorResult, EngineInfo, EngineModel, EnvironmentInfo, WorkerInfo,
};
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
                about_worker(&mut lines, engines, worker, now, glyphs);
            }
        }
        Tab::Environments => {
            if let Some(environment) = engines.current_environment() {
                about_environment(&mut lines, environment, glyphs);
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

fn about_worker(
    lines: &mut Facts,
    engines: &Engines,
    worker: &WorkerInfo,
    now: f64,
    glyphs: &Glyphs,
) {
    let look = words::worker(worker, engines.is_stopping(&worker.id), glyphs);
    let since = engines.rows.busy_since(&worker.id);
    let since = since.map(|since| format!(" for {}", text::so_far((now - since).max(0.0))));
    let words = format!("{}{}", look.text(), since.unwrap_or_default());
    lines.add("state", words, look.role);
    lines.add("phase", worker.phase.clone(), Role::Text);
    lines.add("engine", worker.engine.clone(), Role::Text);
    lines.add("model", worker.model.clone(), Role::Text);
    let dtype = worker.dtype.as_deref().unwrap_or("its own precision");
    lines.add("runs on", format!("{}, {dtype}", worker.device), Role::Text);
    let options = (!worker.options.is_empty())
        .then(|| serde_json::to_string(&worker.options).unwrap_or_default());
    lines.some("options", options, Role::Text);
    lines.some("serves", worker.serves.as_deref(), Role::Text);
    let process = worker
        .pid
        .map(|pid| format!("{pid}, {} threads", worker.threads));
    lines.some("process", process, Role::Text);
    lines.some(
        "memory",
        worker.rss_mib.map(|mib| format!("{mib:.0} MiB")),
        Role::Text,
    );
    let queue = format!("{} wait, {} clients", worker.waiting, worker.clients);
    lines.add("queue", queue, Role::Text);
    let answered = format!(
        "{} structures in {} requests, {} computed, {:.1} per second",
        worker.structures, worker.requests, worker.evaluations, worker.rate_per_s
    );
    lines.add("answered", answered, Role::Text);
    lines.some(
        "loading",
        worker.load_s.map(|s| format!("{s:.1} s")),
        Role::Text,
    );
    lines.add("started", time_text(&worker.started_at), Role::Text);
    lines.some(
        "last used",
        worker.last_used_at.as_deref().map(time_text),
        Role::Text,
    );
    lines.add("environment", worker.environment.clone(), Role::Text);
    if let Some(can) = &worker.capabilities {
        lines.add("gives", join(&can.properties), Role::Text);
    }
    crash(lines, worker);
}

/// How it or the one before it died.
fn crash(lines: &mut Facts, worker: &WorkerInfo) {
    let Some(crash) = &worker.last_error else {
        return;
    };
    lines.gap();
    lines.add("last error", speak(&crash.message), Role::Bad);
    lines.add("when", time_text(&crash.at), Role::Text);
    lines.add("at", crash.phase.clone(), Role::Text);
    let killed = crash.oom_killed == Some(true);
    let end = match (crash.signal, crash.exit_code) {
        (Some(signal), _) if killed => Some(format!("signal {signal}, for memory")),
        (Some(signal), _) => Some(format!("signal {signal}")),
        (None, code) => code.map(|code| format!("exit code {code}")),
    };
    lines.some("ended by", end, Role::Text);
    lines.some("computing", crash.request.as_deref(), Role::Text);
    for line in crash.stderr_tail.lines() {
        lines.add("", line, Role::Dim);
    }
}

fn about_environment(lines: &mut Facts, environment: &EnvironmentInfo, glyphs: &Glyphs) {
    let look = words::environment(environment, glyphs);
    lines.add("state", look.text(), look.role);
    lines.some(
        "problem",
        environment.problem.as_deref().map(speak),
        Role::Bad,
    );
    lines.add("id", environment.id.clone(), Role::Text);
    let engines = environment.engines.join(" ");
    lines.add(
        "engines",
        if engines.is_empty() {
            "none".into()
        } else {
            engines
        },
        Role::Text,
    );
    let size = format!(
        "{} of its own, {} with what it shares",
        bytes_of(environment.size_bytes),
        bytes_of(environment.apparent_bytes)
    );
    lines.add("size", size, Role::Text);
    lines.some("Python", environment.python.as_deref(), Role::Text);
    if environment.external {
        lines.add(
            "external",
            "an interpreter of the site, used as it is",
            Role::Text,
        );
    }
    lines.some(
        "built",
        environment.built_at.as_deref().map(time_text),
        Role::Text,
    );
    lines.some(
        "last used",
        environment.last_used_at.as_deref().map(time_text),
        Role::Text,
    );
    lines.add("workers", environment.workers.to_string(), Role::Text);
}

fn join<T: ToString>(words: &[T]) -> String {
    let words: Vec<String> = words.iter().map(ToString::to_string).collect();
    words.join(" ")
}
