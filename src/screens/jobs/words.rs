//! Job states and results in words, glyphs and roles; shared by every screen that shows jobs.

use crate::app::{Data, Mark, Row};
use crate::rpc::types::{JobState, JobSummary, ScienceAxisStatus};
use crate::screens::wording::speak;
use crate::theme::{Glyphs, Role, Theme};
use crate::widgets::text;

/// The part of its time limit from which on a job is near it.
const NEAR_LIMIT: f64 = 0.9;

/// The state in one word; what was asked for counts already.
#[must_use]
pub fn state_word(row: &Row) -> String {
    match row.mark {
        Some(mark) => mark.word().to_owned(),
        None => row.job.state.as_str().to_lowercase(),
    }
}

/// The glyph and the role of a state.
#[must_use]
pub fn state_look(row: &Row, glyphs: &Glyphs) -> (&'static str, Role) {
    match (row.mark, &row.job.state) {
        (Some(Mark::Cancelling | Mark::Deleting), _)
        | (_, JobState::Cancelling | JobState::Cancelled) => (glyphs.cancelled, Role::Cancelled),
        (Some(Mark::Rerunning), _) => (glyphs.waiting, Role::Waiting),
        (_, JobState::Running) => (glyphs.running, Role::Running),
        (_, JobState::Finished) => (glyphs.finished, Role::Running),
        (_, JobState::Completed) => (glyphs.completed, Role::Good),
        (_, JobState::Failed) => (glyphs.failed, Role::Bad),
        (_, JobState::Lost) => (glyphs.lost, Role::Warn),
        _ => (glyphs.waiting, Role::Waiting),
    }
}

/// What to look at: what the daemon says, or a calculation that ended without converging.
#[must_use]
pub fn attention(job: &JobSummary) -> Option<String> {
    if let Some(attention) = &job.attention {
        return Some(speak(attention));
    }
    let silent = job.state == JobState::Completed
        && (job.science.status == ScienceAxisStatus::NotConverged
            || job.science.converged == Some(false));
    silent.then(|| "not converged".to_owned())
}

/// The one thing to know about the job, and how it is meant: how far it is, or how it ended.
#[must_use]
pub fn outcome(row: &Row, glyphs: &Glyphs) -> (String, Role) {
    let job = &row.job;
    if let Some(attention) = attention(job) {
        return (format!("{} {attention}", glyphs.attention), Role::Warn);
    }
    match (&job.state, &job.reason, job.science.energy_ev) {
        (JobState::Failed, Some(reason), _) => (reason.replace('_', " "), Role::Bad),
        (JobState::Completed, _, Some(energy)) => (format!("{energy:.6} eV"), Role::Text),
        (JobState::Completed | JobState::Cancelled, ..) => (String::new(), Role::Text),
        _ => (job.progress.text.clone(), Role::Text),
    }
}

/// Where it runs.
#[must_use]
pub fn place(job: &JobSummary) -> &str {
    job.cluster.as_deref().unwrap_or(&job.runner)
}

/// Elapsed time, and the limit of a running job if there is one: `3h12m/8h`.
#[must_use]
pub fn time(row: &Row, data: &Data) -> String {
    let Some(elapsed) = data.elapsed_s(row) else {
        return "-".into();
    };
    if row.job.state != JobState::Running {
        return text::duration(elapsed);
    }
    let so_far = text::so_far(elapsed);
    match row.job.walltime_s {
        Some(limit) => format!("{so_far}/{}", limit_text(limit)),
        None => so_far,
    }
}

/// How much of its time limit a running job has used; more than 1 while it is being ended.
#[must_use]
pub fn time_used(row: &Row, data: &Data) -> Option<f64> {
    let limit = row.job.walltime_s.filter(|limit| *limit > 0.0)?;
    let elapsed = data.elapsed_s(row)?;
    (row.job.state == JobState::Running).then_some(elapsed / limit)
}

/// The role of a running job's time: one that comes near its limit is to be looked at.
#[must_use]
pub fn time_role(row: &Row, data: &Data) -> Role {
    match time_used(row, data) {
        Some(used) if used >= NEAR_LIMIT => Role::Warn,
        _ => Role::Text,
    }
}

/// A part of the time limit as a bar of so many columns and in per cent, which are rounded down.
#[must_use]
pub fn used_text(used: f64, columns: usize, theme: &Theme) -> String {
    let percent = (used * 100.0).floor().min(999.0);
    format!("{} {percent:.0}%", text::bar(used, columns, theme))
}

/// A time limit in few columns: `8h`, `30:00`.
#[must_use]
pub fn limit_text(seconds: f64) -> String {
    if seconds % 3600.0 == 0.0 && seconds < 360_000.0 {
        format!("{:.0}h", seconds / 3600.0)
    } else {
        text::duration(seconds)
    }
}
