//! Tables from the results document of a job; for cli and the screens. Pure: what is a list of things becomes rows, what is a thing with
//! several values becomes names and values. Numbers keep the digits that the program has printed.

use serde_json::{Map, Number, Value};

use super::NOTHING;
use crate::units;
use crate::widgets::text;

/// The widest column.
const WIDEST: usize = 40;
/// Decimals beyond which a number was derived, not printed.
const PRINTED: usize = 11;
/// Decimals of what was derived.
const DERIVED: usize = 8;
/// Below this part of the largest component, a derived one is rounding noise.
const NOISE: f64 = 1e-10;
/// What tells of the program, not of the crystal.
const ASIDE: [&str; 1] = ["engine"];

/// A table.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// What it is.
    pub name: String,
    /// The columns.
    pub columns: Vec<Head>,
    /// The cells, row by row.
    pub rows: Vec<Vec<String>>,
}

/// The head of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// What is read.
    pub title: String,
    /// The columns that it needs.
    pub width: u16,
    /// Whether it holds numbers.
    pub right: bool,
}

/// Every table of a results document.
#[must_use]
pub fn tables(results: &Map<String, Value>) -> Vec<Found> {
    let mut tables = Vec::new();
    let symbols = symbols(results);
    for (name, value) in results {
        let words = units::split(name).0;
        match (name.as_str(), value) {
            (name, _) if ASIDE.contains(&name) => {}
            ("structure", Value::Object(structure)) => tables.extend(atoms(structure)),
            ("elastic_tensor", Value::Array(rows)) => {
                let unit = results.get("elastic_unit").and_then(Value::as_str);
                let name = with_unit(&words, unit.unwrap_or_default());
                tables.extend(matrix(&name, rows, "C"));
            }
            (_, Value::Object(part)) => from_part(&words, part, &symbols, &mut tables),
            (name, Value::Array(items)) => {
                tables.extend(from_list(name, &words, items, &symbols));
            }
            _ => {}
        }
    }
    // Names and values are in the summary, too; lists are what is looked for here.
    tables.sort_by_key(|table| table.columns.len() == 2);
    tables
}

/// The elements, where the structure names them.
fn symbols(results: &Map<String, Value>) -> Vec<String> {
    let structure = results.get("structure");
    let symbols = structure.and_then(|structure| structure["symbols"].as_array());
    let symbols = symbols.into_iter().flatten().filter_map(Value::as_str);
    symbols.map(str::to_owned).collect()
}

/// The lists of an object become tables of their own, its single values one together.
fn from_part(name: &str, part: &Map<String, Value>, symbols: &[String], tables: &mut Vec<Found>) {
    let mut single = Vec::new();
    for (key, value) in part {
        match value {
            Value::Array(items) if is_table(items) => {
                let words = match key.as_str() {
                    // The rows of the part itself.
                    "groups" | "rows" => name.to_owned(),
                    key => match units::split(key).0 {
                        // The part has one list, called as itself.
                        words if words == name => words,
                        words => format!("{name} {words}"),
                    },
                };
                tables.extend(from_list(key, &words, items, symbols));
            }
            Value::Object(inner) => {
                let inner = inner.iter();
                let path = |inner: &str| format!("{key}_{inner}");
                single.extend(inner.filter_map(|(inner, value)| pair(&path(inner), value)));
            }
            value => single.extend(pair(key, value)),
        }
    }
    if single.len() > 1 {
        // The rows of the part may have its name already.
        let taken = tables.iter().any(|table| table.name == name);
        let name = if taken {
            format!("{name} values")
        } else {
            name.to_owned()
        };
        tables.push(made(&name, &["", "value"], single));
    }
}

/// Whether a list holds more than one value in several numbers.
fn is_table(items: &[Value]) -> bool {
    let all = |is: fn(&Value) -> bool| !items.is_empty() && items.iter().all(is);
    all(Value::is_object) || all(Value::is_array) || (items.len() > 3 && all(Value::is_number))
}

