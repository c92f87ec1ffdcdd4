//! The command palette: every action by its name, jobs by number or name; what was used lately
//! stands first.

use std::cmp::Reverse;

use super::Model;
use super::overlays::Overlay;
use crate::msg::{Action, Edit, Effect};
use crate::screens::Subject;
use crate::widgets::fuzzy::Typed;
use crate::widgets::input::TextLine;

/// How many jobs are offered at most.
const JOBS: usize = 50;
/// How many actions are remembered.
const RECENT: usize = 20;

/// One line of the palette.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub action: Action,
    pub subject: Option<Subject>,
    /// What is read, and what stands in the input when it is completed.
    pub title: String,
    pub help: String,
    pub key: String,
}

/// The open palette.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Palette {
    pub input: TextLine,
    pub entries: Vec<Entry>,
    pub cursor: usize,
}

impl Model {
    pub(super) fn open_palette(&mut self) -> Vec<Effect> {
        let palette = Palette {
            entries: self.palette_entries(""),
            ..Palette::default()
        };
        self.keep(Overlay::Palette(palette))
    }

    pub(super) fn palette_edit(&mut self, mut palette: Palette, edit: &Edit) -> Vec<Effect> {
        let last = palette.entries.len().saturating_sub(1);
        match edit {
            Edit::Cancel => return Vec::new(),
            Edit::Submit => {
                return match palette.entries.get(palette.cursor).cloned() {
                    Some(entry) => self.palette_run(&entry),
                    None => self.keep(Overlay::Palette(palette)),
                };
            }
            Edit::Down => palette.cursor = (palette.cursor + 1).min(last),
            Edit::Up | Edit::Previous => palette.cursor = palette.cursor.saturating_sub(1),
            Edit::PageDown => palette.cursor = (palette.cursor + 10).min(last),
            Edit::PageUp => palette.cursor = palette.cursor.saturating_sub(10),
            Edit::Next => {
                if let Some(entry) = palette.entries.get(palette.cursor) {
                    palette.input = TextLine::of(&completed(entry));
                    palette.entries = self.palette_entries(palette.input.text());
                    palette.cursor = 0;
                }
            }
            edit => {
                palette.input.apply(edit);
                palette.entries = self.palette_entries(palette.input.text());
                palette.cursor = 0;
            }
        }
        self.keep(Overlay::Palette(palette))
    }

    fn palette_run(&mut self, entry: &Entry) -> Vec<Effect> {
        self.recent.retain(|action| *action != entry.action);
        self.recent.insert(0, entry.action);
        self.recent.truncate(RECENT);
        let mut effects = Vec::new();
        if let Some(subject) = entry.subject {
            effects.extend(self.go_to(subject));
        }
        effects.extend(self.act(entry.action));
        effects
    }

    /// What fits the text, the best first: `action`, `action job`, or a job alone.
    pub(super) fn palette_entries(&self, text: &str) -> Vec<Entry> {
        let text = text.trim_start();
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        if let Some(action) = Action::named(word)
            && text.contains(' ')
            && self.takes_job(action)
        {
            return self.job_entries(action, rest.trim());
        }
        let typed = Typed::new(text);
        let mut scored: Vec<(i64, Entry)> = self
            .actions_here()
            .filter_map(|action| {
                let info = action.info();
                let by_name = typed.score(info.name);
                let by_help = typed.score(info.help).map(|score| score - 200);
                let score = by_name.max(by_help)?;
                let recent = self.recent.iter().position(|known| *known == action);
                let bonus = recent.map_or(0, |at| 40 - i64::try_from(at).unwrap_or(0));
                Some((score + bonus, self.action_entry(action)))
            })
            .collect();
        scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        let mut entries: Vec<Entry> = scored.into_iter().map(|(_, entry)| entry).collect();
        if !text.trim().is_empty() && self.takes_job(Action::Open) {
            let jobs = self.job_entries(Action::Open, text.trim());
            let at = if text.trim().parse::<i64>().is_ok() {
                0
            } else {
                entries.len()
            };
            entries.splice(at..at, jobs);
        }
        entries
    }

    fn action_entry(&self, action: Action) -> Entry {
        let info = action.info();
        Entry {
            action,
            subject: None,
            title: info.name.to_owned(),
            help: info.help.to_owned(),
            key: self.keymap.main_key(action),
        }
    }

    fn takes_job(&self, action: Action) -> bool {
        matches!(
            action,
            Action::Open | Action::Cancel | Action::Rerun | Action::Delete | Action::Copy
        ) && self.actions_here().any(|here| here == action)
    }

    fn job_entries(&self, action: Action, text: &str) -> Vec<Entry> {
        let typed = Typed::new(text);
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        let by_number = |id: i64| {
            let number = is_number.then(|| id.to_string())?;
            let starts = number.starts_with(text);
            starts.then_some(if number == text { 1000 } else { 500 })
        };
        let mut found: Vec<(Reverse<(i64, i64)>, &str)> = self
            .data
            .jobs
            .rows()
            .filter_map(|row| {
                let score = by_number(row.job.id).max(typed.score(&row.job.name))?;
                Some((Reverse((score, row.job.id)), row.job.name.as_str()))
            })
            .collect();
        if found.len() > JOBS {
            found.select_nth_unstable(JOBS);
            found.truncate(JOBS);
        }
        found.sort_unstable();
        found
            .into_iter()
            .map(|(Reverse((_, id)), name)| Entry {
                action,
                subject: Some(Subject::Job(id)),
                title: format!("{} {id}", action.info().name),
                help: name.to_owned(),
                key: String::new(),
            })
            .collect()
    }
}

fn completed(entry: &Entry) -> String {
    match entry.subject {
        Some(_) => entry.title.clone(),
        None => format!("{} ", entry.title),
    }
}
