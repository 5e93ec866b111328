//! Axes: which range to show, and round numbers to mark in it.

/// Numbers beyond this are drawn at the border, so that differences stay finite.
const HUGE: f64 = 1e300;

/// Ranges narrower than this share of their numbers are rounding errors and count as constant.
const NARROW: f64 = 1e-9;

/// Steps are not smaller than this power of ten.
const LEAST_POWER: i32 = -300;

/// Numbers smaller than this count as zero.
const TINY: f64 = 1e-280;

/// A marked place of an axis.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tick {
    pub(super) value: f64,
    pub(super) label: String,
}

/// A range with its marks.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Axis {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) ticks: Vec<Tick>,
}

impl Axis {
    /// An axis for measured values, with a little air at both ends. Values that are not finite do
    /// not count; without any others the axis goes from 0 to 1.
    pub(super) fn of_values(values: impl IntoIterator<Item = f64>) -> Self {
        let Some((low, high)) = range(values) else { return Axis::exact(0.0, 1.0) };
        let air = (high - low) * 0.05;
        Axis::exact(low - air, high + air)
    }

    /// The same for counts: only whole numbers are marked.
    pub(super) fn of_counts(values: impl IntoIterator<Item = f64>) -> Self {
        let Some((low, high)) = range(values) else { return Axis::whole(0.0, 2.0) };
        let air = (high - low) * 0.05;
        Axis::whole(low - air, high + air)
    }

    /// An axis from one number to another, which are wider apart if they are nearly the same.
    pub(super) fn exact(low: f64, high: f64) -> Self {
        let (low, high) = apart(low, high);
        Axis { low, high, ticks: ticks(low, high, LEAST_POWER) }
    }

    /// The same with only whole numbers marked; it spans at least two steps.
    pub(super) fn whole(low: f64, high: f64) -> Self {
        let (mut low, mut high) = (low.clamp(-HUGE, HUGE), high.clamp(-HUGE, HUGE));
        if high - low < 2.5 {
            let middle = ((low + high) / 2.0).round();
            (low, high) = (middle - 1.25, middle + 1.25);
        }
        let (low, high) = apart(low, high);
        Axis { low, high, ticks: ticks(low, high, 0) }
    }

    /// An axis of the logarithms of some numbers (base 10), marked with the numbers themselves: 1, 2 and
    /// 5 times powers of ten, or the powers alone if there are many. What is not above zero does not count.
    pub(super) fn logarithmic(values: impl IntoIterator<Item = f64>) -> Self {
        let positive = values.into_iter().filter(|v| *v > 0.0);
        let Some((low, high)) = range(positive.map(libm::log10)) else {
            return Axis::logarithmic([1.0, 10.0]);
        };
        // A third of a decade at least, so that there is something to mark.
        let air = ((high - low) * 0.05).max((0.35 - (high - low)) / 2.0);
        let (low, high) = (low - air, high + air);
        let digits: &[f64] = if high - low > 2.5 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let ticks = (low.floor() as i32..=high.ceil() as i32)
            .flat_map(|power| digits.iter().map(move |&digit| Step { digit, power }))
            .map(|step| (libm::log10(step.size()), step))
            .filter(|(value, _)| (low..=high).contains(value))
            .map(|(value, step)| Tick { value, label: label(step.size(), step, step.size()) })
            .collect();
        Axis { low, high, ticks }
    }

    /// The place of a value as a share of the axis. Values beyond its ends are at the ends.
    pub(super) fn share(&self, value: f64) -> f64 {
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }
}

/// The smallest and the largest finite value.
fn range(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    let finite = values.into_iter().filter(|v| v.is_finite()).map(|v| v.clamp(-HUGE, HUGE));
    finite.fold(None, |range, v| {
        let (low, high) = range.unwrap_or((v, v));
        Some((low.min(v), high.max(v)))
    })
}

