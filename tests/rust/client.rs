//! The client against a daemon that reorders, repeats, drops, lies, hangs and dies.

use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use crystalmath::error::IpcError;
use crystalmath::ipc::{ConnState, IpcClient};
use crystalmath::rpc::BridgeRequest;
use serde_json::{Value, json};

use crate::bridge::{ask_everything, params_of};
use crate::mock::{HANG, Mock, Peer, eventually, hang, quick};

fn connect(mock: &Mock) -> IpcClient {
    IpcClient::connect_to_with(&mock.path, quick()).unwrap()
}

fn data(n: usize) -> Value {
    json!({"status": "ok", "data": {"n": n}})
}

#[test]
fn answers_find_their_calls_in_any_order_among_noise() {
    const CALLS: usize = 40;
    let mock = Mock::serve(|_, mut peer| {
        let requests: Vec<Value> = (0..CALLS).map_while(|_| peer.request()).collect();
        peer.send(&json!({"jsonrpc": "2.0", "method": "events.notify", "params": {}}));
        peer.raw(b"no json\n\n[1, 2]\n{\"id\": null, \"result\": 1}\n");
        peer.reply(&json!(999_999), &json!("never asked"));
        for request in requests.iter().rev() {
            // As text: a daemon may write our numbers like this.
            let id = json!(request["id"].to_string());
            peer.reply(&id, &request["params"]);
            peer.reply(&id, &json!("a second answer"));
        }
        while peer.next().is_some() {}
    });
    let client = connect(&mock);
    let callers: Vec<_> = (0..CALLS)
        .map(|n| {
            let client = client.clone();
            thread::spawn(move || client.send_request("mock.echo", json!({"n": n})))
        })
        .collect();
    for (n, caller) in callers.into_iter().enumerate() {
        assert_eq!(caller.join().unwrap(), Ok(data(n)));
    }
    eventually("all the noise was read", || {
        client.counters().late == CALLS as u64
    });
    let counters = client.counters();
    assert_eq!(
        (counters.unknown, counters.notifications, counters.garbage),
        (1, 1, 3)
    );
    assert_eq!(client.state(), ConnState::Ready);
}

#[test]
fn a_daemon_that_closes_in_the_middle_of_a_line_ends_the_call_at_once() {
    let mock = Mock::serve(|_, mut peer| {
        let Some(request) = peer.request() else {
            return;
        };
        peer.raw(format!("{{\"jsonrpc\": \"2.0\", \"id\": {}, \"resu", request["id"]).as_bytes());
    });
    let client = connect(&mock);
    let begun = Instant::now();
    let error = client
        .send_request("jobs.cancel", json!({"id": 1}))
        .unwrap_err();
    assert_eq!(
        error,
        IpcError::Disconnected {
            method: "jobs.cancel".into()
        }
    );
    assert!(begun.elapsed() < HANG / 2, "{:?}", begun.elapsed());
}

#[test]
fn the_ui_thread_is_never_held() {
    let mock = Mock::serve(|_, mut peer| {
        let hello = peer.next().unwrap();
        peer.welcome(&hello["id"], "i1");
        // From here on it reads nothing.
        hang();
    });
    let (replies, _answers) = mpsc::channel();
    let client = connect(&mock).with_replies(replies);
    let large = "x".repeat(4000);
    let mut overloaded = false;
    for _ in 0..200 {
        let begun = Instant::now();
        let params = json!({"inputs": large});
        let outcome = crystalmath::rpc::BridgeService::request_submit_job(&client, 1, params);
        assert!(begun.elapsed() < HANG / 10, "{:?}", begun.elapsed());
        overloaded |= matches!(outcome, Err(IpcError::Overloaded(_)));
    }
    assert!(overloaded, "a full queue is an error, not a wait");
}

