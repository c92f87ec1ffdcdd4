//! `crystalmath clusters` and the options of a submission to a cluster.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::command_line::{
    answering, code, document, file, program, run, stderr, stdout, submitted,
};
use crate::mock::Mock;

/// A cluster as the daemon tells of it.
pub fn cluster(name: &str, changes: &Value) -> Value {
    let mut row = json!({
        "id": 1, "name": name, "kind": "slurm", "hostname": "login.example.org", "port": null,
        "username": "ada", "key_file": null, "proxy_jump": null, "shell": "auto",
        "remote_workdir": "$SCRATCH/crystalmath", "queue_name": "debug", "account": null,
        "qos": null, "slurm_cluster": null, "max_concurrent": null, "min_poll_s": 10.0,
        "max_retrieve_mib": 1024, "query_budget": {"size": 30, "refill_per_min": 10},
        "submit_budget": null, "setup_commands": ["module load qe"], "launcher": "srun",
        "codes": {"espresso": "/opt/pw.x"}, "status": "active", "last_error": null,
        "unreachable_since": null, "polled_at": "2026-01-06T12:00:00Z", "probe": {},
    });
    for (key, value) in changes.as_object().unwrap() {
        row[key] = value.clone();
    }
    row
}

fn ok(data: &Value) -> Value {
    json!({"status": "ok", "data": data, "meta": {"total": 1}})
}

/// A mock with an answer for each method, and what it was asked.
pub fn by_method(answers: Value) -> (Mock, Arc<Mutex<Vec<Value>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&seen);
    let mock = Mock::serve(move |_, mut peer| {
        while let Some(request) = peer.request() {
            kept.lock().unwrap().push(request.clone());
            let answer = &answers[request["method"].as_str().unwrap()];
            let id = &request["id"];
            if let Some(refused) = answer.get("refused") {
                let message = refused["message"].as_str().unwrap();
                let number = refused["code"].as_i64().unwrap();
                peer.error(id, number, message, &refused["data"]);
            } else {
                peer.send(&json!({"jsonrpc": "2.0", "id": id, "result": answer}));
            }
        }
    });
    (mock, seen)
}

fn refused(code: i64, message: &str, kind: &str, field: &str, hint: Option<&str>) -> Value {
    let data = json!({"kind": kind, "field": field, "hint": hint, "retryable": false});
    json!({"refused": {"code": code, "message": message, "data": data}})
}

#[test]
fn the_list_says_how_each_cluster_does() {
    let away = json!({"status": "error", "last_error": "no route; see `clusters.test`",
                      "unreachable_since": "2026-01-06T12:00:00Z", "polled_at": null, "port": 22});
    let rows = json!([cluster("hpc1", &json!({})), cluster("hpc2", &away)]);
    let (mock, _) = answering(ok(&rows));
    for arguments in [&["clusters"][..], &["clusters", "list"]] {
        let output = run(&mock, arguments);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let text = stdout(&output);
        for words in [
            "hpc1",
            "active",
            "unreachable",
            "ada@login.example.org",
            "no route",
        ] {
            assert!(text.contains(words), "{words} in\n{text}");
        }
        assert!(!text.contains("clusters.test"), "{text}");
        assert!(
            text.lines().all(|line| line.chars().count() <= 80),
            "{text}"
        );
    }
    assert_eq!(document(&run(&mock, &["clusters", "--json"])), ok(&rows));
    let (mock, _) = answering(ok(&json!([])));
    assert!(stdout(&run(&mock, &["clusters"])).contains("clusters add"));
}

#[test]
fn one_cluster_is_told_in_full() {
    let (mock, seen) = answering(ok(&cluster("hpc1", &json!({}))));
    let text = stdout(&run(&mock, &["clusters", "show", "hpc1"]));
    for words in [
        "cluster 1 hpc1: active",
        "ada@login.example.org",
        "$SCRATCH/crystalmath",
        "module load qe",
        "espresso: /opt/pw.x",
        "30 at once, 10 back each minute",
        "submissions    unlimited",
    ] {
        assert!(text.contains(words), "{words} in\n{text}");
    }
    assert_eq!(seen.lock().unwrap()[0]["params"], json!({"id": "hpc1"}));
}

