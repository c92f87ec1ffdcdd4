//! `crystalmath queue` and `crystalmath adopt`.

use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;

use crate::clusters::{by_method, cluster};
use crate::command_line::{answering, code, document, run, stderr, stdout, submitted};

/// A row of a queue.
pub fn row(job_id: &str, changes: &Value) -> Value {
    let base: String = job_id.chars().take_while(char::is_ascii_digit).collect();
    let base: i64 = base.parse().unwrap();
    let mut row = json!({
        "job_id": job_id, "base_id": base, "task": null, "n_tasks": null, "at_least": false,
        "part": null, "job": null, "name": format!("run {job_id}"), "user": "ada",
        "state": "RUNNING", "phase": "running", "attention": null, "reason": "None",
        "advice": null, "outlook": null, "offer": null, "warning": null, "nodes": "n1",
        "n_nodes": 1, "n_cpus": 8, "partition": "debug", "account": "p1", "qos": "normal",
        "submitted_at": "2026-01-06T11:00:00Z", "started_at": null, "expected_at": null,
        "elapsed_s": 3723.0, "limit_s": 7200.0, "workdir": "/scratch/ada/1",
    });
    for (key, value) in changes.as_object().unwrap() {
        row[key] = value.clone();
    }
    row
}

/// A queue with an array, a held job, one that never starts and one of ours.
pub fn queue() -> Value {
    let waits = json!({"state": "PENDING", "phase": "waiting", "elapsed_s": 0.0, "nodes": null,
                       "n_tasks": 2, "reason": "Resources", "outlook": "waiting",
                       "advice": "waits for free nodes"});
    let held = json!({"state": "PENDING", "phase": "waiting", "elapsed_s": 0.0,
                      "reason": "JobHeldUser", "outlook": "held", "offer": "release",
                      "advice": "held by its owner: `slurm.release` lets it go on"});
    let never = json!({"state": "PENDING", "phase": "waiting", "elapsed_s": 0.0, "job": 41,
                       "reason": "DependencyNeverSatisfied", "outlook": "never", "offer": "cancel",
                       "advice": "will never run"});
    json!([
        row("8100_[3-4%2]", &waits),
        row("8100_1", &json!({"task": 1, "n_tasks": 1})),
        row("8200", &held),
        row("8300", &never),
        row(
            "8400",
            &json!({"job": 42, "name": "結晶の構造を最適化するとても長い名前の計算"})
        ),
    ])
}

pub fn page(rows: &Value, changes: &Value) -> Value {
    let mut meta =
        json!({"cluster": "hpc1", "age_s": 3.0, "stale": false, "trouble": null, "rejects": 0});
    for (key, value) in changes.as_object().unwrap() {
        meta[key] = value.clone();
    }
    json!({"status": "ok", "data": rows, "meta": meta})
}

