//! Text in columns: graphemes stay whole, and numbers read well.

use crystalmath::msg::Edit;
use crystalmath::theme::{Glyphs, Theme};
use crystalmath::widgets::input::TextLine;
use crystalmath::widgets::plot::{self, Curve, Plot};
use crystalmath::widgets::text::{
    age, bytes, duration, fit, head, pad, skip, unix_time, width, wrap,
};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::picture;

const FAMILY: &str = "👩‍👩‍👧";

#[test]
fn nothing_is_cut_in_half() {
    assert_eq!(head("晶体", 3), "晶");
    assert_eq!(skip("晶体", 1), "体");
    assert_eq!(fit("晶体结构", 5, "…"), "晶体…");
    assert_eq!(fit("e\u{301}te\u{301}", 3, "…"), "e\u{301}te\u{301}");
    assert_eq!(head(&format!("{FAMILY}x"), width(FAMILY)), FAMILY);
    assert_eq!(fit("a\tb\u{1b}[31m", 10, "…"), "a b [31m");
    for columns in 0..12 {
        for text in ["晶体结构", "abc", FAMILY, "e\u{301}", ""] {
            assert!(width(&fit(text, columns, "…")) <= columns);
            assert_eq!(width(&pad(text, columns, true, "…")), columns);
            for line in wrap(text, columns.max(2)) {
                assert!(width(&line) <= columns.max(2));
            }
        }
    }
}

#[test]
fn numbers_read_well() {
    for (seconds, wanted) in [
        (0.0, "0s"),
        (59.9, "59s"),
        (192.0, "3:12"),
        (11_525.0, "3:12:05"),
        (187_200.0, "2d04h"),
        (-1.0, "-"),
        (f64::NAN, "-"),
    ] {
        assert_eq!(duration(seconds), wanted);
    }
    for (seconds, wanted) in [
        (12.0, "12s"),
        (250.0, "4m"),
        (7300.0, "2h"),
        (200_000.0, "2d"),
    ] {
        assert_eq!(age(seconds), wanted);
    }
    assert_eq!(bytes(812), "812 B");
    assert_eq!(bytes(4_300_000), "4.1 MiB");
}

#[test]
fn times_are_read_with_their_zone() {
    for (text, wanted) in [
        ("1970-01-01T00:00:00Z", Some(0.0)),
        ("2026-01-06T12:00:00Z", Some(super::NOW)),
        ("2026-01-06T13:30:00.25+01:30", Some(super::NOW + 0.25)),
        ("2000-02-29T00:00:00Z", Some(951_782_400.0)),
        ("2026-01-06", None),
        ("2026-13-06T12:00:00Z", None),
        ("é026-01-06T12:00:00Z", None),
        ("", None),
    ] {
        assert_eq!(unix_time(text), wanted, "{text}");
    }
}

#[test]
fn a_line_is_edited_by_graphemes() {
    let mut line = TextLine::of(&format!("a{FAMILY}"));
    line.apply(&Edit::Backspace);
    assert_eq!(line.text(), "a");
    line.apply(&Edit::Insert("晶 体".into()));
    line.apply(&Edit::Left);
    line.apply(&Edit::Delete);
    assert_eq!(line.text(), "a晶 ");
    line.apply(&Edit::DeleteWord);
    assert_eq!(line.text(), "");
    line.apply(&Edit::Backspace);
    line.apply(&Edit::Insert("two words".into()));
    line.apply(&Edit::DeleteWord);
    assert_eq!(line.text(), "two ");
    line.apply(&Edit::DeleteToStart);
    assert!(line.is_empty());
}

fn drawn(plot: &Plot, theme: &Theme, size: (u16, u16)) -> String {
    let area = Rect::new(0, 0, size.0, size.1);
    let mut buffer = Buffer::empty(area);
    plot::draw(plot, area, &mut buffer, theme);
    picture(&buffer)
}

#[test]
fn a_plot_has_axes_units_and_values() {
    // Small whole numbers.
    #[allow(clippy::cast_precision_loss)]
    let points = (0..20)
        .map(|step| (f64::from(step), 10f64.powi(-step / 2)))
        .collect();
    let mut plot = Plot {
        curves: vec![Curve {
            name: "SCF".into(),
            points,
            ..Curve::default()
        }],
        x_label: "iteration".into(),
        y_label: "accuracy / Ry".into(),
        log_y: true,
        ..Plot::default()
    };
    let theme = Theme::built_in("dark").unwrap();
    let text = drawn(&plot, &theme, (60, 14));
    for words in [
        "accuracy / Ry",
        "iteration",
        "last: 1.0000e-9",
        "1e-1",
        "1e-9",
        "15",
    ] {
        assert!(text.contains(words), "{words} in\n{text}");
    }
    assert!(
        text.chars().any(|c| ('\u{2800}'..'\u{2900}').contains(&c)),
        "{text}"
    );
    assert!(drawn(&plot, &theme.clone().with_glyphs(Glyphs::ASCII), (60, 14)).is_ascii());
    assert!(drawn(&plot, &theme, (10, 3)).contains("too small"));
    plot.curves[0].points = vec![(0.0, f64::NAN), (1.0, -1.0)];
    assert!(drawn(&plot, &theme, (60, 14)).contains("no positive values"));
    plot.log_y = false;
    assert!(drawn(&plot, &theme, (60, 14)).contains("-1"));
}
