//! Which workflows are listed: every word must be in one of their fields, `state:waiting` in this one.

use crate::rpc::types::WorkflowSummary;

/// The fields that a word can be looked for in alone.
pub(super) const FIELDS: [&str; 6] = ["state", "kind", "formula", "engine", "name", "id"];

/// A filter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Filter {
    text: String,
    terms: Vec<Term>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Term {
    /// Empty for all.
    field: String,
    /// In lower case.
    word: String,
}

impl Filter {
    pub(super) fn of(text: &str) -> Self {
        let terms = text.split_whitespace().map(|word| {
            let word = word.to_lowercase();
            let named = word
                .split_once(':')
                .filter(|(field, _)| FIELDS.contains(field));
            let (field, word) = named.unwrap_or(("", &word));
            Term {
                field: field.to_owned(),
                word: word.to_owned(),
            }
        });
        Self {
            terms: terms.collect(),
            text: text.trim().to_owned(),
        }
    }

    /// As it was written.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn fits(&self, row: &WorkflowSummary) -> bool {
        self.terms.iter().all(|term| {
            let mut fields = FIELDS.iter();
            fields.any(|field| {
                let asked = term.field.is_empty() || term.field == *field;
                asked && holds(row, field, &term.word)
            })
        })
    }
}

fn holds(row: &WorkflowSummary, field: &str, word: &str) -> bool {
    let text = match field {
        "id" => return row.id.to_string() == word,
        "state" => row.state.as_str(),
        "kind" => &row.kind,
        "formula" => row.formula.as_deref().unwrap_or_default(),
        "engine" => row.engine.as_deref().unwrap_or(&row.code),
        _ => &row.name,
    };
    text.to_lowercase().contains(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_looked_for_everywhere_or_where_they_say() {
        let row = WorkflowSummary {
            id: 12,
            kind: "eos".into(),
            name: "Copper at 300 K".into(),
            formula: Some("Cu".into()),
            engine: Some("emt".into()),
            ..WorkflowSummary::default()
        };
        for (text, fits) in [
            ("", true),
            ("copper", true),
            ("COPPER eos", true),
            ("copper phonon", false),
            ("kind:eos engine:emt", true),
            ("kind:copper", false),
            ("id:12", true),
            ("12", true),
            ("1", false),
            ("state:wait", false),
            // No field of that name: a word with a colon.
            ("what:eos", false),
        ] {
            assert_eq!(Filter::of(text).fits(&row), fits, "{text}");
        }
    }
}
