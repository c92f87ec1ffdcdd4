//! Subscriptions that outlive connections: asked for anew on each one, with the number of the last
//! event that was told, so that nothing is lost unnoticed.
//!
//! The numbers of the daemon's subscriptions belong to one connection and stay in here.

use std::sync::{Arc, MutexGuard, PoisonError, Weak};
use std::time::Instant;

use serde_json::{Value, json};

use super::{Engine, Pending, State};
use crate::error::{IpcError, Result};
use crate::ipc::codec;
use crate::rpc::fit;
use crate::rpc::types::{Event, EventsNotify, Reply, SubscribeParams, SubscribeResult};
use crate::rpc::{ConnState, Listener, Notification, Subscription};

const SUBSCRIBE: &str = "events.subscribe";
const UNSUBSCRIBE: &str = "events.unsubscribe";
pub(super) const NOTIFY: &str = "events.notify";

/// Who listens, and the state of the connection that was told last.
pub(super) struct Audience {
    listener: Listener,
    state: ConnState,
}

/// One subscription of this client.
pub(super) struct Interest {
    topics: Vec<String>,
    /// The last event that was told, and the instance that counts so.
    seen: Option<(i64, String)>,
    /// The connection on which it was asked for last.
    asked: Option<u64>,
    /// The daemon's number for it, on the connection in use.
    number: Option<i64>,
}

impl Engine {
    /// Tell everything to `listener` from now on, first how the connection is.
    pub(in crate::ipc) fn listen(&self, mut listener: Listener) {
        let mut audience = self.audience();
        let state = self.phase();
        listener(Notification::State(state.clone()));
        *audience = Some(Audience { listener, state });
    }

    /// Tell the listener. Called without the lock on the state.
    pub(super) fn tell(&self, notification: Notification) {
        let mut audience = self.audience();
        let Some(audience) = audience.as_mut() else {
            return;
        };
        if let Notification::State(state) = &notification {
            // A listener that came between the change and this call has heard of it already.
            if audience.state == *state {
                return;
            }
            audience.state.clone_from(state);
        }
        (audience.listener)(notification);
    }

    fn audience(&self) -> MutexGuard<'_, Option<Audience>> {
        self.audience.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Subscribe now if there is a connection, else as soon as there is one.
    pub(in crate::ipc) fn subscribe(self: &Arc<Self>, topics: &[&str]) -> Subscription {
        let mut state = self.lock();
        let id = state.next_interest;
        state.next_interest += 1;
        let interest = Interest {
            topics: topics.iter().map(|&topic| topic.to_owned()).collect(),
            seen: None,
            asked: None,
            number: None,
        };
        state.interests.insert(id, interest);
        let connected = state.link.is_some();
        state.wanted |= !connected;
        drop(state);
        if connected {
            self.ask(id);
        } else {
            self.change.notify_all();
        }
        let engine = Arc::downgrade(self);
        Subscription::new(move || {
            if let Some(engine) = engine.upgrade() {
                engine.unsubscribe(id);
            }
        })
    }

    fn unsubscribe(&self, id: u64) {
        let mut state = self.lock();
        let number = state.interests.remove(&id).and_then(|gone| gone.number);
        if let Some(number) = number {
            state.give_up(number);
            drop(state);
            self.work.notify_all();
        }
    }

    /// Ask for everything that is subscribed to, on a connection that is new.
    pub(super) fn ask_again(self: &Arc<Self>) {
        let ids: Vec<u64> = self.lock().interests.keys().copied().collect();
        for id in ids {
            self.ask(id);
        }
    }

