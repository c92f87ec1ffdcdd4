//! The connection: what is shown while there is none, and what is read again when it is back.

use crystalmath::msg::{Effect, Link, Msg};
use crystalmath::rpc::types::JobState;
use serde_json::json;

use super::{NOW, Ui, job, page, ready, refused, some_jobs, unchanged};

const SIZE: (u16, u16) = (80, 24);

fn down() -> Msg {
    Msg::Link(Link::Down {
        cause: "it broke".into(),
        hint: None,
        log: Some("/state/server.log".into()),
    })
}

#[test]
fn a_dead_daemon_leaves_the_rows_and_says_why() {
    let mut ui = Ui::of(&some_jobs(), SIZE);
    ui.send(down());
    ui.clock(125.0);
    let text = ui.picture(SIZE);
    for words in [
        "no daemon · data 2m old",
        "it broke",
        "/state/server.log",
        "Ctrl-r tries again",
        "copper relax",
    ] {
        assert!(text.contains(words), "{words} in\n{text}");
    }
}

#[test]
fn without_a_connection_it_is_tried_again_without_starting_anything() {
    let mut ui = Ui::new(SIZE);
    ui.send(down());
    let at = ui.model.wake_at().unwrap();
    ui.clock(at - NOW);
    assert_eq!(ui.effects, [Effect::Connect { start: false }]);
    ui.effects.clear();
    ui.keys(&["ctrl-r"]);
    assert_eq!(ui.effects, [Effect::Connect { start: true }]);
}

#[test]
fn back_again_everything_is_read_anew() {
    let mut ui = Ui::of(&some_jobs(), SIZE);
    ui.effects.clear();
    ui.send(Msg::Link(Link::Reconnecting));
    assert!(ui.picture(SIZE).contains("reconnecting"));
    ui.send(ready("two"));
    assert!(ui.asked("events.subscribe").is_some());
    let (_, params) = ui.asked("jobs.list").unwrap();
    assert!(
        params.get("if_rev").is_none(),
        "another instance counts its own revisions"
    );
    ui.answer(
        "jobs.list",
        Ok(page(&[job(1, JobState::Completed)], 3, None)),
    );
    assert_eq!(ui.model.data.jobs.len(), 1);
    assert!(ui.picture(SIZE).contains("live"));
}

#[test]
fn with_events_nothing_is_polled() {
    let mut ui = Ui::new(SIZE);
    ui.send(ready("one"));
    let subscribed =
        json!({"status": "ok", "data": {"subscription": 1, "seq": 0, "instance": "one"}});
    ui.answer("events.subscribe", Ok(subscribed));
    ui.answer(
        "jobs.list",
        Ok(page(&[job(1, JobState::Completed)], 3, None)),
    );
    assert_eq!(ui.model.wake_at(), None);
    ui.send(Msg::JobsChanged(vec![job(2, JobState::Created)]));
    assert!(ui.picture(SIZE).contains("job 2"));
    ui.send(Msg::Resync);
    assert!(ui.asked("jobs.list").is_some());
}

#[test]
fn what_came_while_the_list_was_read_stays() {
    let mut ui = Ui::new(SIZE);
    ui.send(ready("one"));
    ui.answer("events.subscribe", Ok(json!({"status": "ok", "data": {}})));
    let mut new = job(9, JobState::Created);
    new.rev = 50;
    ui.send(Msg::JobsChanged(vec![new]));
    ui.answer(
        "jobs.list",
        Ok(page(&[job(1, JobState::Completed)], 40, None)),
    );
    assert!(ui.model.data.jobs.get(9).is_some());
}

#[test]
fn without_events_it_is_asked_each_second_and_only_once_at_a_time() {
    let mut ui = Ui::of(&some_jobs(), SIZE);
    ui.clock(1.0);
    assert_eq!(ui.asked("jobs.list").unwrap().1["if_rev"], 100);
    ui.clock(3.0);
    ui.clock(5.0);
    ui.answer("jobs.list", Ok(unchanged(100)));
    assert!(ui.asked("jobs.list").is_none());
}

#[test]
fn a_list_that_is_refused_is_told_and_asked_for_again() {
    let mut ui = Ui::of(&some_jobs(), SIZE);
    ui.clock(1.0);
    ui.answer(
        "jobs.list",
        Err(refused("database", "the database is locked")),
    );
    let text = ui.picture(SIZE);
    assert!(text.contains("the database is locked"), "{text}");
    assert!(text.contains("copper relax"), "the rows stay");
    ui.clock(7.0);
    ui.answer("jobs.list", Ok(page(&some_jobs(), 101, None)));
    assert!(ui.picture(SIZE).contains("live"));
}

#[test]
fn leaving_is_quick_and_goes_one_level_at_a_time() {
    let mut ui = Ui::of(&some_jobs(), SIZE);
    ui.keys(&["enter"]);
    assert!(ui.picture(SIZE).contains("created "));
    ui.keys(&["q"]);
    assert!(!ui.model.wants_quit());
    ui.keys(&["ctrl-c"]);
    assert!(ui.model.wants_quit());
}
