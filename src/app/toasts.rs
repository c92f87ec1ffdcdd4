//! Short messages that come and go by themselves and never take the keys.

use std::collections::VecDeque;

use crate::msg::Tone;

/// How many are seen at a time.
pub const SEEN: usize = 3;
/// How many are remembered.
const KEPT: usize = 200;

/// One message.
#[derive(Debug, Clone, PartialEq)]
pub struct Toast {
    /// How it is meant.
    pub tone: Tone,
    /// What it says.
    pub text: String,
    /// When it was said, in seconds since 1970.
    pub at: f64,
    until: f64,
}

/// The messages, the newest last.
#[derive(Debug, Default)]
pub struct Toasts {
    all: VecDeque<Toast>,
}

impl Toasts {
    pub(super) fn push(&mut self, tone: Tone, text: String, now: f64) {
        let stays_s = match tone {
            Tone::Good | Tone::Info => 4.0,
            Tone::Warn => 8.0,
            Tone::Bad => 15.0,
        };
        // The same again only stays longer.
        self.all
            .retain(|toast| toast.text != text || toast.until <= now);
        self.all.push_back(Toast {
            tone,
            text,
            at: now,
            until: now + stays_s,
        });
        while self.all.len() > KEPT {
            self.all.pop_front();
        }
    }

    /// Those that are seen now, the newest first.
    pub fn seen(&self, now: f64) -> impl Iterator<Item = &Toast> {
        self.all
            .iter()
            .rev()
            .filter(move |toast| toast.until > now)
            .take(SEEN)
    }

    /// All that are remembered, the newest first.
    pub fn history(&self) -> impl Iterator<Item = &Toast> {
        self.all.iter().rev()
    }

    /// When the next one disappears.
    #[must_use]
    pub fn wake_at(&self, now: f64) -> Option<f64> {
        self.seen(now).map(|toast| toast.until).reduce(f64::min)
    }

    /// Take away those that are seen; whether there were any.
    pub(super) fn dismiss(&mut self, now: f64) -> bool {
        let mut any = false;
        for toast in self.all.iter_mut().filter(|toast| toast.until > now) {
            toast.until = now;
            any = true;
        }
        any
    }
}
