//! Who answers: a daemon over its socket, or an interpreter in this process.
//!
//! Both take a method and params, and both end with the same JSON value of the result.

use std::path::Path;
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Instant;

use crystalmath::ipc::IpcClient;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::Value;

use crate::Outcome;

/// The Python side, in `scripts/lib`.
const MODULE: &str = "bench.embedded";

/// An answer with the number of its call and the time at which it was there.
pub struct Answer {
    pub id: u64,
    pub result: Value,
    pub at: Instant,
}

/// A call for a thread that has the interpreter.
type Order = (u64, String, Value, Sender<Answer>);

pub enum Peer {
    /// A daemon; the drawing thread waits for nothing.
    Daemon(IpcClient),
    /// The interpreter, called where the answer is wanted.
    Embedded(Embedded),
    /// The interpreter, called on a thread of its own.
    Worker(Embedded, Sender<Order>),
}

impl Peer {
    pub fn open(whom: &str) -> Outcome<Self> {
        let (kind, path) = whom.split_once(':').ok_or("a peer is KIND:PATH")?;
        Ok(match kind {
            "socket" => Self::Daemon(IpcClient::connect_to(Path::new(path))?),
            "embedded" => Self::Embedded(Embedded::open(path)?),
            "worker" => {
                let embedded = Embedded::open(path)?;
                let (orders, taken) = mpsc::channel::<Order>();
                let own = embedded.share();
                thread::spawn(move || {
                    for (id, method, params, answers) in taken {
                        answer(&own, id, &method, &params, &answers);
                    }
                });
                Self::Worker(embedded, orders)
            }
            other => return Err(format!("there is no peer {other}").into()),
        })
    }

    /// Call a method and wait for its `result` object.
    pub fn call(&mut self, method: &str, params: &Value) -> Outcome<Value> {
        match self {
            Self::Daemon(client) => Ok(client.send_request(method, params.clone())?),
            Self::Embedded(embedded) | Self::Worker(embedded, _) => embedded.call(method, params),
        }
    }

    /// Call a method; the answer comes over the channel, at once or later.
    pub fn send(
        &mut self,
        id: u64,
        method: &'static str,
        params: Value,
        answers: &Sender<Answer>,
    ) -> Outcome<()> {
        match self {
            Self::Daemon(client) => {
                let answers = answers.clone();
                let take = move |result: Result<Value, _>| {
                    let result = result.unwrap_or_default();
                    let at = Instant::now();
                    let _ = answers.send(Answer { id, result, at });
                };
                client.send_with(method, params, Box::new(take))?;
            }
            Self::Embedded(embedded) => answer(embedded, id, method, &params, answers),
            Self::Worker(_, orders) => {
                orders.send((id, method.into(), params, answers.clone()))?;
            }
        }
        Ok(())
    }

    /// Let the interpreter of this process work, as long as the process lives.
    pub fn burden(&self, load: &str) -> Outcome<()> {
        match self {
            Self::Daemon(_) => Err("the load of a daemon is its own".into()),
            Self::Embedded(embedded) | Self::Worker(embedded, _) => embedded.burden(load),
        }
    }
}

/// A call that fails has no result, which is found when that is looked at.
fn answer(embedded: &Embedded, id: u64, method: &str, params: &Value, answers: &Sender<Answer>) {
    let result = embedded.call(method, params).unwrap_or_default();
    let at = Instant::now();
    // The loop may have ended meanwhile.
    let _ = answers.send(Answer { id, result, at });
}

/// The controller in an interpreter of this process.
pub struct Embedded(Py<PyAny>);

impl Embedded {
    fn open(data_dir: &str) -> Outcome<Self> {
        Python::attach(|py| {
            let module = py.import(MODULE)?;
            let embedded = module.getattr("Embedded")?.call1((data_dir,))?;
            Ok(Self(embedded.unbind()))
        })
    }

    fn share(&self) -> Self {
        Python::attach(|py| Self(self.0.clone_ref(py)))
    }

    fn call(&self, method: &str, params: &Value) -> Outcome<Value> {
        let params = serde_json::to_vec(params)?;
        Python::attach(|py| {
            let given = (method, PyBytes::new(py, &params));
            let result = self.0.bind(py).call_method1("call", given)?;
            let bytes = result.cast_into::<PyBytes>().map_err(PyErr::from)?;
            Ok(serde_json::from_slice(bytes.as_bytes())?)
        })
    }

    fn burden(&self, load: &str) -> Outcome<()> {
        Python::attach(|py| {
            self.0.bind(py).call_method1("burden", (load,))?;
            Ok(())
        })
    }
}
