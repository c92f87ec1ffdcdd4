//! The screen of one job: what it asks for and when, and what each tab looks like.

use crystalmath::msg::{Effect, Link, Msg, Program};
use crystalmath::rpc::types::{JobState, JobSummary};
use serde_json::{Value, json};

use super::snapshots::each_named;
use super::{Ui, job, refused};

const SMALL: (u16, u16) = (80, 24);
const TABS: [&str; 7] = [
    "summary", "log", "plots", "tables", "files", "input", "events",
];

/// A relaxation that has ended.
pub fn relaxed() -> JobSummary {
    let mut job = job(1, JobState::Completed);
    job.name = "copper relax".into();
    job.science.status = "converged".into();
    job.science.energy_ev = Some(-0.028_145_967);
    job.science.energy_per_atom_ev = Some(-0.007_036_491);
    job.science.converged = Some(true);
    job.formula = Some("Cu".into());
    job.n_atoms = Some(4);
    job.elapsed_s = Some(1.688);
    job.started_at = Some("2026-01-06T11:00:01Z".into());
    job.finished_at = Some("2026-01-06T11:00:03Z".into());
    job
}

/// Everything about it.
pub fn detail(row: &JobSummary) -> Value {
    let mut data = serde_json::to_value(row).unwrap();
    let more = json!({
        "inputs": {"name": row.name, "code": "forces", "task": "relax", "engine": "emt",
                   "model": null, "structure": {"path": "/work/copper.cif", "text": null},
                   "inputs": {"max_steps": 9}, "files": []},
        "resources": {"nodes": 1, "ntasks": 2, "cpus_per_task": 1, "walltime_s": 3600.0},
        "results": {"format": 1, "status": "ok", "energy_ev": -0.028_145_967,
                    "fmax_ev_per_a": 1.43e-14, "smax_gpa": 0.000_656, "pressure_gpa": -0.000_656,
                    "volume_angstrom3": 46.261_761_65, "n_steps": 3, "converged": true,
                    "lattice": {"a_angstrom": 3.589_83, "b_angstrom": 3.589_83,
                                "c_angstrom": 3.589_83, "alpha_deg": 90.0, "beta_deg": 90.0,
                                "gamma_deg": 90.0},
                    "criteria": {"fmax_ev_per_a": 0.005, "cell": "full"}},
        "warnings": ["the cell is not a standard one"],
        "message": "it converged", "hint": "look at the forces",
        "events": [
            {"seq": 1, "at": "2026-01-06T11:00:00Z", "from_state": null, "to_state": "CREATED",
             "why": "submitted", "evidence": {}},
            {"seq": 2, "at": "2026-01-06T11:00:01Z", "from_state": "CREATED",
             "to_state": "RUNNING", "why": "the program runs", "evidence": {"pid": 7}},
            {"seq": 3, "at": "2026-01-06T11:00:03Z", "from_state": "RUNNING",
             "to_state": row.state.as_str(), "why": "judged good", "evidence": {"rc": 0}},
        ],
        "files": files()["data"], "directory": "/data/jobs/1",
        "provenance": {"code": "forces", "program": {"name": "emt", "version": "ase 3.29.0"},
                       "input_hashes": {"input.json": "b74b593b3774ee62c415a94d2de4cb40"},
                       "structure": {"path": "/work/copper.cif"},
                       "environment": {"host": "node1", "python": "3.11.7"}},
        "after": [4], "rerun_of": 5, "attempt": 1,
    });
    let members = more.as_object().unwrap().clone();
    data.as_object_mut().unwrap().extend(members);
    json!({"status": "ok", "data": data})
}

pub fn files() -> Value {
    let file = |path: &str, size: i64, kind: &str| json!({"path": path, "size": size, "modified_at": "2026-01-06T11:00:03Z", "kind": kind});
    json!({"status": "ok", "data": [
        file(".cm/end.json", 4096, "internal"), file("input.json", 893, "input"),
        file("relax.log", 658, "log"), file("trajectory.extxyz", 3978, "output")],
        "meta": {"directory": "/data/jobs/1", "total": 4, "truncated": false}})
}

pub fn text(content: &str, path: &str) -> Value {
    let size = content.len();
    json!({"status": "ok", "data": {"text": content, "start": 0, "offset": size, "size": size,
                                    "eof": true, "path": path}})
}

pub fn series() -> Value {
    let curve = |label: &str, unit: &str, y: [Option<f64>; 4]| {
        json!({"x": [0.0, 1.0, 2.0, 3.0], "y": y, "x_label": "step", "y_label": label,
               "unit": unit})
    };
    json!({"status": "ok", "data": {"series": {
        "energy": curve("energy", "eV", [Some(-0.022), Some(-0.024), None, Some(-0.028)]),
        "fmax": curve("largest force", "eV/Å", [Some(1.0), Some(0.1), Some(0.01), Some(1e-4)]),
    }}})
}

