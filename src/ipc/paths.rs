//! Where the daemon's socket, data and log are, on this machine and for this user.
//!
//! The rule itself is pure and lives in [`rule`]; here are its probe, and the making of the private
//! directory below `/tmp`. Called when a client is opened, and by `cli` to report.

pub mod rule;

use std::env;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use crate::error::{IpcError, Result};
use rule::{Facts, Platform, Vars};

pub use rule::{Origin, PathRefused, SocketPath};

const VARIABLES: [&str; 6] = [
    "CRYSTALMATH_SOCKET",
    "CRYSTALMATH_DATA_DIR",
    "XDG_RUNTIME_DIR",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "HOME",
];

/// Everything outside the program that decides about paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surroundings {
    /// The environment variables that matter here.
    pub vars: Vars,
    /// The user.
    pub uid: u32,
}

impl Surroundings {
    /// The surroundings of this process.
    #[must_use]
    pub fn of_process() -> Self {
        let value = |name: &str| env::var_os(name).map(|value| (name.to_owned(), value));
        Self {
            vars: VARIABLES.iter().filter_map(|name| value(name)).collect(),
            uid: super::socket::own_uid(),
        }
    }

    /// The directory of the database.
    ///
    /// # Errors
    /// `CRYSTALMATH_DATA_DIR` is relative, or `HOME` is not set.
    pub fn data_dir(&self) -> Result<PathBuf> {
        rule::data_directory(None, &self.vars)
            .map_err(|refused| IpcError::Protocol(format!("no data directory: {refused}")))
    }

    /// The daemon's log.
    ///
    /// # Errors
    /// `HOME` is not set.
    pub fn log_path(&self) -> Result<PathBuf> {
        rule::xdg_directory(&self.vars, "XDG_STATE_HOME", ".local/state")
            .map(|directory| directory.join("server.log"))
            .map_err(|refused| IpcError::Protocol(format!("no log directory: {refused}")))
    }
}

/// Find the socket: `flag` is the value of `--socket`, made absolute.
///
/// # Errors
/// [`IpcError::Refused`] when an explicit path is unusable, or the private directory below `/tmp` is
/// not ours alone.
pub fn resolve(flag: Option<&Path>, around: &Surroundings) -> Result<SocketPath> {
    let chosen = rule::socket_path(flag, &around.vars, around.uid, &probe, Platform::HERE)
        .map_err(|refused| IpcError::Refused {
            socket: match &refused {
                PathRefused::Relative(path)
                | PathRefused::NoFileName(path)
                | PathRefused::UnsafeDirectory(path) => path.clone(),
                PathRefused::NoHome => PathBuf::new(),
            },
            reason: refused.to_string(),
        })?;
    if chosen.in_private_directory
        && let Some(directory) = chosen.path.parent()
    {
        claim(directory, around.uid)?;
    }
    Ok(chosen)
}

/// What to tell the user about a path that was too long.
#[must_use]
pub fn shortening_notice(chosen: &SocketPath) -> Option<String> {
    let wanted = chosen.shortened_from.as_ref()?;
    Some(format!(
        "the socket path {} is longer than the {} bytes the system allows; using {}",
        wanted.display(),
        Platform::HERE.longest_path(),
        chosen.path.display()
    ))
}

fn probe(path: &Path) -> Option<Facts> {
    let found = fs::symlink_metadata(path).ok()?;
    Some(Facts {
        is_dir: found.is_dir(),
        uid: found.uid(),
        mode: found.mode() & 0o7777,
        writable: access(path, Access::WRITE_OK | Access::EXEC_OK).is_ok(),
    })
}

/// Make the private directory if it is not there, and look again at what is there now.
fn claim(directory: &Path, uid: u32) -> Result<()> {
    let refused = |reason: String| IpcError::Refused {
        socket: directory.to_owned(),
        reason,
    };
    match DirBuilder::new().mode(0o700).create(directory) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            return Err(refused(format!("the directory cannot be made: {error}")));
        }
        _ => {}
    }
    match probe(directory) {
        Some(facts) if facts.is_dir && facts.uid == uid && facts.mode & 0o777 == 0o700 => Ok(()),
        _ => Err(refused(
            PathRefused::UnsafeDirectory(directory.to_owned()).to_string(),
        )),
    }
}
