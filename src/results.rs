//! The results document of a workflow as it is read, and how its numbers are written; for cli and the
//! screens. Pure. Its form is the same for all kinds, so that nobody here knows a kind.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

/// Digits of a hash that people compare.
const SHORT_HASH: usize = 12;

/// As much of a hash as people compare.
#[must_use]
pub fn short_hash(hash: &str) -> &str {
    hash.get(..SHORT_HASH).unwrap_or(hash)
}

/// What a workflow was made from, `path /home/me/cu.cif`; empty where that is not known.
#[must_use]
pub fn made_from(source: &BTreeMap<String, String>) -> String {
    let from = ["path", "material", "job", "file"].iter();
    let from = from.filter_map(|name| Some((*name, source.get(*name)?)));
    let from: Vec<String> = from
        .map(|(name, value)| format!("{name} {value}"))
        .collect();
    from.join(", ")
}

/// What a workflow ends with.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct Document {
    /// What it is, for people.
    pub title: String,
    /// Numbers with their units.
    pub quantities: Vec<Quantity>,
    /// Tables.
    pub tables: Vec<Table>,
    /// Pictures.
    pub plots: Vec<Plot>,
    /// Doubts.
    pub flags: Vec<Flag>,
    /// Where the numbers come from.
    pub provenance: BTreeMap<String, String>,
}

/// One number.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct Quantity {
    /// For programs.
    pub name: String,
    /// For people.
    pub label: String,
    /// None where there is none, like the gap of a metal.
    pub value: Option<f64>,
    /// As it is printed; may be empty.
    pub unit: String,
    /// Standard error in the same unit.
    pub error: Option<f64>,
}

/// Columns of equal length.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct Table {
    /// For programs.
    pub name: String,
    /// For people.
    pub title: String,
    /// The columns.
    pub columns: Vec<Column>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct Column {
    /// Its head.
    pub name: String,
    /// Its unit; may be empty.
    pub unit: String,
    /// Numbers and texts.
    pub values: Vec<Value>,
}

/// What one picture shows.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct Plot {
    /// For programs.
    pub name: String,
    /// For people.
    pub title: String,
    /// What x is, with its unit.
    pub x_label: String,
    /// What y is, with its unit.
    pub y_label: String,
    /// The curves.
    pub curves: Vec<Curve>,
    /// Places along x that have names instead of numbers.
    pub ticks: Vec<(f64, String)>,
}

/// One line of a plot, or points.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct Curve {
    /// Its name.
    pub label: String,
    /// Along.
    pub x: Vec<f64>,
    /// Up.
    pub y: Vec<f64>,
    /// `line` or `points`.
    pub style: String,
}

/// A doubt.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct Flag {
    /// A short name.
    pub code: String,
    /// One sentence.
    pub message: String,
}

/// Read the results of a workflow; none where there are none yet.
///
/// # Errors
/// It is no results document.
pub fn read(results: Map<String, Value>) -> Result<Option<Document>, String> {
    if results.is_empty() {
        return Ok(None);
    }
    let read = serde_json::from_value(Value::Object(results));
    read.map(Some)
        .map_err(|error| format!("the results cannot be read: {error}"))
}

/// Seven significant figures, without an exponent where people write none.
#[must_use]
pub fn figures(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if value.fract() == 0.0 && value.abs() < 1e6 {
        return format!("{value:.0}");
    }
    let size = value.abs();
    if !(1e-4..1e7).contains(&size) {
        return format!("{value:.6e}");
    }
    let whole = [1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7]
        .iter()
        .position(|limit| size < *limit);
    let decimals = 6_usize.saturating_sub(whole.unwrap_or(6));
    format!("{value:.decimals$}")
}

/// A standard error: two figures.
#[must_use]
pub fn error_figures(error: f64) -> String {
    format!("{error:.1e}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_seven_significant_figures() {
        let cases = [
            (134.374_658_7, "134.3747"),
            (3.589_831_43, "3.589831"),
            (-0.007_034_851, "-0.007035"),
            (11.565_446, "11.56545"),
            (12_345.678_9, "12345.68"),
            (0.0, "0"),
            (9.0, "9"),
            (1.5e-9, "1.500000e-9"),
        ];
        for (value, wanted) in cases {
            assert_eq!(figures(value), wanted);
        }
    }

    #[test]
    fn what_is_no_results_document_is_said_to_be_none() {
        assert_eq!(read(Map::new()), Ok(None));
        let mut results = Map::new();
        results.insert("quantities".into(), "many".into());
        assert!(read(results).unwrap_err().contains("cannot be read"));
    }
}
