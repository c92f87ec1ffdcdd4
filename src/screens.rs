//! The screens: one file each, with its state, its update and its view.
//!
//! A screen knows the shared data, the theme's roles and the widgets. It never names a colour, a
//! key, the terminal or the transport. `app` owns the screens, tells them what happened and draws
//! them; screens ask for things through [`Cx`].
//!
//! # Adding a screen
//! 1. Add a variant to [`ScreenId`] and a row to [`SPECS`]. [`Place`] says where it lives: as a tab
//!    with a number, as the detail pane of a tab, or over everything else until it is closed.
//! 2. Write `screens/NAME.rs` with a struct that implements [`Screen`].
//! 3. Actions that no other screen has: one row each in `msg/action.rs`. The footer, the help, the
//!    palette and the key map follow from there. [`Spec::opened_by`] names the action that opens an
//!    [`Place::Over`] screen from anywhere.
//!
//! Tabs that have no screen are not shown.
//!
//! # Example
//! A screen that shows the clusters, and reads them again every minute while it is seen:
//!
//! ```ignore
//! #[derive(Debug, Default)]
//! pub struct Clusters { rows: Vec<Cluster>, cursor: usize, read_at: f64 }
//!
//! impl Screen for Clusters {
//!     fn actions(&self) -> &'static [Action] { &[Action::Open, Action::Copy] }
//!
//!     fn update(&mut self, event: &Event<'_>, cx: &mut Cx<'_>) -> Handled {
//!         match event {
//!             // The newest call of a slot wins: while one is under way, only the latest waits.
//!             Event::Entered | Event::Resync => cx.ask("clusters", 0, "clusters.list", json!({})),
//!             Event::Tick if cx.now() >= self.read_at + 60.0 =>
//!                 cx.ask("clusters", 0, "clusters.list", json!({})),
//!             Event::Reply { slot: "clusters", result: Ok(result), .. } => {
//!                 self.rows = read(result);
//!                 self.read_at = cx.now();
//!                 cx.redraw();
//!             }
//!             Event::Reply { slot: "clusters", result: Err(error), .. } => cx.toast_error(error),
//!             Event::Act(Action::Down) => { self.cursor += 1; cx.redraw(); }
//!             Event::Act(Action::Copy) => cx.copy("name", &self.rows[self.cursor].name),
//!             _ => return Handled::No,
//!         }
//!         Handled::Yes
//!     }
//!
//!     fn wake_at(&self, _: Rect, _: &Data) -> Option<f64> { Some(self.read_at + 60.0) }
//!
//!     fn view(&self, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
//!         buf.set_string(area.x, area.y, "…", cx.theme.style(Role::Title));
//!     }
//! }
//! ```

pub mod answers;
pub mod clusters;
pub mod deck;
pub mod engines;
pub mod form;
pub mod job;
pub mod jobs;
pub mod listing;
pub mod materials;
mod names;
pub mod new_job;
pub mod new_workflow;
pub mod queue;
pub mod save;
mod specs;
mod tabs;
pub mod templates;
pub mod wording;
pub mod workflow;
pub mod workflows;

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use serde_json::{Map, Value};

use std::cell::Cell;

pub use specs::SPECS;

use crate::app::Data;
pub use crate::app::{Choice, Cx, Picker, Question};
use crate::config::Config;
use crate::error::IpcError;
use crate::keymap::Keymap;
use crate::msg::{Action, ClusterNews, Edit, EngineNews, Entry, Unwritten};
use crate::rpc::types::WorkflowSummary;
use crate::submission::{Kind, Source};
use crate::theme::Theme;

/// The name of a screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScreenId {
    /// The job list.
    Jobs,
    /// One job.
    Job,
    /// A job that is to be submitted.
    NewJob,
    /// The queue of a cluster.
    Queue,
    /// Calculations that lead to one result.
    Workflows,
    /// One of them.
    Workflow,
    /// A workflow that is to be started.
    NewWorkflow,
    /// Structures that are looked for.
    Materials,
    /// Texts with places to fill in.
    Templates,
    /// The force engines.
    Engines,
    /// The machines that jobs can be sent to.
    Clusters,
}

/// Where a screen lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A tab of the header, with the number of its key.
    Tab(u8),
    /// What another screen's cursor is on: beside it in a wide window, instead of it in a narrow one.
    DetailOf(ScreenId),
    /// Over everything until it is closed.
    Over,
}

/// What is known of a screen before it exists.
#[derive(Debug, Clone, Copy)]
pub struct Spec {
    /// Its name.
    pub id: ScreenId,
    /// For the header.
    pub title: &'static str,
    /// Where it lives.
    pub place: Place,
    /// The action that opens it from anywhere.
    pub opened_by: Option<Action>,
    /// Makes its state.
    pub make: fn(&Config) -> Box<dyn Screen>,
}

/// What a screen is about; `None` when it is about everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subject {
    /// The job with this number.
    Job(i64),
    /// The cluster with this number.
    Cluster(i64),
    /// The workflow with this number.
    Workflow(i64),
}

/// What a new job begins with, when another screen has it already.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    /// What it is about.
    pub source: Source,
    /// The code; what the source tells, if absent.
    pub code: Option<String>,
    /// Parameters of the code; of the template, where the source is one.
    pub inputs: Map<String, Value>,
}

