//! Limits of work and of memory, all in one place.
//!
//! Beyond a limit one of two things happens. The input is refused with an error, or another method is used. The
//! enclosure of that method holds the truth too and may be wider. So a limit decides how long a result takes and how
//! narrow it is, never whether it is true. Thresholds that a proof needs stand beside the proof.

// Numbers that are given, and numbers that are written out.

/// The largest decimal exponent of a number given as text. A larger one is refused: written out as a fraction, the
/// number would exhaust memory.
pub(crate) const MAX_DECIMAL_EXPONENT: i64 = 100_000;

/// The most characters of a number given as text. A longer text is refused for the same reason.
pub(crate) const MAX_LITERAL_LENGTH: usize = 200_000;

/// The largest absolute value of an answer. A law with larger answers is refused, so that sums of answers stay far from
/// overflow.
pub(crate) const MAX_ABSOLUTE_ANSWER: i64 = 1 << 60;

/// The largest binary exponent of a number with digits that is turned into a fraction, of at most 32 MiB. Beyond it
/// there is no fraction.
pub(crate) const MAX_RATIONAL_EXPONENT: i128 = 1 << 28;

/// The largest binary exponent of a number that is written out in full on the way to its decimal digits. Beyond it the
/// power of ten is computed by a logarithm.
pub(crate) const MAX_DECIMAL_BITS: i128 = 1 << 20;

// Exact values and digits.

/// The most seconds that an exact value may take by its estimate. More is refused. Integers of some ten million bits
/// take as long, and stay far below a gigabyte.
pub(crate) const MAX_SECONDS: f64 = 30.0;

/// The most bytes of a law whose probabilities are fractions, by its estimate. More is refused.
pub(crate) const MAX_BYTES: f64 = 1e9;

/// The most digits that can be asked for. More are refused.
pub const MAX_DIGITS: u32 = 10_000;

/// The most bits of a working precision, a million decimal digits. A value that needs more is refused: its inputs lie
/// next to a jump.
pub(crate) const MAX_WORKING_BITS: usize = 1 << 22;

/// The most bits of `e^ε` for a comparison with a likelihood ratio. A comparison that needs more is refused. Only an ε
/// of a hundred thousand digits that was made for this needs more.
pub(crate) const MAX_RATIO_BITS: usize = 1 << 20;

/// The most bits of a probability that is written out as a fraction to compare it with δ at an end of a curve. With
/// more, a tie is not decided: ε(δ) is `[0, x]` or `[x, ∞]` there.
pub(crate) const MAX_BITS_OF_AN_END: u64 = 1 << 16;

/// The most terms of a value that is computed again with digits when its enclosure in balls is wide. With more, the
/// enclosure stays as it is.
pub(crate) const MAX_TERMS_OF_DIGITS: f64 = 1e5;

/// The most known entries of a hidden sample for exact values and digits, which go through every number of ones among
/// them. More are refused.
pub(crate) const MAX_KNOWN_ENTRIES: u64 = 1000;

/// The largest minimum count of a cell for the supremum over all probabilities and sizes. A larger one is refused: this one takes seconds.
pub const MAX_GATED_SUPREMUM: u64 = 1000;

/// The most groups of entries for exact values and digits of "any entry", which go through the curve of every group.
/// More are refused.
pub(crate) const MAX_GROUPS: usize = 300;

/// The most sequences of answers in an exact value of an adaptive composition, some seconds of work. More are refused.
pub(crate) const MAX_PATHS: f64 = 1e6;

/// The most likelihood ratios of a composition for exact values and digits. More are refused.
pub(crate) const MAX_DENSITIES: f64 = 2e5;

/// The most bits of all these likelihood ratios together. More are refused.
pub(crate) const MAX_BITS_OF_DENSITIES: f64 = 4e8;

/// The most answers of a part whose likelihood ratios are counted one by one for that estimate. With more, every
/// answer counts as one ratio.
pub(crate) const MAX_ANSWERS_COUNTED: f64 = 256.0;

// Rows of probabilities.

