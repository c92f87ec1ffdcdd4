//! A job whose parts are gone: removed while it is open, its directory deleted by hand; and the
//! daemon's sentences in the words of the UI.

use crystalmath::msg::Msg;
use crystalmath::rpc::types::{JobState, JobSummary};
use serde_json::{Value, json};

use super::job::{detail, relaxed};
use super::{Ui, job, refused, some_jobs};

const SIZE: (u16, u16) = (80, 24);

fn failed() -> JobSummary {
    let mut row = relaxed();
    row.state = JobState::Failed;
    row.reason = Some("not_converged".into());
    row
}

fn open(row: &JobSummary, change: impl Fn(&mut Value)) -> Ui {
    let mut ui = Ui::of(std::slice::from_ref(row), SIZE);
    ui.keys(&["enter"]);
    let mut answer = detail(row);
    change(&mut answer["data"]);
    ui.answer("jobs.get", Ok(answer));
    ui
}

#[test]
fn a_job_that_is_removed_while_it_is_open_gives_the_keys_back_to_the_list() {
    let mut ui = Ui::of(&some_jobs(), SIZE);
    ui.keys(&["j", "j", "enter"]);
    assert!(ui.picture(SIZE).contains("[Summary]"));
    // A question about it is open as well.
    ui.keys(&["d"]);
    ui.send(Msg::JobsGone(vec![6]));
    let text = ui.picture(SIZE);
    assert!(text.contains("job 6 was removed"), "{text}");
    assert!(
        text.contains("Jobs 7") && !text.contains("Delete job"),
        "{text}"
    );
    // The next key is about nothing that was not meant.
    ui.keys(&["y"]);
    assert!(ui.asked("jobs.delete").is_none());
}

#[test]
fn another_job_that_is_removed_changes_nothing_here() {
    let mut ui = Ui::of(&some_jobs(), SIZE);
    ui.keys(&["j", "j", "enter"]);
    ui.send(Msg::JobsGone(vec![1]));
    let text = ui.picture(SIZE);
    assert!(
        text.contains("6 job 6") && text.contains("[Summary]"),
        "{text}"
    );
}

#[test]
fn a_directory_that_is_gone_is_told() {
    let mut ui = open(&failed(), |job| job["directory_gone"] = true.into());
    ui.keys(&["G"]);
    let text = ui.picture(SIZE);
    assert!(
        text.contains("gone: it was deleted or moved by hand"),
        "{text}"
    );
    ui.keys(&["tab"]);
    let mut error = refused("not_found", "the directory of job 1 is gone");
    if let crystalmath::error::IpcError::Rpc { data, .. } = &mut error {
        data["hint"] = "`jobs.delete` takes it off the list".into();
    }
    ui.answer("jobs.log", Err(error));
    let text = ui.picture(SIZE);
    assert!(
        text.contains("the directory of job 1 is gone (`delete` takes it off the list)"),
        "{text}"
    );
}

#[test]
fn hints_are_in_the_words_of_this_program() {
    let ui = open(&failed(), |job| {
        job["hint"] = "`jobs.continue` goes on; more time: `resources.walltime_s`".into();
        job["warnings"] = json!(["see `inputs.max_steps`"]);
    });
    let text = ui.picture(SIZE);
    assert!(
        text.contains("`continue` goes on; more time: `time limit`"),
        "{text}"
    );
    assert!(text.contains("see `max steps`"), "{text}");
}

#[test]
fn going_on_shows_what_changes_and_of_long_parts_the_beginning() {
    let mut ui = open(&failed(), |_| {});
    ui.keys(&["R"]);
    let lines: Vec<String> = (1..=40).map(|number| format!("{number}.5,")).collect();
    let plan = json!({"data": {"fix": "max_steps 2 to 4", "changes": [
        {"file": "input.json", "before": "  \"max_steps\": 2,", "after": "  \"max_steps\": 4,"},
        {"file": "input.json", "before": lines.join("\n"), "after": "0\n1\n2"},
    ]}});
    ui.answer("jobs.continue", Ok(plan));
    let text = ui.picture(SIZE);
    for words in [
        "-   \"max_steps\": 2,",
        "+   \"max_steps\": 4,",
        "- 2.5,",
        "- and 38 more lines",
        "+ 2 ",
    ] {
        assert!(text.contains(words), "{words} in\n{text}");
    }
    assert!(!text.contains("- 3.5,"), "{text}");
    ui.keys(&["y"]);
    let mut next = job(9, JobState::Created);
    next.name = "copper relax".into();
    ui.answer("jobs.continue", Ok(json!({"data": {"job": next}})));
    let text = ui.picture(SIZE);
    assert!(
        text.contains("9 copper relax") && text.contains("goes on as job 9"),
        "{text}"
    );
}
