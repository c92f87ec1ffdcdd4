//! `--plain`: the overview, then a line for each change, until an interrupt.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::command_line::{code, program, run, stderr, stdout};
use crate::mock::{Mock, eventually};

fn job(id: i64, state: &str) -> Value {
    json!({"id": id, "uuid": "ab", "name": "MgO 晶", "code": "forces", "state": state, "rev": id})
}

type Asked = Arc<Mutex<Vec<String>>>;

fn lists(asked: &Asked) -> usize {
    let asked = asked.lock().unwrap();
    asked.iter().filter(|method| *method == "jobs.list").count()
}

/// A daemon with one running job, which fails when the overview was asked for, on the other
/// connection.
fn telling(asked: Asked) -> Mock {
    Mock::serve(move |_, mut peer| {
        let mut subscribed = false;
        while let Some(request) = peer.request_of("i1") {
            let method = request["method"].as_str().unwrap().to_owned();
            let result = match method.as_str() {
                "events.subscribe" => {
                    peer.accept(&request, 5, 40, "i1");
                    subscribed = true;
                    continue;
                }
                "events.unsubscribe" => continue,
                "system.status" => json!({"status": "ok", "data": {
                    "version": "0.1.0", "state": "ready", "pid": 7, "jobs": {"RUNNING": 1}}}),
                _ => json!({"status": "ok", "data": [job(1, "RUNNING")],
                            "meta": {"rev": 1, "total": 1, "next": null}}),
            };
            peer.send(&json!({"jsonrpc": "2.0", "id": request["id"], "result": result}));
            asked.lock().unwrap().push(method.clone());
            if subscribed && method == "jobs.list" {
                eventually("the overview", || lists(&asked) == 2);
                let mut end = job(1, "FAILED");
                end["reason"] = "out_of_memory".into();
                end["rev"] = 7.into();
                let event = json!([{"topic": "jobs", "kind": "job", "job": end}]);
                peer.notify(5, 41, &event);
            }
        }
    })
}

#[test]
fn the_overview_comes_first_then_what_happens_until_an_interrupt() {
    let mock = telling(Arc::default());
    let mut child = program(&mock)
        .env("TERM", "xterm-256color")
        .arg("--plain")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut text = String::new();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    while !text.ends_with("job 1 failed: MgO ??; out of memory\n") {
        assert_ne!(lines.read_line(&mut text).unwrap(), 0, "{text}");
    }
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    lines.read_to_string(&mut text).unwrap();
    assert!(
        text.starts_with("crystalmath-server 0.1.0 is ready"),
        "{text}"
    );
    assert!(text.ends_with("out of memory\n"), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
}

#[test]
fn one_document_cannot_follow() {
    let mock = telling(Arc::default());
    let output = run(&mock, &["--plain", "--json"]);
    assert_eq!(code(&output), 2);
}

#[test]
fn on_no_terminal_the_overview_is_all() {
    let mock = telling(Arc::default());
    let output = run(&mock, &[]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).contains("MgO 晶"), "{}", stdout(&output));
}

#[test]
fn without_a_daemon_there_is_nothing_to_follow() {
    let directory = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_crystalmath"))
        .env_clear()
        .env("HOME", directory.path())
        .args(["--plain", "--no-start", "--socket"])
        .arg(directory.path().join("none.sock"))
        .output()
        .unwrap();
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    assert_eq!(stdout(&output), "");
}
