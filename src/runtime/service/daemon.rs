//! The daemon as the service of the UI, over [`IpcClient`].

use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;

use serde_json::{Value, json};

use super::Service;
use crate::error::{IpcError, Result};
use crate::ipc::{ConnState, IpcClient, Options};
use crate::msg::{ClusterNews, EngineNews, Link, Msg, Server, Tone};
use crate::rpc::types::{Event, LogGrown};
use crate::rpc::{EventSource as _, Notification, SCHEMA_SHA256, Subscription};
use crate::screens::wording::error_text;

/// Makes the options of a connection; the argument says whether a daemon may be started.
pub type Opener = Box<dyn Fn(bool) -> Result<Options> + Send + Sync>;

/// A connection that is made when asked for and kept.
pub struct Daemon {
    open: Arc<Opener>,
    client: Arc<Kept>,
    subscription: Option<Subscription>,
    log: Option<Subscription>,
    engines: Option<Subscription>,
    clusters: Option<Subscription>,
}

impl Daemon {
    /// A service that is not connected yet.
    #[must_use]
    pub fn new(open: Opener) -> Self {
        Self {
            open: Arc::new(open),
            client: Arc::default(),
            subscription: None,
            log: None,
            engines: None,
            clusters: None,
        }
    }

    fn client(&self) -> Option<IpcClient> {
        self.client
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Service for Daemon {
    fn connect(&mut self, start: bool, messages: &Sender<Msg>) {
        if let Some(client) = self.client() {
            // It looks for the daemon by itself; a call also lets it start one.
            if start {
                wake(&client);
            }
            return;
        }
        let (open, kept) = (Arc::clone(&self.open), Arc::clone(&self.client));
        let sender = messages.clone();
        let work = move || match connect(&open, start, &sender) {
            Ok(client) => {
                listen(&client, &kept, &sender);
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                // Under the lock, so that what the listener tells comes later.
                tell_link(&client, &sender);
                *kept = Some(client);
            }
            Err(error) => {
                // The loop may have ended meanwhile.
                let _ = sender.send(Msg::Link(down(&error)));
            }
        };
        if let Err(error) = thread::Builder::new().name("ui-connect".into()).spawn(work) {
            let text = format!("no thread can be started: {error}");
            let _ = messages.send(Msg::Note(Tone::Bad, text));
        }
    }

    fn call(&mut self, id: u64, method: &'static str, params: Value, messages: &Sender<Msg>) {
        let reply = messages.clone();
        let answer = move |result| {
            let _ = reply.send(Msg::Reply { id, result });
        };
        if let ("events.subscribe", Some(client)) = (method, self.client()) {
            // The client asks, and asks again on every connection; a refusal comes as a message.
            let topics: Vec<&str> = params["topics"]
                .as_array()
                .map(|topics| topics.iter().filter_map(Value::as_str).collect())
                .unwrap_or_default();
            self.subscription = Some(client.subscribe(&topics));
            answer(Ok(json!({"status": "ok", "data": {}})));
            return;
        }
        let sent = match self.client() {
            Some(client) => client.send_with(method, params, Box::new(answer)),
            None => Err(IpcError::Disconnected {
                method: method.into(),
            }),
        };
        if let Err(error) = sent {
            let result = Err(error);
            let _ = messages.send(Msg::Reply { id, result });
        }
    }

    fn watch_log(&mut self, job: Option<i64>) {
        let topic = job.map(|job| format!("log:{job}"));
        let wanted = topic.zip(self.client());
        self.log = wanted.map(|(topic, client)| client.subscribe(&[topic.as_str()]));
    }

    fn watch_engines(&mut self, watched: bool) {
        let wanted = watched.then(|| self.client()).flatten();
        self.engines = wanted.map(|client| client.subscribe(&["engines"]));
    }

    fn watch_clusters(&mut self, watched: bool) {
        let wanted = watched.then(|| self.client()).flatten();
        self.clusters = wanted.map(|client| client.subscribe(&["clusters"]));
    }
}

/// What a log event means to the UI; nothing where the topic names no job.
fn grown(event: &LogGrown) -> Option<Msg> {
    Some(Msg::LogGrown {
        job: event.topic.strip_prefix("log:")?.parse().ok()?,
        stream: event.stream.as_str().to_owned(),
        bytes: u64::try_from(event.size).ok()?,
    })
}

fn connect(open: &Opener, start: bool, messages: &Sender<Msg>) -> Result<IpcClient> {
    let mut options = open(start)?;
    let notes = Mutex::new(messages.clone());
    options.launch.notice = Arc::new(move |text: &str| {
        let sender = notes.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = sender.send(Msg::Note(Tone::Info, text.to_owned()));
    });
    IpcClient::connect_with(options)
}

/// Where the connection is kept.
type Kept = Mutex<Option<IpcClient>>;

/// Pass on what the daemon tells without being asked, and how the connection is.
fn listen(client: &IpcClient, kept: &Arc<Kept>, messages: &Sender<Msg>) {
    // The client holds its listener, which must not hold the client.
    let kept: Weak<Kept> = Arc::downgrade(kept);
    let sender = messages.clone();
    let mut was_ready = true;
    client.listen(Box::new(move |notification| {
        if let Notification::State(state) = &notification {
            let ready = *state == ConnState::Ready;
            if let Some(kept) = kept.upgrade()
                && let Some(client) = &*kept.lock().unwrap_or_else(PoisonError::into_inner)
            {
                tell_link(client, &sender);
                if was_ready && !ready {
                    wake(client);
                }
            }
            was_ready = ready;
        }
        for message in told(notification) {
            // The loop may have ended meanwhile.
            let _ = sender.send(message);
        }
    }));
}

fn tell_link(client: &IpcClient, messages: &Sender<Msg>) {
    // The loop may have ended meanwhile.
    let _ = messages.send(Msg::Link(link(client)));
}

/// What a notification means to the UI, beside the state of the connection.
fn told(notification: Notification) -> Vec<Msg> {
    match notification {
        Notification::Events(events) => {
            let (mut changed, mut gone, mut logs) = (Vec::new(), Vec::new(), Vec::new());
            let (mut engines, mut clusters, mut flows) = (Vec::new(), Vec::new(), Vec::new());
            for event in events {
                match event {
                    Event::Job(row) => changed.push(row.job),
                    Event::JobRemoved(row) => gone.push(row.id),
                    Event::Log(event) => logs.extend(grown(&event)),
                    Event::Engine(row) => engines.push(EngineNews::Engine(Box::new(row.engine))),
                    Event::Install(row) => engines.push(EngineNews::Install(Box::new(row.install))),
                    Event::Worker(row) => engines.push(EngineNews::Worker(Box::new(row.worker))),
                    Event::Cluster(row) => {
                        clusters.push(ClusterNews::Changed(Box::new(row.cluster)));
                    }
                    Event::Workflow(row) => flows.push(row.workflow),
                    Event::ClusterRemoved(row) => clusters.push(ClusterNews::Gone(row.id)),
                    _ => {}
                }
            }
            let clusters = (!clusters.is_empty()).then(|| Msg::ClusterNews(clusters));
            let flows = (!flows.is_empty()).then(|| Msg::WorkflowsChanged(flows));
            let changed = (!changed.is_empty()).then(|| Msg::JobsChanged(changed));
            let gone = (!gone.is_empty()).then(|| Msg::JobsGone(gone));
            let engines = (!engines.is_empty()).then(|| Msg::EngineNews(engines));
            let lists = changed
                .into_iter()
                .chain(gone)
                .chain(engines)
                .chain(clusters)
                .chain(flows);
            lists.chain(logs).collect()
        }
        Notification::Resync(_) => vec![Msg::Resync],
        Notification::Refused { topics, error }
            if topics == ["engines"] || topics == ["clusters"] =>
        {
            let text = format!("{} are not told of: {}", topics[0], error_text(&error));
            vec![Msg::Note(Tone::Warn, text)]
        }
        Notification::Refused { error, .. } => vec![Msg::NoEvents(error)],
        Notification::State(_) => Vec::new(),
    }
}

/// A call that changes nothing, so that the client wants a daemon.
fn wake(client: &IpcClient) {
    // What comes of it shows in the state.
    let _ = client.send_with("system.ping", json!({}), Box::new(|_| {}));
}

fn link(client: &IpcClient) -> Link {
    match client.state() {
        ConnState::Starting => Link::Starting,
        ConnState::Busy => Link::Busy,
        ConnState::Reconnecting => Link::Reconnecting,
        ConnState::Down(cause) => Link::Down {
            cause,
            hint: None,
            log: log_path(),
        },
        ConnState::Ready => {
            let server = client.server();
            let server = server.map(|info| Server {
                version: info.version.clone(),
                instance: info.instance.clone(),
                data_dir: info.data["data_dir"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned(),
                same_contract: SCHEMA_SHA256.is_empty() || info.schema == SCHEMA_SHA256,
            });
            Link::Ready(server.unwrap_or_default())
        }
    }
}

fn down(error: &IpcError) -> Link {
    if matches!(error, IpcError::Busy { .. }) {
        return Link::Busy;
    }
    let log = match error {
        IpcError::StartFailed(failure) => Some(failure.log_path.display().to_string()),
        _ => log_path(),
    };
    Link::Down {
        cause: error.to_string().replace('\n', "; "),
        hint: error.hint(),
        log,
    }
}

fn log_path() -> Option<String> {
    let path = crate::ipc::paths::Surroundings::of_process()
        .log_path()
        .ok()?;
    Some(path.display().to_string())
}