/// The range, widened if it is too narrow to mark numbers in it.
fn apart(low: f64, high: f64) -> (f64, f64) {
    let size = low.abs().max(high.abs());
    if size < TINY {
        (-1.0, 1.0)
    } else if high - low < size * NARROW {
        let middle = low + (high - low) / 2.0;
        (middle - size * 0.05, middle + size * 0.05)
    } else {
        (low, high)
    }
}

/// A step of 1, 2 or 5 times a power of ten.
#[derive(Debug, Clone, Copy)]
struct Step {
    digit: f64,
    power: i32,
}

impl Step {
    fn size(self) -> f64 {
        self.times(1.0)
    }

    /// A multiple of the step. Dividing by an exact power of ten rounds once only, so that three
    /// steps of 0.1 are 0.3.
    fn times(self, count: f64) -> f64 {
        if (-22..0).contains(&self.power) {
            count * self.digit / ten_to(-self.power)
        } else {
            count * self.digit * ten_to(self.power)
        }
    }

    fn larger(self) -> Step {
        match self.digit as u8 {
            1 => Step { digit: 2.0, ..self },
            2 => Step { digit: 5.0, ..self },
            _ => Step { digit: 1.0, power: self.power + 1 },
        }
    }

    /// The first and the last multiple in a range.
    fn multiples(self, low: f64, high: f64) -> (f64, f64) {
        ((low / self.size()).ceil(), (high / self.size()).floor())
    }
}

/// Multiples of the largest step that has at least four in the range, or three if four cannot be
/// had without crowding. A step is at most 2.5 times as large as the one before: if it has two
/// multiples at most, the one before has no more than eight.
fn ticks(low: f64, high: f64, least_power: i32) -> Vec<Tick> {
    let count = |step: Step| {
        let (first, last) = step.multiples(low, high);
        last - first + 1.0
    };
    // Smaller than needed, to be sure.
    let power = (exponent(high - low) - 2).max(least_power);
    let mut step = Step { digit: 1.0, power };
    while count(step.larger()) >= 4.0 || (count(step.larger()) >= 3.0 && count(step) > 8.0) {
        step = step.larger();
    }
    let (first, _) = step.multiples(low, high);
    let largest = low.abs().max(high.abs());
    (0..count(step) as usize)
        .map(|at| step.times(first + at as f64).clamp(low, high))
        .map(|value| Tick { value, label: label(value, step, largest) })
        .collect()
}

/// The power of ten in a number's scientific notation. Logarithms would round 999.… to 1000.
fn exponent(value: f64) -> i32 {
    format!("{value:e}").split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0)
}

/// A power of ten, as exact as there is a number.
fn ten_to(power: i32) -> f64 {
    format!("1e{power}").parse().unwrap_or(f64::INFINITY)
}

