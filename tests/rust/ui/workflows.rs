//! Workflows: the list, the steps of one, its results with plots and tables, and what is done with them.

use crystalmath::msg::{Effect, Link, Mouse, Msg};
use crystalmath::rpc::types::{JobState, WorkflowSummary};
use serde_json::{Value, json};

use super::snapshots::each_named;
use super::{Ui, job, refused, some_jobs};

const SIZE: (u16, u16) = (80, 24);
const WIDE: (u16, u16) = (120, 40);

/// A row of the list.
pub fn row(id: i64, state: &str, changes: &Value) -> Value {
    let mut row = json!({
        "id": id, "uuid": format!("{id:032x}"), "kind": "eos", "name": format!("workflow {id}"),
        "state": state, "message": null, "hint": null, "cancelling": false, "code": "forces",
        "engine": "emt", "model": null, "formula": "Cu", "n_atoms": 4,
        "steps": {"total": 11, "completed": 6, "running": 1, "failed": 0},
        "created_at": "2026-01-06T11:00:00Z", "finished_at": null, "rev": id,
    });
    for (key, value) in changes.as_object().unwrap() {
        row[key] = value.clone();
    }
    row
}

fn waiting() -> Value {
    json!({"message": "1 of 11 steps did not complete", "name": "phonons of aluminium",
           "kind": "phonon", "formula": "Al", "hint": "`workflows.retry` runs it again",
           "steps": {"total": 43, "completed": 40, "running": 0, "failed": 1}})
}

pub fn list() -> Value {
    let rows = [
        row(4, "RUNNING", &json!({})),
        row(3, "WAITING", &waiting()),
        row(
            2,
            "COMPLETED",
            &json!({"finished_at": "2026-01-06T11:30:00Z", "engine": null,
            "code": "espresso", "formula": "Si", "steps": {"total": 11, "completed": 11}}),
        ),
        row(1, "CANCELLED", &json!({"kind": "relax"})),
    ];
    json!({"status": "ok", "data": rows, "meta": {"rev": 9, "total": 4, "next": null}})
}

fn step(name: &str, state: &str, after: &[&str], changes: &Value) -> Value {
    let mut step = json!({
        "name": name, "title": format!("the step {name}"), "kind": "job", "state": state,
        "after": after, "required": true, "attempt": 1, "job": null, "jobs": [],
        "input_hash": null, "output_hash": null, "started_at": null, "finished_at": null,
    });
    for (key, value) in changes.as_object().unwrap() {
        step[key] = value.clone();
    }
    step
}

/// An equation of state on its way.
pub fn running() -> Value {
    let mut whole = row(4, "RUNNING", &json!({}));
    let mut graph = vec![step(
        "relax",
        "COMPLETED",
        &[],
        &json!({"job": 1, "jobs": [1],
        "input_hash": "ab".repeat(32), "output_hash": "cd".repeat(32),
        "started_at": "2026-01-06T11:00:01.5Z", "finished_at": "2026-01-06T11:00:03Z"}),
    )];
    graph.push(step(
        "strain",
        "COMPLETED",
        &["relax"],
        &json!({"kind": "computation"}),
    ));
    for number in 1..=9 {
        let name = format!("volume-{number}");
        let state = if number < 5 { "COMPLETED" } else { "RUNNING" };
        let job = json!({"job": if number == 5 { 3 } else { 100 + number }});
        graph.push(step(&name, state, &["strain"], &job));
    }
    let volumes: Vec<String> = (1..=9).map(|number| format!("volume-{number}")).collect();
    let volumes: Vec<&str> = volumes.iter().map(String::as_str).collect();
    graph.push(step(
        "fit",
        "PENDING",
        &volumes,
        &json!({"kind": "computation"}),
    ));
    whole["graph"] = graph.into();
    whole["options"] = json!({"points": 9, "fmax_ev_per_a": 0.001, "cell": null});
    whole["source"] = json!({"path": "/work/copper.cif"});
    whole["warnings"] = json!(["copper in EMT is a toy"]);
    whole["results"] = json!({});
    json!({"status": "ok", "data": whole})
}

