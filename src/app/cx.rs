//! What a screen can ask of the program while it takes an event in.

use std::path::PathBuf;

use ratatui::layout::Rect;
use serde_json::Value;

use super::Data;
use super::commands::Command;
use super::requests::{Owner, Requests};
use crate::config::Chosen;
use crate::error::IpcError;
use crate::msg::{Action, Effect, Program, Tone};
use crate::rpc::types::{JobSummary, WorkflowSummary};
use crate::screens::wording::error_text;
use crate::screens::{ScreenId, Start, Subject};

/// A question with Yes and No; No is the default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// In one line, with the count: `Cancel 3 jobs?`
    pub title: String,
    /// What it is about: the objects by name.
    pub lines: Vec<String>,
    /// What Yes does, in a word or two.
    pub yes: String,
}

/// A list to choose from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Picker {
    /// In one line.
    pub title: String,
    /// What there is.
    pub choices: Vec<Choice>,
    /// Whether several may be chosen.
    pub several: bool,
}

/// One entry of a [`Picker`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Choice {
    /// What comes back.
    pub name: String,
    /// What is read.
    pub title: String,
    /// Whether it is chosen at first; with a single choice, where the cursor is.
    pub chosen: bool,
}

/// What the program does after the screen is done with the event.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Wish {
    Toast(Tone, String),
    Question(Question, u32),
    Pick(Picker, u32),
    Open(ScreenId, Option<Subject>),
    Show(ScreenId, Option<Subject>),
    Close,
    Command(Command, Vec<i64>),
    FocusDetail(bool),
    Zoom(bool),
    Take(Box<JobSummary>),
    TakeWorkflow(Box<WorkflowSummary>),
    Act(Action),
    Begin(Box<Start>),
    BeginWorkflow(String),
    Remember(Chosen),
}

/// What a screen works with during one event.
pub struct Cx<'a> {
    pub(super) screen: ScreenId,
    pub(super) data: &'a Data,
    pub(super) area: Rect,
    pub(super) requests: &'a mut Requests,
    pub(super) effects: &'a mut Vec<Effect>,
    pub(super) wishes: &'a mut Vec<Wish>,
    pub(super) dirty: &'a mut bool,
}

