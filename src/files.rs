//! Files of this machine that the user asks for: read as text, written without replacing unasked.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

/// The most of a text that the daemon takes.
const MAX_BYTES: u64 = 8 << 20;

/// Read a file as text: UTF-8, else byte by byte, so that no line is lost.
///
/// # Errors
/// It is no file, cannot be read, or is larger than the daemon takes.
pub fn read_text(path: &Path) -> io::Result<String> {
    // Opening anything but a file may wait for somebody.
    if !path.metadata()?.is_file() {
        return Err(io::Error::other("not a file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?
        .take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(io::Error::other("larger than 8 MiB"));
    }
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| error.as_bytes().iter().copied().map(char::from).collect()))
}

/// Write a file; one that is there is only replaced when that is said.
///
/// # Errors
/// It cannot be written, or is there already ([`io::ErrorKind::AlreadyExists`]).
pub fn write(path: &Path, content: impl AsRef<[u8]>, replace: bool) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true);
    if replace {
        options.create(true).truncate(true);
    } else {
        options.create_new(true);
    }
    options.open(path)?.write_all(content.as_ref())
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use super::*;

    #[test]
    fn a_file_that_is_there_is_not_replaced_unasked() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("mgo.d12");
        write(&path, "first\n", false).expect("it is new");
        let again = write(&path, "second\n", false).expect_err("it is there");
        assert_eq!(again.kind(), ErrorKind::AlreadyExists);
        assert_eq!(read_text(&path).expect("it is there"), "first\n");
        write(&path, "third\n", true).expect("it was asked for");
        assert_eq!(read_text(&path).expect("it is there"), "third\n");
    }

    #[test]
    fn what_is_no_utf_8_keeps_its_lines() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("old.d12");
        std::fs::write(&path, b"M\xfcnchen\r\nCRYSTAL\n").expect("written");
        let text = read_text(&path).expect("read");
        assert_eq!(text, "M\u{fc}nchen\r\nCRYSTAL\n");
        assert!(read_text(folder.path()).is_err());
    }
}