/// Phonons of which one displacement failed.
pub fn failed() -> Value {
    let mut whole = row(3, "WAITING", &waiting());
    let mut graph = vec![step("relax", "COMPLETED", &[], &json!({"job": 1}))];
    for number in 1..=40 {
        let name = format!("displacement-{number}");
        let failed = json!({"job": 2, "jobs": [2], "reason": "out_of_memory",
            "message": "the job was killed for its memory", "can_be_retried": true,
            "hint": "`workflows.retry` runs it again", "attempt": 2});
        let (state, more) = match number {
            13 => ("FAILED", failed),
            _ => ("COMPLETED", json!({})),
        };
        graph.push(step(&name, state, &["relax"], &more));
    }
    whole["graph"] = graph.into();
    whole["results"] = json!({});
    json!({"status": "ok", "data": whole})
}

/// An equation of state with its results.
pub fn completed() -> Value {
    let mut whole = running();
    let data = &mut whole["data"];
    data["state"] = "COMPLETED".into();
    data["rev"] = 99.into();
    data["finished_at"] = "2026-01-06T11:30:00Z".into();
    data["steps"] = json!({"total": 11, "completed": 11, "running": 0, "failed": 0});
    let volumes: Vec<f64> = (0..9).map(|at| 10.8 + 0.18 * f64::from(at)).collect();
    let energies: Vec<f64> = volumes.iter().map(|v| (v - 11.565_f64).powi(2)).collect();
    data["results"] = json!({
        "format": "crystalmath results 1", "kind": "eos",
        "title": "Equation of state, Birch–Murnaghan, third order",
        "quantities": [
            {"name": "v0", "label": "V₀ per atom", "value": 11.565_446, "unit": "Å³", "error": 5.3e-5},
            {"name": "b0", "label": "B₀", "value": 134.3747, "unit": "GPa", "error": 0.014},
            {"name": "b0_prime", "label": "B₀′", "value": 4.186_802, "unit": "", "error": 9.6e-3},
            {"name": "a", "label": "a of the relaxed conventional cell", "value": 3.589_831,
             "unit": "Å", "error": null},
            {"name": "gap", "label": "band gap", "value": null, "unit": "eV", "error": null}],
        "tables": [{"name": "points", "title": "Points", "columns": [
            {"name": "volume", "unit": "Å³", "values": volumes},
            {"name": "energy", "unit": "eV", "values": energies},
            {"name": "used", "unit": "", "values": ["yes", "yes", null]}]}],
        "plots": [
            {"name": "energy", "title": "Energy over volume", "x_label": "volume / Å³",
             "y_label": "energy / eV", "ticks": [], "breaks": [], "curves": [
                {"label": "calculated", "x": volumes, "y": energies, "style": "points"},
                {"label": "fit", "x": volumes, "y": energies, "style": "line"}]},
            {"name": "bands", "title": "Bands", "x_label": "wave vector", "y_label": "energy / eV",
             "ticks": [[0.0, "Γ"], [1.0, "X"]], "breaks": [], "curves": [
                {"label": "spin 1, line 1, band 1", "x": [0.0, 0.5, 1.0], "y": [0.0, 1.0, -1.0],
                 "style": "line"}]}],
        "flags": [{"code": "outlier", "message": "the point at 11.52 Å³ disturbs the fit"}],
        "provenance": {"crystalmath": "0.1.0", "engine": "emt", "structure": "ef".repeat(32)},
    });
    whole
}

/// The list asked for.
pub fn open(ui: &mut Ui) {
    ui.connect(&some_jobs());
    ui.effects.clear();
    ui.keys(&["3"]);
}

/// The list with the first one's detail.
pub fn listed(ui: &mut Ui, whole: &Value) {
    open(ui);
    ui.answer("workflows.list", Ok(list()));
    let id = whole["data"]["id"].as_i64().unwrap();
    ui.keys(&vec!["j"; usize::try_from(4 - id).unwrap()]);
    ui.keys(&["enter"]);
    while ui.asked("workflows.get").is_some() {
        ui.answer("workflows.get", Ok(whole.clone()));
    }
}

