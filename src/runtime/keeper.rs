//! Writes what the user chose to its file, on a thread of its own: whole or not at all, and of several
//! choices in a row the last one.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};

use crate::msg::{Msg, Tone};

/// The thread that writes; made when there is first something to write.
pub(super) struct Keeper {
    path: Option<PathBuf>,
    messages: Sender<Msg>,
    writer: Option<(Sender<String>, JoinHandle<()>)>,
}

impl Keeper {
    /// Without a path nothing is kept.
    pub(super) const fn new(path: Option<PathBuf>, messages: Sender<Msg>) -> Self {
        Self {
            path,
            messages,
            writer: None,
        }
    }

    /// Have it written; returns at once.
    pub(super) fn keep(&mut self, text: String) {
        let Some(path) = self.path.clone() else {
            return;
        };
        if self.writer.is_none() {
            let (sender, texts) = mpsc::channel::<String>();
            let messages = self.messages.clone();
            let write = move || {
                while let Ok(first) = texts.recv() {
                    let last = texts.try_iter().last().unwrap_or(first);
                    if let Err(error) = save(&path, &last) {
                        let words = format!(
                            "what you chose holds until you leave; {} cannot be written: {error}",
                            path.display()
                        );
                        // The loop may have ended meanwhile.
                        let _ = messages.send(Msg::Note(Tone::Warn, words));
                    }
                }
            };
            let thread = thread::Builder::new().name("ui-keeper".into());
            match thread.spawn(write) {
                Ok(handle) => self.writer = Some((sender, handle)),
                Err(error) => {
                    let words = format!("no thread can be started: {error}");
                    let _ = self.messages.send(Msg::Note(Tone::Bad, words));
                }
            }
        }
        if let Some((sender, _)) = &self.writer {
            let _ = sender.send(text);
        }
    }
}

impl Drop for Keeper {
    /// The last choice is written before the program ends.
    fn drop(&mut self) {
        if let Some((sender, handle)) = self.writer.take() {
            drop(sender);
            // It has told what went wrong by itself.
            let _ = handle.join();
        }
    }
}

/// Write the file anew beside the old one and put it in its place.
fn save(path: &Path, text: &str) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)?;
    let new = path.with_extension(format!("{}.new", std::process::id()));
    let written = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&new)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .and_then(|()| fs::rename(&new, path));
    written.inspect_err(|_| {
        // Whatever it is that stands there, it is of no use.
        let _ = fs::remove_file(&new);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_several_choices_is_kept_and_nothing_else() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("deep/down/ui-state.toml");
        let (sender, messages) = mpsc::channel();
        let mut keeper = Keeper::new(Some(path.clone()), sender);
        for number in 0..50 {
            keeper.keep(format!("number = {number}\n"));
        }
        drop(keeper);
        assert_eq!(
            fs::read_to_string(&path).expect("it was written"),
            "number = 49\n"
        );
        let beside = fs::read_dir(path.parent().expect("a parent")).expect("it can be listed");
        assert_eq!(beside.count(), 1);
        assert!(messages.try_recv().is_err());
    }

    #[test]
    fn what_cannot_be_written_is_said() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("file");
        fs::write(&file, "").expect("it can be written");
        let (sender, messages) = mpsc::channel();
        let mut keeper = Keeper::new(Some(file.join("ui-state.toml")), sender);
        keeper.keep("theme = \"light\"\n".into());
        drop(keeper);
        match messages.try_recv() {
            Ok(Msg::Note(Tone::Warn, words)) => assert!(words.contains("cannot be written")),
            other => panic!("{other:?}"),
        }
    }
}
