"""A secret partition compared with Gaussian noise: all four numbers against formulas that share no code with them."""

from fractions import Fraction

import mpmath
import pytest

import statpriv as sp
from statpriv import differential


def count_delta(n: int, epsilon: str, p: str = "0.5") -> mpmath.mpf:
    """max over both directions of Σ_a (P_v(a) − e^ε P_w(a))_+ for the count of n entries."""
    prob, factor = mpmath.mpf(p), mpmath.exp(mpmath.mpf(epsilon))
    law = [mpmath.binomial(n - 1, a) * prob**a * (1 - prob) ** (n - 1 - a) for a in range(n)]
    one, zero = [0, *law], [*law, 0]
    return max(
        mpmath.fsum(max(0, a - factor * b) for a, b in zip(v, w, strict=True)) for v, w in ((one, zero), (zero, one))
    )


def gaussian(epsilon: str, mu: mpmath.mpf) -> mpmath.mpf:
    x = mpmath.mpf(epsilon)
    return mpmath.ncdf(mu / 2 - x / mu) - mpmath.exp(x) * mpmath.ncdf(-mu / 2 - x / mu)


@pytest.mark.parametrize(("n", "parts", "epsilon", "p"), [(1024, 32, "0.05", "0.5"), (600, 20, "0.2", "0.3")])
def test_every_column_by_its_definition(n, parts, epsilon, p):
    (row,) = differential.compare(n, parts=parts, epsilon=epsilon, p=p)
    with mpmath.workdps(40):
        variance = mpmath.mpf(p) * (1 - mpmath.mpf(p)) * (mpmath.mpf(parts) / n - mpmath.mpf(1) / n)
        by_theorem, exact = count_delta(n // parts, epsilon, p), count_delta(n, epsilon, p)
        assert mpmath.sqrt(variance) in row.sigma
        assert by_theorem in row.delta_by_theorem
        assert exact in row.delta
        x = mpmath.mpf(epsilon)
        assert variance * x**2 * n**2 / (8 * mpmath.log(mpmath.e + x / by_theorem)) in row.kairouz_queries
        for queries, delta in ((row.gaussian_queries, by_theorem), (row.gaussian_queries_at_exact_delta, exact)):
            at, past = (gaussian(epsilon, mpmath.sqrt(k / variance) / n) for k in (queries, queries + 1))
            assert at <= delta < past
    for enclosed in (row.sigma, row.delta_by_theorem, row.delta, row.kairouz_queries):
        assert enclosed.width <= 1e-13 * enclosed.upper


def test_the_numbers_of_table_1():
    table = differential.compare(32768, parts=[32, 64, 128, 256, 512], epsilon=["0.005", "0.01", "0.02"])
    assert [(row.epsilon, row.parts) for row in table][:6] == [
        *(("0.005", m) for m in (32, 64, 128, 256, 512)),
        ("0.01", 32),
    ]
    assert table[0].gaussian_queries == 992
    assert all(row.gaussian_queries_at_exact_delta == row.parts - 1 for row in table)
    assert {row.delta for row in table if row.epsilon == "0.02"} == {table[-1].delta}, "whatever the number of parts"
    assert all(row.kairouz_queries.upper < row.gaussian_queries for row in table)
    assert all(row.delta.upper < row.delta_by_theorem.lower for row in table)


def test_the_distances_agree_at_one_half():
    """μ² = (m−1)/(n² σ²) = 1/(n p q) for every m: the normal law that a count of n entries is close to."""
    for n, m in ((1024, 2), (1024, 512), (99, 33)):
        variance = Fraction(1, 4) * (Fraction(m, n) - Fraction(1, n))
        assert (m - 1) / (n**2 * variance) == Fraction(4, n)


def test_one_number_and_several():
    one = differential.compare(64, parts=4, epsilon=0.1)
    assert len(one) == 1
    assert list(differential.compare(64, parts=iter([4]), epsilon=(0.1,))) == list(one)
    assert repr(one) == "<PartitionComparison of 1 rows: n = 64, p = 0.5>"


def test_it_prints_and_is_a_table_in_a_notebook():
    table = differential.compare(64, parts=[4, 8], epsilon="0.1", p="1/3")
    first, *lines = str(table).splitlines()
    assert first.split()[:3] == ["ε", "parts", "σ"]
    assert len(lines) == 2
    assert f"{table[1].delta.upper:.4e}" in lines[1]
    assert table._repr_html_().count("<tr>") == 3


def test_it_is_a_data_frame():
    pytest.importorskip("pandas")
    table = differential.compare(64, parts=[4, 8], epsilon="0.1")
    frame = table.to_pandas()
    assert list(frame["parts"]) == [4, 8]
    assert list(frame["delta_upper"]) == [row.delta.upper for row in table]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"parts": 3}, "parts = 3; a divisor of n = 64 is required that leaves parts of two or more entries"),
        ({"parts": 64}, "parts = 64; a divisor of n = 64 is required that leaves parts of two or more entries"),
        ({"parts": 1}, r"parts = 1; an integer from 2 to 2\^53 is required"),
        ({"n": 3}, r"n = 3; an integer from 4 to 2\^53 is required"),
        ({"p": 1}, "p = 1; a probability above 0 and below 1 is required"),
        ({"p": 2}, "p = 2; a probability from 0 to 1 is required"),
        ({"epsilon": -1}, "epsilon = -1; a number of at least 0 is required"),
        ({"epsilon": 0}, "epsilon = 0; a number above 0 is required"),
    ],
)
def test_a_bad_argument_is_refused_by_name(arguments, message):
    good = {"n": 64, "parts": 4, "epsilon": "0.1"} | arguments
    with pytest.raises(sp.ArgumentError, match=f"^{message}"):
        differential.compare(good.pop("n"), **good)
