//! The clusters: how each does, trying one, describing, changing and forgetting it, and its key.

use crystalmath::error::IpcError;
use crystalmath::msg::{ClusterNews, Effect, Link, Mouse, Msg, Tone};
use crystalmath::rpc::types::{ClusterView, JobState};
use serde_json::{Value, json};

use super::snapshots::each_named;
use super::{Ui, job, refused, some_jobs};

const SIZE: (u16, u16) = (80, 24);
const WIDE: (u16, u16) = (160, 60);

pub fn cluster(id: i64, name: &str, changes: &Value) -> Value {
    let mut row = json!({
        "id": id, "name": name, "kind": "slurm", "hostname": format!("{name}.example.org"),
        "port": null, "username": "ada", "key_file": null, "proxy_jump": null, "shell": "auto",
        "remote_workdir": "$SCRATCH/crystalmath", "queue_name": "debug", "account": null,
        "qos": null, "slurm_cluster": null, "max_concurrent": null, "min_poll_s": 10.0,
        "max_retrieve_mib": 1024, "query_budget": {"size": 30, "refill_per_min": 10},
        "submit_budget": null, "setup_commands": ["module load qe"], "launcher": "srun",
        "codes": {"espresso": "/opt/pw.x"}, "status": "active", "last_error": null,
        "unreachable_since": null, "polled_at": "2026-01-06T11:59:48Z", "probe": {},
    });
    for (key, value) in changes.as_object().unwrap() {
        row[key] = value.clone();
    }
    row
}

pub fn report(changes: &Value) -> Value {
    let mut found = json!({
        "reachable": true, "latency_ms": 8.0, "user": "ada", "noise": ["Welcome to hpc1"],
        "auth": {"method": "publickey"}, "shell": "/bin/bash",
        "host_key": {"type": "ssh-ed25519", "fingerprint": "SHA256:abc", "known": true},
        "scheduler": {"name": "slurm", "version": "23.02.7", "accounting": true},
        "partitions": [{"name": "debug", "default": true, "available": true, "nodes": 3,
                        "max_walltime_s": 3600.0, "cpus_per_node": 8,
                        "memory_mib_per_node": 16000}],
        "scratch": {"path": "/scratch/ada/crystalmath", "writable": true,
                    "free_bytes": 1_073_741_824},
        "codes": [{"name": "espresso", "path": "/opt/pw.x", "version": "7.2"},
                  {"name": "vasp", "path": null, "version": null}],
        "clock_offset_s": 0.2, "problems": [],
    });
    for (key, value) in changes.as_object().unwrap() {
        found[key] = value.clone();
    }
    found
}

fn unknown_key() -> Value {
    let key = json!({"type": "ssh-ed25519", "fingerprint": "SHA256:new", "known": false});
    let problem = json!({"what": "the key of the host is not known",
                         "hint": "compare it, then `clusters.accept_host_key`"});
    json!({"reachable": false, "latency_ms": null, "host_key": key, "problems": [problem],
           "scheduler": null, "partitions": [], "scratch": null, "codes": []})
}

/// Three clusters: one that is well, one that is away, one without a scheduler that nobody asked.
pub fn clusters() -> Value {
    let away = json!({"status": "error", "last_error": "no route to host; `clusters.test` says more",
                      "unreachable_since": "2026-01-06T11:00:00Z",
                      "polled_at": "2026-01-06T10:59:00Z", "probe": report(&unknown_key())});
    let plain = json!({"kind": "ssh", "status": "inactive", "polled_at": null, "username": null,
                       "max_concurrent": 4, "queue_name": null});
    let rows = [
        cluster(1, "hpc1", &json!({"probe": report(&json!({}))})),
        cluster(2, "hpc2", &away),
        cluster(3, "plain", &plain),
    ];
    json!({"status": "ok", "data": rows, "meta": {"total": 3}})
}

/// The screen with its rows.
pub fn open(ui: &mut Ui) {
    let mut jobs = some_jobs();
    let mut waiting = job(9, JobState::Submitted);
    waiting.cluster = Some("hpc1".into());
    jobs.push(waiting);
    ui.connect(&jobs);
    ui.keys(&["7"]);
    ui.answer("clusters.list", Ok(clusters()));
}

