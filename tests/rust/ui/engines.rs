//! The engines: what is read and what is told, installing, checking, stopping and removing.

use crystalmath::config::Config;
use crystalmath::error::IpcError;
use crystalmath::msg::{Effect, EngineNews, Link, Msg, Tone};
use serde_json::{Value, json};

use super::snapshots::each_named;
use super::{Ui, not_built, page, ready, refused, some_jobs};

const SIZE: (u16, u16) = (80, 24);
const WIDE: (u16, u16) = (160, 60);
const METHODS: [&str; 4] = [
    "forces.engines",
    "forces.workers",
    "forces.status",
    "forces.environments",
];

fn model(id: &str, present: bool, consent: &str) -> Value {
    json!({
        "id": id, "default": id == "emt" || id == "omni",
        "source": if id == "emt" { "builtin" } else { "download" },
        "present": present, "consent": consent, "license": "MIT",
        "license_text": if consent == "needed" { json!("Use it for research only.") } else { Value::Null },
        "dtype": "float64", "properties": ["energy", "forces", "stress"],
        "elements": ["Al", "Cu"], "toy_elements": [], "info_keys": [],
        "sha256": null, "path": null, "size_bytes": if id == "emt" { Value::Null } else { json!(90_000_000) },
    })
}

fn engine(name: &str, installed: bool, models: &[Value], changes: &Value) -> Value {
    let mut row = json!({
        "name": name, "title": format!("the engine {name}"), "default": false, "origin": "shipped",
        "installed": installed, "problem": null, "hint": null, "built_in": false,
        "external": false, "additive": false, "environment": null, "python": null,
        "versions": {}, "download_bytes": 2_900_000_000_i64, "models": models,
        "properties": ["energy", "forces", "stress"], "devices": ["cpu"], "workers": 0,
        "install": null, "warnings": [],
    });
    for (key, value) in changes.as_object().unwrap() {
        row[key] = value.clone();
    }
    row
}

fn task(engine: &str, state: &str, fraction: Option<f64>) -> Value {
    json!({
        "id": "t1", "engine": engine, "models": [], "state": state, "phase": "downloading",
        "text": "fetching torch", "fraction": fraction, "done_bytes": 300_000_000,
        "total_bytes": 700_000_000, "kind": null,
        "message": if state == "failed" { json!("no space is left; see `forces.gc`") } else { Value::Null },
        "hint": if state == "failed" { json!("make room: `forces.gc`") } else { Value::Null },
        "started_at": "2026-01-06T11:59:00Z",
        "finished_at": if matches!(state, "running" | "waiting") { Value::Null } else { json!("2026-01-06T12:00:00Z") },
    })
}

fn engines() -> Value {
    let emt = json!({
        "built_in": true, "environment": "host", "python": "3.11.7",
        "versions": {"ase": "3.29.0"}, "download_bytes": 0,
    });
    let absent =
        json!({"default": true, "problem": "not installed", "hint": "see `forces.install`"});
    let failed = json!({"install": task("orb", "failed", None), "problem": "not installed"});
    let wrong = json!({"problem": "mine.py: kind is missing", "hint": "correct its declaration"});
    json!({"status": "ok", "meta": {"total": 5, "default_engine": "sevenn"}, "data": [
        engine("emt", true, &[model("emt", true, "not_needed")], &emt),
        engine("mace", false, &[model("omni", false, "not_needed")],
               &json!({"install": task("mace", "running", Some(0.43))})),
        engine("mine", false, &[], &wrong),
        engine("orb", false, &[model("omni", false, "not_needed")], &failed),
        engine("sevenn", false, &[model("omni", false, "needed")], &absent),
    ]})
}

fn worker(id: &str, state: &str) -> Value {
    let crash = json!({
        "at": "2026-01-06T11:50:00Z", "kind": "worker_died", "message": "it was killed",
        "phase": "computing", "exit_code": null, "signal": 9, "oom_killed": true,
        "environment": "host", "versions": {}, "request": "1 structure, 4 atoms",
        "stderr_tail": "Killed",
    });
    json!({
        "id": id, "engine": "emt", "model": "emt", "model_key": "k", "dtype": "float64",
        "device": "cpu", "options": {}, "environment": "host", "state": state,
        "phase": if state == "busy" { "computing" } else { "ready" }, "pid": 4711,
        "clients": 1, "waiting": 2, "requests": 10, "structures": 40, "evaluations": 30,
        "rate_per_s": 12.5, "rss_mib": 69.3, "threads": 2, "load_s": 1.2,
        "started_at": "2026-01-06T11:40:00Z", "last_used_at": "2026-01-06T11:59:00Z",
        "busy_s": if state == "busy" { json!(3.0) } else { Value::Null }, "serves": null,
        "capabilities": null,
        "last_error": if state == "crashed" { crash } else { Value::Null },
    })
}

