//! Characters that are not text: marks, lines and bars, each with a form in plain ASCII.

/// A set of characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Glyphs {
    /// Whether only ASCII is used.
    pub ascii: bool,
    /// Waits to be started.
    pub waiting: &'static str,
    /// Runs.
    pub running: &'static str,
    /// Ended, not judged yet.
    pub finished: &'static str,
    /// Ended well.
    pub completed: &'static str,
    /// Failed.
    pub failed: &'static str,
    /// Cancelled, or being cancelled.
    pub cancelled: &'static str,
    /// Nobody knows.
    pub lost: &'static str,
    /// Something to look at.
    pub attention: &'static str,
    /// A selected row.
    pub selected: &'static str,
    /// The daemon is connected.
    pub live: &'static str,
    /// It is not.
    pub away: &'static str,
    /// Text was cut here.
    pub more: &'static str,
    /// Sorted upwards.
    pub ascending: &'static str,
    /// Sorted downwards.
    pub descending: &'static str,
    /// The full part of a bar.
    pub bar_full: &'static str,
    /// The rest of a bar.
    pub bar_rest: &'static str,
    /// A line from left to right.
    pub horizontal: &'static str,
    /// A line from top to bottom.
    pub vertical: &'static str,
    /// Corners: top left, top right, bottom left, bottom right.
    pub corners: [&'static str; 4],
    /// Where a dividing line meets the top and the bottom.
    pub tees: [&'static str; 2],
    /// The part of a scroll bar that is seen.
    pub thumb: &'static str,
    /// The rest of a scroll bar.
    pub track: &'static str,
    /// A chosen and a free box of a list.
    pub boxes: [&'static str; 2],
    /// Stands between the parts of a line.
    pub dot: &'static str,
}

impl Glyphs {
    /// For terminals with Unicode.
    pub const UNICODE: Self = Self {
        ascii: false,
        waiting: "·",
        running: "▶",
        finished: "◆",
        completed: "✓",
        failed: "✗",
        cancelled: "⊘",
        lost: "?",
        attention: "!",
        selected: "▌",
        live: "●",
        away: "○",
        more: "…",
        ascending: "▲",
        descending: "▼",
        bar_full: "█",
        bar_rest: "░",
        horizontal: "─",
        vertical: "│",
        corners: ["┌", "┐", "└", "┘"],
        tees: ["┬", "┴"],
        thumb: "█",
        track: "│",
        boxes: ["[x]", "[ ]"],
        dot: "·",
    };

    /// For everything else.
    pub const ASCII: Self = Self {
        ascii: true,
        waiting: ".",
        running: ">",
        finished: "*",
        completed: "+",
        failed: "x",
        cancelled: "-",
        lost: "?",
        attention: "!",
        selected: "*",
        live: "*",
        away: "o",
        more: "~",
        ascending: "^",
        descending: "v",
        bar_full: "#",
        bar_rest: ".",
        horizontal: "-",
        vertical: "|",
        corners: ["+", "+", "+", "+"],
        tees: ["+", "+"],
        thumb: "#",
        track: "|",
        boxes: ["[x]", "[ ]"],
        dot: "-",
    };
}