#[test]
fn a_late_answer_is_dropped_and_not_taken_for_the_next_one() {
    let mock = Mock::serve(|_, mut peer| {
        let Some(first) = peer.request() else { return };
        let cancel = peer.request().unwrap();
        assert_eq!(cancel["method"], "$/cancel");
        assert_eq!(cancel["params"]["id"], first["id"]);
        assert_eq!(
            cancel.get("id"),
            None,
            "a notification, so no answer is due"
        );
        peer.reply(&first["id"], &json!("late"));
        while let Some(next) = peer.request() {
            peer.reply(&next["id"], &next["params"]);
        }
    });
    let mut timing = quick();
    timing.call_default = Duration::from_millis(60);
    let client = IpcClient::connect_to_with(&mock.path, timing).unwrap();
    let error = client.send_request("mock.slow", json!({})).unwrap_err();
    assert!(matches!(error, IpcError::Deadline { .. }), "{error}");
    assert_eq!(
        client.send_request("system.ping", json!({"n": 2})),
        Ok(data(2))
    );
    assert_eq!(client.counters().late, 1);
}

#[test]
fn a_deadline_holds_while_nothing_can_be_written() {
    let mock = Mock::serve(|_, mut peer| {
        let hello = peer.next().unwrap();
        peer.welcome(&hello["id"], "i1");
        hang();
    });
    let mut timing = quick();
    timing.call_default = Duration::from_millis(100);
    let client = IpcClient::connect_to_with(&mock.path, timing).unwrap();
    let begun = Instant::now();
    let error = client
        .send_request("mock.big", json!({"x": "x".repeat(1_000_000)}))
        .unwrap_err();
    assert!(matches!(error, IpcError::Deadline { .. }), "{error}");
    assert!(begun.elapsed() < HANG / 2, "{:?}", begun.elapsed());
}

#[test]
fn a_daemon_that_never_answers_hello_is_busy_and_is_asked_again() {
    let hellos = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&hellos);
    let mock = Mock::serve(move |_, mut peer| {
        while let Some(message) = peer.next() {
            assert_eq!(message["method"], "system.hello");
            count.fetch_add(1, Ordering::SeqCst);
        }
    });
    let begun = Instant::now();
    let error = IpcClient::connect_to_with(&mock.path, quick())
        .map(drop)
        .unwrap_err();
    assert!(matches!(error, IpcError::Busy { .. }), "{error}");
    assert!(begun.elapsed() >= quick().start);
    assert!(
        begun.elapsed() < quick().start * 10,
        "{:?}",
        begun.elapsed()
    );
    assert!(hellos.load(Ordering::SeqCst) >= 2);
}

#[test]
fn a_hello_that_is_answered_late_is_still_an_answer() {
    let mock = Mock::serve(|_, mut peer| {
        let first = peer.next().unwrap();
        let second = peer.next().unwrap();
        assert_ne!(first["id"], second["id"]);
        peer.welcome(&first["id"], "i1");
        peer.welcome(&second["id"], "i1");
        while let Some(request) = peer.request() {
            peer.reply(&request["id"], &request["params"]);
        }
    });
    assert_eq!(
        connect(&mock).send_request("mock.echo", json!({"n": 1})),
        Ok(data(1))
    );
}

#[test]
fn a_full_backlog_is_busy_within_the_connect_time() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cm.sock");
    let listener = UnixListener::bind(&path).unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    let _first = UnixStream::connect(&path).unwrap();
    let begun = Instant::now();
    let error = IpcClient::connect_to_with(&path, quick())
        .map(drop)
        .unwrap_err();
    assert!(matches!(error, IpcError::Busy { .. }), "{error}");
    assert!(
        begun.elapsed() < quick().connect * 10,
        "{:?}",
        begun.elapsed()
    );
}

#[test]
fn something_else_that_listens_is_refused() {
    let mock = Mock::serve(|_, mut peer| {
        peer.next();
        peer.raw(b"HTTP/1.1 400 Bad Request\n");
    });
    let error = IpcClient::connect_to_with(&mock.path, quick())
        .map(drop)
        .unwrap_err();
    assert!(
        error.to_string().contains("not a CrystalMath daemon"),
        "{error}"
    );
}

