//! A new job of CRYSTAL: its deck with the linter's marks, the options of one that is written for a
//! structure, the editor, and what is not submitted.

use std::path::PathBuf;

use crystalmath::error::IpcError;
use crystalmath::msg::{Effect, Link, Msg, Program, Unwritten};
use crystalmath::submission::Kind;
use serde_json::{Value, json};

use super::Ui;
use super::new_job::{listed, looked, open};
use super::snapshots::each_named;

const SIZE: (u16, u16) = (80, 24);
const DECK: &str = "MgO bulk\nCRYSTAL\n0 0 0\n225\n4.21\n2\n12 0 0 0\n8 0.5 0.5 0.5\nBASISSET\nSTO-3G\n\
                    TOLINTEG\n7 7 7 7\nSHRINK\n8 8\nEND\n";

pub fn codes() -> Value {
    let crystal = json!({"properties": {
        "deck": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": null,
                 "description": "Which of the files is the deck."},
        "executable": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": null,
                       "description": "The program."},
        "options": {"anyOf": [{"type": "object", "additionalProperties": true}, {"type": "null"}],
                    "default": null, "description": "The options of the deck."}}});
    json!({"status": "ok", "data": [
        {"name": "crystal", "title": "Hartree-Fock and DFT", "tasks": ["scf", "optimisation"],
         "usable": true, "parameters": crystal,
         "parameters_by_task": {"scf": crystal, "optimisation": crystal}},
        {"name": "forces", "title": "force engines", "tasks": ["relax"], "engines": ["emt"],
         "usable": true, "parameters": {"properties": {}}}],
        "meta": {"total": 2}})
}

/// What `rpc.discover` says of the options of a deck.
pub fn discovered() -> Value {
    json!({"methods": [{"name": "materials.generate_d12", "params": [
            {"name": "structure", "schema": {}},
            {"name": "options", "schema": {"$ref": "#/components/schemas/D12Options"}}]}],
        "components": {"schemas": {
            "D12Options": {"type": "object", "properties": {
                "functional": {"type": "string", "default": "PBE", "description": "Of DFT."},
                "shrink": {"anyOf": [{"type": "array", "items": {"type": "integer"}},
                                     {"type": "null"}],
                           "default": null, "description": "IS and ISP."},
                "optgeom": {"anyOf": [{"$ref": "#/components/schemas/OptGeom"}, {"type": "null"}],
                            "default": null, "description": "Optimise the geometry."}}},
            "OptGeom": {"type": "object", "properties": {
                "type": {"enum": ["ATOMONLY", "FULLOPTG"], "type": "string", "default": "ATOMONLY",
                         "description": "What moves."},
                "toldeg": {"type": "number", "default": 0.0003, "exclusiveMinimum": 0}}}}}})
}

pub fn dry_run(deck: &str) -> Value {
    json!({"status": "ok", "data": {"job": null, "repeated": false, "dry_run": {
        "files": [{"path": "mgo.d12", "content": deck},
                  {"path": "crystal.sh", "content": "#!/bin/sh\n", "executable": true}],
        "argv": ["/bin/sh", "crystal.sh"], "task": "scf", "formula": "MgO", "n_atoms": 2}}})
}

fn findings() -> Value {
    json!({"status": "ok", "data": [
        {"line": 12, "column": 1, "severity": "error", "code": "tolinteg",
         "message": "TOLINTEG needs five integers", "hint": "write 7 7 7 7 14"},
        {"line": 14, "column": 3, "severity": "warning", "code": "shrink",
         "message": "the mesh is coarse", "hint": ""}],
        "meta": {"code": "crystal", "errors": 1, "warnings": 1}})
}

fn nothing_found() -> Value {
    json!({"status": "ok", "data": [], "meta": {"code": "crystal", "errors": 0, "warnings": 0}})
}

