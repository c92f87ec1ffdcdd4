//! Cancel, rerun and delete: the question, the mark, and what becomes of it.

use crystalmath::app::Mark;
use crystalmath::rpc::types::{JobState, JobSummary};
use serde_json::json;

use super::{Ui, job, refused, some_jobs};

const SIZE: (u16, u16) = (80, 24);

fn running(count: i64) -> Vec<JobSummary> {
    (1..=count).map(|id| job(id, JobState::Running)).collect()
}

#[test]
fn a_question_names_the_count_and_the_jobs_and_means_no() {
    let mut ui = Ui::of(&running(12), SIZE);
    ui.keys(&["v", "G", "c"]);
    let text = ui.picture(SIZE);
    for words in ["Cancel 12 jobs?", "job 1", "and 4 more", "[ n  No ]"] {
        assert!(text.contains(words), "{words} in\n{text}");
    }
    ui.keys(&["enter"]);
    assert!(
        ui.asked("jobs.cancel").is_none(),
        "Enter on the default changes nothing"
    );
    ui.keys(&["c", "esc"]);
    assert!(ui.asked("jobs.cancel").is_none());
    ui.keys(&["c", "y"]);
    let (_, params) = ui.asked("jobs.cancel").unwrap();
    assert_eq!(params["ids"].as_array().unwrap().len(), 12);
}

#[test]
fn what_does_not_fit_is_left_out_and_counted() {
    let mut ui = Ui::of(&some_jobs(), SIZE);
    ui.keys(&["v", "G", "c"]);
    let text = ui.picture(SIZE);
    assert!(text.contains("Cancel 4 jobs?"), "{text}");
    assert!(text.contains("left out: 4"), "{text}");
    ui.keys(&["n", "esc", "esc", "g"]);
    ui.keys(&["d"]);
    let text = ui.picture(SIZE);
    assert!(text.contains("job 8 is not ended yet"), "{text}");
}

#[test]
fn the_mark_is_there_at_once_and_goes_with_the_reason() {
    let mut ui = Ui::of(&running(1), SIZE);
    ui.keys(&["c", "y"]);
    assert!(ui.picture(SIZE).contains("cancelling"));
    ui.answer("jobs.cancel", Err(refused("database", "the disk is full")));
    let text = ui.picture(SIZE);
    assert!(!text.contains("cancelling"), "{text}");
    assert!(text.contains("the disk is full"), "{text}");
}

#[test]
fn one_refusal_of_many_is_told_and_the_others_go_on() {
    let mut ui = Ui::of(&running(2), SIZE);
    ui.keys(&["v", "G", "c", "y"]);
    let outcomes = json!({"status": "ok", "data": [
        {"id": 1, "ok": true, "state": "CANCELLING"},
        {"id": 2, "ok": false, "kind": "illegal_transition", "message": "job 2 has ended"},
    ], "meta": {"total": 2}});
    ui.answer("jobs.cancel", Ok(outcomes));
    let jobs = &ui.model.data.jobs;
    assert_eq!(jobs.get(1).unwrap().job.state, JobState::Cancelling);
    assert_eq!(jobs.get(2).unwrap().job.state, JobState::Running);
    assert!(ui.picture(SIZE).contains("job 2 has ended"));
}

#[test]
fn deleted_jobs_go_and_the_cursor_goes_on() {
    let jobs: Vec<JobSummary> = (1..=3).map(|id| job(id, JobState::Completed)).collect();
    let mut ui = Ui::of(&jobs, SIZE);
    ui.keys(&["d", "y"]);
    assert_eq!(
        ui.model.data.jobs.get(3).unwrap().mark,
        Some(Mark::Deleting)
    );
    let done = json!({"status": "ok", "data": [{"id": 3, "ok": true}], "meta": {"total": 1}});
    ui.answer("jobs.delete", Ok(done));
    assert_eq!(ui.model.data.jobs.len(), 2);
    assert!(!ui.picture(SIZE).contains("job 3"));
}

#[test]
fn reruns_go_one_by_one_and_stop_at_the_first_refusal() {
    let jobs: Vec<JobSummary> = (1..=3).map(|id| job(id, JobState::Completed)).collect();
    let mut ui = Ui::of(&jobs, SIZE);
    ui.keys(&["v", "G", "r", "y"]);
    let new = json!({"status": "ok", "data": {"job": job(4, JobState::Created)}});
    assert_eq!(ui.answer("jobs.rerun", Ok(new))["id"], 1);
    assert!(ui.picture(SIZE).contains("job 1 runs again as job 4"));
    assert_eq!(
        ui.answer("jobs.rerun", Err(refused("conflict", "no")))["id"],
        2
    );
    assert!(ui.asked("jobs.rerun").is_none());
    assert!(
        ui.picture(SIZE)
            .contains("1 further jobs were not submitted")
    );
    assert!(ui.model.data.jobs.rows().all(|row| row.mark.is_none()));
}
