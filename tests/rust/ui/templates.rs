//! The screen of the templates: the list, the form with what comes of it, saving, and the new job.

use crystalmath::app::Client;
use crystalmath::error::IpcError;
use crystalmath::msg::{Effect, Link, Msg, Unwritten};
use serde_json::{Value, json};

use super::snapshots::each_named;
use super::{Ui, refused, some_jobs};

const SIZE: (u16, u16) = (80, 24);
const DECK: &str = "scf\nCRYSTAL\n0 0 0\n225\n4.21\nEND\n";

pub fn list() -> Value {
    let scf = json!({"type": "object", "required": ["structure", "name"], "properties": {
        "structure": {"x-type": "structure", "type": "object", "description": "The crystal.",
                      "default": {"text": "data_MgO", "format": "cif"}},
        "name": {"x-type": "string", "type": "string", "default": "scf",
                 "description": "Name of the files."},
        "symprec_angstrom": {"x-type": "float", "type": "number", "x-unit": "Å", "default": 0.01,
                             "minimum": 1e-5, "maximum": 0.5, "description": "Tolerance."},
        "metal": {"x-type": "bool", "type": "boolean", "default": false,
                  "description": "Whether bands are partly filled."}}});
    let row = |id: &str, title: &str| {
        json!({"id": id, "title": title, "code": "crystal", "kind": "input", "version": 1,
               "description": "Single point of a crystal.", "tags": ["energy", "scf"],
               "parameters": scf, "renders": ["{{ name }}.d12"], "lint": "crystal",
               "origin": "shipped", "shadowed": false, "problem": null})
    };
    let mut script = row("job/local", "This machine");
    script["code"] = Value::Null;
    script["kind"] = "job_script".into();
    script["lint"] = "bash".into();
    let mut broken = row("mine/broken", "mine/broken");
    broken["origin"] = "user".into();
    broken["problem"] = json!({"message": "the front matter does not end", "line": 3,
                               "hint": "write --- behind it"});
    json!({"status": "ok", "data": [row("crystal/scf", "Energy of a crystal"), script, broken],
           "meta": {"total": 3, "folder": "/home/me/.config/crystalmath/templates"}})
}

pub fn rendered(findings: &Value) -> Value {
    json!({"status": "ok", "data": {
        "files": [{"path": "scf.d12", "content": DECK}, {"path": "scf.d3", "content": "BAND\nEND\n"}],
        "warnings": ["the cell is not a standard one", "scf.d12 line 4: no such group"],
        "findings": findings, "parameters": {"name": "scf"},
        "template": {"id": "crystal/scf", "version": 1, "origin": "shipped", "sha256": "0"}}})
}

pub fn finding() -> Value {
    json!([{"line": 4, "column": 1, "severity": "error", "code": "group", "path": "scf.d12",
            "message": "no such group", "hint": "write 225"}])
}

pub fn open(ui: &mut Ui) {
    ui.model.data.client = Client {
        directory: "/work".into(),
        home: Some("/home/me".into()),
        context: json!({}),
        token: "token".into(),
    };
    ui.connect(&some_jobs());
    ui.effects.clear();
    ui.keys(&["5"]);
}

fn listed(ui: &mut Ui) {
    open(ui);
    ui.answer("templates.list", Ok(list()));
}

/// The form of the first template, while it is filled in for the first time.
pub fn form(ui: &mut Ui) {
    listed(ui);
    ui.keys(&["enter"]);
}

#[test]
fn pictures_of_the_list() {
    each_named("templates_loading", open);
    each_named("templates_data", listed);
    each_named("templates_detail", |ui| {
        listed(ui);
        ui.keys(&["j", "j", "l"]);
    });
    each_named("templates_empty", |ui| {
        open(ui);
        let none = json!({"status": "ok", "data": [], "meta": {"total": 0, "folder": "/t"}});
        ui.answer("templates.list", Ok(none));
    });
    each_named("templates_error", |ui| {
        open(ui);
        let error = refused("worker", "the worker process died");
        ui.answer("templates.list", Err(error));
    });
    each_named("templates_stale", |ui| {
        listed(ui);
        ui.send(Msg::Link(Link::Reconnecting));
    });
}

#[test]
fn pictures_of_the_form() {
    each_named("templates_form_loading", form);
    each_named("templates_form_data", |ui| {
        form(ui);
        ui.answer("templates.render", Ok(rendered(&json!([]))));
    });
    each_named("templates_form_error", |ui| {
        form(ui);
        ui.answer("templates.render", Err(invalid()));
    });
    each_named("templates_form_stale", |ui| {
        form(ui);
        ui.answer("templates.render", Ok(rendered(&json!([]))));
        ui.send(Msg::Link(Link::Reconnecting));
    });
    each_named("templates_text", |ui| {
        form(ui);
        ui.answer("templates.render", Ok(rendered(&finding())));
        ui.keys(&["p"]);
    });
}

fn invalid() -> IpcError {
    IpcError::Rpc {
        code: -32602,
        message: "symprec_angstrom must be at most 0.5 Å".into(),
        data: json!({"kind": "invalid_params", "field": "parameters.symprec_angstrom"}),
    }
}

