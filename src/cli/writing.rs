//! Files that a command writes: whole, and none that is there is replaced unasked.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use super::output::Failure;

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
pub(super) fn write(path: &Path, text: &str, force: bool) -> Result<(), Failure> {
    let mut options = OpenOptions::new();
    options.write(true);
    if force {
        options.create(true).truncate(true);
    } else {
        options.create_new(true);
    }
    let opened = options.open(path);
    if let Err(error) = &opened
        && error.kind() == ErrorKind::AlreadyExists
    {
        return Err(already_there(path));
    }
    opened
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| Failure::Io(format!("cannot write {}", path.display()), error))
}

fn already_there(path: &Path) -> Failure {
    Failure::usage(
        format!("{} is there already", path.display()),
        "give another name, or --force to replace it",
    )
}
