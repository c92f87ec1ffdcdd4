//! Events as a command waits for them: one at a time, with the connection's state among them.
//!
//! Where the daemon has no events a command asks again and again instead; see [`News::of`].

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use crate::ipc::IpcClient;
use crate::rpc::types::{ClusterView, Event, InstallTask, JobSummary, LogGrown, WorkflowSummary};
use crate::rpc::{ConnState, EventSource as _, Notification, Subscription};

const CAPABILITY: &str = "events";

/// One thing that was told.
#[derive(Debug)]
pub enum Told {
    /// A job has changed.
    Job(Box<JobSummary>),
    /// A job was deleted.
    Removed(i64),
    /// An output has grown.
    Log(LogGrown),
    /// An installation goes on, or has ended.
    Install(Box<InstallTask>),
    /// A cluster has changed.
    Cluster(Box<ClusterView>),
    /// A workflow has changed.
    Workflow(Box<WorkflowSummary>),
    /// Something may have been missed.
    LookAgain,
    /// There is no connection now.
    Away,
    /// Nothing, for as long as was waited.
    Nothing,
    /// Nothing will be told any more.
    Over,
}

/// What is told of some topics.
pub struct News {
    told: Receiver<Notification>,
    waiting: RefCell<VecDeque<Event>>,
    over: Cell<bool>,
    _subscription: Subscription,
}

impl News {
    /// Subscribe; `None` when the daemon has no events.
    pub fn of(client: &IpcClient, topics: &[&str]) -> Option<Self> {
        if !client.server()?.can(CAPABILITY) {
            return None;
        }
        let (tell, told) = mpsc::channel();
        // When nobody waits any more, nobody misses it.
        client.listen(Box::new(move |notification| drop(tell.send(notification))));
        Some(Self {
            told,
            waiting: RefCell::default(),
            over: Cell::new(false),
            _subscription: client.subscribe(topics),
        })
    }

    /// Whether nothing will be told any more.
    pub fn is_over(&self) -> bool {
        self.over.get()
    }

    /// The next thing that is told within `patience`.
    pub fn next(&self, patience: Duration) -> Told {
        loop {
            while let Some(event) = self.waiting.borrow_mut().pop_front() {
                match event {
                    Event::Job(changed) => return Told::Job(Box::new(changed.job)),
                    Event::JobRemoved(removed) => return Told::Removed(removed.id),
                    Event::Log(log) => return Told::Log(log),
                    Event::Resync(_) => return Told::LookAgain,
                    Event::Install(changed) => return Told::Install(Box::new(changed.install)),
                    Event::Cluster(changed) => return Told::Cluster(Box::new(changed.cluster)),
                    Event::Workflow(changed) => {
                        return Told::Workflow(Box::new(changed.workflow));
                    }
                    Event::Event(_)
                    | Event::Engine(_)
                    | Event::Worker(_)
                    | Event::ClusterRemoved(_)
                    | Event::Other => {}
                }
            }
            match self.told.recv_timeout(patience) {
                Ok(Notification::Events(events)) => self.waiting.borrow_mut().extend(events),
                Ok(Notification::Resync(_)) => return Told::LookAgain,
                Ok(Notification::State(ConnState::Ready)) => {}
                Ok(Notification::State(_)) => return Told::Away,
                Err(RecvTimeoutError::Timeout) => return Told::Nothing,
                Ok(Notification::Refused { .. }) | Err(RecvTimeoutError::Disconnected) => {
                    self.over.set(true);
                    return Told::Over;
                }
            }
        }
    }
}
