//! Bodies of the fuzz targets. They check that there is no panic, no NaN, no inverted enclosure and no
//! contradiction. Where exact rationals give the true value, the enclosure must contain it.

use crate::source::{Patience, Source};
use statpriv_core::answer::PoissonBinomial;
use statpriv_core::answer::{Law, Noise, Relabelling, Sampling};
use statpriv_core::composition::Composed;
use statpriv_core::composition::{Attributes, Cell, Composition, Part};
use statpriv_core::curve::exact;
use statpriv_core::curve::{CountFamily, Curve, MeanOverSizes, Weight, poisson_published, sampled_histogram};
use statpriv_core::digits::{self, DigitsEnclosure, Dyadic};
use statpriv_core::error::Error;
use statpriv_core::forms::enclosed::Enclosed;
use statpriv_core::forms::finite::{ExpEpsilon, Finite, Probabilities};
use statpriv_core::forms::{Answers, Direction, Epsilon, gaussian_delta};
use statpriv_core::fourier::{BinomialGroup, LatticeSum};
use statpriv_core::interrupt::Interrupt;
use statpriv_core::inverse;
use statpriv_core::laws::{
    Hypergeometric, Probability, binomial_log_probability, binomial_probability, binomial_upper_tail,
    hypergeometric_upper_tail,
};
use statpriv_core::numbers::ball::Ball;
use statpriv_core::numbers::enclosure::Enclosure;
use statpriv_core::numbers::rational::Rational;
use statpriv_core::trade_off;
use std::sync::Arc;

/// The name of a libFuzzer target and its body.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const ALL: [Target; 12] = [
    ("arithmetic", arithmetic),
    ("text", text),
    ("binomial", binomial),
    ("hypergeometric", hypergeometric),
    ("curve", curve),
    ("inverse", inverse),
    ("digits_of_laws", digits_of_laws),
    ("tiers", tiers),
    ("finite", finite),
    ("sums", sums),
    ("answers", answers),
    ("composition", composition),
];

/// Polls granted to long work. After them it is interrupted, so that more inputs are tried.
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

/// Results in balls and enclosures contain the exact rational results.
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

/// Elementary functions have the right signs, and the exponential and the logarithm are inverse to each
/// other.
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

/// Text parses to a number or an error. The enclosure of a number contains it, and the number written as a
/// fraction parses to itself.
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

/// The probabilities of a binomial law are consistent.
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

/// The result, or None if the work was interrupted or refused as too hard. An argument error is a failure:
/// callers pass only valid arguments.
fn completed<T>(result: Result<T, Error>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(Error::Interrupted | Error::Precision(_)) => None,
        Err(error @ Error::Argument(_)) => panic!("refused: {error}"),
    }
}

/// The probabilities of a hypergeometric law are consistent.
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

/// A curve of any form, with a size for [`Source::epsilon`]. None if an argument is refused.
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