#[test]
fn versions_that_do_not_meet_are_said_with_the_command() {
    let mock = Mock::serve(|_, mut peer| {
        let hello = peer.next().unwrap();
        assert_eq!(hello["params"]["protocol"], json!([1, 1]));
        peer.error(
            &hello["id"],
            -32014,
            "too old",
            &json!({"hint": "restart it"}),
        );
    });
    let error = IpcClient::connect_to_with(&mock.path, quick())
        .map(drop)
        .unwrap_err();
    assert!(matches!(error, IpcError::VersionMismatch { .. }), "{error}");
    assert_eq!(error.hint().as_deref(), Some("restart it"));
    assert_eq!(error.code(), -32014);
}

#[test]
fn a_daemon_that_is_full_or_leaving_is_asked_again() {
    let mock = Mock::serve(|number, mut peer| match number {
        0 => peer.error(&Value::Null, -32011, "too many connections", &Value::Null),
        1 => {
            let hello = peer.next().unwrap();
            peer.error(&hello["id"], -32010, "stopping", &Value::Null);
        }
        2 => {}
        _ => while peer.request().is_some() {},
    });
    assert_eq!(connect(&mock).state(), ConnState::Ready);
}

#[test]
fn nothing_there_is_down_and_nothing_is_started() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cm.sock");
    let error = IpcClient::connect_to_with(&path, quick())
        .map(drop)
        .unwrap_err();
    assert_eq!(
        error,
        IpcError::Down {
            socket: path.clone()
        }
    );
    drop(UnixListener::bind(&path).unwrap());
    let error = IpcClient::connect_to_with(&path, quick())
        .map(drop)
        .unwrap_err();
    assert_eq!(error, IpcError::Down { socket: path }, "a stale socket");
}

/// Dies after the first request of the first connection, then answers.
fn dies_once(mut peer: Peer, number: usize, seen: &Mutex<Vec<Value>>) {
    while let Some(request) = peer.next() {
        if request["method"] == "system.hello" {
            peer.welcome(&request["id"], &format!("instance {number}"));
            continue;
        }
        seen.lock().unwrap().push(request.clone());
        if number == 0 {
            return;
        }
        peer.reply(&request["id"], &request["params"]);
    }
}

#[test]
fn what_is_safe_to_repeat_is_repeated_once_and_nothing_else() {
    for (method, params, repeated) in [
        ("jobs.list", json!({"n": 1}), true),
        (
            "jobs.submit",
            json!({"n": 1, "client_token": "0123456789"}),
            true,
        ),
        ("jobs.submit", json!({"n": 1}), false),
        ("jobs.cancel", json!({"n": 1}), false),
        ("mock.unknown", json!({"n": 1}), false),
    ] {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&seen);
        let mock = Mock::serve(move |number, peer| dies_once(peer, number, &kept));
        let client = connect(&mock);
        let outcome = client.send_request(method, params.clone());
        let wanted = if repeated {
            Ok(json!({"status": "ok", "data": params}))
        } else {
            Err(IpcError::Disconnected {
                method: method.into(),
            })
        };
        assert_eq!(outcome, wanted, "{method} {params}");
        assert_eq!(
            client.send_request("mock.echo", json!({"n": 2})),
            Ok(data(2))
        );
        let seen = seen.lock().unwrap();
        assert_eq!(
            seen.len(),
            if repeated { 3 } else { 2 },
            "{method} {params}"
        );
        let ids: Vec<u64> = seen
            .iter()
            .map(|request| request["id"].as_u64().unwrap())
            .collect();
        assert!(
            ids.is_sorted_by(|a, b| a < b),
            "ids are never used again: {ids:?}"
        );
        assert_eq!(client.server().unwrap().instance, "instance 1");
    }
}

#[test]
fn a_daemon_that_always_dies_is_not_asked_for_ever() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let mock = Mock::serve(move |_, mut peer| {
        if peer.request().is_some() {
            count.fetch_add(1, Ordering::SeqCst);
        }
    });
    let error = connect(&mock)
        .send_request("jobs.list", json!({}))
        .unwrap_err();
    assert_eq!(
        error,
        IpcError::Disconnected {
            method: "jobs.list".into()
        }
    );
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}

