//! Checks of engines: which run, and how the last of each engine ended.
//!
//! The daemon keeps no results, so these are of this run of the UI.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::rows::Rows;
use crate::error::IpcError;
use crate::msg::Tone;
use crate::rpc::types::{EngineCheckVerdict, EngineDoctorResult, EngineInfo, Reply};
use crate::screens::answers;
use crate::screens::{Choice, Cx, Picker};

/// The slot of `forces.doctor`.
pub const SLOT: &str = "doctor";

/// What is known of the checks of one engine.
#[derive(Debug, Default)]
pub struct Checked {
    /// The check that runs: its number, and when it began.
    pub running: Option<(i64, f64)>,
    /// How the last one ended.
    pub last: Option<Result<EngineDoctorResult, String>>,
}

/// The checks by engine.
#[derive(Debug, Default)]
pub struct Checks {
    of: BTreeMap<String, Checked>,
    count: i64,
}

impl Checks {
    /// What is known of this engine.
    pub fn get(&self, engine: &str) -> Option<&Checked> {
        self.of.get(engine)
    }

    /// Since when a check of this engine runs, in seconds since 1970.
    pub fn runs_since(&self, engine: &str) -> Option<f64> {
        Some(self.get(engine)?.running?.1)
    }

    /// Begin a check with this model and device, in the words of [`choices`].
    pub fn begin(&mut self, engine: &str, chosen: Option<&str>, cx: &mut Cx<'_>) {
        let mut params = json!({"engine": engine});
        if let Some((model, device)) = chosen.and_then(|chosen| chosen.split_once('\n')) {
            params["model"] = model.into();
            params["device"] = device.into();
        }
        self.count += 1;
        let checked = self.of.entry(engine.to_owned()).or_default();
        checked.running = Some((self.count, cx.now()));
        cx.send(SLOT, self.count, "forces.doctor", params);
        cx.redraw();
    }

    /// Take an answer in.
    pub fn reply(&mut self, tag: i64, result: &Result<Value, IpcError>, cx: &mut Cx<'_>) {
        let runs = |checked: &Checked| checked.running.is_some_and(|(number, _)| number == tag);
        let Some((engine, checked)) = self.of.iter_mut().find(|(_, checked)| runs(checked)) else {
            return;
        };
        checked.running = None;
        let last = answers::read("forces.doctor", result);
        let last = last.map(|reply: Reply<EngineDoctorResult>| reply.data);
        let (tone, text) = match &last {
            Ok(found) if found.ok => (Tone::Good, format!("{engine}: {}", summary(found))),
            Ok(found) => (Tone::Bad, format!("{engine}: {}", summary(found))),
            Err(error) => (Tone::Bad, format!("{engine} was not checked: {error}")),
        };
        cx.toast(tone, text);
        checked.last = Some(last);
        cx.redraw();
    }
}

/// How the checks went, in one line.
pub fn summary(found: &EngineDoctorResult) -> String {
    let count = |verdict: &EngineCheckVerdict| {
        let checks = found.checks.iter();
        checks.filter(|check| check.verdict == *verdict).count()
    };
    let all = found.checks.len();
    let mut words = format!("{} of {all} passed", count(&EngineCheckVerdict::Passed));
    for (verdict, word) in [
        (EngineCheckVerdict::Failed, "failed"),
        (EngineCheckVerdict::Skipped, "skipped"),
    ] {
        if count(&verdict) > 0 {
            words = format!("{words}, {} {word}", count(&verdict));
        }
    }
    words
}

/// What can be checked of an engine, where there is a choice: its models that are here, on each
/// device.
pub fn choices(engine: &EngineInfo) -> Option<Picker> {
    let here = engine.models.iter().filter(|model| model.present);
    let choices: Vec<Choice> = here
        .flat_map(|model| {
            engine.devices.iter().map(|device| Choice {
                name: format!("{}\n{device}", model.id),
                title: format!("{} on {device}", model.id),
                chosen: false,
            })
        })
        .collect();
    (choices.len() > 1).then(|| Picker {
        title: format!("Check {}", engine.name),
        choices,
        several: false,
    })
}

/// What the worker of a running check is busy with.
pub fn phase(engine: &str, rows: &Rows) -> Option<String> {
    let worker = rows.workers_of(engine).last()?;
    Some(format!("worker {}: {}", worker.id, worker.phase))
}
