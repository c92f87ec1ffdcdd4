//! Draws what would be written and started.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::NewJob;
use crate::screens::ViewCx;
use crate::theme::Role;
use crate::widgets::log;
use crate::widgets::viewer::{self, Viewer};

/// What a dry run found, in lines.
pub(in super::super) fn lines(job: &NewJob) -> Vec<(String, Role)> {
    let Some(dry) = &job.dry else {
        let words = if job.faults.is_empty() && job.whole.is_none() {
            "nothing to show yet"
        } else {
            "to be seen when everything is right"
        };
        return vec![(words.into(), Role::Dim)];
    };
    let mut lines = Vec::new();
    let mut add = |name: &str, value: String, role| lines.push((format!("{name:10}{value}"), role));
    add("task", dry.task.clone(), Role::Text);
    if let Some(formula) = &dry.formula {
        let atoms = dry.n_atoms.map(|count| format!(", {count} atoms"));
        add(
            "structure",
            format!("{formula}{}", atoms.unwrap_or_default()),
            Role::Text,
        );
    }
    add("program", dry.argv.join(" "), Role::Text);
    for (name, value) in &dry.env {
        add("", format!("{name}={value}"), Role::Dim);
    }
    for warning in &dry.warnings {
        add("warning", warning.clone(), Role::Warn);
    }
    let mut part = |title: String, content: Option<&str>| {
        lines.push((String::new(), Role::Text));
        lines.push((title, Role::Head));
        let content = content.into_iter().flat_map(str::lines);
        lines.extend(content.map(|line| (log::clean(line).into_owned(), Role::Text)));
    };
    for file in &dry.files {
        let mode = if file.executable { ", executable" } else { "" };
        let from = match &file.source {
            Some(source) => format!(", copied from {source}"),
            None => String::new(),
        };
        part(
            format!("{}{mode}{from}", file.path),
            file.content.as_deref(),
        );
    }
    if let Some(script) = &dry.script {
        part("job script".into(), Some(script));
    }
    lines
}

pub(super) fn draw(job: &NewJob, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
    let lines = lines(job);
    let line = |index: usize| {
        lines
            .get(index)
            .map_or_else(Default::default, |(text, role)| {
                (format!(" {text}"), cx.theme.style(*role))
            })
    };
    let most = lines.len().saturating_sub(usize::from(area.height));
    let viewer = Viewer {
        count: lines.len(),
        offset: job.plan_offset.min(most),
        left: 0,
        line: &line,
    };
    viewer::draw(&viewer, area, buf, cx.theme);
}
