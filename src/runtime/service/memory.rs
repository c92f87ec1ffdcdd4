//! A [`BridgeService`] that answers from memory as the service of the UI: for tests, and for builds
//! that cannot reach a daemon. It knows the methods of the decision record and no others.

use std::sync::mpsc::Sender;

use serde_json::Value;

use super::Service;
use crate::error::IpcError;
use crate::msg::{Link, Msg, Server};
use crate::rpc::{BridgeRequest, BridgeService, MemoryBridge};

impl Service for MemoryBridge {
    fn connect(&mut self, _start: bool, messages: &Sender<Msg>) {
        let server = Server {
            same_contract: true,
            ..Server::default()
        };
        // Whoever asked may have gone.
        let _ = messages.send(Msg::Link(Link::Ready(server)));
    }

    fn call(&mut self, id: u64, method: &'static str, params: Value, messages: &Sender<Msg>) {
        let what = BridgeRequest::ALL
            .iter()
            .find(|what| what.method() == method);
        let number = usize::try_from(id).unwrap_or(usize::MAX);
        let sent = match what {
            // Its answer goes to the channel that it was made with.
            Some(what) => self.request(number, *what, params),
            None => Err(IpcError::Protocol(format!("no answer is set for {method}"))),
        };
        if let Err(error) = sent {
            let result = Err(error);
            let _ = messages.send(Msg::Reply { id, result });
        }
    }
}
