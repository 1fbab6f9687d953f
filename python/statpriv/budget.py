"""Every limit of the package: its value, what it limits, what happens beyond it, and why it is where it is.

Code reads a limit at run time as an attribute of this module, `budget.MAX_…`, so that a test replaces it in one place.
The module imports what a limit is, and nothing else of the package. `python -m statpriv.budget` prints the table of
docs/LIMITATIONS.md, and `python -m statpriv.budget docs/LIMITATIONS.md` writes it into the page. Lengths of lists on
pages, plots and in messages are layout and are kept where they are used. The kernel's limits lie in the kernel; those
of `reference` and of the checker lie there, because neither imports the package.
"""

from __future__ import annotations

import sys
from pathlib import Path

from statpriv.limit import MARKERS, Limit, replaced, rows

__all__ = ["MARKERS", "Limit", "limits", "table"]

_BOUND = 'A certified bound, where one applies. `bound="exact"` raises `NotAvailableError`, which names this limit.'
_REFUSED = "`NotAvailableError`, or another bound."

# Numbers.

MAX_INTEGER = Limit(
    2**53,
    "Size of an integer: rows, sizes of groups, counts",
    refusal="`ArgumentError`. Designs report that no population of up to 2^53 entries reaches the target.",
    reason="Every integer up to here is a double.",
)
MAX_FRACTION_BITS = Limit(
    2**13,
    "Bits of a numerator or denominator in a claim or certificate",
    refusal="`ArgumentError` or `NotAvailableError`. Round the number to a decimal.",
    reason="Python prints an integer of this length, and the checker reads it.",
)
MAX_DOUBLE_BITS = Limit(
    1000,
    "Bits of an integer that is kept as a scaled double",
    refusal="Not refused. Integer arithmetic is used, which is slower.",
    reason="The exponent of a double reaches 1023.",
)
MAX_DIGITS = Limit(
    10_000, "Digits of `--digits`", refusal="`ArgumentError`.", reason="The kernel computes this many digits."
)
MAX_ROW = Limit(
    2**26, "Probabilities in a row of a law", refusal="`ArgumentError`. Ask for single values.", reason="One gigabyte."
)
MAX_BITS_OF_EXACT_TAILS = Limit(
    2**32,
    "Terms of P[X ≤ k], times the bits of one, that are summed exactly for a quantile whose level it attains",
    refusal="`UndecidedError`. Ask for a level slightly above or below.",
    reason="Some seconds of work. Binomial laws of 20,000 trials, with p of eight bits, have as many.",
)
MAX_CERTIFIED_EPSILON = Limit(
    1000,
    "ε of a certificate",
    refusal="`ArgumentError`.",
    reason="The checker exponentiates ε, and a larger one promises nothing.",
)
MAX_SOUGHT_EPSILON = Limit(
    1024, "ε that `get_epsilon` looks at", refusal="ε is enclosed in [lower, ∞].", reason="e^ε is no double beyond 709."
)

# Curves.

MAX_CURVE_POINTS = Limit(
    2**20,
    "Points of the integral of a Rényi divergence, of zCDP or of mutual information",
    refusal="`ArgumentError`. Ask for fewer `points`.",
    reason="Seconds of work.",
)
MAX_RENYI_ORDERS = Limit(
    100,
    "Rényi orders that `zcdp()` looks at",
    refusal="Not refused. The enclosure of ρ is wider than `tolerance`.",
    reason="Seconds of work.",
)
MAX_PLOTTED_POINTS = Limit(
    10_000, "Points of a plot by `statpriv plot`", refusal="`ArgumentError`.", reason="More than a screen shows."
)
MAX_LOSSES = Limit(
    2**20,
    "Intervals of the grid of an exported privacy loss distribution, on either side of zero",
    refusal="`ArgumentError`. Take a longer `interval` or a larger `truncation`.",
    reason="Seconds of work.",
)

# Known entries.