/// The most answers whose probabilities are written out: as balls they fill 640 MiB. A longer row, and a noise that
/// needs one, is refused.
pub(crate) const MAX_ANSWERS: u64 = 1 << 24;

/// The most probabilities of a row of doubles, whose two bounds fill 1 GiB. A longer row is refused.
pub(crate) const MAX_ROW: u64 = 1 << 26;

/// The most answers of a part whose law is written out as a whole. Of a longer law a negligible mass is left out.
pub(crate) const MAX_ANSWERS_OF_A_WHOLE_LAW: f64 = 4096.0;

/// The most answers of two laws that are all evaluated to show that Δ is exactly zero. With more, answers are left out
/// as soon as the rest is known to be small enough.
pub(crate) const MAX_ANSWERS_TO_THE_LAST: f64 = 1e4;

// Sums, convolutions and inversions.

/// The most terms of the sum above a threshold, about one second of work. More are refused.
pub(crate) const MAX_TERMS_OF_A_STOP_LOSS: u64 = 1 << 24;

/// The most terms of a mean over sizes on either side of its middle, some seconds of work. Then the bound of the rest
/// is added to the radius. A law that is wider than twice as many sizes is refused.
pub(crate) const MAX_TERMS_OF_A_MEAN: u64 = 1 << 22;

/// The most terms of a curve with known entries in a hidden sample, some hours of work. More are refused.
pub(crate) const MAX_TERMS_OF_KNOWN_ENTRIES: f64 = 1e12;

/// The most ways to draw a sample from groups that a mean goes through. More are refused.
pub(crate) const MAX_WAYS_OF_DRAWN_GROUPS: f64 = 2e7;

/// The most ways that exact values and digits go through. More are refused.
pub(crate) const MAX_WAYS_WRITTEN_OUT: usize = 3000;

/// The most products of such a mean, some seconds of work. With more, ways that are at most a
/// millionth of δ together are left out; if that does not suffice, they are refused.
pub(crate) const MAX_WORK_OF_DRAWN_GROUPS: f64 = 1.5e9;

/// The most products of a direct convolution. More are refused.
pub(crate) const MAX_PRODUCTS_OF_A_CONVOLUTION: usize = 1 << 36;

/// The most bands of magnitudes of a row that is convolved in double-doubles. Masses in further bands are multiplied as
/// balls.
pub(crate) const MAX_BANDS: usize = 8;

/// The most products of a direct convolution of laws where there is another way. With more, a transform is inverted.
pub(crate) const MAX_DIRECT_PRODUCTS: f64 = (1u64 << 24) as f64;

/// The most products for each place of a sum with gaps. An inversion follows the whole lattice for each place, so
/// direct convolutions are worth more there.
pub(crate) const MAX_PRODUCTS_PER_PLACE: f64 = (1u64 << 12) as f64;

/// The most combinations of few values that are counted out, some seconds of work. With more, a transform is inverted.
pub(crate) const MAX_COMBINATIONS_COUNTED: f64 = (1u64 << 27) as f64;

/// The most points of a contour, which keeps their number an exact integer. A sum that needs more is refused.
pub(crate) const MAX_POINTS: f64 = 1e18;

/// The most steps of a search by Newton's method and bisection, which usually takes some five. Then the place that was
/// reached is used: a result from there is certain too, and perhaps wide.
pub(crate) const MAX_NEWTON_STEPS: u32 = 200;

/// The most answers of a count of groups whose likelihood ratio cannot be told from `e^ε`. More are refused.
pub(crate) const MAX_UNDECIDED: usize = 64;

/// The most probabilities of a count that are added up one by one. Of more, two tails are subtracted.
pub(crate) const MAX_GAP_SUMMED: i64 = 16;

/// The most other entries of "each in a range" for which the number of entries at either end is searched until the
/// enclosure is as narrow as one value. Beyond it the search stops at `MAX_EACH_WORK`, and the result is a bracket.
pub(crate) const MAX_EACH_CERTAIN: u64 = 10_000;