/// The file that was to be read, answered.
fn read(ui: &mut Ui, result: Result<&str, &str>) -> Option<PathBuf> {
    let found = ui.effects.iter().find_map(|effect| match effect {
        Effect::ReadText { id, path } => Some((*id, path.clone())),
        _ => None,
    });
    let (id, path) = found?;
    ui.effects
        .retain(|effect| !matches!(effect, Effect::ReadText { id: other, .. } if *other == id));
    let result = result.map(str::to_owned).map_err(str::to_owned);
    ui.send(Msg::TextRead { id, result });
    Some(path)
}

/// The text that was to be written, answered: its file, itself, and whether it may replace.
fn written(ui: &mut Ui, result: Result<(), Unwritten>) -> (PathBuf, String, bool) {
    let at = ui
        .effects
        .iter()
        .position(|effect| matches!(effect, Effect::WriteText { .. }));
    let effect = ui.effects.remove(at.expect("something is written"));
    let Effect::WriteText {
        id,
        path,
        text,
        replace,
    } = effect
    else {
        unreachable!("it was looked for");
    };
    ui.send(Msg::TextWritten { id, result });
    (path, text, replace)
}

fn edited(ui: &Ui) -> Vec<PathBuf> {
    let files = ui.effects.iter().filter_map(|effect| match effect {
        Effect::Run {
            program: Program::Editor(file),
            ..
        } => Some(file.clone()),
        _ => None,
    });
    files.collect()
}

fn begun(ui: &mut Ui, name: &str, kind: Kind) {
    open(ui);
    listed(ui);
    ui.answer("codes.list", Ok(codes()));
    ui.type_text(name);
    ui.keys(&["enter"]);
    looked(ui, Ok(kind));
}

/// The form of a deck, read and not linted yet.
pub fn deck(ui: &mut Ui) {
    begun(ui, "mgo.d12", Kind::CrystalDeck);
    let path = read(ui, Ok(DECK));
    assert_eq!(path.expect("it is read").to_str(), Some("/work/mgo.d12"));
    ui.answer("jobs.submit", Ok(dry_run(DECK)));
}

/// The form of a structure whose deck CRYSTAL's generator writes.
fn structure(ui: &mut Ui) {
    begun(ui, "mgo.cif", Kind::Structure);
    ui.answer("jobs.submit", Err(refused("task", "no task is given")));
    // To the code, and from forces to crystal.
    ui.keys(&["g", "left"]);
    ui.answer("rpc.discover", Ok(discovered()));
    while ui.asked("jobs.submit").is_some() {
        ui.answer("jobs.submit", Ok(dry_run(DECK)));
    }
}

fn refused(field: &str, message: &str) -> IpcError {
    IpcError::Rpc {
        code: -32602,
        message: message.into(),
        data: json!({"kind": "invalid_params", "field": field}),
    }
}

#[test]
fn pictures_of_a_deck() {
    each_named("new_job_deck_loading", |ui| {
        deck(ui);
        ui.keys(&["p"]);
    });
    each_named("new_job_deck_data", |ui| {
        deck(ui);
        ui.answer("codes.lint", Ok(findings()));
        ui.keys(&["p"]);
    });
    each_named("new_job_deck_clean", |ui| {
        deck(ui);
        ui.answer("codes.lint", Ok(nothing_found()));
        ui.keys(&["p"]);
    });
    each_named("new_job_deck_error", |ui| {
        begun(ui, "mgo.d12", Kind::CrystalDeck);
        read(ui, Err("/work/mgo.d12: permission denied"));
        ui.answer(
            "jobs.submit",
            Err(refused("files.0.source", "it cannot be read")),
        );
        ui.keys(&["p"]);
    });
    each_named("new_job_deck_stale", |ui| {
        deck(ui);
        ui.answer("codes.lint", Ok(findings()));
        ui.keys(&["p"]);
        ui.send(Msg::Link(Link::Reconnecting));
    });
    each_named("new_job_deck_options", |ui| {
        structure(ui);
        ui.answer("codes.lint", Ok(nothing_found()));
    });
}

