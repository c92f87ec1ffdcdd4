//! Numbers and states as people read them, and text cut to a width.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The width that human output keeps to, in columns.
pub const WIDTH: usize = 80;

/// A duration in seconds: `3.2 s`, `4:05`, `1:02:03`, `2-03:04`.
#[must_use]
pub fn duration(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return "-".into();
    }
    if seconds < 60.0 {
        return format!("{seconds:.1} s");
    }
    // Rounded and known to be positive; beyond 10^15 s nobody looks.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let whole = seconds.min(1e15).round() as u64;
    let (days, hours, minutes) = (whole / 86400, whole / 3600 % 24, whole / 60 % 60);
    match (days, whole / 3600) {
        (0, 0) => format!("{minutes}:{:02}", whole % 60),
        (0, hours) => format!("{hours}:{minutes:02}:{:02}", whole % 60),
        _ => format!("{days}-{hours:02}:{minutes:02}"),
    }
}

/// Whether a state is an end.
#[must_use]
pub fn ended(state: &str) -> bool {
    matches!(state, "COMPLETED" | "FAILED" | "CANCELLED")
}

/// A point in time as the daemon writes it, to the second: `2026-01-06 12:00:00Z`.
#[must_use]
pub fn time(text: &str) -> String {
    let seconds = text.get(..19).unwrap_or(text);
    format!("{}Z", seconds.replace('T', " "))
}

/// Cut `text` to `width` columns, marking what was cut.
#[must_use]
pub fn fit(text: &str, width: usize) -> String {
    let text: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if text.width() <= width {
        return text;
    }
    let mut kept = String::new();
    let mut used = 1;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > width {
            break;
        }
        kept.push(c);
    }
    if width > 0 {
        kept.push('…');
    }
    kept
}

/// Fill `text` up to `width` columns.
#[must_use]
pub fn pad(text: &str, width: usize, right: bool) -> String {
    let blanks = " ".repeat(width.saturating_sub(text.width()));
    if right {
        format!("{blanks}{text}")
    } else {
        format!("{text}{blanks}")
    }
}

/// Break `text` into lines of at most `width` columns, putting `indent` before each but the first.
#[must_use]
pub fn wrap(text: &str, width: usize, indent: &str) -> String {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && line.width() + 1 + word.width() > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines.join(&format!("\n{indent}"))
}

/// The colour of a job state, as a terminal sequence.
#[must_use]
pub fn state_colour(state: &str) -> &'static str {
    match state {
        "COMPLETED" => "\x1b[32m",
        "FAILED" | "LOST" => "\x1b[31m",
        "RUNNING" | "FINISHED" => "\x1b[36m",
        "CANCELLING" | "CANCELLED" | "WAITING" => "\x1b[33m",
        _ => "",
    }
}

/// `text` in the colour, if colours are wanted.
#[must_use]
pub fn paint(text: &str, colour: &str, wanted: bool) -> String {
    if wanted && !colour.is_empty() {
        format!("{colour}{text}\x1b[0m")
    } else {
        text.to_owned()
    }
}