/// The same where a bracket of two per cent is enough: one that is as narrow as a value takes forty times as long for
/// thousands of entries and a range around one half, where all numbers are nearly as bad.
pub(crate) const MAX_EACH_ROUGHLY_CERTAIN: u64 = 500;

/// The most terms of the bounds of "each in a range" with more entries, a second or two, spent while its bracket is
/// wider than one per cent. What is left open then is bounded block by block.
pub(crate) const MAX_EACH_WORK: f64 = 2e8;

/// The same while its bracket is narrower, a tenth of a second.
pub(crate) const MAX_EACH_WORK_BEYOND: f64 = 1e7;

/// The most numbers of entries at either end whose values are computed to full accuracy, a fraction of a second. Next to a
/// tie of more, the result is an enclosure of their bounds.
pub(crate) const MAX_EACH_VALUES: usize = 24;

/// The longest side of a row of tilted probabilities, a few milliseconds. A longer one is not written out, and the sum is
/// inverted from its transform.
pub(crate) const MAX_TILTED_ROW: u64 = 40_000;

/// The most other entries of "each in a range" for exact values and digits, which go through the laws of every number
/// of entries at either end. More are refused.
pub(crate) const MAX_EACH_WRITTEN_OUT: u64 = 200;

/// The largest ε for which a tie of a threshold is decided in integers: beyond it `e^ε` has thousands of bits. Then
/// the ball of the threshold is used.
pub(crate) const MAX_EPSILON_OF_A_TIE: i64 = 2048;

/// The most entries of a count that is summed in double-doubles where 25 digits are wanted: less than a million terms.
/// With more, balls are computed.
pub(crate) const MAX_PRECISE_ENTRIES: u64 = 1 << 32;

// Adaptive compositions.

/// The most points at which an analyst chooses. A strategy with more is refused.
pub(crate) const MAX_CHOICES: usize = 1 << 16;

/// The most lines of a convex curve that are kept. More are replaced by one line that encloses
/// their maximum.
pub(crate) const MAX_LINES: usize = 256;

/// The most products of one pass over a grid, a few seconds of work. A finer grid is not tried, and the enclosure stays
/// as wide as the last one.
pub(crate) const MAX_PRODUCTS_OF_A_GRID: f64 = 2e9;

/// The most values of a grid in memory, a quarter of a GiB. A finer grid is not tried.
pub(crate) const MAX_VALUES_OF_A_GRID: f64 = 3e7;

/// The fewest nodes that are worth a thread of their own. With fewer, one thread does the work.
pub(crate) const MIN_NODES_OF_A_THREAD: usize = 1 << 12;

// Compositions on the parts of a partition.

/// The most patterns of properties that are all tried. With more, δ lies between the worst pattern found and a bound of
/// all patterns.
pub(crate) const MAX_PATTERNS: f64 = 1024.0;

/// The most patterns that are evaluated one by one. More are first bounded together.
pub(crate) const MAX_PATTERNS_ONE_BY_ONE: usize = 4;

/// The most times that all attributes are gone through in search of a worse pattern. Then the worst so far is used.
pub(crate) const MAX_ROUNDS: usize = 20;

/// The most kinds of attributes of a search by branches, which could decide only a small share of more. With more,
/// patterns are bounded by one law that dominates them.
pub(crate) const MAX_KINDS: usize = 64;

/// The most ways to give the attributes their values in such a search, all kinds together. With more, the same happens.
pub(crate) const MAX_WAYS: f64 = 4096.0;

/// The most transforms of such a search in memory, over all nodes. With more, the search is given up.
pub(crate) const MAX_TRANSFORMS: usize = 1 << 22;

/// The most products of transforms in one such search. With more, the search is given up.
pub(crate) const MAX_PRODUCTS_OF_BRANCHES: usize = 50_000_000;

/// The most patterns that such a search may leave above a threshold, as each of them is evaluated. With more, the search
/// is given up.
pub(crate) const MAX_PATTERNS_LEFT: usize = 8;

