//! What the caller's threads, the reader and the writer share: ids, calls that wait for an answer,
//! the queue of those that are to be sent, and the state of the connection.
//!
//! Nothing here does I/O or holds the lock over any. Answers are handed over outside the lock.

mod reader;
mod subscriptions;
mod writer;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::codec;
use super::connector::Connector;
use super::hello::ServerInfo;
use super::timing::Timing;
use super::{ConnState, Counters};
use crate::error::{IpcError, Result};
use crate::rpc;
use subscriptions::{Audience, Interest};

/// Takes the answer of one call, on a thread of the client; it must not block.
pub type Answer = Box<dyn FnOnce(Result<Value>) + Send>;

/// The longest list of cancel notices that waits to be sent; more are not worth sending.
const CANCELS: usize = 64;

/// One call that is not answered yet.
struct Pending {
    method: String,
    params: Arc<Value>,
    line: Arc<Vec<u8>>,
    begun: Instant,
    deadline: Instant,
    sent: bool,
    /// It may be sent once more when the connection ends before the answer comes.
    resend: bool,
    /// Made for a subscription: forgotten with its connection, and asked anew on the next.
    own: bool,
    answer: Answer,
}

/// The connection that is in use.
#[derive(Clone)]
struct Link {
    stream: Arc<UnixStream>,
    generation: u64,
}

struct State {
    phase: ConnState,
    /// How the first attempt to connect ended; later ones do not change it.
    first: Option<Result<()>>,
    server: Option<Arc<ServerInfo>>,
    link: Option<Link>,
    generation: u64,
    next_id: u64,
    pending: HashMap<u64, Pending>,
    queue: VecDeque<u64>,
    notices: VecDeque<Vec<u8>>,
    counters: Counters,
    /// A call came in while there was no connection.
    wanted: bool,
    closed: bool,
    interests: BTreeMap<u64, Interest>,
    next_interest: u64,
}

/// The engine of one client.
pub(super) struct Engine {
    state: Mutex<State>,
    /// Never locked while `state` is, except to read the state for a new listener.
    audience: Mutex<Option<Audience>>,
    /// Wakes the writer: something to send, or another deadline.
    work: Condvar,
    /// Wakes the reader and those who wait for the connection.
    change: Condvar,
    timing: Timing,
}