MAX_VERTICES = Limit(
    400,
    "Numbers of rows at either end of an `EachBetween` that are tried one by one",
    refusal=_REFUSED,
    reason="About a second of work.",
)
MAX_PRODUCT_ANSWERS = Limit(2**18, "Answers of independent attributes", refusal=_BOUND, reason="A second of work.")
MAX_PRODUCT_FACTORS = Limit(64, "Independent attributes", refusal="Another bound.", reason="Seconds of work.")
MAX_KNOWN_ENTRY_WORLDS = Limit(
    2000,
    "Choices of a critical class and of known entries",
    refusal=f"{_REFUSED} `known={{group: number}}` leaves fewer choices.",
    reason="About one second of work.",
)
MAX_KNOWN_ENTRY_VALUES = Limit(
    1000, "Total support over all known-entry values", refusal=_BOUND, reason="About one second of work."
)
MAX_KNOWN_ENTRY_COMPOSITIONS = Limit(
    100,
    "Compositions of known entries in a sampled sum",
    refusal=_BOUND,
    reason="The law of each is a mixture over all samples.",
)
MAX_KNOWN_IN_SAMPLE_STEPS = Limit(
    1_000_000,
    "Thresholds times standard deviations, in the search for the worst known entries of a hidden sample",
    refusal=_BOUND,
    reason="Some seconds of work.",
)
MAX_KNOWN_PART_ENTRIES = Limit(
    4096,
    "Entries of the parts, over all ways in which known entries fall into them",
    refusal="Not refused. Bounds with a small failure probability replace the mean over the ways.",
    reason="Some seconds of work.",
)

# Sums, samples and histograms.

MAX_LABELS = Limit(
    2**24,
    "Integers that label the joint answers of several counts, or lie between the values of an entry",
    refusal=f"{_BOUND} Round the values, to whole units for example.",
    reason="The probabilities are written out: some hundred megabytes.",
)
MAX_LABELLED_VALUES = Limit(
    32,
    "Values of an entry that are given closer labels",
    refusal="Not refused. The values keep their distances.",
    reason="Sums of more values leave few gaps.",
)
MAX_JOINT_ANSWERS = Limit(
    2**22,
    "Joint answers of all laws of a mixture, over all known-entry values",
    refusal=_BOUND,
    reason="Some seconds of work.",
)
MAX_SUMMED_ANSWERS = Limit(
    2**16,
    "Joint answers of a law that adds up several kinds of entries",
    refusal=_BOUND,
    reason="A sum of kinds costs some sixteen times as much as one kind.",
)
MAX_DRAWS = Limit(
    1000, "Ways to draw a sample from the kinds of entries", refusal=_BOUND, reason="About one second of work."
)
MAX_TEMPLATES = Limit(2000, "Templates of a `TemplateLaw`", refusal=_BOUND, reason="Templates are tried one by one.")
MAX_TEMPLATE_ENTRIES = Limit(
    200, "Entries of a population that a `TemplateLaw` samples", refusal=_BOUND, reason="Each may be the critical one."
)
MAX_SAMPLE_SIZES = Limit(
    200,
    "Sizes of a sample at a rate, of a histogram or of laws of one's own",
    refusal=_BOUND,
    reason="The curve is a mean over the sizes: seconds of work.",
)
MAX_ORDER_STATISTIC_SAMPLE_SIZES = Limit(
    100,
    "Sizes of a sample at a rate, of an order statistic",
    refusal=_BOUND,
    reason="The law is a mean over the sizes: seconds of work.",
)
MAX_TEMPLATE_KINDS = Limit(
    3000,
    "Kinds of templates in a sampling privacy curve",
    refusal=_REFUSED,
    reason="The curve is a mean over the kinds: seconds of work.",
)
MAX_JOINT_ANSWERS_OF_GROUPS = Limit(
    2**22,
    "Joint answers of the parts of a plain partition with groups, times the laws of them that are compared",
    refusal=_BOUND,
    reason="Some seconds of work.",
)
MAX_TEMPLATE_ANSWERS = Limit(
    2**16,
    "Joint answers of all kinds of templates in a sampling privacy curve",
    refusal=_REFUSED,
    reason="Some seconds of work.",
)

# Steps and noise.