fn pair(name: &str, value: &Value) -> Option<Vec<String>> {
    if value.is_null() {
        return None;
    }
    let (words, unit) = units::split(name);
    Some(vec![words, with_unit(&cell(value), unit)])
}

fn from_list(key: &str, name: &str, items: &[Value], symbols: &[String]) -> Option<Found> {
    if !is_table(items) {
        return None;
    }
    if items.iter().all(Value::is_object) {
        return Some(records(name, items));
    }
    let (_, unit) = units::split(key);
    let of_atoms = symbols.len() == items.len();
    if items.iter().all(Value::is_array) {
        let vectors = items.iter().all(|item| vector(item).is_some());
        return if of_atoms && vectors {
            Some(per_atom(name, unit, items, symbols))
        } else {
            matrix(&with_unit(name, unit), items, "")
        };
    }
    let rows = items.iter().enumerate().map(|(index, item)| {
        let mut row = vec![(index + 1).to_string()];
        if of_atoms {
            row.push(symbols[index].clone());
        }
        row.push(cell(item));
        row
    });
    let value = if unit.is_empty() { "value" } else { unit };
    let heads: &[&str] = if of_atoms {
        &["atom", "element", value]
    } else {
        &["", value]
    };
    Some(made(name, heads, rows.collect()))
}

/// A list of things: their members are the columns.
fn records(name: &str, items: &[Value]) -> Found {
    let things = items.iter().filter_map(Value::as_object);
    let rows: Vec<Vec<(String, String)>> = things.map(|item| flat("", item)).collect();
    let mut keys: Vec<&str> = Vec::new();
    for (key, _) in rows.iter().flatten() {
        if !keys.contains(&key.as_str()) {
            keys.push(key);
        }
    }
    let cells = rows.iter().map(|row| {
        let of = |key: &&str| {
            let found = row.iter().find(|(name, _)| name == key);
            found.map_or_else(|| "-".to_owned(), |(_, value)| value.clone())
        };
        keys.iter().map(of).collect()
    });
    let heads: Vec<String> = keys.iter().map(|key| title(key)).collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    made(name, &heads, cells.collect())
}

/// The single values of a thing and of its parts.
fn flat(before: &str, item: &Map<String, Value>) -> Vec<(String, String)> {
    let mut cells = Vec::new();
    for (key, value) in item {
        let key = format!("{before}{key}");
        match value {
            Value::Object(inner) => cells.extend(flat(&format!("{key}_"), inner)),
            value => cells.push((key, cell(value))),
        }
    }
    cells
}

/// A name in words with its unit: `ir_km_per_mol` is `ir km/mol`, `cm1` is `cm⁻¹`.
fn title(key: &str) -> String {
    let (words, unit) = units::split(&format!(" _{key}"));
    with_unit(words.trim(), unit)
}

fn with_unit(words: &str, unit: &str) -> String {
    format!("{words} {unit}").trim().to_owned()
}

/// Rows of numbers; `letter` begins the names of the rows.
fn matrix(name: &str, rows: &[Value], letter: &str) -> Option<Found> {
    let widest = rows
        .iter()
        .filter_map(|row| Some(row.as_array()?.len()))
        .max()?;
    let numbers: Vec<String> = (1..=widest).map(|n| n.to_string()).collect();
    let mut heads = vec![""];
    heads.extend(numbers.iter().map(String::as_str));
    let least = NOISE * largest(rows);
    let rows = rows.iter().enumerate().map(|(index, row)| {
        let mut cells = vec![format!("{letter}{}", index + 1)];
        let parts = row.as_array().into_iter().flatten();
        cells.extend(parts.map(|part| component(part, least)));
        cells.resize(widest + 1, String::new());
        cells
    });
    Some(made(name, &heads, rows.collect()))
}

