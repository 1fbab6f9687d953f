//! Sums of independent real variables with finitely many values each.

use super::enumeration::is_short;
use crate::budget::MAX_COPIES;
use crate::numbers::approximate;
use crate::numbers::ball::Ball;

/// A value and its mass.
#[derive(Clone, Copy, Debug)]
pub(super) struct Atom {
    pub value: Ball,
    /// Positive.
    pub mass: Ball,
}

/// `count` independent variables with one law, which may have less than mass one.
#[derive(Clone, Debug)]
pub(super) struct Summand {
    pub count: u64,
    pub atoms: Vec<Atom>,
}

/// `constant + Σ X`.
#[derive(Clone, Debug)]
pub(super) struct Sum {
    pub constant: Ball,
    pub summands: Vec<Summand>,
}

/// A number near the middle; zero where nothing is known, the largest double beyond all of them.
pub(super) fn about(x: Ball) -> f64 {
    let ends = x.to_enclosure();
    let beyond = if x.is_positive() {
        f64::MAX
    } else if (-x).is_positive() {
        -f64::MAX
    } else {
        0.0
    };
    ends.midpoint().filter(|middle| middle.is_finite()).unwrap_or(beyond)
}

fn total(balls: impl Iterator<Item = Ball>) -> Ball {
    balls.fold(Ball::ZERO, |sum, ball| sum + ball)
}

impl Summand {
    /// The mass of all `count` variables together.
    pub fn mass(&self) -> Ball {
        total(self.atoms.iter().map(|atom| atom.mass)).powi(self.count)
    }

    /// `∫ x` of one variable, over its mass.
    fn mean(&self) -> Ball {
        total(self.atoms.iter().map(|atom| atom.mass * atom.value))
            / total(self.atoms.iter().map(|atom| atom.mass))
    }

    /// The greatest value of one variable.
    pub fn highest(&self) -> Option<Ball> {
        self.atoms.iter().map(|atom| atom.value).reduce(Ball::max)
    }

    fn times_count(&self, one: Ball) -> Ball {
        one * Ball::from_u64(self.count)
    }

    /// The greatest and the least value of the sum of all of them.
    fn ends(&self) -> Option<[Ball; 2]> {
        let mut values = self.atoms.iter().map(|atom| atom.value);
        let first = values.next()?;
        let (most, least) =
            values.fold((first, first), |(most, least), value| (most.max(value), least.min(value)));
        Some([most, least].map(|end| self.times_count(end)))
    }

    /// `count · ln Σ m e^{tv}`; the greatest exponent is taken out.
    fn log_moment(&self, t: Ball) -> Ball {
        let exponents: Vec<Ball> = self.atoms.iter().map(|atom| t * atom.value).collect();
        let Some(&highest) = exponents.iter().max_by(|a, b| about(**a).total_cmp(&about(**b))) else {
            return Ball::WHOLE;
        };
        // So far below the largest, nothing is lost by a bound.
        let lowest = Ball::from_i64(-1000);
        let sum = total(self.atoms.iter().zip(exponents).map(|(atom, exponent)| {
            let fallen = exponent - highest;
            if fallen.certainly_less(lowest) {
                Ball::ZERO.plus_at_most(atom.mass * lowest.exp())
            } else {
                atom.mass * fallen.exp()
            }
        }));
        self.times_count(highest + sum.ln())
    }
}

impl Sum {
    /// Whether all values but those of one summand can be gone through.
    pub fn is_short(&self) -> bool {
        let lengths: Option<Vec<usize>> =
            self.summands.iter().try_fold(Vec::new(), |mut lengths, summand| {
                if summand.count > MAX_COPIES {
                    return None;
                }
                lengths.extend((0..summand.count).map(|_| summand.atoms.len()));
                Some(lengths)
            });
        lengths.is_some_and(|lengths| is_short(&lengths))
    }

    /// The law of each variable.
    pub fn laws(&self) -> Vec<Vec<Atom>> {
        let copies =
            |summand: &Summand| (0..summand.count).map(|_| summand.atoms.clone()).collect::<Vec<_>>();
        self.summands.iter().flat_map(copies).collect()
    }

    /// The whole mass.
    pub fn mass(&self) -> Ball {
        self.summands.iter().fold(Ball::ONE, |product, summand| product * summand.mass())
    }

    /// `∫ x`, the mean times the mass.
    pub fn first_moment(&self) -> Ball {
        let means = self.summands.iter().map(|summand| summand.times_count(summand.mean()));
        (self.constant + total(means)) * self.mass()
    }

    /// The greatest and the least value; nothing of a sum with an empty law.
    pub fn ends(&self) -> Option<[Ball; 2]> {
        self.summands.iter().try_fold([self.constant; 2], |[most, least], summand| {
            let [above, below] = summand.ends()?;
            Some([most + above, least + below])
        })
    }

