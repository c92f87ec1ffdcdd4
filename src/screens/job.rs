//! One job: what the job list knows of it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::jobs::words;
use super::{Cx, Event, Handled, Screen, Subject, ViewCx};
use crate::app::{Command, Data, Row};
use crate::msg::Action;
use crate::theme::{Role, Theme};
use crate::widgets::text;

/// The state of the screen.
#[derive(Debug, Default)]
pub struct JobScreen {
    id: Option<i64>,
    scroll: usize,
}

impl JobScreen {
    fn row<'a>(&self, data: &'a Data) -> Option<&'a Row> {
        data.jobs.get(self.id?)
    }
}

impl Screen for JobScreen {
    fn actions(&self) -> &'static [Action] {
        &[Action::Cancel, Action::Rerun, Action::Delete]
    }

    fn update(&mut self, event: &Event<'_>, cx: &mut Cx<'_>) -> Handled {
        match event {
            Event::Show(subject) => {
                self.id = subject.map(|Subject::Job(id)| id);
                self.scroll = 0;
                cx.redraw();
            }
            Event::Act(Action::Down) => {
                self.scroll += 1;
                cx.redraw();
            }
            Event::Act(Action::Up) => {
                self.scroll = self.scroll.saturating_sub(1);
                cx.redraw();
            }
            Event::Act(Action::Left) => cx.close(),
            Event::Act(Action::Cancel) => {
                cx.command(Command::Cancel, self.id.into_iter().collect());
            }
            Event::Act(Action::Rerun) => cx.command(Command::Rerun, self.id.into_iter().collect()),
            Event::Act(Action::Delete) => {
                cx.command(Command::Delete, self.id.into_iter().collect());
            }
            _ => return Handled::No,
        }
        Handled::Yes
    }

    fn view(&self, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
        let Some(row) = self.row(cx.data) else {
            text::put(
                buf,
                (area.x + 1, area.y),
                "no job",
                area.width,
                cx.theme.style(Role::Dim),
            );
            return;
        };
        let lines = summary(row, cx.data, cx.theme);
        let from = self.scroll.min(lines.len().saturating_sub(1));
        let mut y = area.y;
        for (name, value, role) in &lines[from..] {
            let room = usize::from(area.width).saturating_sub(14);
            for (index, part) in text::wrap(value, room).iter().enumerate() {
                if y >= area.bottom() {
                    return;
                }
                let name = if index == 0 { name } else { "" };
                text::put(buf, (area.x + 1, y), name, 11, cx.theme.style(Role::Dim));
                let style = if cx.data.is_stale() {
                    Role::Stale
                } else {
                    *role
                };
                text::put(
                    buf,
                    (area.x + 13, y),
                    part,
                    area.width - 13,
                    cx.theme.style(style),
                );
                y += 1;
            }
        }
    }

    fn title(&self, data: &Data) -> String {
        self.row(data).map_or_else(String::new, |row| {
            let task = row.job.task.as_deref().unwrap_or_default();
            format!("{} {} {task}", row.job.id, row.job.name)
        })
    }

    fn wake_at(&self, data: &Data) -> Option<f64> {
        let runs = self
            .row(data)
            .is_some_and(|row| row.job.state.as_str() == "RUNNING");
        (data.is_live() && runs).then(|| data.now.floor() + 1.0)
    }
}

/// What the job list knows of a job: name, value and look of each line.
#[must_use]
pub fn summary(row: &Row, data: &Data, theme: &Theme) -> Vec<(&'static str, String, Role)> {
    let job = &row.job;
    let (glyph, role) = words::state_look(row, theme.glyphs());
    let mut lines = vec![("state", format!("{glyph} {}", words::state_word(row)), role)];
    let mut add = |name, value: Option<String>, role| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            lines.push((name, value, role));
        }
    };
    add(
        "reason",
        job.reason.as_ref().map(|reason| reason.replace('_', " ")),
        Role::Bad,
    );
    let attention = words::attention(job);
    let attention = attention.map(|text| format!("{} {text}", theme.glyphs().attention));
    add("look at", attention, Role::Warn);
    let science = job.science.status.as_str().replace('_', " ");
    add("science", Some(science), Role::Text);
    let scheduler = job.scheduler.as_ref().and_then(|axis| {
        let word = axis.state.as_deref()?;
        Some(
            axis.reason
                .as_ref()
                .map_or_else(|| word.to_owned(), |why| format!("{word}: {why}")),
        )
    });
    add("scheduler", scheduler, Role::Text);
    add("progress", Some(job.progress.text.clone()), Role::Text);
    let energy = job.science.energy_ev.map(|ev| format!("{ev:.6} eV"));
    add("energy", energy, Role::Title);
    let each = job
        .science
        .energy_per_atom_ev
        .map(|ev| format!("{ev:.6} eV"));
    add("per atom", each, Role::Text);
    add("time", Some(words::time(row, data)), Role::Text);
    let code = job
        .task
        .as_ref()
        .map_or_else(|| job.code.clone(), |task| format!("{} {task}", job.code));
    add("code", Some(code), Role::Text);
    add("where", Some(words::place(job).to_owned()), Role::Text);
    let atoms = job.n_atoms.map(|count| format!("{count} atoms"));
    let formula = [job.formula.clone(), atoms]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>();
    add("structure", Some(formula.join(", ")), Role::Text);
    add("tags", Some(job.tags.join(" ")), Role::Text);
    add("created", Some(job.created_at.clone()), Role::Dim);
    add("started", job.started_at.clone(), Role::Dim);
    add("ended", job.finished_at.clone(), Role::Dim);
    lines
}