/// A number with as many digits as its step needs. Numbers with many zeros are written with an
/// exponent.
fn label(value: f64, step: Step, largest: f64) -> String {
    let size = exponent(largest);
    let text = if value == 0.0 {
        "0".to_string()
    } else if size >= 7 || step.power < -4 {
        let digits = (exponent(value) - step.power).clamp(0, 12) as usize;
        let text = format!("{value:.digits$e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let mantissa = match mantissa.contains('.') {
            true => mantissa.trim_end_matches('0').trim_end_matches('.'),
            false => mantissa,
        };
        format!("{mantissa}e{exponent}")
    } else {
        let decimals = (-step.power).max(0) as usize;
        format!("{value:.decimals$}")
    };
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|t| t.label.as_str()).collect()
    }

    fn check(axis: &Axis) {
        assert!(axis.low.is_finite() && axis.high.is_finite() && axis.low < axis.high, "{axis:?}");
        let values: Vec<f64> = axis.ticks.iter().map(|t| t.value).collect();
        assert!((3..=9).contains(&values.len()), "{axis:?}");
        assert!(values.windows(2).all(|w| w[0] < w[1]), "{axis:?}");
        assert!(values.iter().all(|v| (axis.low..=axis.high).contains(v)), "{axis:?}");
        assert!(labels(axis).windows(2).all(|w| w[0] != w[1]), "{axis:?}");
        for tick in &axis.ticks {
            assert!(tick.label.chars().count() <= 18, "{axis:?}");
            let read: f64 = tick.label.replace('−', "-").parse().unwrap();
            let wide = axis.high - axis.low;
            assert!((read - tick.value).abs() <= wide * 1e-3, "{tick:?} of {axis:?}");
        }
    }

    #[test]
    fn round_numbers() {
        assert_eq!(labels(&Axis::exact(0.0, 1.0)), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(&Axis::exact(0.0, 1000.0)), ["0", "200", "400", "600", "800", "1000"]);
        assert_eq!(labels(&Axis::of_values([-231.5, -200.0])), ["−230", "−220", "−210", "−200"]);
        assert_eq!(labels(&Axis::of_values([0.3, 0.61])), ["0.3", "0.4", "0.5", "0.6"]);
        assert_eq!(labels(&Axis::of_counts([3.0, 3.0])), ["2", "3", "4"]);
        assert_eq!(labels(&Axis::of_counts([2.0, 5.0])), ["2", "3", "4", "5"]);
        assert_eq!(labels(&Axis::exact(0.0, 4e7)), ["0", "1e7", "2e7", "3e7", "4e7"]);
        assert_eq!(labels(&Axis::exact(0.0, 3e-6)), ["0", "1e−6", "2e−6", "3e−6"]);
    }

    #[test]
    fn logarithms_are_marked_with_their_numbers() {
        assert_eq!(labels(&Axis::logarithmic([1.0, 30.0])), ["1", "2", "5", "10", "20"]);
        assert_eq!(labels(&Axis::logarithmic([0.1, 100.0])), ["0.1", "1", "10", "100"]);
        assert!(!labels(&Axis::logarithmic([1.0, 1.01])).is_empty());
        assert!(!labels(&Axis::logarithmic([-1.0, f64::NAN, 0.0])).is_empty());
    }

    #[test]
    fn odd_data_have_an_axis_too() {
        let nothing: [f64; 0] = [];
        check(&Axis::of_values(nothing));
        check(&Axis::of_counts(nothing));
        for odd in [
            [f64::NAN, f64::NAN],
            [f64::INFINITY, f64::NEG_INFINITY],
            [f64::MAX, f64::MIN],
            [f64::MIN_POSITIVE, 0.0],
            [5e-324, -5e-324],
            [1e15, 1e15 + 1.0],
            [-0.0, 0.0],
            [7.0, f64::NAN],
        ] {
            check(&Axis::of_values(odd));
        }
    }

    fn any_size() -> impl Strategy<Value = f64> {
        (-9.99f64..9.99, -300i32..300).prop_map(|(digits, power)| digits * 10f64.powi(power))
    }

    proptest! {
        #[test]
        fn any_two_numbers_of_any_size(a in any_size(), b in any_size()) {
            let axis = Axis::of_values([a, b]);
            check(&axis);
            let (low, high) = (a.min(b), a.max(b));
            prop_assert!(axis.low <= low.max(-HUGE) + TINY && high.min(HUGE) - TINY <= axis.high);
        }

        #[test]
        fn numbers_near_each_other(a in any_size(), share in -1.0f64..1.0, power in -18i32..0) {
            check(&Axis::of_values([a, a + a * share * 10f64.powi(power)]));
        }

        #[test]
        fn a_constant_of_any_size(a in any_size()) {
            check(&Axis::of_values([a, a, a]));
        }

        #[test]
        fn counts_have_whole_marks(a in 0u32..1_000_000, more in 0u32..100_000) {
            let axis = Axis::of_counts([f64::from(a), f64::from(a + more)]);
            check(&axis);
            prop_assert!(axis.ticks.iter().all(|t| t.value.fract() == 0.0));
            prop_assert!(axis.ticks.iter().all(|t| !t.label.contains('.')));
        }

        #[test]
        fn floats_of_any_bits(a in any::<f64>(), b in any::<f64>()) {
            check(&Axis::of_values([a, b]));
        }
    }
}
