//! The columns of the job list: what each shows and how it sorts.

use super::words;
use crate::app::{Data, Row};
use crate::rpc::types::JobState;
use crate::theme::{Role, Theme};
use crate::widgets::table::{Cell, Column};
use crate::widgets::text;

macro_rules! columns {
    ($($variant:ident $name:literal $title:literal $width:literal $share:literal $side:ident
       $rank:literal $describe:literal;)+) => {
        /// A column of the job list.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ColumnId { $(#[doc = $describe] $variant,)+ }

        /// Their names, as `ui.toml` writes them.
        pub const COLUMN_NAMES: &[&str] = &[$($name),+];

        impl ColumnId {
            /// Every column.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Its name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// What it shows.
            #[must_use]
            pub const fn describe(self) -> &'static str {
                match self { $(Self::$variant => $describe,)+ }
            }

            const fn shape(self) -> (&'static str, u16, u16, bool, u8) {
                match self {
                    $(Self::$variant => ($title, $width, $share, columns!(@ $side), $rank),)+
                }
            }
        }
    };
    (@ left) => { false };
    (@ right) => { true };
}

columns! {
    State "state" "State" 12 0 left 0 "State of the job";
    Id "id" "Id" 6 0 right 0 "Number of the job";
    Name "name" "Name" 14 3 left 0 "Name of the job";
    Code "code" "Code" 8 0 left 3 "Code that runs it";
    Task "task" "Task" 8 0 left 6 "What the code does";
    Where "where" "Where" 7 0 left 4 "Cluster, or this machine";
    Time "time" "Time" 11 0 right 2 "Elapsed time, and the limit";
    Used "used" "Used" 11 0 left 3 "How much of its time limit a running job has used";
    Progress "progress" "Progress" 14 2 left 1 "How far it is, or how it ended";
    Energy "energy" "Energy/eV" 15 0 right 5 "Final total energy in eV";
    Formula "formula" "Formula" 10 0 left 5 "Reduced formula";
    Atoms "atoms" "Atoms" 6 0 right 7 "Atoms in the cell";
    Created "created" "Created" 8 0 right 6 "How long ago it was accepted";
    Ended "ended" "Ended" 8 0 right 6 "How long ago it ended";
    Workflow "workflow" "Workflow" 8 0 right 6 "Workflow that it is a step of; sorted by it, they stand together";
    Tags "tags" "Tags" 10 1 left 7 "Labels";
}

