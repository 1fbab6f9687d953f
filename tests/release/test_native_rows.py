"""Does the native work on rows give what the standard library gives, one row after the other?"""

from __future__ import annotations

import sys
import unicodedata

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from statpriv._native import (
    RowIdsError,
    RowTokens,
    StreamError,
    digest_fingerprints,
    stream_fingerprints,
    stream_tally,
)
from statpriv.errors import ArgumentError
from statpriv.releasing.ledger import Rows
from statpriv.releasing.partition import Strata, cut

from ..cases import cases
from .arrow_columns import TextColumn
from .blake3 import derive_key, keyed_hash
from .conftest import parts
from .row_hashes import by_row, digest, fingerprints, tokens

KEY = b"k" * 32


def canonical(text):
    return unicodedata.normalize("NFC", text.strip())


def streamed(texts, columns=1):
    connection = duckdb.connect(":memory:")
    connection.execute(f"CREATE TABLE t ({', '.join(f'c{i} VARCHAR' for i in range(columns))})")
    if columns == 1:
        connection.execute("INSERT INTO t SELECT unnest(?)", [texts])
    else:
        connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' * columns)})", texts)  # noqa: S608 - question marks
    return connection.sql("SELECT * FROM t")


# --- ids


@pytest.mark.parametrize(
    ("length", "keyed", "derived"),
    [
        (
            0,
            "92b2b75604ed3c761f9d6f62392c8a9227ad0ea3f09573e783f1498a4ed60d26b18171a2f22a4b94822c701f107153db",
            "2cc39783c223154fea8dfb7c1b1660f2ac2dcbd1c1de8277b0b0dd39b7e50d7d",
        ),
        (
            1,
            "6d7878dfff2f485635d39013278ae14f1454b8c0a3a2d34bc1ab38228a80c95b6568c0490609413006fbd428eb3fd14e",
            "b3e2e340a117a499c6cf2398a19ee0d29cca2bb7404c73063382693bf66cb06c",
        ),
        (
            1023,
            "c951ecdf03288d0fcc96ee3413563d8a6d3589547f2c2fb36d9786470f1b9d6e890316d2e6d8b8c25b0a5b2180f94fb1",
            "74a16c1c3d44368a86e1ca6df64be6a2f64cce8f09220787450722d85725dea5",
        ),
        (
            1024,
            "75c46f6f3d9eb4f55ecaaee480db732e6c2105546f1e675003687c31719c7ba4a78bc838c72852d4f49c864acb7adafe",
            "7356cd7720d5b66b6d0697eb3177d9f8d73a4a5c5e968896eb6a689684302706",
        ),
    ],
)
def test_the_hash_function_of_the_tests_is_that_of_the_standard(length, keyed, derived):
    """The published test vectors of BLAKE3."""
    message = bytes(i % 251 for i in range(length))
    assert keyed_hash(b"whats the Elvish word for friend", message)[:48].hex() == keyed
    assert derive_key("BLAKE3 2019-12-27 16:29:52 test vectors context", message).hex() == derived


def test_ids_are_trimmed_like_python_does_and_normalised():
    """Around and inside an id, all characters that are assigned in this Python's Unicode, and some ideographs."""
    shown = [c for k, c in enumerate(ASSIGNED) if unicodedata.category(c) != "Lo" or k % 100 == 0]
    ids = [f"{i}x{character}x" for i, character in enumerate(shown)]
    assert by_row(RowTokens.of(KEY, ids, with_rows=True)) == tokens(KEY, map(canonical, ids))
    ids = [f"{character}{i}{character}" for i, character in enumerate(shown)]
    assert by_row(RowTokens.of(KEY, ids, with_rows=True)) == tokens(KEY, map(canonical, ids))


@settings(deadline=None)
@given(
    st.lists(st.text(min_size=1, max_size=20), unique_by=canonical).filter(lambda ids: "" not in map(canonical, ids))
)
def test_tokens_are_the_documented_hashes_of_canonical_ids(ids):
    assert by_row(RowTokens.of(KEY, ids, with_rows=True)) == tokens(KEY, map(canonical, ids))


