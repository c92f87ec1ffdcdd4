//! Asks the daemon to tell when the log of one job grows, as long as that log is seen.
//!
//! A daemon that cannot tell is asked once a second by the log itself.

use serde_json::{Value, json};

use crate::error::IpcError;
use crate::rpc::types::method;
use crate::screens::Cx;

const SUBSCRIBE: &str = "watch";
const UNSUBSCRIBE: &str = "unwatch";

/// Which log is told about.
#[derive(Debug, Default)]
pub struct Watch {
    wanted: Option<i64>,
    subscription: Option<i64>,
}

impl Watch {
    /// Whether the daemon tells by itself.
    #[must_use]
    pub const fn is_told(&self) -> bool {
        self.subscription.is_some()
    }

    /// Be told about this job's log, or about none.
    pub fn set(&mut self, job: Option<i64>, cx: &mut Cx<'_>) {
        if job == self.wanted {
            return;
        }
        self.wanted = job;
        if let Some(subscription) = self.subscription.take() {
            end(subscription, cx);
        }
        let built = method("events.subscribe").is_some_and(|info| !info.planned);
        if let Some(job) = job.filter(|_| built) {
            let params = json!({"topics": [format!("log:{job}")]});
            cx.send(SUBSCRIBE, job, "events.subscribe", params);
        }
    }

    /// The connection is another one; what was subscribed on the old one is gone.
    pub fn forget(&mut self) {
        self.wanted = None;
        self.subscription = None;
    }

    /// Take an answer in, if it is one of ours.
    pub fn reply(
        &mut self,
        slot: &str,
        tag: i64,
        result: &Result<Value, IpcError>,
        cx: &mut Cx<'_>,
    ) -> bool {
        if slot == SUBSCRIBE
            && let Ok(value) = result
            && let Some(subscription) = value["data"]["subscription"].as_i64()
        {
            if self.wanted == Some(tag) && self.subscription.is_none() {
                self.subscription = Some(subscription);
            } else {
                end(subscription, cx);
            }
        }
        matches!(slot, SUBSCRIBE | UNSUBSCRIBE)
    }
}

fn end(subscription: i64, cx: &mut Cx<'_>) {
    let params = json!({"subscription": subscription});
    cx.send(UNSUBSCRIBE, 0, "events.unsubscribe", params);
}
