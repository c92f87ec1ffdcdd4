//! The UI as a stream of lines: what is told, and what is not.

use crystalmath::app::Lines;
use crystalmath::msg::{Link, Msg};
use crystalmath::rpc::types::{JobState, JobSummary};

use super::{Ui, job, page, ready, some_jobs};

/// Fed by hand, with the list told.
fn begun(jobs: &[JobSummary]) -> (Ui, Lines) {
    let ui = Ui::of(jobs, (0, 0));
    let mut lines = Lines::default();
    assert!(lines.look(&ui.model.data).is_empty());
    assert!(lines.has_begun());
    (ui, lines)
}

fn changed(ui: &mut Ui, lines: &mut Lines, job: JobSummary) -> Vec<String> {
    ui.send(Msg::JobsChanged(vec![job]));
    lines.look(&ui.model.data)
}

#[test]
fn a_job_is_told_from_its_submission_to_its_end_and_no_step_between() {
    let (mut ui, mut lines) = begun(&some_jobs());
    let mut told = Vec::new();
    for (rev, state) in [
        (20, JobState::Created),
        (21, JobState::Staged),
        (22, JobState::Submitted),
        (23, JobState::Running),
        (24, JobState::Running),
        (25, JobState::Finished),
        (26, JobState::Failed),
    ] {
        let mut now = job(20, state);
        now.rev = rev;
        now.name = "Mg\u{1b}[31mO".into();
        now.progress.text = format!("step {rev}");
        if rev == 26 {
            now.reason = Some("not_converged".into());
            now.elapsed_s = Some(75.0);
        }
        told.extend(changed(&mut ui, &mut lines, now));
    }
    assert_eq!(
        told,
        [
            "job 20 submitted: Mg [31mO",
            "job 20 started: Mg [31mO",
            "job 20 failed: Mg [31mO; not converged; after 1:15",
        ]
    );
    ui.send(Msg::JobsGone(vec![20]));
    assert_eq!(lines.look(&ui.model.data), ["job 20 removed"]);
    assert!(lines.look(&ui.model.data).is_empty());
}

#[test]
fn what_needs_a_look_is_told_once() {
    let (mut ui, mut lines) = begun(&[job(1, JobState::Running)]);
    let mut now = job(1, JobState::Running);
    now.attention = Some("unreachable for 2 h".into());
    now.rev = 5;
    let line = "job 1 needs a look: job 1; unreachable for 2 h";
    assert_eq!(changed(&mut ui, &mut lines, now.clone()), [line]);
    now.progress.text = "step 7".into();
    now.rev = 6;
    assert!(changed(&mut ui, &mut lines, now.clone()).is_empty());
    now.state = JobState::Completed;
    now.science.energy_ev = Some(-1.5);
    now.rev = 7;
    let line = "job 1 completed: job 1; -1.500000 eV";
    assert_eq!(changed(&mut ui, &mut lines, now), [line]);
}

#[test]
fn a_lost_connection_is_told_and_what_happened_meanwhile_too() {
    let (mut ui, mut lines) = begun(&[job(1, JobState::Running)]);
    ui.send(Msg::Link(Link::Reconnecting));
    let told = lines.look(&ui.model.data);
    assert_eq!(told.len(), 1);
    assert!(
        told[0].contains("connection to the daemon is lost"),
        "{told:?}"
    );
    ui.send(Msg::Link(Link::Down {
        cause: "none\nruns".into(),
        hint: Some("start it".into()),
        log: None,
    }));
    assert_eq!(
        lines.look(&ui.model.data),
        ["no daemon: none runs; start it"]
    );
    ui.effects.clear();
    ui.send(ready("two"));
    let mut ended = job(1, JobState::Cancelled);
    ended.rev = 9;
    ui.answer("jobs.list", Ok(page(&[ended], 200, None)));
    assert_eq!(
        lines.look(&ui.model.data),
        ["the daemon is connected again", "job 1 cancelled: job 1"]
    );
}
