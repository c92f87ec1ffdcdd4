//! The results document of a workflow as it is read, and how its numbers are written; for cli and the
//! screens. Pure. Its form is the same for all kinds, so that nobody here knows a kind.

pub mod tables;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

/// Digits of a hash that people compare.
const SHORT_HASH: usize = 12;

/// What was computed and is smaller is rounding noise in every unit that results have.
pub const NOTHING: f64 = 1e-12;

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

/// Whether a member of the provenance says once more what another one says: what an engine calls itself
/// and its model, where they are asked for by that name.
#[must_use]
pub fn is_repeated<'a>(name: &str, value: &str, of: impl Fn(&str) -> Option<&'a str>) -> bool {
    let other = match name.strip_prefix("engine_") {
        Some("name") => of("engine"),
        Some(other) => of(other),
        None => None,
    };
    other == Some(value)
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
    if value.abs() < NOTHING {
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

/// A value in [`figures`]; one that is smaller than its error has no more digits than the error.
#[must_use]
pub fn figures_within(value: f64, error: Option<f64>) -> String {
    let Some(error) = error.filter(|error| value.abs() < *error && error.is_finite()) else {
        return figures(value);
    };
    // A few digits.
    #[allow(clippy::cast_possible_truncation)]
    let last = error.log10().floor() as i32 - 1;
    let kept = (value / 10f64.powi(last)).round() * 10f64.powi(last);
    if kept == 0.0 {
        return "0".into();
    }
    let decimals = usize::try_from(-last).unwrap_or(0);
    if (1e-4..1e7).contains(&kept.abs()) {
        return format!("{kept:.decimals$}");
    }
    #[allow(clippy::cast_possible_truncation)]
    let first = (kept.abs().log10() + 1e-9).floor() as i32;
    let decimals = usize::try_from(first - last).unwrap_or(0);
    format!("{kept:.decimals$e}")
}

/// A value with so many decimals; what is zero in them has no sign.
#[must_use]
pub fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let is_zero = text.chars().all(|c| matches!(c, '-' | '0' | '.'));
    if is_zero {
        text.trim_start_matches('-').to_owned()
    } else {
        text
    }
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
            (-1.2e-17, "0"),
        ];
        for (value, wanted) in cases {
            assert_eq!(figures(value), wanted);
        }
    }

    #[test]
    fn a_value_below_its_error_has_the_digits_of_the_error() {
        let cases = [
            (134.374_658_7, Some(1.4e-2), "134.3747"),
            (1.234_567e-6, Some(3.04e-6), "1.2e-6"),
            (-9.96e-7, Some(3.04e-6), "-1.0e-6"),
            (1.9e-7, Some(3.04e-6), "2e-7"),
            (4.1e-8, Some(3.04e-6), "0"),
            (-0.41, Some(0.62), "-0.41"),
            (310.2, Some(625.0), "310"),
            (12.0, Some(0.0), "12"),
            (12.5, None, "12.50000"),
        ];
        for (value, error, wanted) in cases {
            assert_eq!(figures_within(value, error), wanted, "{value} {error:?}");
        }
    }

    #[test]
    fn what_an_engine_is_called_is_said_once() {
        let known = BTreeMap::from([("engine", "emt"), ("model", "0.3.0"), ("code", "forces")]);
        let repeated = |name, value| is_repeated(name, value, |name| known.get(name).copied());
        assert!(repeated("engine_name", "emt"));
        assert!(repeated("engine_model", "0.3.0"));
        assert!(!repeated("engine_name", "pw.x"));
        assert!(!repeated("engine_version", "ase 3.29.0"));
        assert!(!repeated("engine", "emt"));
    }

    #[test]
    fn zero_has_no_sign() {
        assert_eq!(fixed(-1e-9, 6), "0.000000");
        assert_eq!(fixed(-0.02, 2), "-0.02");
        assert_eq!(fixed(-0.4, 0), "0");
    }

    #[test]
    fn what_is_no_results_document_is_said_to_be_none() {
        assert_eq!(read(Map::new()), Ok(None));
        let mut results = Map::new();
        results.insert("quantities".into(), "many".into());
        assert!(read(results).unwrap_err().contains("cannot be read"));
    }
}
