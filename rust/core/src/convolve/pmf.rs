//! Convolutions of probability mass functions, `Σ_i x_i y_{k−i}`, in double-doubles.
//!
//! All products are positive, so that relative errors are not amplified but counted, once for all of them. Masses range over more than doubles do:
//! they are sorted into bands, and each pair of bands is added up by itself, in units of its own.
//!
//! **Error.** Let `u = 2^-53`, `T = Σ_i x_i y_{k−i}` a sum of `K` products of `x = a + α` and `y = b + β`, `|α| ≤ ua`, `|β| ≤ ub`. `ab = p + π` exactly,
//! `|π| ≤ uab`, and `aβ + αb + π` rounds by at most `7u²ab`; `αβ ≤ u²ab` is left out. The `p` are added with all that is lost, `r ≤ uS` each, where `S`
//! is the last of these sums. What goes into the lower part is at most `(K + 4)uS` together, rounds by `u` of that when `r` is added to the rest of
//! its product, and by `u` of that in each of `K` additions: `((K + 1)(K + 4) + 9)u²T` altogether, and terms in `Ku³T`, less than
//! `(K + 4)²u²T` ([`IN_BLOCK`]). This is the compensated scalar product of T. Ogita, S. M. Rump, S. Oishi, *Accurate sum and dot product*,
//! SIAM J. Sci. Comput. 26(6), 2005, for factors of two doubles.
//!
//! **Range.** In units of its band a mass is between `2^-`[`BAND`] and 1. So products of high parts are above `2^-800`; of those of low parts what
//! underflow takes, `2^-1074` each, is below `2^-270` relatively.

use crate::budget::{MAX_BANDS, MAX_PRODUCTS_OF_A_CONVOLUTION};
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::laws::pmf::{Pmf, check_length};
use crate::numbers::ball::Ball;
use crate::numbers::double_double::{ADDITION, DoubleDouble, UNIT, two_sum};
use statpriv_simd::{Arithmetic, Backend, Kernel};

/// Binary orders of magnitude of a band.
const BAND: i64 = 400;
/// Sums that are added up side by side.
const TILE: usize = 8;
/// Products that are added up before they are added to the others.
const BLOCK: usize = 256;
/// The error of the sum of one block: see the module documentation.
const IN_BLOCK: f64 = ((BLOCK + 4) * (BLOCK + 4)) as f64 / 16.0 * UNIT;
/// Less certain masses are left to balls, so that they widen no sum but their own.
const MAX_UNCERTAIN: f64 = 1.0 / ((1u64 << 60) as f64);
/// The cost of a product of balls, in products of double-doubles. With more zeros than this between masses, balls are multiplied.
pub(crate) const OF_BALLS: usize = 32;
/// Products of double-doubles, and of balls, between two polls of the interrupt.
const PRODUCTS_PER_CHECK: usize = 1 << 22;
const BALLS_PER_CHECK: usize = 1 << 18;

/// Masses that are not zero, with their places in a window.
type Placed<T> = Vec<(usize, T)>;

impl Pmf {
    /// `P * Q`: what is missing is at most `1 − (1−m)(1−m') ≤ m + m'`.
    pub fn convolved(&self, other: &Self, interrupt: &dyn Interrupt) -> Result<Self, Error> {
        let (long, short) = (self.possible(), other.possible());
        let (long, short) = if long.len() < short.len() { (short, long) } else { (long, short) };
        let missing = self.missing + other.missing;
        if short.is_empty() {
            return Ok(Self { missing, ..Self::empty() });
        }
        let first = self.first + other.first;
        check_length(first, self.last() + other.last())?;
        let products = short.len().saturating_mul(long.len());
        if products > MAX_PRODUCTS_OF_A_CONVOLUTION {
            return Err(Error::precision(format!("a convolution of {products} products is not tried")));
        }
        let mut masses = vec![Ball::ZERO; self.masses.len() + other.masses.len() - 1];
        let [long, short] = [long, short].map(Factor::new);
        let runs = long.runs();
        if short.certain.len() < TILE
            || runs.iter().map(Run::length).sum::<usize>() > OF_BALLS * long.certain.len()
        {
            add_balls(&mut masses, &short.all(), &long.all(), interrupt)?;
        } else {
            add_balls(&mut masses, &short.others, &long.all(), interrupt)?;
            add_balls(&mut masses, &short.certain_balls(), &long.others, interrupt)?;
            add_certain(&mut masses, &short, &long, &runs, interrupt)?;
        }
        Ok(Self { first, masses, missing })
    }

