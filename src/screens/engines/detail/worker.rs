//! The lines of a worker, and of the environment that it runs in.

use super::{join, withheld};
use crate::rpc::types::{EnvironmentInfo, WorkerInfo};
use crate::screens::engines::Engines;
use crate::screens::engines::words::{self, bytes_of};
use crate::screens::job::time_text;
use crate::screens::wording::speak;
use crate::theme::{Glyphs, Role};
use crate::widgets::facts::Facts;
use crate::widgets::text;

/// The lines of a worker.
pub(super) fn about(
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
        withheld(lines, &can.withheld, glyphs);
        for note in &can.notes {
            lines.add("note", speak(note), Role::Text);
        }
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

/// The lines of an environment.
pub(super) fn about_environment(lines: &mut Facts, environment: &EnvironmentInfo, glyphs: &Glyphs) {
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
