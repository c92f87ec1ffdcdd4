//! Waiting for a job: the result, the exit code, and that the job never depends on who waits.

use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::command_line::{code, document, program, run, stderr, stdout};
use crate::mock::{HANG, Mock, Peer, hang};

fn job(state: &str) -> Value {
    json!({
        "id": 12, "uuid": "ab", "name": "copper relax", "code": "forces", "task": "relax",
        "state": state, "formula": "Cu", "n_atoms": 4, "elapsed_s": 2.5, "directory": "/jobs/ab",
        "progress": {"text": "step 3  fmax 0.1 eV/Å"},
    })
}

fn completed() -> Value {
    let mut job = job("COMPLETED");
    job["science"] = json!({"status": "converged", "energy_ev": -0.028_146,
                            "energy_per_atom_ev": -0.007_036, "converged": true});
    job["results"] = json!({
        "n_steps": 3, "converged": true, "fmax_ev_per_a": 1e-5, "volume_angstrom3": 46.26,
        "engine": {"name": "emt", "version": "ase 3.29.0", "parameters": {"asap_cutoff": false}},
        "lattice": {"a_angstrom": 3.5898, "b_angstrom": 3.5898, "c_angstrom": 3.5898,
                    "alpha_deg": 90.0, "beta_deg": 90.0, "gamma_deg": 90.0},
    });
    job
}

fn failed() -> Value {
    let mut job = job("FAILED");
    job["reason"] = json!("not_converged");
    job["message"] = json!("not converged after 500 steps");
    job["hint"] = json!("continue from the last geometry");
    job["warnings"] = json!(["the cell is small"]);
    job
}

/// Takes the submission, then tells what `tell` says about the job at each look.
fn running(tell: impl Fn(usize) -> Value + Send + Sync + 'static) -> Mock {
    let looks = AtomicUsize::new(0);
    let mock = Mock::serve(move |_, mut peer| {
        while let Some(request) = peer.request() {
            if request["method"] == "jobs.submit" {
                peer.reply(
                    &request["id"],
                    &json!({"job": job("CREATED"), "repeated": false}),
                );
            } else {
                assert_eq!(
                    (&request["method"], &request["params"]),
                    (&json!("jobs.get"), &json!({"id": 12}))
                );
                peer.reply(&request["id"], &tell(looks.fetch_add(1, Ordering::SeqCst)));
            }
        }
    });
    std::fs::write(mock.dir.path().join("copper.cif"), "").unwrap();
    mock
}

const SUBMIT: [&str; 5] = ["submit", "copper.cif", "--task", "relax", "--wait"];

