//! The UI's own settings: `$XDG_CONFIG_HOME/crystalmath/ui.toml` below the command line.
//!
//! `config.toml` beside it belongs to the daemon and is not read here. What is not known is an
//! error with file and line; nothing is skipped.

mod read;
mod remembered;

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use ratatui::style::Style;

use crate::keymap::Keymap;
use crate::theme::{self, Glyphs, Role, Theme};

pub use read::{Problem, parse};
pub use remembered::{Chosen, Remembered, state_path};

/// Everything that a user can set.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::struct_excessive_bools, reason = "switches of the user")]
pub struct Config {
    /// Name of the theme.
    pub theme: String,
    /// Only ASCII.
    pub ascii: bool,
    /// No colours.
    pub no_colour: bool,
    /// Use the mouse.
    pub mouse: bool,
    /// Tell the terminal when a job ends: bell and desktop notification.
    pub notify: bool,
    /// The columns of the job list; empty for the usual ones.
    pub job_columns: Vec<String>,
    /// The order of the job list; the newest first where nothing is said.
    pub job_sort: Option<SortBy>,
    /// The key map.
    pub keymap: Keymap,
    /// The user's own themes: name, the theme they extend, the styles that differ.
    pub themes: Vec<OwnTheme>,
    /// Which of the things that can be chosen in the UI are set by `ui.toml`.
    pub named: Named,
    /// What was chosen in the UI, now and before.
    pub remembered: Remembered,
    /// Where that is kept, if anywhere.
    pub state_path: Option<PathBuf>,
    /// What to tell the user at the start.
    pub notes: Vec<String>,
}

/// What `ui.toml` decides, so that a choice in the UI holds only until its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Named {
    /// The theme.
    pub theme: bool,
    /// The columns of the job list.
    pub job_columns: bool,
    /// Their order.
    pub job_sort: bool,
}

impl Named {
    /// Whether this is one of them.
    #[must_use]
    pub const fn has(self, chosen: &Chosen) -> bool {
        match chosen {
            Chosen::Theme(_) => self.theme,
            Chosen::JobColumns(_) => self.job_columns,
            Chosen::JobSort(_) => self.job_sort,
        }
    }
}

/// The order of a list: a column, and which end comes first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SortBy {
    /// The name of the column.
    pub column: String,
    /// The largest first.
    pub descending: bool,
}

impl SortBy {
    /// Read `time`, or `-time` for the other way round.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let column = text.strip_prefix('-');
        Self {
            descending: column.is_some(),
            column: column.unwrap_or(text).to_owned(),
        }
    }
}

impl fmt::Display for SortBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.descending { "-" } else { "" };
        write!(f, "{sign}{}", self.column)
    }
}

/// A theme of the user.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnTheme {
    /// Its name.
    pub name: String,
    /// The theme it differs from.
    pub extends: String,
    /// How.
    pub styles: Vec<(Role, Style)>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            theme: theme::DEFAULT.to_owned(),
            ascii: false,
            no_colour: false,
            mouse: true,
            notify: true,
            job_columns: Vec::new(),
            job_sort: None,
            keymap: Keymap::default(),
            themes: Vec::new(),
            named: Named::default(),
            remembered: Remembered::default(),
            state_path: None,
            notes: Vec::new(),
        }
    }
}

impl Config {
    /// The theme with this name as it is to be used; the default one when there is none.
    #[must_use]
    pub fn theme(&self, name: &str) -> Theme {
        let mut theme = self.plain_theme(name, self.themes.len() + 1);
        if self.no_colour {
            theme = theme.without_colour();
        }
        if self.ascii {
            theme = theme.with_glyphs(Glyphs::ASCII);
        }
        theme
    }

    fn plain_theme(&self, name: &str, depth: usize) -> Theme {
        let own = self.themes.iter().find(|own| own.name == name);
        if let Some(own) = own.filter(|_| depth > 0) {
            return self
                .plain_theme(&own.extends, depth - 1)
                .extended(name, &own.styles);
        }
        Theme::built_in(name)
            .or_else(|| Theme::built_in(theme::DEFAULT))
            .unwrap_or_else(|| unreachable!("the default theme is built in"))
    }

    /// Take over what was chosen in the UI before, where `ui.toml` says nothing.
    pub fn take_remembered(&mut self, remembered: Remembered) {
        let known: Vec<String> = self.theme_names().collect();
        match &remembered.theme {
            Some(theme) if !self.named.theme && known.contains(theme) => {
                self.theme.clone_from(theme);
            }
            Some(theme) if !self.named.theme => {
                let now = &self.theme;
                let note = format!("there is no theme {theme:?} any more; this is {now}");
                self.notes.push(note);
            }
            _ => {}
        }
        if let Some(columns) = remembered
            .job_columns
            .as_ref()
            .filter(|_| !self.named.job_columns)
        {
            self.job_columns.clone_from(columns);
        }
        if !self.named.job_sort && remembered.job_sort.is_some() {
            self.job_sort.clone_from(&remembered.job_sort);
        }
        self.remembered = remembered;
    }

    /// The names of all themes, built in and own.
    pub fn theme_names(&self) -> impl Iterator<Item = String> {
        let built_in = theme::BUILT_IN.iter().map(|name| (*name).to_owned());
        built_in.chain(self.themes.iter().map(|own| own.name.clone()))
    }

    /// Read the settings from a file; a file that does not exist holds none.
    ///
    /// # Errors
    /// Everything that is wrong with it, each with its line.
    pub fn load(path: &Path) -> Result<Self, Vec<Problem>> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => {
                return Err(vec![Problem {
                    line: 0,
                    what: error.to_string(),
                }]);
            }
        };
        parse(&text)
    }
}

/// Where the settings are for this environment: `XDG_CONFIG_HOME`, else `.config` of the home.
#[must_use]
pub fn path(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let directory = directory(variable, "XDG_CONFIG_HOME", ".config")?;
    Some(directory.join("crystalmath/ui.toml"))
}

/// The directory that a variable names, else this one of the home.
fn directory(
    variable: impl Fn(&str) -> Option<OsString>,
    name: &str,
    of_home: &str,
) -> Option<PathBuf> {
    let absolute = |name: &str| {
        variable(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    absolute(name).or_else(|| absolute("HOME").map(|home| home.join(of_home)))
}

/// Whether the locale of this environment has more than ASCII.
#[must_use]
pub fn locale_is_unicode(variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let set = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .filter_map(variable)
        .find(|value| !value.is_empty());
    let name = set.map(|value| value.to_string_lossy().to_lowercase());
    name.is_some_and(|name| name.contains("utf-8") || name.contains("utf8"))
}