def test_ids_of_a_stream_are_those_of_a_list():
    ids = ["7", " 007", "e\u0301", "a longer id that is kept somewhere else in the engine", "ß" * 300]
    assert by_row(RowTokens.of_stream(KEY, streamed(ids), with_rows=True)) == tokens(KEY, map(canonical, ids))
    assert len(RowTokens.of_stream(KEY, streamed(ids))) == 5
    many = [f"p{i}" for i in range(70_000)]
    every = duckdb.connect(":memory:").sql("SELECT concat('p', range) FROM range(70000)")
    assert (
        by_row(RowTokens.of_stream(KEY, every, with_rows=True))
        == by_row(RowTokens.of(KEY, many, with_rows=True))
        == tokens(KEY, many)
    )


def invisible(character):
    """Default_Ignorable_Code_Point, as Unicode's UAX #44 derives it from other properties."""
    code = ord(character)
    prepended = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
    visible_controls = {*range(0xFFF9, 0xFFFC), *range(0x13430, 0x13441), *prepended}
    fillers = {0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0}
    selectors = {*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)}
    return code in fillers | selectors or (unicodedata.category(character) == "Cf" and code not in visible_controls)


def plain(text):
    """An id without what a reader does not see: Unicode's NFKC_Casefold."""
    visible = "".join(character for character in unicodedata.normalize("NFKC", text) if not invisible(character))
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", visible).casefold())


EVERY = cases(8, campaign=1)
"""One of so many characters is tried: blocks of Unicode are longer."""
ASSIGNED = [
    chr(code)
    for code in range(sys.maxunicode + 1)
    if not 0xD800 <= code < 0xE000 and unicodedata.category(chr(code)) != "Cn"
][::EVERY]


def test_an_id_that_differs_from_a_plain_one_only_in_what_nobody_sees_looks_like_it():
    differing = [f"{i}x{character}x" for i, character in enumerate(ASSIGNED) if plain(character) != character]
    differing = [text for text in differing if canonical(text) != plain(text)]
    assert len(differing) > 5000 / EVERY
    assert RowTokens.of(KEY, [*differing, *map(plain, differing)]).look_alikes == len(differing)


def test_visible_characters_tell_ids_apart():
    """Except the "i" without a dot, a small letter whose capital is "I"."""
    told_apart = [f"x{character}x" for character in ASSIGNED if plain(character) == character and character != "ı"]
    assert len(told_apart) > 100_000 / EVERY
    assert RowTokens.of(KEY, told_apart).look_alikes == 0
    assert RowTokens.of(KEY, ["ı", "i"]).look_alikes == 1


@settings(deadline=None)
@given(st.lists(st.text("aAàÀ１1\u200b\u00adßs", min_size=1, max_size=4), unique_by=canonical))
def test_look_alikes_are_the_ids_less_their_plain_forms(ids):
    assert RowTokens.of(KEY, ids).look_alikes == len(ids) - len(set(map(plain, map(canonical, ids))))


@pytest.mark.parametrize(
    ("ids", "why"),
    [
        (["a", None], "missing"),
        (["a", " \u3000"], "empty"),
        (["a", "b", " a"], "repeated"),
        (["\u00e9", "e\u0301"], "repeated"),
        ([*map(str, range(30_000)), "17"], "repeated"),
    ],
)
def test_ids_that_identify_nobody_are_refused_without_a_value(ids, why):
    for make in (
        lambda: RowTokens.of(KEY, ids),
        lambda: RowTokens.of_stream(KEY, streamed(ids[:2]) if len(ids) < 3 else streamed(ids)),
    ):
        with pytest.raises(RowIdsError, match=f"^{why}$"):
            make()


def test_numbers_are_no_ids():
    with pytest.raises(TypeError):
        RowTokens.of(KEY, [1])


# --- content


cells = st.none() | st.text("aé,:NV1\n", max_size=12)


@settings(deadline=None, max_examples=cases(16, campaign=500))
@given(st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=5))
def test_fingerprints_are_the_documented_hashes(rows):
    assert stream_fingerprints(KEY, streamed(rows, columns=3)) == (fingerprints(KEY, rows), None)
    digests = [digest(row) for row in rows]
    of_digests = fingerprints(KEY, [[one] for one in digests])
    assert digest_fingerprints(KEY, [b"".join(digests)]) == (of_digests, None)
    assert digest_fingerprints(KEY, digests, np.array([True] * len(digests))) == (of_digests, of_digests)


