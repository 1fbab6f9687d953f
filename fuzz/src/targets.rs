//! No panic, no NaN, no inverted enclosure, no contradiction; where exact rationals can tell, the truth inside.

use crate::source::{Patience, Source};
use statpriv_core::ball::Ball;
use statpriv_core::curve::{CountFamily, Curve, MeanOverSizes, Weight, poisson_published, sampled_histogram};
use statpriv_core::enclosure::Enclosure;
use statpriv_core::error::Error;
use statpriv_core::inverse;
use statpriv_core::laws::{
    Hypergeometric, Probability, binomial_log_probability, binomial_probability, binomial_upper_tail,
    hypergeometric_upper_tail,
};
use statpriv_core::pair::{Direction, Epsilon, gaussian_delta};
use statpriv_core::rational::Rational;

/// A body, by the name of its libFuzzer target.
pub type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const ALL: [Target; 6] = [
    ("arithmetic", arithmetic),
    ("text", text),
    ("binomial", binomial),
    ("hypergeometric", hypergeometric),
    ("curve", curve),
    ("inverse", inverse),
];

/// How often long work may ask whether to go on; then it is stopped, so that more inputs are tried.
const QUESTIONS: u32 = 4;

fn sound(found: Enclosure) -> Enclosure {
    assert!(found.lower() <= found.upper(), "inverted or NaN: {found:?}");
    assert!(found.width() >= 0.0);
    found
}

fn probability(found: Enclosure) -> Enclosure {
    assert!(found.upper() >= 0.0 && found.lower() <= 1.0, "not a probability: {found:?}");
    sound(found)
}

fn meet(first: Enclosure, second: Enclosure) {
    assert!(
        first.lower() <= second.upper() && second.lower() <= first.upper(),
        "{first:?} against {second:?}"
    );
}

/// Balls and enclosures of exact rationals contain the exact results.
pub fn arithmetic(bytes: &[u8]) {
    let mut source = Source(bytes);
    let (x, y, power) = (source.rational(), source.rational(), u64::from(source.byte() % 12));
    let (a, b) = (Ball::from_rational(&x), Ball::from_rational(&y));
    let (c, d) = (Enclosure::from(&x), Enclosure::from(&y));
    for (ball, enclosure, exact) in [
        (a + b, c + d, x.add(&y)),
        (a - b, c - d, x.sub(&y)),
        (a * b, c * d, x.mul(&y)),
        (-a, -c, Rational::from(0i64).sub(&x)),
    ] {
        assert!(sound(ball.to_enclosure()).contains(&exact), "{x:?} {y:?}");
        assert!(sound(enclosure).contains(&exact), "{x:?} {y:?}");
    }
    if let Some(quotient) = x.div(&y) {
        assert!(sound((a / b).to_enclosure()).contains(&quotient), "{x:?} {y:?}");
        assert!(sound(c * d.reciprocal()).contains(&quotient), "{x:?} {y:?}");
    }
    let exact = (0..power).fold(Rational::from(1i64), |product, _| product.mul(&x));
    assert!(sound(a.powi(power).to_enclosure()).contains(&exact), "{x:?}^{power}");
    assert!(sound(a.max(b).to_enclosure()).contains(if x < y { &y } else { &x }));
    assert!(sound(a.min(b).to_enclosure()).contains(if x < y { &x } else { &y }));
    let hull = sound(a.hull(b).to_enclosure());
    assert!(hull.contains(&x) && hull.contains(&y));
    assert!(!a.certainly_less(b) || x < y, "{x:?} {y:?}");
    functions(a, &x);
    let ends = (source.double(), source.double());
    if let Ok(given) = Enclosure::new(ends.0, ends.1) {
        for result in [given + c, given - c, given * c, given.reciprocal(), -given, given.clamp(0.0, 1.0)] {
            sound(result);
        }
        assert!(given.midpoint().is_none_or(|middle| given.lower() <= middle && middle <= given.upper()));
    }
}

/// Elementary functions keep their signs and undo each other.
fn functions(a: Ball, x: &Rational) {
    let exponential = a.exp();
    assert!(sound(exponential.to_enclosure()).upper() >= 0.0);
    if !x.is_negative() && !x.is_zero() {
        meet(sound(a.ln().exp().to_enclosure()), a.to_enclosure());
    }
    if x.abs() < Rational::from(700i64) {
        meet(exponential.ln().to_enclosure(), a.to_enclosure());
        meet((exponential * (-a).exp()).to_enclosure(), Enclosure::point(1.0));
    }
    sound(a.ln().to_enclosure());
    assert!(a.relative_error() >= 0.0);
}

