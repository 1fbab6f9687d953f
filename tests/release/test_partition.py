"""Is the partition exactly uniform, and would the checks notice if it were not?"""

from __future__ import annotations

import ctypes
import itertools
import math
import re
import secrets
import sys
from array import array
from collections import Counter
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from statpriv.errors import ArgumentError
from statpriv.releasing import partition
from statpriv.releasing.partition import (
    UNUSED,
    Stratum,
    bounded_integers,
    locked_memory,
    secret_partition,
    shuffled_parts,
)

from .conftest import words
from .mutants import in_whole_range, no_shuffle, one_too_small, rejects_one_word_too_few, remainder_only

SIZES = ((1,), (1, 1), (2, 1), (1, 1, 1), (2, 2), (3, 1))


def drawn_parts(n, sizes, words):
    """Labels without groups: one stratum of all rows."""
    return shuffled_parts([Stratum.of_all(n, sizes)], n, words)


# --- bounded integers: every 8-bit word, every bound


def frequencies_over_all_words(draw, bound):
    """How often each value comes out when the first word takes all 256 values; None counts rejections."""
    seen: Counter[int | None] = Counter()
    for word in range(256):
        stream = [bytes([word])]

        def words(count, stream=stream):
            assert count == 1
            if not stream:
                raise StopIteration
            return stream.pop()

        try:
            seen[int(draw(np.array([bound], dtype=np.uint64), words, word_bits=8)[0])] += 1
        except StopIteration:
            seen[None] += 1
    return seen


def is_uniform(frequencies, bound):
    accepted = [frequencies[value] for value in range(bound)]
    return len(set(accepted)) == 1 and sum(accepted) + frequencies[None] == 256 and frequencies[None] == 256 % bound


@pytest.mark.parametrize("bound", range(1, 257))
def test_every_8_bit_word_gives_exact_uniformity(bound):
    assert is_uniform(frequencies_over_all_words(bounded_integers, bound), bound)


@pytest.mark.parametrize("broken", [remainder_only, rejects_one_word_too_few])
def test_the_enumeration_catches_biased_sources(broken):
    caught = [b for b in range(1, 257) if not is_uniform(frequencies_over_all_words(broken, b), b)]
    assert caught == [b for b in range(1, 257) if 256 % b]


