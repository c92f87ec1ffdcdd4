//! What forms are made of and what they make.

use super::*;
use crate::submission::Kind as FileKind;

fn code(name: &str, tasks: &[&str], engines: &[&str], parameters: &Value) -> CodeInfo {
    CodeInfo {
        name: name.into(),
        tasks: tasks.iter().map(|task| (*task).to_owned()).collect(),
        engines: engines.iter().map(|engine| (*engine).to_owned()).collect(),
        parameters: parameters.as_object().cloned().unwrap_or_default(),
        ..CodeInfo::default()
    }
}

fn codes() -> Vec<CodeInfo> {
    let forces = json!({"properties": {"max_steps": {"type": "integer", "default": 500}}});
    let command = json!({"properties": {"argv": {"type": "array", "items": {"type": "string"}}},
                         "required": ["argv"]});
    vec![
        code("command", &["run"], &[], &command),
        code("forces", &["single_point", "relax"], &["emt"], &forces),
    ]
}

fn form(name: &str, kind: FileKind) -> Form {
    let mut form = Form::default();
    form.take_codes(codes());
    form.begin(Source {
        name: name.into(),
        path: format!("/w/{name}"),
        kind,
    });
    form
}

#[test]
fn a_structure_is_for_forces() {
    let mut form = form("cu.cif", FileKind::Structure);
    assert_eq!((form.text(CODE), form.text(ENGINE)), ("forces", "emt"));
    form.write(TASK, "relax");
    form.write("inputs.max_steps", "9");
    form.write("resources.walltime_s", "30:00");
    let params = form.params(&Client::default());
    assert_eq!(
        params,
        Ok(
            json!({"name": "cu relax", "code": "forces", "task": "relax", "engine": "emt",
                  "structure": {"path": "/w/cu.cif"}, "inputs": {"max_steps": 9},
                  "resources": {"walltime_s": "30:00"}})
        )
    );
}

#[test]
fn a_program_is_a_command_with_its_files() {
    let mut form = form("run me.sh", FileKind::Program);
    form.write(FILES, "data.txt /x/tool.py");
    let client = Client {
        directory: "/w".into(),
        context: json!({"VASP_PP_PATH": "/p"}),
        ..Client::default()
    };
    let waiting = form.params(&client).unwrap_err();
    assert!(waiting.iter().all(|(key, _)| key == FILES));
    form.kinds
        .insert("/w/data.txt".into(), Ok(FileKind::Unknown));
    form.kinds
        .insert("/x/tool.py".into(), Ok(FileKind::Program));
    assert_eq!(
        form.params(&client),
        Ok(
            json!({"name": "run me run", "code": "command", "task": "run",
            "inputs": {"argv": ["./run me.sh"]}, "context": {"VASP_PP_PATH": "/p"},
            "files": [
                {"path": "run me.sh", "source": "/w/run me.sh", "executable": true},
                {"path": "data.txt", "source": "/w/data.txt", "executable": false},
                {"path": "tool.py", "source": "/x/tool.py", "executable": true}]})
        )
    );
}

#[test]
fn texts_that_are_no_values_are_named() {
    let mut form = form("cu.cif", FileKind::Structure);
    form.write("inputs.max_steps", "many");
    form.write("resources.ntasks", "1.5");
    let faults = form.params(&Client::default()).unwrap_err();
    let keys: Vec<&str> = faults.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(keys, ["inputs.max_steps", "resources.ntasks"]);
    let unknown = self::form("notes", FileKind::Unknown).params(&Client::default());
    assert_eq!(unknown.unwrap_err()[0].0, CODE);
}

#[test]
fn what_is_written_stays_when_the_code_changes() {
    let mut form = form("cu.cif", FileKind::Structure);
    form.write(NAME, "mine");
    form.write("resources.ntasks", "2");
    form.make_fields("command");
    assert_eq!(
        (form.text(NAME), form.text("resources.ntasks")),
        ("mine", "2")
    );
    assert_eq!(form.text("inputs.argv"), "./cu.cif");
    assert!(form.field("inputs.max_steps").is_none());
}

#[test]
fn errors_of_the_daemon_find_their_field() {
    let form = form("cu.cif", FileKind::Structure);
    let cases = [
        ("inputs.max_steps", Some("inputs.max_steps")),
        ("structure.path", Some(FILE)),
        ("files.0.source", Some(FILES)),
        ("engine", Some(ENGINE)),
        ("nowhere", None),
        ("", None),
    ];
    for (path, key) in cases {
        assert_eq!(form.field_of(path), key, "{path}");
    }
    let data = json!({"fields": [{"field": "name", "message": "too long"},
                                 {"field": "x", "message": "what"}]});
    let (faults, whole) = faults_of(&form, &data, "Invalid params");
    assert_eq!(faults, [(NAME.to_owned(), "too long".to_owned())]);
    assert_eq!(whole.as_deref(), Some("what"));
    let data = json!({"field": "engine"});
    let (faults, _) = faults_of(&form, &data, "engine: 'x' is no engine");
    assert_eq!(faults, [(ENGINE.to_owned(), "'x' is no engine".to_owned())]);
}