/// Vectors of the atoms, like forces.
fn per_atom(name: &str, unit: &str, items: &[Value], symbols: &[String]) -> Found {
    let least = NOISE * largest(items);
    let rows = items.iter().zip(symbols).enumerate();
    let rows = rows.map(|(index, (item, symbol))| {
        let mut cells = vec![(index + 1).to_string(), symbol.clone()];
        let parts = vector(item).into_iter().flatten();
        cells.extend(parts.map(|part| component(part, least)));
        cells
    });
    let heads = ["x", "y", "z"].map(|axis| with_unit(axis, unit));
    let heads = ["atom", "element", &heads[0], &heads[1], &heads[2]];
    made(name, &heads, rows.collect())
}

/// The three components, where it has as many.
fn vector(item: &Value) -> Option<&Vec<Value>> {
    item.as_array()
        .filter(|parts| parts.len() == 3 && parts.iter().all(Value::is_number))
}

/// The atoms of a structure, with their places.
fn atoms(structure: &Map<String, Value>) -> Option<Found> {
    let symbols = structure.get("symbols")?.as_array()?;
    let positions = structure.get("positions")?.as_array()?;
    // Of what is nothing in so many decimals, the sign is left out.
    let place = |x: &Value| match x.as_f64() {
        Some(x) if x.abs() < 5e-7 => "0.000000".to_owned(),
        Some(x) => format!("{x:.6}"),
        None => cell(x),
    };
    let rows = symbols.iter().zip(positions).enumerate();
    let rows = rows.map(|(index, (symbol, position))| {
        let mut cells = vec![(index + 1).to_string(), cell(symbol)];
        cells.extend(position.as_array().into_iter().flatten().map(place));
        cells.resize(5, String::new());
        cells
    });
    let heads = ["atom", "element", "x Å", "y Å", "z Å"];
    Some(made("atoms", &heads, rows.collect()))
}

/// A value in one cell.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => "-".into(),
        Value::Bool(yes) => (if *yes { "yes" } else { "no" }).into(),
        Value::String(text) => text::clean(text),
        Value::Number(number) => digits(number),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(cell).collect();
            items.join(" ")
        }
        Value::Object(_) => value.to_string(),
    }
}

fn digits(number: &Number) -> String {
    let text = number.to_string();
    match number.as_f64() {
        Some(0.0) => text.trim_start_matches('-').to_owned(),
        Some(value) if is_derived(&text) && value.abs() < NOTHING => "0".into(),
        Some(value) if is_derived(&text) && text.contains('e') => format!("{value:.6e}"),
        Some(value) if is_derived(&text) => format!("{value:.DERIVED$}"),
        _ => text,
    }
}

fn is_derived(text: &str) -> bool {
    let decimals = text.split_once('.').map_or(0, |(_, rest)| rest.len());
    decimals > PRINTED
}

/// A component of a tensor, or of the vectors of atoms: a derived one below `least` is zero.
fn component(value: &Value, least: f64) -> String {
    match value {
        Value::Number(number)
            if is_derived(&number.to_string())
                && number.as_f64().is_some_and(|value| value.abs() < least) =>
        {
            "0".into()
        }
        value => cell(value),
    }
}

/// The largest component, without its sign.
fn largest(rows: &[Value]) -> f64 {
    let parts = rows.iter().filter_map(Value::as_array).flatten();
    parts
        .filter_map(Value::as_f64)
        .map(f64::abs)
        .fold(0.0, f64::max)
}

fn made(name: &str, heads: &[&str], rows: Vec<Vec<String>>) -> Found {
    let columns = heads.iter().enumerate().map(|(index, title)| {
        let cells = || rows.iter().filter_map(|row| row.get(index));
        let widest = cells().map(|cell| text::width(cell)).max().unwrap_or(0);
        let width = widest.max(text::width(title)).min(WIDEST);
        let mut told = cells().filter(|cell| !matches!(cell.as_str(), "" | "-"));
        Head {
            title: (*title).to_owned(),
            width: u16::try_from(width).unwrap_or(u16::MAX),
            right: told.all(|cell| cell.parse::<f64>().is_ok()),
        }
    });
    Found {
        name: name.to_owned(),
        columns: columns.collect(),
        rows,
    }
}

#[cfg(test)]
mod tests;
