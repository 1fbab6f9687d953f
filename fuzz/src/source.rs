//! Generates numbers from bytes. Every input is reachable, and awkward inputs are likely.

use statpriv_core::error::Error;
use statpriv_core::interrupt::Interrupt;
use statpriv_core::numbers::rational::Rational;
use std::cell::Cell;

/// Bytes consumed from the front. After the last one, zeros follow.
pub struct Source<'a>(pub &'a [u8]);

impl Source<'_> {
    pub fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    pub fn word(&mut self) -> u64 {
        (0..8).fold(0, |word, _| word << 8 | u64::from(self.byte()))
    }

    /// An integer from 0 to `most`: small, a power of two, near `most`, near its half, or arbitrary.
    pub fn up_to(&mut self, most: u64) -> u64 {
        let (kind, word) = (self.byte(), self.word());
        let value = match kind % 8 {
            0 => word % 4,
            1 => most - (word % 4).min(most),
            2 => 1 << (word % 64),
            3 => most / 2 + word % 3,
            4 | 5 => word >> (word % 64),
            _ => word,
        };
        if most == u64::MAX { value } else { value % (most + 1) }
    }

    /// A number of entries, mostly an allowed one.
    pub fn size(&mut self) -> u64 {
        if self.byte() == 0 { self.word() } else { 1 + self.up_to((1 << 53) - 1) }
    }

    /// Any double. Special values, integers, their reciprocals and numbers close to 1 are likely.
    pub fn double(&mut self) -> f64 {
        let (kind, word) = (self.byte(), self.word());
        match kind % 8 {
            0 => [0.0, -0.0, 1.0, -1.0, 5e-324, f64::MAX, f64::INFINITY, f64::NAN][word as usize % 8],
            1 => (word % 1000) as f64,
            2 => 1.0 / (1 + word % 1000) as f64,
            3 => 1.0 - f64::from_bits(word >> 12 | 0x3ff << 52).recip() * 0.5f64.powi((word % 60) as i32),
            _ => f64::from_bits(word),
        }
    }

    /// A rational: a double or a fraction.
    pub fn rational(&mut self) -> Rational {
        let x = self.double();
        match Rational::from_f64(x) {
            Ok(x) if self.byte().is_multiple_of(2) => x,
            _ => self.fraction(),
        }
    }

    fn fraction(&mut self) -> Rational {
        let (top, bottom) = (self.word() >> (self.byte() % 64), 1 + (self.word() >> (self.byte() % 64) >> 1));
        Rational::parse(&format!("{top}/{bottom}")).expect("an integer over a positive integer")
    }

    /// A number that is mostly a probability.
    pub fn probability(&mut self) -> Rational {
        let (kind, x) = (self.byte(), self.rational());
        let size = x.abs();
        let one = Rational::from(1i64);
        let inside = size.div(&size.add(&one)).expect("a positive denominator");
        match kind % 8 {
            0 => x,
            1 => one.sub(&inside),
            2 => Rational::parse(["0", "1", "1/2", "1e-300", "1e-4000"][kind as usize / 8 % 5])
                .expect("a number"),
            _ => inside,
        }
    }

    /// An ε for a curve: of the order `1/√size`, moderate, or arbitrary.
    pub fn epsilon(&mut self, size: u64) -> Rational {
        let (kind, x) = (self.byte(), self.double().abs().min(1e300));
        let x = match kind % 4 {
            0 => x,
            1 => (x % 40.0) / (size as f64).sqrt(),
            2 => x % 8.0,
            _ => x % 700.0,
        };
        Rational::from_f64(x).unwrap_or_else(|_| self.rational())
    }
}

/// Cancellation hook that interrupts work after a fixed number of polls. An endless sum that does not poll is
/// not stopped.
pub struct Patience(Cell<u32>);

impl Patience {
    pub fn new(questions: u32) -> Self {
        Self(Cell::new(questions))
    }
}

impl Interrupt for Patience {
    fn check(&self) -> Result<(), Error> {
        let left = self.0.get();
        self.0.set(left.saturating_sub(1));
        if left == 0 { Err(Error::Interrupted) } else { Ok(()) }
    }
}