/// The most values of all laws for a bound by moduli, which keeps the powers of each value. With more, there is no such
/// bound.
pub(crate) const MAX_ATOMS: usize = 1 << 17;

/// The most nodes for a bound by moduli. With more, there is no such bound.
pub(crate) const MAX_NODES: f64 = (1u64 << 22) as f64;

/// The most terms of a bound by moduli that are not negligible. With more of them sums have few values, transforms
/// return to one, and the bound would be wide: there is none.
pub(crate) const MAX_NODES_THAT_MATTER: usize = 48;

/// The most entries in three cells whose joint counts are listed: some 65 000 pairs. Transforms are inverted sooner for more.
pub(crate) const MAX_ENTRIES_OF_THREE_CELLS: u64 = 360;

/// The most pairs of counts of a part that is bounded by itself. With more, each of its entries is.
pub(crate) const MAX_PAIRS_OF_COUNTS_ALONE: usize = 2048;

/// The most combinations of values of summands that are listed. With more, transforms are inverted.
pub(crate) const MAX_COMBINATIONS: usize = 1 << 19;

/// The most equal summands whose values are listed. With more, transforms are inverted.
pub(crate) const MAX_COPIES: u64 = 64;

/// The most values of alternative laws for the maximum of their transforms, which is then taken at every value. With
/// more, it is taken at points that lie dense near the mean.
pub(crate) const MAX_VALUES_OF_ALTERNATIVES: usize = 512;

/// The most laws for which the crossings of two transforms are searched. With more, the bound is taken without them.
pub(crate) const MAX_LAWS_CROSSED: usize = 8;

/// The most cells of the supremum over a range of probabilities. Then the bound that was reached is used.
pub(crate) const MAX_CELLS: usize = 96;

/// The most laws of gated parts that are remembered. They are some twenty kilobytes each. With more, the oldest is computed again.
pub(crate) const MAX_LAWS_OF_GATES: usize = 128;

/// The most terms, nodes times atoms, of an inversion that aims at the narrowest enclosure at once. With more, a wider
/// one is aimed at.
pub(crate) const MAX_TERMS_AT_ONCE: f64 = 2e7;

/// The most terms of an inversion for a narrower enclosure. With more, the enclosure stays as it is.
pub(crate) const MAX_TERMS_OF_A_REFINEMENT: f64 = 1e8;

/// The most terms of an inversion for any enclosure. More are refused.
pub(crate) const MAX_TERMS_OF_A_COMPOSITION: f64 = 2e10;

/// The most times that an inversion is repeated for a narrower enclosure. Then the last enclosure is used.
pub(crate) const MAX_REFINEMENTS: usize = 4;

/// The most periods of a contour that are tried. If none makes the aliases small, there is no inversion and a bound by
/// moments is used.
pub(crate) const MAX_PERIODS: u32 = 12;

// Searches for ε and for test errors.

/// The most secants in a search for ε. Bisection follows, which always ends.
pub(crate) const MAX_PROPOSALS: u32 = 60;

/// The most evaluations of δ until the enclosure of a supremum must be half as wide. Then it is returned as it is. The
/// way to a peak far out takes many evaluations.
pub(crate) const MAX_EVALUATIONS: usize = 64;

/// The same close to the peak, where the width of δ ends the progress.
pub(crate) const MAX_EVALUATIONS_WHEN_CLOSE: usize = 12;

// Attributes that are changed in turn.

/// The most attributes of an entry that are changed one after the other: each costs one evaluation of its curve. More
/// are refused.
pub(crate) const MAX_ATTRIBUTES_IN_TURN: u64 = 4096;

/// The most attributes whose split is improved by evaluating guides, 200 evaluations each. Of more the split is that of the
/// tables.
pub(crate) const MAX_ATTRIBUTES_REFINED: usize = 16;

/// The most kinds of attributes that are changed in every order, 24 orders of some milliseconds. Of more, two orders are
/// tried.
pub(crate) const MAX_KINDS_IN_ALL_ORDERS: usize = 4;
