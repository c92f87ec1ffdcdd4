//! What the actions do on the screen of the engines.

use serde_json::{Value, json};

use super::install::{self, Plan};
use super::rows::{goes_on, runs};
use super::words::bytes_of;
use super::{Engines, Tab, doctor, read};
use crate::app::error_text;
use crate::error::IpcError;
use crate::msg::{Action, Tone};
use crate::rpc::types::{CollectMeta, Garbage, InstallResult, InstallTask, Page, Reply};
use crate::screens::{Choice, Cx, Handled, Picker, Question};

const PICK_MODELS: u32 = 1;
const PICK_CHECK: u32 = 2;
const PICK_STOP: u32 = 3;
const PICK_COPY: u32 = 4;
const ASK_INSTALL: u32 = 5;
const ASK_END_INSTALL: u32 = 6;
const ASK_REMOVE: u32 = 7;

const INSTALL: &str = "install";
const STOP: &str = "stop";
const UNUSED: &str = "unused";
const REMOVE: &str = "remove";
/// How many things a question names.
const NAMED: usize = 10;

/// What can be done on a tab, in the order of the footer.
pub(super) const fn actions(tab: Tab) -> &'static [Action] {
    match tab {
        Tab::Engines => &[
            Action::Open,
            Action::Install,
            Action::Doctor,
            Action::Cancel,
            Action::NextPane,
            Action::Copy,
            Action::Unused,
        ],
        Tab::Workers => &[
            Action::Open,
            Action::Cancel,
            Action::NextPane,
            Action::Copy,
            Action::Unused,
        ],
        Tab::Environments => &[Action::Open, Action::Unused, Action::NextPane, Action::Copy],
    }
}

impl Engines {
    /// Those of the actions that mean something for what the cursor is on.
    pub(super) fn useful(&self) -> Vec<Action> {
        let engine = self.current_engine();
        let of_use = |action: &Action| match (action, self.tab) {
            (Action::NextPane, _) => true,
            (Action::Unused, _) => !self.rows.environments.rows.is_empty(),
            (Action::Open, _) => !self.listing().opened && self.current_name().is_some(),
            (Action::Install, _) => engine.is_some_and(|engine| {
                let busy = engine.install.as_ref().is_some_and(goes_on);
                let wanting = !engine.installed || install::fetchable(engine).next().is_some();
                !busy && wanting && !engine.models.is_empty()
            }),
            (Action::Doctor, _) => engine.is_some_and(|engine| engine.installed),
            (Action::Cancel, Tab::Engines) => {
                engine.is_some_and(|engine| engine.install.as_ref().is_some_and(goes_on))
            }
            (Action::Cancel, _) => self.current_worker().is_some_and(runs),
            _ => self.current_name().is_some(),
        };
        let all = actions(self.tab).iter().copied();
        all.filter(of_use).collect()
    }

    pub(super) fn act(&mut self, action: Action, cx: &mut Cx<'_>) -> Handled {
        match action {
            Action::Install => self.ask_install(cx),
            Action::Doctor => self.check(cx),
            Action::Cancel if self.tab == Tab::Engines => self.ask_end_install(cx),
            Action::Cancel => self.pick_stop(cx),
            Action::Unused => cx.ask(UNUSED, 0, "forces.gc", json!({})),
            Action::Copy => self.pick_copy(cx),
            action => return self.move_about(action, cx),
        }
        Handled::Yes
    }

    fn ask_install(&mut self, cx: &mut Cx<'_>) {
        let Some(engine) = self.current_engine() else {
            return;
        };
        if engine.install.as_ref().is_some_and(goes_on) {
            let words = format!("{} is already being installed", engine.name);
            return cx.toast(Tone::Info, words);
        }
        if !engine.installed && engine.models.is_empty() {
            let words = format!(
                "{} cannot be installed: its declaration is wrong",
                engine.name
            );
            return cx.toast(Tone::Warn, words);
        }
        if let Some(picker) = install::choices(engine) {
            return cx.pick(PICK_MODELS, picker);
        }
        let models: Vec<String> = install::fetchable(engine).map(|m| m.id.clone()).collect();
        if engine.installed && models.is_empty() {
            let words = format!("nothing of {} is missing", engine.name);
            return cx.toast(Tone::Info, words);
        }
        self.ask_plan(models, cx);
    }

    fn ask_plan(&mut self, models: Vec<String>, cx: &mut Cx<'_>) {
        let Some(engine) = self.current_engine() else {
            return;
        };
        let plan = Plan::of(engine, models);
        let rows = usize::from(cx.area().height).saturating_sub(5);
        let question = install::question(engine, &plan, rows);
        self.plan = Some(plan);
        cx.question(ASK_INSTALL, question);
    }

