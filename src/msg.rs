//! The words between the parts of the terminal UI: what happened ([`Msg`]), what a user can ask for
//! ([`Action`]), and work to do elsewhere ([`Effect`]).
//!
//! Data only: no I/O, no clock, no terminal. The runtime makes messages and carries effects out;
//! `app` turns the first into the second.

mod action;

use std::path::PathBuf;

use serde_json::Value;

pub use action::{Action, Group, Info, Scope};

use crate::error::IpcError;
use crate::keymap::Key;
use crate::rpc::types::{
    ClusterView, EngineInfo, InstallTask, JobSummary, WorkerInfo, WorkflowSummary,
};
use crate::submission::Kind;

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Msg {
    /// The time, in seconds since 1970; the first message of every batch.
    Clock(f64),
    /// A key.
    Key(Key),
    /// Text that was pasted in one piece.
    Paste(String),
    /// Something was done with the mouse.
    Mouse(Mouse),
    /// The terminal has this size in columns and rows now.
    Resize(u16, u16),
    /// The terminal window got or lost the focus.
    Focus(bool),
    /// How the connection to the daemon is now.
    Link(Link),
    /// The answer to the call with this number.
    Reply {
        /// The number of [`Effect::Call`].
        id: u64,
        /// The `result` object.
        result: Result<Value, IpcError>,
    },
    /// The daemon tells that these jobs are now like this.
    JobsChanged(Vec<JobSummary>),
    /// The daemon tells that these jobs are no longer there.
    JobsGone(Vec<i64>),
    /// The daemon tells that these workflows are now like this, oldest news first.
    WorkflowsChanged(Vec<WorkflowSummary>),
    /// Events were lost; lists have to be read again.
    Resync,
    /// The daemon refuses to tell of changes, and why.
    NoEvents(IpcError),
    /// The answer to [`Effect::ListDirectory`].
    Directory {
        /// The number of the effect.
        id: u64,
        /// What is in it, or why it cannot be read.
        result: Result<Vec<Entry>, String>,
    },
    /// An output of a running job has another length.
    LogGrown {
        /// The job.
        job: i64,
        /// Which output, as `jobs.log` names it.
        stream: String,
        /// Its bytes now.
        bytes: u64,
    },
    /// The daemon tells what became of engines, installations and workers, oldest first.
    EngineNews(Vec<EngineNews>),
    /// The daemon tells what became of clusters, oldest first.
    ClusterNews(Vec<ClusterNews>),
    /// The answer to [`Effect::LookAtFile`].
    FileSeen {
        /// The number of the effect.
        id: u64,
        /// What it is, or why it cannot be used.
        result: Result<Kind, String>,
    },
    /// The answer to [`Effect::ReadText`].
    TextRead {
        /// The number of the effect.
        id: u64,
        /// The text, or why it cannot be read.
        result: Result<String, String>,
    },
    /// The answer to [`Effect::WriteText`].
    TextWritten {
        /// The number of the effect.
        id: u64,
        /// Nothing, or why it was not written.
        result: Result<(), Unwritten>,
    },
    /// A program that had the terminal has ended; files may be others now.
    Returned,
    /// The program is told from outside to end, or the terminal is gone.
    Quit,
    /// Something to tell the user, for example that text was copied.
    Note(Tone, String),
}

/// A cluster as it is now.
#[derive(Debug, Clone, PartialEq)]
pub enum ClusterNews {
    /// It is new, described anew, or something was learned of it.
    Changed(Box<ClusterView>),
    /// The one with this number was forgotten.
    Gone(i64),
}

/// One thing of the engines as it is now.
#[derive(Debug, Clone, PartialEq)]
pub enum EngineNews {
    /// An engine.
    Engine(Box<EngineInfo>),
    /// An installation.
    Install(Box<InstallTask>),
    /// A worker; one that is stopped or has crashed is told for the last time.
    Worker(Box<WorkerInfo>),
}

/// How something is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// It is as it should be.
    Good,
    /// Only to know.
    Info,
    /// To look at.
    Warn,
    /// It failed.
    Bad,
}

/// One entry of a directory on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The file's name.
    pub name: String,
    /// Whether it is a directory, or a link to one.
    pub is_dir: bool,
    /// Its length in bytes.
    pub bytes: u64,
}

