//! What is wrong with an argument: in the words of the command line, whoever has noticed it, and
//! with exit code 2.

use std::process::Output;

use serde_json::{Value, json};

use crate::command_line::{answering, code, document, file, program, run, stderr, stdout};
use crate::mock::Mock;

/// A mock that refuses every request.
fn refusing(code: i64, message: &'static str, data: Value) -> Mock {
    Mock::serve(move |_, mut peer| {
        while let Some(request) = peer.request() {
            peer.error(&request["id"], code, message, &data);
        }
    })
}

fn walltime() -> Mock {
    let field = "resources.walltime_s";
    let data = json!({"kind": "invalid_params", "hint": null, "retryable": false, "field": field,
                      "fields": [{"field": field, "message": "must be greater than 0"}],
                      "trace_id": "t"});
    refusing(-32602, "resources.walltime_s: must be greater than 0", data)
}

fn both(mock: &Mock, arguments: &[&str]) -> (Output, Value) {
    let for_scripts = program(mock)
        .args(arguments)
        .arg("--json")
        .output()
        .unwrap();
    assert_eq!(stderr(&for_scripts), "");
    let error = document(&for_scripts)["error"].clone();
    let for_people = run(mock, arguments);
    assert_eq!(stdout(&for_people), "");
    assert_eq!(code(&for_people), code(&for_scripts));
    (for_people, error)
}

#[test]
fn a_field_is_the_flag_that_was_typed() {
    let mock = walltime();
    file(&mock, "run.sh", "#!/bin/sh\n");
    let (output, error) = both(&mock, &["submit", "run.sh", "--walltime", "0"]);
    assert_eq!(code(&output), 2);
    assert_eq!(
        stderr(&output),
        "error: --walltime: must be greater than 0\n"
    );
    assert_eq!(
        error,
        json!({"code": -32602, "kind": "invalid_params", "field": "resources.walltime_s",
               "message": "--walltime: must be greater than 0", "argument": "--walltime",
               "hint": null, "retryable": false, "trace_id": "t"})
    );
}

#[test]
fn who_calls_a_method_by_its_name_gets_the_names_of_the_wire() {
    let mock = walltime();
    let (output, error) = both(&mock, &["call", "jobs.submit"]);
    assert_eq!(code(&output), 2);
    let said = "resources.walltime_s: must be greater than 0";
    assert_eq!(stderr(&output), format!("error: {said}\n"));
    assert_eq!(
        (&error["message"], error.get("argument")),
        (&json!(said), None)
    );
}

#[test]
fn all_faults_are_named() {
    let fields = json!([{"field": "name", "message": "must not be empty"},
                        {"field": "tags.0", "message": "must have at most 64 characters"},
                        {"field": "changes.inputs.argv.0", "message": "must be text"},
                        {"field": "id", "message": "must be at least 1"},
                        {"field": "", "message": "give one"}]);
    let data = json!({"kind": "invalid_params", "hint": "also wrong: tags.0: too long",
                      "field": "name", "fields": fields});
    let mock = refusing(-32602, "name: must not be empty", data);
    let (output, error) = both(&mock, &["rerun", "0"]);
    let said = [
        "--name: must not be empty",
        "--tag: must have at most 64 characters",
        "--param argv: must be text",
        "ID: must be at least 1",
        "give one",
    ];
    assert_eq!(
        stderr(&output),
        said.map(|line| format!("error: {line}\n")).concat()
    );
    assert_eq!(error["message"], said.join("; "));
    assert_eq!(error["hint"], Value::Null);
}

#[test]
fn hints_name_commands_and_flags() {
    let data = json!({"kind": "input_rejected", "field": "structure", "retryable": false,
                      "hint": "`jobs.list` shows the jobs; `engine: emt`, `inputs.cell: fixed`"});
    let mock = refusing(-32000, "no parameters for Si", data);
    let (output, error) = both(&mock, &["rerun", "1"]);
    assert_eq!(code(&output), 2);
    let hint = "`crystalmath jobs` shows the jobs; `--engine emt`, `--param cell=fixed`";
    assert_eq!(
        stderr(&output),
        format!("error: no parameters for Si\nhint: {hint}\n")
    );
    assert_eq!(error["hint"], hint);
    assert_eq!(error["argument"], "FILE");
}

#[test]
fn below_engines_the_engine_is_no_flag() {
    let data = json!({"kind": "not_found", "field": "engine", "retryable": false,
                      "hint": "engines: emt, lj"});
    let mock = refusing(-32000, "there is no engine 'nope'", data);
    let (output, error) = both(&mock, &["engines", "models", "nope"]);
    assert_eq!(
        stderr(&output),
        "error: there is no engine 'nope'\nhint: engines: emt, lj\n"
    );
    assert_eq!(error["argument"], "ENGINE");
    let data = json!({"kind": "input_rejected", "field": "options.damping", "hint": null});
    let mock = refusing(-32000, "there is no damping 'x'", data);
    let (output, error) = both(
        &mock,
        &["engines", "doctor", "dftd3", "--option", "damping=x"],
    );
    assert_eq!(code(&output), 2);
    assert_eq!(
        stderr(&output),
        "error: --option damping: there is no damping 'x'\n"
    );
    assert_eq!(error["argument"], "--option damping");
}

