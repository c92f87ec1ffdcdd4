//! `server.json`: the daemon's note of where its socket is, for clients that looked elsewhere.
//!
//! It is believed only when nobody else can have written it and it is about this boot of this host.
//! Called by the auto-start.

use std::fs::OpenOptions;
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use serde_json::Value;

/// Name of this host and of its current boot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// The host's name.
    pub host: String,
    /// An id that changes with every boot; `None` where the system has none.
    pub boot_id: Option<String>,
}

impl Machine {
    /// The machine this process runs on.
    #[must_use]
    pub fn here() -> Self {
        Self {
            host: rustix::system::uname()
                .nodename()
                .to_string_lossy()
                .replace('/', "_"),
            boot_id: boot_id(),
        }
    }
}

/// The socket that `server.json` names, if the file can be trusted.
#[must_use]
pub fn follow(data_dir: &Path, uid: u32, machine: &Machine) -> Option<PathBuf> {
    let mut file = OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
        .open(data_dir.join("server.json"))
        .ok()?;
    let found = file.metadata().ok()?;
    if !found.is_file() || found.uid() != uid || found.mode() & 0o7777 != 0o600 {
        return None;
    }
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    let note: Value = serde_json::from_str(&text).ok()?;
    let ours = note["host"].as_str() == Some(machine.host.as_str())
        && machine.boot_id.is_some()
        && note["boot_id"].as_str() == machine.boot_id.as_deref();
    let socket = PathBuf::from(note["socket"].as_str()?);
    (ours && socket.is_absolute()).then_some(socket)
}

#[cfg(target_os = "linux")]
fn boot_id() -> Option<String> {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(text.trim().to_owned())
}

#[cfg(not(target_os = "linux"))]
fn boot_id() -> Option<String> {
    let asked = std::process::Command::new("/usr/sbin/sysctl")
        .args(["-n", "kern.bootsessionuuid"])
        .output()
        .ok()?;
    Some(String::from_utf8(asked.stdout).ok()?.trim().to_owned())
}
