//! The live log: read from its end, then only what is new; older parts when they are scrolled to.

use crystalmath::msg::{Effect, Msg};
use crystalmath::rpc::types::JobState;
use serde_json::{Value, json};

use super::{NOW, Ui, job};

const SIZE: (u16, u16) = (80, 24);

/// A piece of `stdout.log`.
fn piece(text: &str, start: u64, size: u64, eof: bool) -> Value {
    let end = start + text.len() as u64;
    json!({"status": "ok", "data": {"text": text, "start": start, "offset": end, "size": size,
                                    "eof": eof, "path": "stdout.log"}})
}

fn lines(from: usize, to: usize) -> String {
    let lines: Vec<String> = (from..to)
        .map(|index| format!("line {index:05}\n"))
        .collect();
    lines.concat()
}

/// The log of a running job; its end is asked for.
fn open() -> Ui {
    let mut ui = Ui::new(SIZE);
    ui.connect(&[job(1, JobState::Running)]);
    ui.keys(&["enter", "L"]);
    ui
}

fn watched(ui: &Ui) -> Vec<Option<i64>> {
    let found = ui.effects.iter().filter_map(|effect| match effect {
        Effect::WatchLog(job) => Some(*job),
        _ => None,
    });
    found.collect()
}

#[test]
fn its_end_is_read_at_once_whatever_its_length() {
    let mut ui = open();
    let giga = 1_000_000_000;
    let text = lines(0, 100);
    let start = giga - text.len() as u64;
    let params = ui.answer("jobs.log", Ok(piece(&text, start, giga, false)));
    assert_eq!(params["stream"], "output");
    assert!(params["tail"].is_number() && params["offset"].is_null());
    let shown = ui.picture(SIZE);
    assert!(shown.contains("line 00099"), "{shown}");
    assert!(!shown.contains("line 00000"), "{shown}");
}

#[test]
fn only_what_is_new_is_read() {
    let mut ui = open();
    ui.answer("jobs.log", Ok(piece("one\n", 0, 4, false)));
    assert!(ui.asked("jobs.log").is_none());
    // Nobody tells, so it is asked after a second.
    ui.send(Msg::Clock(NOW + 1.1));
    let params = ui.answer("jobs.log", Ok(piece("two\n", 4, 8, false)));
    assert_eq!(params["offset"], 4);
    let shown = ui.picture(SIZE);
    assert!(shown.contains("one") && shown.contains("two"), "{shown}");
}

#[test]
fn a_daemon_that_tells_is_not_asked() {
    let mut ui = Ui::new(SIZE);
    ui.send(super::ready("one"));
    ui.answer("events.subscribe", Ok(json!({"data": {}})));
    let running = [job(1, JobState::Running)];
    ui.answer("jobs.list", Ok(super::page(&running, 100, None)));
    ui.keys(&["enter", "L"]);
    assert_eq!(watched(&ui), [Some(1)]);
    ui.answer("jobs.log", Ok(piece("one\n", 0, 4, false)));
    ui.send(Msg::Clock(NOW + 30.0));
    assert!(ui.asked("jobs.log").is_none());
    let grown = |stream: &str, bytes| Msg::LogGrown {
        job: 1,
        stream: stream.into(),
        bytes,
    };
    ui.send(grown("stderr", 9));
    ui.send(grown("output", 4));
    assert!(ui.asked("jobs.log").is_none());
    ui.send(grown("output", 8));
    // What grows while an answer is under way is read after it.
    ui.send(grown("output", 12));
    ui.answer("jobs.log", Ok(piece("two\n", 4, 8, false)));
    ui.answer("jobs.log", Ok(piece("two\nsix\n", 4, 12, false)));
    let params = ui.answer("jobs.log", Ok(piece("six\n", 8, 12, true)));
    assert_eq!(params["offset"], 8);
    assert_eq!(ui.picture(SIZE).matches("two").count(), 1);
    assert!(ui.picture(SIZE).contains("six"));
    ui.keys(&["shift-tab"]);
    assert_eq!(watched(&ui).last(), Some(&None));
}

#[test]
fn a_file_that_was_replaced_is_read_anew() {
    let mut ui = open();
    ui.answer("jobs.log", Ok(piece("a long first run\n", 0, 17, false)));
    ui.send(Msg::Clock(NOW + 1.1));
    ui.answer("jobs.log", Ok(piece("", 4, 4, false)));
    let params = ui.answer("jobs.log", Ok(piece("new\n", 0, 4, false)));
    assert!(params["tail"].is_number());
    let shown = ui.picture(SIZE);
    assert!(
        shown.contains("new") && !shown.contains("first run"),
        "{shown}"
    );
}

#[test]
fn scrolling_up_reads_what_is_older_and_stays_where_it_is() {
    let mut ui = open();
    let (older, text) = (lines(0, 200), lines(200, 300));
    let start = older.len() as u64;
    let size = start + text.len() as u64;
    ui.answer("jobs.log", Ok(piece(&text, start, size, false)));
    for _ in 0..4 {
        ui.keys(&["pgup"]);
    }
    let before = ui.picture(SIZE);
    let params = ui.answer("jobs.log", Ok(piece(&older, 0, size, false)));
    assert_eq!(
        (&params["offset"], &params["limit"]),
        (&json!(0), &json!(start))
    );
    let first = |text: &str| {
        text.lines()
            .find(|line| line.contains("line 0"))
            .map(|l| l[..10].to_owned())
    };
    assert_eq!(first(&before), first(&ui.picture(SIZE)));
    for _ in 0..20 {
        ui.keys(&["pgup"]);
    }
    assert!(ui.picture(SIZE).contains("line 00000"));
}