    fn check(&mut self, cx: &mut Cx<'_>) {
        let Some(engine) = self.current_engine() else {
            return;
        };
        if !engine.installed {
            let words = format!("{} is not installed, so it cannot be checked", engine.name);
            return cx.toast(Tone::Warn, words);
        }
        let name = engine.name.clone();
        if self.checks.runs_since(&name).is_some() {
            return cx.toast(Tone::Info, format!("{name} is already being checked"));
        }
        match doctor::choices(engine) {
            Some(picker) => {
                self.checking = Some(name);
                cx.pick(PICK_CHECK, picker);
            }
            None => self.checks.begin(&name, None, cx),
        }
    }

    fn ask_end_install(&mut self, cx: &mut Cx<'_>) {
        let Some(engine) = self.current_engine() else {
            return;
        };
        let Some(task) = engine.install.as_ref().filter(|task| goes_on(task)) else {
            let words = format!("{} is not being installed", engine.name);
            return cx.toast(Tone::Warn, words);
        };
        let question = Question {
            title: format!("End the installation of {}?", task.engine),
            lines: vec![
                format!("It is at: {}.", task.phase),
                "What was fetched stays for the next time.".into(),
            ],
            yes: "End it".into(),
        };
        self.ending = Some(task.id.clone());
        cx.question(ASK_END_INSTALL, question);
    }

    fn pick_stop(&mut self, cx: &mut Cx<'_>) {
        let Some(worker) = self.current_worker() else {
            return;
        };
        if !runs(worker) {
            let words = format!("worker {} no longer runs", worker.id);
            return cx.toast(Tone::Warn, words);
        }
        let waiting = match worker.waiting {
            0 => String::new(),
            count => format!(", {count} wait"),
        };
        let choice = |name: &str, title: &str| Choice {
            name: name.into(),
            title: title.into(),
            chosen: name.is_empty(),
        };
        let picker = Picker {
            title: format!("Stop worker {} ({}{waiting})", worker.id, worker.engine),
            choices: vec![
                choice("", "No, it goes on"),
                choice("drain", "Stop it after what it was asked for"),
                choice("now", "Stop it now; what it computes is lost"),
            ],
            several: false,
        };
        self.ending = Some(worker.id.clone());
        cx.pick(PICK_STOP, picker);
    }

    fn pick_copy(&self, cx: &mut Cx<'_>) {
        let mut choices = Vec::new();
        let mut add = |what: &str, text: Option<&str>| {
            choices.extend(text.map(|text| Choice {
                name: format!("{what}\n{text}"),
                title: format!("{what:11}  {text}"),
                chosen: false,
            }));
        };
        match self.tab {
            Tab::Engines => {
                let engine = self.current_engine();
                add("name", engine.map(|engine| engine.name.as_str()));
                add("environment", engine.and_then(|e| e.environment.as_deref()));
                for model in engine.iter().flat_map(|engine| &engine.models) {
                    add("model", Some(&model.id));
                    add("file", model.path.as_deref());
                    add("sha256", model.sha256.as_deref());
                }
            }
            Tab::Workers => {
                let worker = self.current_worker();
                add("name", worker.map(|worker| worker.id.as_str()));
                let pid = worker.and_then(|worker| worker.pid);
                add("process", pid.map(|pid| pid.to_string()).as_deref());
            }
            Tab::Environments => add("id", self.current_environment().map(|one| one.id.as_str())),
        }
        if !choices.is_empty() {
            let picker = Picker {
                title: "Copy".into(),
                choices,
                several: false,
            };
            cx.pick(PICK_COPY, picker);
        }
    }

    pub(super) fn picked(&mut self, token: u32, names: &[String], cx: &mut Cx<'_>) {
        match (token, names) {
            (PICK_MODELS, names) => {
                let installed = self.current_engine().is_some_and(|engine| engine.installed);
                if installed && names.is_empty() {
                    return cx.toast(Tone::Info, "no model was chosen");
                }
                self.ask_plan(names.to_vec(), cx);
            }
            (PICK_CHECK, [chosen]) => {
                if let Some(engine) = self.checking.take() {
                    self.checks.begin(&engine, Some(chosen), cx);
                }
            }
            (PICK_STOP, [mode]) if !mode.is_empty() => {
                if let Some(worker) = self.ending.take() {
                    self.calls += 1;
                    let params = json!({"worker": worker, "mode": mode});
                    cx.send(STOP, self.calls, "forces.stop", params);
                    self.stopping.insert(self.calls, worker);
                    cx.redraw();
                }
            }
            (PICK_COPY, [both]) => {
                if let Some((what, text)) = both.split_once('\n') {
                    cx.copy(what, text);
                }
            }
            _ => {}
        }
    }

