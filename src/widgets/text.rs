//! Text measured in terminal columns and cut between graphemes, and numbers as people read them.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

use crate::theme::Theme;

/// The columns that `text` takes.
#[must_use]
pub fn width(text: &str) -> usize {
    text.graphemes(true)
        .map(unicode_width::UnicodeWidthStr::width)
        .sum()
}

/// The longest start of `text` that fits `columns`; no grapheme is cut in half.
#[must_use]
pub fn head(text: &str, columns: usize) -> &str {
    let mut used = 0;
    for (at, grapheme) in text.grapheme_indices(true) {
        used += grapheme.width();
        if used > columns {
            return &text[..at];
        }
    }
    text
}

/// The rest of `text` after the first `columns`.
#[must_use]
pub fn skip(text: &str, columns: usize) -> &str {
    let mut used = 0;
    for (at, grapheme) in text.grapheme_indices(true) {
        if used >= columns {
            return &text[at..];
        }
        used += grapheme.width();
    }
    ""
}

/// `text` in at most `columns`, with a mark where it was cut. Control characters become blanks.
#[must_use]
pub fn fit(text: &str, columns: usize, more: &str) -> String {
    let clean = clean(text);
    if width(&clean) <= columns {
        return clean;
    }
    if columns == 0 {
        return String::new();
    }
    format!("{}{more}", head(&clean, columns - 1))
}

/// `text` in exactly `columns`.
#[must_use]
pub fn pad(text: &str, columns: usize, right: bool, more: &str) -> String {
    let fitted = fit(text, columns, more);
    let blanks = " ".repeat(columns.saturating_sub(width(&fitted)));
    if right {
        format!("{blanks}{fitted}")
    } else {
        format!("{fitted}{blanks}")
    }
}

/// `text` without control characters.
#[must_use]
pub fn clean(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

/// `text` broken into lines of at most `columns`, at blanks where there are any.
#[must_use]
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in clean(text).split_whitespace() {
        let mut word = word;
        if !line.is_empty() && width(&line) + 1 + width(word) > columns {
            lines.push(std::mem::take(&mut line));
        }
        while line.is_empty() && width(word) > columns {
            let start = head(word, columns);
            if start.is_empty() {
                break;
            }
            lines.push(start.to_owned());
            word = &word[start.len()..];
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

/// `text` broken into lines of at most `columns` exactly where they are full; blanks stay.
#[must_use]
pub fn wrap_keeping(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(2);
    let clean = clean(text);
    let mut lines = Vec::new();
    let mut rest = clean.as_str();
    while width(rest) > columns {
        let start = head(rest, columns);
        if start.is_empty() {
            break;
        }
        lines.push(start.to_owned());
        rest = &rest[start.len()..];
    }
    lines.push(rest.to_owned());
    lines
}

/// Write `text` into one row, at most `columns` of it; gives the column after it.
pub fn put(buf: &mut Buffer, at: (u16, u16), text: &str, columns: u16, style: Style) -> u16 {
    let area = buf.area;
    if at.1 < area.top() || at.1 >= area.bottom() || at.0 >= area.right() {
        return at.0;
    }
    buf.set_stringn(at.0, at.1, text, usize::from(columns), style)
        .0
}

/// A duration in seconds, in few columns: `42s`, `3:12`, `3:12:05`, `2d04h`.
#[must_use]
pub fn duration(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return "-".into();
    }
    // Known to be positive; beyond 10^12 s nobody looks.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let whole = seconds.min(1e12) as u64;
    let (days, hours, minutes) = (whole / 86400, whole / 3600, whole / 60 % 60);
    match (days, hours, whole / 60) {
        (0, 0, 0) => format!("{whole}s"),
        (0, 0, _) => format!("{minutes}:{:02}", whole % 60),
        (0, _, _) => format!("{hours}:{minutes:02}:{:02}", whole % 60),
        _ => format!("{days}d{:02}h", hours % 24),
    }
}

/// What has run for so many seconds and still does: `42s`, `3:12`, `3h12m`, `2d04h`. It says no more
/// than changes rarely, so that it need not be written anew each second for hours.
#[must_use]
pub fn so_far(seconds: f64) -> String {
    if !(3600.0..86400.0).contains(&seconds) {
        return duration(seconds);
    }
    // Below one day.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let minutes = seconds as u64 / 60;
    format!("{}h{:02}m", minutes / 60, minutes % 60)
}

/// In how many seconds [`so_far`] says something else.
#[must_use]
pub fn so_far_changes_in(seconds: f64) -> Option<f64> {
    let unit = match seconds {
        s if s < 3600.0 => 1.0,
        s if s < 86400.0 => 60.0,
        _ => 3600.0,
    };
    until_next(seconds, unit)
}

/// In how many seconds [`age`] says something else.
#[must_use]
pub fn age_changes_in(seconds: f64) -> Option<f64> {
    let unit = match seconds {
        s if s < 60.0 => 1.0,
        s if s < 3600.0 => 60.0,
        s if s < 86400.0 => 3600.0,
        _ => 86400.0,
    };
    until_next(seconds, unit)
}

/// Never zero, so that nobody waits for what is over; nothing for what no longer counts seconds.
fn until_next(seconds: f64, unit: f64) -> Option<f64> {
    let counts = (0.0..1e12).contains(&seconds);
    counts.then(|| (unit - seconds % unit).max(0.001))
}

/// An age in seconds, in one unit: `12s`, `4m`, `3h`, `2d`.
#[must_use]
pub fn age(seconds: f64) -> String {
    const UNITS: [(f64, &str); 3] = [(86400.0, "d"), (3600.0, "h"), (60.0, "m")];
    if !seconds.is_finite() || seconds < 0.0 {
        return "-".into();
    }
    for (unit, name) in UNITS {
        if seconds >= unit {
            return format!("{:.0}{name}", (seconds / unit).floor());
        }
    }
    format!("{:.0}s", seconds.floor())
}

/// A number of bytes: `812 B`, `4.1 MiB`.
#[must_use]
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut unit, mut whole, mut tenths) = (0, count, 0);
    while whole >= 1024 && unit + 1 < UNITS.len() {
        tenths = whole % 1024 * 10 / 1024;
        whole /= 1024;
        unit += 1;
    }
    if unit == 0 {
        format!("{whole} B")
    } else {
        format!("{whole}.{tenths} {}", UNITS[unit])
    }
}

