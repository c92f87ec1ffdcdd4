//! A new workflow: the form that is made of what the daemon says of the kinds, and its start.

use crystalmath::app::Client;
use crystalmath::error::IpcError;
use crystalmath::msg::{Link, Msg};
use crystalmath::rpc::types::JobState;
use serde_json::{Value, json};

use super::snapshots::each_named;
use super::workflows::row;
use super::{Ui, job, refused, some_jobs};

const SIZE: (u16, u16) = (80, 24);
const WIDE: (u16, u16) = (120, 40);

pub fn kinds() -> Value {
    let engines = json!([
        {"name": "emt", "usable": true, "reason": null},
        {"name": "chgnet", "usable": false, "reason": "not installed: `forces.install` installs it"}]);
    let codes = json!([
        {"name": "espresso", "usable": true, "reason": null},
        {"name": "crystal", "usable": false, "reason": "not built: it is computed by force engines"}]);
    let options = json!({"type": "object", "properties": {
        "points": {"type": "integer", "default": 9, "minimum": 5, "maximum": 51,
                   "description": "Number of volumes; 7 to 11 is usual."},
        "fmax_ev_per_a": {"type": "number", "default": 0.001, "exclusiveMinimum": 0, "maximum": 0.001,
                          "description": "Largest force on an atom that may be left, eV/Å."},
        "optimizer": {"enum": ["LBFGS", "FIRE"], "type": "string", "default": "LBFGS",
                      "description": "How steps are chosen."}}});
    let future = json!({"type": "object", "properties": {
        "supercell": {"type": "array", "items": {"type": "integer"}, "default": [2, 2, 2],
                      "description": "Cells along each axis."},
        "dos": {"anyOf": [{"$ref": "#/$defs/Dos"}, {"type": "null"}], "default": null,
                "description": "With a density of states."}},
        "$defs": {"Dos": {"type": "object", "properties": {
            "width_ev": {"type": "number", "default": 0.1, "description": "Broadening."}}}}});
    json!({"status": "ok", "data": [
        {"kind": "eos", "title": "Equation of state", "summary": "Volume and bulk modulus.",
         "method": "workflows.create_eos", "usable": true, "reason": null, "engines": engines,
         "codes": codes, "options": options},
        {"kind": "phonon", "title": "Phonons", "summary": "Frequencies.",
         "method": "workflows.create_phonon", "usable": true, "reason": null, "engines": engines,
         "codes": [], "options": future},
        {"kind": "md", "title": "Molecular dynamics", "summary": "Not part of this version.",
         "method": "workflows.create_md", "usable": false, "reason": "it is not built yet",
         "engines": [], "codes": [], "options": {}}],
        "meta": {"total": 3}})
}

fn codes() -> Value {
    let parameters = json!({"properties": {
        "ecutwfc_ry": {"type": "number", "minimum": 1, "description": "Cutoff of the waves."}}});
    json!({"status": "ok", "data": [
        {"name": "espresso", "title": "pw.x", "tasks": ["scf"], "usable": true,
         "parameters": parameters}], "meta": {"total": 1}})
}

fn clusters() -> Value {
    let one = super::clusters::cluster(1, "hpc1", &json!({}));
    json!({"status": "ok", "data": [one], "meta": {"total": 1}})
}

fn answer_all(ui: &mut Ui) {
    ui.answer("workflows.available", Ok(kinds()));
    ui.answer("codes.list", Ok(codes()));
    ui.answer("clusters.list", Ok(clusters()));
}

/// The form, with everything asked for.
pub fn open(ui: &mut Ui) {
    ui.model.data.client = Client {
        directory: "/work".into(),
        home: Some("/home/me".into()),
        context: json!({"ESPRESSO_PSEUDO": "/pseudo"}),
        token: "token".into(),
    };
    ui.connect(&some_jobs());
    ui.effects.clear();
    ui.keys(&["F"]);
}

/// The form of an equation of state of a file.
pub fn form(ui: &mut Ui) {
    open(ui);
    answer_all(ui);
    ui.keys(&["right", "j", "enter"]);
    ui.type_text("copper.cif");
    ui.keys(&["enter"]);
}

fn invalid(field: &str, message: &str) -> IpcError {
    IpcError::Rpc {
        code: -32602,
        message: message.into(),
        data: json!({"kind": "invalid_params", "field": field}),
    }
}

#[test]
fn pictures() {
    each_named("new_workflow_loading", open);
    each_named("new_workflow_kinds", |ui| {
        open(ui);
        answer_all(ui);
    });
    each_named("new_workflow_data", |ui| {
        form(ui);
        ui.keys(&["right"]);
    });
    each_named("new_workflow_error", |ui| {
        form(ui);
        ui.keys(&["right", "ctrl-s"]);
        let error = invalid("options.points", "options.points must be at least 5");
        ui.answer("workflows.create_eos", Err(error));
    });
    each_named("new_workflow_unread", |ui| {
        open(ui);
        let error = refused("database", "the database is locked");
        ui.answer("workflows.available", Err(error));
    });
    each_named("new_workflow_stale", |ui| {
        form(ui);
        ui.send(Msg::Link(Link::Reconnecting));
    });
}