/// On one of the tabs of the first job, nothing answered.
fn open(ui: &mut Ui, tab: &str) {
    ui.connect(&[relaxed()]);
    ui.keys(&["enter"]);
    let at = TABS.iter().position(|name| *name == tab).unwrap();
    for _ in 0..at {
        ui.keys(&["tab"]);
    }
}

/// Answer everything that is asked.
fn answer(ui: &mut Ui) {
    let log = "relax of Cu\n step  energy\n    0  -0.022\n\u{1b}[32mconverged\u{1b}[0m\n";
    while let Some(method) = ui.effects.iter().find_map(|effect| match effect {
        Effect::Call { method, .. } => Some(*method),
        _ => None,
    }) {
        let result = match method {
            "jobs.get" => detail(&relaxed()),
            "jobs.log" => text(log, "relax.log"),
            "jobs.series" => series(),
            "jobs.files" => files(),
            "jobs.read_file" => text("{\n \"task\": \"relax\"\n}\n", "input.json"),
            other => panic!("{other} was asked"),
        };
        ui.answer(method, Ok(result));
    }
}

#[test]
fn tabs_with_data() {
    for tab in TABS {
        each_named(&format!("job_{tab}_data"), |ui| {
            open(ui, tab);
            answer(ui);
            if tab == "events" {
                ui.keys(&["j", "enter"]);
            }
        });
    }
}

#[test]
fn tabs_while_they_are_read() {
    for tab in TABS {
        each_named(&format!("job_{tab}_loading"), |ui| open(ui, tab));
    }
}

#[test]
fn tabs_that_cannot_be_read() {
    for tab in TABS {
        each_named(&format!("job_{tab}_error"), |ui| {
            open(ui, tab);
            while let Some(method) = ui.effects.iter().find_map(|effect| match effect {
                Effect::Call { method, .. } => Some(*method),
                _ => None,
            }) {
                ui.answer(method, Err(refused("database", "the database is locked")));
            }
        });
    }
}

#[test]
fn tabs_with_nothing() {
    for tab in ["log", "plots", "tables", "files"] {
        each_named(&format!("job_{tab}_empty"), |ui| {
            open(ui, tab);
            let mut whole = detail(&relaxed());
            whole["data"]["files"] = json!([]);
            if tab == "tables" {
                whole["data"]["results"] = json!({});
            }
            ui.answer("jobs.get", Ok(whole));
            match tab {
                "tables" => Value::Null,
                "log" => ui.answer("jobs.log", Ok(text("", ""))),
                "plots" => ui.answer("jobs.series", Ok(json!({"data": {"series": {}}}))),
                _ => ui.answer("jobs.files", Ok(json!({"data": [], "meta": {}}))),
            };
        });
    }
}

#[test]
fn tabs_of_a_daemon_that_is_gone() {
    for tab in TABS {
        each_named(&format!("job_{tab}_stale"), |ui| {
            open(ui, tab);
            answer(ui);
            ui.send(Msg::Link(Link::Down {
                cause: "no daemon is running (/run/crystalmath.sock)".into(),
                hint: None,
                log: None,
            }));
            ui.clock(250.0);
        });
    }
}

#[test]
fn only_the_tab_that_is_seen_is_read() {
    let mut ui = Ui::new(SMALL);
    open(&mut ui, "summary");
    assert!(ui.asked("jobs.get").is_some());
    for method in ["jobs.log", "jobs.series", "jobs.files", "jobs.read_file"] {
        assert!(ui.asked(method).is_none(), "{method}");
    }
    ui.keys(&["tab", "tab"]);
    assert_eq!(ui.asked("jobs.series").unwrap().1, json!({"id": 1}));
}

#[test]
fn a_held_arrow_key_reads_one_job_at_a_time() {
    let mut ui = Ui::new((120, 40));
    let jobs: Vec<JobSummary> = (1..=50).map(|id| job(id, JobState::Completed)).collect();
    ui.connect(&jobs);
    ui.effects.clear();
    for _ in 0..30 {
        ui.keys(&["j"]);
    }
    let asked = ui
        .effects
        .iter()
        .filter(|effect| matches!(effect, Effect::Call { method, .. } if *method == "jobs.get"));
    assert!(asked.count() <= 1);
}

