//! The job list: cursor and selection by number, filter, sorting, columns, and only what is seen is
//! made.

use std::cell::Cell;

use crystalmath::msg::{Effect, Msg};
use crystalmath::rpc::types::{JobState, JobSummary};
use crystalmath::theme::Theme;
use crystalmath::widgets::table::{self, Column, Line, Place, Table};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Ui, job, page, some_jobs, unchanged};

const SIZE: (u16, u16) = (80, 24);

fn cursor_line(ui: &Ui) -> String {
    // Without the detail pane, the row with the cursor is the one in the style of the cursor.
    let buffer = ui.buffer(SIZE);
    let style = Theme::built_in("dark")
        .unwrap()
        .style(crystalmath::theme::Role::Cursor);
    let row = (0..SIZE.1 - 1).find(|y| Some(buffer[(1, *y)].bg) == style.bg && *y > 1);
    let text = ui.picture(SIZE);
    row.and_then(|y| text.lines().nth(usize::from(y)).map(str::to_owned))
        .unwrap_or_default()
}

fn many(count: i64) -> Vec<JobSummary> {
    (1..=count).map(|id| job(id, JobState::Completed)).collect()
}

#[test]
fn the_newest_stands_first_and_the_cursor_moves() {
    let mut ui = Ui::of(&many(50), SIZE);
    assert!(cursor_line(&ui).contains("job 50"));
    for (keys, wanted) in [
        (&["j", "j"][..], "job 48"),
        (&["k"], "job 49"),
        (&["G"], "job 1"),
        (&["g"], "job 50"),
        (&["end"], "job 1"),
        (&["home"], "job 50"),
        (&["ctrl-d"], "job 40"),
        (&["ctrl-u"], "job 50"),
        (&["pgdn"], "job 30"),
        (&["up"], "job 31"),
    ] {
        ui.keys(keys);
        let line = cursor_line(&ui);
        assert!(line.contains(&format!(" {wanted} ")), "{keys:?}: {line}");
    }
}

#[test]
fn the_cursor_stays_on_its_job_and_its_line_when_jobs_come() {
    let mut ui = Ui::of(&many(50), SIZE);
    ui.keys(&["pgdn", "pgdn", "k", "k"]);
    let before = ui
        .picture(SIZE)
        .lines()
        .position(|line| line.contains(" job 12 "));
    assert!(cursor_line(&ui).contains("job 12"));
    ui.send(Msg::JobsChanged(
        (51..60).map(|id| job(id, JobState::Created)).collect(),
    ));
    assert!(cursor_line(&ui).contains("job 12"));
    let after = ui
        .picture(SIZE)
        .lines()
        .position(|line| line.contains(" job 12 "));
    assert_eq!(before, after);
}

#[test]
fn the_cursor_comes_back_to_its_job_after_a_filter() {
    let mut ui = Ui::of(&some_jobs(), SIZE);
    ui.keys(&["j", "j", "j"]);
    assert!(cursor_line(&ui).contains(" 5 "));
    ui.keys(&["/"]);
    ui.type_text("state:running");
    assert!(!cursor_line(&ui).contains("cancelled"));
    ui.keys(&["enter"]);
    ui.keys(&["esc"]);
    assert!(
        cursor_line(&ui).contains("cancelled"),
        "{}",
        cursor_line(&ui)
    );
}

#[test]
fn a_wrong_filter_is_told_and_the_last_good_one_stays() {
    let mut ui = Ui::of(&some_jobs(), SIZE);
    ui.keys(&["/"]);
    ui.type_text("state:running");
    assert!(ui.picture(SIZE).contains("shown 2"));
    ui.type_text(" colour:red");
    let text = ui.picture(SIZE);
    assert!(text.contains("there is no field \"colour\""), "{text}");
    ui.keys(&["esc"]);
    let text = ui.picture(SIZE);
    assert!(!text.contains("there is no field"), "{text}");
    assert!(text.contains("copper relax"));
}

#[test]
fn keys_are_text_while_a_filter_is_typed() {
    let mut ui = Ui::of(&some_jobs(), SIZE);
    ui.keys(&["/"]);
    ui.type_text("cqd?:1");
    assert!(ui.picture(SIZE).contains("filter cqd?:1"));
    assert!(!ui.model.wants_quit());
}

#[test]
fn sorting_goes_through_the_columns() {
    let mut ui = Ui::of(&some_jobs(), SIZE);
    ui.keys(&["s"]);
    let text = ui.picture(SIZE);
    assert!(text.contains("Name▲"), "{text}");
    let first = text.lines().nth(3).unwrap().to_owned();
    assert!(first.contains("MgO"), "{first}");
    ui.keys(&["S"]);
    let text = ui.picture(SIZE);
    assert!(text.contains("Name▼"), "{text}");
    // The cursor stayed on job 8.
    assert!(cursor_line(&ui).contains("job 8"));
}

#[test]
fn columns_are_chosen_and_at_least_one_stays() {
    let mut ui = Ui::of(&some_jobs(), SIZE);
    ui.keys(&["C", "j", "j", "j", "space", "enter"]);
    assert!(!ui.picture(SIZE).contains("espresso"));
    ui.keys(&["C"]);
    for _ in 0..6 {
        ui.keys(&["space", "j"]);
    }
    ui.keys(&["enter"]);
    assert!(ui.picture(SIZE).contains("at least one column stays"));
}

