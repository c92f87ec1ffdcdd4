//! Draws what the field with the cursor is.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{CODE, NewJob};
use crate::screens::ViewCx;
use crate::theme::Role;
use crate::widgets::text;

/// What the field with the cursor is.
pub(super) fn draw(job: &NewJob, area: Rect, buf: &mut Buffer, cx: &ViewCx<'_>) {
    let theme = cx.theme;
    let line = theme.glyphs().horizontal.repeat(usize::from(area.width));
    text::put(
        buf,
        (area.x, area.y),
        &line,
        area.width,
        theme.style(Role::Border),
    );
    let words = match job.field() {
        Some(field) => {
            let spec = &field.spec;
            let mut words = spec.help.clone();
            if let (CODE, Some(code)) = (field.key.as_str(), job.form.code()) {
                words = format!("{}: {}", code.name, code.title);
                if let Some(problem) = code.problem.as_ref().filter(|_| !code.usable) {
                    words = format!("{words}; it cannot run now: {problem}");
                }
            }
            let default = spec
                .default
                .as_ref()
                .map(|default| format!("Default {default}."));
            let bounds = Some(&spec.bounds).filter(|bounds| !bounds.is_empty());
            let parts = [
                Some(words),
                bounds.map(|bounds| format!("{bounds}.")),
                default,
                Some(spec.kind.takes().to_owned()),
            ];
            let parts: Vec<String> = parts
                .into_iter()
                .flatten()
                .filter(|part| !part.is_empty())
                .collect();
            parts.join(" ")
        }
        None => "Submit what stands here.".into(),
    };
    let fault = job.field().and_then(|field| job.faults.get(&field.key));
    let (words, role) = match fault {
        // A long one does not fit its row above.
        Some(fault) if text::width(fault) + 6 > usize::from(area.width) => {
            (fault.clone(), Role::Bad)
        }
        _ => (words, Role::Dim),
    };
    let lines = text::wrap(&words, usize::from(area.width).saturating_sub(2));
    for (line, y) in lines.iter().zip(area.top() + 1..area.bottom()) {
        text::put(
            buf,
            (area.x + 1, y),
            line,
            area.width - 1,
            theme.style(role),
        );
    }
}
