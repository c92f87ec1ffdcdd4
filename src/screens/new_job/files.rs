//! The choice of the file that a job is about: a path that is typed and completed, and the entries
//! of its directory.

use std::path::{Path, PathBuf};

use crate::app::Client;
use crate::msg::{Edit, Entry};
use crate::screens::Cx;
use crate::widgets::input::TextLine;
use crate::widgets::table::Place;

const LIST: &str = "list";
const LOOK: &str = "look";

/// What is typed and what there is.
#[derive(Debug, Default)]
pub struct Files {
    pub(super) input: TextLine,
    /// The directory whose entries are here or asked for.
    pub(super) directory: Option<PathBuf>,
    pub(super) entries: Vec<Entry>,
    /// Why they cannot be listed.
    pub(super) unlisted: Option<String>,
    /// The listing of another directory is under way.
    pub(super) waiting: bool,
    pub(super) place: Place,
    /// What is wrong with the file that was chosen.
    pub error: Option<String>,
    asked: Option<PathBuf>,
}

impl Files {
    /// Begin in the program's own directory; what was typed before stays.
    pub fn enter(&mut self, cx: &mut Cx<'_>) {
        self.list(cx);
    }

    /// The path as it is typed, made absolute.
    pub fn typed(&self, client: &Client) -> PathBuf {
        absolute(self.input.text(), client)
    }

    /// The typed text in two: the directory with its slash, and the beginning of a name.
    fn parts(&self) -> (&str, &str) {
        let text = self.input.text();
        let at = text.rfind('/').map_or(0, |at| at + 1);
        text.split_at(at)
    }

    /// Read the directory of what is typed, if it is another one now.
    fn list(&mut self, cx: &mut Cx<'_>) {
        let wanted = absolute(self.parts().0, &cx.data().client);
        if self.directory.as_ref() == Some(&wanted) {
            return;
        }
        self.directory = Some(wanted);
        self.place = Place::default();
        self.entries.clear();
        self.unlisted = None;
        if self.waiting {
            return;
        }
        self.ask(cx);
    }

    fn ask(&mut self, cx: &mut Cx<'_>) {
        if let Some(directory) = &self.directory {
            self.waiting = true;
            self.asked = Some(directory.clone());
            cx.list_directory(LIST, directory.clone());
        }
    }

    /// The entries of a directory have come.
    pub fn listed(&mut self, slot: &str, result: &Result<Vec<Entry>, String>, cx: &mut Cx<'_>) {
        if slot != LIST {
            return;
        }
        self.waiting = false;
        if self.asked == self.directory {
            self.entries = result.clone().unwrap_or_default();
            self.unlisted = result.clone().err();
            self.place = Place::default();
        } else {
            // Another directory was typed meanwhile.
            self.ask(cx);
        }
        cx.redraw();
    }

    /// The entries that fit what is typed. Hidden ones only when a dot is typed.
    pub(super) fn fitting(&self) -> Vec<&Entry> {
        let (_, name) = self.parts();
        let lower = name.to_lowercase();
        self.entries
            .iter()
            .filter(|entry| entry.name.to_lowercase().starts_with(&lower))
            .filter(|entry| name.starts_with('.') || !entry.name.starts_with('.'))
            .collect()
    }

    /// Take a key in; gives the file that is to be used once it was looked at.
    pub fn edit(&mut self, edit: &Edit, rows: usize, cx: &mut Cx<'_>) {
        let count = self.fitting().len();
        cx.redraw();
        match edit {
            Edit::Up => self.place.step(-1, count, rows),
            Edit::Down => self.place.step(1, count, rows),
            Edit::PageUp => self.place.step(-rows.cast_signed(), count, rows),
            Edit::PageDown => self.place.step(rows.cast_signed(), count, rows),
            Edit::Next => self.complete(cx),
            Edit::Previous => self.up(cx),
            Edit::Submit => self.submit(cx),
            edit => {
                self.error = None;
                if self.input.apply(edit) {
                    self.place = Place::default();
                    self.list(cx);
                }
            }
        }
    }

    /// A click on a row of the list puts the cursor there; where it is already, it takes the entry.
    pub fn click(&mut self, row: usize, rows: usize, cx: &mut Cx<'_>) {
        let (count, index) = (self.fitting().len(), self.place.offset + row);
        if row >= rows || index >= count {
            return;
        }
        cx.redraw();
        if index == self.place.cursor {
            self.take(cx);
        } else {
            self.place.go(index, count, rows);
        }
    }