fn opened(size: (u16, u16)) -> Ui {
    let mut ui = Ui::new(size);
    open(&mut ui);
    ui
}

fn ok(data: &Value) -> Value {
    json!({"status": "ok", "data": data})
}

#[test]
fn empty() {
    each_named("clusters_empty", |ui| {
        ui.connect(&[]);
        ui.keys(&["7"]);
        let nothing = json!({"status": "ok", "data": [], "meta": {"total": 0}});
        ui.answer("clusters.list", Ok(nothing));
    });
}

#[test]
fn loading() {
    each_named("clusters_loading", |ui| {
        ui.connect(&[]);
        ui.keys(&["7"]);
    });
}

#[test]
fn data() {
    each_named("clusters_data", open);
}

#[test]
fn detail_of_one() {
    each_named("clusters_detail", |ui| {
        open(ui);
        ui.keys(&["enter"]);
    });
}

#[test]
fn error() {
    each_named("clusters_error", |ui| {
        ui.connect(&[]);
        ui.keys(&["7"]);
        let error = refused("database", "the database is locked; see `clusters.list`");
        ui.answer("clusters.list", Err(error));
    });
}

#[test]
fn stale() {
    each_named("clusters_stale", |ui| {
        open(ui);
        ui.send(Msg::Link(Link::Down {
            cause: "no daemon is running".into(),
            hint: None,
            log: None,
        }));
        ui.clock(250.0);
    });
}

#[test]
fn form() {
    each_named("clusters_form", |ui| {
        open(ui);
        ui.keys(&["a", "ctrl-s"]);
        let fields = json!({"fields": [
            {"field": "name", "message": "name: is missing"},
            {"field": "hostname", "message": "hostname: is missing"},
        ]});
        let error = IpcError::Rpc {
            code: -32602,
            message: "several things are missing".into(),
            data: fields,
        };
        ui.answer("clusters.create", Err(error));
    });
}

#[test]
fn question_about_a_key() {
    each_named("clusters_key", |ui| {
        open(ui);
        ui.keys(&["j", "K"]);
    });
}

fn asked_for_a_password() -> Value {
    let prompts = json!([
        {"text": "Password of ada at hpc1:", "echo": false}, {"text": "Code:", "echo": true},
    ]);
    ok(&json!({"done": false, "dialogue": "ab12", "prompts": prompts}))
}

#[test]
fn login() {
    each_named("clusters_login", |ui| {
        open(ui);
        ui.keys(&["P"]);
        ui.answer("clusters.login", Ok(asked_for_a_password()));
        ui.type_text("planted");
    });
}

#[test]
fn a_login_is_answered_unseen() {
    let mut ui = opened(WIDE);
    ui.keys(&["P"]);
    assert!(ui.picture(WIDE).contains("waiting for the host"));
    let params = ui.answer("clusters.login", Ok(asked_for_a_password()));
    assert_eq!(params, json!({"id": 1}));
    ui.type_text("planted q");
    let text = ui.picture(WIDE);
    assert!(
        text.contains("*********") && !text.contains("planted"),
        "{text}"
    );
    assert!(!format!("{:?}", ui.model).contains("planted"));
    ui.keys(&["enter"]);
    assert!(
        ui.asked("clusters.login").is_none(),
        "there is another prompt"
    );
    ui.type_text("123");
    assert!(ui.picture(WIDE).contains("123"), "this one may be seen");
    ui.keys(&["enter"]);
    let refusal = refused("auth_refused", "hpc1 refused ada; see `clusters.login`");
    let params = ui.answer("clusters.login", Err(refusal));
    let wanted = json!({"id": 1, "dialogue": "ab12", "answers": ["planted q", "123"]});
    assert_eq!(params, wanted);
    let text = ui.picture(WIDE);
    assert!(text.contains("not logged in: "), "{text}");
    assert!(!format!("{:?}", ui.model).contains("planted"));
    ui.keys(&["P"]);
    ui.answer(
        "clusters.login",
        Ok(ok(&json!({"done": true, "prompts": []}))),
    );
    assert!(ui.picture(WIDE).contains("logged in to hpc1"));
    let (_, params) = ui.asked("clusters.test").expect("it is tried then");
    assert_eq!(params, json!({"id": 1}));
}

