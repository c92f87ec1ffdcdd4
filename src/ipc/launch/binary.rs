//! Which `crystalmath-server` is started: the one that is named, else the one installed beside this
//! program, else the one on `PATH`.

use std::env;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::error::{IpcError, Result, StartFailure};

const NAME: &str = "crystalmath-server";

/// Where the executable may be.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// `CRYSTALMATH_SERVER`.
    pub named: Option<OsString>,
    /// This program, with links resolved.
    pub beside: Option<PathBuf>,
    /// `PATH`.
    pub search: Option<OsString>,
}

impl Places {
    /// The places of this process.
    #[must_use]
    pub fn of_process() -> Self {
        Self {
            named: env::var_os("CRYSTALMATH_SERVER").filter(|value| !value.is_empty()),
            beside: env::current_exe().and_then(std::fs::canonicalize).ok(),
            search: env::var_os("PATH"),
        }
    }

    /// Choose the executable.
    ///
    /// # Errors
    /// [`IpcError::StartFailed`] with the places that were looked at. A wrong `CRYSTALMATH_SERVER` is an
    /// error, not a reason to run another one.
    pub fn choose(&self, log_path: &Path) -> Result<Binary> {
        let mut tried = Vec::new();
        if let Some(named) = &self.named {
            let path = PathBuf::from(named);
            if is_executable(&path) {
                return Ok(Binary {
                    path,
                    origin: "from CRYSTALMATH_SERVER",
                });
            }
            let place = format!("{} (from CRYSTALMATH_SERVER)", path.display());
            return Err(missing(
                "CRYSTALMATH_SERVER does not name an executable file",
                "set it to the path of crystalmath-server, or unset it",
                vec![place],
                log_path,
            ));
        }
        if let Some(directory) = self.beside.as_deref().and_then(Path::parent) {
            let path = directory.join(NAME);
            if is_executable(&path) {
                return Ok(Binary {
                    path,
                    origin: "beside this program",
                });
            }
            tried.push(format!("{} (beside this program)", path.display()));
        }
        let search = self.search.clone().unwrap_or_default();
        for directory in env::split_paths(&search).filter(|directory| directory.is_absolute()) {
            let path = directory.join(NAME);
            if is_executable(&path) {
                return Ok(Binary {
                    path,
                    origin: "from PATH",
                });
            }
        }
        tried.push(format!("PATH ({})", search.to_string_lossy()));
        Err(missing(
            "crystalmath-server was not found",
            "install both programs together, or set CRYSTALMATH_SERVER to its path",
            tried,
            log_path,
        ))
    }
}

/// An executable, and why it is that one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binary {
    /// The executable.
    pub path: PathBuf,
    /// How it was found.
    pub origin: &'static str,
}

impl fmt::Display for Binary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.path.display(), self.origin)
    }
}

fn missing(cause: &str, hint: &str, tried: Vec<String>, log_path: &Path) -> IpcError {
    IpcError::StartFailed(Box::new(StartFailure {
        cause: cause.into(),
        hint: Some(hint.into()),
        log_path: log_path.to_owned(),
        tail: Vec::new(),
        tried,
    }))
}

fn is_executable(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}