    /// The same sum without values that make it at most zero whatever the others are: `E[S_+]` is what it was.
    ///
    /// They may be as far below the others as `e^ε`, where no contour is as wide.
    pub fn without_hopeless_values(&self, most: Ball) -> Self {
        let hopeful = |summand: &Summand| {
            let highest = summand.highest();
            let can_be_positive =
                |atom: &&Atom| highest.is_none_or(|highest| !(most - highest + atom.value).is_not_positive());
            Summand {
                count: summand.count,
                atoms: summand.atoms.iter().filter(can_be_positive).copied().collect(),
            }
        };
        Self { constant: self.constant, summands: self.summands.iter().map(hopeful).collect() }
    }

    /// `K(t) = ln ∫ e^{tx}`.
    pub fn log_moment(&self, t: Ball) -> Ball {
        t * self.constant + total(self.summands.iter().map(|summand| summand.log_moment(t)))
    }

    /// The same in doubles.
    pub fn roughly(&self) -> RoughSum {
        let roughly = |summand: &Summand| RoughSummand::new(summand.count, &summand.atoms);
        RoughSum { constant: about(self.constant), summands: self.summands.iter().map(roughly).collect() }
    }
}

/// A sum in doubles: a tilt is chosen by it, and every tilt is right.
#[derive(Debug)]
pub(super) struct RoughSum {
    constant: f64,
    summands: Vec<RoughSummand>,
}

/// A summand in doubles.
#[derive(Debug)]
pub(super) struct RoughSummand {
    count: f64,
    /// Values with their masses.
    atoms: Vec<(f64, f64)>,
}

impl RoughSummand {
    pub fn new(count: u64, atoms: &[Atom]) -> Self {
        let atoms = atoms.iter().map(|atom| (about(atom.value), about(atom.mass))).collect();
        Self { count: count as f64, atoms }
    }

    /// The greatest `cx`, and each value `x` with its mass times `e^{cx}`, divided by that of the greatest.
    fn tilted(&self, c: f64) -> (f64, impl Iterator<Item = (f64, f64)>) {
        let highest = self.atoms.iter().map(|(value, _)| c * value).fold(f64::NEG_INFINITY, f64::max);
        let weight = move |&(value, mass): &(f64, f64)| (value, mass * approximate::exp(c * value - highest));
        (highest, self.atoms.iter().map(weight))
    }

    /// About `ln E e^{wX}`, up to a multiple of `2πi`, at `w = c + i angle` for each angle: real and imaginary parts.
    pub fn exponents(&self, c: f64, angles: &[f64]) -> Vec<(f64, f64)> {
        let (highest, tilted) = self.tilted(c);
        let tilted: Vec<(f64, f64)> = tilted.collect();
        let of_angle = |angle: &f64| {
            let (mut re, mut im) = (0.0, 0.0);
            for (value, weight) in &tilted {
                let (sine, cosine) = approximate::sin_cos(angle * value);
                re += weight * cosine;
                im += weight * sine;
            }
            let modulus = (re * re + im * im).sqrt().max(1e-300);
            (self.count * (highest + approximate::ln(modulus)), self.count * approximate::angle(im, re))
        };
        angles.iter().map(of_angle).collect()
    }

    /// About `ln E e^{cX}`, its first and its second derivative.
    fn cumulants(&self, c: f64) -> [f64; 3] {
        let (highest, tilted) = self.tilted(c);
        let mut moments = [0.0; 3];
        for (value, weight) in tilted {
            moments[0] += weight;
            moments[1] += weight * value;
            moments[2] += weight * value * value;
        }
        let mean = moments[1] / moments[0];
        [highest + approximate::ln(moments[0]), mean, (moments[2] / moments[0] - mean * mean).max(0.0)]
            .map(|cumulant| self.count * cumulant)
    }
}

impl RoughSum {
    /// About `K(c)`, `K'(c)` and `K''(c)`.
    pub fn cumulants(&self, c: f64) -> [f64; 3] {
        self.summands.iter().fold([c * self.constant, self.constant, 0.0], |sum, summand| {
            let more = summand.cumulants(c);
            [sum[0] + more[0], sum[1] + more[1], sum[2] + more[2]]
        })
    }

    /// About where `K(c) − 2 ln c` is least, `c > 0`: any `c` is right, this one loses the least.
    ///
    /// Its derivative `K'(c) − 2/c` increases from −∞ to the greatest value, which has to be positive.
    pub fn saddle(&self) -> f64 {
        let slope = |c: f64| self.cumulants(c)[1] - 2.0 / c;
        let values = self.summands.iter().flat_map(|summand| &summand.atoms);
        let scale = values.map(|(value, _)| value.abs()).fold(1e-300, f64::max);
        let (mut low, mut high) = (0.0, 1.0 / scale);
        while slope(high) < 0.0 && high < 1e300 {
            (low, high) = (high, 2.0 * high);
        }
        while high - low > 0.01 * high {
            let middle = f64::midpoint(low, high);
            if slope(middle) < 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }
}