#[test]
fn a_cluster_is_described_by_its_flags_alone() {
    let (mock, seen) = answering(ok(&cluster("hpc1", &json!({}))));
    let output = run(
        &mock,
        &[
            "clusters",
            "add",
            "hpc1",
            "--host",
            "login",
            "--workdir",
            "$SCRATCH/cm",
            "--kind",
            "slurm",
            "--port",
            "2222",
            "--user",
            "ada",
            "--key",
            "~/.ssh/id",
            "--jump",
            "a,b",
            "--shell",
            "openssh",
            "--partition",
            "debug",
            "--account",
            "p1",
            "--qos",
            "low",
            "--slurm-cluster",
            "east",
            "--max-jobs",
            "7",
            "--min-poll",
            "30",
            "--max-fetch",
            "64",
            "--queries",
            "20/5",
            "--submissions",
            "unlimited",
            "--setup",
            "module load qe",
            "--setup",
            "ulimit -s unlimited",
            "--launcher",
            "mpirun",
            "--code",
            "espresso=/opt/pw.x",
        ],
    );
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).contains("crystalmath clusters test hpc1"));
    let seen = seen.lock().unwrap();
    assert_eq!(seen[0]["method"], "clusters.create");
    assert_eq!(
        seen[0]["params"],
        json!({
            "name": "hpc1", "hostname": "login", "remote_workdir": "$SCRATCH/cm", "kind": "slurm",
            "port": 2222, "username": "ada", "key_file": "~/.ssh/id", "proxy_jump": "a,b",
            "shell": "openssh", "queue_name": "debug", "account": "p1", "qos": "low",
            "slurm_cluster": "east", "max_concurrent": 7, "min_poll_s": 30.0,
            "max_retrieve_mib": 64, "query_budget": {"size": 20, "refill_per_min": 5},
            "submit_budget": null, "setup_commands": ["module load qe", "ulimit -s unlimited"],
            "launcher": "mpirun", "codes": {"espresso": "/opt/pw.x"},
        })
    );
}