def test_fingerprints_of_many_rows():
    expected = [(str(i), None if i % 3 else "") for i in range(20_000)]
    rows = duckdb.connect(":memory:").sql(
        "SELECT CAST(range AS VARCHAR), CASE WHEN range % 3 = 0 THEN '' END FROM range(20000)"
    )
    of_all = fingerprints(KEY, expected)
    assert stream_fingerprints(KEY, rows) == (of_all, None)
    selected = np.arange(20_000) % 7 < 3
    some = [row for row, taken in zip(expected, selected, strict=True) if taken]
    assert stream_fingerprints(KEY, rows, selected=selected) == (of_all, fingerprints(KEY, some))
    with pytest.raises(StreamError, match=r"^more rows came than there are marks$"):
        stream_fingerprints(KEY, rows, selected=selected[1:])
    with pytest.raises(StreamError, match=r"^fewer rows came than there are marks$"):
        stream_fingerprints(KEY, rows, selected=np.append(selected, True))


def test_the_reader_is_told_how_many_rows_were_read():
    told = []
    rows = duckdb.connect(":memory:").sql("SELECT CAST(range AS VARCHAR) FROM range(3000000)")
    stream_fingerprints(KEY, rows, told.append)
    assert told == sorted(told)
    assert all(0 < count <= 3_000_000 for count in told)
    assert told


def test_fingerprints_are_keyed():
    digests = [digest(("a",)), digest(("b",))]
    (_, *some), _ = digest_fingerprints(KEY, digests)
    (_, *others), _ = digest_fingerprints(b"o" * 32, digests)
    assert len({*some, *others}) == 4


def test_selected_digests_are_fingerprinted_apart():
    digests = [digest((str(i),)) for i in range(100)]
    marks = np.arange(100) % 3 == 0
    some = [[one] for one, marked in zip(digests, marks, strict=True) if marked]
    for pieces in ([b"".join(digests)], digests, [b"".join(digests[:17]), b"", b"".join(digests[17:])]):
        assert digest_fingerprints(KEY, pieces, marks) == (
            fingerprints(KEY, [[one] for one in digests]), fingerprints(KEY, some)
        )  # fmt: skip
    with pytest.raises(ArgumentError, match="selected has fewer marks than there are digests"):
        digest_fingerprints(KEY, digests, marks[1:])
    with pytest.raises(ArgumentError, match="selected has more marks than there are digests"):
        digest_fingerprints(KEY, digests[1:], marks)


# --- counts


def answers(cells):
    """A stream of rows with the answers to each question."""
    numbers = ", ".join(f"CAST(c{i} AS USMALLINT)" for i in range(len(cells[0])))
    connection = duckdb.connect(":memory:")
    connection.execute(f"CREATE TABLE t ({', '.join(f'c{i} INTEGER' for i in range(len(cells[0])))})")
    connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(cells[0]))})", cells)  # noqa: S608
    return connection.sql(f"SELECT {numbers} FROM t")  # noqa: S608


@settings(deadline=None, max_examples=cases(16, campaign=500))
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=30))
def test_each_part_is_counted_by_its_own_question(rows):
    partition = parts([*(label for label, *_ in rows), 4])  # one more row, so that there are four parts
    counts, _ = stream_tally(answers([*(cells for _, *cells in rows), (0, 2)]), partition, [1, 0, None, 1], 3)
    rows = [*rows, (4, 0, 2)]
    asked = {1: 1, 2: 0, 4: 1}
    assert counts.reshape(4, 3).tolist() == [
        [
            sum(row[0] == part and row[1 + asked[part]] == cell for row in rows) if part in asked else 0
            for cell in range(3)
        ]
        for part in range(1, 5)
    ]


@pytest.mark.parametrize(
    ("cells", "labels", "why"),
    [
        ([[0], [1]], [1], "more rows came than the partition has"),
        ([[0], [1]], [1, 1, 1], "fewer rows came than the partition has"),
        ([[0], [2]], [1, 1], "a part or a cell is none of those announced"),
        ([[0], [1]], [1, 2], "a part or a cell is none of those announced"),
        ([[0], [None]], [1, 1], "a column is not of small numbers, one in every row"),
    ],
)
def test_rows_that_cannot_be_counted_are_refused(cells, labels, why):
    with pytest.raises(StreamError, match=f"^{why}$"):
        stream_tally(answers(cells), parts(labels), [0], 2)


