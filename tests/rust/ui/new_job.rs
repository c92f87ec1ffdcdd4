//! A new job: the choice of a file, the form and its checks, the submission.

use crystalmath::app::Client;
use crystalmath::error::IpcError;
use crystalmath::msg::{Effect, Entry, Link, Msg};
use crystalmath::rpc::types::JobState;
use crystalmath::submission::Kind;
use serde_json::{Value, json};

use super::snapshots::each_named;
use super::{Ui, job, refused, some_jobs};

const SIZE: (u16, u16) = (80, 24);

pub fn codes() -> Value {
    let forces = json!({"properties": {
        "allow_toy_elements": {"type": "boolean", "default": false, "description": "Toys too."},
        "fmax_ev_per_a": {"type": "number", "default": 0.005, "exclusiveMinimum": 0,
                          "description": "Converged when no force is larger."},
        "cell": {"anyOf": [{"enum": ["full", "fixed"], "type": "string"}, {"type": "null"}],
                 "default": null, "description": "What the cell may do."},
        "max_steps": {"type": "integer", "default": 500, "minimum": 1, "maximum": 100_000}}});
    let point = json!({"properties": {"allow_toy_elements": {
        "type": "boolean", "default": false, "description": "Toys too."}}});
    let command = json!({"properties": {
        "argv": {"type": "array", "items": {"type": "string"}, "description": "The program."}},
        "required": ["argv"]});
    json!({"status": "ok", "data": [
        {"name": "command", "title": "any program", "tasks": ["run"], "usable": true,
         "parameters": command},
        {"name": "forces", "title": "force engines", "tasks": ["single_point", "relax"],
         "engines": ["emt"], "usable": true, "parameters": forces,
         "parameters_by_task": {"single_point": point, "relax": forces}}],
        "meta": {"total": 2}})
}

fn dry_run() -> Value {
    json!({"status": "ok", "data": {"job": null, "repeated": false, "dry_run": {
        "files": [{"path": "input.json", "content": "{\n \"task\": \"relax\"\n}\n"}],
        "argv": ["python", "-m", "job"], "env": {"OMP_NUM_THREADS": "1"}, "task": "relax",
        "formula": "Cu", "n_atoms": 4, "warnings": ["a warning"]}}})
}

fn entries() -> Vec<Entry> {
    let entry = |name: &str, is_dir, bytes| Entry {
        name: name.into(),
        is_dir,
        bytes,
    };
    vec![
        entry("runs", true, 0),
        entry(".hidden", false, 1),
        entry("copper.cif", false, 3700),
        entry("copper.sh", false, 192),
        entry("日本.cif", false, 7),
    ]
}

/// The screen, with the directory asked for.
pub fn open(ui: &mut Ui) {
    ui.model.data.client = Client {
        directory: "/work".into(),
        home: Some("/home/me".into()),
        context: json!({}),
        token: "token".into(),
    };
    ui.connect(&some_jobs());
    ui.effects.clear();
    ui.keys(&["a"]);
}

pub fn listed(ui: &mut Ui) -> std::path::PathBuf {
    let found = ui.effects.iter().rev().find_map(|effect| match effect {
        Effect::ListDirectory { id, path } => Some((*id, path.clone())),
        _ => None,
    });
    let (id, path) = found.expect("a directory was asked for");
    ui.effects
        .retain(|effect| !matches!(effect, Effect::ListDirectory { .. }));
    let result = Ok(entries());
    ui.send(Msg::Directory { id, result });
    path
}

pub fn looked(ui: &mut Ui, result: Result<Kind, String>) -> std::path::PathBuf {
    let found = ui.effects.iter().rev().find_map(|effect| match effect {
        Effect::LookAtFile { id, path } => Some((*id, path.clone())),
        _ => None,
    });
    let (id, path) = found.expect("a file was asked for");
    ui.effects
        .retain(|effect| !matches!(effect, Effect::LookAtFile { .. }));
    ui.send(Msg::FileSeen { id, result });
    path
}

