"""Is the partition uniform and of exact sizes, is its key forgotten, and would the checks notice if it were not so?

``rust/release`` enumerates all orders of a few rows through the code that cuts the parts.
"""

from __future__ import annotations

import ctypes
import secrets
import sys
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statpriv._native import Partition, RowTokens
from statpriv.errors import ArgumentError, LedgerError
from statpriv.releasing.ledger import Rows
from statpriv.releasing.partition import KEY, Strata, cut, secret_partition

from ..cases import cases
from .mutants import as_they_lie, exchanged_with_any, never_in_place

ROW_KEY = b"r" * 32


def drawn(n, sizes, words=secrets.token_bytes):
    """The parts of rows without ids, of one stratum."""
    return cut(Rows.of(n, None), ROW_KEY, Strata([tuple(sizes)]), words(KEY)).labels()


def rows_with(ids):
    return Rows.of(len(ids), RowTokens.of(ROW_KEY, ids, with_rows=True))


# --- sizes


@settings(deadline=None, max_examples=cases(30, campaign=1000))
@given(st.data())
def test_every_part_has_exactly_its_rows_in_every_stratum(data):
    strata = np.array(data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=60)), dtype=np.uint16)
    left = [int(np.count_nonzero(strata == number)) for number in (1, 2, 3)]
    sizes = [[], [], []]
    for _ in range(data.draw(st.integers(1, 5))):
        taken = [data.draw(st.integers(0, rest)) for rest in left]
        if sum(taken):
            left = [rest - size for rest, size in zip(left, taken, strict=True)]
            for listed, size in zip(sizes, taken, strict=True):
                listed.append(size)
    if not sizes[0]:
        return
    ids = [f"p{i}" for i in range(len(strata))]
    rows = rows_with(ids) if data.draw(st.booleans()) else Rows.of(len(ids), None)
    partition = cut(
        rows, ROW_KEY, Strata([tuple(each) for each in sizes], rows.by_token(strata)), secrets.token_bytes(32)
    )
    labels = partition.labels(ids)
    for number, own in enumerate(sizes, start=1):
        found = np.bincount(labels[strata == number], minlength=len(own) + 1)
        assert found[1:].tolist() == own
    assert not labels[strata == 0].any()
    assert rows.by_row(partition.drawn()).tolist() == (labels > 0).tolist()
    assert partition.sizes == [sum(size) for size in zip(*sizes, strict=True)]
    assert len(partition) == len(ids)
    assert partition.by_id is (rows.tokens is not None)


def test_a_million_rows():
    assert np.bincount(drawn(10**6, [400_000, 1, 599_000])).tolist() == [999, 400_000, 1, 599_000]


def test_the_part_of_a_row_depends_on_its_id_and_not_on_its_place():
    ids = [f"p{i}" for i in range(500)]
    key = secrets.token_bytes(32)
    labels = cut(rows_with(ids), ROW_KEY, Strata([(100, 200)]), key).labels(ids)
    backwards = cut(rows_with(ids[::-1]), ROW_KEY, Strata([(100, 200)]), key).labels(ids[::-1])
    assert labels.tolist() == backwards[::-1].tolist()
    spaced = cut(rows_with(ids), ROW_KEY, Strata([(100, 200)]), key).labels([f" {id_} " for id_ in ids])
    assert labels.tolist() == spaced.tolist()


def test_the_partition_is_a_function_of_n_sizes_and_key():
    key = secrets.token_bytes(32)
    assert drawn(2000, [300, 400], lambda _: key).tolist() == drawn(2000, [300, 400], lambda _: key).tolist()
    assert drawn(2000, [300, 400]).tolist() != drawn(2000, [300, 400]).tolist()


def test_one_key_is_drawn_for_a_partition():
    asked = []
    drawn(1000, [3, 4], lambda count: asked.append(count) or secrets.token_bytes(count))
    assert asked == [32]


# --- uniformity: the matrix of positions


def position_chi_square(draw, draws=8000, n=8, sizes=(3, 1, 2)):
    """Chi-square statistic of (position, part) against its expectation."""
    counts = np.zeros((n, len(sizes) + 1))
    for _ in range(draws):
        counts[np.arange(n), draw(n, sizes, secrets.token_bytes)] += 1
    share = np.array([n - sum(sizes), *sizes]) / n
    expected = draws * share
    return float((((counts - expected) ** 2) / expected).sum())


LIMIT = 100.0  # 21 degrees of freedom (variance reduced by sampling without replacement): P < 1e-11


def of_ids(n, sizes, words):
    ids = [f"p{i}" for i in range(n)]
    return cut(rows_with(ids), ROW_KEY, Strata([tuple(sizes)]), words(KEY)).labels(ids)


@pytest.mark.parametrize("draw", [drawn, of_ids], ids=["positions", "ids"])
def test_positions_and_parts_are_independent(draw):
    assert position_chi_square(draw) < LIMIT


