//! The queue of a cluster: folded arrays, plain reasons, cancel, release, adopt.

use crystalmath::error::IpcError;
use crystalmath::msg::{Effect, Link, Mouse, Msg};
use serde_json::{Value, json};

use super::clusters::{cluster, clusters};
use super::snapshots::each_named;
use super::{Ui, refused, some_jobs};

const SIZE: (u16, u16) = (80, 24);
const WIDE: (u16, u16) = (160, 60);

fn row(job_id: &str, changes: &Value) -> Value {
    let base: String = job_id.chars().take_while(char::is_ascii_digit).collect();
    let base: i64 = base.parse().unwrap();
    let mut row = json!({
        "job_id": job_id, "base_id": base, "task": null, "n_tasks": null, "at_least": false,
        "part": null, "job": null, "name": format!("run {base}"), "user": "ada",
        "state": "RUNNING", "phase": "running", "attention": null, "reason": "None",
        "advice": null, "outlook": null, "offer": null, "warning": null, "nodes": "n1",
        "n_nodes": 1, "n_cpus": 8, "partition": "debug", "account": "p1", "qos": "normal",
        "submitted_at": "2026-01-06T11:00:00Z", "started_at": "2026-01-06T11:30:00Z",
        "expected_at": null, "elapsed_s": 3723.0, "limit_s": 7200.0,
        "workdir": "/scratch/ada/1",
    });
    for (key, value) in changes.as_object().unwrap() {
        row[key] = value.clone();
    }
    row
}

fn waiting(changes: &Value) -> Value {
    let mut row = json!({"state": "PENDING", "phase": "waiting", "elapsed_s": 0.0, "nodes": null,
                         "started_at": null});
    for (key, value) in changes.as_object().unwrap() {
        row[key] = value.clone();
    }
    row
}

fn rows() -> Vec<Value> {
    let waits = waiting(
        &json!({"n_tasks": 2, "reason": "Resources", "outlook": "waiting",
                                "advice": "waits for free nodes",
                                "expected_at": "2026-01-06T14:00:00Z"}),
    );
    let held = waiting(
        &json!({"reason": "JobHeldUser", "outlook": "held", "offer": "release",
                               "advice": "held: `slurm.release` lets it go on"}),
    );
    let never = waiting(
        &json!({"reason": "DependencyNeverSatisfied", "outlook": "never",
                                "offer": "cancel", "advice": "will never run", "job": 4}),
    );
    vec![
        row("8100_[3-4%2]", &waits),
        row("8100_1", &json!({"task": 1, "n_tasks": 1})),
        row("8200", &held),
        row("8300", &never),
        row("8400", &json!({"job": 3, "name": "結晶の構造を最適化する"})),
        row("9000+0", &json!({"part": 0})),
        row(
            "9000+1",
            &waiting(&json!({"part": 1, "reason": "Priority"})),
        ),
    ]
}

pub fn page(rows: &[Value], changes: &Value) -> Value {
    let mut meta =
        json!({"cluster": "hpc1", "age_s": 3.0, "stale": false, "trouble": null, "rejects": 0});
    for (key, value) in changes.as_object().unwrap() {
        meta[key] = value.clone();
    }
    json!({"status": "ok", "data": rows, "meta": meta})
}

/// What the daemon answers when nothing is wrong.
pub fn queue() -> Value {
    page(&rows(), &json!({}))
}

/// The screen with its rows.
pub fn open(ui: &mut Ui) {
    ui.connect(&some_jobs());
    ui.keys(&["2"]);
    ui.answer("clusters.list", Ok(clusters()));
    ui.answer("slurm.queue", Ok(queue()));
}

fn opened(size: (u16, u16)) -> Ui {
    let mut ui = Ui::new(size);
    open(&mut ui);
    ui
}

#[test]
fn empty() {
    each_named("queue_empty", |ui| {
        ui.connect(&[]);
        ui.keys(&["2"]);
        ui.answer("clusters.list", Ok(clusters()));
        ui.answer("slurm.queue", Ok(page(&[], &json!({}))));
    });
}

#[test]
fn no_cluster() {
    each_named("queue_no_cluster", |ui| {
        ui.connect(&[]);
        ui.keys(&["2"]);
        let nothing = json!({"status": "ok", "data": [], "meta": {"total": 0}});
        ui.answer("clusters.list", Ok(nothing));
    });
}

#[test]
fn loading() {
    each_named("queue_loading", |ui| {
        ui.connect(&[]);
        ui.keys(&["2"]);
        ui.answer("clusters.list", Ok(clusters()));
    });
}

#[test]
fn data() {
    each_named("queue_data", open);
}

#[test]
fn detail_of_one() {
    each_named("queue_detail", |ui| {
        open(ui);
        ui.keys(&["enter"]);
    });
}

#[test]
fn error() {
    each_named("queue_error", |ui| {
        ui.connect(&[]);
        ui.keys(&["2"]);
        ui.answer("clusters.list", Ok(clusters()));
        let error = refused("unreachable", "hpc1 gives no answer: see `clusters.test`");
        ui.answer("slurm.queue", Err(error));
    });
}