#[test]
fn a_login_is_given_up() {
    let mut ui = opened(WIDE);
    ui.keys(&["P", "esc"]);
    ui.answer("clusters.login", Ok(asked_for_a_password()));
    let given_up = json!({"id": 1, "dialogue": "ab12", "give_up": true});
    let params = ui.answer(
        "clusters.login",
        Ok(ok(&json!({"done": false, "prompts": []}))),
    );
    assert_eq!(params, given_up, "it was given up before the host asked");
    ui.keys(&["P"]);
    ui.answer("clusters.login", Ok(asked_for_a_password()));
    ui.keys(&["esc"]);
    assert!(!ui.picture(WIDE).contains("Log in to hpc1"));
    let (_, params) = ui.asked("clusters.login").expect("the daemon is told");
    assert_eq!(params, given_up);
}

#[test]
fn what_happens_to_clusters_is_seen_at_once() {
    let mut ui = opened(WIDE);
    let mut effects = ui.effects.iter();
    assert!(effects.any(|effect| matches!(effect, Effect::WatchClusters(true))));
    let row = json!({"status": "error", "last_error": "refused ada",
                     "connection": {"state": "needs_user", "failures": 1}});
    let told: ClusterView = serde_json::from_value(cluster(1, "hpc1", &row)).unwrap();
    let new: ClusterView = serde_json::from_value(cluster(4, "a-new", &json!({}))).unwrap();
    ui.send(Msg::ClusterNews(vec![
        ClusterNews::Changed(Box::new(told)),
        ClusterNews::Changed(Box::new(new)),
        ClusterNews::Gone(3),
    ]));
    let text = ui.picture(WIDE);
    for words in ["Clusters 3", "needs you", "refused ada", "a-new"] {
        assert!(text.contains(words), "{words} in\n{text}");
    }
    ui.keys(&["1"]);
    let mut effects = ui.effects.iter();
    assert!(effects.any(|effect| matches!(effect, Effect::WatchClusters(false))));
}

#[test]
fn a_small_window_shows_what_matters() {
    let size = (60, 15);
    let mut ui = opened(size);
    let text = ui.picture(size);
    for words in [
        "7 Clusters",
        "active",
        "hpc1",
        "12s",
        "1 run, 1 wait",
        "? help",
    ] {
        assert!(text.contains(words), "{words} in\n{text}");
    }
    ui.keys(&["enter", "G"]);
    let text = ui.picture(size);
    assert!(text.contains("espresso /opt/pw.x"), "{text}");
    ui.keys(&["esc", "j", "K"]);
    let text = ui.picture(size);
    for words in [
        "Trust the key of hpc2?",
        "SHA256:new",
        "n  No",
        "It is the same",
    ] {
        assert!(text.contains(words), "{words} in\n{text}");
    }
    ui.keys(&["n", "a"]);
    let text = ui.picture(size);
    for words in ["New cluster", "(needed)", "Name of the cluster"] {
        assert!(text.contains(words), "{words} in\n{text}");
    }
}

