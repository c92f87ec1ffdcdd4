//! Answers requests from memory: for tests and snapshots of the terminal UI, without a daemon.

use std::collections::HashMap;
use std::sync::mpsc::Sender;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use super::bridge::{BridgeReply, BridgeService};
use super::types::BridgeRequest;
use crate::error::{IpcError, Result};

/// A daemon of fixed answers.
#[derive(Debug)]
pub struct MemoryBridge {
    answers: HashMap<BridgeRequest, Result<Value>>,
    asked: Mutex<Vec<(usize, BridgeRequest, Value)>>,
    replies: Sender<BridgeReply>,
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
        }
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