/// The form of `copper.cif`, with the first check under way.
pub fn form(ui: &mut Ui) {
    open(ui);
    listed(ui);
    ui.answer("codes.list", Ok(codes()));
    ui.type_text("copper.cif");
    ui.keys(&["enter"]);
    assert_eq!(
        looked(ui, Ok(Kind::Structure)).to_str(),
        Some("/work/copper.cif")
    );
}

/// The form of a relaxation, with its check under way.
fn relaxation(ui: &mut Ui) {
    form(ui);
    // From nothing over single_point.
    ui.keys(&["right", "right"]);
    ui.answer("jobs.submit", Ok(dry_run()));
}

fn invalid(field: &str, message: &str) -> IpcError {
    IpcError::Rpc {
        code: -32602,
        message: message.into(),
        data: json!({"kind": "invalid_params", "field": field}),
    }
}

#[test]
fn pictures_of_the_choice_of_a_file() {
    each_named("new_job_file_loading", open);
    each_named("new_job_file_data", |ui| {
        open(ui);
        listed(ui);
        ui.type_text("cop");
    });
    each_named("new_job_file_error", |ui| {
        open(ui);
        let id = ui.effects.iter().find_map(|effect| match effect {
            Effect::ListDirectory { id, .. } => Some(*id),
            _ => None,
        });
        let result = Err("/work: permission denied".into());
        ui.send(Msg::Directory {
            id: id.unwrap(),
            result,
        });
    });
    each_named("new_job_file_empty", |ui| {
        open(ui);
        listed(ui);
        ui.type_text("zzz");
    });
}

#[test]
fn pictures_of_the_form() {
    each_named("new_job_form_loading", form);
    each_named("new_job_form_data", |ui| {
        relaxation(ui);
        ui.answer("jobs.submit", Ok(dry_run()));
        ui.keys(&["j", "j", "j"]);
    });
    each_named("new_job_form_error", |ui| {
        relaxation(ui);
        let error = invalid("inputs.max_steps", "inputs.max_steps: it is too large");
        ui.answer("jobs.submit", Err(error));
    });
    each_named("new_job_form_stale", |ui| {
        relaxation(ui);
        ui.answer("jobs.submit", Ok(dry_run()));
        ui.send(Msg::Link(Link::Reconnecting));
    });
    each_named("new_job_preview", |ui| {
        relaxation(ui);
        ui.answer("jobs.submit", Ok(dry_run()));
        ui.keys(&["p"]);
    });
}

#[test]
fn paths_are_completed_and_directories_gone_into() {
    let mut ui = Ui::new(SIZE);
    open(&mut ui);
    assert_eq!(listed(&mut ui).to_str(), Some("/work"));
    assert!(!ui.picture(SIZE).contains(".hidden"));
    ui.type_text("c");
    ui.keys(&["tab"]);
    assert!(ui.picture(SIZE).contains("file copper."));
    ui.keys(&["down", "tab"]);
    assert!(ui.picture(SIZE).contains("file copper.sh"));
    ui.keys(&["ctrl-u"]);
    ui.type_text("r");
    ui.keys(&["enter"]);
    assert_eq!(listed(&mut ui).to_str(), Some("/work/runs"));
    ui.keys(&["shift-tab"]);
    assert_eq!(listed(&mut ui).to_str(), Some("/work"));
    ui.keys(&["ctrl-u"]);
    ui.type_text("~/x/");
    assert_eq!(listed(&mut ui).to_str(), Some("/home/me"));
    assert_eq!(listed(&mut ui).to_str(), Some("/home/me/x"));
    ui.keys(&["esc"]);
    assert!(ui.picture(SIZE).contains("Jobs 8"));
}

#[test]
fn a_file_that_cannot_be_used_is_said_to_be_so() {
    let mut ui = Ui::new(SIZE);
    open(&mut ui);
    listed(&mut ui);
    ui.type_text("nothing.cif");
    ui.keys(&["enter"]);
    looked(&mut ui, Err("/work/nothing.cif: no such file".into()));
    assert!(ui.picture(SIZE).contains("no such file"));
}