fn told(value: Value) -> Msg {
    let workflow: WorkflowSummary = serde_json::from_value(value).unwrap();
    Msg::WorkflowsChanged(vec![workflow])
}

#[test]
fn pictures_of_the_list() {
    each_named("workflows_loading", open);
    each_named("workflows_data", |ui| {
        open(ui);
        ui.answer("workflows.list", Ok(list()));
    });
    each_named("workflows_empty", |ui| {
        open(ui);
        let none =
            json!({"status": "ok", "data": [], "meta": {"rev": 0, "total": 0, "next": null}});
        ui.answer("workflows.list", Ok(none));
    });
    each_named("workflows_error", |ui| {
        open(ui);
        let error = refused("database", "the database is locked");
        ui.answer("workflows.list", Err(error));
    });
    each_named("workflows_stale", |ui| {
        open(ui);
        ui.answer("workflows.list", Ok(list()));
        ui.send(Msg::Link(Link::Reconnecting));
    });
}

#[test]
fn pictures_of_one() {
    each_named("workflow_loading", |ui| {
        open(ui);
        ui.answer("workflows.list", Ok(list()));
        ui.keys(&["enter"]);
    });
    each_named("workflow_steps_data", |ui| listed(ui, &running()));
    each_named("workflow_steps_failed", |ui| {
        listed(ui, &failed());
        ui.keys(&["j", "j"]);
    });
    each_named("workflow_error", |ui| {
        open(ui);
        ui.answer("workflows.list", Ok(list()));
        ui.keys(&["enter"]);
        let error = refused("database", "the database is locked");
        ui.answer("workflows.get", Err(error));
    });
    each_named("workflow_stale", |ui| {
        listed(ui, &running());
        ui.send(Msg::Link(Link::Reconnecting));
    });
    for (name, tabs) in [("results", 1), ("plots", 2), ("tables", 3)] {
        each_named(&format!("workflow_{name}_data"), |ui| {
            listed(ui, &completed());
            ui.keys(&vec!["tab"; tabs]);
        });
    }
    each_named("workflow_results_none", |ui| {
        listed(ui, &running());
        ui.keys(&["tab"]);
    });
}

#[test]
fn many_steps_of_one_sort_are_folded_and_lead_to_their_jobs() {
    let mut ui = Ui::new(SIZE);
    listed(&mut ui, &running());
    let text = ui.picture(SIZE);
    assert!(text.contains("4/9"), "{text}");
    assert!(text.contains("5 running"), "{text}");
    assert!(!text.contains("volume-5"), "{text}");
    ui.keys(&["j", "j", "enter"]);
    let text = ui.picture(SIZE);
    // What the job list knows of it is newer than what the workflow was read with.
    let line = text
        .lines()
        .find(|line| line.contains("volume-5"))
        .expect("it is seen");
    assert!(
        line.contains("running") && line.contains("step 9"),
        "{text}"
    );
    ui.keys(&["j", "j", "j", "j", "j", "enter"]);
    assert!(ui.picture(SIZE).contains("3 MgO"), "{}", ui.picture(SIZE));
    // Back at the workflow, everything is as it was.
    ui.keys(&["3", "enter"]);
    assert!(ui.picture(SIZE).contains("volume-5"));
}

#[test]
fn what_is_known_of_a_step_moves_no_further_than_it_goes() {
    let mut ui = Ui::new(SIZE);
    listed(&mut ui, &running());
    ui.keys(&["ctrl-d"; 20]);
    let end = ui.picture(SIZE);
    assert!(end.contains("sha256 cdcdcdcdcdcd"), "{end}");
    ui.keys(&["ctrl-u"]);
    assert_ne!(ui.picture(SIZE), end, "the first key back is seen");
}