/// Whether a screen took an event. What it did not take may mean something to the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handled {
    /// It did.
    Yes,
    /// It has nothing to do with it.
    No,
}

/// What a screen is told.
#[derive(Debug, Clone, PartialEq)]
pub enum Event<'a> {
    /// It is seen from now on.
    Entered,
    /// It is no longer seen.
    Left,
    /// Be about this from now on. Comes before [`Event::Entered`], and while the cursor moves.
    Show(Option<Subject>),
    /// Begin with this; comes before [`Event::Entered`] to the screen for new jobs.
    Begin(&'a Start),
    /// Begin with this structure; comes before [`Event::Entered`] to the screen for new workflows.
    BeginWorkflow(&'a str),
    /// The user asked for this. Only actions of [`Screen::actions`] and movements arrive.
    Act(Action),
    /// While [`Screen::takes_text`]: a change to the text.
    Edit(&'a Edit),
    /// A click at this place of its area.
    Click(u16, u16),
    /// Its area has changed; [`Cx::area`] is the new one.
    Resized,
    /// The shared job list has changed; so has what belongs to these jobs (all when empty).
    JobsChanged(&'a [i64]),
    /// Workflows are now like this, oldest news first; told to every screen.
    WorkflowsChanged(&'a [WorkflowSummary]),
    /// The connection was lost and is back, or events were lost: read again what is shown.
    Resync,
    /// The time of [`Screen::wake_at`] has come.
    Tick,
    /// The answer to [`Cx::ask`] or [`Cx::send`].
    Reply {
        /// The slot that was given.
        slot: &'static str,
        /// The tag that was given.
        tag: i64,
        /// The `result` object.
        result: &'a Result<Value, IpcError>,
    },
    /// The answer to [`Cx::list_directory`].
    Directory {
        /// The slot that was given.
        slot: &'static str,
        /// The entries, directories first.
        result: &'a Result<Vec<Entry>, String>,
    },
    /// The answer to [`Cx::look_at_file`].
    FileSeen {
        /// The slot that was given.
        slot: &'static str,
        /// What it is, or why it cannot be used.
        result: &'a Result<Kind, String>,
    },
    /// The answer to [`Cx::read_text`].
    TextRead {
        /// The slot that was given.
        slot: &'static str,
        /// The text, or why it cannot be read.
        result: &'a Result<String, String>,
    },
    /// The answer to [`Cx::write_text`].
    TextWritten {
        /// The slot that was given.
        slot: &'static str,
        /// Nothing, or why it was not written.
        result: &'a Result<(), Unwritten>,
    },
    /// A program that had the terminal has ended; files may be others now.
    Returned,
    /// An output of a running job has another length.
    LogGrown {
        /// The job.
        job: i64,
        /// Which output, as `jobs.log` names it.
        stream: &'a str,
        /// Its bytes now.
        bytes: u64,
    },
    /// What became of engines, installations and workers, while [`Cx::watch_engines`].
    EngineNews(&'a [EngineNews]),
    /// What became of clusters, while [`Cx::watch_clusters`].
    ClusterNews(&'a [ClusterNews]),
    /// The answer to [`Cx::question`].
    Answered {
        /// The token of the question.
        token: u32,
        /// Whether it was Yes.
        yes: bool,
    },
    /// What [`Cx::pick`] was answered with: the chosen names, in the order of the list.
    Picked {
        /// The token of the picker.
        token: u32,
        /// The chosen.
        names: &'a [String],
    },
}

/// One screen.
pub trait Screen: std::fmt::Debug + Send {
    /// The actions it does now, in the order of the footer. Movements need not be named.
    fn actions(&self) -> &'static [Action];

    /// What is of use now, for the footer: of its actions, and of those that open another screen.
    fn hints(&self, _data: &Data) -> Vec<Action> {
        self.actions().to_vec()
    }

    /// Every action it does at some time.
    fn all_actions(&self) -> Vec<Action> {
        self.actions().to_vec()
    }

    /// Take an event in. Call [`Cx::redraw`] when what is seen has changed.
    fn update(&mut self, event: &Event<'_>, cx: &mut Cx<'_>) -> Handled;

    /// Draw into `area`. Changes nothing.
    fn view(&self, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>);

    /// The line over the pane.
    fn title(&self, data: &Data) -> String;

    /// Whether keys are text now.
    fn takes_text(&self) -> bool {
        false
    }

    /// What the cursor is on, for the detail pane and the palette.
    fn selected(&self) -> Option<Subject> {
        None
    }

    /// When [`Event::Tick`] is wanted next, while the screen is seen in `area`; `None` while nothing in
    /// it moves by itself.
    fn wake_at(&self, _area: Rect, _data: &Data) -> Option<f64> {
        None
    }
}

/// What a view sees.
pub struct ViewCx<'a> {
    /// Styles and glyphs by role.
    pub theme: &'a Theme,
    /// The shared data.
    pub data: &'a Data,
    /// The key map, to say which key does what: a screen never names a key itself.
    pub keymap: &'a Keymap,
    /// Whether keys go to this screen.
    pub focused: bool,
    /// Where the terminal's cursor goes, if anywhere.
    pub cursor: &'a Cell<Option<Position>>,
}
