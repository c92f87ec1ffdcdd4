//! Where the marks of an axis are, and numbers as axes and values write them.

/// An interval on an axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// Its lower end.
    pub low: f64,
    /// Its upper end; always larger.
    pub high: f64,
}

impl Span {
    /// The interval that holds all values; `None` where there is no finite one.
    #[must_use]
    pub fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let (low, high) = values
            .filter(|value| value.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            });
        if low > high {
            return None;
        }
        // A constant still needs some height, more than the rounding of its own digits.
        let least = low.abs().max(high.abs()) * 1e-12;
        if high - low > least && (high - low).is_finite() {
            return Some(Self { low, high });
        }
        let room = (low.abs() * 0.01).max(0.5);
        Some(Self {
            low: low - room,
            high: high + room,
        })
    }

    /// The cell of a value among `cells`; values outside go to the nearest end.
    #[must_use]
    pub fn place(self, value: f64, cells: usize) -> Option<usize> {
        let share = (value - self.low) / (self.high - self.low);
        if !share.is_finite() {
            return None;
        }
        // Between 0 and the number of cells.
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss
        )]
        let cell = (share.clamp(0.0, 1.0) * cells.saturating_sub(1) as f64).round() as usize;
        Some(cell)
    }
}

/// Round values within the interval, about `wanted` of them but at least `least` apart, and the step
/// between them.
#[must_use]
pub fn round_ticks(span: Span, wanted: usize, least: f64) -> (Vec<f64>, f64) {
    // A handful.
    #[allow(clippy::cast_precision_loss)]
    let rough = (span.high - span.low) / wanted.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        // Rather half as many again than half as many.
        .find(|step| *step >= rough / 1.5)
        .unwrap_or(10.0 * power)
        .max(least);
    if !step.is_finite() || step <= 0.0 {
        return (vec![span.low], 1.0);
    }
    let first = (span.low / step - 1e-9).ceil();
    let ticks = (0..100_u8)
        .map(|index| (first + f64::from(index)) * step)
        .take_while(|value| *value <= span.high + step * 1e-6)
        .map(|value| {
            if value.abs() < step * 1e-6 {
                0.0
            } else {
                value
            }
        });
    (ticks.collect(), step)
}

/// The marks of an axis of logarithms: whole decades where there are enough of them.
#[must_use]
pub fn decade_ticks(span: Span, wanted: usize) -> Vec<f64> {
    let (first, last) = (span.low.ceil(), span.high.floor());
    if last - first < 1.0 {
        return vec![span.low, span.high];
    }
    // A handful.
    #[allow(clippy::cast_precision_loss)]
    let every = ((last - first + 1.0) / wanted.max(1) as f64)
        .ceil()
        .max(1.0);
    (0..100_u8)
        .map(|index| first + f64::from(index) * every)
        .take_while(|value| *value <= last + 1e-9)
        .collect()
}

/// A number as a mark writes it, where marks are `step` apart.
#[must_use]
pub fn tick_text(value: f64, step: f64) -> String {
    let size = value.abs().max(step.abs());
    if size >= 1e7 || (size != 0.0 && size < 1e-4) {
        return format!("{value:.1e}");
    }
    let digits = (-step.log10()).ceil().clamp(0.0, 10.0);
    // A few digits.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let digits = digits as usize;
    format!("{value:.digits$}")
}

/// A value with the digits that matter, nine at most.
#[must_use]
pub fn value_text(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        return "-".into();
    }
    if size != 0.0 && !(1e-4..1e7).contains(&size) {
        return format!("{value:.4e}");
    }
    let before = if size < 1.0 {
        1.0
    } else {
        size.log10().floor() + 1.0
    };
    // Between 1 and 8.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let digits = (9.0 - before).clamp(0.0, 8.0) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(low: f64, high: f64, wanted: usize) -> Vec<String> {
        let (ticks, step) = round_ticks(Span { low, high }, wanted, 0.0);
        ticks.iter().map(|tick| tick_text(*tick, step)).collect()
    }

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(texts(0.0, 10.0, 5), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(texts(0.0, 3.0, 3), ["0", "1", "2", "3"]);
        assert_eq!(
            texts(-0.03, 0.02, 5),
            ["-0.03", "-0.02", "-0.01", "0.00", "0.01", "0.02"]
        );
        assert_eq!(texts(0.13, 0.97, 4), ["0.2", "0.4", "0.6", "0.8"]);
        assert_eq!(
            texts(-15_844.527_27, -15_844.527_25, 2),
            ["-15844.52727", "-15844.52726", "-15844.52725"]
        );
        for (low, high) in [(1e-9, 3e-9), (-4e12, 7e12), (0.999, 1.001), (-1e-3, 0.0)] {
            let (ticks, _) = round_ticks(Span { low, high }, 5, 0.0);
            assert!((1..=11).contains(&ticks.len()), "{low} {high} {ticks:?}");
            let room = (high - low) * 1e-5;
            assert!(ticks.iter().all(|t| *t >= low - room && *t <= high + room));
        }
    }

    #[test]
    fn a_constant_has_height_and_nothing_has_none() {
        let span = Span::of([-3.5, -3.5].into_iter());
        assert_eq!(
            span,
            Some(Span {
                low: -4.0,
                high: -3.0
            })
        );
        assert_eq!(Span::of([f64::NAN, f64::INFINITY].into_iter()), None);
        assert_eq!(Span::of(std::iter::empty()), None);
        let mixed = Span::of([f64::NAN, 1.0, 2.0].into_iter());
        assert_eq!(
            mixed,
            Some(Span {
                low: 1.0,
                high: 2.0
            })
        );
    }

    #[test]
    fn decades_thin_out() {
        let ticks = |low, high, wanted| decade_ticks(Span { low, high }, wanted);
        assert_eq!(ticks(-3.2, 0.4, 5), [-3.0, -2.0, -1.0, 0.0]);
        assert_eq!(ticks(-14.0, 1.0, 4), [-14.0, -10.0, -6.0, -2.0]);
        assert_eq!(ticks(-0.9, -0.2, 4), [-0.9, -0.2]);
    }

    #[test]
    fn values_keep_what_matters() {
        let cases = [
            (0.0, "0"),
            (-0.028_145_967_744, "-0.02814597"),
            (-15.844_527_26, "-15.8445273"),
            (1.433e-14, "1.4330e-14"),
            (46.261_761_68, "46.2617617"),
            (123_456.0, "123456"),
            (f64::NAN, "-"),
        ];
        for (value, text) in cases {
            assert_eq!(value_text(value), text);
        }
    }
}
