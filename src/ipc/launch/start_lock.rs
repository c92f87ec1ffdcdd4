//! The turn to start: a lock beside the socket, so that of many clients that find no daemon one
//! starts it. The file is never removed, since two processes could then each hold "the" lock.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

use super::Notice;
use crate::error::{IpcError, Result};
use crate::ipc::paths::Surroundings;
use crate::ipc::socket;
use crate::ipc::timing::Timing;

/// The outcome of waiting for the turn.
pub(super) enum Turn {
    /// Somebody else was faster: here is the connection.
    Connected(UnixStream),
    /// We may start; the lock is held while the file is open. `None` where locks do not work: the
    /// daemon's own lock decides then.
    Ours(Option<File>),
}

/// Wait for the turn, or for a daemon.
pub(super) fn take(
    socket_path: &Path,
    around: &Surroundings,
    timing: &Timing,
    notice: &Notice,
) -> Result<Turn> {
    let file = match open(socket_path) {
        Ok(file) => file,
        // No such directory: the daemon itself says so.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Turn::Ours(None)),
        Err(error) => {
            notice(&format!(
                "no start lock beside {}: {error}",
                socket_path.display()
            ));
            return Ok(Turn::Ours(None));
        }
    };
    let begun = Instant::now();
    let mut told = false;
    // The holder may be granted this long; it reports its failure to its own user.
    while begun.elapsed() < timing.start_max {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(Turn::Ours(Some(file))),
            Err(Errno::WOULDBLOCK | Errno::INTR) => {}
            Err(error) => {
                notice(&format!(
                    "the start lock does not work here ({error}); starting without"
                ));
                return Ok(Turn::Ours(None));
            }
        }
        match socket::connect(socket_path, around.uid, timing) {
            Ok(stream) => return Ok(Turn::Connected(stream)),
            Err(IpcError::Down { .. } | IpcError::Busy { .. }) => {}
            Err(error) => return Err(error),
        }
        if !told && begun.elapsed() >= timing.notice_after {
            notice("waiting for another program that starts the daemon");
            told = true;
        }
        thread::sleep(timing.poll.max(Duration::from_millis(1)) * 2);
    }
    let waited = begun.elapsed().as_secs_f64();
    Err(IpcError::start_failed(
        format!("another program has been starting it for {waited:.0} s"),
        &around.log_path()?,
    ))
}

fn open(socket_path: &Path) -> std::io::Result<File> {
    let mut name = socket_path.as_os_str().to_owned();
    name.push(".start.lock");
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
        .open(PathBuf::from(name))
}
