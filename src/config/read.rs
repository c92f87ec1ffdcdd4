//! Reads `ui.toml`: every key is known or an error with its line.

use std::fmt;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Config, OwnTheme, SortBy};
use crate::keymap::Keymap;
use crate::theme::{self, Role, parse_style};

/// Something wrong in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The line, counted from 1; 0 when it is the whole file.
    pub line: usize,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            f.write_str(&self.what)
        } else {
            write!(f, "line {}: {}", self.line, self.what)
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    problems: Vec<Problem>,
}

/// Read the settings.
///
/// # Errors
/// Everything that is wrong, in the order of the file.
pub fn parse(text: &str) -> Result<Config, Vec<Problem>> {
    let mut reader = Reader {
        text,
        problems: Vec::new(),
    };
    let table = match DeTable::parse(text) {
        Ok(table) => table,
        Err(error) => {
            let at = error.span().map_or(0, |span| span.start);
            reader.report(at, error.message().trim().to_owned());
            return Err(reader.problems);
        }
    };
    let config = reader.config(table.get_ref());
    if reader.problems.is_empty() {
        Ok(config)
    } else {
        reader.problems.sort_by_key(|problem| problem.line);
        Err(reader.problems)
    }
}

type Value<'i> = Spanned<DeValue<'i>>;

impl Reader<'_> {
    fn report(&mut self, at: usize, what: String) {
        let before = self.text.get(..at).unwrap_or(self.text);
        self.problems.push(Problem {
            line: before.matches('\n').count() + 1,
            what,
        });
    }

    fn config(&mut self, table: &DeTable<'_>) -> Config {
        let mut config = Config::default();
        let mut theme_at = 0;
        for (key, value) in table {
            let at = key.span().start;
            match key.get_ref().as_ref() {
                "theme" => {
                    config.theme = self.string(value).unwrap_or_default();
                    config.named.theme = true;
                    theme_at = at;
                }
                "ascii" => config.ascii = self.boolean(value),
                "mouse" => config.mouse = self.boolean(value),
                "notify" => config.notify = self.boolean(value),
                "keys" => self.keys(value, &mut config),
                "themes" => self.themes(value, &mut config),
                "jobs" => self.jobs(value, &mut config),
                other => self.report(
                    at,
                    format!(
                        "{other:?} is not known; there are theme, ascii, mouse, notify, [jobs], [keys], \
                         [themes.NAME]"
                    ),
                ),
            }
        }
        self.check_themes(&config, theme_at);
        config
    }

    fn check_themes(&mut self, config: &Config, at: usize) {
        let names: Vec<String> = config.theme_names().collect();
        if !names.contains(&config.theme) {
            let what = format!(
                "there is no theme {:?}; there are {}",
                config.theme,
                names.join(", ")
            );
            self.report(at, what);
        }
        for own in &config.themes {
            let mut next = own.extends.as_str();
            let mut steps = 0;
            while let Some(other) = config.themes.iter().find(|other| other.name == next) {
                next = &other.extends;
                steps += 1;
                if steps > config.themes.len() {
                    break;
                }
            }
            if !theme::BUILT_IN.contains(&next) {
                let at = self
                    .text
                    .find(&format!("[themes.{}", own.name))
                    .unwrap_or(0);
                let what = format!(
                    "the theme {:?} extends {:?}, which leads to no built-in theme",
                    own.name, own.extends
                );
                self.report(at, what);
            }
        }
    }

    fn keys(&mut self, value: &Value<'_>, config: &mut Config) {
        let Some(table) = self.table(value) else {
            return;
        };
        let mut changes = Vec::new();
        let mut places: Vec<(String, usize)> = Vec::new();
        for (key, value) in table {
            let name = key.get_ref().to_string();
            places.push((name.clone(), key.span().start));
            let keys = self.strings(value);
            changes.push((name, keys));
        }
        match Keymap::with(&changes) {
            Ok(keymap) => config.keymap = keymap,
            Err(refused) => {
                for refusal in refused {
                    let place = places.iter().find(|(name, _)| *name == refusal.action);
                    let at = place.map_or(value.span().start, |(_, at)| *at);
                    self.report(at, format!("keys.{}: {}", refusal.action, refusal.reason));
                }
            }
        }
    }

    fn jobs(&mut self, value: &Value<'_>, config: &mut Config) {
        let Some(table) = self.table(value) else {
            return;
        };
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "columns" => {
                    config.job_columns = self.strings(value);
                    config.named.job_columns = true;
                    for name in config.job_columns.clone() {
                        self.check_column(&name, value);
                    }
                }
                "sort" => {
                    config.job_sort = self.string(value).map(|text| SortBy::parse(&text));
                    config.named.job_sort = true;
                    if let Some(sort) = &config.job_sort {
                        self.check_column(&sort.column, value);
                    }
                }
                other => {
                    let what =
                        format!("jobs.{other} is not known; there are jobs.columns, jobs.sort");
                    self.report(key.span().start, what);
                }
            }
        }
    }

    fn check_column(&mut self, name: &str, value: &Value<'_>) {
        let known = crate::screens::jobs::COLUMN_NAMES;
        if !known.contains(&name) {
            let what = format!(
                "there is no column {name:?}; there are {}",
                known.join(", ")
            );
            self.report(value.span().start, what);
        }
    }

    fn themes(&mut self, value: &Value<'_>, config: &mut Config) {
        let Some(table) = self.table(value) else {
            return;
        };
        for (name, value) in table {
            let Some(rows) = self.table(value) else {
                continue;
            };
            let mut own = OwnTheme {
                name: name.get_ref().to_string(),
                extends: theme::DEFAULT.to_owned(),
                styles: Vec::new(),
            };
            for (key, value) in rows {
                let Some(text) = self.string(value) else {
                    continue;
                };
                if key.get_ref() == "extends" {
                    own.extends = text;
                    continue;
                }
                match (Role::named(key.get_ref()), parse_style(&text)) {
                    (Some(role), Ok(style)) => own.styles.push((role, style)),
                    (None, _) => {
                        let names: Vec<&str> = Role::ALL.iter().map(|role| role.name()).collect();
                        let what = format!(
                            "there is no role {:?}; there are {}",
                            key.get_ref(),
                            names.join(", ")
                        );
                        self.report(key.span().start, what);
                    }
                    (_, Err(reason)) => self.report(value.span().start, reason),
                }
            }
            config.themes.push(own);
        }
    }

    fn wrong(&mut self, span: Range<usize>, wanted: &str) {
        self.report(span.start, format!("{wanted} is wanted here"));
    }

    fn string(&mut self, value: &Value<'_>) -> Option<String> {
        if let DeValue::String(text) = value.get_ref() {
            return Some(text.to_string());
        }
        self.wrong(value.span(), "a text in quotes");
        None
    }

    fn boolean(&mut self, value: &Value<'_>) -> bool {
        if let DeValue::Boolean(yes) = value.get_ref() {
            return *yes;
        }
        self.wrong(value.span(), "true or false");
        false
    }

    fn strings(&mut self, value: &Value<'_>) -> Vec<String> {
        match value.get_ref() {
            DeValue::String(text) => vec![text.to_string()],
            DeValue::Array(all) => all.iter().filter_map(|one| self.string(one)).collect(),
            _ => {
                self.wrong(value.span(), "a text, or a list of texts");
                Vec::new()
            }
        }
    }

    fn table<'v, 'i>(&mut self, value: &'v Value<'i>) -> Option<&'v DeTable<'i>> {
        if let DeValue::Table(table) = value.get_ref() {
            return Some(table);
        }
        self.wrong(value.span(), "a table");
        None
    }
}
