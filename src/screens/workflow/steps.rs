//! The steps: the rows, the cursor in them, and what is known of the one with the cursor.

use std::collections::BTreeSet;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::groups::{self, Row};
use crate::app::Data;
use crate::msg::Action;
use crate::results::short_hash;
use crate::rpc::types::{StepState, StepView, Workflow, WorkflowState, WorkflowSummary};
use crate::screens::ViewCx;
use crate::screens::job::time_text;
use crate::screens::jobs::words as job_words;
use crate::screens::listing::{below, column, moved, said};
use crate::screens::wording::speak;
use crate::screens::workflows::words;
use crate::theme::{Glyphs, Role};
use crate::widgets::facts::{self, Fact, Facts};
use crate::widgets::table::{self, Cell, Line, Place, Table};
use crate::widgets::text;

/// Lines of the message above the steps at most.
const MESSAGE: usize = 3;
/// Lines below the steps, at least, where there is room for both.
const DETAIL: u16 = 7;
/// Lines by which what is known of a step moves.
const DETAIL_STEP: usize = 3;

/// The rows and what is seen of them.
#[derive(Debug, Default)]
pub struct Steps {
    rows: Vec<Row>,
    place: Place,
    /// The groups of which every step is seen.
    opened: BTreeSet<String>,
    /// The first line of the detail that is seen.
    scroll: usize,
}

impl Steps {
    /// Steps have changed; the cursor stays on what it is on.
    pub fn take(&mut self, workflow: &Workflow, seen: usize) {
        // Steps are only ever added, so that those of the rows before are still in their places.
        let here = self.rows.get(self.place.cursor);
        let held = here.map(|row| row.name(&workflow.graph).to_owned());
        self.rows = groups::rows(&workflow.graph, &self.opened);
        let mut rows = self.rows.iter();
        let at = held.and_then(|held| rows.position(|row| row.name(&workflow.graph) == held));
        let to = at.unwrap_or(self.place.cursor);
        self.place.go(to, self.rows.len(), seen);
    }

    /// The step with the cursor; none on a group.
    pub fn current<'a>(&self, workflow: &'a Workflow) -> Option<&'a StepView> {
        match self.rows.get(self.place.cursor)? {
            Row::Step { index, .. } => workflow.graph.get(*index),
            Row::Group { .. } => None,
        }
    }

    /// Open or close the group with the cursor; whether it is on one.
    pub fn turn(&mut self, workflow: &Workflow, seen: usize) -> bool {
        let Some(Row::Group { name, .. }) = self.rows.get(self.place.cursor) else {
            return false;
        };
        let name = name.clone();
        if !self.opened.remove(&name) {
            self.opened.insert(name);
        }
        self.take(workflow, seen);
        true
    }

    /// Move about, in the area of the screen; whether the action is a movement.
    pub fn act(
        &mut self,
        action: Action,
        (summary, workflow): (Option<&WorkflowSummary>, Option<&Workflow>),
        area: Rect,
        data: &Data,
    ) -> bool {
        let seen = rows_in(area, summary);
        match action {
            Action::HalfPageDown | Action::HalfPageUp => {
                let most = workflow.map_or(0, |workflow| {
                    let (_, rest) = parts_in(area, summary);
                    let place = below(rest, 1);
                    // Marks take one column in every set.
                    let facts = self.facts(workflow, data, &Glyphs::UNICODE);
                    facts::count(&facts, place).saturating_sub(usize::from(place.height))
                });
                let from = self.scroll.min(most);
                self.scroll = if action == Action::HalfPageDown {
                    (from + DETAIL_STEP).min(most)
                } else {
                    from.saturating_sub(DETAIL_STEP)
                };
            }
            action => match moved(action, self.place.cursor, seen, self.rows.len()) {
                Some(to) => self.go(to, seen),
                None => return false,
            },
        }
        true
    }

    fn go(&mut self, to: usize, seen: usize) {
        if to != self.place.cursor {
            self.scroll = 0;
        }
        self.place.go(to, self.rows.len(), seen);
    }

    /// A click in this line below `head` lines; whether the cursor was there already.
    pub fn click(&mut self, line: u16, head: usize, seen: usize) -> bool {
        let line = usize::from(line).checked_sub(head + 1);
        let Some(line) = line.filter(|line| *line < seen) else {
            return false;
        };
        let to = self.place.offset + line;
        let again = to == self.place.cursor;
        if to < self.rows.len() {
            self.go(to, seen);
        }
        again
    }

    /// Draw the rows, and below them what is known of one.
    pub fn draw(
        &self,
        summary: Option<&WorkflowSummary>,
        workflow: &Workflow,
        area: Rect,
        buf: &mut Buffer,
        cx: &ViewCx<'_>,
    ) {
        let theme = cx.theme;
        let head = head(summary, area);
        for ((words, role), y) in head.iter().zip(area.top()..area.bottom()) {
            let room = area.width.saturating_sub(2);
            text::put(buf, (area.x + 1, y), words, room, theme.style(*role));
        }
        let (list, rest) = parts(below(area, head.len()));
        let stale = cx.data.is_stale();
        let row = |index: usize| Line {
            cells: self
                .rows
                .get(index)
                .map_or_else(Vec::new, |row| cells(row, workflow, cx)),
            selected: false,
            faded: stale,
        };
        let columns = [
            column("Step", 20, 2, false, 0),
            column("State", 11, 0, false, 1),
            column("Job", 4, 0, true, 2),
            column("What", 9, 3, false, 1),
        ];
        let table = Table {
            columns: &columns,
            count: self.rows.len(),
            place: self.place,
            focused: cx.focused,
            row: &row,
        };
        table::draw(&table, list, buf, theme);
        if rest.height < 2 {
            return;
        }
        let rule = theme.glyphs().horizontal.repeat(usize::from(rest.width));
        text::put(
            buf,
            (rest.x, rest.y),
            &rule,
            rest.width,
            theme.style(Role::Border),
        );
        let facts = self.facts(workflow, cx.data, theme.glyphs());
        facts::draw(&facts, self.scroll, below(rest, 1), buf, theme, stale);
    }

    /// What is known of what the cursor is on.
    fn facts(&self, workflow: &Workflow, data: &Data, glyphs: &Glyphs) -> Vec<Fact> {
        let mut lines = Facts::default();
        match self.rows.get(self.place.cursor) {
            Some(Row::Step { index, .. }) => {
                if let Some(step) = workflow.graph.get(*index) {
                    step_facts(&mut lines, step, data, glyphs);
                }
            }
            Some(Row::Group { name, members, .. }) => {
                let counts = groups::count(&workflow.graph, members);
                lines.add("steps", format!("{name}: {}", counts.words()), Role::Title);
                for step in members.iter().filter_map(|at| workflow.graph.get(*at)) {
                    if groups::has_stopped(step) {
                        let words = step.message.as_deref().map(speak).unwrap_or_default();
                        let words = format!("{} {}: {words}", glyphs.failed, step.name);
                        lines.add("failed", words, Role::Bad);
                    }
                }
            }
            None => {}
        }
        lines.0
    }
}