/// A use of the mouse, in cells from the top left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mouse {
    /// A click with the first button.
    Click(u16, u16),
    /// The wheel was turned: positive is down.
    Wheel(u16, u16, i16),
}

/// Why a text was not written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unwritten {
    /// There is such a file, and it was not to be replaced.
    Exists,
    /// It could not be.
    Failed(String),
}

/// How the connection to the daemon is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Link {
    /// The first connection is being made; a daemon may be starting.
    #[default]
    Starting,
    /// Connected.
    Ready(Server),
    /// Something listens, but does not answer.
    Busy,
    /// The connection ended; the next one is being made.
    Reconnecting,
    /// There is no connection.
    Down {
        /// Why, in one line.
        cause: String,
        /// What to do about it.
        hint: Option<String>,
        /// The daemon's log.
        log: Option<String>,
    },
}

/// What is known of the daemon that is connected.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Server {
    /// Its version.
    pub version: String,
    /// Unique id of this run of it.
    pub instance: String,
    /// Where it keeps the jobs.
    pub data_dir: String,
    /// Whether it was built for the same contract as this program.
    pub same_contract: bool,
}

/// Work that is done outside the model.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Call a method of the daemon; the answer comes as [`Msg::Reply`].
    Call {
        /// Number of the answer.
        id: u64,
        /// The method.
        method: &'static str,
        /// Its params.
        params: Value,
    },
    /// Connect, after it could not be done.
    Connect {
        /// Whether a daemon may be started.
        start: bool,
    },
    /// Put text on the clipboard of the terminal's machine.
    Copy(String),
    /// Tell the user's desktop, through the terminal.
    Notify {
        /// The first line.
        title: String,
        /// The second.
        body: String,
    },
    /// Keep what the user chose, as the text of its file.
    Keep(String),
    /// List a directory of this machine; the answer comes as [`Msg::Directory`].
    ListDirectory {
        /// Number of the answer.
        id: u64,
        /// The directory.
        path: PathBuf,
    },
    /// Be told how the log of this job grows, instead of the one before, also on every later
    /// connection; it comes as [`Msg::LogGrown`].
    WatchLog(Option<i64>),
    /// Be told what becomes of engines, installations and workers, or no longer, also on every later
    /// connection; it comes as [`Msg::EngineNews`].
    WatchEngines(bool),
    /// The same of clusters; it comes as [`Msg::ClusterNews`].
    WatchClusters(bool),
    /// Look at what a file of this machine is; the answer comes as [`Msg::FileSeen`].
    LookAtFile {
        /// Number of the answer.
        id: u64,
        /// The file.
        path: PathBuf,
    },
    /// Read a file of this machine as text; the answer comes as [`Msg::TextRead`].
    ReadText {
        /// Number of the answer.
        id: u64,
        /// The file.
        path: PathBuf,
    },
    /// Write a text to a file of this machine; the answer comes as [`Msg::TextWritten`].
    WriteText {
        /// Number of the answer.
        id: u64,
        /// The file.
        path: PathBuf,
        /// What is to stand in it.
        text: String,
        /// Whether a file that is there may be replaced.
        replace: bool,
    },
    /// Give the terminal to a program until it ends; that it did comes as [`Msg::Returned`].
    Run {
        /// What to run.
        program: Program,
        /// Where to run it.
        directory: PathBuf,
    },
}

/// A program that takes over the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// The user's shell.
    Shell,
    /// The user's pager, with this file.
    Pager(PathBuf),
    /// The user's editor, with this file.
    Editor(PathBuf),
}

/// A change to a line of text, or what ends it; made from keys while a screen takes text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// Type this.
    Insert(String),
    /// Remove the grapheme before the cursor.
    Backspace,
    /// Remove the grapheme at the cursor.
    Delete,
    /// Remove the word before the cursor.
    DeleteWord,
    /// Remove everything before the cursor.
    DeleteToStart,
    /// One grapheme to the left.
    Left,
    /// One grapheme to the right.
    Right,
    /// To the start.
    Home,
    /// To the end.
    End,
    /// The line before, or the entry above.
    Up,
    /// The line after, or the entry below.
    Down,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// Complete, or the next field.
    Next,
    /// The field before.
    Previous,
    /// Take it.
    Submit,
    /// Leave it.
    Cancel,
}
