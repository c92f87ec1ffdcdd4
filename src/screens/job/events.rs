//! What happened to a job, each line with the evidence it rests on.

use std::collections::BTreeSet;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::summary::time_text;
use crate::msg::Action;
use crate::rpc::types::JobEvent;
use crate::screens::wording::speak;
use crate::screens::{Cx, Handled, ViewCx};
use crate::theme::Role;
use crate::widgets::{scrollbar, text};

/// Which event has the cursor, and which are opened.
#[derive(Debug, Default)]
pub struct Events {
    cursor: usize,
    opened: BTreeSet<i64>,
}

struct Line {
    event: usize,
    text: String,
    role: Role,
}

impl Events {
    /// Do what was asked for.
    pub fn act(
        &mut self,
        action: Action,
        events: &[JobEvent],
        rows: usize,
        cx: &mut Cx<'_>,
    ) -> Handled {
        let last = events.len().saturating_sub(1);
        match action {
            Action::Down => self.cursor += 1,
            Action::Up => self.cursor = self.cursor.saturating_sub(1),
            Action::PageDown | Action::HalfPageDown => self.cursor += rows / 2,
            Action::PageUp | Action::HalfPageUp => {
                self.cursor = self.cursor.saturating_sub(rows / 2);
            }
            Action::Top => self.cursor = 0,
            Action::Bottom => self.cursor = last,
            Action::Open | Action::Select => {
                if let Some(event) = events.get(self.cursor.min(last))
                    && !self.opened.remove(&event.seq)
                {
                    self.opened.insert(event.seq);
                }
            }
            Action::Copy => {
                if let Some(event) = events.get(self.cursor.min(last)) {
                    let evidence = serde_json::to_string(&event.evidence).unwrap_or_default();
                    cx.copy("event", &format!("{} {} {evidence}", event.at, event.why));
                }
            }
            _ => return Handled::No,
        }
        self.cursor = self.cursor.min(last);
        cx.redraw();
        Handled::Yes
    }

    /// A click on this row puts the cursor on its event; where it is already, it opens or closes it.
    pub fn click(&mut self, row: u16, events: &[JobEvent], area: Rect, cx: &mut Cx<'_>) {
        let (lines, offset) = self.seen(events, area);
        let Some(event) = lines.get(offset + usize::from(row)).map(|line| line.event) else {
            return;
        };
        if event == self.cursor {
            self.act(Action::Open, events, 0, cx);
        }
        self.cursor = event;
        cx.redraw();
    }

    /// All lines, and the first one that is seen: the whole of the event with the cursor is, else
    /// its beginning.
    fn seen(&self, events: &[JobEvent], area: Rect) -> (Vec<Line>, usize) {
        let lines = self.lines(events, usize::from(area.width).saturating_sub(1));
        let rows = usize::from(area.height).max(1);
        let first = lines.iter().position(|line| line.event == self.cursor);
        let last = lines.iter().rposition(|line| line.event == self.cursor);
        let (first, last) = (first.unwrap_or(0), last.unwrap_or(0));
        let offset = (last + 1).saturating_sub(rows).min(first).min(lines.len());
        (lines, offset)
    }

    fn lines(&self, events: &[JobEvent], columns: usize) -> Vec<Line> {
        let mut lines = Vec::new();
        for (index, event) in events.iter().enumerate() {
            let open = self.opened.contains(&event.seq);
            let mark = match (event.evidence.is_empty(), open) {
                (true, _) => " ",
                (false, true) => "-",
                (false, false) => "+",
            };
            let step = match (&event.from_state, &event.to_state) {
                (Some(from), Some(to)) if from != to => {
                    format!("{} to {}", from.as_str(), to.as_str()).to_lowercase()
                }
                (None, Some(to)) => to.as_str().to_lowercase(),
                _ => String::new(),
            };
            let (at, step) = (time_text(&event.at), text::pad(&step, 23, false, ""));
            lines.push(Line {
                event: index,
                text: format!(
                    "{mark} {}  {step} {}",
                    at.trim_end_matches(" UTC"),
                    speak(&event.why)
                ),
                role: Role::Text,
            });
            if open {
                let pretty = serde_json::to_string_pretty(&event.evidence).unwrap_or_default();
                for line in pretty.lines().filter(|line| !matches!(*line, "{" | "}")) {
                    for part in text::wrap_keeping(line, columns.saturating_sub(6)) {
                        lines.push(Line {
                            event: index,
                            text: format!("    {part}"),
                            role: Role::Dim,
                        });
                    }
                }
            }
        }
        lines
    }

    /// Draw it.
    pub fn draw(&self, events: &[JobEvent], area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
        let theme = cx.theme;
        let columns = usize::from(area.width).saturating_sub(1);
        let (lines, offset) = self.seen(events, area);
        for (line, y) in lines[offset..].iter().zip(area.top()..area.bottom()) {
            let fitted = text::fit(&line.text, columns.saturating_sub(1), theme.glyphs().more);
            text::put(
                buf,
                (area.x + 1, y),
                &fitted,
                area.width - 1,
                theme.style(line.role),
            );
            let heading = line.event == self.cursor && line.role == Role::Text;
            if heading {
                let role = if cx.focused {
                    Role::Cursor
                } else {
                    Role::CursorAway
                };
                let wide = area.width.saturating_sub(1);
                buf.set_style(Rect::new(area.x, y, wide, 1), theme.style(role));
            }
        }
        scrollbar::draw(area, buf, theme, offset, lines.len());
    }
}
