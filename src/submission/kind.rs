//! What a file is, when the user does not say: a structure, a deck or a program. Nothing is guessed
//! where several would fit.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::deck::{self, Extent};

/// What the names of structure files end with. Not `json` and `pwi`, which may be anything else.
const STRUCTURES: [&str; 11] = [
    "cif", "poscar", "contcar", "vasp", "xyz", "extxyz", "xsf", "cube", "gen", "gui", "res",
];
/// What programs call the files that hold the structure they ended with.
const RESULTS: [&str; 2] = ["VASPRUN.XML", "DATA-FILE-SCHEMA.XML"];
/// What the names of CRYSTAL's decks end with.
const CRYSTAL_DECKS: [&str; 2] = ["d12", "d3"];
/// What VASP calls the file of its tags, and its other inputs go with.
pub const INCAR: &str = "INCAR";
/// How much of a file is looked at: a deck begins with its namelists.
const HEAD_BYTES: u64 = 64 * 1024;

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A structure.
    Structure,
    /// A structure that the daemon has or finds, called `provider:id` instead of a path.
    Material,
    /// A template that the daemon fills in, called by its id instead of a path.
    Template,
    /// A deck of pw.x.
    Deck,
    /// A deck of CRYSTAL or of its properties, by the name that its users give it.
    CrystalDeck,
    /// The tags of a calculation of VASP, by the name that VASP knows it by.
    Incar,
    /// A program that can be run.
    Program,
    /// One of two things; only the user knows which.
    Either(Doubt),
    /// Something else.
    Unknown,
}

/// Why a file could be two things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// It is called like a structure and holds a deck.
    NamedStructure,
    /// It holds a deck behind other lines, like a script that writes one.
    DeckInside,
}

impl Doubt {
    /// What speaks for what, to be said after the name of the file.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::NamedStructure => "is called like a structure, but holds a deck of pw.x",
            Self::DeckInside => "holds a deck of pw.x, but other lines stand before it",
        }
    }

    /// The codes that would take it, and as what.
    #[must_use]
    pub fn choices(self) -> [(&'static str, &'static str); 2] {
        let deck = ("espresso", "runs the deck");
        match self {
            Self::NamedStructure => [deck, ("forces", "reads the structure")],
            Self::DeckInside => [deck, ("command", "runs it as a program")],
        }
    }
}

/// Look at the first bytes of the file, at its name, then at its permissions.
#[must_use]
pub fn kind_of(path: &Path) -> Kind {
    let head = head_of(path);
    let shebang = head.starts_with(b"#!");
    if !shebang && is_crystal_deck_name(path) && is_file(path) {
        return Kind::CrystalDeck;
    }
    if !shebang && path.file_name().is_some_and(|name| name == INCAR) && is_file(path) {
        return Kind::Incar;
    }
    let deck = if shebang { None } else { deck::find(&head) };
    match (deck, is_structure_name(path)) {
        (Some(Extent::Part), _) => Kind::Either(Doubt::DeckInside),
        (Some(Extent::Whole), true) => Kind::Either(Doubt::NamedStructure),
        // Also where it may be executed: some file systems know nothing else.
        (Some(Extent::Whole), false) => Kind::Deck,
        (None, true) => Kind::Structure,
        (None, false) if shebang || is_executable(path) => Kind::Program,
        (None, false) => Kind::Unknown,
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
        || RESULTS.contains(&name.as_str())
        || STRUCTURES.contains(&extension.as_str())
}

/// Decks of CRYSTAL hold nothing that tells them for certain; their names do.
fn is_crystal_deck_name(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    CRYSTAL_DECKS
        .iter()
        .any(|ending| extension.eq_ignore_ascii_case(ending))
}

/// The first bytes of a file; none where they cannot be read.
fn head_of(path: &Path) -> Vec<u8> {
    let mut head = Vec::new();
    // Opening anything but a file may wait for somebody, or start something.
    let read = is_file(path)
        && File::open(path)
            .and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head))
            .is_ok();
    if read { head } else { Vec::new() }
}

fn is_file(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file())
}

fn is_executable(path: &Path) -> bool {
    std::fs::metadata(path)
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::{Doubt, Kind, kind_of};
    use std::os::unix::fs::PermissionsExt as _;

    const DECK: &str = "&control\n/\n&system\n/\n&electrons\n/\nATOMIC_SPECIES\n";

    #[test]
    fn content_name_and_permissions_tell_what_a_file_is() {
        let folder = tempfile::tempdir().unwrap();
        let script = format!("#!/bin/sh\npw.x <<EOF\n{DECK}EOF\n");
        let bare = format!("pw.x <<EOF\n{DECK}EOF\n");
        for (name, text, mode, expected) in [
            ("si.in", DECK, 0o644, Kind::Deck),
            ("si.pwi", DECK, 0o644, Kind::Deck),
            ("silicon", DECK, 0o755, Kind::Deck),
            ("mgo.d12", "MgO\nCRYSTAL\n", 0o644, Kind::CrystalDeck),
            ("mgo.D3", "NEWK\n", 0o755, Kind::CrystalDeck),
            ("INCAR", "ENCUT = 520\n", 0o644, Kind::Incar),
            ("INCAR.old", "ENCUT = 520\n", 0o644, Kind::Unknown),
            ("run.d3", &*script, 0o644, Kind::Program),
            ("cu.cif", "data_Cu\n", 0o755, Kind::Structure),
            ("POSCAR_1", "", 0o644, Kind::Structure),
            ("vasprun.xml", "<modeling>", 0o644, Kind::Structure),
            ("other.xml", "<modeling>", 0o644, Kind::Unknown),
            ("run.sh", &*script, 0o644, Kind::Program),
            ("tool", "\x7fELF", 0o755, Kind::Program),
            ("tool.txt", "\x7fELF", 0o644, Kind::Unknown),
            ("si.cif", DECK, 0o644, Kind::Either(Doubt::NamedStructure)),
            ("run", &*bare, 0o755, Kind::Either(Doubt::DeckInside)),
        ] {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(kind_of(&path), expected, "{name}");
        }
        assert_eq!(kind_of(folder.path()), Kind::Unknown);
        assert_eq!(kind_of(&folder.path().join("absent.cif")), Kind::Structure);
    }
}
