//! Arithmetic backends, chosen at run time: the same kernel compiled for any processor and for one with a fused
//! multiply-add (on x86-64 together with AVX2).
//!
//! A computation is a [`Kernel`], generic over [`Arithmetic`]; [`Backend::run`] compiles it once for every
//! backend. Everything that a kernel calls must be inlined into it, or it is compiled for any processor: still right, but
//! slow.
//!
//! [`Arithmetic::two_product`] is exact in every backend, so what is built of it and of single operations is the same
//! to the last bit everywhere. [`Arithmetic::multiply_add`] may round once or twice: bounds must hold for both.
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

// Inlining is what makes a kernel use the instructions of its backend.
#![allow(clippy::inline_always)]

use std::fmt;

/// What backends differ in.
pub trait Arithmetic: Copy {
    /// `a · b` as a rounded product and its exact error, for `2^-969 < |ab|` (or zero), `|a|, |b| < 2^996`.
    fn two_product(a: f64, b: f64) -> (f64, f64);

    /// `ab + c`, with one rounding or with two.
    fn multiply_add(a: f64, b: f64, c: f64) -> f64;
}

/// A computation that every backend can run. `run` must be `#[inline(always)]`.
pub trait Kernel {
    /// What it gives.
    type Output;

    /// The computation.
    fn run<A: Arithmetic>(self) -> Self::Output;
}

/// Additions and multiplications alone, as every processor has them.
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

/// With a fused multiply-add; only run where the processor has one, since a platform's substitute for it is slow and
/// not to be trusted.
#[derive(Clone, Copy, Debug)]
struct Fused;

// The one place where the instruction is certain to be there.
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

/// Dekker: `a · b` as a rounded product and its exact error, for `2^-969 < |ab|` (or zero), `|a|, |b| < 2^996`.
#[must_use]
#[inline(always)]
pub const fn two_product(a: f64, b: f64) -> (f64, f64) {
    let p = a * b;
    let (ah, al) = split(a);
    let (bh, bl) = split(b);
    (p, ((ah * bh - p) + ah * bl + al * bh) + al * bl)
}

/// Veltkamp: `a` as a sum of two numbers of at most 26 bits, for `|a| < 2^996`.
#[must_use]
#[inline(always)]
pub const fn split(a: f64) -> (f64, f64) {
    let c = 134_217_729.0 * a; // 2^27 + 1
    let hi = c - (c - a);
    (hi, a - hi)
}

/// A set of instructions that this processor has: there is no way to make one that it has not.
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
    /// What every processor can run.
    pub const PORTABLE: Self = Self(Instructions::Portable);

    /// The fastest one that this processor has; with the feature `portable`, the portable one, to be measured.
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

    /// All that this processor has, the portable one first.
    #[must_use]
    pub fn available() -> Vec<Self> {
        if Self::best() == Self::PORTABLE { vec![Self::PORTABLE] } else { vec![Self::PORTABLE, Self::best()] }
    }

    /// By the name that [`Backend::name`] gives; nothing if this processor has no such instructions.
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
            // SAFETY: this variant is made by `best` alone, after the processor was asked for both features.
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