#[test]
fn what_is_written_is_filled_in_and_the_newest_wins() {
    let mut ui = Ui::new(SIZE);
    form(&mut ui);
    let asked = ui
        .asked("templates.render")
        .expect("the defaults are filled in")
        .1;
    assert_eq!(
        asked,
        json!({"id": "crystal/scf", "parameters": {}, "origin": "shipped"})
    );
    ui.keys(&["enter"]);
    ui.type_text("mgo.cif");
    ui.keys(&["enter", "j", "enter"]);
    ui.type_text("0.1");
    ui.keys(&["enter", "right"]);
    ui.answer("templates.render", Ok(rendered(&finding())));
    assert!(!ui.picture(SIZE).contains("the linter finds"));
    let asked = ui.answer("templates.render", Ok(rendered(&json!([]))));
    assert_eq!(
        asked["parameters"],
        json!({"structure": {"path": "/work/mgo.cif"}, "symprec_angstrom": 0.1, "metal": true})
    );
    assert!(ui.asked("templates.render").is_none());
    assert!(ui.picture(SIZE).contains("filled in"));
}

#[test]
fn faults_stand_at_their_fields_and_marks_at_their_lines() {
    let mut ui = Ui::new(SIZE);
    form(&mut ui);
    ui.answer("templates.render", Err(invalid()));
    let text = ui.picture(SIZE);
    assert!(text.contains("must be at most 0.5"), "{text}");
    ui.keys(&["ctrl-s"]);
    assert!(ui.picture(SIZE).contains("still wrong"));
    ui.keys(&["esc", "enter"]);
    ui.answer("templates.render", Ok(rendered(&finding())));
    assert!(ui.picture(SIZE).contains("the linter finds an error"));
    ui.keys(&["p"]);
    let text = ui.picture(SIZE);
    assert!(
        text.contains("error: no such group; write 225 [group]"),
        "{text}"
    );
    // It is said once, by its mark.
    assert!(text.contains("not a standard one"), "{text}");
    assert!(!text.contains("line 4: no such group"), "{text}");
    ui.keys(&["]"]);
    let text = ui.picture(SIZE);
    assert!(
        text.contains("scf.d3 (2 of 2)") && text.contains("BAND"),
        "{text}"
    );
    ui.keys(&["ctrl-s"]);
    assert!(
        ui.picture(SIZE).contains("the linter finds 1"),
        "it is not submitted"
    );
}

#[test]
fn the_text_is_saved_and_none_is_replaced_unasked() {
    let mut ui = Ui::new(SIZE);
    form(&mut ui);
    ui.keys(&["W"]);
    assert!(ui.picture(SIZE).contains("no text yet"));
    ui.answer("templates.render", Ok(rendered(&json!([]))));
    ui.keys(&["W", "enter"]);
    let at = ui
        .effects
        .iter()
        .position(|effect| matches!(effect, Effect::WriteText { .. }));
    let effect = ui.effects.remove(at.expect("it is written"));
    let Effect::WriteText {
        id,
        path,
        text,
        replace,
    } = effect
    else {
        unreachable!("it was looked for");
    };
    assert_eq!(
        (path.to_str(), text.as_str(), replace),
        (Some("/work/scf.d12"), DECK, false)
    );
    let result = Err(Unwritten::Exists);
    ui.send(Msg::TextWritten { id, result });
    assert!(ui.picture(SIZE).contains("Replace the file?"));
}

#[test]
fn a_template_becomes_a_job_and_a_script_does_not() {
    let mut ui = Ui::new(SIZE);
    form(&mut ui);
    ui.answer("templates.render", Ok(rendered(&json!([]))));
    ui.keys(&["ctrl-s"]);
    let params = ui.asked("jobs.submit").expect("it is checked").1;
    assert_eq!(
        (
            &params["code"],
            &params["template"],
            &params["template_parameters"]
        ),
        (&json!("crystal"), &json!("crystal/scf"), &json!({}))
    );
    assert!(params["structure"].is_null() && params["files"].is_null());
    let error = IpcError::Rpc {
        code: -32602,
        message: "structure is missing".into(),
        data: json!({"kind": "invalid_params", "field": "template_parameters.structure"}),
    };
    ui.answer("jobs.submit", Err(error));
    let text = ui.picture(SIZE);
    assert!(text.contains("structure is missing"), "{text}");
    let mut ui = Ui::new(SIZE);
    listed(&mut ui);
    ui.keys(&["j", "enter", "ctrl-s"]);
    assert!(ui.picture(SIZE).contains("a job script is no input"));
    assert!(ui.asked("jobs.submit").is_none());
}

#[test]
fn a_template_that_cannot_be_used_says_why() {
    let mut ui = Ui::new(SIZE);
    listed(&mut ui);
    ui.keys(&["G", "enter"]);
    let text = ui.picture(SIZE);
    assert!(
        text.contains("cannot be used: the front matter does not end"),
        "{text}"
    );
    assert!(ui.asked("templates.render").is_none());
}
