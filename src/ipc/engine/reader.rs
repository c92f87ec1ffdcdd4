//! The reader thread: makes the connection, reads from it until it ends, and makes the next one.

use std::io::{ErrorKind, Read as _};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use super::subscriptions::NOTIFY;
use super::{Engine, Link, Pending};
use crate::error::IpcError;
use crate::ipc::ConnState;
use crate::ipc::codec::{self, Incoming, Line, LineBuffer};
use crate::ipc::connector::Connector;
use crate::ipc::hello::Greeted;
use crate::rpc::Notification;

pub(super) fn run(engine: &Arc<Engine>, mut connector: Connector) {
    let mut pause = engine.timing.reconnect;
    let mut may_start = true;
    loop {
        let outcome = connector.establish(may_start, &mut || engine.lock().take_id());
        if engine.lock().closed {
            return;
        }
        match outcome {
            Ok(greeted) => {
                let begun = Instant::now();
                serve(engine, greeted);
                if begun.elapsed() >= engine.timing.reconnect_max {
                    pause = engine.timing.reconnect;
                }
            }
            Err(error) => fail(engine, &error),
        }
        match rest(engine, jittered(pause)) {
            Rest::Closed => return,
            Rest::Wanted => may_start = true,
            Rest::Over => may_start = false,
        }
        pause = (pause * 2).min(engine.timing.reconnect_max);
    }
}

/// Use a connection until it ends.
fn serve(engine: &Arc<Engine>, greeted: Greeted) {
    let Greeted { stream, info, rest } = greeted;
    let stream = Arc::new(stream);
    let mut state = engine.lock();
    if state.closed {
        return;
    }
    state.generation += 1;
    state.first.get_or_insert(Ok(()));
    state.phase = ConnState::Ready;
    state.server = Some(Arc::new(info));
    state.wanted = false;
    state.notices.clear();
    state.link = Some(Link {
        stream: Arc::clone(&stream),
        generation: state.generation,
    });
    drop(state);
    engine.work.notify_all();
    engine.change.notify_all();
    engine.tell(Notification::State(ConnState::Ready));
    engine.ask_again();
    read(engine, &stream, rest);
    lose(engine);
}

fn read(engine: &Engine, stream: &UnixStream, mut lines: LineBuffer) {
    let mut bytes = vec![0; 64 * 1024];
    let mut source = stream;
    loop {
        while let Some(line) = lines.next_line() {
            take(engine, &line);
        }
        match source.read(&mut bytes) {
            Ok(0) => return,
            Ok(count) => lines.push(&bytes[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// Give one message to whom it belongs.
fn take(engine: &Engine, line: &Line) {
    let message = match line {
        Line::Text(text) => codec::parse(text),
        Line::TooLong => Incoming::Garbage,
    };
    let mut state = engine.lock();
    match message {
        Incoming::Reply { id, outcome } => match state.pending.remove(&id) {
            Some(pending) => {
                drop(state);
                (pending.answer)(outcome);
            }
            None if id < state.next_id => state.counters.late += 1,
            None => state.counters.unknown += 1,
        },
        Incoming::Orphan(_) => state.counters.unknown += 1,
        Incoming::Notification { method, params } => {
            state.counters.notifications += 1;
            drop(state);
            if method == NOTIFY && !engine.notified(params) {
                engine.lock().counters.garbage += 1;
            }
        }
        Incoming::Garbage => state.counters.garbage += 1,
    }
}

/// The connection ended: what was sent is repeated where that is safe, and told otherwise. What was
/// not sent yet stays queued.
fn lose(engine: &Engine) {
    let mut state = engine.lock();
    state.link = None;
    state.notices.clear();
    state.forget_numbers();
    state.phase = ConnState::Reconnecting;
    let sent: Vec<u64> = state
        .pending
        .iter()
        .filter(|(_, pending)| pending.sent)
        .map(|(id, _)| *id)
        .collect();
    let mut lost = Vec::new();
    for old in sent {
        let Some(mut pending) = state.pending.remove(&old) else {
            continue;
        };
        let id = state.next_id;
        let again = pending.resend && state.queue.len() < engine.timing.queue && !state.closed;
        match codec::encode_request(id, &pending.method, &pending.params) {
            Ok(line) if again => {
                pending.line = Arc::new(line);
                pending.sent = false;
                pending.resend = false;
                state.next_id += 1;
                state.pending.insert(id, pending);
                state.queue.push_back(id);
            }
            _ => lost.push(pending),
        }
    }
    state.wanted = !state.queue.is_empty();
    let closed = state.closed;
    drop(state);
    engine.change.notify_all();
    if !closed {
        engine.tell(Notification::State(ConnState::Reconnecting));
    }
    for Pending { method, answer, .. } in lost {
        answer(Err(IpcError::Disconnected { method }));
    }
}

/// No connection could be made: everybody who waits for one is told why.
fn fail(engine: &Engine, error: &IpcError) {
    let mut state = engine.lock();
    state.first.get_or_insert_with(|| Err(error.clone()));
    let phase = match error {
        IpcError::Busy { .. } | IpcError::Overloaded(_) => ConnState::Busy,
        other => ConnState::Down(other.to_string()),
    };
    state.phase.clone_from(&phase);
    state.wanted = false;
    let waiting = state.take_all();
    drop(state);
    engine.change.notify_all();
    engine.tell(Notification::State(phase));
    for pending in waiting {
        (pending.answer)(Err(error.clone()));
    }
}

enum Rest {
    Closed,
    Wanted,
    Over,
}

/// Wait before the next attempt; a call that comes in ends the wait.
fn rest(engine: &Engine, pause: Duration) -> Rest {
    let until = Instant::now() + pause;
    let mut state = engine.lock();
    loop {
        if state.closed {
            return Rest::Closed;
        }
        if state.wanted {
            return Rest::Wanted;
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Rest::Over;
        }
        state = engine
            .change
            .wait_timeout(state, left)
            .unwrap_or_else(PoisonError::into_inner)
            .0;
    }
}

/// Between half of `pause` and all of it, so that many clients do not return in step.
fn jittered(pause: Duration) -> Duration {
    let random = uuid::Uuid::new_v4().as_bytes()[0];
    pause / 2 + pause.mul_f64(f64::from(random) / 510.0)
}
