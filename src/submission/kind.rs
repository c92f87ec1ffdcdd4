//! What a file is, when the user does not say: a structure or a program. Nothing is guessed where
//! both or neither would fit.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// What the names of structure files end with. Not `json` and `pwi`, which may be anything else.
const STRUCTURES: [&str; 10] = [
    "cif", "poscar", "contcar", "vasp", "xyz", "extxyz", "xsf", "cube", "res", "gen",
];

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A structure.
    Structure,
    /// A program that can be run.
    Program,
    /// Something else.
    Unknown,
}

/// Look at the name of the file, then at its first bytes and permissions.
#[must_use]
pub fn kind_of(path: &Path) -> Kind {
    if is_structure_name(path) {
        return Kind::Structure;
    }
    if is_file(path) && (has_shebang(path) || is_executable(path)) {
        Kind::Program
    } else {
        Kind::Unknown
    }
}

/// Whether the name alone says that it is a structure.
#[must_use]
pub fn is_structure_name(path: &Path) -> bool {
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .to_uppercase();
    let extension = path
        .extension()
        .unwrap_or_default()
        .to_string_lossy()
        .to_lowercase();
    name.starts_with("POSCAR")
        || name.starts_with("CONTCAR")
        || STRUCTURES.contains(&extension.as_str())
}

/// Opening anything else may wait for somebody, or start something.
fn is_file(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file())
}

fn has_shebang(path: &Path) -> bool {
    let mut head = [0; 2];
    File::open(path)
        .and_then(|mut file| file.read_exact(&mut head))
        .is_ok()
        && head == *b"#!"
}

fn is_executable(path: &Path) -> bool {
    std::fs::metadata(path)
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