fn workers(rows: &[Value]) -> Value {
    json!({"status": "ok", "data": rows, "meta": {"total": rows.len(), "alive": rows.len()}})
}

fn status() -> Value {
    json!({"status": "ok", "data": {
        "default_engine": "sevenn", "workers": {"idle": 1}, "clients": 1, "rss_mib": 138.0,
        "requests": 10, "structures": 40, "crashes": 1, "broken": [], "installs": [],
        "limits": {"memory_mib": 16_000, "threads": 2, "idle_s": 900.0},
    }})
}

fn environments() -> Value {
    json!({"status": "ok", "meta": {"total": 1, "size_bytes": 5, "installs": []}, "data": [{
        "id": "0123456789abcdef", "engines": ["tblite"], "state": "broken",
        "problem": "numpy was changed", "size_bytes": 60_000_000, "apparent_bytes": 200_000_000,
        "python": "3.11.7", "external": false, "built_at": "2026-01-01T10:00:00Z",
        "last_used_at": "2026-01-05T10:00:00Z", "workers": 0,
    }]})
}

/// What the daemon answers when nothing is wrong.
pub fn reading(method: &str) -> Value {
    match method {
        "forces.engines" => engines(),
        "forces.workers" => workers(&[
            worker("w1", "idle"),
            worker("w2", "busy"),
            worker("w10", "crashed"),
        ]),
        "forces.status" => status(),
        _ => environments(),
    }
}

fn answer_all(ui: &mut Ui) {
    for method in METHODS {
        ui.answer(method, Ok(reading(method)));
    }
}

/// The screen with its rows.
pub fn open(ui: &mut Ui) {
    ui.connect(&some_jobs());
    ui.keys(&["6"]);
    answer_all(ui);
}

fn opened(size: (u16, u16)) -> Ui {
    let mut ui = Ui::new(size);
    open(&mut ui);
    ui
}

pub fn checked(verdict: &str) -> Value {
    let check = |name: &str, value: Option<f64>, verdict: &str| {
        json!({"name": name, "structure": "Cu fcc", "verdict": verdict, "value": value,
               "tolerance": value.map(|_| 1e-5), "unit": "eV/Å", "detail": format!("about {name}")})
    };
    json!({"status": "ok", "data": {
        "ok": verdict == "passed", "usable": ["energy", "forces"], "elapsed_s": 2.5,
        "withheld": {"partial_stress": "see `forces.workers`"},
        "at": "2026-01-06T12:00:00Z",
        "identity": {"engine": "emt", "version": "ase 3.29.0", "model": "emt", "model_key": "k",
                     "model_sha256": null, "dtype": "float64", "device": "cpu",
                     "environment": "host", "options": {}},
        "checks": [check("environment", None, "passed"), check("forces", Some(3e-7), verdict),
                   check("stress", None, "skipped")],
    }})
}

/// Checked, with a failure.
fn check(ui: &mut Ui, verdict: &str) {
    ui.keys(&["D"]);
    let params = ui.answer("forces.doctor", Ok(checked(verdict)));
    assert_eq!(params["engine"], "emt");
}

#[test]
fn empty() {
    each_named("engines_empty", |ui| {
        ui.connect(&[]);
        ui.keys(&["6"]);
        for method in METHODS {
            ui.answer(method, Ok(json!({"status": "ok", "data": [], "meta": {}})));
        }
    });
}

#[test]
fn loading() {
    each_named("engines_loading", |ui| ui.keys(&["6"]));
}

#[test]
fn data() {
    each_named("engines_data", |ui| {
        open(ui);
        ui.keys(&["j"]);
    });
}

#[test]
fn detail() {
    each_named("engines_detail", |ui| {
        open(ui);
        check(ui, "failed");
        ui.clock(9.0);
        ui.keys(&["enter"]);
    });
}