#[test]
fn what_is_no_argument_ends_with_1() {
    for (kind, field) in [
        ("input_rejected", "id"),
        ("not_found", "id"),
        ("conflict", "name"),
    ] {
        let data = json!({"kind": kind, "field": field, "hint": null});
        let mock = refusing(-32000, "no", data);
        assert_eq!(code(&run(&mock, &["continue", "1"])), 1, "{kind}");
    }
    let mock = refusing(
        -32000,
        "no",
        json!({"kind": "input_rejected", "hint": null}),
    );
    assert_eq!(code(&run(&mock, &["continue", "1"])), 1);
    let mock = refusing(
        -32603,
        "Internal error",
        json!({"kind": "internal", "trace_id": "abc"}),
    );
    let output = run(&mock, &["jobs"]);
    assert_eq!(code(&output), 1);
    assert_eq!(
        stderr(&output),
        "error: Internal error\n  trace id in the daemon's log: abc\n"
    );
}

#[test]
fn the_end_of_a_job_is_told_in_commands() {
    let (mock, _) = answering(json!({"status": "ok", "data": {
        "id": 7, "name": "n", "state": "FAILED", "reason": "walltime", "code": "command",
        "message": "see `jobs.log`",
        "hint": "`jobs.rerun` starts it again; give it more time: `resources.walltime_s`",
    }}));
    let text = stdout(&run(&mock, &["show", "7"]));
    assert!(text.contains("see `crystalmath log 7`"), "{text}");
    assert!(
        text.contains("hint           `crystalmath rerun 7` starts it again;"),
        "{text}"
    );
    assert!(text.contains("`--walltime`"), "{text}");
}

#[test]
fn a_directory_that_is_gone_is_said() {
    let (mock, _) = answering(json!({"status": "ok", "data": {
        "id": 7, "name": "n", "state": "COMPLETED", "code": "command", "directory": "/jobs/ab",
        "directory_gone": true,
    }}));
    let text = stdout(&run(&mock, &["show", "7"]));
    assert!(
        text.contains("directory      GONE: it was deleted or moved"),
        "{text}"
    );
}

#[test]
fn a_wrong_command_line_names_argument_and_value() {
    let (mock, seen) = answering(Value::Null);
    for (arguments, message, argument, value, hint) in [
        (
            &["submit"][..],
            "the following required arguments were not provided: <FILE>...",
            "<FILE>...",
            None,
            "see: crystalmath submit --help",
        ),
        (
            &["jobs", "--limit", "0"],
            "invalid value '0' for '--limit <N>': 0 is not in 1..=1000",
            "--limit <N>",
            Some("0"),
            "see: crystalmath jobs --help",
        ),
        (
            &["log", "1", "--stream", "nothing"],
            "invalid value 'nothing' for '--stream <STREAM>' [possible values: output, stdout, \
             stderr, scheduler]",
            "--stream <STREAM>",
            Some("nothing"),
            "see: crystalmath log --help",
        ),
        (
            &["submit", "x", "--wiat"],
            "unexpected argument '--wiat' found",
            "--wiat",
            None,
            "a similar argument exists: '--wait'",
        ),
        (
            &["nonsense"],
            "unrecognized subcommand 'nonsense'",
            "nonsense",
            None,
            "see: crystalmath --help",
        ),
    ] {
        let output = program(&mock)
            .args(arguments)
            .arg("--json")
            .output()
            .unwrap();
        assert_eq!((code(&output), stderr(&output).as_str()), (2, ""));
        let error = document(&output)["error"].clone();
        assert_eq!(error["message"], message);
        assert_eq!(error["argument"], argument);
        assert_eq!(error.get("value").and_then(Value::as_str), value);
        assert_eq!(error["hint"], hint);
        assert_eq!(error["kind"], "usage");
    }
    assert!(seen.lock().unwrap().is_empty());
}

#[test]
fn help_version_and_completions_are_one_document_with_json() {
    let (mock, seen) = answering(Value::Null);
    let asked = |arguments: &[&str]| {
        let output = run(&mock, arguments);
        assert_eq!((code(&output), stderr(&output).as_str()), (0, ""));
        document(&output)["data"].clone()
    };
    let version = asked(&["--json", "--version"]);
    assert_eq!(version, json!({"version": env!("CARGO_PKG_VERSION")}));
    for arguments in [
        &["--json", "submit", "--help"][..],
        &["--json", "help", "submit"],
    ] {
        let text = asked(arguments)["help"].as_str().unwrap().to_owned();
        assert!(text.contains("--dry-run"), "{text}");
        assert!(!text.contains('\x1b'), "{text}");
    }
    let completions = asked(&["completions", "bash", "--json"]);
    assert_eq!(completions["shell"], "bash");
    assert!(completions["script"].as_str().unwrap().contains("submit"));
    let pages = asked(&["man", "pages", "--json"]);
    assert_eq!(pages["directory"], "pages");
    assert!(seen.lock().unwrap().is_empty());
}

#[test]
fn below_workflows_inputs_are_options() {
    let data = json!({"kind": "invalid_params", "field": "inputs.ecutwfc", "retryable": false,
                      "hint": "was ecutwfc_ry meant? `codes.list` says what the code takes"});
    let mock = refusing(-32602, "inputs.ecutwfc: is not known here", data);
    let file = crate::command_line::file(&mock, "si.cif", "");
    let given = [
        "workflows",
        "eos",
        &file,
        "--code",
        "espresso",
        "--option",
        "ecutwfc=20",
    ];
    let (output, error) = both(&mock, &given);
    assert_eq!(
        stderr(&output),
        "error: --option ecutwfc: is not known here\nhint: was ecutwfc_ry meant? `crystalmath \
         codes` says what the code takes\n"
    );
    assert_eq!(error["argument"], "--option ecutwfc");
    let data = json!({"kind": "input_rejected", "field": "inputs.executable", "hint": null});
    let mock = refusing(-32000, "there is no program", data);
    let (_, error) = both(
        &mock,
        &["workflows", "eos", "--job", "1", "--code", "crystal"],
    );
    assert_eq!(error["argument"], "--param executable");
}