impl ColumnId {
    /// Those of a list that nothing else is said of.
    pub const DEFAULT: &'static [Self] = &[
        Self::State,
        Self::Id,
        Self::Name,
        Self::Code,
        Self::Where,
        Self::Time,
        Self::Progress,
    ];

    /// The column with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|column| column.name() == name)
    }

    /// Whether what is largest, or newest, is looked for first.
    #[must_use]
    pub const fn starts_descending(self) -> bool {
        matches!(
            self,
            Self::Id | Self::Workflow | Self::Time | Self::Used | Self::Atoms | Self::Progress
        )
    }

    /// The column for the table, with the mark of the order.
    #[must_use]
    pub fn column(self, sorted: Option<bool>, theme: &Theme) -> Column {
        let mark = match sorted {
            Some(true) => theme.glyphs().descending,
            Some(false) => theme.glyphs().ascending,
            None => "",
        };
        let mut column = self.unmarked();
        column.title.push_str(mark);
        column
    }

    /// The column for the table, whatever the order.
    #[must_use]
    pub fn unmarked(self) -> Column {
        let (title, width, share, right, rank) = self.shape();
        Column {
            title: title.to_owned(),
            width,
            share,
            right,
            rank,
        }
    }

    /// What it shows of a job.
    #[must_use]
    pub fn cell(self, row: &Row, data: &Data, theme: &Theme) -> Cell {
        let job = &row.job;
        let plain = |text: String| (text, Role::Text);
        let ago = |time: Option<&String>| {
            let at = time.and_then(|time| text::unix_time(time));
            plain(at.map_or_else(|| "-".into(), |at| text::age((data.now - at).max(0.0))))
        };
        let (text, role) = match self {
            Self::State => {
                let (glyph, role) = words::state_look(row, theme.glyphs());
                (format!("{glyph} {}", words::state_word(row)), role)
            }
            Self::Id => plain(job.id.to_string()),
            Self::Name => plain(job.name.clone()),
            Self::Code => plain(job.code.clone()),
            Self::Task => plain(job.task.clone().unwrap_or_default()),
            Self::Where => plain(words::place(job).to_owned()),
            Self::Time => {
                let role = words::time_role(row, data);
                let near = if role == Role::Warn {
                    theme.glyphs().attention
                } else {
                    ""
                };
                (format!("{near}{}", words::time(row, data)), role)
            }
            Self::Used => {
                let used = words::time_used(row, data);
                let bar = used.map(|used| words::used_text(used, 6, theme));
                (bar.unwrap_or_default(), words::time_role(row, data))
            }
            Self::Progress => {
                let (words, role) = words::outcome(row, theme.glyphs());
                match job
                    .progress
                    .fraction
                    .filter(|_| job.state == JobState::Running)
                {
                    Some(fraction) => (format!("{} {words}", text::bar(fraction, 6, theme)), role),
                    None => (words, role),
                }
            }
            Self::Energy => plain(
                job.science
                    .energy_ev
                    .map_or_else(String::new, |ev| format!("{ev:.6}")),
            ),
            Self::Formula => plain(job.formula.clone().unwrap_or_default()),
            Self::Workflow => plain(job.workflow.map_or_else(String::new, |id| id.to_string())),
            Self::Atoms => plain(job.n_atoms.map_or_else(String::new, |n| n.to_string())),
            Self::Created => ago(Some(&job.created_at)),
            Self::Ended => ago(job.finished_at.as_ref()),
            Self::Tags => plain(job.tags.join(" ")),
        };
        Cell {
            text,
            style: theme.style(role),
        }
    }

    /// When what it shows of a job says something else by itself, if ever.
    #[must_use]
    pub fn changes_at(self, row: &Row, data: &Data) -> Option<f64> {
        let aged = |time: &str| {
            let age = (data.now - text::unix_time(time)?).max(0.0);
            Some((data.now + text::age_changes_in(age)?).ceil())
        };
        match self {
            Self::Time => data.elapsed_changes_at(row),
            Self::Used => {
                words::time_used(row, data)?;
                data.elapsed_changes_at(row)
            }
            Self::Created => aged(&row.job.created_at),
            Self::Ended => aged(row.job.finished_at.as_deref()?),
            _ => None,
        }
    }

    /// What sorts a job by this column.
    #[must_use]
    pub fn rank<'a>(self, row: &'a Row, data: &Data) -> Rank<'a> {
        let job = &row.job;
        // Counts are far below 2^53.
        #[allow(clippy::cast_precision_loss)]
        let count = |count: i64| Rank::Number(Some(count as f64));
        // The youngest is the smallest age.
        let age = |time: &str| Rank::Number(text::unix_time(time).map(|at| -at));
        match self {
            Self::State => Rank::Number(Some(rank(&job.state))),
            Self::Id => count(job.id),
            Self::Name => Rank::Text(Some(&job.name)),
            Self::Code => Rank::Text(Some(&job.code)),
            Self::Task => Rank::Text(job.task.as_deref()),
            Self::Where => Rank::Text(Some(words::place(job))),
            Self::Time => Rank::Number(data.elapsed_s(row)),
            Self::Used => Rank::Number(words::time_used(row, data)),
            Self::Progress => Rank::Number(job.progress.fraction),
            Self::Energy => Rank::Number(job.science.energy_ev),
            Self::Formula => Rank::Text(job.formula.as_deref()),
            Self::Atoms => job.n_atoms.map_or(Rank::Number(None), count),
            Self::Workflow => job.workflow.map_or(Rank::Number(None), count),
            Self::Created => age(&job.created_at),
            Self::Ended => job.finished_at.as_deref().map_or(Rank::Number(None), age),
            Self::Tags => Rank::Texts(&job.tags),
        }
    }

    /// Whether it sorts by texts.
    #[must_use]
    pub const fn is_text(self) -> bool {
        use ColumnId::{Code, Formula, Name, Tags, Task, Where};
        matches!(self, Name | Code | Task | Where | Formula | Tags)
    }

    /// Whether the order is another one a moment later, without any news.
    #[must_use]
    pub const fn changes_with_time(self) -> bool {
        matches!(self, Self::Time | Self::Used)
    }
}

/// What a job is sorted by; what has none stands below what has one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rank<'a> {
    /// A number.
    Number(Option<f64>),
    /// A text.
    Text(Option<&'a str>),
    /// Several texts, the first counting most.
    Texts(&'a [String]),
}

/// What needs a person stands first, what is over last.
fn rank(state: &JobState) -> f64 {
    let place: u8 = match state {
        JobState::Lost => 0,
        JobState::Failed => 1,
        JobState::Running => 2,
        JobState::Finished => 3,
        JobState::Submitted => 4,
        JobState::Staged => 5,
        JobState::Created => 6,
        JobState::Cancelling => 7,
        JobState::Completed => 8,
        JobState::Cancelled => 9,
        JobState::Other(_) => 10,
    };
    place.into()
}
