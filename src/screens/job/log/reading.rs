//! What is asked of the daemon for a log, and what becomes of the answers.

use ratatui::layout::Rect;
use serde_json::{Value, json};

use super::{LogView, STREAMS, Source, State, Top, rows_seen};
use crate::app::error_text;
use crate::error::IpcError;
use crate::msg::Tone;
use crate::rpc::types::{LogResult, Reply};
use crate::screens::Cx;
use crate::widgets::log::{LogText, WINDOW_BYTES};

/// The most that one answer holds.
const PAGE_BYTES: u64 = 256 << 10;
/// Lines of the end that are read first.
const TAIL_LINES: u64 = 4000;
/// Seconds between two questions about a log that may grow, where nobody tells.
const EVERY_S: f64 = 1.0;
/// Bytes of a character that the daemon may leave for the next answer.
const PART_OF_CHARACTER: u64 = 4;

const TAIL: i64 = 0;
const HEAD: i64 = 1;
const MORE: i64 = 2;
const BACK: i64 = 3;
const KINDS: i64 = 4;

impl LogView {
    /// Read something else, from its end or its start.
    pub fn open(&mut self, job: i64, source: Source, at_end: bool, cx: &mut Cx<'_>) {
        self.job = job;
        self.source = source;
        self.path.clear();
        self.query.clear();
        self.restart(at_end, cx);
    }

    /// Forget what is here, without asking for anything.
    pub fn close(&mut self) {
        self.epoch += 1;
        self.job = 0;
        self.text = LogText::default();
        self.state = State::Loading;
        self.input = None;
        self.source = Source::Stream(STREAMS[0]);
    }

    /// Whether it is about this job.
    #[must_use]
    pub const fn is_about(&self, job: i64) -> bool {
        self.job == job
    }

    fn restart(&mut self, at_end: bool, cx: &mut Cx<'_>) {
        self.epoch += 1;
        self.text = LogText::default();
        self.state = State::Loading;
        self.size = 0;
        self.complete = false;
        self.reading_back = false;
        self.follow = at_end;
        self.top = Top::default();
        self.left = 0;
        self.hit = None;
        self.ask(if at_end { TAIL } else { HEAD }, 0, cx);
    }

    fn ask(&mut self, kind: i64, offset: u64, cx: &mut Cx<'_>) {
        let slot = self.slots[usize::from(kind == BACK)];
        let tag = self.epoch * KINDS + kind;
        let limit = if kind == BACK {
            self.text.start().min(PAGE_BYTES)
        } else {
            PAGE_BYTES
        };
        let (method, params) = match &self.source {
            Source::Stream(stream) => ("jobs.log", self.of_output(kind, stream, offset, limit)),
            Source::Task(task, stream) => {
                let mut params = self.of_output(kind, stream, offset, limit);
                params["task"] = (*task).into();
                ("jobs.log", params)
            }
            Source::File(path, size) => {
                let offset = if kind == TAIL {
                    size.saturating_sub(PAGE_BYTES)
                } else {
                    offset
                };
                (
                    "jobs.read_file",
                    json!({"id": self.job, "path": path, "offset": offset, "limit": limit}),
                )
            }
        };
        self.asked_at = cx.now();
        cx.ask(slot, tag, method, params);
    }

    fn of_output(&self, kind: i64, stream: &str, offset: u64, limit: u64) -> Value {
        let mut params = json!({"id": self.job, "stream": stream, "limit": limit});
        if kind == TAIL {
            params["tail"] = TAIL_LINES.into();
        } else {
            params["offset"] = offset.into();
        }
        params
    }

    /// Read what has come since. Nothing is read that would not be kept.
    pub fn read_on(&mut self, cx: &mut Cx<'_>) {
        match self.state {
            State::Failed(_) => self.restart(self.follow, cx),
            State::Ready if self.follow || self.text.bytes() < WINDOW_BYTES / 2 => {
                self.ask(MORE, self.text.end(), cx);
            }
            State::Loading | State::Ready => {}
        }
    }

    /// The output has another length now.
    pub fn grown(&mut self, stream: &str, bytes: u64, cx: &mut Cx<'_>) {
        if self.source != Source::Stream(STREAMS.into_iter().find(|s| *s == stream).unwrap_or("")) {
            return;
        }
        if bytes != self.text.end() {
            self.read_on(cx);
        }
    }