@pytest.mark.parametrize("sampler", [bounded_integers, remainder_only, rejects_one_word_too_few])
@pytest.mark.parametrize("n", [3, 5, 6, 7])
def test_modulo_bias_shows_in_the_shuffle(monkeypatch, n, sampler):
    """One row is drawn with one 8-bit word: all 256 words, through the code that places the label."""
    seen = Counter()

    class RejectedError(Exception):
        pass

    def one_word(word):
        stream = [bytes([word])]

        def words(_count):
            if not stream:
                raise RejectedError
            return stream.pop()

        return words

    monkeypatch.setattr(partition, "bounded_integers", partial(sampler, word_bits=8))
    for word in range(256):
        with suppress(RejectedError):
            seen[drawn_parts(n, [1], one_word(word)).index(1)] += 1
    assert (set(seen.values()) == {256 // n}) is (sampler is bounded_integers)
    assert len(seen) == n


def test_rejected_words_are_drawn_again_for_their_own_bound_only():
    stream = iter([bytes([0, 7, 5]), bytes([0]), bytes([11])])
    drawn = bounded_integers(np.array([7, 7, 5], dtype=np.uint64), lambda _: next(stream), word_bits=8)
    assert drawn.tolist() == [11 % 7, 7 % 7, 5 % 5]  # 256 mod 7 = 4: 0 is rejected twice, then 11


def test_64_bit_words_reject_exactly_the_leftover():
    leftover = 2**64 % 10
    stream = iter([(leftover - 1).to_bytes(8, "little"), leftover.to_bytes(8, "little")])
    assert bounded_integers(np.array([10], dtype=np.uint64), lambda _: next(stream)).tolist() == [leftover]
    assert next(stream, None) is None


@pytest.mark.parametrize("bound", [0, 257])
def test_a_bound_without_a_uniform_value_is_refused(bound):
    with pytest.raises(ArgumentError, match=r"bounds must lie between 1 and 2\^8"):
        bounded_integers(np.array([bound], dtype=np.uint64), secrets.token_bytes, word_bits=8)


# --- the shuffle: every index sequence


MULTIPLE_OF_SMALL_BOUNDS = 840 * 1000  # of every bound up to 8, and above every rejected word


def words_for(indices):
    """64-bit words that are accepted for any small bound, and whose remainders are the given indices."""
    block = b"".join((MULTIPLE_OF_SMALL_BOUNDS + index).to_bytes(8, "little") for index in indices)
    return lambda count: block[:count]


def bounds_of_draws(n, sizes):
    """Of the rows with any label but the most frequent one: the last of them goes to itself or behind, and so on."""
    return range(max(n - sum(sizes), *sizes) + 1, n + 1)


def arrangements(n, sizes):
    """The labels of every index sequence that the word source can cause."""
    return Counter(
        tuple(drawn_parts(n, sizes, words_for(indices)))
        for indices in itertools.product(*(range(bound) for bound in bounds_of_draws(n, sizes)))
    )


def is_uniform_over_arrangements(seen, n, sizes):
    """With counts c of the labels and of unused rows, n! / Π c! arrangements from n! / max c! index sequences."""
    factorials = [math.factorial(count) for count in (n - sum(sizes), *sizes)]
    different = math.factorial(n) // math.prod(factorials)
    return len(seen) == different and set(seen.values()) == {math.prod(factorials) // max(factorials)}


CASES = [(n, sizes) for n in range(1, 7) for sizes in SIZES if sum(sizes) <= n]


@pytest.mark.parametrize(("n", "sizes"), CASES)
def test_every_arrangement_is_equally_likely(n, sizes):
    seen = arrangements(n, sizes)
    assert is_uniform_over_arrangements(seen, n, sizes)
    for labels in seen:
        assert [labels.count(k) for k in range(len(sizes) + 1)] == [n - sum(sizes), *sizes]


def test_strata_are_drawn_independently_and_each_uniformly():
    """Rows 0, 2, 3, 6 give one row to each of two parts, rows 1 and 5 one row to part 2; row 4 is spent."""
    strata = [Stratum(np.array([0, 2, 3, 6]), (1, 1)), Stratum(np.array([1, 5]), (0, 1))]
    seen = Counter()
    for first in itertools.product(range(3), range(4)):
        for second in range(2):
            blocks = iter([words_for(first), words_for((second,))])
            seen[tuple(shuffled_parts(strata, 7, lambda count, blocks=blocks: next(blocks)(count)))] += 1
    pairs = itertools.permutations([0, 2, 3, 6], 2)
    assert set(seen) == {
        tuple(1 if row == a else 2 if row in (b, c) else UNUSED for row in range(7)) for a, b in pairs for c in (1, 5)
    }
    assert set(seen.values()) == {1}


@pytest.mark.parametrize("sizes", [[3, 2], [3, 10**6 - 5, 2], [10**6 - 5]])
def test_as_many_words_are_drawn_as_rows_have_not_the_most_frequent_label(sizes):
    asked = []

    def words(count):
        asked.append(count)
        return secrets.token_bytes(count)

    drawn_parts(10**6, sizes, words)
    assert asked[0] == 5 * 8
    assert sum(asked) < 20 * 8


def test_many_rows_are_drawn_in_blocks_without_a_seam(monkeypatch):
    """The arrangement is the same however many words are asked for at a time."""
    stream = secrets.token_bytes(8 * 3000)

    def drawn():
        position = 0

        def words(count):
            nonlocal position
            position += count
            return stream[position - count : position]

        return drawn_parts(1000, [400, 1, 599], words)

    whole = drawn()
    monkeypatch.setattr(partition, "_TOGETHER", 7)
    assert drawn() == whole


BROKEN = [in_whole_range, one_too_small, no_shuffle]


@pytest.mark.parametrize("broken", BROKEN)
def test_the_enumeration_catches_broken_shuffles(monkeypatch, broken):
    monkeypatch.setattr(partition, "bounded_integers", broken)
    n, sizes = 4, (2, 1, 1)
    bounds = [n] * 2 if broken is in_whole_range else list(bounds_of_draws(n, sizes))
    seen = Counter(
        tuple(drawn_parts(n, sizes, words_for(indices)))
        for indices in itertools.product(*(range(bound) for bound in bounds))
    )
    assert not is_uniform_over_arrangements(seen, n, sizes)
    often = set(seen.values())
    assert len(often) > 1 or len(seen) < 12  # another law, not another number of equally likely sequences


# --- the real source: the matrix of positions


def position_chi_square(draws=8000, n=8, sizes=(3, 1, 2)):
    """Chi-square statistic and degrees of freedom of (position, label) against its expectation."""
    counts = np.zeros((n, len(sizes) + 1))
    for _ in range(draws):
        counts[np.arange(n), drawn_parts(n, sizes, secrets.token_bytes)] += 1
    share = np.array([n - sum(sizes), *sizes]) / n
    expected = draws * share
    return float((((counts - expected) ** 2) / expected).sum())


LIMIT = 100.0  # 21 degrees of freedom (variance reduced by sampling without replacement): P < 1e-11


def test_positions_and_labels_are_independent():
    assert position_chi_square() < LIMIT


@pytest.mark.parametrize("broken", BROKEN)
def test_chi_square_catches_broken_shuffles(monkeypatch, broken):
    monkeypatch.setattr(partition, "bounded_integers", broken)
    assert position_chi_square() > LIMIT


# --- sizes, secrecy, and what is refused


def test_a_million_rows():
    labels = drawn_parts(10**6, [400_000, 1, 599_000], secrets.token_bytes)
    assert np.bincount(np.frombuffer(labels, dtype="I")).tolist() == [999, 400_000, 1, 599_000]


def interrupted_partition(seen):
    with secret_partition([Stratum.of_all(10, [10])], 10) as labels:
        seen.append(labels)
        assert set(labels) == {1}
        raise KeyboardInterrupt


def test_labels_are_overwritten_even_after_an_interrupt():
    seen: list[array[int]] = []
    with pytest.raises(KeyboardInterrupt):
        interrupted_partition(seen)
    assert seen[0].tolist() == [UNUSED] * 10


def locked_kilobytes():
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(re.search(r"VmLck:\s*(\d+) kB", status)[1])


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only there a process sees what it has locked")
@pytest.mark.parametrize("n", [10, 200_000])
def test_labels_are_locked_in_memory(n):
    """In pages of their own: what is unlocked beside them must not unlock them."""
    before = locked_kilobytes()
    with locked_memory(n) as first:
        if locked_kilobytes() == before:
            pytest.skip("this process may lock no memory")
        with locked_memory(n):
            assert locked_kilobytes() - before >= 2 * (4 * n // 1024)
        assert first.ctypes.data % 4096 == 0
        assert locked_kilobytes() - before >= max(4, 4 * n // 1024)
    assert locked_kilobytes() == before
    locked = []
    groups = [Stratum(np.arange(n // 2), (3,)), Stratum(np.arange(n // 2, n), (2,))]
    with secret_partition(groups, n, lambda count: locked.append(locked_kilobytes()) or secrets.token_bytes(count)):
        assert locked_kilobytes() - before >= max(4, 4 * n // 1024)
    assert min(locked) - before >= max(8, 6 * n // 1024)  # both arrays that this draw needs


@pytest.mark.parametrize("failing", ["mlock", "nothing"])
def test_a_system_that_locks_no_memory_draws_the_same(monkeypatch, failing):
    called = partition._memory_call
    monkeypatch.setattr(partition, "_memory_call", lambda name, array: name != failing and called(name, array))
    with secret_partition([Stratum.of_all(9, [4])], 9, words(1)) as labels:
        kept, found = labels, labels.tolist()
    assert found == list(drawn_parts(9, [4], words(1)))
    assert set(kept) == {UNUSED}


def test_no_core_file_is_written_while_labels_exist():
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_CORE)
    with secret_partition([Stratum.of_all(10, [10])], 10):
        assert resource.getrlimit(resource.RLIMIT_CORE)[0] == 0
    assert resource.getrlimit(resource.RLIMIT_CORE) == before


@pytest.mark.skipif(sys.platform != "linux", reason="prctl(2) is of Linux")
def test_no_core_is_given_to_a_program_while_labels_exist():
    """A limit does not concern cores that are piped to a program, as most distributions have it."""
    is_dumpable = partial(ctypes.CDLL(None).prctl, 3)
    assert is_dumpable() == 1
    with secret_partition([Stratum.of_all(10, [10])], 10):
        assert is_dumpable() == 0
    assert is_dumpable() == 1


def test_the_partition_is_a_function_of_n_sizes_and_words():
    block = secrets.token_bytes(8 * 64)
    first, second = (drawn_parts(20, [3, 4], lambda count: block[:count]) for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    ("n", "sizes", "message"),
    [
        (0, [], "n = 0: a partition needs between 1 and 2^32 - 1 rows"),
        (4, [2, 0], "sizes: part 2 has 0 rows, each part needs at least 1"),
        (4, [2, -1], "sizes: a part of -1 rows is not possible"),
        (4, [3, 2], "sizes: the parts need 5 rows together, and there are only 4"),
    ],
)
def test_impossible_sizes_are_refused(n, sizes, message):
    with pytest.raises(ArgumentError) as refusal:
        drawn_parts(n, sizes, secrets.token_bytes)
    assert str(refusal.value) == message


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[0, 4]], "strata: rows must be positions from 0 to 3 in ascending order, each once"),
        ([[-1, 2]], "strata: rows must be positions from 0 to 3 in ascending order, each once"),
        ([[2, 1]], "strata: rows must be positions from 0 to 3 in ascending order, each once"),
        ([[1, 1]], "strata: rows must be positions from 0 to 3 in ascending order, each once"),
        ([[0, 1], [1, 2]], "strata: a row lies in two of them; each may be drawn once"),
    ],
)
def test_impossible_strata_are_refused(rows, message):
    with pytest.raises(ArgumentError) as refusal:
        shuffled_parts([Stratum(np.array(positions), (1,)) for positions in rows], 4, secrets.token_bytes)
    assert str(refusal.value) == message