#[test]
fn the_newest_form_is_checked_and_older_answers_are_ignored() {
    let mut ui = Ui::new(SIZE);
    form(&mut ui);
    // task: from nothing to single_point to relax, while the first check is under way.
    ui.keys(&["right", "right"]);
    ui.answer("jobs.submit", Err(invalid("name", "of the first")));
    assert!(!ui.picture(SIZE).contains("of the first"));
    let params = ui.answer("jobs.submit", Ok(dry_run()));
    assert_eq!(
        (&params["task"], &params["dry_run"]),
        (&json!("relax"), &json!(true))
    );
    assert!(params["client_token"].is_null());
    assert!(ui.asked("jobs.submit").is_none());
    assert!(ui.picture(SIZE).contains("ready"));
}

#[test]
fn faults_stand_at_their_fields() {
    let mut ui = Ui::new(SIZE);
    form(&mut ui);
    let error = IpcError::Rpc {
        code: -32602,
        message: "Invalid params".into(),
        data: json!({"fields": [
            {"field": "engine", "message": "no such engine"},
            {"field": "structure.path", "message": "no structure"}]}),
    };
    ui.answer("jobs.submit", Err(error));
    let text = ui.picture(SIZE);
    let after_engine = text
        .lines()
        .skip_while(|line| !line.contains("engine"))
        .nth(1)
        .unwrap();
    assert!(after_engine.contains("no such engine"), "{text}");
    assert!(
        text.lines().nth(2).unwrap().contains("no structure"),
        "{text}"
    );
    // Nothing is sent that is known to be wrong.
    ui.keys(&["ctrl-s"]);
    assert!(ui.asked("jobs.submit").is_none());
    assert!(ui.picture(SIZE).contains("still wrong"));
}

#[test]
fn the_cursor_is_on_what_is_open_also_when_the_codes_come_late() {
    for moved in [false, true] {
        let mut ui = Ui::new(SIZE);
        open(&mut ui);
        listed(&mut ui);
        ui.type_text("copper.cif");
        ui.keys(&["enter"]);
        looked(&mut ui, Ok(Kind::Structure));
        if moved {
            ui.keys(&["G"]);
        }
        ui.answer("codes.list", Ok(codes()));
        ui.keys(&["right"]);
        let chosen = ui.picture(SIZE).contains("< single_point >");
        assert_eq!(chosen, !moved, "{}", ui.picture(SIZE));
    }
}

#[test]
fn the_task_decides_about_the_parameters() {
    let mut ui = Ui::new(SIZE);
    form(&mut ui);
    assert!(!ui.picture(SIZE).contains("max steps"));
    ui.keys(&["right"]);
    assert!(!ui.picture(SIZE).contains("max steps"));
    ui.keys(&["right"]);
    assert!(ui.picture(SIZE).contains("max steps"));
    // The list does the same as the arrow.
    ui.keys(&["enter", "g", "home", "up", "enter"]);
    assert!(!ui.picture(SIZE).contains("max steps"));
}

#[test]
fn what_is_no_number_is_not_sent() {
    let mut ui = Ui::new(SIZE);
    relaxation(&mut ui);
    ui.answer("jobs.submit", Ok(dry_run()));
    // From the task over engine, model and the first parameter to fmax.
    ui.keys(&["j", "j", "j", "j", "enter"]);
    ui.type_text("1e");
    assert!(ui.picture(SIZE).contains("not a number"));
    // The first digit alone was one, and is being checked.
    ui.answer("jobs.submit", Ok(dry_run()));
    assert!(ui.asked("jobs.submit").is_none());
    ui.type_text("-3");
    ui.keys(&["enter"]);
    let params = ui.answer("jobs.submit", Ok(dry_run()));
    assert_eq!(params["inputs"], json!({"fmax_ev_per_a": 0.001}));
    ui.keys(&["k", "enter"]);
    ui.type_text("9");
    ui.keys(&["esc"]);
    assert!(ui.picture(SIZE).contains("1e-3 "));
}