    /// When to ask for more where nobody tells: once a second while the job runs.
    #[must_use]
    pub fn wake_at(&self) -> Option<f64> {
        let wanted = !self.complete && self.state != State::Loading;
        wanted.then_some(self.asked_at + EVERY_S)
    }

    pub(super) fn go_to_start(&mut self, cx: &mut Cx<'_>) {
        self.follow = false;
        self.top = Top::default();
        self.left = 0;
        if self.text.start() > 0 {
            self.restart(false, cx);
        }
    }

    pub(super) fn go_to_end(&mut self, cx: &mut Cx<'_>) {
        self.follow = true;
        let behind = self.size.saturating_sub(self.text.end());
        if behind > WINDOW_BYTES as u64 {
            if let Source::File(_, size) = &mut self.source {
                *size = self.size;
            }
            self.restart(true, cx);
        } else {
            self.read_on(cx);
        }
    }

    /// Read further where the edge of what is here comes near.
    pub(super) fn read_around(&mut self, area: Rect, cx: &mut Cx<'_>) {
        let rows = rows_seen(area);
        let above = self.top_seen(area).line;
        if above < rows * 2 && self.text.start() > 0 && !self.reading_back {
            self.reading_back = true;
            let from = self.text.start().saturating_sub(PAGE_BYTES);
            self.ask(BACK, from, cx);
        }
        let below = self.text.count().saturating_sub(above + rows);
        if below < rows && self.text.end() < self.size && self.state == State::Ready {
            self.ask(MORE, self.text.end(), cx);
        }
    }

    /// Take an answer in, if it is one of ours.
    pub fn reply(
        &mut self,
        slot: &str,
        tag: i64,
        result: &Result<Value, IpcError>,
        cx: &mut Cx<'_>,
    ) -> bool {
        if !self.slots.contains(&slot) {
            return false;
        }
        if tag / KINDS != self.epoch {
            return true;
        }
        cx.redraw();
        match result {
            Err(error) => self.failed(error, tag % KINDS),
            Ok(value) => {
                let reply: Reply<LogResult> =
                    serde_json::from_value(value.clone()).unwrap_or_default();
                self.take(tag % KINDS, &reply.data, cx);
            }
        }
        true
    }

    fn failed(&mut self, error: &IpcError, kind: i64) {
        self.reading_back &= kind != BACK;
        // What is here stays; only the first answer says that there is nothing.
        if self.text.count() == 0 {
            self.state = State::Failed(error_text(error));
        }
    }

    fn take(&mut self, kind: i64, page: &LogResult, cx: &mut Cx<'_>) {
        let number = |value: i64| u64::try_from(value).unwrap_or(0);
        let (start, end, size) = (number(page.start), number(page.offset), number(page.size));
        if kind == BACK {
            self.reading_back = false;
            let joins = end <= self.text.start() && self.text.start() - end < PART_OF_CHARACTER;
            if joins {
                let lines = self.text.prepend(start, end, &page.text);
                self.top.line += lines;
                self.hit = self.hit.map(|hit| hit + lines);
            }
            return;
        }
        let other = !self.path.is_empty() && self.path != page.path;
        if kind == MORE && (size < self.text.end() || other) {
            if matches!(self.source, Source::Stream(_)) && !other {
                cx.toast(Tone::Info, format!("{} was written anew", page.path));
            }
            if let Source::File(_, length) = &mut self.source {
                *length = size;
            }
            self.path.clone_from(&page.path);
            self.restart(self.follow, cx);
            return;
        }
        self.path.clone_from(&page.path);
        self.size = size;
        self.complete = page.eof;
        if kind == MORE {
            if start == self.text.end() {
                let dropped = self.text.append(start, end, &page.text);
                self.top.line = self.top.line.saturating_sub(dropped);
                self.hit = self.hit.and_then(|hit| hit.checked_sub(dropped));
            } else if end > self.text.end() {
                // It was asked before the answer in between came.
                self.ask(MORE, self.text.end(), cx);
            }
        } else {
            self.text.restart(start, end, &page.text);
        }
        self.state = State::Ready;
        let behind = size.saturating_sub(end);
        if self.follow && behind > WINDOW_BYTES as u64 {
            self.go_to_end(cx);
        } else if self.follow && behind > 0 && end > start {
            self.ask(MORE, end, cx);
        }
    }
}