#[test]
fn whoever_scrolls_up_is_left_there() {
    let mut ui = open();
    ui.answer("jobs.log", Ok(piece(&lines(0, 100), 0, 1100, false)));
    ui.keys(&["k", "k"]);
    ui.send(Msg::Clock(NOW + 1.1));
    ui.answer("jobs.log", Ok(piece("the end\n", 1100, 1108, false)));
    assert!(!ui.picture(SIZE).contains("the end"));
    ui.keys(&["G"]);
    assert!(ui.picture(SIZE).contains("the end"));
}

#[test]
fn the_top_of_a_huge_log_is_read_from_its_start() {
    let mut ui = open();
    ui.answer(
        "jobs.log",
        Ok(piece("end\n", 999_999_996, 1_000_000_000, true)),
    );
    ui.keys(&["g"]);
    let params = ui.answer("jobs.log", Ok(piece("start\n", 0, 1_000_000_000, false)));
    assert_eq!(params["offset"], 0);
    assert!(ui.picture(SIZE).contains("start"));
    ui.keys(&["G"]);
    let params = ui.answer(
        "jobs.log",
        Ok(piece("end\n", 999_999_996, 1_000_000_000, true)),
    );
    assert!(params["tail"].is_number());
}

#[test]
fn a_search_goes_to_the_hit_also_far_to_the_right() {
    let mut ui = open();
    let long = format!("{}needle{}\n", "x".repeat(1_000_000), "y".repeat(99));
    let text = format!("{}{long}{}", lines(0, 50), lines(50, 99));
    ui.answer("jobs.log", Ok(piece(&text, 0, text.len() as u64, true)));
    ui.keys(&["g", "/"]);
    ui.type_text("needle");
    ui.keys(&["enter"]);
    assert!(ui.picture(SIZE).contains("needle"));
    ui.keys(&["w"]);
    ui.keys(&["n"]);
    assert!(ui.picture(SIZE).contains("needle"));
    ui.keys(&["/"]);
    ui.keys(&["ctrl-u"]);
    ui.type_text("not there");
    ui.keys(&["enter"]);
    assert!(ui.picture(SIZE).contains("is not in the part that is read"));
}

#[test]
fn what_acts_on_a_terminal_is_not_drawn() {
    let mut ui = open();
    let evil = "\u{1b}[2J\u{1b}]0;x\u{7}10%\r20%\rdone\u{1b}[0m\n\u{0}\u{9b}31m\u{202e}abc\n";
    ui.answer("jobs.log", Ok(piece(evil, 0, 60, true)));
    let buffer = ui.buffer(SIZE);
    for cell in buffer.content() {
        assert!(!cell.symbol().chars().any(char::is_control));
    }
    let shown = ui.picture(SIZE);
    assert!(shown.contains("done") && !shown.contains("20%"), "{shown}");
}

#[test]
fn the_streams_and_files_are_changed_through() {
    let mut ui = open();
    ui.answer("jobs.log", Ok(piece("out\n", 0, 4, false)));
    ui.keys(&["E"]);
    assert_eq!(
        ui.answer("jobs.log", Ok(piece("", 0, 0, false)))["stream"],
        "stdout"
    );
    ui.keys(&["E"]);
    assert_eq!(
        ui.answer("jobs.log", Ok(piece("", 0, 0, false)))["stream"],
        "stderr"
    );
    ui.answer(
        "jobs.get",
        Ok(super::job::detail(&job(1, JobState::Running))),
    );
    ui.keys(&["]"]);
    assert_eq!(ui.asked("jobs.read_file").unwrap().1["path"], "input.json");
    assert!(!ui.picture(SIZE).contains("out\n"));
}

#[test]
fn late_answers_of_another_log_are_ignored() {
    let mut ui = open();
    ui.keys(&["E"]);
    ui.answer("jobs.log", Ok(piece("from output\n", 0, 12, false)));
    ui.answer("jobs.log", Ok(piece("from stdout\n", 0, 12, false)));
    let shown = ui.picture(SIZE);
    assert!(
        !shown.contains("from output") && shown.contains("from stdout"),
        "{shown}"
    );
}

#[test]
fn of_an_array_each_task_has_a_log_of_its_own() {
    let mut ui = open();
    let mut found = super::job::detail(&job(1, JobState::Running));
    found["data"]["tasks"] = json!([
        {"task": 1, "state": "COMPLETED"}, {"task": 2, "state": "FAILED"},
        {"task": 3, "state": "SUBMITTED"},
    ]);
    ui.answer("jobs.get", Ok(found));
    // The question about the whole is still under way; its answer is nobody's any more.
    ui.answer("jobs.log", Ok(piece("of the whole\n", 0, 13, false)));
    let params = ui.answer("jobs.log", Ok(piece("of two\n", 0, 7, false)));
    assert_eq!(
        (&params["task"], &params["stream"]),
        (&json!(2), &json!("output"))
    );
    let shown = ui.picture(SIZE);
    assert!(
        shown.contains("of two") && !shown.contains("of the whole"),
        "{shown}"
    );
    assert!(shown.contains("task 2, output: stdout.log"), "{shown}");
    ui.keys(&["]"]);
    let params = ui.answer("jobs.log", Ok(piece("of three\n", 0, 9, false)));
    assert_eq!(params["task"], 3);
    ui.keys(&["E"]);
    let params = ui.answer("jobs.log", Ok(piece("", 0, 0, false)));
    assert_eq!(
        (&params["task"], &params["stream"]),
        (&json!(3), &json!("stdout"))
    );
    // Nobody tells of tasks, so it is asked.
    ui.send(Msg::Clock(NOW + 2.0));
    assert_eq!(
        ui.asked("jobs.log")
            .map(|(_, params)| params["task"].clone()),
        Some(json!(3))
    );
}