@pytest.mark.parametrize("broken", [as_they_lie, exchanged_with_any, never_in_place])
def test_chi_square_catches_broken_partitions(broken):
    assert position_chi_square(broken) > LIMIT


@pytest.mark.parametrize("draw", [drawn, of_ids], ids=["positions", "ids"])
def test_every_partition_of_four_rows_comes_equally_often(draw):
    """All 12 partitions into two rows, one row and a rest: with 11 degrees of freedom, P < 1e-9 above 70."""
    draws = 6000
    counts = {}
    for _ in range(draws):
        found = tuple(draw(4, (2, 1), secrets.token_bytes).tolist())
        counts[found] = counts.get(found, 0) + 1
    assert len(counts) == 12
    assert sum((count - draws / 12) ** 2 / (draws / 12) for count in counts.values()) < 70


# --- secrecy


def interrupted_partition(seen):
    with secret_partition(Rows.of(10, None), ROW_KEY, Strata([(10,)])) as partition:
        seen.append(partition)
        assert set(partition.labels().tolist()) == {1}
        raise KeyboardInterrupt


def test_the_partition_is_forgotten_even_after_an_interrupt():
    seen: list[Partition] = []
    with pytest.raises(KeyboardInterrupt):
        interrupted_partition(seen)
    for ask in (seen[0].labels, seen[0].drawn):
        with pytest.raises(ArgumentError, match=r"^the partition is forgotten$"):
            ask()


def test_nothing_that_is_printed_shows_a_part():
    assert repr(cut(Rows.of(10, None), ROW_KEY, Strata([(3, 4)]), b"k" * 32)) == "<Partition of 10 rows into 2 parts>"


def test_no_core_file_is_written_while_a_partition_exists():
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_CORE)
    with secret_partition(Rows.of(10, None), ROW_KEY, Strata([(10,)])):
        assert resource.getrlimit(resource.RLIMIT_CORE)[0] == 0
    assert resource.getrlimit(resource.RLIMIT_CORE) == before


@pytest.mark.skipif(sys.platform != "linux", reason="prctl(2) is of Linux")
def test_no_core_is_given_to_a_program_while_a_partition_exists():
    """A limit does not concern cores that are piped to a program, as most distributions have it."""
    is_dumpable = partial(ctypes.CDLL(None).prctl, 3)
    assert is_dumpable() == 1
    with secret_partition(Rows.of(10, None), ROW_KEY, Strata([(10,)])):
        assert is_dumpable() == 0
    assert is_dumpable() == 1


# --- what is refused


@pytest.mark.parametrize(
    ("n", "sizes", "message"),
    [
        (0, [], "n = 0: a partition needs between 1 and 2^32 - 1 rows"),
        (4, [2, 0], "sizes: part 2 has 0 rows, each part needs at least 1"),
        (4, [2, -1], "sizes: part 2 has -1 rows, each part needs at least 1"),
        (4, [3, 2], "sizes: the parts need 5 rows of stratum 1 together, and there are only 4"),
    ],
)
def test_impossible_sizes_are_refused(n, sizes, message):
    with pytest.raises(ArgumentError) as refusal:
        drawn(n, sizes)
    assert str(refusal.value) == message


def test_rows_that_do_not_belong_to_the_partition_are_refused():
    with pytest.raises(ArgumentError, match="strata: there must be one for each of the 4 rows"):
        cut(Rows.of(4, None), ROW_KEY, Strata([(1,)], np.ones(3, np.uint16)), b"k" * 32)
    with pytest.raises(ArgumentError, match="strata: there are sizes of 1 strata"):
        cut(Rows.of(4, None), ROW_KEY, Strata([(1,)], np.full(4, 2, np.uint16)), b"k" * 32)
    with pytest.raises(ArgumentError, match="sizes: all strata need equally many parts"):
        Partition.of_positions(b"k" * 32, 4, [[1], [1, 1]])
    with pytest.raises(ArgumentError, match="the key has 31 bytes, and needs 32"):
        drawn(4, [1], lambda _: b"k" * 31)
    with pytest.raises(ArgumentError, match="the partition has 4 rows, and row 5 is asked for"):
        cut(Rows.of(4, None), ROW_KEY, Strata([(1,)]), b"k" * 32).labels(["", ""], 3)
    with pytest.raises(ArgumentError, match="the rows of this partition are known by their ids"):
        cut(rows_with(["a", "b"]), ROW_KEY, Strata([(1,)]), b"k" * 32).labels()


def test_rows_that_were_read_without_their_order_cannot_be_put_into_it():
    rows = Rows.of(2, RowTokens.of(ROW_KEY, ["a", "b"]))
    with pytest.raises(LedgerError, match="without their order"):
        rows.by_token(np.ones(2, np.bool_))
