//! A submission that needs an engine: it waits until the engine can be used, and no longer.

use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::command_line::{code, document, program, stderr, submitted};
use crate::mock::{HANG, Mock};

const SUBMIT: [&str; 5] = ["submit", "copper.cif", "--task", "relax", "--yes"];

fn task() -> Value {
    json!({"id": "t1", "engine": "sevenn", "models": [], "state": "running", "phase": "checking",
           "text": "compares its numbers with each other", "started_at": "2026-01-06T12:00:00Z"})
}

/// A daemon whose engine is there from look number `there`, and whose examination never ends.
fn examining(there: usize, looked: mpsc::Sender<()>) -> Mock {
    let (looks, submissions) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let mock = Mock::serve(move |_, mut peer| {
        while let Some(request) = peer.request() {
            let id = request["id"].clone();
            match request["method"].as_str().unwrap() {
                "jobs.submit" if submissions.fetch_add(1, Ordering::SeqCst) == 0 => {
                    let data = json!({"kind": "engine_not_installed", "hint": "install it",
                                      "field": "engine", "retryable": false});
                    peer.error(&id, -32000, "the engine sevenn is not installed", &data);
                }
                "jobs.submit" => peer.reply(&id, &submitted()["data"]),
                "forces.engines" => {
                    let installed = looks.fetch_add(1, Ordering::SeqCst) >= there;
                    let engine = json!({"name": "sevenn", "default": true, "installed": installed,
                                        "install": task()});
                    let rows = json!({"status": "ok", "data": [engine], "meta": {"total": 1}});
                    peer.send(&json!({"jsonrpc": "2.0", "id": id, "result": rows}));
                    let _ = looked.send(());
                }
                "forces.install" => peer.reply(&id, &json!({"task": task()})),
                other => {
                    let data = json!({"kind": "not_found", "retryable": false});
                    peer.error(&id, -32601, other, &data);
                }
            }
        }
    });
    std::fs::write(mock.dir.path().join("copper.cif"), "").unwrap();
    mock
}

#[test]
fn the_job_is_submitted_while_the_numbers_are_still_examined() {
    let (look, _looked) = mpsc::channel();
    let mock = examining(2, look);
    let output = program(&mock).args(SUBMIT).output().unwrap();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let told = stderr(&output);
    assert!(
        told.contains("sevenn is installed; its numbers are being checked meanwhile"),
        "{told}"
    );
}

#[test]
fn an_interrupt_says_that_no_job_was_submitted() {
    for json in [false, true] {
        let (look, looked) = mpsc::channel();
        let mock = examining(usize::MAX, look);
        let mut command = program(&mock);
        command
            .args(SUBMIT)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if json {
            command.arg("--json");
        }
        let child = command.spawn().unwrap();
        for _ in 0..2 {
            looked.recv_timeout(HANG).unwrap(); // the second look is of one that waits
        }
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        kill_process(pid, Signal::INT).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(code(&output), 130, "{}", stderr(&output));
        if json {
            assert_eq!(document(&output)["error"]["kind"], "interrupted");
        } else {
            let told = stderr(&output);
            assert!(told.contains("interrupted: no job was submitted"), "{told}");
            assert!(told.contains("crystalmath engines stop t1"), "{told}");
        }
    }
}
