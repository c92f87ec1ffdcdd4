//! One connection to a Unix socket: made without blocking for longer than asked, and only to a
//! listener of the same user. Speaks no protocol. Called by the handshake.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketType};

use super::timing::Timing;
use crate::error::{IpcError, Result};

/// Connect to `path`, to a listener of user `uid` only.
///
/// # Errors
/// [`IpcError::Down`] when nothing listens there (ENOENT, ECONNREFUSED), [`IpcError::Busy`] when the
/// listener's backlog stays full, [`IpcError::Refused`] for everything else, a listener of another
/// user included.
pub fn connect(path: &Path, uid: u32, timing: &Timing) -> Result<UnixStream> {
    let patience = timing.connect;
    let refused = |reason: String| IpcError::Refused {
        socket: path.to_owned(),
        reason,
    };
    let failed = |error: Errno| refused(error.to_string());
    let address = SocketAddrUnix::new(path)
        .map_err(|_| refused("the path is too long for a Unix socket".into()))?;
    let begun = Instant::now();
    loop {
        let socket = nonblocking_socket().map_err(failed)?;
        let outcome = match net::connect(&socket, &address) {
            Err(Errno::INPROGRESS) => finish(&socket, patience.saturating_sub(begun.elapsed())),
            other => other,
        };
        match outcome {
            Ok(()) => {
                rustix::io::ioctl_fionbio(&socket, false).map_err(failed)?;
                let stream = UnixStream::from(socket);
                let owner = peer_uid(&stream).map_err(failed)?;
                if owner != uid {
                    return Err(refused(format!(
                        "the program that listens there belongs to user {owner}, not to user {uid}"
                    )));
                }
                return Ok(stream);
            }
            Err(Errno::NOENT | Errno::CONNREFUSED) => {
                return Err(IpcError::Down {
                    socket: path.to_owned(),
                });
            }
            // A full backlog cannot be polled for on a Unix socket, so it is asked again.
            Err(Errno::AGAIN | Errno::INTR | Errno::TIMEDOUT) => {
                let waited = begun.elapsed();
                if waited >= patience {
                    return Err(IpcError::Busy {
                        socket: path.to_owned(),
                        waited,
                    });
                }
                thread::sleep(timing.poll.min(patience.saturating_sub(waited)));
            }
            Err(error) => return Err(failed(error)),
        }
    }
}

/// The user id of this process.
#[must_use]
pub fn own_uid() -> u32 {
    rustix::process::getuid().as_raw()
}

fn nonblocking_socket() -> rustix::io::Result<OwnedFd> {
    let socket = net::socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC)?;
    rustix::io::ioctl_fionbio(&socket, true)?;
    Ok(socket)
}

fn finish(socket: &OwnedFd, patience: Duration) -> rustix::io::Result<()> {
    let mut waiting = [PollFd::new(socket, PollFlags::OUT)];
    if poll(&mut waiting, Some(&timespec(patience)))? == 0 {
        return Err(Errno::TIMEDOUT);
    }
    net::sockopt::socket_error(socket)?
}

/// Whether `file` can be read, or has ended, within `patience`.
pub(super) fn readable(file: &File, patience: Duration) -> rustix::io::Result<bool> {
    let mut waiting = [PollFd::new(file, PollFlags::IN)];
    match poll(&mut waiting, Some(&timespec(patience))) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error),
    }
}

fn timespec(duration: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: duration.subsec_nanos().into(),
    }
}

#[cfg(target_os = "linux")]
fn peer_uid(stream: &UnixStream) -> rustix::io::Result<u32> {
    Ok(net::sockopt::socket_peercred(stream)?.uid.as_raw())
}

#[cfg(not(target_os = "linux"))]
fn peer_uid(stream: &UnixStream) -> rustix::io::Result<u32> {
    nix::unistd::getpeereid(stream)
        .map(|(uid, _)| uid.as_raw())
        .map_err(|error| Errno::from_raw_os_error(error as i32))
}