#[test]
fn a_deck_is_linted_as_it_is_read_and_again_after_the_editor() {
    let mut ui = Ui::new(SIZE);
    deck(&mut ui);
    let asked = ui.answer("codes.lint", Ok(findings()));
    assert_eq!(asked, json!({"text": DECK, "code": "crystal"}));
    assert!(
        ui.picture(SIZE)
            .contains("the linter finds an error in the deck")
    );
    // What the linter calls wrong is not submitted.
    ui.effects.clear();
    ui.keys(&["ctrl-s"]);
    assert!(ui.asked("jobs.submit").is_none());
    ui.keys(&["p"]);
    let text = ui.picture(SIZE);
    for words in [
        "✗ 1 error",
        "! 1 warning",
        "error: TOLINTEG needs five integers; write 7 7 7 7 14 [tolinteg]",
        "warning, column 3: the mesh is coarse [shrink]",
    ] {
        assert!(text.contains(words), "{words} in\n{text}");
    }
    ui.keys(&["o"]);
    assert_eq!(edited(&ui), [PathBuf::from("/work/mgo.d12")]);
    ui.send(Msg::Returned);
    let right = DECK.replace("7 7 7 7\n", "7 7 7 7 14\n");
    read(&mut ui, Ok(&right));
    let asked = ui.answer("codes.lint", Ok(nothing_found()));
    assert_eq!(asked["text"], right);
    ui.answer("jobs.submit", Ok(dry_run(&right)));
    assert!(ui.picture(SIZE).contains("the linter finds nothing"));
    ui.keys(&["ctrl-s"]);
    let params = ui.asked("jobs.submit").expect("it is submitted").1;
    assert!(params["client_token"].is_string());
}

#[test]
fn an_answer_about_an_older_text_is_none() {
    let mut ui = Ui::new(SIZE);
    deck(&mut ui);
    ui.send(Msg::Returned);
    read(&mut ui, Ok("title\nEND\n"));
    ui.answer("codes.lint", Ok(findings()));
    ui.keys(&["p"]);
    assert!(!ui.picture(SIZE).contains("TOLINTEG needs"));
    ui.answer("codes.lint", Ok(nothing_found()));
    assert!(ui.picture(SIZE).contains("the linter finds nothing"));
}

#[test]
fn a_properties_deck_is_linted_where_it_lies() {
    let mut ui = Ui::new(SIZE);
    begun(&mut ui, "mgo.d3", Kind::CrystalDeck);
    read(&mut ui, Ok("BAND\nEND\n"));
    let asked = ui.answer("codes.lint", Ok(nothing_found()));
    assert_eq!(asked, json!({"path": "/work/mgo.d3"}));
    // The deck of the wave function beside it may have changed in the editor.
    ui.send(Msg::Returned);
    read(&mut ui, Ok("BAND\nEND\n"));
    assert!(ui.asked("codes.lint").is_some());
    ui.keys(&["p"]);
    assert!(ui.picture(SIZE).contains("BAND"));
}

#[test]
fn the_options_of_a_deck_are_fields_whose_parts_open() {
    let mut ui = Ui::new((120, 60));
    structure(&mut ui);
    let text = ui.picture((120, 60));
    assert!(
        text.contains("functional") && text.contains("(PBE)"),
        "{text}"
    );
    assert!(!text.contains("toldeg"), "{text}");
    // code, task, deck, executable, functional, shrink, optgeom.
    ui.keys(&["g", "j", "j", "j", "j", "j", "enter"]);
    ui.type_text("8 8");
    ui.keys(&["enter", "right"]);
    let text = ui.picture((120, 60));
    assert!(text.contains("toldeg"), "{text}");
    ui.keys(&["j", "right"]);
    let mut params = json!({});
    while ui.asked("jobs.submit").is_some() {
        params = ui.answer("jobs.submit", Ok(dry_run(DECK)));
    }
    assert_eq!(
        params["inputs"],
        json!({"options": {"shrink": [8, 8], "optgeom": {"type": "FULLOPTG"}}})
    );
    assert_eq!(params["structure"], json!({"path": "/work/mgo.cif"}));
}

