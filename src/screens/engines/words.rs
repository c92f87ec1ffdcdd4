//! Engines, workers and environments in words, glyphs and roles.

use super::rows::{Rows, goes_on};
use crate::rpc::types::{
    EngineCheckVerdict, EngineInfo, EnvironmentInfo, EnvironmentInfoState, InstallTask, WorkerInfo,
    WorkerState,
};
use crate::theme::{Glyphs, Role};
use crate::widgets::text;

/// A word, the glyph before it, and how both look.
pub struct Look {
    pub glyph: &'static str,
    pub word: String,
    pub role: Role,
}

impl Look {
    fn new(glyph: &'static str, word: impl Into<String>, role: Role) -> Self {
        Self {
            glyph,
            word: word.into(),
            role,
        }
    }

    /// Both in one.
    pub fn text(&self) -> String {
        format!("{} {}", self.glyph, self.word)
    }
}

/// How an engine stands.
pub fn engine(engine: &EngineInfo, rows: &Rows, asked: bool, glyphs: &Glyphs) -> Look {
    if let Some(task) = engine.install.as_ref().filter(|task| goes_on(task)) {
        return Look::new(glyphs.running, installing(task), Role::Running);
    }
    if asked {
        return Look::new(glyphs.waiting, "asked for", Role::Waiting);
    }
    let loaded = rows.workers_of(&engine.name).count();
    if engine.installed && is_broken(engine, rows) {
        return Look::new(glyphs.failed, "broken", Role::Bad);
    }
    match (engine.installed, loaded) {
        (true, 1..) => Look::new(glyphs.live, format!("loaded {loaded}"), Role::Good),
        (true, _) if engine.built_in => Look::new(glyphs.completed, "built in", Role::Good),
        (true, _) if engine.external => Look::new(glyphs.completed, "external", Role::Good),
        (true, _) => Look::new(glyphs.completed, "installed", Role::Good),
        // The task that is shown and does not go on has failed.
        (false, _) if engine.install.is_some() => Look::new(glyphs.failed, "failed", Role::Bad),
        (false, _) if is_broken(engine, rows) => Look::new(glyphs.failed, "broken", Role::Bad),
        (false, _) => Look::new(glyphs.waiting, size(engine), Role::Dim),
    }
}

/// Its declaration cannot be used, or its environment is no longer what was built.
pub fn is_broken(engine: &EngineInfo, rows: &Rows) -> bool {
    let no_declaration = !engine.installed && engine.models.is_empty();
    let environments = rows.environments.rows.iter();
    let mut broken = environments.filter(|one| one.state == EnvironmentInfoState::Broken);
    no_declaration || broken.any(|one| one.engines.contains(&engine.name))
}

fn size(engine: &EngineInfo) -> String {
    match engine.download_bytes {
        Some(bytes) => format!("absent, {}", bytes_of(bytes)),
        None => "absent".into(),
    }
}

fn installing(task: &InstallTask) -> String {
    match task.fraction {
        Some(fraction) => format!("{} {:.0} %", task.phase, fraction * 100.0),
        None => task.phase.to_string(),
    }
}

/// Where an installation stands, in one line.
pub fn progress(task: &InstallTask) -> String {
    let fetched = task.done_bytes.zip(task.total_bytes);
    match fetched.filter(|(_, total)| *total > 0) {
        Some((done, total)) => format!("{}, {} of {}", task.text, bytes_of(done), bytes_of(total)),
        None => task.text.clone(),
    }
}

/// How a worker stands.
pub fn worker(worker: &WorkerInfo, stopping: bool, glyphs: &Glyphs) -> Look {
    if stopping && worker.state != WorkerState::Crashed {
        return Look::new(glyphs.cancelled, "stopping", Role::Cancelled);
    }
    match worker.state {
        WorkerState::Starting => Look::new(glyphs.waiting, "starting", Role::Waiting),
        WorkerState::Idle => Look::new(glyphs.completed, "idle", Role::Good),
        WorkerState::Busy => Look::new(glyphs.running, "busy", Role::Running),
        WorkerState::Draining => Look::new(glyphs.cancelled, "draining", Role::Cancelled),
        WorkerState::Crashed => Look::new(glyphs.failed, "crashed", Role::Bad),
        _ => Look::new(glyphs.lost, worker.state.to_string(), Role::Warn),
    }
}

/// How an environment stands.
pub fn environment(environment: &EnvironmentInfo, glyphs: &Glyphs) -> Look {
    let word = environment.state.to_string();
    match environment.state {
        EnvironmentInfoState::Ready => Look::new(glyphs.completed, word, Role::Good),
        EnvironmentInfoState::Broken => Look::new(glyphs.failed, word, Role::Bad),
        EnvironmentInfoState::Unused => Look::new(glyphs.waiting, word, Role::Dim),
        EnvironmentInfoState::Other(_) => Look::new(glyphs.lost, word, Role::Warn),
    }
}

/// How a check went.
pub fn verdict(verdict: &EngineCheckVerdict, glyphs: &Glyphs) -> Look {
    let word = verdict.to_string();
    match verdict {
        EngineCheckVerdict::Passed => Look::new(glyphs.completed, word, Role::Good),
        EngineCheckVerdict::Failed => Look::new(glyphs.failed, word, Role::Bad),
        EngineCheckVerdict::Skipped => Look::new(glyphs.waiting, word, Role::Dim),
        EngineCheckVerdict::Other(_) => Look::new(glyphs.lost, word, Role::Warn),
    }
}

/// A number of bytes of the wire.
pub fn bytes_of(bytes: i64) -> String {
    text::bytes(u64::try_from(bytes).unwrap_or(0))
}