#[test]
fn it_is_submitted_once_and_shown() {
    let mut ui = Ui::new(SIZE);
    form(&mut ui);
    ui.keys(&["right", "right"]);
    ui.answer("jobs.submit", Ok(dry_run()));
    ui.answer("jobs.submit", Ok(dry_run()));
    ui.keys(&["ctrl-s", "ctrl-s"]);
    let mut created = job(99, JobState::Created);
    created.name = "copper relax".into();
    let answer = json!({"data": {"job": created, "repeated": false}});
    let params = ui.answer("jobs.submit", Ok(answer));
    assert!(ui.asked("jobs.submit").is_none(), "it was sent twice");
    assert!(params["dry_run"].is_null());
    let token = params["client_token"].as_str().unwrap();
    assert!(token.starts_with("token-"), "{token}");
    assert_eq!(params["structure"], json!({"path": "/work/copper.cif"}));
    assert_eq!(params["name"], "copper relax");
    let text = ui.picture(SIZE);
    assert!(
        text.contains("99 copper relax") && text.contains("[Summary]"),
        "{text}"
    );
}

#[test]
fn a_resend_after_a_lost_connection_has_the_same_token() {
    let mut ui = Ui::new(SIZE);
    form(&mut ui);
    ui.answer("jobs.submit", Ok(dry_run()));
    ui.keys(&["ctrl-s"]);
    let lost = IpcError::Disconnected {
        method: "jobs.submit".into(),
    };
    let first = ui.answer("jobs.submit", Err(lost));
    ui.keys(&["ctrl-s"]);
    let second = ui.answer("jobs.submit", Err(refused("database", "locked")));
    assert_eq!(first, second);
    ui.keys(&["right"]);
    ui.answer("jobs.submit", Ok(dry_run()));
    ui.keys(&["ctrl-s"]);
    let third = ui.asked("jobs.submit").unwrap().1;
    assert_ne!(third["client_token"], second["client_token"]);
}

#[test]
fn a_program_brings_its_further_files() {
    let mut ui = Ui::new(SIZE);
    open(&mut ui);
    listed(&mut ui);
    ui.answer("codes.list", Ok(codes()));
    ui.type_text("copper.sh");
    ui.keys(&["enter"]);
    looked(&mut ui, Ok(Kind::Program));
    ui.answer("jobs.submit", Ok(dry_run()));
    // The button, then up over the name.
    ui.keys(&["G", "k", "k", "enter"]);
    ui.type_text("d");
    assert_eq!(
        looked(&mut ui, Err("no file".into())).to_str(),
        Some("/work/d")
    );
    assert!(ui.picture(SIZE).contains("no file"));
    ui.type_text("at");
    looked(&mut ui, Err("no file".into()));
    assert_eq!(
        looked(&mut ui, Ok(Kind::Unknown)).to_str(),
        Some("/work/dat")
    );
    let params = ui.answer("jobs.submit", Ok(dry_run()));
    assert_eq!(
        params["files"],
        json!([{"path": "copper.sh", "source": "/work/copper.sh", "executable": true},
               {"path": "dat", "source": "/work/dat", "executable": false}])
    );
    assert_eq!(params["inputs"], json!({"argv": ["./copper.sh"]}));
}

#[test]
fn a_file_of_no_known_kind_needs_a_code() {
    let mut ui = Ui::new(SIZE);
    open(&mut ui);
    listed(&mut ui);
    ui.answer("codes.list", Ok(codes()));
    ui.type_text("notes");
    ui.keys(&["enter"]);
    looked(&mut ui, Ok(Kind::Unknown));
    assert!(ui.picture(SIZE).contains("choose the code"));
    assert!(ui.asked("jobs.submit").is_none());
    ui.keys(&["enter"]);
    let text = ui.picture(SIZE);
    assert!(text.contains("command    any program"), "{text}");
    ui.keys(&["enter"]);
    assert_eq!(ui.asked("jobs.submit").unwrap().1["code"], "command");
}
