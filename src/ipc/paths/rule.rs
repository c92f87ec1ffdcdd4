//! The rule where the daemon's socket and data directory are, as pure functions.
//!
//! The daemon has the same rule; `tests/fixtures/socket_paths.json` holds the cases that both must
//! agree on. What the file system looks like is handed in as a probe.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

const SOCKET_NAME: &str = "crystalmath.sock";
/// Length of `.cmXXXXXX`, the name a socket has before it is renamed into place.
const TEMPORARY_NAME_BYTES: usize = 9;

/// The operating system, as far as the rule depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Platform {
    /// Linux, and whatever keeps its conventions.
    Linux,
    /// macOS.
    MacOs,
}

impl Platform {
    /// The platform this program was built for.
    pub const HERE: Self = if cfg!(target_os = "macos") {
        Self::MacOs
    } else {
        Self::Linux
    };

    /// The longest path that a Unix socket can have, in bytes (unix(7); macOS sys/un.h).
    #[must_use]
    pub fn longest_path(self) -> usize {
        match self {
            Self::Linux => 107,
            Self::MacOs => 103,
        }
    }
}

/// Which candidate of the rule was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// `--socket`.
    Flag,
    /// `CRYSTALMATH_SOCKET`.
    Environment,
    /// `XDG_RUNTIME_DIR`.
    Runtime,
    /// `/run/user/UID`.
    RunUser,
    /// `~/Library/Caches`.
    Caches,
    /// `/tmp/crystalmath-UID`.
    Tmp,
}

impl Origin {
    /// The word for it in the table of cases.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Flag => "flag",
            Self::Environment => "environment",
            Self::Runtime => "runtime",
            Self::RunUser => "run_user",
            Self::Caches => "caches",
            Self::Tmp => "tmp",
        }
    }
}

/// Why there is no path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathRefused {
    /// An explicit path that is not absolute.
    #[error("the path {} is relative", .0.display())]
    Relative(PathBuf),
    /// An explicit path that ends in a slash.
    #[error("the socket path {} names a directory", .0.display())]
    NoFileName(PathBuf),
    /// The last candidate exists, but is not ours alone.
    #[error("{} is not a directory of yours with mode 0700; somebody else may have made it", .0.display())]
    UnsafeDirectory(PathBuf),
    /// `HOME` is needed, but not set.
    #[error("HOME is not set to an absolute path")]
    NoHome,
}

impl PathRefused {
    /// The word for it in the table of cases.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Relative(_) => "relative",
            Self::NoFileName(_) => "no_file_name",
            Self::UnsafeDirectory(_) => "unsafe_directory",
            Self::NoHome => "no_home",
        }
    }
}

/// What lies at a path, without following a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// It is a real directory.
    pub is_dir: bool,
    /// Its owner.
    pub uid: u32,
    /// Its permission bits.
    pub mode: u32,
    /// We may make files in it.
    pub writable: bool,
}

/// Looks at a path; `None` when nothing is there.
pub type Probe<'a> = &'a dyn Fn(&Path) -> Option<Facts>;

/// Environment variables; an empty one counts as unset.
pub type Vars = BTreeMap<String, OsString>;

/// A usable path, and how it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SocketPath {
    /// The path to connect to.
    pub path: PathBuf,
    /// Which candidate it is.
    pub origin: Origin,
    /// The path that was wanted, when it is longer than the system allows.
    pub shortened_from: Option<PathBuf>,
    /// It lies in the private directory below `/tmp`, which may have to be made.
    pub in_private_directory: bool,
}

/// Choose the socket path; the first usable candidate wins.
///
/// # Errors
/// An explicit path is unusable, or the last candidate is unsafe.
pub fn socket_path(
    flag: Option<&Path>,
    vars: &Vars,
    uid: u32,
    probe: Probe<'_>,
    platform: Platform,
) -> Result<SocketPath, PathRefused> {
    let named = var(vars, "CRYSTALMATH_SOCKET").map(Path::new);
    let explicit = flag
        .filter(|path| !path.as_os_str().is_empty())
        .map(|path| (path, Origin::Flag))
        .or(named.map(|path| (path, Origin::Environment)));
    if let Some((path, origin)) = explicit {
        if !path.is_absolute() {
            return Err(PathRefused::Relative(path.to_owned()));
        }
        if path.as_os_str().as_bytes().ends_with(b"/") {
            return Err(PathRefused::NoFileName(path.to_owned()));
        }
        return short_enough(path.to_owned(), origin, uid, probe, platform);
    }
    for (directory, origin) in session_directories(vars, uid, platform) {
        let forbidden = if origin == Origin::Caches {
            0o022
        } else {
            0o077
        };
        if probe(&directory).is_some_and(|facts| usable(facts, uid, forbidden)) {
            return short_enough(directory.join(SOCKET_NAME), origin, uid, probe, platform);
        }
    }
    let directory = private_directory(uid, probe)?;
    Ok(SocketPath {
        path: directory.join(SOCKET_NAME),
        origin: Origin::Tmp,
        shortened_from: None,
        in_private_directory: true,
    })
}