#[test]
fn the_queue_is_folded_and_speaks_plainly() {
    let (mock, seen) = answering(page(&queue(), &json!({})));
    let output = run(&mock, &["queue", "hpc1"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = stdout(&output);
    for words in [
        "8100 (3 tasks)",
        "2 PENDING, 1 RUNNING",
        "8100: waits for free nodes (Resources)",
        "8200: held by its owner: `crystalmath queue release CLUSTER JOBID`",
        "release it with: crystalmath queue release hpc1 8200",
        "cancel it with: crystalmath queue cancel hpc1 8300",
        "1:02:03",
        "2:00:00",
        "41",
    ] {
        assert!(text.contains(words), "{words} in\n{text}");
    }
    assert!(!text.contains("None"), "{text}");
    assert!(text.lines().all(|line| line.width() <= 80), "{text}");
    assert_eq!(
        seen.lock().unwrap()[0]["params"],
        json!({"cluster": "hpc1"})
    );
    let text = stdout(&run(&mock, &["queue", "hpc1", "--all-users"]));
    assert!(text.contains("USER") && text.contains("ada"), "{text}");
    assert_eq!(seen.lock().unwrap()[1]["params"]["all_users"], true);
    let whole = document(&run(&mock, &["queue", "hpc1", "--json"]));
    assert_eq!(whole, page(&queue(), &json!({})));
}

#[test]
fn old_rows_say_how_old_they_are() {
    let old = json!({"stale": true, "age_s": 250.0, "trouble": "the connection was refused",
                     "rejects": 2});
    let (mock, _) = answering(page(&queue(), &old));
    let text = stdout(&run(&mock, &["queue", "hpc1"]));
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains(
            "hpc1 gives no answer now: the connection was refused; these rows are 4m old"
        ),
        "{text}"
    );
    assert!(text.contains("2 rows could not be understood"), "{text}");
    let (mock, _) = answering(page(&json!([]), &json!({})));
    let text = stdout(&run(&mock, &["queue", "hpc1"]));
    assert_eq!(text, "no jobs of yours in the queue of hpc1\n");
}

#[test]
fn the_only_cluster_with_a_scheduler_need_not_be_named() {
    let host = cluster("plain", &json!({"kind": "ssh"}));
    let clusters = |rows: Value| json!({"status": "ok", "data": rows, "meta": {"total": 2}});
    let one = clusters(json!([host, cluster("hpc1", &json!({}))]));
    let answers = json!({"clusters.list": one, "slurm.queue": page(&queue(), &json!({}))});
    let (mock, seen) = by_method(answers);
    assert_eq!(code(&run(&mock, &["queue"])), 0);
    assert_eq!(
        seen.lock().unwrap()[1]["params"],
        json!({"cluster": "hpc1"})
    );
    let two = clusters(json!([cluster("a", &json!({})), cluster("b", &json!({}))]));
    for (rows, words) in [
        (two, "one of: a, b"),
        (clusters(json!([host])), "clusters add"),
    ] {
        let (mock, _) = by_method(json!({"clusters.list": rows}));
        let output = run(&mock, &["queue"]);
        assert_eq!(code(&output), 2);
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
}

#[test]
fn jobs_are_cancelled_and_released_by_the_schedulers_ids() {
    let said = json!({"status": "ok", "meta": {"total": 2, "trouble": "job 8200 is not held"},
        "data": [{"job_id": "8100_3", "outcome": "asked", "job": 41},
                 {"job_id": "8200", "outcome": "not_done", "job": null}]});
    let (mock, seen) = answering(said.clone());
    for (verb, method) in [("cancel", "slurm.cancel"), ("release", "slurm.release")] {
        let output = run(&mock, &["queue", verb, "hpc1", "8100_3", "8200"]);
        assert_eq!(code(&output), 1);
        assert_eq!(
            stdout(&output),
            "8100_3 (job 41): the scheduler was asked\n"
        );
        assert_eq!(
            stderr(&output),
            "error: 8200: not done\njob 8200 is not held\n"
        );
        let last = seen.lock().unwrap().pop().unwrap();
        assert_eq!(last["method"], method);
        let wanted = json!({"cluster": "hpc1", "job_ids": ["8100_3", "8200"]});
        assert_eq!(last["params"], wanted);
    }
    let output = run(&mock, &["queue", "cancel", "hpc1", "8200", "--json"]);
    assert_eq!((code(&output), document(&output)), (1, said));
    assert_eq!(code(&run(&mock, &["queue", "cancel", "hpc1"])), 2);
}

#[test]
fn a_job_is_adopted_by_its_id() {
    let (mock, seen) = answering(submitted());
    let given = [
        "adopt", "hpc1", "8400", "--code", "espresso", "--name", "mine",
    ];
    let output = run(&mock, &given);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(stdout(&output), "job 12 adopted: n (forces)\n");
    let seen = seen.lock().unwrap();
    assert_eq!(seen[0]["method"], "slurm.adopt");
    assert_eq!(
        seen[0]["params"],
        json!({"cluster": "hpc1", "job_id": "8400", "code": "espresso", "name": "mine"})
    );
}