    fn ask(self: &Arc<Self>, id: u64) {
        let mut state = self.lock();
        let (Some(link), Some(server)) = (state.link.clone(), state.server.clone()) else {
            return;
        };
        let Some(interest) = state.interests.get_mut(&id) else {
            return;
        };
        // A new connection asks for everything; so may, at the same moment, who subscribes.
        if interest.asked.replace(link.generation) == Some(link.generation) {
            return;
        }
        let seen = interest.seen.clone();
        let missed = seen
            .as_ref()
            .is_some_and(|(_, instance)| *instance != server.instance);
        let same = seen.filter(|_| !missed);
        let (since, instance) = same.unzip();
        let params = json!(SubscribeParams {
            topics: interest.topics.clone(),
            since,
            instance,
        });
        let call = state.take_id();
        let Ok(request) = codec::encode_request(call, SUBSCRIBE, &params) else {
            return;
        };
        let begun = Instant::now();
        let engine = Arc::downgrade(self);
        let pending = Pending {
            method: SUBSCRIBE.to_owned(),
            params: Arc::new(params),
            line: Arc::new(request),
            begun,
            deadline: begun + self.patience(SUBSCRIBE),
            sent: false,
            resend: false,
            own: true,
            answer: Box::new(move |outcome| subscribed(&engine, id, missed, outcome)),
        };
        state.pending.insert(call, pending);
        state.queue.push_back(call);
        drop(state);
        self.work.notify_all();
    }

    /// Tell what a notification of the daemon says; whether it is one.
    pub(super) fn notified(&self, params: Value) -> bool {
        let Ok(notify) = serde_json::from_value::<EventsNotify>(params) else {
            return false;
        };
        let mut state = self.lock();
        let known = state
            .interests
            .values_mut()
            .find(|interest| interest.number == Some(notify.subscription));
        let Some(interest) = known else {
            return true; // It was given up meanwhile.
        };
        if let Some(seen) = &mut interest.seen {
            seen.0 = notify.seq;
        }
        let topics = interest.topics.clone();
        drop(state);
        let mut events = Vec::with_capacity(notify.events.len());
        for event in notify.events {
            if matches!(event, Event::Resync(_)) {
                self.tell_events(&mut events);
                self.tell(Notification::Resync(topics.clone()));
            } else {
                events.push(event);
            }
        }
        self.tell_events(&mut events);
        true
    }

    fn tell_events(&self, events: &mut Vec<Event>) {
        if !events.is_empty() {
            self.tell(Notification::Events(std::mem::take(events)));
        }
    }
}

impl State {
    /// The connection ended: what it knew the subscriptions by means nothing any more.
    pub(super) fn forget_numbers(&mut self) {
        for interest in self.interests.values_mut() {
            interest.number = None;
        }
        self.pending.retain(|_, pending| !pending.own);
        let pending = &self.pending;
        self.queue.retain(|id| pending.contains_key(id));
    }

    fn give_up(&mut self, number: i64) {
        if self.link.is_some() {
            let params = json!({"subscription": number});
            self.notices
                .push_back(codec::encode_notification(UNSUBSCRIBE, &params));
        }
    }
}

/// The daemon's answer to a subscription. Whatever is told of it comes later on the connection.
fn subscribed(engine: &Weak<Engine>, id: u64, missed: bool, outcome: Result<Value>) {
    let Some(engine) = engine.upgrade() else {
        return;
    };
    let read = outcome.and_then(|result| fit::<Reply<SubscribeResult>>(SUBSCRIBE, result));
    let mut state = engine.lock();
    let Some(interest) = state.interests.get_mut(&id) else {
        if let Ok(reply) = read {
            state.give_up(reply.data.subscription);
            drop(state);
            engine.work.notify_all();
        }
        return;
    };
    let topics = interest.topics.clone();
    match read {
        Ok(reply) => {
            interest.number = Some(reply.data.subscription);
            interest.seen = Some((reply.data.seq, reply.data.instance));
            drop(state);
            if missed {
                engine.tell(Notification::Resync(topics));
            }
        }
        // The connection ended: the next one is asked.
        Err(IpcError::Disconnected { .. }) => {}
        Err(error) => {
            drop(state);
            engine.tell(Notification::Refused { topics, error });
        }
    }
}
