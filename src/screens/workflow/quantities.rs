//! The results: numbers with units and errors, doubts, and where they come from, in lines.

use crate::msg::Action;
use crate::results::tables::{Found, Head};
use crate::results::{Document, Quantity, error_figures, figures, figures_within};
use crate::rpc::types::{Workflow, WorkflowState};
use crate::screens::listing::moved;
use crate::screens::wording::speak;
use crate::theme::{Glyphs, Role};
use crate::widgets::text;

use super::origin;

/// Columns of the names of what is known of the origin, at least.
const NAMES: usize = 11;
/// The widest column of a table.
const WIDEST: usize = 40;

/// Where one is in the lines.
#[derive(Debug, Default)]
pub struct Quantities {
    pub scroll: usize,
}

impl Quantities {
    /// Move about in so many lines; whether the action is a movement.
    pub fn act(&mut self, action: Action, count: usize, seen: usize) -> bool {
        let most = count.saturating_sub(seen);
        match moved(action, self.scroll, seen, most + 1) {
            Some(to) => self.scroll = to,
            None => return false,
        }
        true
    }
}

/// One line, and how it looks.
pub type Said = (String, Role);

/// Everything, in lines of so many columns.
pub fn lines(
    workflow: &Workflow,
    document: Option<&Result<Document, String>>,
    columns: usize,
    glyphs: &Glyphs,
) -> Vec<Said> {
    let mut lines = Vec::new();
    match document {
        None => wrapped(why_none(workflow), Role::Dim, columns, &mut lines),
        Some(Err(error)) => wrapped(error, Role::Bad, columns, &mut lines),
        Some(Ok(document)) => {
            lines.push((document.title.clone(), Role::Title));
            lines.extend(numbers(&document.quantities, columns, glyphs));
            for flag in &document.flags {
                let words = format!("{} doubt: {}", glyphs.attention, speak(&flag.message));
                wrapped(&words, Role::Warn, columns, &mut lines);
            }
        }
    }
    for warning in &workflow.warnings {
        let words = format!("{} warning: {}", glyphs.attention, speak(warning));
        wrapped(&words, Role::Warn, columns, &mut lines);
    }
    lines.push((String::new(), Role::Text));
    let found = document.and_then(|read| read.as_ref().ok());
    let facts = origin::facts(workflow, found);
    let widest = facts.iter().map(|(name, _)| text::width(name)).max();
    // Names are whole where the values still have more room than they.
    let names = widest.unwrap_or(0).clamp(NAMES, (columns / 3).max(NAMES));
    for (name, value) in facts {
        let room = columns.saturating_sub(names + 2);
        for (index, part) in text::wrap(&value, room).iter().enumerate() {
            let name = if index == 0 { name.as_str() } else { "" };
            let name = text::pad(name, names, false, glyphs.more);
            lines.push((format!("{name}  {part}"), Role::Dim));
        }
    }
    lines
}

fn why_none(workflow: &Workflow) -> &'static str {
    match workflow.state {
        WorkflowState::Running => "no results yet: it is running",
        WorkflowState::Waiting => "no results yet: it waits; the steps say for what",
        WorkflowState::Completed => "it ended without results",
        _ => "no results: it did not complete",
    }
}

fn wrapped(words: &str, role: Role, columns: usize, lines: &mut Vec<Said>) {
    let parts = text::wrap(words, columns).into_iter();
    lines.extend(parts.map(|part| (part, role)));
}

/// The numbers as a table; where there is little room, names are cut and errors left out.
fn numbers(quantities: &[Quantity], columns: usize, glyphs: &Glyphs) -> Vec<Said> {
    let value = |one: &Quantity| {
        let told = |value| figures_within(value, one.error);
        one.value.map_or_else(|| "-".to_owned(), told)
    };
    let error = |one: &Quantity| one.error.map_or_else(String::new, error_figures);
    let widest = |head: &str, of: &dyn Fn(&Quantity) -> String| {
        let widths = quantities.iter().map(|one| text::width(&of(one)));
        widths.chain([text::width(head)]).max().unwrap_or(0)
    };
    let (values, units) = (
        widest("Value", &value),
        widest("Unit", &|one| one.unit.clone()),
    );
    let errors = widest("± error", &error);
    let names = widest("Quantity", &|one| one.label.clone());
    let with_errors = columns >= 12 + values + errors + units + 3;
    let taken = values + units + 2 + if with_errors { errors + 1 } else { 0 };
    let names = names.min(columns.saturating_sub(taken));
    let line = |name: &str, value: &str, error: &str, unit: &str| {
        let name = text::pad(name, names, false, glyphs.more);
        let value = text::pad(value, values, true, glyphs.more);
        let error = text::pad(error, errors, true, glyphs.more);
        if with_errors {
            format!("{name} {value} {error} {unit}")
        } else {
            format!("{name} {value} {unit}")
        }
    };
    let head = (line("Quantity", "Value", "± error", "Unit"), Role::Head);
    let rows = quantities.iter().map(|one| {
        let words = line(&one.label, &value(one), &error(one), &one.unit);
        (words.trim_end().to_owned(), Role::Text)
    });
    std::iter::once(head).chain(rows).collect()
}