impl Engine {
    /// Start the two threads; the first connection is made at once.
    pub(super) fn start(connector: Connector, timing: Timing) -> Result<Arc<Self>> {
        let engine = Arc::new(Self {
            state: Mutex::new(State {
                phase: ConnState::Starting,
                first: None,
                server: None,
                link: None,
                generation: 0,
                next_id: 1,
                pending: HashMap::new(),
                queue: VecDeque::new(),
                notices: VecDeque::new(),
                counters: Counters::default(),
                wanted: true,
                closed: false,
                interests: BTreeMap::new(),
                next_interest: 0,
            }),
            audience: Mutex::new(None),
            work: Condvar::new(),
            change: Condvar::new(),
            timing,
        });
        let no_thread = |error: std::io::Error| {
            IpcError::Overloaded(format!("this machine starts no more threads: {error}"))
        };
        let (reader, writer) = (Arc::clone(&engine), Arc::clone(&engine));
        thread::Builder::new()
            .name("ipc-writer".into())
            .spawn(move || writer::run(&writer))
            .map_err(no_thread)?;
        thread::Builder::new()
            .name("ipc-reader".into())
            .spawn(move || reader::run(&reader, connector))
            .map_err(|error| {
                engine.close();
                no_thread(error)
            })?;
        Ok(engine)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code between lock and unlock can panic half-way through a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queue one call. Never waits for I/O.
    pub(super) fn call(&self, method: &str, params: Value, answer: Answer) -> Result<()> {
        let begun = Instant::now();
        let (id, limit) = self.lock().admit(method, self.timing.queue)?;
        // A large request is written outside the lock, which the answers need as well.
        let line = codec::encode_request(id, method, &params)?;
        if let Some(limit) = limit.filter(|limit| line.len() as u64 > limit + 1) {
            return Err(IpcError::Protocol(format!(
                "the request is {} bytes long; the daemon takes {limit}",
                line.len()
            )));
        }
        let pending = Pending {
            resend: rpc::may_resend(method, &params),
            method: method.to_owned(),
            params: Arc::new(params),
            line: Arc::new(line),
            begun,
            deadline: begun + self.patience(method),
            sent: false,
            own: false,
            answer,
        };
        let connected = self.lock().enqueue(id, pending)?;
        self.work.notify_all();
        if !connected {
            self.change.notify_all();
        }
        Ok(())
    }

    fn patience(&self, method: &str) -> Duration {
        let own = rpc::method(method).map_or(self.timing.call_default, |info| {
            Duration::from_secs_f64(info.deadline_s)
        });
        own + self.timing.call_margin
    }

    /// Wait until the first attempt to connect has succeeded or failed.
    pub(super) fn wait_connected(&self) -> Result<()> {
        let mut state = self.lock();
        loop {
            if let Some(outcome) = &state.first {
                return outcome.clone();
            }
            state = self
                .change
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(super) fn phase(&self) -> ConnState {
        self.lock().phase.clone()
    }

    pub(super) fn server(&self) -> Option<Arc<ServerInfo>> {
        self.lock().server.clone()
    }

    pub(super) fn counters(&self) -> Counters {
        self.lock().counters
    }

    /// End both threads; every open call is told.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        if let Some(link) = &state.link {
            // It may be gone already, which is as good.
            let _ = link.stream.shutdown(Shutdown::Both);
        }
        let open = state.take_all();
        drop(state);
        self.work.notify_all();
        self.change.notify_all();
        for pending in open {
            let method = pending.method.clone();
            (pending.answer)(Err(IpcError::Disconnected { method }));
        }
    }
}

impl State {
    /// An id for one more call, and the longest request that the daemon takes.
    fn admit(&mut self, method: &str, queue: usize) -> Result<(u64, Option<u64>)> {
        self.check_open(method)?;
        if self.queue.len() >= queue {
            let waiting = self.queue.len();
            return Err(IpcError::Overloaded(format!(
                "{waiting} calls already wait to be sent"
            )));
        }
        let limit = self.server.as_ref().map(|server| server.request_bytes);
        Ok((self.take_id(), limit))
    }

    /// Queue an admitted call; whether there is a connection to send it on.
    fn enqueue(&mut self, id: u64, pending: Pending) -> Result<bool> {
        // The client may have been closed since the call was admitted.
        self.check_open(&pending.method)?;
        self.pending.insert(id, pending);
        self.queue.push_back(id);
        self.wanted |= self.link.is_none();
        Ok(self.link.is_some())
    }

    fn check_open(&self, method: &str) -> Result<()> {
        if self.closed {
            return Err(IpcError::Disconnected {
                method: method.to_owned(),
            });
        }
        Ok(())
    }

    fn take_id(&mut self) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        id
    }

    fn take_all(&mut self) -> Vec<Pending> {
        self.queue.clear();
        self.pending.drain().map(|(_, pending)| pending).collect()
    }

    /// Remove the calls whose time is over; the daemon is told about those that it has.
    fn take_expired(&mut self, now: Instant) -> Vec<Pending> {
        let over: Vec<u64> = self
            .pending
            .iter()
            .filter(|(_, pending)| pending.deadline <= now)
            .map(|(id, _)| *id)
            .collect();
        let mut expired = Vec::with_capacity(over.len());
        for id in over {
            let Some(pending) = self.pending.remove(&id) else {
                continue;
            };
            if pending.sent && self.link.is_some() && self.notices.len() < CANCELS {
                let params = serde_json::json!({"id": id});
                self.notices
                    .push_back(codec::encode_notification("$/cancel", &params));
            }
            expired.push(pending);
        }
        if !expired.is_empty() {
            self.queue.retain(|id| self.pending.contains_key(id));
        }
        expired
    }

    fn nearest_deadline(&self) -> Option<Instant> {
        self.pending.values().map(|pending| pending.deadline).min()
    }
}
