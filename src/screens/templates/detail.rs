//! Everything that is known of the template with the cursor, in lines.

use super::Templates;
use crate::rpc::types::TemplateRow;
use crate::screens::new_job::schema::{self, Spec};
use crate::screens::wording::speak;
use crate::theme::Role;
use crate::widgets::facts::{Fact, Facts};

/// The lines about what the cursor is on; none where there is nothing.
pub(super) fn lines(screen: &Templates) -> Vec<Fact> {
    let mut lines = Facts::default();
    if let Some(template) = screen.current() {
        what(&mut lines, screen, template);
        lines.gap();
        for spec in schema::specs(&template.parameters) {
            parameter(&mut lines, &spec);
        }
    }
    lines.0
}

fn what(lines: &mut Facts, screen: &Templates, template: &TemplateRow) {
    lines.add("template", template.title.clone(), Role::Title);
    if let Some(problem) = &template.problem {
        let line = problem.line.map(|line| format!(" (line {line})"));
        let words = format!("{}{}", speak(&problem.message), line.unwrap_or_default());
        lines.add("problem", words, Role::Bad);
        lines.some("", problem.hint.as_deref().map(speak), Role::Text);
    }
    if template.shadowed {
        let words = "one of your own has the same name and is used instead";
        lines.add("", words, Role::Warn);
    }
    lines.add("for", template.description.clone(), Role::Text);
    lines.add("code", kind(template), Role::Text);
    lines.add("writes", template.renders.join(", "), Role::Text);
    lines.some("checked by", template.lint.clone(), Role::Text);
    let origin = match template.origin.as_str() {
        "user" => format!("your own, in {}", screen.folder),
        _ => "of the program".to_owned(),
    };
    lines.add("from", origin, Role::Text);
    lines.add("tags", template.tags.join(" "), Role::Dim);
}

/// Whose input it writes.
pub(super) fn kind(template: &TemplateRow) -> String {
    match (&template.code, template.kind.as_ref()) {
        (Some(code), _) => code.clone(),
        (None, Some(kind)) => kind.as_str().replace('_', " "),
        (None, None) => "-".into(),
    }
}

fn parameter(lines: &mut Facts, spec: &Spec) {
    let default = match (&spec.default, spec.required) {
        (Some(default), _) => format!("Default {default}."),
        (None, true) => "Needed.".to_owned(),
        (None, false) => String::new(),
    };
    let unit = Some(&spec.unit).filter(|unit| !unit.is_empty());
    let bounds = Some(&spec.bounds).filter(|bounds| !bounds.is_empty());
    let parts = [
        Some(spec.help.clone()),
        bounds.map(|bounds| format!("{bounds}.")),
        unit.map(|unit| format!("In {unit}.")),
        Some(default),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .collect();
    lines.add(&spec.label, parts.join(" "), Role::Text);
}
