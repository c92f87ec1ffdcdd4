//! What is said of the tasks of a job array, and of what a job used; for cli and the screens. Pure.

use std::collections::BTreeMap;

use crate::rpc::types::{JobState, TaskView, UsageView};

/// Tasks with a line of their own, at most.
const SHOWN: usize = 20;

/// How many tasks are in each state: `18 completed, 2 failed`; `None` for a job without tasks.
#[must_use]
pub fn counted(tasks: &[TaskView]) -> Option<String> {
    let mut counts: BTreeMap<usize, (String, usize)> = BTreeMap::new();
    for task in tasks {
        let place = ORDER.iter().position(|state| *state == task.state);
        let word = task.state.as_str().to_lowercase();
        counts
            .entry(place.unwrap_or(ORDER.len()))
            .or_insert((word, 0))
            .1 += 1;
    }
    let said: Vec<String> = counts
        .values()
        .map(|(word, count)| format!("{count} {word}"))
        .collect();
    (!said.is_empty()).then(|| said.join(", "))
}

/// The order in which states are counted.
const ORDER: [JobState; 10] = [
    JobState::Completed,
    JobState::Failed,
    JobState::Cancelled,
    JobState::Lost,
    JobState::Running,
    JobState::Finished,
    JobState::Cancelling,
    JobState::Submitted,
    JobState::Staged,
    JobState::Created,
];

/// The tasks to look at, each with what there is to say: those that failed, were cancelled or lost,
/// and those that run. The rest is counted.
#[must_use]
pub fn notable(tasks: &[TaskView]) -> Vec<(String, String)> {
    let look = |task: &&TaskView| {
        !matches!(
            task.state,
            JobState::Completed | JobState::Submitted | JobState::Staged | JobState::Created
        )
    };
    let mut found: Vec<&TaskView> = tasks.iter().filter(look).collect();
    let runs = |task: &TaskView| task.state == JobState::Running;
    found.sort_by_key(|task| (runs(task), task.task));
    let more = found.len().saturating_sub(SHOWN);
    let mut lines: Vec<(String, String)> = found
        .into_iter()
        .take(SHOWN)
        .map(|task| (format!("task {}", task.task), said_of(task)))
        .collect();
    if more > 0 {
        lines.push((String::new(), format!("… and {more} more")));
    }
    lines
}

fn said_of(task: &TaskView) -> String {
    let mut parts = vec![task.state.as_str().to_lowercase()];
    parts.extend(task.reason.as_ref().map(|reason| reason.replace('_', " ")));
    parts.extend(task.message.clone());
    if task.state == JobState::Running {
        parts.extend(task.nodes.as_ref().map(|nodes| format!("on {nodes}")));
    }
    if task.attempt > 1 {
        parts.push(format!("attempt {}", task.attempt));
    }
    parts.join(", ")
}

/// What a job used, in one line; `None` when nothing of it is known.
#[must_use]
pub fn used(usage: &UsageView) -> Option<String> {
    let mut parts = Vec::new();
    if let Some(hours) = usage.core_hours {
        let cores = usage.n_cpus.map(|n| match n {
            1 => " (1 core)".to_owned(),
            n => format!(" ({n} cores)"),
        });
        parts.push(format!(
            "{hours:.4} core-hours{}",
            cores.unwrap_or_default()
        ));
    }
    parts.extend(usage.cpu_s.map(|s| format!("{s:.1} s of processor time")));
    parts.extend(
        usage
            .max_rss_mib
            .map(|mib| format!("{mib:.0} MiB of memory at most")),
    );
    (!parts.is_empty()).then(|| parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::{counted, notable, used};
    use crate::rpc::types::{JobState, TaskView, UsageView};

    fn task(number: i64, state: JobState) -> TaskView {
        TaskView {
            task: number,
            state,
            attempt: 1,
            ..TaskView::default()
        }
    }

    #[test]
    fn tasks_are_counted_and_those_to_look_at_are_named() {
        let mut tasks = vec![
            task(1, JobState::Running),
            task(2, JobState::Failed),
            task(3, JobState::Completed),
            task(4, JobState::Completed),
            task(5, JobState::Submitted),
        ];
        tasks[1].reason = Some("out_of_memory".to_owned());
        tasks[1].attempt = 2;
        assert_eq!(
            counted(&tasks).as_deref(),
            Some("2 completed, 1 failed, 1 running, 1 submitted")
        );
        let lines = notable(&tasks);
        let (label, said) = &lines[0];
        assert_eq!(label, "task 2");
        assert_eq!(said, "failed, out of memory, attempt 2");
        assert_eq!(lines.len(), 2);
        assert_eq!(counted(&[]), None);
    }

    #[test]
    fn many_failed_tasks_do_not_fill_the_screen() {
        let tasks: Vec<TaskView> = (1..=30).map(|n| task(n, JobState::Failed)).collect();
        let lines = notable(&tasks);
        assert_eq!(lines.len(), 21);
        assert_eq!(lines[20].1, "… and 10 more");
    }

    #[test]
    fn what_is_not_known_of_the_usage_is_not_said() {
        assert_eq!(used(&UsageView::default()), None);
        let usage = UsageView {
            core_hours: Some(0.15),
            n_cpus: Some(2),
            max_rss_mib: Some(3.04),
            ..UsageView::default()
        };
        assert_eq!(
            used(&usage).as_deref(),
            Some("0.1500 core-hours (2 cores), 3 MiB of memory at most")
        );
    }
}