MAX_PROCESSED_ANSWERS = Limit(
    200_000,
    "Answers that a step maps one by one",
    refusal="The bound of the data without the step.",
    reason="About one second of work.",
)
MAX_PERTURBED_COUNTS = Limit(
    5_000_000,
    "Pairs of a count and a key that differs, of a perturbation table whose last rows repeat",
    refusal="The count without a table that repeats, `repeat=1`.",
    reason="About a second of work, and half a gigabyte.",
)
MAX_COUNTS_OF_A_PERTURBATION = Limit(
    2_000,
    "Counts told apart in the bound by a perturbation alone: of its table, or of all entries if steps follow",
    refusal="The curve of the perturbation without later steps, which is not smaller, or of a shorter table.",
    reason="Some seconds of work.",
)
MAX_COUNTS_OF_AN_ENTRY = Limit(
    64,
    "Perturbed counts that one entry changes",
    refusal="An error; compose curves of fewer.",
    reason="Some seconds of work.",
)
MAX_NOISE_PRODUCTS = Limit(
    2**29,
    "Products in a sum with noise other than discrete Laplace or binomial",
    refusal="The bound by the data or the noise alone.",
    reason="Some twenty seconds of work.",
)

# Tables.

MAX_TABLE_CELLS = Limit(
    2**20,
    "Cells of an exact table whose dimensions are stated",
    refusal="The number of possible cells instead of the dimensions.",
    reason="Cells are listed: some hundred megabytes.",
)
MAX_SUPREMUM_MINIMUM = Limit(
    1000,
    "Minimum counts of which the supremum over all tables is sought",
    refusal='The bound by four heights, `"minimum-count"`.',
    reason="Two seconds of work for one ε; the kernel has the same limit.",
)

# Composition.

MAX_VALUE_PATTERNS = Limit(
    1024,
    "Combinations of values of unrelated attributes, in a multinomial partition",
    refusal="A bound, or `NotAvailableError`.",
    reason="Each is one composition.",
)
MAX_ADAPTIVE_PATTERNS = Limit(
    16,
    "Pairs of values of the critical entry that an adaptive composition follows",
    refusal="A bound over all pairs.",
    reason="Each is one adaptive composition: seconds of work.",
)
MAX_ADAPTIVE_COMPOSITIONS = Limit(
    500,
    "Ways in which groups fall into the parts of an adaptive composition",
    refusal="A bound.",
    reason="Each is one adaptive composition.",
)
MAX_STRATEGY_STEPS = Limit(
    200,
    "Questions on a path of a strategy",
    refusal="`ArgumentError`. Write a tree of `sp.Ask` with ranges of answers, or allow any strategy.",
    reason="Python nests no deeper trees.",
)
MAX_HISTORIES = Limit(
    100_000,
    "Sequences of answers for which a function is asked for its next query",
    refusal="`ArgumentError`. Write a tree of `sp.Ask` with ranges of answers, or allow any strategy.",
    reason="About one second of work.",
)
MAX_COMPOSED_PARTS = Limit(
    10_000_000,
    "Parts that an accountant composes into a curve",
    refusal="`ArgumentError`. `get_delta()` has no limit.",
    reason="The parts are written out: some hundred megabytes.",
)

# Noiseless privacy.