/// The tables of a document.
pub fn tables(document: &Document) -> Vec<Found> {
    let tables = document.tables.iter();
    let tables = tables.map(|table| {
        let cell = |value: &serde_json::Value| match value {
            serde_json::Value::Null => "-".to_owned(),
            serde_json::Value::String(text) => text.clone(),
            value => value.as_f64().map_or_else(|| value.to_string(), figures),
        };
        let cells: Vec<Vec<String>> = table
            .columns
            .iter()
            .map(|column| column.values.iter().map(cell).collect())
            .collect();
        let heads = table.columns.iter().zip(&cells).map(|(column, cells)| {
            let title = match column.unit.as_str() {
                "" => column.name.replace('_', " "),
                unit => format!("{} / {unit}", column.name.replace('_', " ")),
            };
            let widths = cells.iter().map(|cell| text::width(cell));
            let width = widths.chain([text::width(&title)]).max().unwrap_or(0);
            Head {
                width: u16::try_from(width.min(WIDEST)).unwrap_or(u16::MAX),
                right: column.values.iter().any(serde_json::Value::is_number),
                title,
            }
        });
        let count = cells.iter().map(Vec::len).max().unwrap_or(0);
        let row = |at: usize| {
            let row = cells.iter().map(|column| column.get(at).cloned());
            row.map(Option::unwrap_or_default).collect()
        };
        Found {
            name: table.name.replace('_', " "),
            columns: heads.collect(),
            rows: (0..count).map(row).collect(),
        }
    });
    tables.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Column, Table};

    #[test]
    fn numbers_stand_below_each_other_also_where_there_is_little_room() {
        let one = |label: &str, value: f64, unit: &str, error: Option<f64>| Quantity {
            label: label.into(),
            value: Some(value),
            unit: unit.into(),
            error,
            ..Quantity::default()
        };
        let all = [
            one("V₀ per atom", 11.565_446, "Å³", Some(5.3e-5)),
            one("a of the relaxed conventional cell", 3.589_831_4, "Å", None),
            Quantity {
                label: "gap".into(),
                unit: "eV".into(),
                ..Quantity::default()
            },
        ];
        let wide: Vec<String> = numbers(&all, 70, &Glyphs::UNICODE)
            .into_iter()
            .map(|line| line.0)
            .collect();
        assert!(wide[1].starts_with("V₀ per atom"), "{wide:#?}");
        assert!(wide[1].ends_with("11.56545  5.3e-5 Å³"), "{wide:#?}");
        assert!(wide[3].contains(" - "), "{wide:#?}");
        for columns in [0, 5, 20, 34, 48] {
            let narrow = numbers(&all, columns, &Glyphs::UNICODE);
            let fits = |line: &Said| text::width(&line.0) <= columns.max(22);
            assert!(narrow.iter().all(fits), "{columns}: {narrow:#?}");
        }
    }

    #[test]
    fn columns_become_rows() {
        let document = Document {
            tables: vec![Table {
                name: "band_edges".into(),
                columns: vec![
                    Column {
                        name: "edge".into(),
                        values: vec!["valence".into(), "conduction".into()],
                        ..Column::default()
                    },
                    Column {
                        name: "energy".into(),
                        unit: "eV".into(),
                        values: vec![6.25.into()],
                    },
                ],
                ..Table::default()
            }],
            ..Document::default()
        };
        let found = tables(&document);
        assert_eq!(found[0].name, "band edges");
        assert_eq!(found[0].columns[1].title, "energy / eV");
        assert_eq!(found[0].rows, [["valence", "6.250000"], ["conduction", ""]]);
    }
}
