"""Where *Parallel Composition for Statistical Privacy* cannot be taken as printed, and what holds instead."""

from fractions import Fraction
from math import comb, floor

import pytest

import statpriv as sp
from statpriv import reference
from statpriv.assurance import reproduction

HALF = Fraction(1, 2)


def of_count(size, ratio, p=HALF):
    """Δ̂ of a count of so many entries, the larger of both directions."""
    law = [comb(size - 1, k) * p**k * (1 - p) ** (size - 1 - k) for k in range(size)]
    pairs = list(zip([Fraction(0), *law], [*law, Fraction(0)], strict=True))
    return max(sum(max(x - ratio * y, 0) for x, y in pairs), sum(max(y - ratio * x, 0) for x, y in pairs))


def by_number_of_known(n, known, size, ratio):
    """The mean over the number of known ones among `size − 1` draws: from n − 1 others, and as printed from n."""
    found = []
    for entries in (n - 1, n):
        chances = [
            Fraction(comb(known, z) * comb(entries - known, size - 1 - z), comb(entries, size - 1))
            for z in range(min(known, size - 1) + 1)
        ]
        found.append(sum(chance * of_count(size - z, ratio) for z, chance in enumerate(chances)))
    return found


def test_misprint_example_1_counts_the_critical_entry_among_those_that_are_drawn_besides_it():
    few = reference.sampling_privacy_curve(
        reference.iid(reference.coin("1/2"), 5), sum, reference.without_replacement(5, 3, ordered=False), known=2
    )
    right, printed = by_number_of_known(5, 2, 3, Fraction(11, 10))
    assert few("11/10") == right > printed
    n, known, size, ratio = 8, 3, 4, Fraction(11, 10)
    right, printed = by_number_of_known(n, known, size, ratio)
    assert (f"{float(right):.6f}", f"{float(printed):.6f}") == ("0.485714", "0.470982")
    curve = sp.privacy_curve(
        sp.PropertyQuery("1/2"),
        sp.Population(n),
        adversary=sp.Adversary(known=known),
        sampling=sp.WithoutReplacement(size),
        bound="spc",
    )
    assert curve.exact_delta(exp_epsilon=ratio) == right


def test_misprint_example_1_its_threshold_stands_in_both_places():
    """`1 − H(φ) + H(φ) Δ̂_{s−φ}` bounds the curve for every φ, and not with a smaller number in Δ̂."""
    n, known, size, ratio = 12, 6, 6, Fraction(11, 10)
    right, _ = by_number_of_known(n, known, size, ratio)

    def at(threshold, inside):
        below = sum(comb(known, z) * comb(n - 1 - known, size - 1 - z) for z in range(threshold + 1))
        share = Fraction(below, comb(n - 1, size - 1))
        return 1 - share + share * of_count(size - inside, ratio)

    assert all(at(threshold, threshold) >= right for threshold in range(size))
    assert at(size - 1, 0) < right


def test_misprint_the_sampling_privacy_curve_is_given_that_the_entry_is_in_the_sample():
    """Definition 3.3 is the mean over all templates. So used, one row of three would leak 1/9 and not 1/3."""
    n, size, ratio = 3, 1, Fraction(1)
    coins, sample = reference.iid(reference.coin("1/2"), n), reference.without_replacement(n, size)
    leaked = reference.privacy_curve(coins, sum, sample, critical=0)(ratio)
    conditional = reference.sampling_privacy_curve(coins, sum, sample, critical=0)(ratio)
    weight = Fraction(size, n)
    assert leaked == weight * conditional == Fraction(1, 3)
    assert weight * (weight * conditional) == Fraction(1, 9) < leaked
    bound = sp.privacy_curve(
        sp.PropertyQuery("1/2"), sp.Population(n), sampling=sp.WithoutReplacement(size), bound="partition-sum"
    )
    assert bound.exact_delta(exp_epsilon=ratio) == Fraction(1, 3)


def test_misprint_values_of_known_entries_matter_where_the_sample_is_hidden():
    """Six rows, two of them known, two sampled: with one known one δ is larger than with none or two."""
    n, known, size, ratio = 6, 2, 2, Fraction(3, 2)

    def law(value, ones):
        """The count of a sample, from the law of the total."""
        others = n - 1 - known
        chances = [Fraction(0)] * (size + 1)
        for hits in range(others + 1):
            total = ones + value + hits
            for count in range(size + 1):
                drawn = Fraction(comb(total, count) * comb(n - total, size - count), comb(n, size))
                chances[count] += Fraction(comb(others, hits), 2**others) * drawn
        return chances

    def delta(ones):
        pairs = list(zip(law(1, ones), law(0, ones), strict=True))
        return max(sum(max(x - ratio * y, 0) for x, y in pairs), sum(max(y - ratio * x, 0) for x, y in pairs))

    assert [f"{float(delta(ones)):.4f}" for ones in range(3)] == ["0.0750", "0.0917", "0.0750"]
    curve = sp.privacy_curve(
        sp.PropertyQuery("1/2"),
        sp.Population(n),
        adversary=sp.Adversary(known=known),
        sampling=sp.WithoutReplacement(size),
    )
    assert curve.exact_delta(exp_epsilon=ratio) == delta(1)


@pytest.mark.parametrize("title", list(reproduction.TABLES))
def test_misprint_the_numbers_of_private_answers_are_rounded_in_two_ways(title):
    """All are rounded down but those at ε = 0.01 of Table 1, which are rounded to the nearest."""
    missed = {"down": set(), "nearest": set()}
    for cell in reproduction.cells(reproduction.TABLES[title]):
        value = Fraction(cell.dp_queries.value.lower)
        for way, rounded in (("down", floor(value)), ("nearest", floor(value + HALF))):
            if str(rounded) != cell.dp_queries.printed:
                missed[way].add(cell.epsilon)
    assert missed["down"] == ({"0.01"} if title == "table1" else set())
    assert "0.01" not in missed["nearest"] or title != "table1"
    assert missed["nearest"]


@pytest.mark.parametrize("threshold", range(6))
def test_a_threshold_of_the_readers_own_bounds_the_sampling_privacy_curve(threshold):
    """`1 − H(φ) + H(φ) Δ̂_{s−φ}`, up to the rounding of `1 − H(φ)` upwards, and so never below the curve."""
    n, known, size, ratio = 12, 6, 6, Fraction(1)
    right, _ = by_number_of_known(n, known, size, ratio)
    below = sum(comb(known, z) * comb(n - 1 - known, size - 1 - z) for z in range(threshold + 1))
    share = Fraction(below, comb(n - 1, size - 1))
    exact = 1 - share + share * of_count(size - threshold, ratio)
    bound = sp.threshold_bound(
        sp.PropertyQuery("1/2"), sp.Population(n), sp.WithoutReplacement(size), known=known, threshold=threshold
    )
    found = bound.delta(0)
    assert bound.kind == "bound"
    assert exact <= found.upper <= exact + Fraction(1, 10**12)
    assert right <= found.upper


def test_a_threshold_beyond_the_sample_is_refused():
    sample = sp.WithoutReplacement(6)
    with pytest.raises(sp.NotAvailableError, match="threshold = 6; at most 5, the others of the sample, is allowed"):
        sp.threshold_bound(sp.PropertyQuery("1/2"), sp.Population(12), sample, known=6, threshold=6)
    with pytest.raises(sp.NotAvailableError, match=r"sp\.threshold_bound takes one"):
        sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(12), sampling=sample, bound="given-threshold")
