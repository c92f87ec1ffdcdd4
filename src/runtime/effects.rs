//! Carries effects out without keeping the loop waiting.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::thread;

use super::keeper::Keeper;
use super::service::Service;
use crate::files;
use crate::msg::{Effect, Entry, Msg, Tone, Unwritten};
use crate::submission::{Kind, kind_of};

/// Sends work to where it is done.
pub(super) struct Worker {
    service: Box<dyn Service>,
    messages: Sender<Msg>,
    keeper: Keeper,
}

impl Worker {
    pub(super) fn new(service: Box<dyn Service>, messages: Sender<Msg>) -> Self {
        Self {
            service,
            keeper: Keeper::new(None, messages.clone()),
            messages,
        }
    }

    /// Keep what the user chooses in this file.
    pub(super) fn keep_at(&mut self, path: Option<PathBuf>) {
        self.keeper = Keeper::new(path, self.messages.clone());
    }

    /// Begin one effect; those of the terminal are not for here.
    pub(super) fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Call { id, method, params } => {
                self.service.call(id, method, params, &self.messages);
            }
            Effect::Keep(text) => self.keeper.keep(text),
            Effect::WatchLog(job) => self.service.watch_log(job),
            Effect::WatchEngines(watched) => self.service.watch_engines(watched),
            Effect::WatchClusters(watched) => self.service.watch_clusters(watched),
            Effect::Connect { start } => self.service.connect(start, &self.messages),
            Effect::ListDirectory { id, path } => {
                let work = move || Msg::Directory {
                    id,
                    result: list(&path),
                };
                self.apart(work, move |result| Msg::Directory {
                    id,
                    result: Err(result),
                });
            }
            Effect::LookAtFile { id, path } => {
                let work = move || Msg::FileSeen {
                    id,
                    result: look_at(&path),
                };
                self.apart(work, move |result| Msg::FileSeen {
                    id,
                    result: Err(result),
                });
            }
            Effect::ReadText { id, path } => {
                let work = move || Msg::TextRead {
                    id,
                    result: read(&path),
                };
                self.apart(work, move |result| Msg::TextRead {
                    id,
                    result: Err(result),
                });
            }
            Effect::WriteText {
                id,
                path,
                text,
                replace,
            } => {
                let work = move || Msg::TextWritten {
                    id,
                    result: write(&path, &text, replace),
                };
                self.apart(work, move |reason| Msg::TextWritten {
                    id,
                    result: Err(Unwritten::Failed(reason)),
                });
            }
            Effect::Copy(_) | Effect::Notify { .. } | Effect::Run { .. } => {}
        }
    }

    /// Files may be on a slow network, so they are looked at on a thread of its own.
    fn apart(
        &self,
        work: impl FnOnce() -> Msg + Send + 'static,
        failed: impl FnOnce(String) -> Msg,
    ) {
        let messages = self.messages.clone();
        let work = move || {
            // The loop may have ended meanwhile.
            let _ = messages.send(work());
        };
        if let Err(error) = thread::Builder::new().name("ui-files".into()).spawn(work) {
            let text = format!("no thread can be started: {error}");
            let _ = self.messages.send(Msg::Note(Tone::Bad, text.clone()));
            let _ = self.messages.send(failed(text));
        }
    }
}

/// What a file is, if a job can have it.
fn look_at(path: &Path) -> Result<Kind, String> {
    let facts = fs::metadata(path).map_err(|error| format!("{}: {error}", path.display()))?;
    if facts.is_file() {
        Ok(kind_of(path))
    } else {
        Err(format!("{} is not a file", path.display()))
    }
}

fn read(path: &Path) -> Result<String, String> {
    files::read_text(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str, replace: bool) -> Result<(), Unwritten> {
    files::write(path, text, replace).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Unwritten::Exists,
        _ => Unwritten::Failed(format!("{}: {error}", path.display())),
    })
}

/// The entries, directories first, each by name.
fn list(path: &Path) -> Result<Vec<Entry>, String> {
    let told = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut entries = Vec::new();
    for entry in fs::read_dir(path).map_err(told)? {
        let entry = entry.map_err(told)?;
        // A link to nowhere is listed as a file.
        let facts = fs::metadata(entry.path())
            .or_else(|_| entry.metadata())
            .map_err(told)?;
        entries.push(Entry {
            name: entry.file_name().to_string_lossy().into_owned(),
            is_dir: facts.is_dir(),
            bytes: facts.len(),
        });
    }
    entries.sort_by(|a, b| (!a.is_dir, &a.name).cmp(&(!b.is_dir, &b.name)));
    Ok(entries)
}
