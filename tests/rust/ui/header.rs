//! The header: the clusters with live jobs, and how old what is known of them is.

use crystalmath::error::IpcError;
use crystalmath::msg::{Link, Msg};
use crystalmath::rpc::types::{JobState, JobSummary};
use serde_json::{Value, json};

use super::clusters::cluster;
use super::{Ui, job, page, ready, refused};

const SIZE: (u16, u16) = (140, 24);

fn on(id: i64, state: JobState, cluster: &str) -> JobSummary {
    JobSummary {
        cluster: Some(cluster.into()),
        ..job(id, state)
    }
}

fn list(rows: &[Value]) -> Value {
    json!({"status": "ok", "data": rows, "meta": {"total": rows.len()}})
}

/// Connected; the list of clusters is not answered.
fn told(jobs: &[JobSummary], size: (u16, u16)) -> Ui {
    let mut ui = Ui::new(size);
    ui.send(ready("one"));
    ui.answer("events.subscribe", Ok(json!({"status": "ok", "data": {}})));
    ui.answer("jobs.list", Ok(page(jobs, 100, None)));
    ui
}

fn header(ui: &Ui) -> String {
    let picture = ui.picture(SIZE);
    picture.lines().next().unwrap_or_default().to_owned()
}

fn away() -> Value {
    json!({"status": "error", "unreachable_since": "2026-01-06T11:56:00Z",
           "polled_at": "2026-01-06T11:55:30Z"})
}

#[test]
fn clusters_with_live_jobs_are_named_with_the_age_of_their_data() {
    let jobs = [
        on(1, JobState::Running, "hpc1"),
        on(2, JobState::Submitted, "hpc2"),
        on(3, JobState::Completed, "hpc3"),
    ];
    let mut ui = told(&jobs, SIZE);
    assert!(!header(&ui).contains("hpc"));
    let rows = [
        cluster(1, "hpc1", &json!({})),
        cluster(2, "hpc2", &away()),
        cluster(3, "hpc3", &json!({})),
    ];
    ui.answer("clusters.list", Ok(list(&rows)));
    assert!(
        header(&ui).contains("hpc1 <1m  hpc2 stale 4m  "),
        "{}",
        header(&ui)
    );
    assert!(!header(&ui).contains("hpc3"));
    // It is drawn again when an age changes, and the list is read again twice a minute.
    ui.model.take_dirty();
    ui.clock(29.0);
    assert!(ui.asked("clusters.list").is_none());
    ui.clock(31.0);
    let polled = json!({"polled_at": "2026-01-06T12:00:20Z"});
    ui.answer("clusters.list", Ok(list(&[cluster(1, "hpc1", &polled)])));
    assert!(header(&ui).contains("hpc1 <1m"));
    assert!(!header(&ui).contains("hpc2"));
    ui.clock(62.0);
    ui.answer(
        "clusters.list",
        Err(refused("database", "the database is locked")),
    );
    ui.model.take_dirty();
    let at = ui.model.wake_at();
    ui.clock(80.0);
    assert!(at.is_some() && ui.model.take_dirty());
    assert!(header(&ui).contains("hpc1 1m"), "{}", header(&ui));
    // When its last job ends it is not spoken of any more.
    ui.send(Msg::JobsChanged(vec![JobSummary {
        rev: 99,
        ..on(1, JobState::Completed, "hpc1")
    }]));
    assert!(!header(&ui).contains("hpc1"));
}

#[test]
fn nobody_is_asked_where_every_live_job_is_local() {
    let jobs = [job(1, JobState::Running), on(2, JobState::Failed, "hpc1")];
    let mut ui = told(&jobs, SIZE);
    ui.clock(500.0);
    assert!(ui.asked("clusters.list").is_none());
    ui.send(Msg::JobsChanged(vec![on(3, JobState::Submitted, "hpc1")]));
    assert!(ui.asked("clusters.list").is_some());
}

#[test]
fn a_lost_connection_asks_again_once_it_is_back() {
    let mut ui = told(&[on(1, JobState::Running, "hpc1")], SIZE);
    let lost = IpcError::Disconnected {
        method: "clusters.list".into(),
    };
    ui.answer("clusters.list", Err(lost));
    ui.send(Msg::Link(Link::Reconnecting));
    ui.clock(40.0);
    assert!(ui.asked("clusters.list").is_none());
    ui.send(ready("one"));
    assert!(ui.asked("clusters.list").is_some());
}

#[test]
fn a_narrow_window_drops_what_does_not_fit() {
    let narrow = (80, 24);
    let mut ui = told(
        &[on(1, JobState::Running, "the-large-machine-of-the-centre")],
        narrow,
    );
    ui.answer(
        "clusters.list",
        Ok(list(&[cluster(
            1,
            "the-large-machine-of-the-centre",
            &json!({}),
        )])),
    );
    let picture = ui.picture(narrow);
    let first = picture.lines().next().unwrap_or_default().trim_end();
    assert!(
        first.ends_with("live") && !first.contains("large"),
        "{first}"
    );
}