    /// A question was answered with Yes.
    pub(super) fn agreed(&mut self, token: u32, cx: &mut Cx<'_>) {
        match token {
            ASK_INSTALL => {
                if let Some(plan) = self.plan.take() {
                    self.calls += 1;
                    cx.send(INSTALL, self.calls, "forces.install", plan.params());
                    self.asked.insert(self.calls, plan.engine);
                    cx.redraw();
                }
            }
            ASK_END_INSTALL => {
                if let Some(task) = self.ending.take() {
                    cx.send(STOP, 0, "forces.stop", json!({"task": task}));
                }
            }
            ASK_REMOVE => cx.send(REMOVE, 0, "forces.gc", json!({"apply": true})),
            _ => {}
        }
    }

    /// Take in the answer of something that was to be done.
    pub(super) fn done(
        &mut self,
        slot: &str,
        tag: i64,
        result: &Result<Value, IpcError>,
        cx: &mut Cx<'_>,
    ) {
        match (slot, result) {
            (INSTALL, result) => {
                self.asked.remove(&tag);
                self.install_answered(result, cx);
            }
            (STOP, Err(error)) => {
                self.stopping.remove(&tag);
                cx.toast(Tone::Bad, format!("not stopped: {}", error_text(error)));
            }
            // What becomes of it is told, where the daemon tells.
            (STOP, Ok(_)) => read(cx),
            (UNUSED, Ok(value)) => ask_remove(value, cx),
            (UNUSED | REMOVE, Err(error)) => cx.toast_error(error),
            (REMOVE, Ok(value)) => {
                removed(value, cx);
                read(cx);
            }
            _ => {}
        }
        cx.redraw();
    }

    fn install_answered(&mut self, result: &Result<Value, IpcError>, cx: &mut Cx<'_>) {
        match result {
            Ok(value) => {
                let reply: Reply<InstallResult> =
                    serde_json::from_value(value.clone()).unwrap_or_default();
                // An event may have told more already.
                let task = reply.data.task;
                let mut engines = self.rows.engines.rows.iter();
                let known = engines.find(|engine| engine.name == task.engine);
                if known.is_some_and(|engine| engine.install.is_none()) && goes_on(&task) {
                    self.rows.installs(&task);
                }
            }
            Err(error) => cx.toast(Tone::Bad, format!("not installed: {}", error_text(error))),
        }
    }
}

/// Say how an installation has ended.
pub(super) fn tell_ended(task: &InstallTask, cx: &mut Cx<'_>) {
    let (tone, words) = match task.state.as_str() {
        "done" => (Tone::Good, "is installed".to_owned()),
        "cancelled" => (Tone::Info, "is not installed: it was ended".to_owned()),
        _ => {
            let why = task.message.as_deref().unwrap_or(&task.text);
            (Tone::Bad, format!("is not installed: {why}"))
        }
    };
    let words = crate::screens::wording::speak(&words);
    cx.toast(tone, format!("{} {words}", task.engine));
}

fn ask_remove(value: &Value, cx: &mut Cx<'_>) {
    let page: Page<Garbage, CollectMeta> =
        serde_json::from_value(value.clone()).unwrap_or_default();
    if page.data.is_empty() {
        let words = "everything is needed or was used in the last 30 days";
        return cx.toast(Tone::Info, words);
    }
    let named = page.data.iter().take(NAMED);
    let mut lines: Vec<String> = named
        .map(|one| {
            let size = bytes_of(one.size_bytes);
            format!("{} {}  {size}: {}", one.kind, one.name, one.reason)
        })
        .collect();
    if page.data.len() > NAMED {
        lines.push(format!("and {} more", page.data.len() - NAMED));
    }
    let count = match page.data.len() {
        1 => "1 thing".to_owned(),
        many => format!("{many} things"),
    };
    let question = Question {
        title: format!("Remove {count}, {}?", bytes_of(page.meta.size_bytes)),
        lines,
        yes: "Remove".into(),
    };
    cx.question(ASK_REMOVE, question);
}

fn removed(value: &Value, cx: &mut Cx<'_>) {
    let page: Page<Garbage, CollectMeta> =
        serde_json::from_value(value.clone()).unwrap_or_default();
    let gone: Vec<&Garbage> = page.data.iter().filter(|one| one.removed).collect();
    let bytes = gone.iter().map(|one| one.size_bytes).sum();
    let words = format!("{} removed, {} are free", gone.len(), bytes_of(bytes));
    match page.data.len() - gone.len() {
        0 => cx.toast(Tone::Good, words),
        left => cx.toast(Tone::Warn, format!("{words}; {left} could not be removed")),
    }
}