#[test]
fn rows_of_workers() {
    each_named("engines_workers", |ui| {
        open(ui);
        ui.keys(&["tab", "j"]);
    });
}

#[test]
fn rows_of_environments() {
    each_named("engines_environments", |ui| {
        open(ui);
        ui.keys(&["tab", "tab"]);
    });
}

#[test]
fn error() {
    each_named("engines_error", |ui| {
        ui.connect(&[]);
        ui.keys(&["6"]);
        for method in METHODS {
            ui.answer(method, Err(refused("database", "see `forces.engines`")));
        }
    });
}

#[test]
fn stale() {
    each_named("engines_stale", |ui| {
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
fn questions() {
    each_named("engines_question", |ui| {
        open(ui);
        ui.keys(&["G", "i"]);
    });
}

#[test]
fn a_small_window_shows_what_matters() {
    let size = (60, 15);
    let mut ui = opened(size);
    let text = ui.picture(size);
    for words in [
        "6 Engines",
        "loaded 2",
        "downloading 43 %",
        "Enter open",
        "? help",
    ] {
        assert!(text.contains(words), "{words} in\n{text}");
    }
    check(&mut ui, "failed");
    ui.keys(&["enter"]);
    let text = ui.picture(size);
    assert!(
        text.contains("1 of 3 passed, 1 failed, 1 skipped"),
        "{text}"
    );
    ui.keys(&["G"]);
    assert!(
        ui.picture(size).contains("elements"),
        "{}",
        ui.picture(size)
    );
    ui.keys(&["esc", "G", "i"]);
    let text = ui.picture(size);
    for words in [
        "Install sevenn?",
        "2.7 GiB",
        "MIT; Yes accepts it",
        "n  No",
        "Accept and install",
    ] {
        assert!(text.contains(words), "{words} in\n{text}");
    }
}

#[test]
fn events_are_asked_for_only_while_it_is_seen() {
    let watched = |ui: &Ui| {
        let effects = ui.effects.iter().rev();
        effects.clone().find_map(|effect| match effect {
            Effect::WatchEngines(watched) => Some(*watched),
            _ => None,
        })
    };
    let mut ui = Ui::of(&[], SIZE);
    assert_eq!(watched(&ui), None);
    ui.keys(&["6"]);
    assert_eq!(watched(&ui), Some(true));
    ui.keys(&["1"]);
    assert_eq!(watched(&ui), Some(false));
    let before = ui.effects.len();
    ui.send(Msg::EngineNews(vec![told_worker("w1", "idle")]));
    assert_eq!(ui.effects.len(), before);
    ui.keys(&["6"]);
    ui.effects.clear();
    ui.send(Msg::Link(Link::Reconnecting));
    ui.send(ready("two"));
    assert_eq!(watched(&ui), Some(true), "a new connection is told as well");
}

pub fn told_worker(id: &str, state: &str) -> EngineNews {
    EngineNews::Worker(Box::new(serde_json::from_value(worker(id, state)).unwrap()))
}

fn told_task(engine: &str, state: &str, fraction: Option<f64>) -> Msg {
    let task = serde_json::from_value(task(engine, state, fraction)).unwrap();
    Msg::EngineNews(vec![EngineNews::Install(Box::new(task))])
}

/// Whether a line has these words, whatever stands between them.
fn has_row(text: &str, words: &str) -> bool {
    let mut lines = text.lines();
    lines.any(|line| {
        let line: Vec<&str> = line.split_whitespace().collect();
        format!("{} ", line.join(" ")).contains(words)
    })
}

#[test]
fn what_is_told_wins_over_what_was_read_before() {
    let mut ui = Ui::of(&[], WIDE);
    ui.keys(&["6", "tab"]);
    ui.send(Msg::EngineNews(vec![
        told_worker("w1", "busy"),
        told_worker("w3", "idle"),
    ]));
    let stopped = told_worker("w2", "stopped");
    ui.send(Msg::EngineNews(vec![stopped]));
    let read = [worker("w1", "idle"), worker("w2", "idle")];
    ui.answer("forces.workers", Ok(workers(&read)));
    let text = ui.picture(WIDE);
    assert!(has_row(&text, "busy w1 "), "{text}");
    assert!(has_row(&text, "idle w3 "), "{text}");
    assert!(!text.contains(" w2 "), "{text}");
    // After a gap what is read is the newest.
    ui.send(Msg::EngineNews(vec![told_worker("w3", "busy")]));
    ui.send(Msg::Resync);
    ui.answer("forces.workers", Ok(workers(&read)));
    let text = ui.picture(WIDE);
    assert!(has_row(&text, "idle w2 "), "{text}");
    assert!(!text.contains(" w3 "), "{text}");
}

#[test]
fn the_cursor_stays_on_its_row_and_leaves_a_row_that_goes() {
    let mut ui = opened(WIDE);
    ui.keys(&["tab", "j", "enter"]);
    assert!(ui.picture(WIDE).contains("workers 2)  w2"));
    ui.send(Msg::EngineNews(vec![told_worker("w1", "stopped")]));
    assert!(ui.picture(WIDE).contains("workers 1)  w2"));
    ui.send(Msg::EngineNews(vec![told_worker("w2", "stopped")]));
    let text = ui.picture(WIDE);
    assert!(
        !text.contains("workers 0)  w"),
        "nothing is opened any more:\n{text}"
    );
}

#[test]
fn an_installation_asks_and_is_followed() {
    let mut ui = opened(SIZE);
    ui.keys(&["G", "i", "enter"]);
    assert!(
        ui.asked("forces.install").is_none(),
        "Enter on the default changes nothing"
    );
    ui.keys(&["i", "y"]);
    assert!(ui.picture(SIZE).contains("asked for"));
    let mut begun = task("sevenn", "waiting", None);
    begun["phase"] = "waiting".into();
    let reply = json!({"status": "ok", "data": {"task": begun}});
    let params = ui.answer("forces.install", Ok(reply));
    let wanted = json!({"engine": "sevenn", "models": ["omni"], "accept_license": true});
    assert_eq!(params, wanted);
    assert!(ui.asked("forces.install").is_none(), "it is asked for once");
    ui.send(told_task("sevenn", "running", Some(0.07)));
    let text = ui.picture(SIZE);
    assert!(text.contains("downloading 7 %"), "{text}");
    ui.keys(&["c", "enter"]);
    assert!(ui.asked("forces.stop").is_none());
    ui.keys(&["c", "y"]);
    let params = ui.answer("forces.stop", Ok(json!({"status": "ok", "data": {}})));
    assert_eq!(params, json!({"task": "t1"}));
    ui.send(told_task("sevenn", "failed", None));
    let text = ui.picture(SIZE);
    assert!(
        text.contains("sevenn is not installed: no space is left"),
        "{text}"
    );
    assert!(
        !text.contains("forces.gc"),
        "names of the wire are replaced:\n{text}"
    );
}

#[test]
fn of_several_models_some_are_chosen() {
    let mut ui = Ui::of(&[], WIDE);
    ui.keys(&["6"]);
    let models = [
        model("omni", false, "not_needed"),
        model("big", false, "needed"),
    ];
    let one = engine("sevenn", false, &models, &json!({}));
    let rows = json!({"status": "ok", "data": [one], "meta": {}});
    ui.answer("forces.engines", Ok(rows));
    ui.keys(&["i"]);
    let text = ui.picture(WIDE);
    assert!(text.contains("[x] omni"), "{text}");
    assert!(text.contains("[ ] big, 85.8 MiB, licence MIT"), "{text}");
    ui.keys(&["enter"]);
    assert!(
        !ui.picture(WIDE).contains("Accept"),
        "the licence is that of another model"
    );
    ui.keys(&["n", "i", "j", "space", "enter", "y"]);
    let (_, params) = ui.asked("forces.install").unwrap();
    assert_eq!(params["models"], json!(["omni", "big"]));
    assert_eq!(params["accept_license"], true);
}

#[test]
fn what_cannot_be_installed_says_why() {
    let mut ui = opened(SIZE);
    for (keys, words) in [
        (&["i"][..], "nothing of emt is missing"),
        (&["j", "i"], "mace is already being installed"),
        (&["j", "i"], "its declaration is wrong"),
        (&["D"], "mine is not installed, so it cannot be checked"),
        (&["c"], "mine is not being installed"),
    ] {
        ui.keys(keys);
        let text = ui.picture(SIZE);
        assert!(text.contains(words), "{words} in\n{text}");
        ui.keys(&["esc"]);
    }
    assert!(ui.asked("forces.install").is_none());
}

#[test]
fn a_refused_installation_is_taken_back_with_the_reason() {
    let mut ui = opened(SIZE);
    ui.keys(&["G", "i", "y"]);
    ui.answer(
        "forces.install",
        Err(refused("shutting_down", "the daemon is stopping")),
    );
    let text = ui.picture(SIZE);
    assert!(
        text.contains("not installed: the daemon is stopping"),
        "{text}"
    );
    assert!(!text.contains("asked for"), "{text}");
}

#[test]
fn a_check_shows_its_time_and_then_each_part() {
    let mut ui = opened(WIDE);
    ui.keys(&["D", "D"]);
    let text = ui.picture(WIDE);
    assert!(text.contains("emt is already being checked"), "{text}");
    assert!(ui.model.wake_at().is_some(), "its time goes on");
    ui.clock(7.0);
    let text = ui.picture(WIDE);
    assert!(text.contains("checking for 7s"), "{text}");
    ui.answer("forces.doctor", Ok(checked("failed")));
    assert!(ui.asked("forces.doctor").is_none(), "it was asked once");
    let text = ui.picture(WIDE);
    for words in [
        "1 of 3 passed, 1 failed, 1 skipped",
        "forces on Cu fcc",
        "3.00e-7 eV/Å, allowed 1.00e-5 eV/Å",
        "about forces",
        "skipped",
        "usable      energy forces",
        "partial stress: see `Workers`",
    ] {
        let told = words.split_whitespace().all(|word| text.contains(word));
        assert!(told, "{words} in\n{text}");
    }
    // Another one keeps the last until it is done.
    ui.keys(&["D"]);
    assert!(ui.picture(WIDE).contains("before"));
    ui.answer(
        "forces.doctor",
        Err(refused("worker_died", "see `forces.workers`")),
    );
    let text = ui.picture(WIDE);
    assert!(text.contains("emt was not checked"), "{text}");
    assert!(!text.contains("forces.workers"), "{text}");
}

#[test]
fn where_there_is_a_choice_the_check_asks() {
    let mut ui = Ui::of(&[], WIDE);
    ui.keys(&["6"]);
    let more = json!({"devices": ["cpu", "cuda:0"]});
    let one = engine("emt", true, &[model("emt", true, "not_needed")], &more);
    ui.answer(
        "forces.engines",
        Ok(json!({"status": "ok", "data": [one], "meta": {}})),
    );
    ui.keys(&["D", "j", "enter"]);
    let (_, params) = ui.asked("forces.doctor").unwrap();
    assert_eq!(
        params,
        json!({"engine": "emt", "model": "emt", "device": "cuda:0"})
    );
}

#[test]
fn a_worker_is_stopped_after_a_question() {
    for (keys, mode) in [
        (&["j", "enter"][..], "drain"),
        (&["j", "j", "enter"], "now"),
    ] {
        let mut ui = opened(SIZE);
        ui.keys(&["tab", "c", "enter"]);
        assert!(ui.asked("forces.stop").is_none(), "the default is No");
        ui.keys(&["c"]);
        let text = ui.picture(SIZE);
        assert!(text.contains("Stop worker w1 (emt, 2 wait)"), "{text}");
        ui.keys(keys);
        assert!(ui.picture(SIZE).contains("stopping"));
        let params = ui.answer("forces.stop", Ok(json!({"status": "ok", "data": {}})));
        assert_eq!(params, json!({"worker": "w1", "mode": mode}));
        assert!(ui.asked("forces.stop").is_none(), "it is asked for once");
        ui.send(Msg::EngineNews(vec![told_worker("w1", "stopped")]));
        let text = ui.picture(SIZE);
        assert!(!text.contains(" w1 "), "{text}");
        assert!(!text.contains("stopping"), "{text}");
        ui.keys(&["G", "c"]);
        assert!(ui.picture(SIZE).contains("worker w10 no longer runs"));
    }
}

#[test]
fn a_refused_stop_is_taken_back_with_the_reason() {
    let mut ui = opened(SIZE);
    ui.keys(&["tab", "c", "j", "enter"]);
    ui.answer(
        "forces.stop",
        Err(refused("not_found", "there is no worker w1")),
    );
    let text = ui.picture(SIZE);
    assert!(
        text.contains("not stopped: there is no worker w1"),
        "{text}"
    );
    assert!(!text.contains("stopping"), "{text}");
}

#[test]
fn what_nothing_needs_is_shown_before_it_is_removed() {
    let mut ui = opened(SIZE);
    ui.keys(&["tab", "tab", "u"]);
    let nothing = json!({"status": "ok", "data": [], "meta": {"total": 0, "size_bytes": 0}});
    let params = ui.answer("forces.gc", Ok(nothing));
    assert_eq!(params, json!({}));
    assert!(ui.picture(SIZE).contains("everything is needed"));
    let thing = |removed: bool| {
        json!({"kind": "environment", "name": "0123", "size_bytes": 1_048_576,
               "reason": "no declaration asks for it", "removed": removed})
    };
    let found = |removed: bool| {
        json!({"status": "ok", "data": [thing(removed), thing(removed)],
               "meta": {"total": 2, "size_bytes": 2_097_152, "applied": removed}})
    };
    ui.keys(&["u"]);
    ui.answer("forces.gc", Ok(found(false)));
    let text = ui.picture(SIZE);
    for words in [
        "Remove 2 things, 2.0 MiB?",
        "environment 0123  1.0 MiB",
        "n  No",
    ] {
        assert!(text.contains(words), "{words} in\n{text}");
    }
    ui.keys(&["enter"]);
    assert!(ui.asked("forces.gc").is_none());
    ui.keys(&["u"]);
    ui.answer("forces.gc", Ok(found(false)));
    ui.keys(&["y"]);
    let params = ui.answer("forces.gc", Ok(found(true)));
    assert_eq!(params, json!({"apply": true}));
    assert!(ui.picture(SIZE).contains("2 removed, 2.0 MiB are free"));
}

#[test]
fn a_lost_connection_keeps_the_rows() {
    let mut ui = opened(SIZE);
    ui.send(Msg::Resync);
    for method in METHODS {
        let method_name = method.to_owned();
        ui.answer(
            method,
            Err(IpcError::Disconnected {
                method: method_name,
            }),
        );
    }
    let text = ui.picture(SIZE);
    assert!(text.contains("loaded 2"), "{text}");
    assert!(!text.contains("not read"), "{text}");
    ui.send(Msg::Resync);
    ui.answer("jobs.list", Ok(page(&[], 1, None)));
    ui.answer("forces.engines", Err(not_built()));
    let text = ui.picture(SIZE);
    assert!(text.contains("not read: not built yet"), "{text}");
    assert!(text.contains("loaded 2"), "what was read stays: {text}");
}

#[test]
fn it_is_copied_and_clicked() {
    let mut ui = opened(SIZE);
    ui.keys(&["y", "j", "enter"]);
    let copied = |ui: &Ui, wanted: &str| {
        let mut effects = ui.effects.iter();
        effects.any(|effect| matches!(effect, Effect::Copy(text) if text == wanted))
    };
    assert!(copied(&ui, "host"));
    // The third row of the table, below header, frame, tabs and head.
    let click = |x, y| Msg::Mouse(crystalmath::msg::Mouse::Click(x, y));
    ui.send(click(4, 6));
    ui.keys(&["enter"]);
    assert!(ui.picture(SIZE).contains("workers 2)  mine"));
    ui.send(click(12, 2));
    assert!(ui.picture(SIZE).contains("[Workers]"));
    ui.send(Msg::Note(Tone::Info, "still here".into()));
}

#[test]
fn long_licences_leave_room_for_the_answer() {
    let config = Config::default();
    let mut ui = Ui::with(config, (60, 15));
    ui.connect(&[]);
    ui.keys(&["6"]);
    let mut hard = model("omni", false, "needed");
    hard["license_text"] = "A sentence of the licence.\n".repeat(40).into();
    let one = engine("sevenn", false, &[hard], &json!({}));
    ui.answer(
        "forces.engines",
        Ok(json!({"status": "ok", "data": [one], "meta": {}})),
    );
    ui.keys(&["i"]);
    let text = ui.picture((60, 15));
    for words in [
        "A sentence of the licence.",
        "The whole licence stands in",
        "n  No",
    ] {
        assert!(text.contains(words), "{words} in\n{text}");
    }
}
