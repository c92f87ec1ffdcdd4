//! What moves by itself: elapsed times and ages where they are seen, and nothing else.

use crystalmath::config::Config;
use crystalmath::msg::{Link, Msg};
use crystalmath::rpc::types::{JobState, JobSummary};
use crystalmath::widgets::text::{age, age_changes_in, so_far, so_far_changes_in};
use serde_json::json;

use super::{NOW, Ui, job, page, ready};

const SIZE: (u16, u16) = (80, 24);

/// Connected to a daemon that tells what happens by itself.
fn told(config: Config, size: (u16, u16), jobs: &[JobSummary]) -> Ui {
    let mut ui = Ui::with(config, size);
    ui.send(ready("one"));
    ui.answer("events.subscribe", Ok(json!({"status": "ok", "data": {}})));
    ui.answer("jobs.list", Ok(page(jobs, 100, None)));
    ui.model.take_dirty();
    ui
}

fn running(id: i64, elapsed_s: f64, walltime_s: Option<f64>) -> JobSummary {
    JobSummary {
        elapsed_s: Some(elapsed_s),
        walltime_s,
        ..job(id, JobState::Running)
    }
}

/// How often something is drawn within so many seconds, when the program wakes as it wants to.
fn draws(ui: &mut Ui, seconds: f64) -> usize {
    let mut draws = 0;
    while let Some(at) = ui.model.wake_at().filter(|at| *at <= NOW + seconds) {
        ui.send(Msg::Clock(at));
        draws += usize::from(ui.model.take_dirty());
    }
    draws
}

#[test]
fn nothing_is_drawn_while_no_running_job_is_seen() {
    let jobs: Vec<JobSummary> = (1..=50).map(|id| job(id, JobState::Completed)).collect();
    let mut ui = told(Config::default(), SIZE, &jobs);
    assert_eq!(ui.model.wake_at(), None);
    // One runs, far below what is seen.
    let jobs: Vec<JobSummary> = [running(0, 5.0, None)].into_iter().chain(jobs).collect();
    ui = told(Config::default(), SIZE, &jobs);
    assert_eq!(ui.model.wake_at(), None);
    ui.keys(&["G"]);
    assert_eq!(ui.model.wake_at(), Some(NOW + 1.0));
    ui.keys(&["g"]);
    assert_eq!(ui.model.wake_at(), None);
    // No time is seen either: not in the list, not in the pane of the job.
    let config = Config {
        job_columns: vec!["id".into(), "name".into()],
        ..Config::default()
    };
    let ui = told(config, SIZE, &[running(1, 5.0, None)]);
    assert_eq!(ui.model.wake_at(), None);
}

#[test]
fn many_running_jobs_move_together_once_a_second() {
    let jobs: Vec<JobSummary> = (1..=20_i32)
        .map(|id| running(id.into(), 0.37 * f64::from(id), None))
        .collect();
    let mut ui = told(Config::default(), (160, 40), &jobs);
    assert_eq!(draws(&mut ui, 60.0), 60);
}

#[test]
fn long_times_move_once_a_minute() {
    let mut ui = told(
        Config::default(),
        SIZE,
        &[running(1, 11_530.0, Some(28_800.0))],
    );
    assert!(ui.picture(SIZE).contains("3h12m/8h"));
    assert_eq!(draws(&mut ui, 600.0), 10);
    assert!(ui.picture(SIZE).contains("3h22m/8h"));
}

#[test]
fn the_summary_counts_against_the_limit() {
    let size = (160, 40);
    let mut ui = told(Config::default(), size, &[running(1, 100.0, Some(200.0))]);
    let text = ui.picture(size);
    assert!(text.contains("50% 1:40 of 3:20"), "{text}");
    ui.clock(90.0);
    assert!(ui.model.take_dirty());
    let text = ui.picture(size);
    assert!(text.contains("95% 3:10 of 3:20"), "{text}");
    // Near the limit there is a sign, not only a colour.
    let near = told(Config::default(), SIZE, &[running(1, 190.0, Some(200.0))]);
    assert!(near.picture(SIZE).contains(" !3:10/3:20"));
    let mut ended = job(1, JobState::Completed);
    ended.elapsed_s = Some(195.0);
    ended.rev = 5;
    ui.send(Msg::JobsChanged(vec![ended]));
    // The message that it has ended goes; then all is still.
    draws(&mut ui, 200.0);
    assert_eq!(ui.model.wake_at(), None);
}

#[test]
fn a_lost_connection_stops_the_clock_of_the_jobs() {
    let mut ui = told(Config::default(), SIZE, &[running(1, 5.0, None)]);
    ui.clock(3.0);
    assert!(ui.picture(SIZE).contains(" 8s"));
    ui.send(Msg::Link(Link::Reconnecting));
    ui.clock(9.0);
    assert!(!ui.picture(SIZE).contains(" 14s"));
}

#[test]
fn chosen_ages_move_as_they_are_written() {
    let config = Config {
        job_columns: vec!["id".into(), "created".into()],
        ..Config::default()
    };
    let mut ui = told(config, SIZE, &[job(1, JobState::Completed)]);
    // An hour old.
    assert_eq!(ui.model.wake_at(), Some(NOW + 3600.0));
    assert_eq!(draws(&mut ui, 7200.0), 2);
    assert!(ui.picture(SIZE).contains(" 3h"));
}

#[test]
fn a_text_stands_until_it_is_said_to_change() {
    for seconds in [
        0.0, 0.4, 59.9, 60.0, 3599.5, 3600.0, 7261.2, 86_399.0, 1e6, 1e9,
    ] {
        for (text, changes) in [
            (
                so_far as fn(f64) -> String,
                so_far_changes_in as fn(f64) -> Option<f64>,
            ),
            (age, age_changes_in),
        ] {
            let after = changes(seconds).unwrap();
            assert_eq!(text(seconds), text(seconds + after * 0.99), "{seconds}");
            assert_ne!(text(seconds), text(seconds + after * 1.001), "{seconds}");
        }
    }
    for odd in [-1.0, f64::NAN, f64::INFINITY, 1e300] {
        assert_eq!((so_far_changes_in(odd), age_changes_in(odd)), (None, None));
    }
}