#[test]
fn a_relaxation_ends_with_its_numbers_and_where_they_come_from() {
    let mock = running(|look| {
        if look < 2 {
            job("RUNNING")
        } else {
            completed()
        }
    });
    let output = run(&mock, &SUBMIT);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = stdout(&output);
    for part in [
        "job 12 copper relax: COMPLETED after 2.5 s",
        "a = 3.5898 Å",
        "-0.028146 eV (-0.007036 eV per atom)",
        "3, converged",
        "emt, ase 3.29.0",
        "job 12 (ab), /jobs/ab",
    ] {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
    assert!(
        !text.contains('\x1b') && !stderr(&output).contains('\x1b'),
        "no terminal here"
    );
    assert_eq!(
        stderr(&output),
        "job 12 submitted: copper relax (forces relax Cu)\njob 12  RUNNING\n"
    );
}

#[test]
fn with_json_the_one_document_is_the_ended_job() {
    let mock = running(|look| {
        if look < 1 {
            job("RUNNING")
        } else {
            completed()
        }
    });
    let output = program(&mock).args(SUBMIT).arg("--json").output().unwrap();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(
        document(&output),
        json!({"status": "ok", "data": completed()})
    );
    assert_eq!(stderr(&output), "");
}

#[test]
fn a_failed_job_ends_with_1_and_says_why() {
    let mock = running(|_| failed());
    let output = run(&mock, &SUBMIT);
    assert_eq!(code(&output), 1);
    let text = stdout(&output);
    for part in [
        "FAILED (not_converged)",
        "after 500 steps",
        "last geometry",
        "the cell is small",
    ] {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
    let mock = running(|_| job("CANCELLED"));
    assert_eq!(code(&run(&mock, &SUBMIT)), 1);
}

/// Starts the program and waits until it has looked at the job.
fn interrupted(mock: &Mock, looked: &mpsc::Receiver<()>, json: bool) -> Child {
    let mut command = program(mock);
    command
        .args(SUBMIT)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if json {
        command.arg("--json");
    }
    let child = command.spawn().unwrap();
    looked.recv_timeout(HANG).unwrap();
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    child
}

#[test]
fn an_interrupt_ends_the_waiting_and_names_the_job_that_goes_on() {
    for json in [false, true] {
        let (look, looked) = mpsc::channel();
        let mock = running(move |_| {
            let _ = look.send(());
            job("RUNNING")
        });
        let output = interrupted(&mock, &looked, json)
            .wait_with_output()
            .unwrap();
        assert_eq!(code(&output), 130);
        if json {
            let error = &document(&output)["error"];
            assert_eq!(
                (&error["kind"], &error["job"]),
                (&json!("interrupted"), &json!(12))
            );
        } else {
            assert!(
                stderr(&output).contains("job 12 goes on"),
                "{}",
                stderr(&output)
            );
            assert_eq!(stdout(&output), "");
        }
    }
}

#[test]
fn an_interrupt_does_not_wait_for_a_silent_daemon() {
    let (look, looked) = mpsc::channel();
    let mock = running(move |_| {
        let _ = look.send(());
        hang()
    });
    let begun = Instant::now();
    let output = interrupted(&mock, &looked, false)
        .wait_with_output()
        .unwrap();
    assert_eq!(code(&output), 130);
    assert!(begun.elapsed() < HANG / 2, "{:?}", begun.elapsed());
}

#[test]
fn the_time_to_wait_is_kept_and_the_job_goes_on() {
    let mock = running(|_| job("RUNNING"));
    let output = program(&mock)
        .args(SUBMIT)
        .args(["--timeout", "0.3"])
        .output()
        .unwrap();
    assert_eq!(code(&output), 1);
    assert!(
        stderr(&output).contains("the time is over: job 12 goes on"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_daemon_that_restarts_meanwhile_is_met_again() {
    let connections = Arc::new(AtomicUsize::new(0));
    let met = Arc::clone(&connections);
    let mock = Mock::serve(move |number, mut peer: Peer| {
        met.fetch_add(1, Ordering::SeqCst);
        while let Some(request) = peer.request() {
            match (request["method"].as_str().unwrap(), number) {
                ("jobs.submit", _) => {
                    peer.reply(
                        &request["id"],
                        &json!({"job": job("CREATED"), "repeated": false}),
                    );
                }
                // The first two connections end with a question unanswered.
                (_, 0 | 1) => return,
                _ => peer.reply(&request["id"], &completed()),
            }
        }
    });
    std::fs::write(mock.dir.path().join("copper.cif"), "").unwrap();
    let output = run(&mock, &SUBMIT);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(connections.load(Ordering::SeqCst), 3);
    assert!(
        stderr(&output).contains("trying again"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_question_that_is_refused_ends_the_waiting() {
    let mock = Mock::serve(|_, mut peer| {
        while let Some(request) = peer.request() {
            if request["method"] == "jobs.submit" {
                peer.reply(&request["id"], &json!({"job": job("CREATED")}));
            } else {
                peer.error(&request["id"], -32001, "the database is gone", &Value::Null);
            }
        }
    });
    std::fs::write(mock.dir.path().join("copper.cif"), "").unwrap();
    let begun = Instant::now();
    let output = run(&mock, &SUBMIT);
    assert_eq!(code(&output), 1);
    assert!(
        stderr(&output).contains("the database is gone"),
        "{}",
        stderr(&output)
    );
    assert!(
        begun.elapsed() < Duration::from_secs(20),
        "{:?}",
        begun.elapsed()
    );
}
