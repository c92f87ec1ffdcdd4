//! The tables of a job's results in lines: the beginning of each, or all of them.

use serde_json::{Map, Value};
use unicode_width::UnicodeWidthStr as _;

use super::{LABEL, field};
use crate::cli::table::{self, Column, cell};
use crate::cli::text;
use crate::results::tables::{Found, tables};

/// Rows of a shortened table.
const ROWS: usize = 10;
/// Columns of the screen between two columns of a table.
const GAP: usize = 2;

/// How much of the tables.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli) enum Extent {
    /// What fits the width of a screen and a few lines; the rest is one command away.
    Short {
        /// Whose they are.
        job: i64,
    },
    /// Every row and column, also where they are wider than a screen.
    Whole,
}

/// The tables, with a blank line before each; names with their values are one line when shortened.
#[must_use]
pub(in crate::cli) fn lines(
    results: &Map<String, Value>,
    extent: Extent,
    colour: bool,
) -> Vec<String> {
    let found = tables(results);
    let mut lines = Vec::new();
    let mut cut = false;
    if let Extent::Short { .. } = extent {
        let pairs = found.iter().filter(|table| is_pairs(table));
        lines.extend(pairs.filter_map(pairs_of));
    }
    for table in &found {
        let (rows, columns) = match extent {
            Extent::Whole => (table.rows.len(), table.columns.len()),
            Extent::Short { .. } if is_pairs(table) => continue,
            Extent::Short { .. } => (rows_of(table), columns_of(table)),
        };
        lines.push(String::new());
        lines.push(text::paint(&table.name, "\x1b[1m", colour));
        lines.push(drawn(table, rows, columns, colour));
        let left = left_out(table, rows, columns);
        cut |= left.is_some();
        lines.extend(left);
    }
    if let (Extent::Short { job }, true) = (extent, cut) {
        lines.push(String::new());
        lines.push(format!(
            "all rows and columns: crystalmath show {job} --tables"
        ));
    }
    lines
}

/// Whether it is names and their values.
fn is_pairs(table: &Found) -> bool {
    table.columns.len() == 2 && table.columns[1].title == "value" && !table.columns[0].right
}

/// Names and values in a line; not those of the cell, which stand among the first numbers.
fn pairs_of(table: &Found) -> Option<String> {
    let rows = table.rows.iter().map(|row| row.join(" "));
    let said = rows.collect::<Vec<_>>().join(", ");
    match table.name.trim_end_matches(" values") {
        "lattice" => None,
        name if name.width() < LABEL => Some(field(name, &said)),
        name => Some(field("", &format!("{name}: {said}"))),
    }
}

/// One row more takes no more lines than saying that it is left out.
fn rows_of(table: &Found) -> usize {
    let rows = table.rows.len();
    if rows <= ROWS + 1 { rows } else { ROWS }
}

/// How many columns fit, from the left; one always does.
fn columns_of(table: &Found) -> usize {
    let mut used = 0;
    let fits = |at: &usize| {
        used += widest(table, *at) + if used == 0 { 0 } else { GAP };
        used <= text::WIDTH
    };
    (0..table.columns.len()).take_while(fits).count().max(1)
}

/// Columns of the screen that a column needs, in whole.
fn widest(table: &Found, at: usize) -> usize {
    let cells = table.rows.iter().filter_map(|row| row.get(at));
    let widths = cells.map(|cell| cell.width());
    let title = table.columns[at].title.width();
    widths.chain([title, 1]).max().unwrap_or(1)
}

fn drawn(table: &Found, rows: usize, columns: usize, colour: bool) -> String {
    let heads = table.columns.iter().enumerate().take(columns);
    let heads: Vec<Column> = heads
        .map(|(at, head)| {
            let most = widest(table, at);
            if head.right {
                Column::right(head.title.clone(), most)
            } else {
                Column::left(head.title.clone(), most)
            }
        })
        .collect();
    let rows = table.rows.iter().take(rows);
    let rows: Vec<_> = rows
        .map(|row| row.iter().take(columns).map(cell).collect())
        .collect();
    table::render(&heads, &rows, colour)
}

/// What is not shown of it.
fn left_out(table: &Found, rows: usize, columns: usize) -> Option<String> {
    let some = |count: usize, what: &str| match count {
        0 => None,
        1 => Some(format!("1 more {what}")),
        many => Some(format!("{many} more {what}s")),
    };
    let parts = [
        some(table.rows.len() - rows, "row"),
        some(table.columns.len() - columns, "column"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("… {}", parts.join(", ")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(results: &Value, extent: Extent) -> String {
        lines(results.as_object().expect("an object"), extent, false).join("\n")
    }

    fn frequencies() -> Value {
        let groups: Vec<Value> = (1..=24)
            .map(|mode| json!({"modes": [mode, mode], "cm1": 100.5, "irrep": "E_u"}))
            .collect();
        let long = "a".repeat(64);
        json!({
            "frequencies": {"modes": 24, "negative": 0, "groups": groups},
            "dielectric_tensor": [[13.5, 0.0, 0.0], [0.0, 13.5, 0.0], [0.0, 0.0, 13.5]],
            "pseudopotentials": [{"element": "Si", "file": "Si.UPF", "md5": long, "sha256": long}],
        })
    }

    #[test]
    fn a_long_table_is_cut_and_says_what_gives_all_of_it() {
        let text = shown(&frequencies(), Extent::Short { job: 7 });
        for part in [
            "frequencies    modes 24, negative 0\n",
            "modes   cm⁻¹  irrep\n1 1    100.5  E_u\n",
            "10 10  100.5  E_u\n… 14 more rows\n",
            "dielectric tensor\n      1     2     3\n1  13.5   0.0   0.0\n",
            "… 2 more columns\n",
        ] {
            assert!(text.contains(part), "{part} is missing:\n{text}");
        }
        assert!(text.ends_with("\nall rows and columns: crystalmath show 7 --tables"));
        assert!(
            text.lines().all(|line| line.width() <= text::WIDTH),
            "{text}"
        );
    }

    #[test]
    fn a_whole_table_has_every_row_and_column() {
        let text = shown(&frequencies(), Extent::Whole);
        for part in ["24 24  100.5  E_u", &"a".repeat(64), "negative      0"] {
            assert!(text.contains(part), "{part} is missing:\n{text}");
        }
        assert!(!text.contains('…'), "{text}");
    }

    #[test]
    fn a_table_of_eleven_rows_is_whole() {
        let results = json!({"spins": (0..11).map(f64::from).collect::<Vec<_>>()});
        let text = shown(&results, Extent::Short { job: 1 });
        assert!(text.ends_with("11   10.0"), "{text}");
    }
}