#[test]
fn a_test_shows_its_time_and_then_each_part() {
    let mut ui = opened(WIDE);
    ui.keys(&["t", "t"]);
    let text = ui.picture(WIDE);
    assert!(text.contains("hpc1 is already being tried"), "{text}");
    assert!(ui.model.wake_at().is_some(), "its time goes on");
    ui.clock(7.0);
    assert!(ui.picture(WIDE).contains("for 7s"));
    let params = ui.answer("clusters.test", Ok(ok(&report(&unknown_key()))));
    assert_eq!(params, json!({"id": 1}));
    assert!(ui.asked("clusters.test").is_none(), "it was asked once");
    let text = ui.picture(WIDE);
    for words in [
        "hpc1: 1 problem",
        "the key of the host is not known",
        "compare it, then `trust-key`",
        "SHA256:new, not known",
        "K trust key",
    ] {
        assert!(text.contains(words), "{words} in\n{text}");
    }
    ui.keys(&["t"]);
    ui.answer("clusters.test", Ok(ok(&report(&json!({})))));
    let text = ui.picture(WIDE);
    assert!(text.contains("hpc1: nothing is wrong"), "{text}");
    ui.keys(&["t"]);
    ui.answer(
        "clusters.test",
        Err(refused("overloaded", "try `clusters.test` later")),
    );
    let text = ui.picture(WIDE);
    assert!(
        text.contains("hpc1 was not tried: try `test` later"),
        "{text}"
    );
}

#[test]
fn a_key_is_trusted_after_the_question_alone() {
    let mut ui = opened(WIDE);
    ui.keys(&["K"]);
    assert!(ui.picture(WIDE).contains("shows no key that is not known"));
    ui.keys(&["j", "K", "enter"]);
    assert!(
        ui.asked("clusters.accept_host_key").is_none(),
        "the default is No"
    );
    ui.keys(&["K", "y"]);
    let params = ui.answer("clusters.accept_host_key", Ok(ok(&json!({"known": true}))));
    assert_eq!(params, json!({"id": 2, "fingerprint": "SHA256:new"}));
    let (_, params) = ui.asked("clusters.test").expect("it is tried again");
    assert_eq!(params, json!({"id": 2}));
    ui.answer("clusters.test", Ok(ok(&report(&unknown_key()))));
    ui.keys(&["K", "y"]);
    let changed = refused("conflict", "another key is shown now");
    ui.answer("clusters.accept_host_key", Err(changed));
    let text = ui.picture(WIDE);
    assert!(
        text.contains("not trusted: another key is shown now"),
        "{text}"
    );
}

#[test]
fn a_cluster_is_described_in_the_form() {
    let mut ui = opened(SIZE);
    ui.keys(&["a", "enter"]);
    ui.type_text("hpc9");
    ui.keys(&["enter", "right", "down", "enter"]);
    ui.type_text("login 9");
    ui.keys(&["enter", "ctrl-s"]);
    let (_, params) = ui.asked("clusters.create").unwrap();
    let wanted = json!({"name": "hpc9", "kind": "ssh", "hostname": "login 9", "shell": "auto",
                        "remote_workdir": null});
    for name in ["name", "kind", "hostname", "shell"] {
        assert_eq!(params[name], wanted[name], "{name}");
    }
    let error = IpcError::Rpc {
        code: -32602,
        message: "hostname: no blanks".into(),
        data: json!({"field": "hostname"}),
    };
    ui.answer("clusters.create", Err(error));
    let text = ui.picture(SIZE);
    assert!(text.contains("! no blanks"), "{text}");
    assert!(text.contains("1 thing to correct"), "{text}");
    ui.keys(&["enter", "ctrl-u"]);
    ui.type_text("login");
    ui.keys(&["enter"]);
    assert!(!ui.picture(SIZE).contains("no blanks"));
    // It is no accident to leave what is not saved.
    ui.keys(&["esc"]);
    assert!(ui.picture(SIZE).contains("Leave without saving?"));
    ui.keys(&["n", "ctrl-s"]);
    let made = cluster(9, "hpc9", &json!({}));
    ui.answer("clusters.create", Ok(ok(&made)));
    let text = ui.picture(SIZE);
    assert!(text.contains("hpc9 is saved"), "{text}");
    assert!(!text.contains("New cluster"), "{text}");
    let mut rows = clusters();
    rows["data"].as_array_mut().unwrap().push(made);
    ui.answer("clusters.list", Ok(rows));
    ui.keys(&["enter"]);
    assert!(ui.picture(SIZE).contains("Clusters 4 (in trouble 1)  hpc9"));
}