impl<'a> Cx<'a> {
    /// The shared data.
    #[must_use]
    pub const fn data(&self) -> &'a Data {
        self.data
    }

    /// The time, in seconds since 1970.
    #[must_use]
    pub const fn now(&self) -> f64 {
        self.data.now
    }

    /// Where the screen is drawn; empty while it is not.
    #[must_use]
    pub const fn area(&self) -> Rect {
        self.area
    }

    /// What is seen has changed.
    pub const fn redraw(&mut self) {
        *self.dirty = true;
    }

    /// Call a method that reads. In one slot at most one call is under way and one waits, the
    /// latest; the answer is an [`Event::Reply`](crate::screens::Event::Reply) with slot and tag.
    pub fn ask(&mut self, slot: &'static str, tag: i64, method: &'static str, params: Value) {
        let effect = self.requests.ask((self.screen, slot), tag, method, params);
        self.effects.extend(effect);
    }

    /// Call a method that changes something: it is always sent, and always once.
    pub fn send(&mut self, slot: &'static str, tag: i64, method: &'static str, params: Value) {
        let owner = Owner::Screen(self.screen, slot, tag);
        let effect = self.requests.call(owner, method, params);
        self.effects.push(effect);
    }

    /// List a directory of this machine.
    pub fn list_directory(&mut self, slot: &'static str, path: PathBuf) {
        let id = self.requests.work(self.screen, slot);
        self.effects.push(Effect::ListDirectory { id, path });
    }

    /// Be told by [`Event::LogGrown`](crate::screens::Event::LogGrown) how the log of this job
    /// grows, instead of the one before; where the daemon has events.
    pub fn watch_log(&mut self, job: Option<i64>) {
        self.effects.push(Effect::WatchLog(job));
    }

    /// Be told by [`Event::EngineNews`](crate::screens::Event::EngineNews) what becomes of engines,
    /// installations and workers, or no longer; where the daemon has events.
    pub fn watch_engines(&mut self, watched: bool) {
        self.effects.push(Effect::WatchEngines(watched));
    }

    /// Be told by [`Event::ClusterNews`](crate::screens::Event::ClusterNews) what becomes of
    /// clusters, or no longer; where the daemon has events.
    pub fn watch_clusters(&mut self, watched: bool) {
        self.effects.push(Effect::WatchClusters(watched));
    }

    /// Look at what a file of this machine is.
    pub fn look_at_file(&mut self, slot: &'static str, path: PathBuf) {
        let id = self.requests.work(self.screen, slot);
        self.effects.push(Effect::LookAtFile { id, path });
    }

    /// Read a file of this machine as text.
    pub fn read_text(&mut self, slot: &'static str, path: PathBuf) {
        let id = self.requests.work(self.screen, slot);
        self.effects.push(Effect::ReadText { id, path });
    }

    /// Write a text to a file of this machine; one that is there only when that is said.
    pub fn write_text(&mut self, slot: &'static str, path: PathBuf, text: String, replace: bool) {
        let id = self.requests.work(self.screen, slot);
        self.effects.push(Effect::WriteText {
            id,
            path,
            text,
            replace,
        });
    }

    /// Put a job that the daemon has just named into the shared list.
    pub fn take_job(&mut self, job: JobSummary) {
        self.wishes.push(Wish::Take(Box::new(job)));
    }

    /// Tell everybody of a workflow that the daemon has just named.
    pub fn take_workflow(&mut self, workflow: WorkflowSummary) {
        self.wishes.push(Wish::TakeWorkflow(Box::new(workflow)));
    }

    /// Open the screen for new workflows with this structure: a path, `provider:id` or `job:12`.
    pub fn begin_workflow(&mut self, structure: impl Into<String>) {
        self.wishes.push(Wish::BeginWorkflow(structure.into()));
    }

    /// Open the screen for new jobs with this.
    pub fn begin_job(&mut self, start: Start) {
        self.wishes.push(Wish::Begin(Box::new(start)));
    }

    /// Do what a key would do, on the screen that then has the keys.
    pub fn act(&mut self, action: Action) {
        self.wishes.push(Wish::Act(action));
    }

    /// Cancel, rerun or delete jobs, after a question; the list shows it at once and goes back if
    /// the daemon refuses.
    pub fn command(&mut self, command: Command, ids: Vec<i64>) {
        self.wishes.push(Wish::Command(command, ids));
    }

    /// Put text on the clipboard; `what` names it for the message.
    pub fn copy(&mut self, what: &str, text: &str) {
        self.effects.push(Effect::Copy(text.to_owned()));
        self.toast(Tone::Good, format!("copied {what}: {text}"));
    }

    /// Give the terminal to a program until it ends.
    pub fn run(&mut self, program: Program, directory: PathBuf) {
        self.effects.push(Effect::Run { program, directory });
    }

    /// Keep a choice of the user for the next start.
    pub fn remember(&mut self, chosen: Chosen) {
        self.wishes.push(Wish::Remember(chosen));
    }

    /// Say something, without taking the keys.
    pub fn toast(&mut self, tone: Tone, text: impl Into<String>) {
        self.wishes.push(Wish::Toast(tone, text.into()));
    }

    /// Say what failed, and what to do about it.
    pub fn toast_error(&mut self, error: &IpcError) {
        self.toast(Tone::Bad, error_text(error));
    }

    /// Ask; the answer is an [`Event::Answered`](crate::screens::Event::Answered).
    pub fn question(&mut self, token: u32, question: Question) {
        self.wishes.push(Wish::Question(question, token));
    }

    /// Let the user choose; the answer is an [`Event::Picked`](crate::screens::Event::Picked).
    pub fn pick(&mut self, token: u32, picker: Picker) {
        self.wishes.push(Wish::Pick(picker, token));
    }

    /// Open a screen: a tab is gone to, a detail pane gets the keys, another one comes over all.
    pub fn open(&mut self, screen: ScreenId, subject: Option<Subject>) {
        self.wishes.push(Wish::Open(screen, subject));
    }

    /// Tell another screen what to be about, without going there.
    pub fn show(&mut self, screen: ScreenId, subject: Option<Subject>) {
        self.wishes.push(Wish::Show(screen, subject));
    }

    /// Close this screen.
    pub fn close(&mut self) {
        self.wishes.push(Wish::Close);
    }

    /// Give the keys to the detail pane, or take them back.
    pub fn focus_detail(&mut self, focused: bool) {
        self.wishes.push(Wish::FocusDetail(focused));
    }

    /// Give the pane with the keys the whole window, or take it back.
    pub fn zoom(&mut self, zoomed: bool) {
        self.wishes.push(Wish::Zoom(zoomed));
    }
}
