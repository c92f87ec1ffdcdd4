use super::*;
use crate::theme::Glyphs;

fn drawn(plot: &Plot, columns: u16, rows: u16, ascii: bool) -> Vec<String> {
    let area = Rect::new(0, 0, columns, rows);
    let mut buf = Buffer::empty(area);
    let mut theme = Theme::built_in("dark").expect("a built-in theme");
    if ascii {
        theme = theme.with_glyphs(Glyphs::ASCII);
    }
    draw(plot, area, &mut buf, &theme);
    (0..rows)
        .map(|y| {
            let cells = (0..columns).filter_map(|x| buf.cell((x, y)));
            cells.map(ratatui::buffer::Cell::symbol).collect()
        })
        .collect()
}

fn plot(values: &[f64]) -> Plot {
    let points = values.iter().zip(0_u32..).map(|(y, x)| (f64::from(x), *y));
    Plot {
        curves: vec![Curve {
            name: "f".into(),
            points: points.collect(),
            ..Curve::default()
        }],
        x_label: "step".into(),
        y_label: "largest force / eV/Å".into(),
        ..Plot::default()
    }
}

#[test]
fn axes_have_numbers_and_names() {
    let lines = drawn(&plot(&[0.0, 5.0, 10.0]), 40, 12, true);
    assert!(
        lines[0].starts_with("largest force / eV/Å  * last: 10"),
        "{lines:#?}"
    );
    assert!(
        lines.iter().any(|line| line.starts_with("10|")),
        "{lines:#?}"
    );
    assert!(
        lines.iter().any(|line| line.starts_with(" 0|*")),
        "{lines:#?}"
    );
    assert!(
        lines[10].contains('0') && lines[10].contains('2'),
        "{lines:#?}"
    );
    assert!(lines[11].contains("step"), "{lines:#?}");
}

#[test]
fn lines_differ_without_colour() {
    let mut plot = plot(&[1.0, 1.0, 1.0]);
    let second = Curve {
        name: "g".into(),
        points: plot.curves[0]
            .points
            .iter()
            .map(|(x, _)| (*x, 2.0))
            .collect(),
        series: 1,
        ..Curve::default()
    };
    plot.curves.push(second);
    let lines = drawn(&plot, 50, 14, false);
    assert!(
        lines[0].trim_end().ends_with("── f  ╌╌ g"),
        "{}",
        lines[0].trim_end()
    );
    let dots = |line: &String| -> u32 {
        let cells = line.chars().filter_map(|c| (c as u32).checked_sub(0x2800));
        cells
            .filter(|bits| *bits < 0x100)
            .map(u32::count_ones)
            .sum()
    };
    let mut counts: Vec<u32> = lines.iter().map(dots).filter(|count| *count > 0).collect();
    counts.sort_unstable();
    let [dashed, solid] = counts[..] else {
        panic!("{lines:#?}")
    };
    assert!(dashed.abs_diff(solid / 2) <= 4, "{dashed} {solid}");
}

#[test]
fn a_gap_is_not_bridged() {
    let whole = drawn(&plot(&[1.0, 1.0, 2.0, 1.0, 1.0]), 40, 12, true).concat();
    let broken = drawn(&plot(&[1.0, 1.0, f64::NAN, 1.0, 2.0]), 40, 12, true);
    let stars = |text: &str| text.matches('*').count();
    assert_eq!(stars(&whole), 6);
    assert_eq!(stars(&broken.concat()), 5);
    assert!(broken.iter().all(|line| !line.contains("...*....*....")));
}

#[test]
fn a_logarithm_leaves_out_what_has_none() {
    let mut plot = plot(&[1e-1, 0.0, 1e-3, -1.0, 1e-5]);
    plot.log_y = true;
    let lines = drawn(&plot, 50, 14, false);
    assert!(lines[0].contains("log scale"));
    assert!(
        lines
            .iter()
            .any(|line| line.trim_start().starts_with("1e-3")),
        "{lines:#?}"
    );
    plot.curves[0].points = vec![(0.0, -1.0)];
    assert!(drawn(&plot, 50, 14, false)[0].contains("no positive values"));
}

#[test]
fn the_cursor_tells_its_value() {
    let mut plot = plot(&[3.0, 2.0, 1.5]);
    plot.cursor = Some(1);
    assert!(drawn(&plot, 50, 14, false)[0].contains("step 1: 2"));
    plot.cursor = Some(99);
    assert!(drawn(&plot, 50, 14, false)[0].contains("1.5"));
}

#[test]
fn no_size_and_no_values_panic() {
    for values in [
        &[][..],
        &[f64::NAN],
        &[1.0],
        &[f64::MAX, f64::MIN],
        &[1e-300, 0.0],
    ] {
        for log_y in [false, true] {
            for (columns, rows) in [(1, 1), (24, 6), (25, 7), (80, 24), (300, 90), (24, 200)] {
                let plot = Plot {
                    log_y,
                    ..plot(values)
                };
                drawn(&plot, columns, rows, columns % 2 == 0);
            }
        }
    }
}
