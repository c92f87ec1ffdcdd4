//! `crystalmath templates` and `submit --template`: what is sent, what is written, how it ends.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::command_line::{code, file, run, stderr, stdout};
use crate::mock::Mock;

fn row() -> Value {
    json!({
        "id": "crystal/scf", "title": "Energy", "code": "crystal", "kind": "input", "version": 1,
        "description": "For tests.", "tags": [], "renders": ["{{ name }}.d12"], "lint": "crystal",
        "origin": "shipped", "shadowed": false, "problem": null,
        "parameters": {"type": "object", "required": ["count"], "properties": {
            "structure": {"x-type": "structure", "description": "The crystal.", "default": {}},
            "name": {"x-type": "string", "description": "Name.", "default": "scf"},
            "smear": {"x-type": "float", "description": "Smearing.", "x-unit": "hartree",
                      "minimum": 0.0001, "maximum": 0.05},
            "count": {"x-type": "int", "description": "How many."},
        }},
    })
}

fn rendered(paths: &[&str], severity: Option<&str>) -> Value {
    let files: Vec<Value> = paths
        .iter()
        .map(|path| json!({"path": path, "content": format!("text of {path}\n")}))
        .collect();
    let findings: Vec<Value> = severity
        .iter()
        .map(|severity| {
            json!({"path": paths[0], "line": 3, "column": 1, "severity": severity, "code": "c",
                   "message": "bad", "hint": ""})
        })
        .collect();
    json!({
        "files": files, "warnings": ["give `parameters.smear` too"], "findings": findings,
        "parameters": {},
        "template": {"id": "crystal/scf", "version": 1, "code": "crystal", "kind": "input",
                     "origin": "shipped", "sha256": ""},
    })
}

/// A mock with one template, and what it is asked.
fn serving(made: Value) -> (Mock, Arc<Mutex<Vec<Value>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&seen);
    let mock = Mock::serve(move |_, mut peer| {
        while let Some(request) = peer.request() {
            let data = match request["method"].as_str().unwrap() {
                "templates.get" => json!({"template": row(), "text": "---\nid: crystal/scf\n"}),
                "templates.list" => json!([row(), {
                    "id": "mine", "title": "mine", "origin": "user", "shadowed": false,
                    "problem": {"message": "no YAML", "line": 3, "hint": null}}]),
                "templates.save" => json!({"template": row(), "path": "/t/my/hse.j2",
                                           "replaced": false, "warnings": []}),
                "jobs.submit" => json!({"job": {"id": 12, "name": "n", "code": "crystal"},
                                        "repeated": false}),
                _ => made.clone(),
            };
            let meta = json!({"total": 2, "folder": "/home/me/templates"});
            let result = json!({"status": "ok", "data": data, "meta": meta});
            kept.lock().unwrap().push(request.clone());
            peer.send(&json!({"jsonrpc": "2.0", "id": request["id"], "result": result}));
        }
    });
    (mock, seen)
}

fn sent(seen: &Mutex<Vec<Value>>) -> Value {
    seen.lock().unwrap().last().unwrap()["params"].clone()
}

