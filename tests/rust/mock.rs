//! A daemon for tests: a Unix socket in a temporary directory, with a script of what it answers.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crystalmath::ipc::Timing;
use serde_json::{Value, json};
use tempfile::TempDir;

/// How long a test waits for something that must happen; only a hang takes this long.
pub const HANG: Duration = Duration::from_secs(20);

/// Durations that make a test short.
pub fn quick() -> Timing {
    Timing {
        connect: Duration::from_millis(200),
        hello_try: Duration::from_millis(60),
        hello_pause: Duration::from_millis(20),
        hello_pause_max: Duration::from_millis(40),
        start: Duration::from_secs(1),
        start_max: Duration::from_secs(5),
        notice_after: Duration::from_millis(50),
        poll: Duration::from_millis(2),
        call_margin: Duration::ZERO,
        call_default: Duration::from_secs(10),
        reconnect: Duration::from_millis(2),
        reconnect_max: Duration::from_millis(20),
        write_tick: Duration::from_millis(10),
        ..Timing::default()
    }
}

/// One side of a connection to the client under test.
pub struct Peer {
    lines: BufReader<UnixStream>,
    stream: UnixStream,
}

impl Peer {
    fn new(stream: UnixStream) -> Self {
        stream.set_read_timeout(Some(HANG)).unwrap();
        Self {
            lines: BufReader::new(stream.try_clone().unwrap()),
            stream,
        }
    }

    /// The next message, or `None` at the end.
    pub fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        match self.lines.read_line(&mut line) {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(serde_json::from_str(&line).expect("the client sends JSON")),
        }
    }

    /// The next request that is not hello; hello is answered on the way.
    pub fn request(&mut self) -> Option<Value> {
        loop {
            let message = self.next()?;
            if message["method"] != "system.hello" {
                return Some(message);
            }
            self.welcome(&message["id"], "i1");
        }
    }

    /// Answer hello.
    pub fn welcome(&mut self, id: &Value, instance: &str) {
        self.welcome_with(id, instance, &[]);
    }

    /// Answer hello as a daemon that has optional parts.
    pub fn welcome_with(&mut self, id: &Value, instance: &str, capabilities: &[&str]) {
        self.reply(
            id,
            &json!({
                "server": "mock", "version": "9.9.9", "protocol": [1, 1], "protocol_used": 1,
                "schema": crystalmath::rpc::SCHEMA_SHA256, "instance": instance, "state": "ready",
                "from_the_future": true, "capabilities": capabilities,
            }),
        );
    }

    /// The next request that is not hello, as the daemon `instance` that has events.
    pub fn request_of(&mut self, instance: &str) -> Option<Value> {
        loop {
            let message = self.next()?;
            if message["method"] != "system.hello" {
                return Some(message);
            }
            self.welcome_with(&message["id"], instance, &["events"]);
        }
    }

    /// Accept a subscription.
    pub fn accept(&mut self, request: &Value, subscription: i64, seq: i64, instance: &str) {
        assert_eq!(request["method"], "events.subscribe");
        self.reply(
            &request["id"],
            &json!({"subscription": subscription, "seq": seq, "instance": instance}),
        );
    }

    /// Tell a subscriber.
    pub fn notify(&mut self, subscription: i64, seq: i64, events: &Value) {
        let params = json!({"subscription": subscription, "seq": seq, "events": events});
        self.send(&json!({"jsonrpc": "2.0", "method": "events.notify", "params": params}));
    }

    pub fn reply(&mut self, id: &Value, data: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "result": {"status": "ok", "data": data}}));
    }

    pub fn error(&mut self, id: &Value, code: i64, message: &str, data: &Value) {
        let error = json!({"code": code, "message": message, "data": data});
        self.send(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
    }

    pub fn send(&mut self, message: &Value) {
        self.raw(format!("{message}\n").as_bytes());
    }

    /// Write bytes; a client that has gone does not mind.
    pub fn raw(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes);
    }
}

/// A listening mock.
pub struct Mock {
    pub dir: TempDir,
    pub path: PathBuf,
}

impl Mock {
    /// Serve each connection, numbered from 0, with `script` on a thread of its own.
    pub fn serve(script: impl Fn(usize, Peer) + Send + Sync + 'static) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("cm.sock");
        listen(&path, script);
        Self { dir, path }
    }

    /// Answer every request with its own params, and keep all of them.
    pub fn echo() -> (Self, Arc<Mutex<Vec<Value>>>) {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&seen);
        let mock = Self::serve(move |_, mut peer| {
            while let Some(request) = peer.request() {
                kept.lock().unwrap().push(request.clone());
                peer.reply(&request["id"], &request["params"]);
            }
        });
        (mock, seen)
    }
}

/// Listen at `path` for as long as the test program runs.
pub fn listen(path: &Path, script: impl Fn(usize, Peer) + Send + Sync + 'static) {
    let listener = UnixListener::bind(path).unwrap();
    let script = Arc::new(script);
    thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let (script, stream) = (Arc::clone(&script), stream.unwrap());
            thread::spawn(move || script(number, Peer::new(stream)));
        }
    });
}

/// Do nothing any more, like a daemon that hangs.
pub fn hang() -> ! {
    loop {
        thread::park();
    }
}

/// Wait until `condition` holds.
pub fn eventually(what: &str, condition: impl Fn() -> bool) {
    let until = Instant::now() + HANG;
    while !condition() {
        assert!(Instant::now() < until, "never happened: {what}");
        thread::yield_now();
    }
}