#[test]
fn a_failed_step_is_named_and_run_again_alone() {
    let mut ui = Ui::new(WIDE);
    listed(&mut ui, &failed());
    let text = ui.picture(WIDE);
    assert!(
        text.contains("39/40") && text.contains("1 failed"),
        "{text}"
    );
    assert!(text.contains("displacement-13"), "{text}");
    assert!(!text.contains("displacement-12"), "{text}");
    // The names of the wire are those of this UI.
    assert!(text.contains("`rerun` runs it again"), "{text}");
    ui.keys(&["r"]);
    assert!(ui.asked("workflows.retry").is_none(), "relax has completed");
    ui.keys(&["j", "j", "r"]);
    let params = ui.answer(
        "workflows.retry",
        Err(refused("illegal_transition", "moved on")),
    );
    assert_eq!(params, json!({"id": 3, "step": "displacement-13"}));
    assert!(ui.picture(WIDE).contains("moved on"));
    ui.keys(&["r"]);
    let now = json!({"status": "ok", "data": {"workflow": row(3, "RUNNING", &json!({"rev": 50}))}});
    ui.answer("workflows.retry", Ok(now));
    let text = ui.picture(WIDE);
    assert!(text.contains("workflow 3 goes on"), "{text}");
    assert!(ui.asked("workflows.get").is_some(), "it is read again");
}

#[test]
fn to_cancel_is_asked_and_what_cannot_be_is_said() {
    let mut ui = Ui::new(SIZE);
    listed(&mut ui, &running());
    ui.keys(&["c", "enter"]);
    assert!(
        ui.asked("workflows.cancel").is_none(),
        "No is what Enter says"
    );
    ui.keys(&["c"]);
    assert!(
        ui.picture(SIZE).contains("Cancel workflow 4?"),
        "{}",
        ui.picture(SIZE)
    );
    ui.keys(&["y"]);
    let ended = row(4, "RUNNING", &json!({"cancelling": true, "rev": 60}));
    let params = ui.answer(
        "workflows.cancel",
        Ok(json!({"status": "ok", "data": {"workflow": ended}})),
    );
    assert_eq!(params, json!({"id": 4}));
    assert!(ui.picture(SIZE).contains("cancelling"));
    // From the list, and for one that has ended.
    ui.keys(&["esc", "j", "c", "y"]);
    assert_eq!(ui.asked("workflows.cancel").unwrap().1, json!({"id": 3}));
    ui.keys(&["R"]);
    assert_eq!(ui.asked("workflows.resume").unwrap().1, json!({"id": 3}));
    ui.keys(&["j", "c"]);
    assert!(ui.picture(SIZE).contains("workflow 2 is completed"));
}

#[test]
fn what_the_daemon_tells_is_seen_and_the_end_is_told_once() {
    let mut ui = Ui::new(WIDE);
    listed(&mut ui, &running());
    ui.keys(&["esc"]);
    ui.send(told(row(5, "RUNNING", &json!({"name": "a new one"}))));
    let text = ui.picture(WIDE);
    assert!(
        text.contains("Workflows 5 (running 2, waiting 1)"),
        "{text}"
    );
    // The cursor stays on its workflow.
    assert!(text.contains("4 workflow 4  running"), "{text}");
    ui.effects.clear();
    ui.send(told(row(4, "RUNNING", &json!({"rev": 98}))));
    ui.answer("workflows.get", Ok(completed()));
    // Old news changes nothing.
    ui.send(told(row(4, "RUNNING", &json!({"rev": 2}))));
    let done = row(4, "COMPLETED", &json!({"rev": 99}));
    ui.send(told(done.clone()));
    let text = ui.picture(WIDE);
    assert!(text.contains("workflow 4 completed: workflow 4"), "{text}");
    let told_user = |ui: &Ui| {
        let of_desktop = |effect: &&Effect| matches!(effect, Effect::Notify { .. });
        ui.effects.iter().filter(of_desktop).count()
    };
    assert_eq!(told_user(&ui), 1);
    ui.send(told(done));
    assert_eq!(told_user(&ui), 1);
}