/// Text is a number or an error; a number is what it says, and comes back from its own spelling.
pub fn text(bytes: &[u8]) {
    const ALPHABET: &[u8] = b"0123456789.eE+-/ _\x00\xce\xb5";
    let likely: Vec<u8> = bytes.iter().map(|byte| ALPHABET[usize::from(*byte) % ALPHABET.len()]).collect();
    for literal in [String::from_utf8_lossy(bytes), String::from_utf8_lossy(&likely)] {
        let Ok(x) = Rational::parse(&literal) else { continue };
        assert!(Enclosure::from(&x).contains(&x), "{literal:?}");
        let again = Rational::parse(&format!("{}/{}", x.numerator(), x.denominator()));
        assert!(again.is_err() || again == Ok(x.clone()), "{literal:?}");
        let _ = (x.to_i64(), Ball::from_rational(&x).to_enclosure());
    }
}

/// The probabilities of one law fit together.
pub fn binomial(bytes: &[u8]) {
    let mut source = Source(bytes);
    let (n, p) = (source.up_to(1 << 53), source.probability());
    let k = source.up_to(n.saturating_add(2));
    let Ok(at) = Probability::new(&p) else { return };
    let mass = binomial_probability(k, n, &at);
    let enclosed = probability(mass.to_enclosure());
    if let Some(misses) = n.checked_sub(k) {
        meet(enclosed, binomial_probability(misses, n, &at.complement()).to_enclosure());
    }
    match binomial_log_probability(k, n, &at) {
        Some(logarithm) => {
            assert!(sound(logarithm.to_enclosure()).lower() <= 0.0);
            meet(logarithm.exp().to_enclosure(), enclosed);
        }
        None => assert!(k > n),
    }
    if let Some(tail) = completed(binomial_upper_tail(k, n, &at, &Patience::new(QUESTIONS))) {
        let tail = probability(tail);
        assert!(tail.upper() >= enclosed.lower(), "P[X ≥ k] below P[X = k]");
    }
}

/// The result, unless the work was stopped or refused as too hard; a refused argument was checked by the caller.
fn completed<T>(result: Result<T, Error>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(Error::Interrupted | Error::Precision(_)) => None,
        Err(error @ Error::Argument(_)) => panic!("refused: {error}"),
    }
}

/// The probabilities of one law fit together.
pub fn hypergeometric(bytes: &[u8]) {
    let mut source = Source(bytes);
    let population = source.size();
    let (marked, draws) = (source.up_to(population), source.up_to(population));
    let Ok(law) = Hypergeometric::new(population, marked, draws) else {
        assert!(population > 1 << 53);
        return;
    };
    let k = if source.byte() % 2 == 0 {
        source.up_to(population)
    } else {
        law.mode().saturating_add(source.up_to(99))
    };
    assert!(law.least() <= law.mode() && law.mode() <= law.greatest());
    let enclosed = probability(law.probability(k).to_enclosure());
    match law.log_probability(k) {
        Some(logarithm) => meet(logarithm.exp().to_enclosure(), enclosed),
        None => assert!(k < law.least() || k > law.greatest()),
    }
    let swapped = Hypergeometric::new(population, draws, marked).expect("the same sizes");
    meet(enclosed, swapped.probability(k).to_enclosure());
    if let Some(tail) = completed(hypergeometric_upper_tail(k, &law, &Patience::new(QUESTIONS))) {
        assert!(probability(tail).upper() >= enclosed.lower(), "P[X ≥ k] below P[X = k]");
    }
}

