//! A log or another text file of a job, read by offset: its end at once, then only what is new, and
//! what is older when it is scrolled to. Used for the log and for the preview of files.
//!
//! State and keys; `view` draws it.

mod reading;
mod view;

use ratatui::layout::Rect;

use crate::msg::{Action, Edit};
use crate::screens::{Cx, Handled};
use crate::widgets::input::TextLine;
use crate::widgets::log::{self, LogText};

pub use view::draw;

/// What is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// One of the outputs, as `jobs.log` names it.
    Stream(&'static str),
    /// The same of a task of an array.
    Task(i64, &'static str),
    /// A file of the job's directory, with its length as far as it is known.
    File(String, u64),
}

/// The outputs, in the order in which they are changed through.
pub const STREAMS: [&str; 3] = ["output", "stdout", "stderr"];

/// How far the reading is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
enum State {
    #[default]
    Loading,
    Ready,
    Failed(String),
}

/// Where the top of what is seen is: a line, and a row of it where lines are broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Top {
    line: usize,
    row: usize,
}

/// A text that is read bit by bit.
// Each switch is one the user has; they do not depend on each other.
#[allow(clippy::struct_excessive_bools)]
#[derive(Debug)]
pub struct LogView {
    /// The slots of what is read forwards and backwards.
    slots: [&'static str; 2],
    job: i64,
    source: Source,
    /// Counts what was opened, so that late answers are known as such.
    epoch: i64,
    text: LogText,
    state: State,
    /// The file's length and name as the daemon said last.
    size: u64,
    path: String,
    /// Nothing more will come.
    complete: bool,
    asked_at: f64,
    reading_back: bool,
    follow: bool,
    wrap: bool,
    top: Top,
    /// Columns scrolled away to the left.
    left: usize,
    input: Option<TextLine>,
    query: String,
    /// Where the search found something last.
    hit: Option<usize>,
}

impl LogView {
    /// Nothing yet; the slots must be of nobody else.
    #[must_use]
    pub fn new(slots: [&'static str; 2]) -> Self {
        Self {
            slots,
            job: 0,
            source: Source::Stream(STREAMS[0]),
            epoch: 0,
            text: LogText::default(),
            state: State::Loading,
            size: 0,
            path: String::new(),
            complete: false,
            asked_at: 0.0,
            reading_back: false,
            follow: true,
            wrap: false,
            top: Top::default(),
            left: 0,
            input: None,
            query: String::new(),
            hit: None,
        }
    }

    /// What is read.
    #[must_use]
    pub const fn source(&self) -> &Source {
        &self.source
    }

    /// The file, relative to the job's directory; empty while it is not known.
    #[must_use]
    pub fn path(&self) -> &str {
        match &self.source {
            Source::File(path, _) => path,
            Source::Stream(_) | Source::Task(..) => &self.path,
        }
    }

    /// Whether what is here is no text.
    #[must_use]
    pub fn is_binary(&self) -> bool {
        log::looks_binary(self.text.raw())
    }

    /// Whether a search is typed.
    #[must_use]
    pub const fn takes_text(&self) -> bool {
        self.input.is_some()
    }

    /// Do what was asked for.
    pub fn act(&mut self, action: Action, area: Rect, cx: &mut Cx<'_>) -> Handled {
        let rows = rows_seen(area);
        let (page, half) = (rows.cast_signed(), (rows / 2).max(1).cast_signed());
        match action {
            Action::Down => self.scroll(1, area, cx),
            Action::Up => self.scroll(-1, area, cx),
            Action::PageDown => self.scroll(page, area, cx),
            Action::PageUp => self.scroll(-page, area, cx),
            Action::HalfPageDown => self.scroll(half, area, cx),
            Action::HalfPageUp => self.scroll(-half, area, cx),
            Action::Top => self.go_to_start(cx),
            Action::Bottom => self.go_to_end(cx),
            Action::Left if !self.wrap && self.left > 0 => {
                self.left = self.left.saturating_sub(8);
            }
            Action::Right if !self.wrap && self.goes_on(area) => self.left += 8,
            Action::Follow => {
                if self.follow {
                    self.stop_following(area);
                } else {
                    self.go_to_end(cx);
                }
            }
            Action::Wrap => self.toggle_wrap(area),
            Action::Filter => self.input = Some(TextLine::of(&self.query)),
            Action::FindNext => self.find(false, area, cx),
            Action::FindPrevious => self.find(true, area, cx),
            Action::Back if !self.query.is_empty() => {
                self.query.clear();
                self.hit = None;
            }
            _ => return Handled::No,
        }
        cx.redraw();
        Handled::Yes
    }

    /// Change the search that is typed.
    pub fn edit(&mut self, edit: &Edit, area: Rect, cx: &mut Cx<'_>) {
        let Some(input) = &mut self.input else {
            return;
        };
        cx.redraw();
        match edit {
            Edit::Submit => {
                self.query = input.text().to_owned();
                self.input = None;
                self.find(false, area, cx);
            }
            Edit::Cancel => self.input = None,
            edit => {
                input.apply(edit);
                self.query = input.text().to_owned();
            }
        }
    }

    fn toggle_wrap(&mut self, area: Rect) {
        self.wrap ^= true;
        self.left = 0;
        self.top.row = 0;
        self.top = self.top.min(self.bottom(area));
    }

    fn stop_following(&mut self, area: Rect) {
        self.top = self.bottom(area);
        self.follow = false;
    }

    /// Whether a line that is seen goes on to the right.
    fn goes_on(&self, area: Rect) -> bool {
        let top = self.top_seen(area);
        let columns = self.left + columns_seen(area);
        (top.line..self.text.count())
            .take(rows_seen(area))
            .any(|line| {
                crate::widgets::text::width(log::skip_columns(&self.text.line(line), columns)) > 0
            })
    }

    fn rows_of(&self, line: usize, columns: usize) -> usize {
        if self.wrap {
            log::rows(&self.text.line(line), columns).len()
        } else {
            1
        }
    }

    /// The top when the end is seen.
    fn bottom(&self, area: Rect) -> Top {
        let (rows, columns) = (rows_seen(area), columns_seen(area));
        let mut left = rows;
        for line in (0..self.text.count()).rev() {
            let here = self.rows_of(line, columns);
            if here >= left {
                return Top {
                    line,
                    row: here - left,
                };
            }
            left -= here;
        }
        Top::default()
    }

    fn top_seen(&self, area: Rect) -> Top {
        if self.follow {
            self.bottom(area)
        } else {
            self.top
        }
    }

    fn scroll(&mut self, by: isize, area: Rect, cx: &mut Cx<'_>) {
        let columns = columns_seen(area);
        let bottom = self.bottom(area);
        let mut top = self.top_seen(area).min(bottom);
        for _ in 0..by.unsigned_abs() {
            if by > 0 {
                if top >= bottom {
                    break;
                }
                top.row += 1;
                if top.row >= self.rows_of(top.line, columns) {
                    top = Top {
                        line: top.line + 1,
                        row: 0,
                    };
                }
            } else if top.row > 0 {
                top.row -= 1;
            } else if top.line > 0 {
                top.line -= 1;
                top.row = self.rows_of(top.line, columns) - 1;
            } else {
                break;
            }
        }
        self.top = top;
        self.follow = self.follow && by > 0;
        self.read_around(area, cx);
    }

    fn find(&mut self, backwards: bool, area: Rect, cx: &mut Cx<'_>) {
        if self.query.is_empty() {
            return;
        }
        let seen = self.top_seen(area).line;
        let from = match (self.hit, backwards) {
            (Some(hit), false) => hit + 1,
            (Some(hit), true) => hit,
            (None, _) => seen,
        };
        let found = self.text.find(&self.query, from, backwards).or_else(|| {
            // Once around.
            let start = if backwards { self.text.count() } else { 0 };
            self.text.find(&self.query, start, backwards)
        });
        let Some(hit) = found else {
            let words = format!("{:?} is not in the part that is read", self.query);
            cx.toast(crate::msg::Tone::Info, words);
            return;
        };
        self.hit = Some(hit.line);
        self.follow = false;
        let columns = columns_seen(area);
        let row = if self.wrap { hit.column / columns } else { 0 };
        // A few lines above it stay in sight.
        self.top = Top {
            line: hit.line,
            row,
        };
        if row == 0 {
            self.top.line = hit.line.saturating_sub(rows_seen(area) / 3);
        }
        self.top = self.top.min(self.bottom(area));
        if !self.wrap && !(self.left..self.left + columns).contains(&hit.column) {
            self.left = hit.column.saturating_sub(columns / 3);
        }
    }
}

/// The rows of text that fit; the last row tells where one is.
fn rows_seen(area: Rect) -> usize {
    usize::from(area.height.saturating_sub(1)).max(1)
}

fn columns_seen(area: Rect) -> usize {
    usize::from(area.width.saturating_sub(1)).max(2)
}