#[test]
fn jobs_of_a_workflow_end_quietly_and_are_found_by_it() {
    let mut ui = Ui::new(WIDE);
    let mut jobs = some_jobs();
    jobs[2].workflow = Some(4);
    jobs[7].workflow = Some(4);
    ui.connect(&jobs);
    ui.effects.clear();
    let mut ended = job(8, JobState::Completed);
    ended.workflow = Some(4);
    ended.rev = 1000;
    ui.send(Msg::JobsChanged(vec![ended]));
    let notified = ui
        .effects
        .iter()
        .any(|effect| matches!(effect, Effect::Notify { .. }));
    assert!(!notified, "the end of the workflow is told");
    ui.keys(&["3"]);
    ui.answer("workflows.list", Ok(list()));
    ui.keys(&["J"]);
    let text = ui.picture(WIDE);
    assert!(text.contains("shown 2  filter: workflow:4"), "{text}");
    assert!(text.contains("step of workflow 4"), "{text}");
}

#[test]
fn a_filter_keeps_those_that_fit() {
    let mut ui = Ui::new(SIZE);
    open(&mut ui);
    ui.answer("workflows.list", Ok(list()));
    ui.keys(&["/"]);
    ui.type_text("state:wait phonon");
    let text = ui.picture(SIZE);
    assert!(text.contains("shown 1"), "{text}");
    assert!(!text.contains("espresso"), "{text}");
    ui.keys(&["enter", "esc"]);
    assert!(ui.picture(SIZE).contains("espresso"));
}

#[test]
fn pages_are_read_to_the_end() {
    let mut ui = Ui::new(SIZE);
    open(&mut ui);
    let mut first = list();
    first["meta"]["next"] = 1.into();
    assert_eq!(
        ui.answer("workflows.list", Ok(first)),
        json!({"limit": 500})
    );
    let rest = json!({"status": "ok", "data": [row(0, "FAILED", &json!({}))],
                      "meta": {"rev": 9, "total": 5, "next": null}});
    let asked = ui.answer("workflows.list", Ok(rest));
    assert_eq!(asked, json!({"limit": 500, "after": 1}));
    assert!(ui.picture(SIZE).contains("Workflows 5"));
}

#[test]
fn plots_tell_values_and_tables_have_units() {
    let mut ui = Ui::new(WIDE);
    listed(&mut ui, &completed());
    ui.keys(&["tab"]);
    let text = ui.picture(WIDE);
    for words in [
        "V₀ per atom",
        "11.56545",
        "5.3e-5",
        "doubt: the point",
        "efefefefefef",
        "points 9",
    ] {
        assert!(text.contains(words), "{words} in\n{text}");
    }
    ui.keys(&["tab", "right", "right"]);
    let text = ui.picture(WIDE);
    assert!(text.contains("calculated volume / Å³ 10.98"), "{text}");
    ui.keys(&["]"]);
    let text = ui.picture(WIDE);
    assert!(
        text.contains("[bands]") && text.contains('Γ') && text.contains('X'),
        "{text}"
    );
    ui.keys(&["tab"]);
    let text = ui.picture(WIDE);
    assert!(text.contains("volume / Å³"), "{text}");
    ui.keys(&["y"]);
    assert!(
        ui.effects
            .iter()
            .any(|effect| matches!(effect, Effect::Copy(_)))
    );
}

#[test]
fn the_mouse_reaches_tabs_steps_and_plots() {
    let mut ui = Ui::new(WIDE);
    listed(&mut ui, &completed());
    let mut click = |words: &str| {
        let text = ui.picture(WIDE);
        let found = text.lines().enumerate().find_map(|(y, line)| {
            let at = line.rfind(words)?;
            Some((crystalmath::widgets::text::width(&line[..at]), y))
        });
        let (x, y) = found.unwrap_or_else(|| panic!("{words} is not in\n{text}"));
        let (x, y) = (u16::try_from(x).unwrap(), u16::try_from(y).unwrap());
        ui.send(Msg::Mouse(Mouse::Click(x, y)));
        ui.picture(WIDE)
    };
    click("strain");
    let text = click("+ volume");
    assert!(text.contains("volume: 4/9 done"), "{text}");
    assert!(click("+ volume").contains("volume-4"));
    assert!(click("Plots").contains("[energy]"));
    assert!(click(" bands ").contains("[bands]"));
    assert!(click("Results").contains("V₀ per atom"));
}
