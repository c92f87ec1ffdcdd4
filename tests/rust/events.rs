//! Events and the state of the connection, told by the client while its daemon comes and goes.

use std::collections::HashMap;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};

use crystalmath::error::IpcError;
use crystalmath::ipc::{ConnState, IpcClient};
use crystalmath::rpc::types::Event;
use crystalmath::rpc::{EventSource, MemoryBridge, Notification};
use serde_json::{Value, json};

use crate::mock::{HANG, Mock, Peer, hang, quick};

fn connect(mock: &Mock) -> (IpcClient, Receiver<Notification>) {
    let client = IpcClient::connect_to_with(&mock.path, quick()).unwrap();
    let told = listen(&client);
    assert_eq!(next(&told), Notification::State(ConnState::Ready));
    (client, told)
}

fn listen(source: &impl EventSource) -> Receiver<Notification> {
    let (tell, told) = mpsc::channel();
    source.listen(Box::new(move |notification| drop(tell.send(notification))));
    told
}

fn next(told: &Receiver<Notification>) -> Notification {
    told.recv_timeout(HANG).unwrap()
}

/// The ids of the jobs that the next notification tells of.
fn jobs(told: &Receiver<Notification>) -> Vec<i64> {
    match next(told) {
        Notification::Events(events) => events.iter().map(id).collect(),
        other => panic!("{other:?}"),
    }
}

fn id(event: &Event) -> i64 {
    match event {
        Event::Job(changed) => changed.job.id,
        other => panic!("{other:?}"),
    }
}

fn job(id: i64) -> Value {
    json!({"topic": "jobs", "kind": "job", "job": {"id": id, "state": "RUNNING"}})
}