/// A bar of `columns` that is full to `fraction`.
#[must_use]
pub fn bar(fraction: f64, columns: usize, theme: &Theme) -> String {
    let glyphs = theme.glyphs();
    // Between 0 and the number of columns.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss
    )]
    let full = (fraction.clamp(0.0, 1.0) * columns as f64).round() as usize;
    let full = full.min(columns);
    format!(
        "{}{}",
        glyphs.bar_full.repeat(full),
        glyphs.bar_rest.repeat(columns - full)
    )
}

/// Seconds since 1970 of an RFC 3339 time; `None` when it is none.
#[must_use]
pub fn unix_time(text: &str) -> Option<f64> {
    let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<i64>().ok();
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
    if !(1..=12).contains(&month) || !(0..=9999).contains(&year) {
        return None;
    }
    // Days since 1970 of the civil calendar (Hinnant, "chrono-compatible low-level date algorithms").
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
    let tail = text.get(19..)?;
    let zone = tail.find(['+', '-', 'Z'])?;
    let (fraction, zone) = tail.split_at(zone);
    let fraction: f64 = if fraction.is_empty() {
        0.0
    } else {
        format!("0{fraction}").parse().ok()?
    };
    let offset = match zone.as_bytes().first()? {
        b'Z' => 0,
        sign => {
            let hours: i64 = zone.get(1..3)?.parse().ok()?;
            let minutes: i64 = zone.get(4..6)?.parse().ok()?;
            let east = hours * 3600 + minutes * 60;
            if *sign == b'-' { -east } else { east }
        }
    };
    let whole = days * 86400 + hour * 3600 + minute * 60 + second - offset;
    // Exact up to 2^53 s.
    #[allow(clippy::cast_precision_loss)]
    let whole = whole as f64;
    Some(whole + fraction)
}
/// Draw a sentence in lines that fit the area, with a column free on both sides.
pub fn say(words: &str, area: Rect, buf: &mut Buffer, style: Style) {
    let lines = wrap(words, usize::from(area.width).saturating_sub(2));
    for (line, y) in lines.iter().zip(area.top()..area.bottom()) {
        put(buf, (area.x + 1, y), line, area.width - 1, style);
    }
}
