//! The program itself, against a mock daemon: what it sends, what it prints, how it ends.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;

use crate::mock::Mock;

/// The program, using the daemon of `mock` and nothing of this machine.
pub fn program(mock: &Mock) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_crystalmath"));
    command
        .env_clear()
        .env("HOME", mock.dir.path())
        .current_dir(mock.dir.path());
    command.args(["--no-start", "--socket"]).arg(&mock.path);
    command.stdin(Stdio::null());
    command
}

pub fn run(mock: &Mock, arguments: &[&str]) -> Output {
    program(mock).args(arguments).output().unwrap()
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

pub fn code(output: &Output) -> i32 {
    output.status.code().expect("it ended by itself")
}

/// The one document on stdout; more than one is an error of the parser.
pub fn document(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", stdout(output)))
}

/// A mock that gives the same answer to every request, and keeps the requests.
pub fn answering(result: Value) -> (Mock, Arc<Mutex<Vec<Value>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&seen);
    let mock = Mock::serve(move |_, mut peer| {
        while let Some(request) = peer.request() {
            kept.lock().unwrap().push(request.clone());
            peer.send(&json!({"jsonrpc": "2.0", "id": request["id"], "result": result}));
        }
    });
    (mock, seen)
}

fn refusing(code: i64, data: Value) -> Mock {
    Mock::serve(move |_, mut peer| {
        while let Some(request) = peer.request() {
            peer.error(&request["id"], code, "there is no job 99", &data);
        }
    })
}

pub fn submitted() -> Value {
    json!({"status": "ok", "data": {"job": {"id": 12, "name": "n", "code": "forces"}, "repeated": false}})
}

