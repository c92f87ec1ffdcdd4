//! The writer thread: sends what is queued, and ends the calls whose time is over. It does both so
//! that an expired call is never sent, and so that deadlines hold while nothing is connected.

use std::io::{ErrorKind, Write as _};
use std::net::Shutdown;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use super::{Engine, Link, Pending, State};
use crate::error::IpcError;
use crate::ipc::hello::timed_out;

/// How long to sleep when there is no deadline to watch.
const IDLE: Duration = Duration::from_secs(3600);

pub(super) fn run(engine: &Engine) {
    loop {
        expire(engine);
        let mut state = engine.lock();
        if state.closed {
            return;
        }
        if let Some((link, bytes)) = next(&mut state) {
            drop(state);
            send(engine, &link, &bytes);
            continue;
        }
        let now = Instant::now();
        let patience = state
            .nearest_deadline()
            .map_or(IDLE, |deadline| deadline.saturating_duration_since(now));
        drop(
            engine
                .work
                .wait_timeout(state, patience)
                .unwrap_or_else(PoisonError::into_inner),
        );
    }
}

fn expire(engine: &Engine) {
    let expired = engine.lock().take_expired(Instant::now());
    for Pending {
        method,
        begun,
        answer,
        ..
    } in expired
    {
        answer(Err(IpcError::Deadline {
            method,
            after: begun.elapsed(),
        }));
    }
}

fn next(state: &mut State) -> Option<(Link, Arc<Vec<u8>>)> {
    let link = state.link.clone()?;
    if let Some(cancel) = state.notices.pop_front() {
        return Some((link, Arc::new(cancel)));
    }
    while let Some(id) = state.queue.pop_front() {
        if let Some(pending) = state.pending.get_mut(&id) {
            pending.sent = true;
            return Some((link, Arc::clone(&pending.line)));
        }
    }
    None
}

/// Write one line. A daemon that does not read must not hold up the deadlines.
fn send(engine: &Engine, link: &Link, bytes: &[u8]) {
    let mut rest = bytes;
    while !rest.is_empty() {
        let mut stream = &*link.stream;
        match stream.write(rest) {
            Ok(count) if count > 0 => rest = &rest[count..],
            Err(error) if timed_out(&error) => {
                expire(engine);
                let state = engine.lock();
                let current = state.link.as_ref().map(|link| link.generation);
                if state.closed || current != Some(link.generation) {
                    return;
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Ok(_) | Err(_) => {
                // The reader sees the end and tells everybody.
                let _ = link.stream.shutdown(Shutdown::Both);
                return;
            }
        }
    }
}
