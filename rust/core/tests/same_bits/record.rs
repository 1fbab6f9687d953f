//! What was computed, next to what is stored.

use statpriv_core::digits::DigitsEnclosure;
use statpriv_core::error::Error;
use statpriv_core::interrupt::Interrupt;
use statpriv_core::numbers::ball::Ball;
use statpriv_core::numbers::enclosure::Enclosure;
use statpriv_core::numbers::rational::Rational;
use statpriv_simd::Backend;
use std::cell::Cell;
use std::fmt::{Debug, Display};
use std::path::PathBuf;

/// Set, it stores what is computed in place of comparing.
const STORE: &str = "STATPRIV_STORE_BITS";
/// Differences that are shown.
const SHOWN: usize = 8;

/// The results of one family of functions, by input.
pub struct Record {
    family: &'static str,
    found: Vec<(String, String)>,
    /// How often long work asked whether it should go on: as often everywhere.
    pub questions: Questions,
}

#[derive(Default)]
pub struct Questions(Cell<u64>);

impl Interrupt for Questions {
    fn check(&self) -> Result<(), Error> {
        self.0.set(self.0.get() + 1);
        Ok(())
    }
}

/// What is stored of one input: the bits with a fused multiply-add and, where they differ, without.
struct Stored {
    input: String,
    fused: String,
    portable: Option<String>,
}

impl Record {
    pub fn of(family: &'static str) -> Self {
        Self { family, found: Vec::new(), questions: Questions::default() }
    }

    /// A result, and the input by which it is told from others.
    #[allow(clippy::needless_pass_by_value)] // A result is made where it is noted.
    pub fn note(&mut self, input: impl Display, value: impl Bits) {
        self.found.push((input.to_string(), value.bits()));
    }

    /// Fails where a bit differs from what is stored for this kind of processor.
    pub fn compare(mut self) {
        self.note("questions", Plain(self.questions.0.get()));
        if std::env::var_os(STORE).is_some() {
            return self.store();
        }
        let (stored, is_portable) = (self.stored(), Backend::best() == Backend::PORTABLE);
        let inputs = |stored: &[Stored]| stored.iter().map(|one| one.input.clone()).collect::<Vec<_>>();
        let asked: Vec<_> = self.found.iter().map(|(input, _)| input.clone()).collect();
        assert_eq!(
            asked,
            inputs(&stored),
            "{}: other inputs than those that are stored: `make bits`",
            self.family
        );
        let pairs = self.found.iter().zip(&stored).map(|((input, found), stored)| {
            let fused = &stored.fused;
            (input, found, if is_portable { stored.portable.as_ref().unwrap_or(fused) } else { fused })
        });
        let other: Vec<_> = pairs.filter(|(_, found, expected)| found != expected).collect();
        let shown: Vec<_> =
            other.iter().take(SHOWN).map(|(i, f, e)| format!("{i}: {f}, stored {e}")).collect();
        assert!(
            other.is_empty(),
            "{}: {} of {} results have other bits than those stored ({}):\n{}",
            self.family,
            other.len(),
            self.found.len(),
            Backend::best().name(),
            shown.join("\n")
        );
    }

    fn path(&self) -> PathBuf {
        let family = self.family.replace(' ', "_");
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/same_bits/stored/{family}.txt"))
    }

    fn stored(&self) -> Vec<Stored> {
        let text = std::fs::read_to_string(self.path()).unwrap_or_default();
        let line = |line: &str| {
            let mut columns = line.split('\t').map(str::to_owned);
            let (input, fused) = (columns.next()?, columns.next()?);
            Some(Stored { input, fused, portable: columns.next() })
        };
        text.lines().map(|text| line(text).unwrap()).collect()
    }

    /// Bits with a fused multiply-add come first; then those without are put next to them.
    fn store(self) {
        let stored = self.stored();
        let line = |(place, (input, found)): (usize, &(String, String))| {
            if Backend::best() != Backend::PORTABLE {
                return format!("{input}\t{found}\n");
            }
            let known = stored.get(place).filter(|known| known.input == *input);
            let fused =
                &known.unwrap_or_else(|| panic!("{}: {input} is not stored with FMA yet", self.family)).fused;
            if fused == found {
                format!("{input}\t{fused}\n")
            } else {
                format!("{input}\t{fused}\t{found}\n")
            }
        };
        let text: String = self.found.iter().enumerate().map(line).collect();
        std::fs::write(self.path(), text).unwrap();
    }
}

/// A result as text, other bits being another text.
pub trait Bits {
    fn bits(&self) -> String;
}

/// FNV-1a: of what is too long to be stored.
fn digest(text: &str) -> String {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}

impl Bits for f64 {
    fn bits(&self) -> String {
        format!("{:016x}", self.to_bits())
    }
}

/// The lower end, and how many doubles above it the upper one lies; or both.
impl Bits for Enclosure {
    fn bits(&self) -> String {
        let [lower, upper] = [self.lower(), self.upper()].map(f64::to_bits);
        match upper.abs_diff(lower) {
            apart @ 0..=99_999 => format!("{lower:016x}+{apart}"),
            _ => format!("{lower:016x} {upper:016x}"),
        }
    }
}

/// Its ends, and a digest of what it consists of.
impl Bits for Ball {
    fn bits(&self) -> String {
        format!("{} {}", self.to_enclosure().bits(), &digest(&format!("{self:?}"))[..8])
    }
}

impl Bits for DigitsEnclosure {
    fn bits(&self) -> String {
        digest(&format!("{:?}", [self.lower(), self.upper()]))
    }
}

impl Bits for Rational {
    fn bits(&self) -> String {
        digest(&format!("{}/{}", self.numerator(), self.denominator()))
    }
}

/// A row: of many results, a digest.
impl<T: Bits> Bits for Vec<T> {
    fn bits(&self) -> String {
        digest(&self.iter().map(Bits::bits).collect::<Vec<_>>().join(" "))
    }
}

impl<T: Bits, U: Bits> Bits for (T, U) {
    fn bits(&self) -> String {
        format!("{} {}", self.0.bits(), self.1.bits())
    }
}

impl<T: Bits> Bits for Option<T> {
    fn bits(&self) -> String {
        self.as_ref().map_or_else(|| "none".to_owned(), Bits::bits)
    }
}

/// What is refused is refused everywhere.
impl<T: Bits> Bits for Result<T, Error> {
    fn bits(&self) -> String {
        self.as_ref().map_or_else(|error| format!("error {}", digest(&error.to_string())), Bits::bits)
    }
}

/// Integers, and what consists of them.
pub struct Plain<T>(pub T);

impl<T: Debug> Bits for Plain<T> {
    fn bits(&self) -> String {
        format!("{:?}", self.0)
    }
}