pub fn file(mock: &Mock, name: &str, text: &str) -> String {
    let path = mock.dir.path().join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_structure_is_submitted_to_the_force_engine() {
    let (mock, seen) = answering(submitted());
    let path = file(&mock, "copper.cif", "");
    let output = program(&mock)
        .env("VASP_PP_PATH", "/potentials")
        .env("MP_API_KEY", "secret")
        .args([
            "submit",
            "copper.cif",
            "--task",
            "relax",
            "--engine",
            "emt",
            "--param",
            "max_steps=9",
        ])
        .args([
            "--param",
            "optimizer=FIRE",
            "--walltime",
            "30:00",
            "--ntasks",
            "2",
            "--after",
            "3,4",
        ])
        .args(["--tag", "metal", "--cluster", "hpc", "--model", "m"])
        .output()
        .unwrap();
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(stdout(&output), "job 12 submitted: n (forces)\n");
    let mut sent = seen.lock().unwrap()[0]["params"].clone();
    let token = sent
        .as_object_mut()
        .unwrap()
        .remove("client_token")
        .unwrap();
    assert_eq!(token.as_str().unwrap().len(), 32);
    assert_eq!(
        sent,
        json!({
            "name": "copper relax", "code": "forces", "task": "relax", "engine": "emt", "model": "m",
            "structure": {"path": path}, "inputs": {"max_steps": 9, "optimizer": "FIRE"},
            "resources": {"walltime_s": "30:00", "ntasks": 2}, "after": [3, 4], "tags": ["metal"],
            "cluster": "hpc", "context": {"VASP_PP_PATH": "/potentials"},
        })
    );
}

#[test]
fn each_submission_has_a_token_of_its_own() {
    let (mock, seen) = answering(submitted());
    file(&mock, "POSCAR_si", "");
    for _ in 0..2 {
        assert_eq!(code(&run(&mock, &["submit", "POSCAR_si"])), 0);
    }
    let seen = seen.lock().unwrap();
    assert_ne!(
        seen[0]["params"]["client_token"],
        seen[1]["params"]["client_token"]
    );
}

#[test]
fn a_script_is_submitted_as_a_command_with_its_files() {
    let (mock, seen) = answering(submitted());
    let script = file(&mock, "run.sh", "#!/bin/sh\n");
    let data = file(&mock, "data.txt", "1");
    assert_eq!(code(&run(&mock, &["submit", "./run.sh", "data.txt"])), 0);
    let sent = &seen.lock().unwrap()[0]["params"];
    assert_eq!(
        (&sent["code"], &sent["name"]),
        (&json!("command"), &json!("run"))
    );
    assert_eq!(sent["inputs"], json!({"argv": ["./run.sh"]}));
    assert_eq!(
        sent["files"],
        json!([
            {"path": "run.sh", "source": script, "executable": true},
            {"path": "data.txt", "source": data, "executable": false},
        ])
    );
    assert_eq!(sent.get("structure"), None);
}

#[test]
fn an_argv_of_the_users_own_is_kept() {
    let (mock, seen) = answering(submitted());
    file(&mock, "run.py", "print(1)");
    let given = [
        "submit",
        "run.py",
        "--code",
        "command",
        "--param",
        r#"argv=["python3", "run.py"]"#,
    ];
    assert_eq!(code(&run(&mock, &given)), 0);
    assert_eq!(
        seen.lock().unwrap()[0]["params"]["inputs"]["argv"],
        json!(["python3", "run.py"])
    );
}

#[test]
fn what_cannot_be_submitted_is_said_before_anything_is_sent() {
    let (mock, seen) = answering(submitted());
    file(&mock, "notes.txt", "nothing");
    std::fs::create_dir(mock.dir.path().join("sub")).unwrap();
    file(&mock, "sub/notes.txt", "nothing");
    for (arguments, words) in [
        (vec!["submit", "notes.txt"], "--code"),
        (vec!["submit", "absent.cif"], "absent.cif"),
        (vec!["submit", "sub", "--code", "command"], "not a file"),
        (
            vec!["submit", "notes.txt", "sub/notes.txt", "--code", "command"],
            "same name",
        ),
        (vec!["submit"], "required"),
        (
            vec!["submit", "notes.txt", "--param", "novalue"],
            "KEY=VALUE",
        ),
        (vec!["submit", "notes.txt", "--timeout", "5"], "--wait"),
        (vec!["jobs", "--limit", "0"], "1..=1000"),
        (vec!["call", "system.ping", "[1]"], "object"),
        (vec!["call", "system.ping", "{"], "JSON"),
        (vec!["log", "1", "--stream", "nothing"], "scheduler"),
        (vec!["nonsense"], "nonsense"),
    ] {
        let output = run(&mock, &arguments);
        assert_eq!(code(&output), 2, "{arguments:?}");
        assert!(
            stderr(&output).contains(words),
            "{arguments:?}: {}",
            stderr(&output)
        );
        assert_eq!(stdout(&output), "");
        let output = program(&mock)
            .args(&arguments)
            .arg("--json")
            .output()
            .unwrap();
        assert_eq!(code(&output), 2, "{arguments:?}");
        assert_eq!(document(&output)["error"]["kind"], "usage", "{arguments:?}");
    }
    assert!(seen.lock().unwrap().is_empty());
}

#[test]
fn an_error_answer_is_shown_with_its_hint_and_ends_with_1() {
    let data = json!({"kind": "not_found", "hint": "see: crystalmath jobs", "retryable": false,
                      "field": "id", "trace_id": "t"});
    let mock = refusing(-32000, data);
    let output = run(&mock, &["show", "99"]);
    assert_eq!(code(&output), 1);
    assert_eq!(
        stderr(&output),
        "error: there is no job 99\nhint: see: crystalmath jobs\n"
    );
    for command in [
        ["show", "99"],
        ["cancel", "99"],
        ["files", "99"],
        ["log", "99"],
        ["rerun", "99"],
    ] {
        let output = program(&mock).args(command).arg("--json").output().unwrap();
        assert_eq!(code(&output), 1);
        assert_eq!(
            document(&output),
            json!({"error": {
                "code": -32000, "kind": "not_found", "message": "there is no job 99", "field": "id",
                "hint": "see: crystalmath jobs", "retryable": false, "trace_id": "t",
                "argument": "ID",
            }})
        );
        assert_eq!(stderr(&output), "");
    }
}

#[test]
fn no_daemon_is_one_clear_error() {
    let dir = tempfile::tempdir().unwrap();
    let mock = Mock {
        path: dir.path().join("nothing.sock"),
        dir,
    };
    let output = run(&mock, &["jobs"]);
    assert_eq!(code(&output), 1);
    assert!(
        stderr(&output).contains("no daemon is running"),
        "{}",
        stderr(&output)
    );
    assert!(
        stderr(&output).contains("crystalmath-server start"),
        "{}",
        stderr(&output)
    );
    let output = run(&mock, &["jobs", "--json"]);
    assert_eq!(document(&output)["error"]["kind"], "down");
    let output = run(&mock, &["doctor", "--json"]);
    assert_eq!(code(&output), 1);
    let checks = document(&output)["data"]["checks"].clone();
    assert!(
        checks
            .as_array()
            .unwrap()
            .iter()
            .any(|c| c["name"] == "daemon" && c["ok"] == false)
    );
}

#[test]
fn the_list_fits_80_columns_and_has_no_colours_in_a_pipe() {
    let job = |id: u64, name: &str, state: &str| {
        json!({"id": id, "name": name, "code": "forces", "task": "single_point", "state": state,
               "elapsed_s": 123_456.7, "science": {"energy_ev": -123_456.789_012_3},
               "progress": {"text": "step 9  fmax 0.04 eV/Å  smax 0.3 GPa and more of it"},
               "reason": (state == "FAILED").then_some("not_converged")})
    };
    let names = [
        "short".to_owned(),
        "long ".repeat(20),
        "結晶".repeat(25),
        "tab\there".to_owned(),
    ];
    let states = ["COMPLETED", "RUNNING", "FAILED", "A_STATE_OF_TOMORROW"];
    let jobs: Vec<Value> = names
        .iter()
        .zip(states)
        .zip(1_234_567..)
        .map(|((n, s), id)| job(id, n, s))
        .collect();
    let (mock, seen) = answering(
        json!({"status": "ok", "data": jobs, "meta": {"rev": 1, "total": 104, "next": "x"}}),
    );
    let output = run(
        &mock,
        &[
            "jobs",
            "--state",
            "running,failed",
            "--sort",
            "-name",
            "--search",
            "x",
        ],
    );
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = stdout(&output);
    for line in text.lines() {
        assert!(line.width() <= 80, "{} columns: {line}", line.width());
    }
    assert!(!text.contains('\x1b') && !text.contains('\t'), "{text}");
    for part in [
        "-123456.789012 eV",
        "not_converged",
        "1-10:17",
        "…",
        "and 100 more",
    ] {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
    assert_eq!(
        seen.lock().unwrap()[0]["params"],
        json!({"state": ["RUNNING", "FAILED"], "sort": "-name", "search": "x"})
    );
}

#[test]
fn with_json_the_result_comes_out_as_it_came_in() {
    let result = json!({"status": "ok", "data": [{"id": 1, "tomorrow": [1.100_000_000_000_000_3]}],
                        "meta": {"rev": i64::MAX, "total": 1, "next": null}});
    let (mock, _) = answering(result.clone());
    assert_eq!(document(&run(&mock, &["jobs", "--json"])), result);
    assert_eq!(
        document(&run(&mock, &["--json", "call", "jobs.list"])),
        result
    );
    assert_eq!(document(&run(&mock, &["call", "jobs.list"])), result);
}

#[test]
fn call_reads_its_params_from_stdin() {
    let (mock, seen) = answering(json!({"status": "ok", "data": null}));
    let mut child = program(&mock)
        .args(["call", "jobs.get", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"{\"id\": 9007199254740993}")
        .unwrap();
    assert_eq!(code(&child.wait_with_output().unwrap()), 0);
    assert_eq!(
        seen.lock().unwrap()[0]["params"],
        json!({"id": 9_007_199_254_740_993_u64})
    );
}

#[test]
fn a_reader_that_goes_away_ends_the_program_quietly() {
    let (go, gone) = std::sync::mpsc::channel::<()>();
    let gone = Mutex::new(gone);
    let mock = Mock::serve(move |_, mut peer| {
        while let Some(request) = peer.request() {
            gone.lock().unwrap().recv().unwrap();
            peer.reply(&request["id"], &json!([]));
        }
    });
    let mut child = program(&mock)
        .arg("jobs")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    go.send(()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((code(&output), stderr(&output).as_str()), (0, ""));
}

#[test]
fn a_log_is_read_page_by_page() {
    let text = "one\ntwo\nthree\n";
    let mock = Mock::serve(move |_, mut peer| {
        while let Some(request) = peer.request() {
            let start = request["params"]["offset"]
                .as_u64()
                .map_or(8, |at| at.try_into().unwrap());
            let end = text.len().min(start + 5);
            peer.reply(
                &request["id"],
                &json!({"text": text[start..end], "start": start,
                "offset": end, "size": text.len(), "eof": end == text.len(), "path": "out"}),
            );
        }
    });
    assert_eq!(stdout(&run(&mock, &["log", "1"])), text);
    assert_eq!(stdout(&run(&mock, &["log", "1", "-f"])), text);
    assert_eq!(stdout(&run(&mock, &["log", "1", "--tail", "1"])), "three\n");
    assert_eq!(stdout(&run(&mock, &["cat", "1", "out"])), text);
    let whole = document(&run(&mock, &["log", "1", "--json"]));
    assert_eq!(
        whole["data"],
        json!({"text": text, "start": 0, "offset": text.len(),
                                     "size": text.len(), "eof": true, "path": "out"})
    );
    assert_eq!(code(&run(&mock, &["log", "1", "-f", "--json"])), 2);
}

#[test]
fn one_job_of_several_that_was_not_cancelled_ends_with_1() {
    let (mock, seen) = answering(json!({"status": "ok", "meta": {"total": 2}, "data": [
        {"id": 1, "ok": true, "state": "CANCELLING"},
        {"id": 2, "ok": false, "kind": "illegal_transition", "message": "it is COMPLETED"},
    ]}));
    let output = run(&mock, &["cancel", "1", "2"]);
    assert_eq!(code(&output), 1);
    assert_eq!(stdout(&output), "job 1: CANCELLING\n");
    assert_eq!(stderr(&output), "error: job 2: it is COMPLETED\n");
    assert_eq!(code(&run(&mock, &["delete", "1", "--files", "--json"])), 1);
    let seen = seen.lock().unwrap();
    assert_eq!(seen[0]["params"], json!({"ids": [1, 2]}));
    assert_eq!(seen[1]["params"], json!({"ids": [1], "files": true}));
}

#[test]
fn rerun_sends_only_what_differs() {
    let (mock, seen) = answering(submitted());
    let output = run(
        &mock,
        &[
            "rerun",
            "7",
            "--param",
            "max_steps=5",
            "--param",
            "optimizer=null",
        ],
    );
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let sent = &seen.lock().unwrap()[0];
    assert_eq!(sent["method"], "jobs.rerun");
    assert_eq!(sent["params"]["id"], 7);
    assert_eq!(
        sent["params"]["changes"],
        json!({"inputs": {"max_steps": 5, "optimizer": null}})
    );
    assert_eq!(
        sent["params"].get("context"),
        None,
        "the first submission's stays"
    );
}

#[test]
fn completions_and_manual_pages_come_from_the_commands() {
    let dir = tempfile::tempdir().unwrap();
    let mock = Mock {
        path: dir.path().join("nothing.sock"),
        dir,
    };
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = stdout(&run(&mock, &["completions", shell]));
        assert!(
            script.contains("submit") && script.contains("dry-run") && script.contains("continue"),
            "{shell}"
        );
    }
    assert_eq!(code(&run(&mock, &["man", "pages"])), 0);
    let pages = mock.dir.path().join("pages");
    for page in [
        "crystalmath.1",
        "crystalmath-submit.1",
        "crystalmath-jobs.1",
        "crystalmath-continue.1",
        "crystalmath-import.1",
        "crystalmath-read.1",
    ] {
        assert!(Path::new(&pages).join(page).is_file(), "{page}");
    }
    let help = run(&mock, &["--help"]);
    assert_eq!((code(&help), stderr(&help).as_str()), (0, ""));
    assert_eq!(code(&run(&mock, &["--version"])), 0);
}

#[test]
fn another_contract_is_said_and_does_not_stop_anything() {
    let mock = Mock::serve(|_, mut peer| {
        while let Some(request) = peer.next() {
            if request["method"] == "system.hello" {
                peer.reply(
                    &request["id"],
                    &json!({"version": "0.0.9", "schema": "another"}),
                );
            } else {
                peer.reply(&request["id"], &json!([]));
            }
        }
    });
    let output = run(&mock, &["jobs"]);
    assert_eq!((code(&output), stdout(&output).as_str()), (0, "no jobs\n"));
    assert!(
        stderr(&output).contains("different contracts"),
        "{}",
        stderr(&output)
    );
}
