//! Which outputs and files of a job the log shows, and in which order they are gone through.

use super::JobScreen;
use super::log::{STREAMS, Source};
use crate::rpc::types::{FileEntryKind, JobState};
use crate::screens::Cx;

impl Source {
    /// The output after this one, of the same task; the first one after a file.
    pub(super) fn next_stream(&self) -> Self {
        let after = |stream: &str| {
            let now = STREAMS.iter().position(|one| *one == stream);
            STREAMS[now.map_or(0, |at| (at + 1) % STREAMS.len())]
        };
        match self {
            Self::Stream(stream) => Self::Stream(after(stream)),
            Self::Task(task, stream) => Self::Task(*task, after(stream)),
            Self::File(..) => Self::Stream(STREAMS[0]),
        }
    }
}

impl JobScreen {
    /// What the log shows first: the program's output; of an array that of the task that is looked
    /// for most: one that runs, else one that failed, else the first.
    pub(super) fn first_output(&self) -> Source {
        let tasks = self.detail.iter().flat_map(|job| &job.tasks);
        let rank = |state: &JobState| match state {
            JobState::Running => 0,
            JobState::Failed => 1,
            _ => 2,
        };
        let first = tasks.min_by_key(|one| (rank(&one.state), one.task));
        first.map_or(Source::Stream(STREAMS[0]), |one| {
            Source::Task(one.task, STREAMS[0])
        })
    }

    /// Whether the log shows the output of an array as a whole, which has none.
    pub(super) fn wants_task(&self) -> bool {
        let is_array = self
            .detail
            .as_ref()
            .is_some_and(|job| !job.tasks.is_empty());
        is_array && matches!(self.log.source(), Source::Stream(_))
    }

    /// The outputs first, of an array one of each task, then every file that is no part of the
    /// bookkeeping.
    pub(super) fn change_source(&mut self, by: isize, cx: &mut Cx<'_>) {
        let Some(job) = &self.detail else {
            return;
        };
        let stream = match self.log.source() {
            Source::Task(_, stream) => stream,
            _ => STREAMS[0],
        };
        let mut all: Vec<Source> = match job.tasks[..] {
            [] => STREAMS.iter().map(|one| Source::Stream(one)).collect(),
            ref tasks => tasks
                .iter()
                .map(|one| Source::Task(one.task, stream))
                .collect(),
        };
        let files = job
            .files
            .iter()
            .filter(|file| file.kind != FileEntryKind::Internal);
        all.extend(
            files
                .map(|file| Source::File(file.path.clone(), u64::try_from(file.size).unwrap_or(0))),
        );
        let same = |source: &&Source| match (source, self.log.source()) {
            (Source::File(a, _), Source::File(b, _)) => a == b,
            (a, b) => *a == b,
        };
        let now = all.iter().position(|source| same(&source)).unwrap_or(0);
        let count = all.len().cast_signed();
        let to = (now.cast_signed() + by)
            .rem_euclid(count.max(1))
            .cast_unsigned();
        if let Some(source) = all.get(to) {
            self.log.open(job.id, source.clone(), true, cx);
        }
    }
}
