//! The rows of the screen: read as a whole, then kept by what is told.

use std::collections::{HashMap, HashSet};

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::IpcError;
use crate::msg::EngineNews;
use crate::rpc::types::{
    EngineInfo, EnvironmentInfo, ForcesStatusResult, InstallState, InstallTask, Page, Reply,
    WorkerInfo, WorkerState,
};
use crate::screens::answers;

/// A row that is known by its name.
pub trait Named {
    /// Its name.
    fn name(&self) -> &str;
}

impl Named for EngineInfo {
    fn name(&self) -> &str {
        &self.name
    }
}

impl Named for WorkerInfo {
    fn name(&self) -> &str {
        &self.id
    }
}

impl Named for EnvironmentInfo {
    fn name(&self) -> &str {
        &self.id
    }
}

/// The rows of one method.
#[derive(Debug)]
pub struct List<T> {
    /// The rows, in their order.
    pub rows: Vec<T>,
    /// Whether they were ever read.
    pub read: bool,
    /// Why they could not be read the last time.
    pub error: Option<String>,
    /// What was told while they were read: it is newer than what is read.
    told: HashSet<String>,
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            read: false,
            error: None,
            told: HashSet::new(),
        }
    }
}

impl<T: Named + Default + DeserializeOwned> List<T> {
    /// The row with this name.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.rows.iter().find(|row| row.name() == name)
    }

    /// The names of the rows, in their order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().map(Named::name)
    }

    /// Something may have been missed: what is read next is the newest.
    pub fn forget_told(&mut self) {
        self.told.clear();
    }

    fn take(&mut self, method: &str, result: &Result<Value, IpcError>) {
        if answers::is_cut_off(result) && self.read {
            return;
        }
        match answers::read::<Page<T, Value>>(method, result) {
            Err(error) => self.error = Some(error),
            Ok(page) => {
                let told = std::mem::take(&mut self.told);
                let mut rows: Vec<T> = page.data;
                rows.retain(|row| !told.contains(row.name()));
                let newer = self.rows.drain(..);
                rows.extend(newer.filter(|row| told.contains(row.name())));
                self.rows = rows;
                self.read = true;
                self.error = None;
            }
        }
    }

    fn put(&mut self, row: T) {
        self.told.insert(row.name().to_owned());
        match self.rows.iter_mut().find(|old| old.name() == row.name()) {
            Some(old) => *old = row,
            None => self.rows.push(row),
        }
    }

    fn remove(&mut self, name: &str) {
        self.told.insert(name.to_owned());
        self.rows.retain(|row| row.name() != name);
    }
}

/// Everything that is read.
#[derive(Debug, Default)]
pub struct Rows {
    /// The engines.
    pub engines: List<EngineInfo>,
    /// The workers, and those that crashed last.
    pub workers: List<WorkerInfo>,
    /// The environments on the disk.
    pub environments: List<EnvironmentInfo>,
    /// What the workers do together.
    pub status: Option<ForcesStatusResult>,
    /// Since when each busy worker has been, in seconds since 1970.
    busy: HashMap<String, f64>,
}

impl Rows {
    /// Take the answer of a method in.
    pub fn take(&mut self, method: &str, result: &Result<Value, IpcError>, now: f64) {
        match method {
            "forces.engines" => self.engines.take(method, result),
            "forces.workers" => self.workers.take(method, result),
            "forces.environments" => self.environments.take(method, result),
            _ => {
                // It says nothing that has no other place; without it there is one line less.
                if let Ok(value) = result {
                    let reply = serde_json::from_value::<Reply<ForcesStatusResult>>(value.clone());
                    self.status = reply.ok().map(|reply| reply.data);
                }
            }
        }
        self.arrange(now);
    }

    /// Take in what is told; gives the installations that have ended by it.
    pub fn tell(&mut self, news: &[EngineNews], now: f64) -> Vec<InstallTask> {
        let mut ended = Vec::new();
        for one in news {
            match one {
                EngineNews::Engine(engine) => self.engines.put((**engine).clone()),
                EngineNews::Install(task) => {
                    self.installs(task);
                    if task.finished_at.is_some() {
                        ended.push((**task).clone());
                    }
                }
                EngineNews::Worker(worker) if worker.state == WorkerState::Stopped => {
                    self.workers.remove(&worker.id);
                }
                EngineNews::Worker(worker) => self.workers.put((**worker).clone()),
            }
        }
        self.arrange(now);
        ended
    }

    /// Put an installation into the row of its engine, as the daemon does.
    pub fn installs(&mut self, task: &InstallTask) {
        let shown = matches!(
            task.state,
            InstallState::Waiting | InstallState::Running | InstallState::Failed
        );
        let mut engines = self.engines.rows.iter_mut();
        if let Some(engine) = engines.find(|engine| engine.name == task.engine) {
            engine.install = shown.then(|| task.clone());
        }
    }

    fn arrange(&mut self, now: f64) {
        let engines = &mut self.engines.rows;
        engines.sort_by(|a, b| (!a.installed, &a.name).cmp(&(!b.installed, &b.name)));
        let workers = &mut self.workers.rows;
        // w2 comes before w10.
        workers.sort_by(|a, b| (a.id.len(), &a.id).cmp(&(b.id.len(), &b.id)));
        self.busy = workers
            .iter()
            .filter_map(|worker| {
                let known = self.busy.get(&worker.id).copied();
                let since = worker.busy_s.map(|seconds| now - seconds);
                // What is told later of the same request must not make it jump.
                let same = |known: &f64| since.is_some_and(|since| (since - known).abs() < 1.0);
                Some((worker.id.clone(), known.filter(same).or(since)?))
            })
            .collect();
    }

    /// Since when this worker has been computing, in seconds since 1970.
    pub fn busy_since(&self, worker: &str) -> Option<f64> {
        self.busy.get(worker).copied()
    }

    /// Workers of an engine that run.
    pub fn workers_of<'a>(&'a self, engine: &'a str) -> impl Iterator<Item = &'a WorkerInfo> {
        let workers = self.workers.rows.iter();
        workers.filter(move |worker| worker.engine == engine && runs(worker))
    }
}

/// Whether a worker is a process that can be stopped.
#[must_use]
pub fn runs(worker: &WorkerInfo) -> bool {
    !matches!(worker.state, WorkerState::Crashed | WorkerState::Stopped)
}

/// Whether an installation waits or goes on.
#[must_use]
pub fn goes_on(task: &InstallTask) -> bool {
    matches!(task.state, InstallState::Waiting | InstallState::Running)
}
