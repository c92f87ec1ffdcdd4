//! `crystalmath codes`.

use serde_json::{Value, json};

use crate::command_line::{answering, code, document, run, stderr, stdout};

fn codes() -> Value {
    let steps =
        json!({"default": 500, "description": "Steps before it gives up.", "type": "integer"});
    let toys = json!({"default": false, "type": "boolean"});
    let relax = json!({"properties": {"toys": toys, "max_steps": steps}});
    let point = json!({"properties": {"toys": toys}});
    json!({"status": "ok", "data": [
        {"name": "command", "title": "any program", "tasks": ["run"], "engines": [],
         "executable": null, "usable": true, "problem": null, "parameters": {}, "parameters_by_task": {}},
        {"name": "forces", "title": "energies", "tasks": ["single_point", "relax", "again"],
         "engines": ["emt"], "executable": null, "usable": true, "problem": null,
         "parameters": relax,
         "parameters_by_task": {"single_point": point, "relax": relax, "again": relax}},
    ], "meta": {"total": 2}})
}

#[test]
fn all_are_listed() {
    let (mock, _) = answering(codes());
    let output = run(&mock, &["codes"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).contains("command  any program"));
    assert!(stdout(&output).contains("parameters  toys, max_steps"));
}

#[test]
fn one_is_shown_with_the_parameters_of_each_task() {
    let (mock, _) = answering(codes());
    let output = run(&mock, &["codes", "forces"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = stdout(&output);
    let (point, rest) = text.split_once("parameters of relax").expect(&text);
    assert!(point.contains("parameters of single_point"), "{text}");
    assert!(!point.contains("max_steps"), "{text}");
    assert!(rest.contains("max_steps = 500"), "{text}");
    assert!(rest.contains("Steps before it gives up."), "{text}");
    assert!(rest.contains("again: the same"), "{text}");
    let output = run(&mock, &["codes", "forces", "--json"]);
    assert_eq!(document(&output)["name"], "forces");
}

#[test]
fn one_that_is_not_there_is_refused_with_those_that_are() {
    let (mock, _) = answering(codes());
    let output = run(&mock, &["codes", "castep"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("there is no code castep"));
    assert!(stderr(&output).contains("command, forces"));
}