    fn possible(&self) -> Placed<Ball> {
        let masses = self.masses.iter().copied().enumerate();
        masses.filter(|(_, mass)| !mass.is_exact_zero()).collect()
    }
}

/// The masses of a row, those apart that double-doubles hold well.
struct Factor {
    certain: Vec<Certain>,
    others: Placed<Ball>,
    /// All certain ones are below `2^top`, with relative errors of at most `error`.
    top: i64,
    error: f64,
}

/// A mass whose relative error is at most [`MAX_UNCERTAIN`].
struct Certain {
    place: usize,
    mass: Ball,
    band: usize,
    /// Its midpoint in units of the band, `2^(top − BAND · band)`.
    scaled: DoubleDouble,
}

impl Factor {
    fn new(masses: Placed<Ball>) -> Self {
        let is_certain = |mass: Ball| mass.is_positive() && mass.relative_error() <= MAX_UNCERTAIN;
        let exponents = masses.iter().filter(|(_, mass)| is_certain(*mass)).map(|(_, mass)| mass.exponent());
        let top = exponents.max().unwrap_or(0);
        let mut factor = Self { certain: Vec::new(), others: Vec::new(), top, error: 0.0 };
        for (place, mass) in masses {
            let Some((band, scaled)) = in_band(mass, top).filter(|_| is_certain(mass)) else {
                factor.others.push((place, mass));
                continue;
            };
            factor.error = factor.error.max(mass.relative_error());
            factor.certain.push(Certain { place, mass, band, scaled });
        }
        factor
    }

    fn certain_balls(&self) -> Placed<Ball> {
        self.certain.iter().map(|one| (one.place, one.mass)).collect()
    }

    fn all(&self) -> Placed<Ball> {
        [self.certain_balls(), self.others.clone()].concat()
    }

    /// Masses of one band. Only zeros lie between them.
    fn runs(&self) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        for one in &self.certain {
            match runs.last_mut() {
                Some(run) if run.band == one.band => run.push(one),
                _ => runs.push(Run::new(one)),
            }
        }
        for run in &mut runs {
            run.pad();
        }
        runs
    }

    /// The masses of each band, and their places.
    fn bands(&self) -> Vec<Placed<DoubleDouble>> {
        let bands = self.certain.iter().map(|one| one.band + 1).max().unwrap_or(0);
        let of = |band| self.certain.iter().filter(move |one| one.band == band);
        (0..bands).map(|band| of(band).map(|one| (one.place, one.scaled)).collect()).collect()
    }
}

/// The band of a mass below `2^top`, and its midpoint in units of the band; nothing of what is far below.
fn in_band(mass: Ball, top: i64) -> Option<(usize, DoubleDouble)> {
    let band = (top - mass.exponent()) / BAND;
    let scaled = mass.times_power_of_two(BAND * band - top).to_double_double()?;
    Some((usize::try_from(band).ok().filter(|&band| band < MAX_BANDS)?, scaled))
}

/// Consecutive masses, zeros among them, with [`TILE`] more zeros on either side.
struct Run {
    band: usize,
    /// The place of the first mass.
    start: usize,
    high: Vec<f64>,
    low: Vec<f64>,
}

impl Run {
    fn new(first: &Certain) -> Self {
        let mut run =
            Self { band: first.band, start: first.place, high: vec![0.0; TILE], low: vec![0.0; TILE] };
        run.push(first);
        run
    }

    fn push(&mut self, next: &Certain) {
        for (part, value) in [(&mut self.high, next.scaled.hi), (&mut self.low, next.scaled.lo)] {
            part.resize(TILE + next.place - self.start, 0.0);
            part.push(value);
        }
    }

    fn pad(&mut self) {
        let length = self.high.len() + TILE;
        self.high.resize(length, 0.0);
        self.low.resize(length, 0.0);
    }

    /// With the zeros around it.
    fn length(&self) -> usize {
        self.high.len()
    }
}

/// Adds `Σ_i x_i y_{k−i}` to the masses, product by product.
fn add_balls(
    masses: &mut [Ball],
    short: &Placed<Ball>,
    long: &Placed<Ball>,
    interrupt: &dyn Interrupt,
) -> Result<(), Error> {
    let mut since = 0;
    for &(start, factor) in short {
        let Some(sums) = masses.get_mut(start..) else { continue };
        for &(place, mass) in long {
            if let Some(sum) = sums.get_mut(place) {
                *sum = *sum + mass * factor;
            }
        }
        since += long.len();
        if since > BALLS_PER_CHECK {
            interrupt.check()?;
            since = 0;
        }
    }
    Ok(())
}