#[test]
fn a_workflow_is_started_with_what_is_written_and_shown() {
    let mut ui = Ui::new(WIDE);
    form(&mut ui);
    ui.keys(&["ctrl-s"]);
    assert!(
        ui.picture(WIDE).contains("choose what computes it"),
        "{}",
        ui.picture(WIDE)
    );
    ui.keys(&["right", "j", "j", "enter"]);
    ui.type_text("7");
    ui.keys(&["enter", "ctrl-s", "ctrl-s"]);
    let started = json!({"status": "ok", "data": {"repeated": false,
        "workflow": row(9, "RUNNING", &json!({"name": "copper"}))}});
    let params = ui.answer("workflows.create_eos", Ok(started));
    assert_eq!(params["structure"], json!({"path": "/work/copper.cif"}));
    assert_eq!(params["engine"], "emt");
    assert_eq!(params["options"], json!({"points": 7}));
    assert_eq!(params["context"], json!({"ESPRESSO_PSEUDO": "/pseudo"}));
    assert!(
        params["client_token"]
            .as_str()
            .unwrap()
            .starts_with("token-w")
    );
    assert!(
        ui.asked("workflows.create_eos").is_none(),
        "it is sent once"
    );
    let text = ui.picture(WIDE);
    assert!(text.contains("workflow 9 started: copper"), "{text}");
    assert!(text.contains("Workflow 9"), "{text}");
    assert_eq!(ui.asked("workflows.get").unwrap().1, json!({"id": 9}));
}

#[test]
fn faults_stand_at_their_fields() {
    let mut ui = Ui::new(SIZE);
    form(&mut ui);
    ui.keys(&["right", "ctrl-s"]);
    ui.answer(
        "workflows.create_eos",
        Err(invalid("job", "there is no such job")),
    );
    let text = ui.picture(SIZE);
    let at = text
        .lines()
        .position(|line| line.contains("there is no such job"));
    let structure = text.lines().position(|line| line.contains("structure"));
    assert_eq!(at, structure.map(|line| line + 1), "{text}");
    // What was refused is not sent again as it is, but with another structure it is.
    ui.keys(&["enter", "ctrl-u"]);
    ui.type_text("local:3");
    ui.keys(&["enter", "ctrl-s"]);
    let params = ui.asked("workflows.create_eos").unwrap().1;
    assert_eq!(params["structure"], json!({"material": "local:3"}));
}

#[test]
fn what_cannot_be_used_says_why() {
    let mut ui = Ui::new(WIDE);
    open(&mut ui);
    answer_all(&mut ui);
    ui.keys(&["enter"]);
    let text = ui.picture(WIDE);
    assert!(
        text.contains("cannot be started: it is not built yet"),
        "{text}"
    );
    ui.keys(&["j", "j", "enter"]);
    let text = ui.picture(WIDE);
    assert!(text.contains("it is not built yet"), "{text}");
    ui.keys(&["ctrl-s"]);
    assert!(ui.picture(WIDE).contains("something is still wrong"));
    // An engine that is not installed.
    ui.keys(&["left", "left", "j", "j", "right", "right"]);
    let text = ui.picture(WIDE);
    assert!(
        text.contains("not installed: `install` installs it"),
        "{text}"
    );
}

#[test]
fn a_code_has_its_inputs_and_its_cluster() {
    let mut ui = Ui::new(WIDE);
    form(&mut ui);
    assert!(
        !ui.picture(WIDE).contains("cluster"),
        "{}",
        ui.picture(WIDE)
    );
    ui.keys(&["left", "left"]);
    let text = ui.picture(WIDE);
    assert!(text.contains("< espresso >"), "{text}");
    assert!(
        text.contains("ecutwfc") && text.contains("cluster"),
        "{text}"
    );
    ui.keys(&["j", "j", "j", "j", "enter"]);
    ui.type_text("40");
    ui.keys(&["enter", "right", "ctrl-s"]);
    let params = ui.asked("workflows.create_eos").unwrap().1;
    assert_eq!(
        (&params["code"], &params["inputs"], &params["cluster"]),
        (
            &json!("espresso"),
            &json!({"ecutwfc_ry": 40}),
            &json!("hpc1")
        )
    );
    assert!(params["engine"].is_null());
}

#[test]
fn a_kind_that_nobody_knew_has_its_options() {
    let mut ui = Ui::new(WIDE);
    form(&mut ui);
    ui.keys(&["g", "right", "j", "j", "right"]);
    let text = ui.picture(WIDE);
    assert!(
        text.contains("supercell") && !text.contains("points"),
        "{text}"
    );
    ui.keys(&["j", "j", "enter"]);
    ui.type_text("3 3 3");
    ui.keys(&["enter", "right"]);
    assert!(ui.picture(WIDE).contains("width"), "{}", ui.picture(WIDE));
    ui.keys(&["ctrl-s"]);
    let params = ui.asked("workflows.create_phonon").unwrap().1;
    assert_eq!(
        params["options"],
        json!({"supercell": [3, 3, 3], "dos": {}})
    );
}

#[test]
fn it_begins_from_a_job_that_has_completed() {
    let mut ui = Ui::new(WIDE);
    let mut done = job(3, JobState::Completed);
    done.formula = Some("Cu".into());
    ui.connect(&[done, job(2, JobState::Running)]);
    ui.effects.clear();
    ui.keys(&["enter", "F"]);
    answer_all(&mut ui);
    assert!(ui.picture(WIDE).contains("job:3"), "{}", ui.picture(WIDE));
    ui.keys(&["right", "j", "j", "right", "ctrl-s"]);
    let params = ui.asked("workflows.create_eos").unwrap().1;
    assert_eq!(params["structure"], json!({"job": 3}));
    // One that runs has no final structure yet.
    ui.keys(&["esc", "esc", "j", "F"]);
    let text = ui.picture(WIDE);
    assert!(text.contains("job 2 is running"), "{text}");
    assert!(text.contains("New workflow"), "{text}");
    assert!(!text.contains("job:2"), "{text}");
}