/// δ is a probability, does not increase with ε, is not below its limit, and is the same from an array.
pub fn curve(bytes: &[u8]) {
    let mut source = Source(bytes);
    gaussian(&mut source);
    let Some((size, curve)) = drawn_curve(&mut source) else { return };
    let (first, second) = (source.epsilon(size), source.epsilon(size));
    let (low, high) = if first <= second { (first, second) } else { (second, first) };
    let patience = Patience::new(QUESTIONS);
    let found = [&low, &high].map(|epsilon| completed(curve.delta(epsilon, &patience)).map(probability));
    let limit = completed(curve.infinity_mass(&patience)).map(probability);
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

/// The upper end of ε(δ) is safe: δ there is at most the given δ.
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

/// Polls granted to digits and to sums of answers. They do much work between two polls.
const MANY_QUESTIONS: u32 = 64;
/// Number of digits of the values that doubles are compared with.
const DIGITS: u32 = 20;

/// The enclosures of one number from two tiers overlap.
fn meet_digits(found: Enclosure, digits: &DigitsEnclosure) {
    let order = |end: &Dyadic, x: f64| Rational::from_f64(x).map(|x| end.order(&x));
    assert!(order(digits.lower(), found.upper()).is_ok_and(|order| order.is_le()), "{found:?}, {digits:?}");
    assert!(
        found.lower() == f64::NEG_INFINITY
            || order(digits.upper(), found.lower()).is_ok_and(|order| order.is_ge()),
        "{found:?}, {digits:?}"
    );
}

/// Probabilities of laws agree in doubles and to twenty digits.
pub fn digits_of_laws(bytes: &[u8]) {
    let mut source = Source(bytes);
    let patience = Patience::new(MANY_QUESTIONS);
    let (n, p) = (source.up_to(1 << 53), source.probability());
    let k = source.up_to(n.saturating_add(2));
    if let Ok(at) = Probability::new(&p) {
        if let Some(digits) = completed(digits::binomial_pmf(k, n, &p, DIGITS, &patience)) {
            meet_digits(binomial_probability(k, n, &at).to_enclosure(), &digits);
        }
        if let Some(logarithm) = binomial_log_probability(k, n, &at)
            && let Some(digits) = completed(digits::binomial_log_pmf(k, n, &p, DIGITS, &patience))
        {
            meet_digits(logarithm.to_enclosure(), &digits);
        }
        if let Some(tail) = completed(binomial_upper_tail(k, n, &at, &patience))
            && let Some(digits) = completed(digits::binomial_upper_tail(k, n, &p, DIGITS, &patience))
        {
            meet_digits(tail, &digits);
        }
    }
    let (marked, draws) = (source.up_to(n), source.up_to(n));
    let Ok(law) = Hypergeometric::new(n, marked, draws) else { return };
    if let Some(digits) = completed(digits::hypergeometric_pmf(k, &law, DIGITS, &patience)) {
        meet_digits(law.probability(k).to_enclosure(), &digits);
    }
    if let Some(tail) = completed(hypergeometric_upper_tail(k, &law, &patience))
        && let Some(digits) = completed(digits::hypergeometric_upper_tail(k, &law, DIGITS, &patience))
    {
        meet_digits(tail, &digits);
    }
}

/// A curve agrees in doubles, to twenty digits and exactly. So do its logarithm and inverse in doubles and to
/// twenty digits, and its trade-off function is not above that of guessing.
pub fn tiers(bytes: &[u8]) {
    let mut source = Source(bytes);
    let Some((size, curve)) = drawn_curve(&mut source) else { return };
    let patience = Patience::new(MANY_QUESTIONS);
    let epsilon = source.epsilon(size);
    let delta = completed(curve.delta(&epsilon, &patience));
    if let (Some(delta), Some(digits)) =
        (delta, completed(statpriv_core::curve::digits::delta(&curve, &epsilon, DIGITS, &patience)))
    {
        meet_digits(delta, &digits);
    }
    if let Some(logarithm) = completed(curve.log_delta(&epsilon, &patience)).map(sound)
        && logarithm.upper() > f64::NEG_INFINITY
        && let Some(digits) =
            completed(statpriv_core::curve::digits::log_delta(&curve, &epsilon, DIGITS, &patience))
    {
        meet_digits(logarithm, &digits);
    }
    let level = source.probability().abs();
    if let Some(found) = completed(inverse::epsilon(&curve, &level, &patience)).map(sound)
        && found.upper() < f64::INFINITY
        && let Some(digits) =
            completed(statpriv_core::curve::digits::epsilon(&curve, &level, DIGITS, &patience))
    {
        meet_digits(found, &digits);
    }
    if level <= Rational::from(1i64)
        && let Ok(beta) = trade_off::beta(&curve, &level, &patience)
    {
        let rest = Enclosure::from(&Rational::from(1i64).sub(&level));
        assert!(probability(beta).lower() <= rest.upper(), "a coin would do better: {beta:?}");
    }
    let ratio = Rational::from(1i64).add(&level);
    if let Ok(exactly) = exact::exact_delta(&curve, &ratio, &patience) {
        let logarithm = Ball::from_rational(&ratio).ln().to_enclosure();
        let at = |x: f64| completed(curve.delta(&Rational::from_f64(x.max(0.0)).ok()?, &patience));
        if let (Some(before), Some(after)) = (at(logarithm.lower()), at(logarithm.upper())) {
            let exactly = Enclosure::from(&exactly);
            assert!(after.lower() <= exactly.upper() && exactly.lower() <= before.upper());
        }
    }
}

/// The probabilities of `count` answers. The first one is positive.
fn masses(source: &mut Source, count: u64) -> Vec<Rational> {
    let weights: Vec<u64> = (0..count).map(|i| source.up_to(1 << 20) + u64::from(i == 0)).collect();
    let total = Rational::from(weights.iter().sum::<u64>());
    weights.into_iter().map(|weight| Rational::from(weight).div(&total).expect("a positive sum")).collect()
}

/// The hockey stick of two laws with listed probabilities agrees between all methods.
pub fn finite(bytes: &[u8]) {
    let mut source = Source(bytes);
    let count = 1 + source.up_to(11);
    let laws = [masses(&mut source, count), masses(&mut source, count)];
    let [p, q] = laws.clone().map(|law| Probabilities::exact("P or Q", law).expect("a law"));
    let pair = Finite::new(p, q).expect("equally long laws");
    let patience = Patience::new(MANY_QUESTIONS);
    let (x, is_ratio) = (source.rational(), source.byte().is_multiple_of(2));
    let at = if is_ratio { ExpEpsilon::exactly(x.clone()) } else { Ok(ExpEpsilon::of(x.clone())) };
    let Ok(at) = at else { return };
    let Some(found) = completed(pair.hockey_stick(&at, &patience)) else { return };
    let found = probability(found.to_enclosure());
    let [p, q] = laws.map(|law| law.iter().map(Enclosure::from).collect());
    let enclosed = Enclosed::new(p, q, Some(0.0)).expect("enclosures of laws");
    meet(found, probability(completed(enclosed.hockey_stick(&at, &patience)).expect("few answers")));
    some_enclosures(&mut source, count, &at);
    if is_ratio {
        meet(found, Enclosure::from(&completed(pair.exact(&x, &patience)).expect("a short sum")));
    } else if let Some(digits) =
        completed(statpriv_core::curve::digits::hockey_stick(&pair, &at, DIGITS, &patience))
    {
        meet_digits(found, &digits);
    }
}

/// Arbitrary intervals, passed as enclosures of probabilities, are refused or give a valid enclosure.
fn some_enclosures(source: &mut Source, count: u64, at: &ExpEpsilon) {
    let mut ends = || (0..count).map(|_| Enclosure::new(source.double(), source.double())).collect();
    let (p, q): (Result<_, Error>, Result<_, Error>) = (ends(), ends());
    let missing = Some(source.double()).filter(|_| source.byte().is_multiple_of(2));
    if let (Ok(p), Ok(q)) = (p, q)
        && let Ok(enclosed) = Enclosed::new(p, q, missing)
        && let Some(found) = completed(enclosed.hockey_stick(at, &Patience::new(MANY_QUESTIONS)))
    {
        probability(found);
    }
}

/// The number of entries with a property, for unequal probabilities, agrees entry by entry, by inversion and
/// to twenty digits. A convolution gives nonnegative enclosures.
pub fn sums(bytes: &[u8]) {
    let mut source = Source(bytes);
    let patience = Patience::new(MANY_QUESTIONS);
    let groups: Vec<(u64, Rational)> =
        (0..=source.up_to(2)).map(|_| (source.up_to(40), source.probability())).collect();
    let each: Vec<Rational> = groups.iter().flat_map(|(count, p)| (0..*count).map(|_| p.clone())).collect();
    let Ok(law) = PoissonBinomial::new(&each) else { return };
    let Some(all) = completed(law.probabilities(&patience)) else { return };
    let k = source.up_to(each.len() as u64 + 1);
    let here = all.get(k as usize).copied().map(probability);
    if let Some(found) = completed(law.probability(k, &patience)) {
        meet(found.to_enclosure(), here.unwrap_or(Enclosure::point(0.0)));
    }
    if let Some(digits) = completed(digits::poisson_binomial_pmf(&each, DIGITS, &patience)) {
        all.iter().zip(&digits).for_each(|(found, digits)| meet_digits(*found, digits));
    }
    let of_group = |(count, p): &(u64, Rational)| {
        Some(BinomialGroup { count: *count, at: Probability::new(p).ok()?, weight: 1 })
    };
    let groups: Option<Vec<BinomialGroup>> = groups.iter().map(of_group).collect();
    if let Some(groups) = groups.filter(|groups| groups.iter().all(|group| group.count > 0)) {
        let sum = LatticeSum::new(groups.iter().map(|group| group as _).collect());
        if let Some(found) = completed(sum.probability(k as i64, &patience)) {
            meet(probability(found.to_enclosure()), here.unwrap_or(Enclosure::point(0.0)));
        }
        if let (Some(inverted), Some(tail)) =
            (completed(sum.upper_tail(k as i64, &patience)), completed(law.upper_tail(k, &patience)))
        {
            meet(inverted.to_enclosure(), tail.to_enclosure());
        }
    }
}

/// A law of answers of some entries: counted, summed, relabelled, with noise, sampled or mixed.
fn drawn_law(source: &mut Source) -> Option<Law> {
    let one = Law::table(-2, masses(source, 4)).ok()?;
    let entries = source.up_to(8);
    match source.byte() % 7 {
        0 => Law::binomial(source.up_to(300), &source.probability()).ok(),
        1 => one.repeated(entries).ok(),
        2 => one.repeated(1 + entries).ok()?.relabelled(Relabelling::AtMost(source.up_to(6) as i64)).ok(),
        3 => {
            let rounding = Relabelling::Quotient { factor: 1, offset: source.up_to(4) as i64, divisor: 5 };
            one.repeated(1 + entries).ok()?.relabelled(rounding).ok()
        }
        4 => {
            let alpha = source.probability();
            Law::sum(vec![one, Law::noise(Noise::Geometric { alpha }).ok()?]).ok()
        }
        5 => {
            let (size, p) = (1 + source.up_to(8), source.probability());
            Law::binomial(10, &p).ok()?.sampled(Sampling::WithoutReplacement { population: 10, size }).ok()
        }
        _ => {
            let share = source.probability();
            let rest = Rational::from(1i64).sub(&share);
            Law::mixture(vec![(share, one.clone()), (rest, one.shifted(1).ok()?)]).ok()
        }
    }
}

/// The hockey stick of two laws of answers is consistent in doubles and, where it is available, in digits.
pub fn answers(bytes: &[u8]) {
    let mut source = Source(bytes);
    let (Some(first), Some(second)) = (drawn_law(&mut source), drawn_law(&mut source)) else { return };
    let curve = Curve::from(Answers::new(first, second));
    let patience = Patience::new(MANY_QUESTIONS);
    fits_together(&curve, &source.epsilon(20), &patience);
}

/// δ does not increase from ε to its limit, and is the same to twenty digits.
fn fits_together(curve: &Curve, epsilon: &Rational, patience: &dyn Interrupt) {
    let Some(found) = completed(curve.delta(epsilon, patience)).map(probability) else { return };
    if let Some(limit) = completed(curve.infinity_mass(patience)).map(probability) {
        assert!(limit.lower() <= found.upper(), "δ below its limit: {limit:?}, {found:?}");
    }
    if let Some(further) = completed(curve.delta(&epsilon.add(&epsilon.abs()), patience)).map(probability) {
        assert!(further.lower() <= found.upper(), "δ rises with ε: {found:?}, {further:?}");
    }
    if let Ok(digits) = statpriv_core::curve::digits::delta(curve, epsilon, DIGITS, patience) {
        meet_digits(found, &digits);
    }
}

/// Compositions of unrelated properties on the parts of a secret partition, with a few entries each.
pub fn composition(bytes: &[u8]) {
    let mut source = Source(bytes);
    let parts: Vec<(u64, Rational)> =
        (0..=source.up_to(3)).map(|_| (1 + source.up_to(4), source.probability())).collect();
    let used: u64 = parts.iter().map(|(size, _)| size).sum();
    let population = Rational::from(used + source.up_to(3));
    let share = Rational::from(1i64).div(&population).expect("a positive number");
    let of_part = |(size, p): &(u64, Rational)| {
        let (zero, q) = (Rational::from(0i64), Rational::from(1i64).sub(p));
        let choice = |ones: (&Rational, &Rational), zeros: (&Rational, &Rational)| {
            let cell = |mass: &Rational, (first, second): (&Rational, &Rational)| Cell {
                mass: mass.clone(),
                first: first.clone(),
                second: second.clone(),
            };
            vec![Part::Entries { count: *size, cells: vec![cell(p, ones), cell(&q, zeros)] }]
        };
        let choices =
            vec![choice((&share, &zero), (&zero, &share)), choice((&zero, &share), (&share, &zero))];
        Attributes { count: 1, choices }
    };
    let unused = Rational::from(1i64).sub(&Rational::from(used).mul(&share));
    let Ok(composition) = Composition::new(unused, parts.iter().map(of_part).collect()) else { return };
    let patience = Patience::new(MANY_QUESTIONS);
    let epsilon = source.epsilon(used);
    if let Some([lower, upper]) = completed(composition.ends(&Epsilon::new(&epsilon), &patience)) {
        let (lower, upper) = (sound(lower.to_enclosure()), sound(upper.to_enclosure()));
        assert!(lower.lower() <= upper.upper().min(1.0), "{lower:?} above {upper:?}");
    }
    fits_together(&Curve::from(Composed::new(Arc::new(composition), None)), &epsilon, &patience);
}
