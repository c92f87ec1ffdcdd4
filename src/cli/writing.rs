//! Files that a command writes: whole, and none that is there is replaced unasked.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::output::Failure;
use crate::files;

/// Refuse to go on when one of the files is there already.
///
/// # Errors
/// One is, and `force` was not given.
pub(super) fn check_free<'a>(
    paths: impl IntoIterator<Item = &'a Path>,
    force: bool,
) -> Result<(), Failure> {
    let mut paths = paths.into_iter();
    match paths.find(|path| !force && path.symlink_metadata().is_ok()) {
        Some(path) => Err(already_there(path)),
        None => Ok(()),
    }
}

/// Write a file.
///
/// # Errors
/// It is there already and `force` was not given, or it cannot be written.
pub(super) fn write(path: &Path, content: impl AsRef<[u8]>, force: bool) -> Result<(), Failure> {
    files::write(path, content, force).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => already_there(path),
        _ => Failure::Io(format!("cannot write {}", path.display()), error),
    })
}

/// A file that the daemon made: its name below a directory, and its text.
pub(super) type Made<'a> = (&'a str, &'a str);

/// One file as it is, several with their names.
#[must_use]
pub(super) fn printed(files: &[Made<'_>]) -> String {
    match files {
        [(_, content)] => (*content).to_owned(),
        several => several
            .iter()
            .map(|(name, content)| format!("--- {name}\n{content}"))
            .collect::<Vec<_>>()
            .concat(),
    }
}

/// Write one file where it is wanted, or several below a directory; tells which.
///
/// # Errors
/// One is there already and `force` was not given (none is written then), or cannot be written.
pub(super) fn write_all(path: &Path, files: &[Made<'_>], force: bool) -> Result<String, Failure> {
    let targets: Vec<PathBuf> = match files {
        [_] if !path.is_dir() => vec![path.to_owned()],
        _ => files.iter().map(|(name, _)| path.join(name)).collect(),
    };
    check_free(targets.iter().map(PathBuf::as_path), force)?;
    for (target, (_, content)) in targets.iter().zip(files) {
        if target != path {
            make_folder_of(target)?;
        }
        write(target, content, force)?;
    }
    let names: Vec<String> = targets.iter().map(|p| p.display().to_string()).collect();
    Ok(format!("{} written", names.join(", ")))
}

/// Make the folder that a file is to lie in.
///
/// # Errors
/// It cannot be made.
pub(super) fn make_folder_of(path: &Path) -> Result<(), Failure> {
    let Some(folder) = path.parent() else {
        return Ok(());
    };
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::Io(format!("cannot make {}", folder.display()), error))
}

fn already_there(path: &Path) -> Failure {
    Failure::usage(
        format!("{} is there already", path.display()),
        "give another name, or --force to replace it",
    )
}