#[test]
fn rows_are_selected_one_by_one_and_as_a_range() {
    let mut ui = Ui::of(&many(20), SIZE);
    ui.keys(&["space", "space"]);
    assert!(ui.picture(SIZE).contains("selected 2"));
    ui.keys(&["v", "j", "j", "j"]);
    assert!(ui.picture(SIZE).contains("selected 6"));
    // A range that shrinks gives rows back.
    ui.keys(&["k"]);
    assert!(ui.picture(SIZE).contains("selected 5"));
    ui.keys(&["esc"]);
    assert!(ui.picture(SIZE).contains("selected 5"));
    ui.keys(&["esc"]);
    assert!(!ui.picture(SIZE).contains("selected"));
}

#[test]
fn copying_asks_what_and_gives_the_text_to_the_terminal() {
    let mut ui = Ui::of(&some_jobs(), SIZE);
    ui.keys(&["y", "enter"]);
    assert!(ui.effects.contains(&Effect::Copy("8".into())));
    ui.keys(&["y", "j", "enter"]);
    let path = format!("/data/jobs/{:032x}", 8);
    assert!(ui.effects.contains(&Effect::Copy(path)));
}

#[test]
fn times_go_on_while_a_job_runs_and_nothing_moves_otherwise() {
    let mut ui = Ui::of(&some_jobs(), SIZE);
    assert!(ui.picture(SIZE).contains(" 59s"));
    ui.clock(2.0);
    assert!(ui.model.take_dirty());
    assert!(ui.picture(SIZE).contains(" 1:01"));

    let mut ui = Ui::of(&many(3), SIZE);
    ui.model.take_dirty();
    // A daemon without events is asked, which shows only when something has changed.
    ui.clock(1.5);
    ui.answer("jobs.list", Ok(unchanged(100)));
    assert!(!ui.model.take_dirty());
}

#[test]
fn a_long_list_comes_in_pages_and_gone_jobs_go() {
    let mut ui = Ui::new(SIZE);
    ui.send(super::ready("one"));
    ui.answer("events.subscribe", Err(super::not_built()));
    let first: Vec<JobSummary> = (300..500).map(|id| job(id, JobState::Completed)).collect();
    let rest: Vec<JobSummary> = (1..300).map(|id| job(id, JobState::Completed)).collect();
    let params = ui.answer("jobs.list", Ok(page(&first, 1000, Some("a"))));
    assert_eq!(params["limit"], 200);
    assert!(
        ui.picture(SIZE).contains("job 499"),
        "the first page is shown at once"
    );
    let params = ui.answer("jobs.list", Ok(page(&rest, 1000, None)));
    assert_eq!(params["after"], "a");
    assert_eq!(ui.model.data.jobs.len(), 499);
    ui.clock(1.0);
    let params = ui.answer("jobs.list", Ok(page(&first, 1001, None)));
    assert_eq!(params["if_rev"], 1000);
    assert_eq!(ui.model.data.jobs.len(), 200);
}

#[test]
fn of_a_hundred_thousand_rows_only_the_seen_ones_are_made() {
    let made = Cell::new(0);
    let row = |_: usize| {
        made.set(made.get() + 1);
        Line::default()
    };
    let columns = [Column {
        title: "x".into(),
        width: 5,
        share: 1,
        right: false,
        rank: 0,
    }];
    let table = Table {
        columns: &columns,
        count: 100_000,
        place: Place {
            cursor: 50_003,
            offset: 50_000,
        },
        focused: true,
        row: &row,
    };
    let area = Rect::new(0, 0, 80, 21);
    let mut buffer = Buffer::empty(area);
    table::draw(&table, area, &mut buffer, &Theme::built_in("dark").unwrap());
    assert_eq!(made.get(), 20);
}

#[test]
fn old_news_changes_nothing() {
    let mut ui = Ui::of(&many(3), SIZE);
    let mut old = job(2, JobState::Running);
    old.rev = 1;
    ui.send(Msg::JobsChanged(vec![old]));
    assert_eq!(
        ui.model.data.jobs.get(2).unwrap().job.state,
        JobState::Completed
    );
}

#[test]
fn a_job_that_ends_is_told_to_the_desktop_once() {
    let mut ui = Ui::of(&[job(1, JobState::Running)], SIZE);
    let mut ended = job(1, JobState::Failed);
    ended.rev = 5;
    ui.send(Msg::JobsChanged(vec![ended.clone()]));
    let told = |ui: &Ui| {
        ui.effects
            .iter()
            .filter(|effect| matches!(effect, Effect::Notify { .. }))
            .count()
    };
    assert_eq!(told(&ui), 1);
    ended.rev = 6;
    ended.tags = vec!["seen".into()];
    ui.send(Msg::JobsChanged(vec![ended]));
    assert_eq!(told(&ui), 1);
    assert!(ui.picture(SIZE).contains("job 1 failed"));
}