#[test]
fn an_edit_sends_what_changes_and_keeps_the_other_codes() {
    let before = ok(&cluster("hpc1", &json!({})));
    let answers = json!({"clusters.get": before, "clusters.update": before});
    let (mock, seen) = by_method(answers);
    let given = [
        "clusters",
        "edit",
        "hpc1",
        "--name",
        "hpc2",
        "--code",
        "vasp=/v",
        "--clear",
        "port,user",
    ];
    assert_eq!(code(&run(&mock, &given)), 0);
    assert_eq!(
        seen.lock().unwrap()[1]["params"],
        json!({"id": "hpc1", "name": "hpc2", "port": null, "username": null,
               "codes": {"espresso": "/opt/pw.x", "vasp": "/v"}})
    );
    let output = run(&mock, &["clusters", "edit", "hpc1"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("nothing is to be changed"));
    assert_eq!(
        code(&run(
            &mock,
            &["clusters", "edit", "hpc1", "--clear", "host"]
        )),
        2
    );
}

#[test]
fn a_cluster_is_forgotten_only_when_somebody_says_so() {
    let (mock, seen) = answering(ok(&json!({"id": 1, "name": "hpc1"})));
    for json in [&[][..], &["--json"]] {
        let output = run(&mock, &[&["clusters", "remove", "hpc1"], json].concat());
        assert_eq!(code(&output), 2);
    }
    assert!(seen.lock().unwrap().is_empty());
    let output = run(&mock, &["clusters", "remove", "hpc1", "--yes"]);
    assert_eq!(stdout(&output), "hpc1 is forgotten\n");
    assert_eq!(seen.lock().unwrap()[0]["method"], "clusters.delete");
}

fn report(changes: &Value) -> Value {
    let mut found = json!({
        "reachable": true, "latency_ms": 8.0, "user": "ada", "auth": {}, "noise": [],
        "host_key": {"type": "ssh-ed25519", "fingerprint": "SHA256:abc", "known": true},
        "scheduler": {"name": "slurm", "version": "23.02", "accounting": true},
        "partitions": [], "codes": [], "problems": [],
        "scratch": {"path": "/scratch/ada", "writable": true, "free_bytes": 1_048_576},
    });
    for (key, value) in changes.as_object().unwrap() {
        found[key] = value.clone();
    }
    ok(&found)
}

#[test]
fn a_test_is_told_part_by_part_and_ends_with_1_when_something_is_wrong() {
    let (mock, _) = answering(report(&json!({})));
    let output = run(&mock, &["clusters", "test", "hpc1"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = stdout(&output);
    for words in [
        "slurm 23.02, accounting answers",
        "SHA256:abc, known",
        "nothing is wrong",
    ] {
        assert!(text.contains(words), "{words} in\n{text}");
    }
    let wrong = json!({
        "scratch": {"path": "/scratch/ada", "writable": false},
        "problems": [{"what": "`remote_workdir` is not writable", "hint": "`clusters.update` it"}],
    });
    let (mock, _) = answering(report(&wrong));
    let output = run(&mock, &["clusters", "test", "hpc1"]);
    assert_eq!(code(&output), 1);
    let text = stdout(&output);
    for words in [
        "BAD   directory",
        "problem: `--workdir` is not writable",
        "hint: `crystalmath clusters edit hpc1` it",
    ] {
        assert!(text.contains(words), "{words} in\n{text}");
    }
    let output = run(&mock, &["clusters", "test", "hpc1", "--json"]);
    assert_eq!((code(&output), document(&output)), (1, report(&wrong)));
}

#[test]
fn a_key_is_trusted_by_its_fingerprint_and_never_silently() {
    let unknown = json!({"reachable": false, "host_key": {"type": "ssh-ed25519",
                         "fingerprint": "SHA256:new", "known": false}});
    let known = ok(&json!({"host": "login", "fingerprint": "SHA256:new", "known": true}));
    let (mock, seen) =
        by_method(json!({"clusters.test": report(&unknown), "clusters.accept_host_key": known}));
    let text = stdout(&run(&mock, &["clusters", "test", "hpc1"]));
    assert!(text.contains("SHA256:new, not known"), "{text}");
    assert!(text.contains("clusters accept-host-key hpc1"), "{text}");
    for json in [&[][..], &["--json"]] {
        let output = run(
            &mock,
            &[&["clusters", "accept-host-key", "hpc1"], json].concat(),
        );
        assert_eq!(code(&output), 2, "nobody could be asked");
    }
    assert_eq!(
        seen.lock().unwrap().len(),
        1,
        "nothing was sent but the test"
    );
    let given = [
        "clusters",
        "accept-host-key",
        "hpc1",
        "--fingerprint",
        "SHA256:new",
    ];
    assert_eq!(code(&run(&mock, &given)), 0);
    assert_eq!(
        seen.lock().unwrap()[1]["params"],
        json!({"id": "hpc1", "fingerprint": "SHA256:new"})
    );
}

#[test]
fn what_is_refused_is_said_of_the_argument() {
    let missing = refused(
        -32000,
        "there is no cluster hpc9",
        "not_found",
        "cluster",
        Some("`clusters.list` shows them"),
    );
    let hostname = refused(
        -32602,
        "hostname: no blanks",
        "invalid_params",
        "hostname",
        None,
    );
    let taken = refused(
        -32000,
        "there is a cluster hpc1 already",
        "conflict",
        "name",
        None,
    );
    let (mock, _) = by_method(json!({
        "clusters.get": missing, "slurm.queue": missing, "slurm.adopt": missing,
        "clusters.create": hostname, "clusters.update": taken,
    }));
    for arguments in [
        &["clusters", "show", "hpc9"][..],
        &["queue", "hpc9"],
        &["adopt", "hpc9", "81"],
    ] {
        let output = run(&mock, arguments);
        assert_eq!(code(&output), 2, "an argument that cannot be used");
        assert_eq!(
            stderr(&output),
            "error: there is no cluster hpc9\nhint: `crystalmath clusters` shows them\n"
        );
        let output = run(&mock, &[arguments, &["--json"]].concat());
        let error = document(&output)["error"].clone();
        assert_eq!(
            (&error["argument"], &error["field"]),
            (&json!("CLUSTER"), &json!("cluster"))
        );
    }
    let given = ["clusters", "add", "x", "--host", "a b", "--workdir", "/s"];
    let output = run(&mock, &given);
    assert_eq!(
        (code(&output), &*stderr(&output)),
        (2, "error: --host: no blanks\n")
    );
    let output = run(&mock, &["clusters", "edit", "x", "--name", "hpc1"]);
    assert_eq!(
        stderr(&output),
        "error: --name: there is a cluster hpc1 already\n"
    );
}

#[test]
fn a_submission_names_what_the_scheduler_needs() {
    let (mock, seen) = answering(submitted());
    file(&mock, "POSCAR_si", "");
    let given = [
        "submit",
        "POSCAR_si",
        "--cluster",
        "hpc1",
        "--nodes",
        "2",
        "--ntasks",
        "8",
        "--partition",
        "debug",
        "--account",
        "p1",
        "--qos",
        "low",
        "--gpus",
        "a100:2",
        "--memory-per-cpu",
        "2G",
        "--constraint",
        "ib",
        "--exclusive",
        "--begin",
        "now+1hour",
        "--sbatch=--mail-type=END",
    ];
    let output = run(&mock, &given);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let seen = seen.lock().unwrap();
    assert_eq!(seen[0]["params"]["cluster"], "hpc1");
    assert_eq!(
        seen[0]["params"]["resources"],
        json!({"nodes": 2, "ntasks": 8, "partition": "debug", "account": "p1", "qos": "low",
               "gpus": "a100:2", "memory_per_cpu_mib": "2G", "constraint": "ib",
               "exclusive": true, "begin": "now+1hour", "extra": ["--mail-type=END"]})
    );
    let both = [
        "submit",
        "POSCAR_si",
        "--memory",
        "1G",
        "--memory-per-cpu",
        "2G",
    ];
    let output = program(&mock).args(both).output().unwrap();
    assert_eq!(code(&output), 2);
}

#[test]
fn nobody_logs_in_without_a_terminal() {
    let prompts = json!([{"text": "Password of ada at hpc1", "echo": false}]);
    let asked = ok(&json!({"done": false, "dialogue": "ab12", "prompts": prompts}));
    let (mock, seen) = by_method(json!({"clusters.login": asked}));
    for json in [&[][..], &["--json"]] {
        seen.lock().unwrap().clear();
        let output = run(&mock, &[&["clusters", "login", "hpc1"], json].concat());
        assert_eq!(code(&output), 2);
        let said = stdout(&output) + &stderr(&output);
        assert!(
            said.contains("on a terminal only: Password of ada at hpc1"),
            "{said}"
        );
        let seen = seen.lock().unwrap();
        let params: Vec<&Value> = seen.iter().map(|request| &request["params"]).collect();
        let given_up = json!({"id": "hpc1", "dialogue": "ab12", "give_up": true});
        assert_eq!(params, [&json!({"id": "hpc1"}), &given_up]);
    }
    let (mock, _) = by_method(json!({"clusters.login": ok(&json!({"done": true}))}));
    let output = run(&mock, &["clusters", "login", "hpc1"]);
    assert_eq!(code(&output), 0);
    assert!(stdout(&output).starts_with("logged in to hpc1"));
    let missing = refused(-32000, "there is no cluster x", "not_found", "id", None);
    let (mock, _) = by_method(json!({"clusters.login": missing}));
    let output = run(&mock, &["clusters", "login", "x"]);
    assert_eq!(
        (code(&output), &*stderr(&output)),
        (2, "error: there is no cluster x\n")
    );
}

#[test]
fn what_is_wrong_is_said_once() {
    let message = "must be at least 1";
    let fields = json!([
        {"field": "query_budget.size", "message": message},
        {"field": "query_budget.refill_per_min", "message": message},
    ]);
    let data = json!({"kind": "invalid_params", "fields": fields, "retryable": false});
    let error = json!({"code": -32602, "message": "two things are wrong", "data": data});
    let (mock, seen) = by_method(json!({"clusters.create": {"refused": error}}));
    let given = ["--host", "h", "--workdir", "/s", "--queries", "0/0"];
    let output = run(&mock, &[&["clusters", "add", "x"][..], &given].concat());
    assert_eq!(
        (code(&output), &*stderr(&output)),
        (2, "error: --queries: must be at least 1\n")
    );
    seen.lock().unwrap().clear();
    let given = ["--clear", "port", "--port", "3"];
    let output = run(&mock, &[&["clusters", "edit", "x"][..], &given].concat());
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("--port is given and cleared at once"));
    assert!(seen.lock().unwrap().is_empty());
}

#[test]
fn a_warning_about_a_description_stands_beside_it() {
    let row = cluster(
        "hpc1",
        &json!({"warnings": ["`key_file`: there is no file /x"]}),
    );
    let (mock, _) = by_method(json!({"clusters.create": ok(&row)}));
    let output = run(
        &mock,
        &[
            "clusters",
            "add",
            "hpc1",
            "--host",
            "h",
            "--workdir",
            "/s",
            "--key",
            "/x",
        ],
    );
    assert_eq!(code(&output), 0);
    assert_eq!(stderr(&output), "warning: `--key`: there is no file /x\n");
}
