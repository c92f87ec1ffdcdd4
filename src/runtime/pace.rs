//! How often may be drawn: thirty times a second, where what the user did goes before the rest.

use std::time::{Duration, Instant};

/// Draws a second, over any longer time.
const RATE: f64 = 26.0;
/// Draws that may follow each other without a pause, so that a second never holds more than thirty.
const BURST: f64 = 4.0;
/// How many of those are kept for the user.
const RESERVE: f64 = 1.0;

/// A bucket of draws that fills with time.
#[derive(Debug)]
pub(super) struct Pace {
    draws: f64,
    at: Instant,
}

impl Pace {
    pub(super) const fn new(now: Instant) -> Self {
        Self {
            draws: BURST,
            at: now,
        }
    }

    fn left(&self, now: Instant) -> f64 {
        let since = now.saturating_duration_since(self.at).as_secs_f64();
        since.mul_add(RATE, self.draws).min(BURST)
    }

    /// How long the next draw has to wait.
    pub(super) fn wait(&self, now: Instant, urgent: bool) -> Duration {
        let needed = if urgent { 1.0 } else { 1.0 + RESERVE };
        let missing = needed - self.left(now);
        Duration::try_from_secs_f64(missing / RATE).unwrap_or(Duration::ZERO)
    }

    pub(super) fn drew(&mut self, now: Instant) {
        self.draws = self.left(now) - 1.0;
        self.at = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws_in_a_second(urgent: bool) -> usize {
        let start = Instant::now();
        let mut pace = Pace::new(start);
        (0..1000)
            .map(|millis| start + Duration::from_millis(millis))
            .filter(|now| {
                let ready = pace.wait(*now, urgent).is_zero();
                if ready {
                    pace.drew(*now);
                }
                ready
            })
            .count()
    }

    #[test]
    fn at_most_thirty_draws_a_second() {
        assert!((20..=30).contains(&draws_in_a_second(true)));
        assert!((20..=30).contains(&draws_in_a_second(false)));
    }

    #[test]
    fn a_key_goes_before_what_the_daemon_tells() {
        let start = Instant::now();
        let mut pace = Pace::new(start);
        while pace.wait(start, false).is_zero() {
            pace.drew(start);
        }
        assert!(pace.wait(start, true).is_zero());
    }
}