    /// As far as all fitting entries are the same; a single one, or the one under the cursor when
    /// there is nothing more in common, as a whole.
    fn complete(&mut self, cx: &mut Cx<'_>) {
        let (directory, name) = self.parts();
        let fitting = self.fitting();
        let Some(here) = fitting.get(self.place.cursor) else {
            return;
        };
        let common = common_start(&fitting);
        let longer = common.chars().count() > name.chars().count();
        let (name, whole) = if fitting.len() > 1 && longer {
            (common, false)
        } else {
            (here.name.clone(), true)
        };
        let slash = if whole && here.is_dir { "/" } else { "" };
        let text = format!("{directory}{name}{slash}");
        self.set(&text, cx);
    }

    /// To the directory above.
    fn up(&mut self, cx: &mut Cx<'_>) {
        let (directory, _) = self.parts();
        let inner = directory.trim_end_matches('/');
        let text = match inner.rfind('/') {
            Some(at) if !inner.ends_with("..") => inner[..=at].to_owned(),
            None if !inner.is_empty() && !matches!(inner, "." | ".." | "~") => String::new(),
            _ if directory.starts_with('/') && inner.is_empty() => "/".into(),
            _ => format!("{directory}../"),
        };
        self.set(&text, cx);
    }

    fn set(&mut self, text: &str, cx: &mut Cx<'_>) {
        self.input = TextLine::of(text);
        self.error = None;
        self.place = Place::default();
        self.list(cx);
    }

    /// Go into a directory, or look at the file.
    fn submit(&mut self, cx: &mut Cx<'_>) {
        let (_, name) = self.parts();
        let fitting = self.fitting();
        let exact = fitting.iter().find(|entry| entry.name == name);
        // What is typed in full is meant, wherever the cursor is.
        let chosen = exact.or_else(|| fitting.get(self.place.cursor));
        match chosen.map(|entry| (*entry).clone()) {
            Some(entry) => self.go_into(&entry, cx),
            None if name.is_empty() => self.error = Some("choose a file".into()),
            None => cx.look_at_file(LOOK, self.typed(&cx.data().client)),
        }
    }

    /// The entry with the cursor, whatever is typed.
    fn take(&mut self, cx: &mut Cx<'_>) {
        let here = self.fitting().get(self.place.cursor).copied().cloned();
        if let Some(entry) = here {
            self.go_into(&entry, cx);
        }
    }

    fn go_into(&mut self, entry: &Entry, cx: &mut Cx<'_>) {
        let directory = self.parts().0;
        let slash = if entry.is_dir { "/" } else { "" };
        self.set(&format!("{directory}{}{slash}", entry.name), cx);
        if !entry.is_dir {
            cx.look_at_file(LOOK, self.typed(&cx.data().client));
        }
    }

    /// Whether a look at a file was asked for here.
    #[must_use]
    pub fn is_mine(slot: &str) -> bool {
        slot == LOOK
    }
}

/// The beginning that all names have in common, by characters.
fn common_start(entries: &[&Entry]) -> String {
    let Some((first, rest)) = entries.split_first() else {
        return String::new();
    };
    let mut common: Vec<char> = first.name.chars().collect();
    for entry in rest {
        let same = common
            .iter()
            .zip(entry.name.chars())
            .take_while(|(a, b)| **a == *b)
            .count();
        common.truncate(same);
    }
    common.into_iter().collect()
}

/// A path as people write it, without `~`, `.` and `..`.
#[must_use]
pub fn absolute(text: &str, client: &Client) -> PathBuf {
    let path = match (text.strip_prefix('~'), &client.home) {
        (Some(""), Some(home)) => home.clone(),
        (Some(rest), Some(home)) if rest.starts_with('/') => {
            home.join(rest.trim_start_matches('/'))
        }
        _ => client.directory.join(text),
    };
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => {
                clean.pop();
            }
            part => clean.push(part),
        }
    }
    if clean.as_os_str().is_empty() {
        return Path::new(".").to_owned();
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_as_a_shell_reads_them() {
        let client = Client {
            directory: "/home/here".into(),
            home: Some("/home/me".into()),
            ..Client::default()
        };
        let cases = [
            ("", "/home/here"),
            ("a/b.cif", "/home/here/a/b.cif"),
            ("./a/../b", "/home/here/b"),
            ("../x", "/home/x"),
            ("/abs//x/", "/abs/x"),
            ("~", "/home/me"),
            ("~/x", "/home/me/x"),
            ("~other", "/home/here/~other"),
            ("/..", "/"),
        ];
        for (text, path) in cases {
            assert_eq!(absolute(text, &client), Path::new(path), "{text}");
        }
    }

    #[test]
    fn names_have_a_start_in_common() {
        let entry = |name: &str| Entry {
            name: name.into(),
            is_dir: false,
            bytes: 0,
        };
        let all = [entry("siäé.in"), entry("siä.out")];
        assert_eq!(common_start(&all.iter().collect::<Vec<_>>()), "siä");
        assert_eq!(common_start(&[]), "");
    }
}