MAX_TRUTH_TABLE_ENTRIES = Limit(
    24,
    "Entries of a truth table",
    refusal="`ArgumentError`.",
    reason="A table of 2²⁴ answers; each further entry doubles the time, to minutes.",
)
MAX_LISTED_DATABASES = Limit(
    2**20,
    "Databases of a finite model of noiseless privacy",
    refusal="`ArgumentError`. Statistical privacy has closed forms: `privacy_curve`.",
    reason="Databases are tried one by one, in exact arithmetic.",
)
MAX_EXCEPTED_VALUES = Limit(
    12,
    "Values of the entries of a finite model, for (ε, δ)",
    refusal="`ArgumentError`. Ask `curve(entry)` for statistical privacy instead.",
    reason="Every subset of the values is tried as the excepted set.",
)
MAX_JUNTAS = Limit(
    200_000,
    "Sets of entries times their values, for a distance to juntas",
    refusal="`ArgumentError`. Ask for smaller sets.",
    reason="Some seconds of work.",
)
MAX_RANDOM_FUNCTION_ENTRIES = Limit(
    10_000,
    "Entries of a random function",
    refusal="`ArgumentError`.",
    reason="The failure probability has an exponent of this many bits.",
)
MAX_DENSITY_CELLS = Limit(
    1024, "Cells of a density", refusal="`ArgumentError`. Take wider cells.", reason="Some seconds of work."
)
MAX_COUNT_OUTCOMES = Limit(
    200_000,
    "Values of block counts whose exact law is written out",
    refusal="Not refused. The curve is enclosed between that of an attained count and that of the smallest block.",
    reason="Some seconds of work.",
)
MAX_REFINED_ENTRIES = Limit(
    8,
    "Entries whose distance is refined, in the search for the worst entry of linear queries",
    refusal="Not refused. The enclosure covers the other entries, and is wider.",
    reason="Each takes a factorisation.",
)

# Partial knowledge.

MAX_MODEL_DATABASES = Limit(
    2**22,
    "Databases of independent records in a `partial_knowledge.Model`",
    refusal="`ArgumentError`. Theorems with closed forms take any number of records.",
    reason="Databases are enumerated: seconds of work.",
)
MAX_DIFFERENCED_RECORDS = Limit(
    2000,
    "Records of the differencing attack",
    refusal="`ArgumentError`.",
    reason="The joint law is written out exactly.",
)
MAX_DAYS = Limit(8, "Days of Example 9", refusal="`ArgumentError`.", reason="4^days sets of ends are enumerated.")
MAX_DAILY_STATES = Limit(
    101**2,
    "Joint values of all daily counts",
    refusal="`ArgumentError`. `certified()` takes any number of users.",
    reason="Some seconds of work.",
)
MAX_NESTED_EPSILON = Limit(
    10_000, "Least ε of nested guarantees", refusal="`ArgumentError`.", reason="The result needs this many bits."
)

# Granularity.

MAX_COVER_STEPS = Limit(
    2_000_000,
    "Ends of edges that the search for a least vertex cover looks at",
    refusal="`NotAvailableError`, with bounds of the node distance.",
    reason="Some seconds of work.",
)
MAX_COVER_DEPTH = Limit(
    400,
    "Nested branches of the search for a least vertex cover",
    refusal="`NotAvailableError`, with bounds of the node distance.",
    reason="Python allows about a thousand nested calls.",
)
MAX_RHO_INTERVALS = Limit(
    20_000,
    "Intervals of the order in the search for ρ of two finite laws",
    refusal="Not refused. The enclosure of ρ is wider.",
    reason="Some seconds of work. Losses above 10⁻³ need a few hundred.",
)
MAX_GROUP_EXPONENT = Limit(
    10**9,
    "ε times the distance of two databases",
    refusal="`ArgumentError`.",
    reason="Precision grows with the exponent.",
)
MAX_COMPARED_BITS = Limit(
    1 << 20,
    "Bits in which e^ε and a ratio of probabilities are compared",
    refusal="`ArgumentError`: both agree in all these bits.",
    reason="Some seconds of work.",
)

# Differential privacy.