/// How it stands with the whole, in lines above the steps.
pub fn head(summary: Option<&WorkflowSummary>, area: Rect) -> Vec<(String, Role)> {
    let Some(one) = summary else {
        return Vec::new();
    };
    // Marks take one column in every set.
    let (word, glyph, role) = words::look(one, &Glyphs::UNICODE);
    let mut lines = vec![(
        format!("{glyph} {word}  steps {}", words::steps_text(one)),
        role,
    )];
    if matches!(one.state, WorkflowState::Completed) {
        return lines;
    }
    let room = usize::from(area.width).saturating_sub(2);
    let said = [(&one.message, Role::Text), (&one.hint, Role::Info)];
    for (said, role) in said {
        let said = said.as_deref().map(speak).unwrap_or_default();
        let wrapped = text::wrap(&said, room);
        let wrapped = wrapped.into_iter().filter(|line| !line.is_empty());
        lines.extend(wrapped.take(MESSAGE).map(|line| (line, role)));
    }
    lines
}

/// Where the rows are, and where the detail.
fn parts(area: Rect) -> (Rect, Rect) {
    let detail = if area.height >= 2 * DETAIL {
        (area.height * 2 / 5).max(DETAIL)
    } else {
        area.height / 3
    };
    let list = Rect {
        height: area.height - detail,
        ..area
    };
    (list, below(area, usize::from(list.height)))
}

/// The same in the area of the screen, below its tabs and the head.
fn parts_in(area: Rect, summary: Option<&WorkflowSummary>) -> (Rect, Rect) {
    let body = below(area, 1);
    let head = head(summary, body).len();
    parts(below(body, head))
}

/// How many rows are seen in the area of the screen.
pub fn rows_in(area: Rect, summary: Option<&WorkflowSummary>) -> usize {
    table::rows(parts_in(area, summary).0)
}