fn topics(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// The next request, which must be a subscription; its params.
fn asked(peer: &mut Peer, instance: &str) -> Value {
    let request = peer.request_of(instance).unwrap();
    peer.accept(&request, 5, 40, instance);
    request["params"].clone()
}

#[test]
fn what_happens_is_told_in_order_and_typed() {
    let mock = Mock::serve(|_, mut peer| {
        let params = asked(&mut peer, "i1");
        assert_eq!(params, json!({"topics": ["jobs", "log:7"]}));
        peer.notify(99, 1, &json!([job(1)]));
        peer.raw(b"{\"jsonrpc\": \"2.0\", \"method\": \"events.notify\", \"params\": \"x\"}\n");
        peer.raw(b"{\"jsonrpc\": \"2.0\", \"method\": \"weather.notify\", \"params\": {}}\n");
        peer.notify(5, 41, &json!([job(1), job(2)]));
        peer.notify(5, 42, &json!([job(3), {"kind": "resync"}, job(4)]));
        hang();
    });
    let (client, told) = connect(&mock);
    let _subscription = client.subscribe(&["jobs", "log:7"]);
    assert_eq!(jobs(&told), [1, 2]);
    assert_eq!(jobs(&told), [3]);
    let resync = Notification::Resync(topics(&["jobs", "log:7"]));
    assert_eq!(next(&told), resync);
    assert_eq!(jobs(&told), [4]);
    let counters = client.counters();
    assert_eq!((counters.notifications, counters.garbage), (5, 1));
}

#[test]
fn a_subscription_ends_when_it_is_dropped() {
    let (report, reported) = mpsc::channel();
    let mock = Mock::serve(move |_, mut peer| {
        asked(&mut peer, "i1");
        peer.notify(5, 41, &json!([job(1)]));
        let end = peer.request_of("i1").unwrap();
        peer.notify(5, 42, &json!([job(2)]));
        report.send(end).unwrap();
        while let Some(request) = peer.request_of("i1") {
            peer.reply(&request["id"], &json!({}));
        }
    });
    let (client, told) = connect(&mock);
    let subscription = client.subscribe(&["jobs"]);
    assert_eq!(jobs(&told), [1]);
    drop(subscription);
    let end: Value = reported.recv_timeout(HANG).unwrap();
    assert_eq!(
        (&end["method"], &end["params"], end.get("id")),
        (
            &json!("events.unsubscribe"),
            &json!({"subscription": 5}),
            None
        )
    );
    client.send_request("system.ping", json!({})).unwrap();
    assert!(told.try_recv().is_err(), "nothing of it is told any more");
}

#[test]
fn a_subscription_that_is_dropped_at_once_leaves_nothing_behind() {
    let (report, reported) = mpsc::channel();
    let (go, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let mock = Mock::serve(move |_, mut peer| {
        let request = peer.request_of("i1").unwrap();
        wait.lock().unwrap().recv_timeout(HANG).unwrap();
        peer.accept(&request, 5, 40, "i1");
        report.send(peer.request_of("i1").unwrap()).unwrap();
        hang();
    });
    let (client, _told) = connect(&mock);
    drop(client.subscribe(&["jobs"]));
    go.send(()).unwrap();
    let end: Value = reported.recv_timeout(HANG).unwrap();
    assert_eq!(end["method"], "events.unsubscribe");
    assert_eq!(end["params"], json!({"subscription": 5}));
}

/// Serves one connection after the other; each dies when its turn is over. The params of each
/// subscription are sent on.
fn mortal(
    instances: &'static [&'static str],
    tell: impl Fn(usize, &mut Peer) + Send + Sync + 'static,
) -> (Mock, Receiver<Value>) {
    let (report, reported): (Sender<Value>, _) = mpsc::channel();
    let mock = Mock::serve(move |number, mut peer| {
        let Some(instance) = instances.get(number) else {
            hang()
        };
        let params = asked(&mut peer, instance);
        report.send(params).unwrap();
        tell(number, &mut peer);
        if number + 1 == instances.len() {
            hang();
        }
    });
    (mock, reported)
}

#[test]
fn after_a_reconnect_to_the_same_daemon_it_goes_on_where_it_was() {
    let (mock, params) = mortal(&["i1", "i1", "i1"], |number, peer| match number {
        0 => peer.notify(5, 47, &json!([job(1)])),
        1 => {}
        _ => peer.notify(5, 60, &json!([job(2)])),
    });
    let (client, told) = connect(&mock);
    let _subscription = client.subscribe(&["jobs"]);
    assert_eq!(params.recv_timeout(HANG), Ok(json!({"topics": ["jobs"]})));
    assert_eq!(jobs(&told), [1]);
    assert_eq!(next(&told), Notification::State(ConnState::Reconnecting));
    assert_eq!(next(&told), Notification::State(ConnState::Ready));
    let since = json!({"topics": ["jobs"], "since": 47, "instance": "i1"});
    assert_eq!(params.recv_timeout(HANG), Ok(since));
    assert_eq!(next(&told), Notification::State(ConnState::Reconnecting));
    assert_eq!(next(&told), Notification::State(ConnState::Ready));
    // The answer to the second subscription has said 40.
    let since = json!({"topics": ["jobs"], "since": 40, "instance": "i1"});
    assert_eq!(params.recv_timeout(HANG), Ok(since));
    assert_eq!(jobs(&told), [2]);
}

#[test]
fn a_daemon_that_cannot_go_on_says_resync() {
    let (mock, _params) = mortal(&["i1", "i1"], |number, peer| {
        if number == 1 {
            peer.notify(5, 90, &json!([{"kind": "resync"}]));
        }
    });
    let (client, told) = connect(&mock);
    let _subscription = client.subscribe(&["jobs"]);
    assert_eq!(next(&told), Notification::State(ConnState::Reconnecting));
    assert_eq!(next(&told), Notification::State(ConnState::Ready));
    assert_eq!(next(&told), Notification::Resync(topics(&["jobs"])));
}

#[test]
fn another_instance_is_resync_once_and_then_its_events() {
    let (mock, params) = mortal(&["i1", "i2", "i2"], |number, peer| {
        if number > 0 {
            peer.notify(5, 50, &json!([job(i64::try_from(number).unwrap())]));
        }
    });
    let (client, told) = connect(&mock);
    let _subscription = client.subscribe(&["jobs"]);
    params.recv_timeout(HANG).unwrap();
    assert_eq!(next(&told), Notification::State(ConnState::Reconnecting));
    assert_eq!(next(&told), Notification::State(ConnState::Ready));
    assert_eq!(params.recv_timeout(HANG), Ok(json!({"topics": ["jobs"]})));
    assert_eq!(next(&told), Notification::Resync(topics(&["jobs"])));
    assert_eq!(jobs(&told), [1]);
    assert_eq!(next(&told), Notification::State(ConnState::Reconnecting));
    assert_eq!(next(&told), Notification::State(ConnState::Ready));
    assert_eq!(jobs(&told), [2]);
    assert_eq!(client.server().unwrap().instance, "i2");
}

#[test]
fn a_daemon_without_events_is_said() {
    let mock = Mock::serve(|_, mut peer| {
        while let Some(request) = peer.request() {
            let data = json!({"kind": "not_implemented"});
            peer.error(&request["id"], -32000, "not built yet", &data);
        }
    });
    let (client, told) = connect(&mock);
    assert!(!client.server().unwrap().can("events"));
    let _subscription = client.subscribe(&["jobs"]);
    let Notification::Refused { topics, error } = next(&told) else {
        panic!("not refused")
    };
    assert_eq!(topics, ["jobs"]);
    assert!(matches!(error, IpcError::Rpc { .. }), "{error}");
}

#[test]
fn who_subscribes_while_the_daemon_is_away_is_heard_when_it_is_back() {
    let mock = Mock::serve(|number, mut peer| {
        if number == 0 {
            peer.request_of("i1");
            return;
        }
        asked(&mut peer, "i1");
        peer.notify(5, 41, &json!([job(1)]));
        hang();
    });
    let (client, told) = connect(&mock);
    let away = mock.dir.path().join("away");
    std::fs::rename(&mock.path, &away).unwrap();
    client.send_request("mock.die", json!({})).unwrap_err();
    assert_eq!(next(&told), Notification::State(ConnState::Reconnecting));
    assert!(matches!(
        next(&told),
        Notification::State(ConnState::Down(_))
    ));
    let _subscription = client.subscribe(&["jobs"]);
    std::fs::rename(&away, &mock.path).unwrap();
    assert_eq!(next(&told), Notification::State(ConnState::Ready));
    assert_eq!(jobs(&told), [1]);
}

#[test]
fn the_same_subscription_is_asked_for_once_per_connection() {
    let subscriptions = Arc::new(Mutex::new(0));
    let count = Arc::clone(&subscriptions);
    let mock = Mock::serve(move |_, mut peer| {
        while let Some(request) = peer.request_of("i1") {
            if request["method"] == "events.subscribe" {
                *count.lock().unwrap() += 1;
                peer.accept(&request, 5, 40, "i1");
            } else {
                peer.reply(&request["id"], &json!({}));
            }
        }
    });
    for n in 1..=50 {
        let client = IpcClient::connect_to_with(&mock.path, quick()).unwrap();
        let _subscription = client.subscribe(&["jobs"]);
        client.send_request("system.ping", json!({})).unwrap();
        assert_eq!(*subscriptions.lock().unwrap(), n);
    }
}

#[test]
fn the_listener_may_use_the_client() {
    let mock = Mock::serve(|_, mut peer| {
        let first = peer.request_of("i1").unwrap();
        peer.accept(&first, 5, 40, "i1");
        peer.notify(5, 41, &json!([job(1)]));
        let second = peer.request_of("i1").unwrap();
        peer.accept(&second, 6, 41, "i1");
        peer.notify(6, 42, &json!([job(2)]));
        hang();
    });
    let client = IpcClient::connect_to_with(&mock.path, quick()).unwrap();
    let (tell, told) = mpsc::channel();
    let again = client.clone();
    let mut second = None;
    client.listen(Box::new(move |notification| {
        if matches!(notification, Notification::Events(_)) && second.is_none() {
            second = Some(again.subscribe(&["job:1"]));
        }
        tell.send(notification).unwrap();
    }));
    assert_eq!(next(&told), Notification::State(ConnState::Ready));
    let _subscription = client.subscribe(&["jobs"]);
    assert_eq!(jobs(&told), [1]);
    assert_eq!(jobs(&told), [2]);
}

#[test]
fn from_memory_the_same_is_told_as_by_a_daemon() {
    let (replies, _answers) = mpsc::channel();
    let bridge = MemoryBridge::new(HashMap::new(), replies);
    let told = listen(&bridge);
    assert_eq!(next(&told), Notification::State(ConnState::Ready));
    let one = bridge.subscribe(&["jobs"]);
    let two = bridge.subscribe(&["job:1", "log:1"]);
    assert_eq!(
        bridge.subscribed(),
        [topics(&["jobs"]), topics(&["job:1", "log:1"])]
    );
    drop(one);
    assert_eq!(bridge.subscribed(), [topics(&["job:1", "log:1"])]);
    bridge.tell(Notification::Resync(topics(&["jobs"])));
    assert_eq!(next(&told), Notification::Resync(topics(&["jobs"])));
    drop(two);
}
