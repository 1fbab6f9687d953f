//! Arithmetic backends, chosen at run time. The same kernel is compiled for any processor and for processors
//! with a fused multiply-add (on x86-64 together with AVX2).
//!
//! A computation is a [`Kernel`], generic over [`Arithmetic`]. [`Backend::run`] compiles it once for every
//! backend. Everything that a kernel calls must be inlined into it. A call that is not inlined is compiled
//! for any processor: the result is still right, but slow.
//!
//! [`Arithmetic::two_product`] is exact in every backend. So results built from it and from single operations
//! are bit-identical everywhere. [`Arithmetic::multiply_add`] may round once or twice, so error bounds must
//! hold for both.
//!
//! ```
//! use statpriv_simd::{Arithmetic, Backend, Kernel};
//!
//! struct Square(f64);
//!
//! impl Kernel for Square {
//!     type Output = (f64, f64);
//!
//!     #[inline(always)]
//!     fn run<A: Arithmetic>(self) -> (f64, f64) {
//!         A::two_product(self.0, self.0)
//!     }
//! }
//!
//! for backend in Backend::available() {
//!     assert_eq!(backend.run(Square(0.1)), Backend::PORTABLE.run(Square(0.1)));
//! }
//! ```

// A kernel uses the instructions of its backend only in inlined code.
#![allow(clippy::inline_always)]

use std::fmt;

/// The operations in which backends differ.
pub trait Arithmetic: Copy {
    /// `a · b` as a rounded product and its exact error, for `2^-969 < |ab|` (or zero), `|a|, |b| < 2^996`.
    fn two_product(a: f64, b: f64) -> (f64, f64);

    /// `ab + c`, rounded once or twice.
    fn multiply_add(a: f64, b: f64, c: f64) -> f64;
}

/// A computation that every backend can run. `run` must be `#[inline(always)]`.
pub trait Kernel {
    /// The type of the result.
    type Output;

    /// Runs the computation.
    fn run<A: Arithmetic>(self) -> Self::Output;
}

/// Arithmetic by separate additions and multiplications, which every processor has.
#[derive(Clone, Copy, Debug)]
pub struct Portable;

impl Arithmetic for Portable {
    #[inline(always)]
    fn two_product(a: f64, b: f64) -> (f64, f64) {
        two_product(a, b)
    }

    #[inline(always)]
    fn multiply_add(a: f64, b: f64, c: f64) -> f64 {
        a * b + c
    }
}

/// Arithmetic with a fused multiply-add. It runs only on processors that have one: software emulations are
/// slow and not to be trusted.
#[derive(Clone, Copy, Debug)]
struct Fused;

// The only place where the instruction is certain to exist.
#[allow(clippy::disallowed_methods)]
impl Arithmetic for Fused {
    #[inline(always)]
    fn two_product(a: f64, b: f64) -> (f64, f64) {
        let product = a * b;
        (product, a.mul_add(b, -product))
    }

    #[inline(always)]
    fn multiply_add(a: f64, b: f64, c: f64) -> f64 {
        a.mul_add(b, c)
    }
}

/// Dekker's product: `a · b` as a rounded product and its exact error, for `2^-969 < |ab|` (or zero),
/// `|a|, |b| < 2^996`.
#[must_use]
#[inline(always)]
pub const fn two_product(a: f64, b: f64) -> (f64, f64) {
    let p = a * b;
    let (ah, al) = split(a);
    let (bh, bl) = split(b);
    (p, ((ah * bh - p) + ah * bl + al * bh) + al * bl)
}

/// Veltkamp's splitting: `a` as a sum of two numbers of at most 26 bits, for `|a| < 2^996`.
#[must_use]
#[inline(always)]
pub const fn split(a: f64) -> (f64, f64) {
    let c = 134_217_729.0 * a; // 2^27 + 1
    let hi = c - (c - a);
    (hi, a - hi)
}

/// A set of instructions that this processor has. A backend that it lacks cannot be constructed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Backend(Instructions);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Instructions {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2Fma,
    #[cfg(target_arch = "aarch64")]
    Neon,
}

impl Backend {
    /// The backend that runs on every processor.
    pub const PORTABLE: Self = Self(Instructions::Portable);

    /// The fastest backend of this processor. With the feature `portable` it is the portable one, for
    /// tests and measurements.
    #[must_use]
    #[inline]
    pub fn best() -> Self {
        if cfg!(feature = "portable") {
            return Self::PORTABLE;
        }
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            return Self(Instructions::Avx2Fma);
        }
        #[cfg(target_arch = "aarch64")]
        return Self(Instructions::Neon);
        #[cfg(not(target_arch = "aarch64"))]
        Self::PORTABLE
    }

    /// All backends of this processor, the portable one first. With the feature `portable`, only that one.
    #[must_use]
    pub fn available() -> Vec<Self> {
        if Self::best() == Self::PORTABLE { vec![Self::PORTABLE] } else { vec![Self::PORTABLE, Self::best()] }
    }

    /// The backend with this [`Backend::name`]. None if this processor lacks its instructions.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::available().into_iter().find(|backend| backend.name() == name)
    }

    /// `"portable"`, `"avx2+fma"` or `"neon"`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self.0 {
            Instructions::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2Fma => "avx2+fma",
            #[cfg(target_arch = "aarch64")]
            Instructions::Neon => "neon",
        }
    }

    /// Runs the computation with these instructions.
    #[inline]
    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        match self.0 {
            Instructions::Portable => kernel.run::<Portable>(),
            #[cfg(target_arch = "x86_64")]
            #[allow(unsafe_code)]
            // SAFETY: only `best` constructs this variant, after it has detected both features on this
            // processor.
            Instructions::Avx2Fma => unsafe { run_with_avx2_and_fma(kernel) },
            #[cfg(target_arch = "aarch64")]
            Instructions::Neon => kernel.run::<Fused>(),
        }
    }
}

impl fmt::Debug for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Backend({})", self.name())
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_with_avx2_and_fma<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<Fused>()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Products(f64, f64);

    impl Kernel for Products {
        type Output = (f64, f64);

        #[inline(always)]
        fn run<A: Arithmetic>(self) -> (f64, f64) {
            A::two_product(self.0, self.1)
        }
    }

    #[test]
    fn every_backend_gives_the_same_error_of_a_product() {
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            f64::from_bits((state >> 12) | (1023 << 52)) - 1.5
        };
        for _ in 0..10_000 {
            let (a, b) = (next(), next());
            let expected = Backend::PORTABLE.run(Products(a, b));
            for backend in Backend::available() {
                assert_eq!(backend.run(Products(a, b)), expected, "{backend:?}: {a} {b}");
            }
        }
    }

    #[test]
    fn backends_are_found_by_name_where_the_processor_has_them() {
        for backend in Backend::available() {
            assert_eq!(Backend::named(backend.name()), Some(backend));
        }
        assert_eq!(Backend::named("abacus"), None);
        assert_eq!(Backend::available()[0], Backend::PORTABLE);
    }
}