fn cells(row: &Row, workflow: &Workflow, cx: &ViewCx<'_>) -> Vec<Cell> {
    let theme = cx.theme;
    let glyphs = theme.glyphs();
    let plain = |text: String| said(text, Role::Text, theme);
    match row {
        Row::Group {
            name,
            members,
            opened,
            depth,
        } => {
            let counts = groups::count(&workflow.graph, members);
            let state = counts.state();
            let (glyph, role) = words::step_look(&state, glyphs);
            let mark = if *opened { glyphs.descending } else { "+" };
            let role_of_words = if counts.stopped > 0 {
                Role::Warn
            } else {
                Role::Text
            };
            vec![
                plain(format!("{}{mark} {name}", "  ".repeat(*depth))),
                said(
                    format!("{glyph} {}/{}", counts.done, counts.total),
                    role,
                    theme,
                ),
                plain(String::new()),
                said(counts.rest(), role_of_words, theme),
            ]
        }
        Row::Step { index, depth } => {
            let Some(step) = workflow.graph.get(*index) else {
                return Vec::new();
            };
            let (glyph, role) = words::step_look(&step.state, glyphs);
            let (what, what_role) = what(step, cx.data, glyphs);
            vec![
                plain(format!("{}{}", "  ".repeat(*depth), step.name)),
                said(
                    format!("{glyph} {}", step.state.as_str().to_lowercase()),
                    role,
                    theme,
                ),
                plain(step.job.map_or_else(String::new, |job| job.to_string())),
                said(what, what_role, theme),
            ]
        }
    }
}

/// The one thing to know about a step: why it failed, how far it is, else what it is.
fn what(step: &StepView, data: &Data, glyphs: &Glyphs) -> (String, Role) {
    match step.state {
        StepState::Failed | StepState::Cancelled => {
            let words = step.message.as_deref().or(step.reason.as_deref());
            (words.map(speak).unwrap_or_default(), Role::Bad)
        }
        StepState::Running => (progress(step, data, glyphs), Role::Running),
        _ => (step.title.clone(), Role::Text),
    }
}

/// How far the job of a step is, by the newest that is known of it.
fn progress(step: &StepView, data: &Data, glyphs: &Glyphs) -> String {
    let row = step.job.and_then(|job| data.jobs.get(job));
    let told = row.map(|row| {
        let (words, _) = job_words::outcome(row, glyphs);
        let state = job_words::state_word(row);
        if words.is_empty() {
            state
        } else {
            format!("{state}: {words}")
        }
    });
    told.or_else(|| step.progress.clone())
        .unwrap_or_else(|| step.title.clone())
}

fn step_facts(lines: &mut Facts, step: &StepView, data: &Data, glyphs: &Glyphs) {
    let (glyph, role) = words::step_look(&step.state, glyphs);
    lines.add(
        "step",
        format!("{}: {}", step.name, step.title),
        Role::Title,
    );
    let attempt = match step.attempt {
        0 | 1 => String::new(),
        number => format!(", attempt {number}"),
    };
    let state = step.state.as_str().to_lowercase();
    lines.add("state", format!("{glyph} {state}{attempt}"), role);
    lines.some("message", step.message.as_deref().map(speak), role);
    lines.some("hint", step.hint.as_deref().map(speak), Role::Info);
    let reason = step.reason.as_ref().map(|reason| reason.replace('_', " "));
    lines.some("reason", reason, Role::Bad);
    if step.state == StepState::Running {
        lines.add("progress", progress(step, data, glyphs), Role::Running);
    }
    let jobs: Vec<String> = step.jobs.iter().map(ToString::to_string).collect();
    lines.add("jobs", jobs.join(", "), Role::Text);
    if step.kind.as_str() == "computation" {
        lines.add("runs as", "a computation of the daemon", Role::Dim);
    }
    if !step.required {
        lines.add("needed", "no; the workflow ends without it, too", Role::Dim);
    }
    let reused = step.reused.as_ref();
    let reused = reused.map(|name| format!("of {name}, which has the same input"));
    lines.some("result", reused, Role::Text);
    lines.add("after", waits_for(&step.after), Role::Text);
    lines.some(
        "began",
        step.started_at.as_deref().map(time_text),
        Role::Dim,
    );
    lines.some(
        "ended",
        step.finished_at.as_deref().map(time_text),
        Role::Dim,
    );
    for (name, hash) in [("input", &step.input_hash), ("output", &step.output_hash)] {
        let short = hash.as_deref().map(short_hash);
        lines.some(
            name,
            short.map(|short| format!("sha256 {short}")),
            Role::Dim,
        );
    }
}

/// Names, as few as tell which.
fn waits_for(names: &[String]) -> String {
    match names {
        [first, .., last] if names.len() > 3 => format!("{first} … {last} ({})", names.len()),
        names => names.join(", "),
    }
}
