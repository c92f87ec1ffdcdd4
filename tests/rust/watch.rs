//! Commands that wait, with a daemon that tells: they ask once, and then listen.

use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::command_line::{code, program, run, stderr, stdout};
use crate::mock::{Mock, Peer, eventually, hang};

fn job(id: i64, state: &str, doing: &str) -> Value {
    json!({
        "id": id, "uuid": "ab", "name": "copper", "code": "forces", "state": state,
        "progress": {"text": doing}, "directory": "/jobs/ab",
    })
}

fn changed(id: i64, state: &str, doing: &str) -> Value {
    json!({"topic": "jobs", "kind": "job", "job": job(id, state, doing)})
}

type Asked = Arc<Mutex<Vec<String>>>;

/// A daemon that answers `jobs.get` from `states` (an id's state at each look) and, when the first
/// look is answered, tells what `tell` tells.
fn telling(
    answer: impl Fn(&Value) -> Value + Send + Sync + 'static,
    tell: impl Fn(&mut Peer) + Send + Sync + 'static,
) -> (Mock, Asked) {
    let asked = Asked::default();
    let kept = Arc::clone(&asked);
    let mock = Mock::serve(move |_, mut peer| {
        let mut told = false;
        while let Some(request) = peer.request_of("i1") {
            let method = request["method"].as_str().unwrap().to_owned();
            kept.lock().unwrap().push(method.clone());
            match method.as_str() {
                "events.subscribe" => peer.accept(&request, 5, 40, "i1"),
                "events.unsubscribe" => {}
                _ => {
                    let result = answer(&request);
                    let id = &request["id"];
                    peer.send(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
                    if method != "jobs.submit" && !std::mem::replace(&mut told, true) {
                        tell(&mut peer);
                    }
                }
            }
        }
    });
    std::fs::write(mock.dir.path().join("copper.cif"), "").unwrap();
    (mock, asked)
}

fn ok(data: &Value) -> Value {
    json!({"status": "ok", "data": data})
}

fn times(asked: &Asked, method: &str) -> usize {
    let asked = asked.lock().unwrap();
    asked.iter().filter(|name| *name == method).count()
}

#[test]
fn watched_jobs_are_told_line_by_line_to_their_end() {
    let (mock, asked) = telling(
        |request| {
            let id = request["params"]["id"].as_i64().unwrap();
            ok(&job(id, "STAGED", "waiting"))
        },
        |peer| {
            peer.notify(
                5,
                41,
                &json!([changed(1, "RUNNING", "step 1"), changed(9, "RUNNING", "")]),
            );
            peer.notify(5, 42, &json!([changed(1, "RUNNING", "step 1")]));
            let mut end = changed(1, "COMPLETED", "done");
            end["job"]["science"] = json!({"energy_ev": -1.5});
            peer.notify(5, 43, &json!([changed(2, "CANCELLED", ""), end]));
        },
    );
    let output = run(&mock, &["watch", "1", "2"]);
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    assert_eq!(
        stdout(&output),
        "job 1  STAGED      copper  waiting\n\
         job 2  STAGED      copper  waiting\n\
         job 1  RUNNING     copper  step 1\n\
         job 2  CANCELLED   copper\n\
         job 1  COMPLETED   copper  -1.500000 eV\n"
    );
    assert_eq!(times(&asked, "jobs.get"), 2);
    assert_eq!(asked.lock().unwrap()[0], "events.subscribe");
}

#[test]
fn watching_completed_jobs_ends_at_once_with_0() {
    let (mock, _) = telling(|_| ok(&job(1, "COMPLETED", "")), |_| {});
    let output = run(&mock, &["watch", "1"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let output = run(&mock, &["watch", "1", "--json"]);
    assert_eq!(code(&output), 2);
}

#[test]
fn what_was_missed_is_asked_for() {
    let looks = Mutex::new(0);
    let (mock, asked) = telling(
        move |_| {
            let mut looks = looks.lock().unwrap();
            *looks += 1;
            ok(&job(1, if *looks == 1 { "RUNNING" } else { "FAILED" }, ""))
        },
        |peer| peer.notify(5, 90, &json!([{"kind": "resync"}])),
    );
    let output = run(&mock, &["watch", "1"]);
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    assert_eq!(
        stdout(&output),
        "job 1  RUNNING     copper\njob 1  FAILED      copper\n"
    );
    assert_eq!(times(&asked, "jobs.get"), 2);
}

fn interrupt_when(mut command: Command, ready: impl Fn() -> bool) -> Output {
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    eventually("it waits", ready);
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn all_jobs_are_watched_until_an_interrupt() {
    let (mock, asked) = telling(
        |_| {
            json!({"status": "ok", "data": [job(2, "RUNNING", "old"), job(1, "COMPLETED", "")],
                     "meta": {"rev": 1, "total": 2, "next": null}})
        },
        |peer| {
            peer.notify(
                5,
                41,
                &json!([changed(3, "CREATED", ""), changed(2, "RUNNING", "old"),
                        {"topic": "jobs", "kind": "job_removed", "id": 1}]),
            );
            // The client says that it has read everything by asking.
            peer.notify(5, 42, &json!([{"kind": "resync"}]));
        },
    );
    let mut command = program(&mock);
    command.arg("watch");
    let output = interrupt_when(command, || times(&asked, "jobs.list") == 2);
    assert_eq!(code(&output), 130);
    let text = stdout(&output);
    assert!(
        text.starts_with("job 3  CREATED     copper\njob 1  removed\n"),
        "{text}"
    );
}

#[test]
fn a_daemon_without_events_is_asked_again_and_again() {
    let looks = Mutex::new(0);
    let mock = Mock::serve(move |_, mut peer| {
        while let Some(request) = peer.request() {
            assert_eq!(request["method"], "jobs.get");
            let mut looks = looks.lock().unwrap();
            *looks += 1;
            let state = if *looks == 1 { "RUNNING" } else { "COMPLETED" };
            peer.reply(&request["id"], &job(1, state, ""));
        }
    });
    let output = run(&mock, &["watch", "1"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(stdout(&output).lines().count(), 2);
}

#[test]
fn a_job_that_does_not_exist_is_an_error() {
    let mock = Mock::serve(|_, mut peer| {
        while let Some(request) = peer.request_of("i1") {
            if request["method"] == "events.subscribe" {
                peer.accept(&request, 5, 40, "i1");
            } else {
                let data = json!({"kind": "not_found"});
                peer.error(&request["id"], -32000, "there is no job 99", &data);
            }
        }
    });
    let output = run(&mock, &["watch", "99"]);
    assert_eq!(code(&output), 1);
    assert!(
        stderr(&output).contains("there is no job 99"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn who_waits_for_a_submission_asks_before_and_after_and_not_between() {
    let looks = Mutex::new(0);
    let (mock, asked) = telling(
        move |request| {
            if request["method"] == "jobs.submit" {
                return ok(&json!({"job": job(12, "CREATED", ""), "repeated": false}));
            }
            let mut looks = looks.lock().unwrap();
            *looks += 1;
            ok(&job(
                12,
                if *looks == 1 { "STAGED" } else { "COMPLETED" },
                "",
            ))
        },
        |peer| {
            for step in 0..50 {
                let doing = format!("step {step}");
                peer.notify(5, 41 + step, &json!([changed(12, "RUNNING", &doing)]));
            }
            peer.notify(5, 99, &json!([changed(12, "COMPLETED", "done")]));
        },
    );
    let output = run(
        &mock,
        &["submit", "copper.cif", "--task", "relax", "--wait"],
    );
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(times(&asked, "jobs.get"), 2);
    assert!(
        stderr(&output).contains("job 12  STAGED\njob 12  RUNNING\n"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_followed_log_is_read_when_it_has_grown() {
    const WHOLE: &str = "one\ntwo\nthree\n";
    let (mock, asked) = telling(
        |request| {
            let offset = usize::try_from(request["params"]["offset"].as_i64().unwrap()).unwrap();
            let end = WHOLE.len().min(if offset == 0 { 4 } else { offset + 4 });
            let size = if offset == 0 { 4 } else { WHOLE.len() };
            ok(
                &json!({"text": WHOLE[offset..end], "start": offset, "offset": end, "size": size,
                       "eof": end == WHOLE.len(), "path": "stdout.log"}),
            )
        },
        |peer| {
            let grown = |stream: &str, size: usize| json!([{"topic": "log:7", "kind": "log", "stream": stream, "size": size}]);
            peer.notify(5, 41, &grown("output", 4));
            peer.notify(5, 42, &grown("stderr", 99));
            peer.notify(5, 43, &grown("output", WHOLE.len()));
        },
    );
    let output = run(&mock, &["log", "7", "-f"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(stdout(&output), WHOLE);
    assert_eq!(times(&asked, "jobs.log"), 4);
    assert_eq!(asked.lock().unwrap()[0], "events.subscribe");
}

#[test]
fn a_followed_log_ends_with_its_job() {
    let looks = Mutex::new(0);
    let (mock, asked) = telling(
        move |_| {
            let mut looks = looks.lock().unwrap();
            *looks += 1;
            ok(
                &json!({"text": "", "start": 0, "offset": 0, "size": 0, "eof": *looks > 1,
                       "path": "stdout.log"}),
            )
        },
        |peer| peer.notify(5, 41, &json!([changed(7, "FAILED", "")])),
    );
    let output = run(&mock, &["log", "7", "-f"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(times(&asked, "jobs.log"), 2);
}

#[test]
fn an_interrupt_ends_the_waiting_while_nothing_is_told() {
    let (mock, asked) = telling(|_| ok(&job(1, "RUNNING", "")), |_| hang());
    let mut command = program(&mock);
    command.args(["watch", "1"]);
    let output = interrupt_when(command, || times(&asked, "jobs.get") == 1);
    assert_eq!(code(&output), 130);
}
