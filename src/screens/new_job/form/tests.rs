//! What forms are made of and what they make.

use serde_json::json;

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
    let toy = json!({"type": "boolean", "default": false});
    let relax =
        json!({"properties": {"toy": toy, "max_steps": {"type": "integer", "default": 500}}});
    let point = json!({"properties": {"toy": toy}});
    let command = json!({"properties": {"argv": {"type": "array", "items": {"type": "string"}}},
                         "required": ["argv"]});
    let mut forces = code("forces", &["single_point", "relax"], &["emt"], &relax);
    forces.parameters_by_task = [("single_point", point), ("relax", relax)]
        .map(|(task, schema)| {
            (
                task.to_owned(),
                schema.as_object().cloned().unwrap_or_default(),
            )
        })
        .into();
    let deck = json!({"properties": {"deck": {"type": "string"}}});
    vec![
        code("command", &["run"], &[], &command),
        code("espresso", &["scf", "relax"], &[], &deck),
        forces,
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
    form.choose(TASK, "relax");
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
fn a_deck_is_known_by_what_stands_in_it() {
    let mut form = form("silicon", FileKind::Deck);
    assert_eq!(form.text(CODE), "espresso");
    assert_eq!(form.default_deck().as_deref(), Some("silicon"));
    let params = form.params(&Client::default()).expect("nothing is wrong");
    assert_eq!(params["inputs"], json!({"deck": "silicon"}));
    assert_eq!(params["files"][0]["source"], "/w/silicon");
    // What is written goes before.
    form.write(DECK, "other.in");
    let params = form.params(&Client::default()).expect("nothing is wrong");
    assert_eq!(params["inputs"], json!({"deck": "other.in"}));
}

#[test]
fn a_file_that_could_be_two_things_says_so() {
    let doubt = submission::Doubt::NamedStructure;
    let mut form = form("si.cif", FileKind::Either(doubt));
    let faults = form.params(&Client::default()).unwrap_err();
    assert_eq!(faults[0].0, CODE);
    for words in [
        "si.cif is called like a structure",
        "espresso runs the deck",
        "forces reads",
    ] {
        assert!(faults[0].1.contains(words), "{faults:?}");
    }
    form.choose(CODE, "forces");
    form.choose(TASK, "relax");
    let params = form.params(&Client::default()).expect("nothing is wrong");
    assert_eq!(
        params["structure"],
        json!({"path": "/w/si.cif", "format": "pwi"})
    );
}

#[test]
fn texts_that_are_no_values_are_named() {
    let mut form = form("cu.cif", FileKind::Structure);
    form.choose(TASK, "relax");
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
    form.choose(CODE, "command");
    assert_eq!(
        (form.text(NAME), form.text("resources.ntasks")),
        ("mine", "2")
    );
    assert_eq!(form.text("inputs.argv"), "./cu.cif");
    assert!(form.field("inputs.max_steps").is_none());
}

#[test]
fn the_parameters_are_those_of_the_task() {
    let keys = |form: &Form| -> Vec<String> {
        let names = form
            .fields
            .iter()
            .filter_map(|field| field.key.strip_prefix("inputs."));
        names.map(str::to_owned).collect()
    };
    let mut form = form("cu.cif", FileKind::Structure);
    // Until a task is chosen, what all have.
    assert_eq!(keys(&form), ["toy"]);
    form.choose(TASK, "relax");
    assert_eq!(keys(&form), ["toy", "max_steps"]);
    form.choose("inputs.toy", "yes");
    form.choose("inputs.max_steps", "9");
    form.choose(TASK, "single_point");
    assert_eq!(keys(&form), ["toy"]);
    let params = form.params(&Client::default()).expect("nothing is wrong");
    assert_eq!(params["inputs"], json!({"toy": true}));
    // On the way back nothing has to be written again.
    form.choose(TASK, "relax");
    assert_eq!(form.text("inputs.max_steps"), "9");
    form.choose(CODE, "command");
    form.choose(CODE, "forces");
    assert_eq!((form.text(TASK), form.text(ENGINE)), ("relax", "emt"));
    assert_eq!(form.text("inputs.max_steps"), "9");
    // Another file begins anew.
    form.begin(Source {
        name: "ni.cif".into(),
        path: "/w/ni.cif".into(),
        kind: FileKind::Structure,
    });
    form.choose(TASK, "relax");
    assert_eq!(form.text("inputs.max_steps"), "");
}

#[test]
fn errors_of_the_daemon_find_their_field() {
    let mut form = form("cu.cif", FileKind::Structure);
    form.choose(TASK, "relax");
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

fn cluster(name: &str, kind: &str) -> crate::rpc::types::ClusterView {
    serde_json::from_value(json!({
        "id": 1, "name": name, "kind": kind, "queue_name": "debug",
        "probe": {"reachable": true, "partitions": [
            {"name": "debug", "default": true, "available": true, "nodes": 3,
             "max_walltime_s": 3600.0}]},
    }))
    .unwrap_or_default()
}

#[test]
fn a_cluster_is_chosen_with_what_its_scheduler_wants() {
    let mut form = form("cu.cif", FileKind::Structure);
    assert!(form.field(CLUSTER).is_none(), "there is no choice");
    form.take_clusters(vec![cluster("hpc1", "slurm")]);
    assert_eq!(form.text(CLUSTER), "", "a job goes nowhere by itself");
    assert!(form.field("resources.partition").is_none());
    form.choose(CLUSTER, "hpc1");
    let partition = form.field("resources.partition").map(|field| &field.spec);
    assert_eq!(
        partition.and_then(|spec| spec.default.as_deref()),
        Some("debug")
    );
    let help = partition.map_or("", |spec| spec.help.as_str());
    assert!(help.contains("debug *: 3 nodes, at most 1:00:00"), "{help}");
    form.choose("resources.partition", "long");
    form.choose("resources.nodes", "2");
    let client = Client::default();
    let params = form.params(&client).unwrap_or_default();
    assert_eq!(params["cluster"], "hpc1");
    assert_eq!(
        params["resources"],
        json!({"nodes": 2, "partition": "long"})
    );
    // Another cluster comes; what was chosen stays chosen.
    form.take_clusters(vec![cluster("hpc1", "slurm"), cluster("plain", "ssh")]);
    assert_eq!(form.text(CLUSTER), "hpc1");
    assert_eq!(form.text("resources.partition"), "long");
    for (other, wanted) in [("plain", json!("plain")), ("", Value::Null)] {
        form.choose(CLUSTER, other);
        let params = form.params(&client).unwrap_or_default();
        assert_eq!(params["cluster"], wanted);
        assert_eq!(
            params.get("resources"),
            None,
            "no partition without a scheduler"
        );
    }
}
