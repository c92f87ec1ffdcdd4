//! Answers requests from memory: for tests and snapshots of the terminal UI, without a daemon.

use std::collections::HashMap;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use super::bridge::{BridgeReply, BridgeService};
use super::events::{ConnState, EventSource, Listener, Notification, Subscription};
use super::types::BridgeRequest;
use crate::error::{IpcError, Result};

/// A daemon of fixed answers, which tells what it is told to tell.
pub struct MemoryBridge {
    answers: HashMap<BridgeRequest, Result<Value>>,
    asked: Mutex<Vec<(usize, BridgeRequest, Value)>>,
    replies: Sender<BridgeReply>,
    listener: Mutex<Option<Listener>>,
    subscribed: Arc<Mutex<Vec<Vec<String>>>>,
}

impl MemoryBridge {
    /// Answer each method with what `answers` holds for it.
    #[must_use]
    pub fn new(
        answers: HashMap<BridgeRequest, Result<Value>>,
        replies: Sender<BridgeReply>,
    ) -> Self {
        Self {
            answers,
            asked: Mutex::new(Vec::new()),
            replies,
            listener: Mutex::new(None),
            subscribed: Arc::default(),
        }
    }

    /// Tell the listener something, as the daemon or the connection would.
    pub fn tell(&self, notification: Notification) {
        let mut listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(listener) = listener.as_mut() {
            listener(notification);
        }
    }

    /// The topics of every subscription that has not ended.
    #[must_use]
    pub fn subscribed(&self) -> Vec<Vec<String>> {
        self.subscribed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Every request so far: number, what, params.
    #[must_use]
    pub fn asked(&self) -> Vec<(usize, BridgeRequest, Value)> {
        self.asked
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl BridgeService for MemoryBridge {
    fn request(&self, request_id: usize, what: BridgeRequest, params: Value) -> Result<()> {
        self.asked
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push((request_id, what, params));
        let result = self.answers.get(&what).cloned().unwrap_or_else(|| {
            Err(IpcError::Protocol(format!(
                "no answer is set for {}",
                what.method()
            )))
        });
        self.replies
            .send(BridgeReply {
                request_id,
                what,
                result,
            })
            .map_err(|_| IpcError::Disconnected {
                method: what.method().into(),
            })
    }
}

impl EventSource for MemoryBridge {
    fn listen(&self, mut listener: Listener) {
        listener(Notification::State(ConnState::Ready));
        *self.listener.lock().unwrap_or_else(PoisonError::into_inner) = Some(listener);
    }

    fn subscribe(&self, topics: &[&str]) -> Subscription {
        let topics: Vec<String> = topics.iter().map(|&topic| topic.to_owned()).collect();
        let all = Arc::clone(&self.subscribed);
        all.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(topics.clone());
        Subscription::new(move || {
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(place) = all.iter().position(|other| *other == topics) {
                all.remove(place);
            }
        })
    }
}