#[test]
fn an_edit_sends_what_was_changed() {
    let mut ui = opened(SIZE);
    ui.keys(&["e", "ctrl-s"]);
    assert!(ui.picture(SIZE).contains("nothing was changed"));
    assert!(ui.asked("clusters.update").is_none());
    // To the user, the fourth field.
    ui.keys(&[
        "down", "down", "down", "enter", "ctrl-u", "enter", "ctrl-s", "ctrl-s",
    ]);
    let params = ui.answer("clusters.update", Ok(ok(&cluster(1, "hpc1", &json!({})))));
    assert_eq!(params, json!({"id": 1, "username": null}));
    assert!(ui.asked("clusters.update").is_none(), "it was sent once");
    ui.keys(&["e", "esc"]);
    assert!(
        ui.picture(SIZE).contains("Clusters 3"),
        "nothing is lost by leaving"
    );
}

#[test]
fn a_cluster_is_forgotten_after_a_question() {
    let mut ui = opened(SIZE);
    ui.keys(&["d", "enter"]);
    assert!(ui.asked("clusters.delete").is_none(), "the default is No");
    ui.keys(&["d"]);
    let text = ui.picture(SIZE);
    assert!(text.contains("Forget 1 cluster, hpc1?"), "{text}");
    ui.keys(&["y"]);
    let busy = refused("conflict", "jobs that have not ended are on it: 3");
    let params = ui.answer("clusters.delete", Err(busy));
    assert_eq!(params, json!({"id": 1}));
    let text = ui.picture(SIZE);
    assert!(
        text.contains("not forgotten: jobs that have not ended"),
        "{text}"
    );
}

#[test]
fn the_cursor_stays_on_its_cluster_and_leaves_one_that_goes() {
    let mut ui = opened(WIDE);
    ui.keys(&["j", "enter"]);
    assert!(ui.picture(WIDE).contains("in trouble 1)  hpc2"));
    let without = |gone: i64| {
        let mut rows = clusters();
        rows["data"]
            .as_array_mut()
            .unwrap()
            .retain(|row| row["id"] != gone);
        rows
    };
    ui.send(Msg::Resync);
    ui.answer("clusters.list", Ok(without(1)));
    assert!(ui.picture(WIDE).contains("in trouble 1)  hpc2"));
    ui.send(Msg::Resync);
    ui.answer("clusters.list", Ok(without(2)));
    let text = ui.picture(WIDE);
    assert!(text.contains("Clusters 2 "), "{text}");
}

#[test]
fn the_list_is_read_again_now_and_then_and_only_while_it_is_seen() {
    let mut ui = Ui::of(&[job(1, JobState::Completed)], SIZE);
    ui.keys(&["7"]);
    ui.answer("clusters.list", Ok(clusters()));
    ui.clock(29.0);
    assert!(ui.asked("clusters.list").is_none());
    ui.clock(31.0);
    ui.answer("clusters.list", Ok(clusters()));
    ui.keys(&["1"]);
    ui.clock(100.0);
    assert!(ui.asked("clusters.list").is_none());
    for method in ["clusters.test", "slurm.queue"] {
        assert!(ui.asked(method).is_none(), "no cluster is asked by a clock");
    }
}

#[test]
fn the_queue_of_a_cluster_is_one_key_away() {
    let mut ui = opened(SIZE);
    ui.keys(&["G", "Q"]);
    assert!(ui.picture(SIZE).contains("plain has no scheduler"));
    ui.keys(&["esc", "k", "Q"]);
    let (_, params) = ui.asked("slurm.queue").expect("the queue is read");
    assert_eq!(params, json!({"cluster": 2}));
}

#[test]
fn it_is_copied_and_clicked() {
    let mut ui = opened(SIZE);
    ui.keys(&["y"]);
    let mut effects = ui.effects.iter();
    assert!(effects.any(|effect| matches!(effect, Effect::Copy(text) if text == "hpc1")));
    // The second row of the table, below header, frame and head.
    ui.send(Msg::Mouse(Mouse::Click(4, 4)));
    ui.keys(&["enter"]);
    assert!(ui.picture(SIZE).contains("in trouble 1)  hpc2"));
    ui.send(Msg::Note(Tone::Info, "still here".into()));
}