/// One curve of any form; nothing where an argument is refused.
fn drawn_curve(source: &mut Source) -> Option<(u64, Curve)> {
    let (size, p, q) = (source.size(), source.probability(), source.probability());
    let direction = [None, Some(Direction::OneAgainstZero), Some(Direction::ZeroAgainstOne)];
    let direction = direction[usize::from(source.byte()) % 3];
    let form = source.byte() % 11;
    let (low, high) = if p <= q { (p.clone(), q) } else { (q, p.clone()) };
    let family =
        if form < 5 { CountFamily::new(&p, &p, direction) } else { CountFamily::new(&low, &high, direction) };
    let family = family.ok()?;
    let curve = match form {
        3 => family.sampled(size, &source.probability()),
        4 => {
            let population = 1 + source.up_to(60);
            let known = source.up_to(population - 1);
            let size = 1 + source.up_to(population - 1);
            let entries = MeanOverSizes::known_entries(population, known, size, family)
                .expect("sizes that are allowed");
            Ok(Curve::from(entries.with_thresholds(1 + source.up_to(20))))
        }
        6 => family.of_size(size).map(|curve| {
            let half = || Weight::from(Rational::parse("1/2").expect("a half"));
            Curve::Mean(vec![(half(), curve.clone()), (half(), curve)])
        }),
        8 => poisson_published(1 + source.up_to(60), &source.probability(), &p, direction),
        9 => {
            let size = 1 + source.up_to(60);
            let irrelevant = source.probability();
            MeanOverSizes::irrelevant_entries(size, source.up_to(size - 1), &irrelevant, family)
                .map(Curve::from)
        }
        10 => {
            let population = 1 + source.up_to(60);
            let size = 1 + source.up_to(population - 1);
            let rest = Rational::from(1i64).sub(&high);
            let cells = [low.clone(), high.sub(&low), rest];
            sampled_histogram(population, size, &cells, direction.map(|_| (2, 0)))
        }
        7 => family.of_size(size).map(|curve| Curve::Min(vec![Curve::Max(vec![curve.clone()]), curve])),
        _ => family.of_size(size),
    };
    Some((size, curve.ok()?))
}

/// δ is a probability, falls with ε, stays above its limit, and is the same from an array.
pub fn curve(bytes: &[u8]) {
    let mut source = Source(bytes);
    gaussian(&mut source);
    let Some((size, curve)) = drawn_curve(&mut source) else { return };
    let (first, second) = (source.epsilon(size), source.epsilon(size));
    let (low, high) = if first <= second { (first, second) } else { (second, first) };
    let patience = Patience::new(QUESTIONS);
    let found = [&low, &high].map(|epsilon| completed(curve.delta(epsilon, &patience)).map(probability));
    let limit = completed(curve.mass_at_infinity(&patience)).map(probability);
    if let (Some(at_low), Some(at_high)) = (found[0], found[1]) {
        assert!(at_high.lower() <= at_low.upper(), "δ rises with ε: {at_low:?}, {at_high:?}");
    }
    if let (Some(limit), Some(at_high)) = (limit, found[1]) {
        assert!(limit.lower() <= at_high.upper(), "δ below its limit: {limit:?}, {at_high:?}");
    }
    let doubles: Vec<f64> = (0..3).map(|_| source.double().abs()).filter(|x| x.is_finite()).collect();
    if let Some(array) = completed(curve.deltas(&doubles, &patience)) {
        for (epsilon, one) in doubles.iter().zip(array) {
            let exact = Rational::from_f64(*epsilon).expect("a finite double");
            if let Some(alone) = completed(curve.delta(&exact, &patience)) {
                meet(probability(one), alone);
            }
        }
    }
}

fn gaussian(source: &mut Source) {
    let (mu, epsilon) = (source.rational().abs(), source.rational().abs());
    if !mu.is_zero() {
        sound(gaussian_delta(Ball::from_rational(&mu), &Epsilon::new(&epsilon)).to_enclosure());
    }
}

/// ε(δ) is safe at its upper end.
pub fn inverse(bytes: &[u8]) {
    let mut source = Source(bytes);
    let Some((_, curve)) = drawn_curve(&mut source) else { return };
    let delta = source.probability().abs();
    let patience = Patience::new(QUESTIONS);
    let Some(found) = completed(inverse::epsilon(&curve, &delta, &patience)).map(sound) else { return };
    assert!(found.lower() >= 0.0);
    if let Ok(safe) = Rational::from_f64(found.upper())
        && let Some(reached) = completed(curve.delta(&safe, &patience))
    {
        assert!(
            Rational::from_f64(reached.upper()).expect("a probability") <= delta,
            "not safe: {found:?} for {delta:?}"
        );
    }
}
