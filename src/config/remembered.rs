//! What a person chose in the UI, kept from one start to the next in `ui-state.toml`.
//!
//! The file is the UI's own: it is read once at the start and written by an effect. `ui.toml` wins
//! for everything that it names.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::Deserialize;

use super::SortBy;

const FIRST_LINE: &str =
    "# What was chosen in the terminal UI, which writes this file; ui.toml wins.";

/// The choices; what was never chosen is `None`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Remembered {
    /// The theme.
    pub theme: Option<String>,
    /// The columns of the job list, in their order.
    pub job_columns: Option<Vec<String>>,
    /// The order of the job list.
    pub job_sort: Option<SortBy>,
}

/// Something that is chosen in the UI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chosen {
    /// The theme.
    Theme(String),
    /// The columns of the job list.
    JobColumns(Vec<String>),
    /// The order of the job list.
    JobSort(SortBy),
}

impl Chosen {
    /// In a word, for messages.
    #[must_use]
    pub const fn what(&self) -> &'static str {
        match self {
            Self::Theme(_) => "theme",
            Self::JobColumns(_) => "jobs.columns",
            Self::JobSort(_) => "jobs.sort",
        }
    }
}

/// The file. What a newer version wrote is passed over.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct File {
    theme: Option<String>,
    jobs: Jobs,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Jobs {
    columns: Option<Vec<String>>,
    sort: Option<String>,
}

impl Remembered {
    /// Read what stands in the file.
    ///
    /// # Errors
    /// It is damaged; in one line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let file: File =
            toml::from_str(text).map_err(|error| error.message().replace('\n', "; "))?;
        Ok(Self {
            theme: file.theme,
            job_columns: file.jobs.columns,
            job_sort: file.jobs.sort.as_deref().map(SortBy::parse),
        })
    }

    /// Take in a choice; whether it is another one than before.
    pub fn take(&mut self, chosen: Chosen) -> bool {
        let before = self.clone();
        match chosen {
            Chosen::Theme(name) => self.theme = Some(name),
            Chosen::JobColumns(names) => self.job_columns = Some(names),
            Chosen::JobSort(sort) => self.job_sort = Some(sort),
        }
        *self != before
    }

    /// As it stands in the file.
    #[must_use]
    pub fn render(&self) -> String {
        // JSON's way to write a text is one of TOML's.
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let mut lines = vec![FIRST_LINE.to_owned()];
        let theme = self.theme.as_ref();
        lines.extend(theme.map(|theme| format!("theme = {}", quoted(theme))));
        lines.push("[jobs]".to_owned());
        lines.extend(self.job_columns.as_ref().map(|columns| {
            let columns: Vec<String> = columns.iter().map(|name| quoted(name)).collect();
            format!("columns = [{}]", columns.join(", "))
        }));
        let sort = self.job_sort.as_ref();
        lines.extend(sort.map(|sort| format!("sort = {}", quoted(&sort.to_string()))));
        lines.join("\n") + "\n"
    }
}

/// Where it is for this environment: `XDG_STATE_HOME`, else `.local/state` of the home.
#[must_use]
pub fn state_path(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let directory = super::directory(variable, "XDG_STATE_HOME", ".local/state")?;
    Some(directory.join("crystalmath/ui-state.toml"))
}