MAX_LAPLACE_ANSWERS = Limit(
    500,
    "Answers with Laplace noise that are composed exactly",
    refusal="`ArgumentError`. `delta_from_renyi(epsilon, mechanism.renyi)` bounds more.",
    reason="There are k² coefficients: about one second of work.",
)
MAX_RANDOMIZED_RESPONSES = Limit(
    10**9,
    "Mechanisms that `RandomizedResponse` composes",
    refusal="`ArgumentError`. `advanced_composition` takes more.",
    reason="A sum has about 20 √k terms: some twenty seconds of work.",
)
MAX_POWER_BITS = Limit(
    10**6,
    "Bits of (1−δ)^k that are compared exactly",
    refusal="Not refused. ε at exactly this δ may be open above.",
    reason="About one second of work.",
)
MAX_ALLOCATED_ANSWERS = Limit(
    2**14, "Answers of `random_allocation_delta`", refusal="`ArgumentError`.", reason="Some ten seconds of work."
)
MAX_ALLOCATION_TERMS = Limit(
    5_000,
    "Ways to have each likelihood ratio in so many of the answers of `random_allocation_delta`",
    refusal="The enclosure on a grid, which is wider for answers with few values.",
    reason="Some seconds of work.",
)
MAX_ALLOCATION_GRID = Limit(
    2**16,
    "Points of the grid of `random_allocation_delta`",
    refusal="`ArgumentError`. Use more noise; `gaussian_delta` bounds δ without the secret.",
    reason="Some seconds of work.",
)
MAX_GAUSSIAN_DISTANCE = Limit(
    1024,
    "μ that the calibration of Gaussian noise looks at",
    refusal="μ is open above.",
    reason="δ is next to 1: no double lies between.",
)

# Plans, tables and files.