#[test]
fn a_change_of_the_job_is_read_again_and_another_is_not() {
    let mut ui = Ui::new(SMALL);
    open(&mut ui, "summary");
    answer(&mut ui);
    ui.send(Msg::JobsChanged(vec![job(9, JobState::Running)]));
    assert!(ui.asked("jobs.get").is_none());
    let mut newer = relaxed();
    newer.rev = 500;
    ui.send(Msg::JobsChanged(vec![newer]));
    assert_eq!(ui.asked("jobs.get").unwrap().1, json!({"id": 1}));
}

#[test]
fn tabs_go_round_by_key_and_end_in_the_list() {
    let mut ui = Ui::new(SMALL);
    open(&mut ui, "summary");
    answer(&mut ui);
    for title in [
        "[Log]", "[Plots]", "[Tables]", "[Files]", "[Input]", "[Events]",
    ] {
        ui.keys(&["tab"]);
        assert!(ui.picture(SMALL).contains(title), "{title}");
    }
    ui.keys(&["tab"]);
    assert!(ui.picture(SMALL).contains("Jobs 1"));
    ui.keys(&["enter", "shift-tab"]);
    assert!(ui.picture(SMALL).contains("[Input]"));
}

#[test]
fn plots_change_curve_scale_and_cursor() {
    let mut ui = Ui::new(SMALL);
    open(&mut ui, "plots");
    answer(&mut ui);
    assert!(ui.picture(SMALL).contains("[energy]"));
    ui.keys(&["]"]);
    let text = ui.picture(SMALL);
    assert!(
        text.contains("[fmax]") && text.contains("log scale"),
        "{text}"
    );
    ui.keys(&["x", "left", "left"]);
    let text = ui.picture(SMALL);
    assert!(!text.contains("eV/Å, log scale"), "{text}");
    assert!(text.contains("step 1: 0.1"), "{text}");
    ui.keys(&["y"]);
    assert!(ui.effects.contains(&Effect::Copy("0.1".into())));
}

#[test]
fn files_are_previewed_copied_and_opened() {
    let mut ui = Ui::new(SMALL);
    open(&mut ui, "files");
    answer(&mut ui);
    ui.keys(&["j", "y", "o", "enter"]);
    assert!(
        ui.effects
            .contains(&Effect::Copy("/data/jobs/1/relax.log".into()))
    );
    let run = Effect::Run {
        program: Program::Pager("/data/jobs/1/relax.log".into()),
        directory: "/data/jobs/1".into(),
    };
    assert!(ui.effects.contains(&run));
    let params = ui.answer("jobs.read_file", Ok(text("\0\u{1}ELF", "relax.log")));
    assert_eq!(
        (&params["path"], &params["offset"]),
        (&json!("relax.log"), &json!(0))
    );
    assert!(ui.picture(SMALL).contains("binary, 658 B"));
    ui.keys(&["esc"]);
    assert!(ui.picture(SMALL).contains("trajectory.extxyz"));
}

#[test]
fn a_job_that_stopped_goes_on_after_a_question() {
    let mut ui = Ui::new(SMALL);
    let mut failed = relaxed();
    failed.state = JobState::Failed;
    ui.connect(&[failed]);
    ui.keys(&["enter", "R"]);
    let plan = json!({"data": {"fix": "more steps", "changes": [
        {"file": "in", "before": "a = 1", "after": "a = 2"}]}});
    let params = ui.answer("jobs.continue", Ok(plan));
    assert_eq!(params, json!({"id": 1, "dry_run": true}));
    let text = ui.picture(SMALL);
    for words in [
        "Continue job 1",
        "more steps",
        "- a = 1",
        "+ a = 2",
        "n  No",
    ] {
        assert!(text.contains(words), "{words} in\n{text}");
    }
    ui.keys(&["y"]);
    let mut next = job(2, JobState::Created);
    next.name = "goes on".into();
    let params = ui.answer("jobs.continue", Ok(json!({"data": {"job": next}})));
    assert!(params["client_token"].is_string());
    assert!(ui.picture(SMALL).contains("2 goes on"));
    ui.send(Msg::Clock(super::NOW + 60.0));
    ui.keys(&["R"]);
    assert!(
        ui.picture(SMALL)
            .contains("only a job that stopped goes on")
    );
}

#[test]
fn cancel_and_delete_ask_first() {
    let mut ui = Ui::new(SMALL);
    ui.connect(&[job(1, JobState::Running)]);
    ui.keys(&["enter", "c"]);
    assert!(ui.picture(SMALL).contains("Cancel job 1?"));
    ui.keys(&["enter"]);
    assert!(ui.asked("jobs.cancel").is_none());
    ui.keys(&["d"]);
    assert!(ui.picture(SMALL).contains("not ended yet"));
}
