//! The form by itself.

use serde_json::{Value, json};

use super::Editor;
use crate::error::IpcError;
use crate::rpc::types::ClusterView;
use crate::screens::new_job::schema::{quoted, words};
use crate::widgets::input::TextLine;

fn write(editor: &mut Editor, key: &str, text: &str) {
    for field in &mut editor.fields {
        if field.key == key {
            field.input = TextLine::of(text);
        }
    }
}

fn cluster() -> ClusterView {
    serde_json::from_value(json!({
        "id": 3, "name": "hpc1", "kind": "slurm", "hostname": "login", "port": 22,
        "shell": "auto", "remote_workdir": "~/cm", "min_poll_s": 10.0, "max_retrieve_mib": 1024,
        "query_budget": {"size": 30, "refill_per_min": 2}, "submit_budget": null,
        "setup_commands": ["module load qe", "export A='b c'"], "launcher": "srun",
        "codes": {"espresso": "/opt/my codes/pw.x"},
    }))
    .unwrap_or_default()
}

#[test]
fn quoting_is_the_opposite_of_reading_words() {
    for word in ["a", "a b", "", "it's", "say \"hi\"", "'\"' \"'\"", "x=\t1"] {
        assert_eq!(words(&quoted(word)), Ok(vec![word.to_owned()]), "{word}");
    }
}

#[test]
fn a_new_cluster_says_only_what_was_written() {
    let mut editor = Editor::new();
    write(&mut editor, "name", "hpc1");
    write(&mut editor, "hostname", " login ");
    write(&mut editor, "remote_workdir", "~/cm");
    write(&mut editor, "port", "2222");
    write(&mut editor, "setup_commands", "'module load qe' x");
    write(&mut editor, "codes", "espresso=/opt/pw.x");
    write(&mut editor, "query_budget", "20/5");
    write(&mut editor, "submit_budget", "unlimited");
    let wanted = json!({
        "name": "hpc1", "kind": "slurm", "hostname": "login", "shell": "auto", "port": 2222,
        "remote_workdir": "~/cm", "setup_commands": ["module load qe", "x"],
        "codes": {"espresso": "/opt/pw.x"}, "submit_budget": null,
        "query_budget": {"size": 20, "refill_per_min": 5},
    });
    assert_eq!(editor.params(), Ok(("clusters.create", wanted)));
}

#[test]
fn of_a_cluster_that_is_there_only_changes_are_said() {
    let mut editor = Editor::of(&cluster());
    assert!(!editor.is_changed());
    assert_eq!(editor.params(), Ok(("clusters.update", json!({"id": 3}))));
    write(&mut editor, "port", "");
    write(&mut editor, "queue_name", "debug");
    write(&mut editor, "query_budget", "");
    assert!(editor.is_changed());
    let wanted = json!({"id": 3, "port": null, "queue_name": "debug", "query_budget": null});
    assert_eq!(editor.params(), Ok(("clusters.update", wanted)));
    // What was read and is written again is the same.
    let mut editor = Editor::of(&cluster());
    for field in &mut editor.fields {
        field.before = String::new();
    }
    let (_, params) = editor.params().unwrap_or_default();
    assert_eq!(
        params["setup_commands"],
        json!(["module load qe", "export A='b c'"])
    );
    assert_eq!(params["codes"], json!({"espresso": "/opt/my codes/pw.x"}));
    assert_eq!(
        params["query_budget"],
        json!({"size": 30, "refill_per_min": 2})
    );
    assert_eq!(params["submit_budget"], Value::Null);
}

#[test]
fn what_stands_for_no_value_is_said_of_its_field() {
    let mut editor = Editor::new();
    write(&mut editor, "port", "ssh");
    write(&mut editor, "submit_budget", "many");
    write(&mut editor, "setup_commands", "'open");
    let faults = editor.params().err().unwrap_or_default();
    let keys: Vec<&String> = faults.keys().collect();
    assert_eq!(keys, ["port", "setup_commands", "submit_budget"]);
}

#[test]
fn what_the_daemon_refuses_goes_to_its_field() {
    let refused = |message: &str, data: Value| IpcError::Rpc {
        code: -32602,
        message: message.into(),
        data,
    };
    let mut editor = Editor::new();
    editor.refused(&refused(
        "hostname: no blanks",
        json!({"field": "hostname"}),
    ));
    assert_eq!(editor.faults["hostname"], "no blanks");
    assert_eq!(editor.fields[editor.cursor].key, "hostname");
    let both = json!({"fields": [
        {"field": "codes.Bad", "message": "codes.Bad: lower case"},
        {"field": "name", "message": "is missing"},
    ]});
    editor.refused(&refused("two things", both));
    assert_eq!(editor.faults["codes"], "lower case");
    assert_eq!(editor.fields[editor.cursor].key, "name");
    editor.refused(&refused(
        "the database is locked",
        json!({"kind": "database"}),
    ));
    assert!(editor.faults.is_empty());
    assert_eq!(editor.whole.as_deref(), Some("the database is locked"));
}