def test_answers_that_are_no_small_numbers_are_refused():
    connection = duckdb.connect(":memory:")
    for sql in ("SELECT 1", "SELECT 'a'"):
        with pytest.raises(StreamError, match="a column is not of small numbers"):
            stream_tally(connection.sql(sql), parts([1]), [0], 2)


def test_columns_that_do_not_fit_the_partition_are_refused():
    connection = duckdb.connect(":memory:")
    by_id = cut(Rows.of(1, RowTokens.of(KEY, ["a"])), KEY, Strata([(1,)]), KEY)
    for sql, partition, why in (
        ("SELECT 'a'", by_id, "a question has no column"),
        ("SELECT 'a', CAST(0 AS USMALLINT), 'b'", by_id, "there is a column for no question"),
        ("SELECT CAST(0 AS USMALLINT), 'b'", parts([1]), "there is a column for no question"),
    ):
        with pytest.raises(StreamError, match=f"^{why}$"):
            stream_tally(connection.sql(sql), partition, [0], 2)
    with pytest.raises(RowIdsError, match=r"^missing$"):
        stream_tally(connection.sql("SELECT CAST(NULL AS VARCHAR), CAST(0 AS USMALLINT)"), by_id, [0], 2)


@settings(deadline=None, max_examples=cases(16, campaign=300))
@given(st.lists(st.tuples(st.integers(0, 3), cells, cells), min_size=1, max_size=30))
def test_what_is_counted_is_fingerprinted_in_the_same_pass(rows):
    numbers = ", ".join(f"({k}, {cell}, {literal(a)}, {literal(b)})" for k, (cell, a, b) in enumerate(rows))
    stream = duckdb.connect(":memory:").sql(
        f"SELECT CAST(cell AS USMALLINT), a, b FROM (VALUES {numbers}) AS t(k, cell, a, b) ORDER BY k"  # noqa: S608
    )
    counts, found = stream_tally(stream, parts([1] * len(rows)), [0], 4, fingerprint_key=KEY)
    assert counts.tolist() == [[cell for cell, *_ in rows].count(k) for k in range(4)]
    assert found == fingerprints(KEY, [texts for _, *texts in rows])


def literal(cell):
    return "CAST(NULL AS VARCHAR)" if cell is None else "'" + cell.replace("'", "''") + "'"


# --- what is refused


def test_cells_that_do_not_follow_each_other_are_refused():
    assert by_row(RowTokens.of_stream(KEY, TextColumn([0, 3, 5], b"abcde"), with_rows=True)) == tokens(
        KEY, ["abc", "de"]
    )
    for offsets in ([0, 5, 3], [3, 0, 5], [-1, 3, 5], [-5, -3, 0], [0, 2**31 - 1, 5]):
        with pytest.raises(StreamError, match=r"^a cell of a stream does not lie in its bytes$"):
            RowTokens.of_stream(KEY, TextColumn(offsets, b"abcde"))


def test_streams_of_something_else_are_refused():
    numbers = duckdb.connect(":memory:").sql("SELECT 1 AS a")
    with pytest.raises(StreamError, match="a column of a stream is Int32, and only text or Int64 is expected"):
        stream_fingerprints(KEY, numbers)
    with pytest.raises(StreamError, match="2 columns of ids"):
        RowTokens.of_stream(KEY, duckdb.connect(":memory:").sql("SELECT 'a', 'b'"))
    with pytest.raises(AttributeError, match="__arrow_c_stream__"):
        stream_fingerprints(KEY, object())

    class Pretender:
        def __arrow_c_stream__(self, _schema=None):
            return np.array([1])

    with pytest.raises(TypeError):
        stream_fingerprints(KEY, Pretender())


def test_digests_come_whole():
    with pytest.raises(ArgumentError, match="a piece of digests has 1 bytes too many"):
        digest_fingerprints(KEY, [b"x" * 33])


def test_keys_have_32_bytes():
    for use in (lambda key: RowTokens.of(key, ["a"]), lambda key: digest_fingerprints(key, [])):
        with pytest.raises(ArgumentError, match="the key has 31 bytes, and needs 32"):
            use(b"k" * 31)