MAX_FILE_TABLES = Limit(
    10_000,
    "Tables of one kind in a plan, a file of claims or a file of counts",
    refusal="The file is refused, with the key at fault.",
    reason="The work on a file stays within minutes.",
)
MAX_PUBLISHED_BYTES = Limit(
    2**24, "Bytes of the file of a published table", refusal="`ArgumentError`.", reason="It is read whole."
)
MAX_PUBLISHED_ENTRIES = Limit(
    1_000_000, "Cells of such a file", refusal="`ArgumentError`.", reason="About two seconds of reading."
)
MAX_PUBLISHED_CELLS = Limit(
    50_000, "Combinations in a published table", refusal="`ArgumentError`.", reason="Totals are added: seconds."
)
MAX_SUPPRESSED_CELLS = Limit(
    1000, "Suppressed cells with bounds", refusal="`ArgumentError`.", reason="Linear programs: a minute of work."
)
MAX_JOINT_CELLS = Limit(
    500, "Combinations of several tables", refusal="Two by two only.", reason="Linear programs: ten seconds."
)
MAX_COMPARED_TABLES = Limit(
    20, "Published tables that are compared", refusal="`ArgumentError`.", reason="Every pair is compared."
)
MAX_RECODINGS = Limit(
    20, "Recodings of a planned table", refusal="`ArgumentError`.", reason="Each has a dozen minimum counts."
)
MAX_PLANNED_CELLS = Limit(
    10_000, "Cells of a planned table", refusal="`ArgumentError`.", reason="Some seconds of work."
)
MAX_GATE_PRODUCTS = Limit(
    10**9, "Products for its probability", refusal="A wider enclosure.", reason="About one second of work."
)
MAX_KEY_BYTES = Limit(
    2**16,
    "Bytes of the file of a key that signs reports, or checks their signatures",
    refusal="`PublicationError`.",
    reason="A key has some hundred bytes; a device or a table that is named by mistake is not read whole.",
)
MAX_FILE_PARTS = Limit(
    100_000,
    "Parts in a composition file, with their counts",
    refusal="The file is refused, with the key at fault.",
    reason="The work on a file stays within minutes.",
)
MAX_CELLS = Limit(
    100,
    "Cells of a histogram in a plan, or of a table with declared probabilities",
    refusal="`PlanError`.",
    reason="Each cell has its own law and its own row of the report.",
)
MAX_GROUPS = Limit(
    100,
    "Groups in a plan, or values of its group column",
    refusal="`PlanError`.",
    reason="The composition multiplies with the groups.",
)
MAX_PLAN_TABLES = Limit(
    100, "Exact tables in a plan", refusal="`PlanError`. Use several releases.", reason="Each is a pass over all rows."
)
MAX_PLAN_TABLE_CELLS = Limit(
    2**15, "Cells of an exact table in a plan", refusal="`PlanError`.", reason="The cell of a row is a 16-bit number."
)
MAX_PLAN_EXPONENT = Limit(
    300, "Decimal exponent of a number in a plan", refusal="`PlanError`.", reason="10⁻³⁰⁰ to 10³⁰⁰ are doubles."
)
MAX_PREDICATE_CHARACTERS = Limit(
    4096,
    "Characters of a predicate",
    refusal="`PlanError`. Prepare a column in the data.",
    reason="The grammar reads any predicate of this length at once.",
)
MAX_PREDICATE_NODES = Limit(
    500,
    "Columns, constants and operators of a predicate",
    refusal="`PlanError`. Prepare a column in the data.",
    reason="A reader can still check it.",
)
MAX_PREDICATE_DEPTH = Limit(
    20,
    "Nested parentheses and NOTs of a predicate",
    refusal="`PlanError`. Prepare a column in the data.",
    reason="SQLGlot descends recursively and must never run out of stack.",
)
MAX_PERCENT_SIGNS = Limit(
    3,
    "Percent signs in a pattern of LIKE",
    refusal="`PlanError`.",
    reason="The time to match a pattern grows with each of them.",
)
MAX_CODES = Limit(
    10_000,
    "Codes of a column in a plan",
    refusal="`PlanError`.",
    reason="A codebook of occupations has some thousands.",
)
MAX_PREDICATE_DIGITS = Limit(
    18,
    "Digits of a number in a predicate, before or after the point",
    refusal="`PlanError`.",
    reason="18 + 18 digits fit into the decimals of every engine.",
)
MAX_COPIED_CELLS = Limit(
    3 * 10**7, "Cells of a table that is copied", refusal="Not refused: it is read again.", reason="Half a gigabyte."
)
MAX_TABLE_ROWS = Limit(
    2**32 - 1,
    "Rows of a table that is partitioned",
    refusal="`ArgumentError`.",
    reason="Rows are numbered with 32 bits.",
)
MAX_PLAN_BYTES = Limit(
    2**21, "Bytes of a plan file", refusal="`PlanError`.", reason="Thousands of queries fit, and are read in seconds."
)
MAX_KEY_PARTS = Limit(
    32,
    "Parts of a dotted key in a plan file",
    refusal="`PlanError`.",
    reason="No key of a plan has more than three, and the time to read one grows with the square.",
)
MAX_TABLE_COLUMNS = Limit(
    10_000,
    "Columns of a table",
    refusal="`TableError`. Release from a copy of the columns that count.",
    reason="Every column is read and fingerprinted; so many take seconds.",
)
MAX_HEADER_CHARACTERS = Limit(
    2**20,
    "Characters of the first line of a CSV file",
    refusal="`TableError`.",
    reason="A longer line holds no names of columns.",
)
MAX_GROUP_NAME = Limit(
    200,
    "Characters of a value of the group column",
    refusal="`TableError`.",
    reason="Names are shown in reports and messages.",
)
MAX_ROWS_OF_TIGHT_PICTURES = Limit(
    20_000,
    "Rows up to which the pictures of a report use the tightest bounds for known rows",
    refusal="Not refused. Pictures use cheaper bounds; the target does not.",
    reason="A curve takes half a second at this size.",
)
MAX_ROWS_OF_TIGHT_COMPOSED_PICTURES = Limit(
    500,
    "The same for a plan with several properties",
    refusal="Not refused. Pictures use the worst entry's bound, a few per cent above; the target does not.",
    reason="A composition takes a fifth of a second at this size, and that bound a tenth of it.",
)
MAX_ROWS_OF_TIGHT_GROUPED_PICTURES = Limit(
    1000,
    "The same for a plan with groups",
    refusal="Not refused. Pictures use the sum over the parts; the target does not.",
    reason="A stratified composition takes half a second at this size.",
)


def limits() -> dict[str, Limit]:
    """All limits by name, in the order of this file."""
    return {name: value for name, value in globals().items() if isinstance(value, Limit)}


def table() -> str:
    """The limits as rows of a Markdown table."""
    return rows(limits().values())


if __name__ == "__main__":
    if pages := sys.argv[1:]:
        for path in map(Path, pages):
            path.write_text(replaced(path.read_text(encoding="utf-8"), table()), encoding="utf-8")
    else:
        sys.stdout.write(f"{table()}\n")