/// The same of what is certain, band by band.
fn add_certain(
    masses: &mut [Ball],
    short: &Factor,
    long: &Factor,
    runs: &[Run],
    interrupt: &dyn Interrupt,
) -> Result<(), Error> {
    let bands = short.bands();
    let last = bands.len() + runs.iter().map(|run| run.band).max().unwrap_or(0);
    for band in 0..last {
        let mut sums = vec![DoubleDouble::ZERO; masses.len() + TILE];
        let mut additions = 0;
        for run in runs {
            let Some(factors) = band.checked_sub(run.band).and_then(|band| bands.get(band)) else { continue };
            add_run(&mut sums, factors, run, interrupt)?;
            additions += factors.len().div_ceil(BLOCK);
        }
        if additions == 0 {
            continue;
        }
        // Errors of factors, of blocks and of their additions: together at most e^error − 1 ≤ error + error² of the sum.
        let error = short.error + long.error + IN_BLOCK + ADDITION * additions as f64;
        let unit = short.top + long.top - BAND * band as i64;
        for (mass, &sum) in masses.iter_mut().zip(&sums) {
            *mass = *mass + Ball::from_double_double(sum, error + error * error).times_power_of_two(unit);
        }
    }
    Ok(())
}

/// Adds `Σ_i x_i y_{k−i}` to the sums at the places `k` for the factors `x_i` and a run of `y`.
fn add_run(
    sums: &mut [DoubleDouble],
    factors: &Placed<DoubleDouble>,
    run: &Run,
    interrupt: &dyn Interrupt,
) -> Result<(), Error> {
    let (Some(&(first, _)), Some(&(last, _))) = (factors.first(), factors.last()) else { return Ok(()) };
    let inside = run.length() - 2 * TILE;
    let touched = run.start + first..run.start + last + inside;
    let tiles_per_check = (PRODUCTS_PER_CHECK / (TILE * factors.len())).max(1);
    for places in touched.step_by(TILE).collect::<Vec<_>>().chunks(tiles_per_check) {
        interrupt.check()?;
        Backend::best().run(Tiles { places, factors, run, inside, sums: &mut *sums });
    }
    Ok(())
}

/// The sums at [`TILE`] places from each of these on.
struct Tiles<'a> {
    places: &'a [usize],
    factors: &'a [(usize, DoubleDouble)],
    run: &'a Run,
    inside: usize,
    sums: &'a mut [DoubleDouble],
}

impl Kernel for Tiles<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Self { places, factors, run, inside, sums } = self;
        for &tile in places {
            // Of y, in the padded run, x_i meets what begins at tile − place_i − start + TILE.
            let reach = tile + TILE - run.start;
            let from = factors.partition_point(|(place, _)| place + inside + TILE < reach);
            let to = factors.partition_point(|(place, _)| *place <= reach);
            for block in factors.get(from..to).unwrap_or_default().chunks(BLOCK) {
                let (mut high, mut low) = ([0.0; TILE], [0.0; TILE]);
                for &(place, factor) in block {
                    let at = reach - place;
                    let (Some(his), Some(los)) = (tile_at(&run.high, at), tile_at(&run.low, at)) else {
                        continue;
                    };
                    for ((sum, rest), (&hi, &lo)) in high.iter_mut().zip(&mut low).zip(his.iter().zip(los)) {
                        let (product, error) = A::two_product(hi, factor.hi);
                        let mixed = hi * factor.lo + lo * factor.hi;
                        let (next, lost) = two_sum(*sum, product);
                        *sum = next;
                        *rest += lost + (error + mixed);
                    }
                }
                let block = high.iter().zip(&low).map(|(&hi, &lo)| DoubleDouble { hi, lo }.normalised());
                for (sum, block) in sums.iter_mut().skip(tile).zip(block) {
                    *sum = sum.add_positive(block);
                }
            }
        }
    }
}

#[inline(always)]
fn tile_at(part: &[f64], at: usize) -> Option<&[f64; TILE]> {
    part.get(at..)?.first_chunk()
}

#[cfg(test)]
mod tests;
