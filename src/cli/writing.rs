//! Files that a command writes: whole, and none that is there is replaced unasked.

use std::io::ErrorKind;
use std::path::Path;

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
pub(super) fn write(path: &Path, text: &str, force: bool) -> Result<(), Failure> {
    files::write_text(path, text, force).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => already_there(path),
        _ => Failure::Io(format!("cannot write {}", path.display()), error),
    })
}

fn already_there(path: &Path) -> Failure {
    Failure::usage(
        format!("{} is there already", path.display()),
        "give another name, or --force to replace it",
    )
}