#[test]
fn stale() {
    each_named("queue_stale", |ui| {
        ui.connect(&[]);
        ui.keys(&["2"]);
        ui.answer("clusters.list", Ok(clusters()));
        let old = json!({"stale": true, "age_s": 250.0, "rejects": 1,
                         "trouble": "the scheduler does not answer"});
        ui.answer("slurm.queue", Ok(page(&rows(), &old)));
    });
}

#[test]
fn stale_without_a_daemon() {
    each_named("queue_no_daemon", |ui| {
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
fn a_small_window_shows_what_matters() {
    let size = (60, 15);
    let mut ui = opened(size);
    let text = ui.picture(size);
    for words in [
        "2 Queue",
        "3s old",
        "8100 (3 tasks)",
        "9000 (2 parts)",
        "1h02m/2h",
        "? help",
    ] {
        assert!(text.contains(words), "{words} in\n{text}");
    }
    ui.keys(&["enter"]);
    let text = ui.picture(size);
    assert!(text.contains("waits for free nodes (Resources)"), "{text}");
    ui.keys(&["G"]);
    assert!(
        ui.picture(size).contains("8100_1, running"),
        "{}",
        ui.picture(size)
    );
    ui.keys(&["esc", "c"]);
    let text = ui.picture(size);
    for words in [
        "Cancel job 8100 of the scheduler, all of it?",
        "n  No",
        "Cancel it",
    ] {
        assert!(text.contains(words), "{words} in\n{text}");
    }
}

#[test]
fn the_scheduler_is_asked_by_people_and_never_by_a_clock() {
    let mut ui = opened(SIZE);
    for seconds in [5.0, 60.0, 3600.0] {
        ui.clock(seconds);
        assert!(ui.asked("slurm.queue").is_none(), "after {seconds} s");
    }
    assert!(ui.picture(SIZE).contains("1h old"));
    ui.keys(&["ctrl-r"]);
    assert!(ui.picture(SIZE).contains("asking the scheduler"));
    ui.answer("slurm.queue", Ok(queue()));
    ui.answer("clusters.list", Ok(clusters()));
    assert!(ui.asked("slurm.queue").is_none(), "once is enough");
    // Coming back soon asks nothing; later it does.
    ui.keys(&["1", "2"]);
    ui.answer("clusters.list", Ok(clusters()));
    assert!(ui.asked("slurm.queue").is_none());
    ui.keys(&["1"]);
    ui.clock(3700.0);
    ui.keys(&["2"]);
    ui.answer("clusters.list", Ok(clusters()));
    assert!(ui.asked("slurm.queue").is_some());
}

#[test]
fn everybodys_jobs_and_other_clusters() {
    let mut ui = opened(WIDE);
    ui.keys(&["*"]);
    assert!(!ui.picture(WIDE).contains("8200"), "those rows are others");
    let params = ui.answer("slurm.queue", Ok(queue()));
    assert_eq!(params, json!({"cluster": 1, "all_users": true}));
    let text = ui.picture(WIDE);
    assert!(text.contains("everybody's jobs 5"), "{text}");
    assert!(text.contains("User"), "{text}");
    ui.keys(&["*", "]"]);
    // The question about one's own jobs of the first one is out of date when it is answered.
    ui.answer("slurm.queue", Ok(queue()));
    let text = ui.picture(WIDE);
    assert!(text.contains("Queue of hpc2: your jobs"), "{text}");
    assert!(!text.contains("8200"), "{text}");
    let params = ui.answer("slurm.queue", Ok(page(&rows()[2..3], &json!({}))));
    assert_eq!(params, json!({"cluster": 2}));
    assert!(ui.picture(WIDE).contains("Queue of hpc2: your jobs 1"));
    ui.keys(&["["]);
    let (_, params) = ui.asked("slurm.queue").unwrap();
    assert_eq!(params, json!({"cluster": 1}));
}

fn said(id: i64, outcome: &str, trouble: Option<&str>) -> Value {
    json!({"status": "ok", "meta": {"total": 1, "trouble": trouble},
           "data": [{"job_id": id.to_string(), "outcome": outcome, "job": null}]})
}

#[test]
fn a_job_is_cancelled_after_a_question_and_watched_until_it_is_seen() {
    let mut ui = opened(SIZE);
    ui.keys(&["c", "enter"]);
    assert!(ui.asked("slurm.cancel").is_none(), "the default is No");
    ui.keys(&["c", "y"]);
    assert!(ui.picture(SIZE).contains("cancelling"));
    let params = ui.answer("slurm.cancel", Ok(said(8100, "asked", None)));
    assert_eq!(params, json!({"cluster": 1, "job_ids": ["8100"]}));
    assert!(ui.asked("slurm.queue").is_none());
    ui.clock(6.5);
    ui.answer("slurm.queue", Ok(queue()));
    assert!(ui.picture(SIZE).contains("cancelling"), "it is still there");
    ui.clock(60.0);
    assert!(ui.asked("slurm.queue").is_none(), "it is looked once");
    ui.keys(&["ctrl-r"]);
    ui.answer("slurm.queue", Ok(page(&rows()[2..], &json!({}))));
    let text = ui.picture(SIZE);
    assert!(!text.contains("cancelling"), "{text}");
    ui.keys(&["esc", "c", "y"]);
    let error = said(8200, "not_done", Some("the controller does not answer"));
    ui.answer("slurm.cancel", Ok(error));
    let text = ui.picture(SIZE);
    assert!(
        text.contains("8200 is not cancelled: the controller does not answer"),
        "{text}"
    );
    assert!(!text.contains("cancelling"), "{text}");
}

#[test]
fn a_held_job_is_released() {
    let mut ui = opened(SIZE);
    ui.keys(&["U"]);
    assert!(ui.picture(SIZE).contains("8100 is not held"));
    ui.keys(&["j", "U"]);
    assert!(ui.picture(SIZE).contains("releasing"));
    ui.answer("slurm.release", Err(refused("unreachable", "no answer")));
    let text = ui.picture(SIZE);
    assert!(text.contains("8200 is not released: no answer"), "{text}");
    assert!(!text.contains("releasing"), "{text}");
    ui.keys(&["U"]);
    let params = ui.answer("slurm.release", Ok(said(8200, "asked", None)));
    assert_eq!(params, json!({"cluster": 1, "job_ids": ["8200"]}));
    ui.clock(6.5);
    assert!(ui.asked("slurm.queue").is_some(), "the rows are read again");
}

#[test]
fn a_job_is_adopted_and_one_that_is_known_is_shown() {
    let mut ui = opened(WIDE);
    ui.keys(&["A", "A"]);
    let params = ui.answer(
        "slurm.adopt",
        Ok(json!({"status": "ok", "data": {"job": super::job(77, "SUBMITTED".into())}})),
    );
    assert_eq!(params, json!({"cluster": 1, "job_id": "8100"}));
    assert!(ui.asked("slurm.adopt").is_none(), "once is enough");
    let text = ui.picture(WIDE);
    assert!(text.contains("8100 is job 77 here now"), "{text}");
    ui.keys(&["j"]);
    ui.keys(&["A"]);
    ui.answer(
        "slurm.adopt",
        Err(refused("conflict", "its owner is another")),
    );
    assert!(
        ui.picture(WIDE)
            .contains("8200 is not adopted: its owner is another")
    );
    ui.keys(&["esc", "j", "A"]);
    assert!(ui.picture(WIDE).contains("8300 is job 4 here"));
    ui.keys(&["esc", "enter", "enter"]);
    assert!(ui.picture(WIDE).contains("4 job 4"), "{}", ui.picture(WIDE));
}

#[test]
fn the_cursor_stays_on_its_job_and_leaves_one_that_goes() {
    let mut ui = opened(WIDE);
    ui.keys(&["j", "enter"]);
    assert!(ui.picture(WIDE).contains("your jobs 5  8200"));
    ui.keys(&["ctrl-r"]);
    ui.answer("slurm.queue", Ok(page(&rows()[2..], &json!({}))));
    assert!(ui.picture(WIDE).contains("your jobs 4  8200"));
    ui.keys(&["ctrl-r"]);
    ui.answer("slurm.queue", Ok(page(&rows()[3..], &json!({}))));
    let text = ui.picture(WIDE);
    assert!(text.contains("your jobs 3 "), "{text}");
    assert!(!text.contains("your jobs 3  8"), "{text}");
}

#[test]
fn a_lost_connection_keeps_the_rows() {
    let mut ui = opened(SIZE);
    ui.keys(&["ctrl-r"]);
    let method = "slurm.queue".to_owned();
    ui.answer("slurm.queue", Err(IpcError::Disconnected { method }));
    let text = ui.picture(SIZE);
    assert!(
        text.contains("8200") && !text.contains("not read"),
        "{text}"
    );
    ui.keys(&["ctrl-r"]);
    ui.answer("slurm.queue", Err(refused("overloaded", "later")));
    let text = ui.picture(SIZE);
    assert!(
        text.contains("8200") && text.contains("not read: later"),
        "{text}"
    );
}

#[test]
fn a_single_cluster_has_no_neighbour_and_rows_are_clicked() {
    let mut ui = Ui::of(&[], SIZE);
    ui.keys(&["2"]);
    let one = json!({"status": "ok", "data": [cluster(1, "hpc1", &json!({}))], "meta": {}});
    ui.answer("clusters.list", Ok(one));
    ui.answer("slurm.queue", Ok(queue()));
    ui.keys(&["]"]);
    assert!(ui.picture(SIZE).contains("there is no other cluster"));
    // The second row of the table, below header, frame, age and head.
    ui.send(Msg::Mouse(Mouse::Click(4, 5)));
    ui.keys(&["y"]);
    let mut effects = ui.effects.iter();
    assert!(effects.any(|effect| matches!(effect, Effect::Copy(text) if text == "8200")));
}