#[test]
fn the_list_names_what_cannot_be_used() {
    let (mock, _) = serving(Value::Null);
    let output = run(&mock, &["templates"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("crystal/scf"), "{text}");
    assert!(text.contains("cannot be used: line 3: no YAML"), "{text}");
    assert!(
        text.ends_with("your own ones: /home/me/templates\n"),
        "{text}"
    );
}

#[test]
fn one_is_shown_with_its_parameters_or_as_it_is() {
    let (mock, _) = serving(Value::Null);
    let output = run(&mock, &["templates", "show", "crystal/scf"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = stdout(&output);
    for words in [
        "smear (float)",
        "From 0.0001 to 0.05 hartree.",
        "Default: scf",
        "Has to be given.",
        "An example stands in the template.",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let output = run(&mock, &["templates", "show", "crystal/scf", "--text"]);
    assert_eq!(stdout(&output), "---\nid: crystal/scf\n");
}

#[test]
fn the_types_of_the_template_say_what_is_sent() {
    let (mock, seen) = serving(rendered(&["scf.d12"], None));
    let path = file(&mock, "mgo.cif", "");
    let given = [
        "templates",
        "render",
        "crystal/scf",
        "mgo.cif",
        "--param",
        "name=12",
    ];
    let output = run(&mock, &[&given[..], &["--param", "smear=0.01"]].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(stdout(&output), "text of scf.d12\n");
    assert_eq!(stderr(&output), "warning: give `--param smear` too\n");
    let parameters = json!({"structure": {"path": path}, "name": "12", "smear": 0.01});
    assert_eq!(
        sent(&seen),
        json!({"id": "crystal/scf", "parameters": parameters, "context": {}})
    );
}

#[test]
fn files_are_written_and_none_is_replaced_unasked() {
    let (mock, _) = serving(rendered(&["a.d12", "sub/a.d3"], None));
    let there = |name: &str| std::fs::read_to_string(mock.dir.path().join(name));
    let given = ["templates", "render", "crystal/scf", "-o", "out"];
    let output = run(&mock, &given);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(stdout(&output), "out/a.d12, out/sub/a.d3 written\n");
    assert_eq!(there("out/sub/a.d3").unwrap(), "text of sub/a.d3\n");
    std::fs::remove_file(mock.dir.path().join("out/a.d12")).unwrap();
    let output = run(&mock, &given);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("out/sub/a.d3 is there already"));
    assert!(there("out/a.d12").is_err(), "nothing was written");
    assert_eq!(code(&run(&mock, &[&given[..], &["--force"]].concat())), 0);
    let (mock, _) = serving(rendered(&["a.d12"], None));
    let given = ["templates", "render", "crystal/scf", "-o", "mine.d12"];
    assert_eq!(stdout(&run(&mock, &given)), "mine.d12 written\n");
}

#[test]
fn an_error_of_the_linter_makes_it_fail() {
    for (severity, expected) in [("error", 1), ("warning", 0)] {
        let (mock, _) = serving(rendered(&["a.d12"], Some(severity)));
        let output = run(&mock, &["templates", "render", "crystal/scf"]);
        assert_eq!(code(&output), expected);
        assert_eq!(stdout(&output), "text of a.d12\n");
    }
}

#[test]
fn a_file_or_another_template_is_saved() {
    let (mock, seen) = serving(Value::Null);
    file(&mock, "deck.j2", "---\n");
    let output = run(&mock, &["templates", "save", "my/hse", "deck.j2"]);
    assert_eq!(stdout(&output), "crystal/scf saved: /t/my/hse.j2\n");
    assert_eq!(sent(&seen), json!({"id": "my/hse", "text": "---\n"}));
    let given = [
        "templates",
        "save",
        "my/hse",
        "--from",
        "crystal/scf",
        "--replace",
    ];
    let output = run(&mock, &[&given[..], &["--param", "count=2"]].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let asked = json!({"id": "my/hse", "source": "crystal/scf", "parameters": {"count": 2},
                       "replace": true});
    assert_eq!(sent(&seen), asked);
    assert_eq!(code(&run(&mock, &["templates", "save", "my/hse"])), 2);
}

#[test]
fn a_job_is_submitted_from_a_template() {
    let (mock, seen) = serving(Value::Null);
    let path = file(&mock, "mgo.cif", "");
    let beside = file(&mock, "mgo.f9", "");
    let given = [
        "submit",
        "mgo.cif",
        "mgo.f9",
        "--template",
        "crystal/scf",
        "--set",
        "count=2",
        "--option",
        "spin=open",
    ];
    let output = run(&mock, &given);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let mut asked = sent(&seen);
    asked.as_object_mut().unwrap().remove("client_token");
    assert_eq!(
        asked,
        json!({
            "name": "mgo scf", "code": "crystal", "template": "crystal/scf",
            "template_parameters": {"structure": {"path": path}, "count": 2},
            "files": [{"path": "mgo.f9", "source": beside}], "context": {},
            "inputs": {"options": {"spin": "open"}},
        })
    );
}