#[test]
fn a_deck_is_seen_also_where_no_program_runs_it() {
    let mut ui = Ui::new(SIZE);
    structure(&mut ui);
    ui.answer("codes.lint", Ok(nothing_found()));
    ui.keys(&["j", "right"]);
    ui.answer(
        "jobs.submit",
        Err(refused("inputs.executable", "crystalOMP is not there")),
    );
    let asked = ui.answer(
        "materials.generate_d12",
        Ok(
            json!({"status": "ok", "data": {"d12": "written by hand\nEND\n", "gui": null,
                                           "report": {"dimension": "CRYSTAL"}}}),
        ),
    );
    assert_eq!(asked, json!({"structure": {"path": "/work/mgo.cif"}}));
    ui.answer("codes.lint", Ok(nothing_found()));
    ui.keys(&["p"]);
    let text = ui.picture(SIZE);
    assert!(text.contains("written by hand"), "{text}");
    // What is wrong with the options themselves leaves the deck as it was.
    ui.keys(&["esc", "right"]);
    ui.answer(
        "jobs.submit",
        Err(refused("inputs.options.shrink", "must be even")),
    );
    assert!(ui.asked("materials.generate_d12").is_none());
    ui.keys(&["p"]);
    assert!(ui.picture(SIZE).contains("deck as it was"));
}

#[test]
fn a_written_deck_is_saved_before_it_is_edited_and_never_over_another_unasked() {
    let mut ui = Ui::new(SIZE);
    structure(&mut ui);
    ui.answer("codes.lint", Ok(nothing_found()));
    ui.keys(&["o"]);
    assert!(ui.picture(SIZE).contains("Save the deck, then edit it"));
    assert!(ui.picture(SIZE).contains("mgo.d12"));
    ui.keys(&["enter"]);
    let asked = written(&mut ui, Err(Unwritten::Exists));
    assert_eq!(asked, ("/work/mgo.d12".into(), DECK.into(), false));
    assert!(ui.picture(SIZE).contains("Replace the file?"));
    ui.keys(&["enter"]); // the default is No
    assert!(ui.picture(SIZE).contains("type another name"));
    ui.keys(&["ctrl-u"]);
    ui.type_text("mine.d12");
    ui.keys(&["enter"]);
    let asked = written(&mut ui, Ok(()));
    assert_eq!(asked, ("/work/mine.d12".into(), DECK.into(), false));
    assert_eq!(edited(&ui), [PathBuf::from("/work/mine.d12")]);
    // From now on the job is about this file.
    let params = ui.asked("jobs.submit").expect("it is checked").1;
    assert_eq!(params["files"][0]["source"], "/work/mine.d12");
    assert_eq!(params["inputs"], json!({"deck": "mine.d12"}));
    assert!(params["structure"].is_null());
    ui.send(Msg::Returned);
    assert!(read(&mut ui, Ok("by hand\nEND\n")).is_some());
    assert_eq!(
        ui.asked("codes.lint").expect("it is linted").1["text"],
        "by hand\nEND\n"
    );
}

#[test]
fn a_deck_is_saved_and_replaced_when_that_is_wanted() {
    let mut ui = Ui::new(SIZE);
    structure(&mut ui);
    ui.keys(&["W", "enter"]);
    written(&mut ui, Err(Unwritten::Exists));
    ui.keys(&["y"]);
    let asked = written(&mut ui, Ok(()));
    assert_eq!(asked, ("/work/mgo.d12".into(), DECK.into(), true));
    assert!(edited(&ui).is_empty());
    assert!(ui.picture(SIZE).contains("is written"));
    // What cannot be written says why, and the name can be corrected.
    ui.keys(&["W", "enter"]);
    written(&mut ui, Err(Unwritten::Failed("no space left".into())));
    assert!(ui.picture(SIZE).contains("no space left"));
    ui.keys(&["esc"]);
    assert!(!ui.picture(SIZE).contains("no space left"));
}