/// Choose the data directory: flag, `CRYSTALMATH_DATA_DIR`, XDG, then below the home.
///
/// # Errors
/// The explicit path is relative, or `HOME` is not set.
pub fn data_directory(flag: Option<&Path>, vars: &Vars) -> Result<PathBuf, PathRefused> {
    let named = var(vars, "CRYSTALMATH_DATA_DIR").map(Path::new);
    match flag.filter(|path| !path.as_os_str().is_empty()).or(named) {
        Some(path) if path.is_absolute() => Ok(path.to_owned()),
        Some(path) => Err(PathRefused::Relative(path.to_owned())),
        None => xdg_directory(vars, "XDG_DATA_HOME", ".local/share"),
    }
}

/// `$variable/crystalmath`, or the same below the home directory.
///
/// # Errors
/// `HOME` is needed, but not set.
pub fn xdg_directory(
    vars: &Vars,
    variable: &str,
    below_home: &str,
) -> Result<PathBuf, PathRefused> {
    if let Some(parent) = absolute(vars, variable) {
        return Ok(parent.join("crystalmath"));
    }
    let home = absolute(vars, "HOME").ok_or(PathRefused::NoHome)?;
    Ok(home.join(below_home).join("crystalmath"))
}

fn var<'a>(vars: &'a Vars, name: &str) -> Option<&'a OsStr> {
    vars.get(name)
        .map(OsString::as_os_str)
        .filter(|value| !value.is_empty())
}

/// The variable as a directory; a relative one is ignored, as the XDG rule says.
fn absolute(vars: &Vars, name: &str) -> Option<PathBuf> {
    let mut bytes = var(vars, name)?.as_bytes();
    while let [head @ .., b'/'] = bytes
        && !head.is_empty()
    {
        bytes = head;
    }
    let path = PathBuf::from(OsString::from_vec(bytes.to_owned()));
    path.is_absolute().then_some(path)
}

fn session_directories(vars: &Vars, uid: u32, platform: Platform) -> Vec<(PathBuf, Origin)> {
    if platform == Platform::MacOs {
        let home = absolute(vars, "HOME");
        return home
            .map(|home| (home.join("Library/Caches"), Origin::Caches))
            .into_iter()
            .collect();
    }
    let runtime = absolute(vars, "XDG_RUNTIME_DIR").map(|path| (path, Origin::Runtime));
    let guessed = (PathBuf::from(format!("/run/user/{uid}")), Origin::RunUser);
    runtime.into_iter().chain([guessed]).collect()
}

fn usable(facts: Facts, uid: u32, forbidden_bits: u32) -> bool {
    facts.is_dir
        && facts.uid == uid
        && facts.writable
        && facts.mode & 0o700 == 0o700
        && facts.mode & forbidden_bits == 0
}

/// The directory that holds the socket when there is no better place. Anybody may have put
/// something there before us.
fn private_directory(uid: u32, probe: Probe<'_>) -> Result<PathBuf, PathRefused> {
    let directory = PathBuf::from(format!("/tmp/crystalmath-{uid}"));
    match probe(&directory) {
        Some(facts) if !usable(facts, uid, 0o077) => Err(PathRefused::UnsafeDirectory(directory)),
        _ => Ok(directory),
    }
}

fn short_enough(
    wanted: PathBuf,
    origin: Origin,
    uid: u32,
    probe: Probe<'_>,
    platform: Platform,
) -> Result<SocketPath, PathRefused> {
    let bytes = wanted.as_os_str().as_bytes();
    let name = bytes.len()
        - bytes
            .iter()
            .rposition(|&byte| byte == b'/')
            .map_or(0, |at| at + 1);
    if bytes.len() - name + name.max(TEMPORARY_NAME_BYTES) <= platform.longest_path() {
        return Ok(SocketPath {
            path: wanted,
            origin,
            shortened_from: None,
            in_private_directory: false,
        });
    }
    let directory = private_directory(uid, probe)?;
    let digest = Sha256::digest(bytes);
    let short = u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]]);
    Ok(SocketPath {
        path: directory.join(format!("{short:08x}.sock")),
        origin,
        shortened_from: Some(wanted),
        in_private_directory: true,
    })
}