#[test]
fn the_state_follows_a_daemon_that_goes_and_comes_back() {
    let mock = Mock::serve(|_, mut peer| {
        while let Some(request) = peer.request() {
            if request["method"] == "mock.die" {
                return;
            }
        }
    });
    let client = connect(&mock);
    let away = mock.dir.path().join("away");
    std::fs::rename(&mock.path, &away).unwrap();
    client.send_request("mock.die", json!({})).unwrap_err();
    eventually("down", || matches!(client.state(), ConnState::Down(_)));
    let error = client.send_request("system.ping", json!({})).unwrap_err();
    assert!(matches!(error, IpcError::Down { .. }), "{error}");
    std::fs::rename(&away, &mock.path).unwrap();
    eventually("ready again", || client.state() == ConnState::Ready);
}

#[test]
fn each_function_of_the_ui_sends_its_method_once() {
    let (mock, seen) = Mock::echo();
    let (replies, answers) = mpsc::channel();
    let client = connect(&mock).with_replies(replies);
    ask_everything(&client).unwrap();
    let mut found: Vec<_> = (0..25)
        .map(|_| answers.recv_timeout(HANG).unwrap())
        .collect();
    found.sort_by_key(|reply| reply.request_id);
    for (index, (reply, what)) in found.iter().zip(BridgeRequest::ALL).enumerate() {
        assert_eq!((reply.request_id, reply.what), (index, *what));
        let wanted = json!({"status": "ok", "data": params_of(index)});
        assert_eq!(reply.result, Ok(wanted), "{}", what.method());
    }
    let seen = seen.lock().unwrap();
    let sent: Vec<&str> = seen
        .iter()
        .map(|request| request["method"].as_str().unwrap())
        .collect();
    let wanted: Vec<&str> = BridgeRequest::ALL
        .iter()
        .map(|what| what.method())
        .collect();
    assert_eq!(sent, wanted);
}

#[test]
fn blocking_and_async_calls_from_many_threads_keep_their_answers_apart() {
    let (mock, _) = Mock::echo();
    let client = connect(&mock);
    let callers: Vec<_> = (0..8)
        .map(|thread| {
            let client = client.clone();
            thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .build()
                    .unwrap();
                for call in 0..50 {
                    let n = thread * 1000 + call;
                    let params = json!({"n": n});
                    let answer = if call % 2 == 0 {
                        client.send_request("mock.echo", params)
                    } else {
                        runtime.block_on(client.send_request_async("mock.echo", params))
                    };
                    assert_eq!(answer, Ok(data(n)));
                }
            })
        })
        .collect();
    for caller in callers {
        caller.join().unwrap();
    }
}

#[test]
fn an_error_answer_arrives_as_it_was_sent() {
    let problem = json!({"kind": "not_found", "hint": "look", "retryable": false, "field": "id"});
    let sent = problem.clone();
    let mock = Mock::serve(move |_, mut peer| {
        while let Some(request) = peer.request() {
            peer.error(&request["id"], -32000, "no job 99", &sent);
        }
    });
    let error = connect(&mock)
        .send_request("jobs.get", json!({"id": 99}))
        .unwrap_err();
    assert_eq!(
        (error.code(), error.kind(), error.field()),
        (-32000, "not_found", Some("id"))
    );
    assert_eq!(error.render(), "error: id: no job 99\nhint: look");
    assert_eq!(
        error,
        IpcError::Rpc {
            code: -32000,
            message: "no job 99".into(),
            data: problem
        }
    );
}

#[test]
fn the_last_clone_closes_the_connection() {
    let (ended, wait) = mpsc::channel();
    let mock = Mock::serve(move |_, mut peer| {
        while peer.request().is_some() {}
        ended.send(()).unwrap();
    });
    let client = connect(&mock);
    let clone = client.clone();
    drop(client);
    assert!(
        wait.recv_timeout(Duration::from_millis(50)).is_err(),
        "a clone is still there"
    );
    drop(clone);
    wait.recv_timeout(HANG).unwrap();
}
