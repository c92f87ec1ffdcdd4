//! The job list: cursor and selection by number, filter, sorting, columns, and only what is seen is
//! made.

use std::cell::Cell;

use crystalmath::config::{Config, SortBy};
use crystalmath::msg::{Effect, Msg};
use crystalmath::rpc::types::{JobState, JobSummary};
use crystalmath::screens::jobs::ColumnId;
use crystalmath::theme::Theme;
use crystalmath::widgets::table::{self, Column, Line, Place, Table};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::fuzz::Numbers;
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
fn at_the_top_of_the_list_new_jobs_are_seen() {
    let mut ui = Ui::of(&many(50), SIZE);
    ui.send(Msg::JobsChanged(vec![job(51, JobState::Running)]));
    assert!(cursor_line(&ui).contains("job 50"), "{}", cursor_line(&ui));
    assert!(ui.picture(SIZE).contains("job 51"), "{}", ui.picture(SIZE));
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

/// The numbers in the order in which they are listed.
fn listed(ui: &Ui, size: (u16, u16)) -> Vec<String> {
    let text = ui.picture(size);
    let lines = text.lines().skip_while(|line| !line.contains("Id"));
    let numbers = lines.skip(1).map(|line| line.trim_matches(['│', '▌', ' ']));
    let numbers = numbers.filter_map(|line| line.split_whitespace().next());
    numbers
        .take_while(|word| word.parse::<i64>().is_ok())
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_list_that_is_kept_by_events_is_the_one_that_is_read() {
    let size = (100, 60);
    let mut numbers = Numbers::of(7);
    let names = [
        "",
        "b",
        "an equal beginning",
        "an equal beginning, then not",
        "an equal begi",
    ];
    let states = [JobState::Running, JobState::Created, JobState::Lost];
    let change = |numbers: &mut Numbers, id: i64, rev: i64| {
        let mut job = job(id, numbers.pick(&states).clone());
        job.rev = rev;
        job.name = (*numbers.pick(&names)).into();
        job.formula = [None, Some("MgO".into()), Some(String::new())][numbers.below(3)].clone();
        job.n_atoms = [None, Some(2), Some(-2), Some(40)][numbers.below(4)];
        job.science.energy_ev = [None, Some(-1.5), Some(0.0), Some(3e9)][numbers.below(4)];
        job.created_at =
            ["2026-01-06T11:00:00Z", "2025-01-06T11:00:00+01:00"][numbers.below(2)].into();
        job.elapsed_s = [None, Some(3.0), Some(4000.0)][numbers.below(3)];
        job.tags =
            [vec![], vec!["b".into()], vec!["b".into(), "a".into()]][numbers.below(3)].clone();
        job
    };
    for column in ColumnId::ALL {
        for filter in ["", "be", "state:running", "time>1m"] {
            let config = |sign: &str| Config {
                job_columns: vec!["id".into(), column.name().into()],
                job_sort: Some(SortBy::parse(&format!("{sign}{}", column.name()))),
                ..Config::default()
            };
            let mut all: Vec<JobSummary> =
                (1..=40).map(|id| change(&mut numbers, id, id)).collect();
            let mut kept = Ui::with(config(""), size);
            kept.connect(&all);
            kept.keys(&["/"]);
            kept.type_text(filter);
            kept.keys(&["enter"]);
            for round in 0..6 {
                if round == 3 {
                    kept.keys(&["S"]);
                }
                let id = i64::try_from(numbers.below(45)).unwrap() + 1;
                all.retain(|job| job.id != id);
                if numbers.below(4) == 0 {
                    kept.send(Msg::JobsGone(vec![id]));
                } else {
                    all.push(change(&mut numbers, id, 100 + round));
                    kept.send(Msg::JobsChanged(all.last().cloned().into_iter().collect()));
                }
            }
            // Sorted anew, where the other one was turned round.
            let mut read = Ui::with(config("-"), size);
            read.connect(&all);
            read.keys(&["/"]);
            read.type_text(filter);
            read.keys(&["enter"]);
            let (kept, read) = (listed(&kept, size), listed(&read, size));
            assert_eq!(kept, read, "{} {filter:?}", column.name());
            if filter.is_empty() {
                assert_eq!(read.len(), all.len());
            }
        }
    }
}

#[test]
fn texts_and_numbers_sort_as_they_are_read() {
    let size = (100, 40);
    let sorted = |by: &str, change: &dyn Fn(usize, &mut JobSummary)| {
        let mut jobs = many(5);
        for (index, job) in jobs.iter_mut().enumerate() {
            change(index, job);
        }
        let mut ui = Ui::with(
            Config {
                job_columns: vec!["id".into(), "name".into()],
                job_sort: Some(SortBy::parse(by)),
                ..Config::default()
            },
            size,
        );
        ui.connect(&jobs);
        listed(&ui, size).join(" ")
    };
    // Long ones that begin alike; the newest first where all is alike.
    let names = [
        "a long name, end z",
        "a long name, end a",
        "a long name, ",
        "b",
        "a long name, end a",
    ];
    let name = |index: usize, job: &mut JobSummary| job.name = names[index].into();
    assert_eq!(sorted("name", &name), "3 5 2 1 4");
    assert_eq!(sorted("-name", &name), "4 1 5 2 3");
    let energies = [Some(-10.5), None, Some(0.25), Some(-2.0), Some(1e6)];
    let energy = |index: usize, job: &mut JobSummary| job.science.energy_ev = energies[index];
    assert_eq!(sorted("energy", &energy), "2 1 4 3 5");
    assert_eq!(sorted("-energy", &energy), "5 3 4 1 2");
    let times = [
        "2026-01-05T11:00:00Z",
        "2026-01-06T11:00:00Z",
        "2024-01-06T11:00:00Z",
        "?",
        "2026-01-06T12:30:00+02:00",
    ];
    let time = |index: usize, job: &mut JobSummary| job.created_at = times[index].into();
    assert_eq!(sorted("created", &time), "4 2 5 1 3");
}
