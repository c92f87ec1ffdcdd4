//! Tables of text that keep to the width of a terminal.

use std::borrow::Cow;

use unicode_width::UnicodeWidthStr as _;

use super::text;

/// One column.
pub struct Column {
    title: Cow<'static, str>,
    right: bool,
    /// The widest it may become; 0 for the one that takes what is left.
    most: usize,
}

impl Column {
    /// A column of text.
    #[must_use]
    pub fn left(title: impl Into<Cow<'static, str>>, most: usize) -> Self {
        Self {
            title: title.into(),
            right: false,
            most,
        }
    }

    /// A column of numbers.
    #[must_use]
    pub fn right(title: impl Into<Cow<'static, str>>, most: usize) -> Self {
        Self {
            title: title.into(),
            right: true,
            most,
        }
    }
}

/// One cell: its text and the terminal sequence of its colour.
pub type Cell = (String, &'static str);

/// A cell without colour.
#[must_use]
pub fn cell(text: impl Into<String>) -> Cell {
    (text.into(), "")
}

/// Lay out `rows` below their titles, within [`text::WIDTH`] columns.
#[must_use]
pub fn render(columns: &[Column], rows: &[Vec<Cell>], colour: bool) -> String {
    let natural = |index: usize, column: &Column| {
        let cells = rows
            .iter()
            .filter_map(|row| row.get(index))
            .map(|cell| cell.0.width());
        cells.max().unwrap_or(0).max(column.title.width())
    };
    let mut widths: Vec<usize> = columns
        .iter()
        .enumerate()
        .map(|(index, column)| match column.most {
            0 => natural(index, column),
            most => natural(index, column).min(most),
        })
        .collect();
    let gaps = 2 * columns.len().saturating_sub(1);
    if let Some(open) = columns.iter().position(|column| column.most == 0) {
        let others: usize = widths.iter().sum::<usize>() - widths[open];
        widths[open] = widths[open].min(text::WIDTH.saturating_sub(gaps + others).max(8));
    }
    let titles: Vec<Cell> = columns
        .iter()
        .map(|column| (column.title.to_string(), "\x1b[1m"))
        .collect();
    let mut lines = Vec::with_capacity(rows.len() + 1);
    for row in std::iter::once(&titles).chain(rows) {
        let mut line = String::new();
        for (index, column) in columns.iter().enumerate() {
            let (value, tint) = row
                .get(index)
                .map_or(("", ""), |cell| (cell.0.as_str(), cell.1));
            let fitted = text::pad(
                &text::fit(value, widths[index]),
                widths[index],
                column.right,
            );
            line.push_str(if index == 0 { "" } else { "  " });
            line.push_str(&text::paint(&fitted, tint, colour));
        }
        lines.push(line.trim_end().to_owned());
    }
    lines.join("\n")
}
