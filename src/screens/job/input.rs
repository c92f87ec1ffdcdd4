//! The input of a job as it was submitted: the parameters, then the files, raw.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::{Map, Value, json};

use crate::app::error_text;
use crate::error::IpcError;
use crate::msg::Action;
use crate::rpc::types::{FileEntryKind, Job, LogResult, Reply};
use crate::screens::{Cx, Handled, ViewCx};
use crate::theme::Role;
use crate::widgets::log;
use crate::widgets::text;
use crate::widgets::viewer::{self, Viewer};

const SLOT: &str = "input";
/// The most that is shown of one file; the rest is under Files.
const FILE_BYTES: i64 = 64 << 10;
/// The most files that are shown.
const FILES: usize = 20;

/// The text and where one is in it.
#[derive(Debug, Default)]
pub struct Input {
    job: Option<i64>,
    parameters: Vec<String>,
    /// The files to be read, with what was read of them.
    files: Vec<(String, Option<Result<LogResult, String>>)>,
    more_files: usize,
    offset: usize,
    left: usize,
}

impl Input {
    /// Forget the job.
    pub fn close(&mut self) {
        *self = Self::default();
    }

    /// Be about this job; it is read once, as it never changes.
    pub fn open(&mut self, job: &Job, cx: &mut Cx<'_>) {
        if self.job == Some(job.id) {
            return;
        }
        let mut names: Vec<String> = job
            .files
            .iter()
            .filter(|file| file.kind == FileEntryKind::Input)
            .map(|file| file.path.clone())
            .collect();
        let more_files = names.len().saturating_sub(FILES);
        names.truncate(FILES);
        *self = Self {
            job: Some(job.id),
            parameters: parameters(&job.inputs),
            files: names.into_iter().map(|name| (name, None)).collect(),
            more_files,
            offset: 0,
            left: 0,
        };
        self.ask_next(cx);
    }

    /// One file at a time.
    fn ask_next(&self, cx: &mut Cx<'_>) {
        let next = self.files.iter().find(|(_, content)| content.is_none());
        if let (Some(job), Some((name, _))) = (self.job, next) {
            let params = json!({"id": job, "path": name, "limit": FILE_BYTES});
            cx.ask(SLOT, job, "jobs.read_file", params);
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
        if slot != SLOT {
            return false;
        }
        if self.job != Some(tag) {
            return true;
        }
        if let Some((_, content)) = self.files.iter_mut().find(|(_, content)| content.is_none()) {
            *content = Some(match result {
                Ok(value) => {
                    let reply: Reply<LogResult> =
                        serde_json::from_value(value.clone()).unwrap_or_default();
                    Ok(reply.data)
                }
                Err(error) => Err(error_text(error)),
            });
        }
        self.ask_next(cx);
        cx.redraw();
        true
    }

    /// Do what was asked for.
    pub fn act(&mut self, action: Action, rows: usize, cx: &mut Cx<'_>) -> Handled {
        let last = self.lines().len().saturating_sub(rows);
        let offset = match action {
            Action::Down => self.offset + 1,
            Action::Up => self.offset.saturating_sub(1),
            Action::PageDown => self.offset + rows,
            Action::PageUp => self.offset.saturating_sub(rows),
            Action::HalfPageDown => self.offset + rows / 2,
            Action::HalfPageUp => self.offset.saturating_sub(rows / 2),
            Action::Top => 0,
            Action::Bottom => last,
            _ => return Handled::No,
        };
        self.offset = offset.min(last);
        cx.redraw();
        Handled::Yes
    }

    fn lines(&self) -> Vec<(String, Role)> {
        let mut lines = vec![("submitted".to_owned(), Role::Head)];
        lines.extend(
            self.parameters
                .iter()
                .map(|line| (line.clone(), Role::Text)),
        );
        for (name, content) in &self.files {
            lines.push((String::new(), Role::Text));
            lines.push((name.clone(), Role::Head));
            match content {
                None => lines.push(("reading".into(), Role::Dim)),
                Some(Err(error)) => lines.push((error.clone(), Role::Bad)),
                Some(Ok(page)) if log::looks_binary(&page.text) => {
                    lines.push((format!("binary, {}", bytes(page.size)), Role::Dim));
                }
                Some(Ok(page)) => {
                    let text = page.text.lines();
                    lines.extend(text.map(|line| (log::clean(line).into_owned(), Role::Text)));
                    if page.offset < page.size {
                        let words = format!("and more, {} in all", bytes(page.size));
                        lines.push((words, Role::Dim));
                    }
                }
            }
        }
        if self.more_files > 0 {
            lines.push((String::new(), Role::Text));
            let words = format!("and {} more input files, under Files", self.more_files);
            lines.push((words, Role::Dim));
        }
        lines
    }

    /// Draw it.
    pub fn draw(&self, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
        if self.job.is_none() {
            text::put(
                buf,
                (area.x + 1, area.y),
                "reading",
                area.width,
                cx.theme.style(Role::Dim),
            );
            return;
        }
        let lines = self.lines();
        let line = |index: usize| {
            lines
                .get(index)
                .map_or_else(Default::default, |(text, role)| {
                    (format!(" {text}"), cx.theme.style(*role))
                })
        };
        let viewer = Viewer {
            count: lines.len(),
            offset: self.offset,
            left: self.left,
            line: &line,
        };
        viewer::draw(&viewer, area, buf, cx.theme);
    }
}

fn bytes(count: i64) -> String {
    text::bytes(u64::try_from(count).unwrap_or(0))
}

/// The submission without what was left at nothing.
fn parameters(inputs: &Map<String, Value>) -> Vec<String> {
    let told = told(&Value::Object(inputs.clone())).unwrap_or_default();
    let pretty = serde_json::to_string_pretty(&told).unwrap_or_default();
    pretty
        .lines()
        .filter(|line| !matches!(*line, "{" | "}" | "null"))
        .map(|line| log::clean(line.strip_prefix("  ").unwrap_or(line)).into_owned())
        .collect()
}

fn told(value: &Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::Object(members) => {
            let kept: Map<String, Value> = members
                .iter()
                .filter_map(|(name, value)| Some((name.clone(), told(value)?)))
                .collect();
            (!kept.is_empty()).then_some(Value::Object(kept))
        }
        Value::Array(items) if items.is_empty() => None,
        other => Some(other.clone()),
    }
}
