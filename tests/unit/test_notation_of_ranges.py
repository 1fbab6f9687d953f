"""One notation of ranges: `Between`, `EachBetween`, or a text such as "0.2..0.4", wherever a probability is stated."""

from __future__ import annotations

import pytest

import statpriv as sp

PAIR = sp.Between("0.2", "0.4")


def test_a_text_states_the_range_wherever_between_may_stand() -> None:
    assert sp.PropertyQuery("0.2..0.4") == sp.PropertyQuery(PAIR)
    assert sp.PropertyQuery({"a": "0.2..0.4", "b": "1/2"}) == sp.PropertyQuery({"a": PAIR, "b": "1/2"})
    assert sp.HistogramQuery(["0.2..0.4", "0.6..0.8"]) == sp.HistogramQuery([PAIR, sp.Between("0.6", "0.8")])
    assert sp.SumQuery({0: "0.2..0.4", 1: "0.6..0.8"}) == sp.SumQuery({0: PAIR, 1: sp.Between("0.6", "0.8")})
    assert sp.ContingencyTable(2, minimum=5, p=["0.2..0.4", "0.6..0.8"]) == sp.ContingencyTable(
        2, minimum=5, p=[PAIR, sp.Between("0.6", "0.8")]
    )


def test_a_range_of_one_point_is_the_probability() -> None:
    assert sp.PropertyQuery("0.5..1/2") == sp.PropertyQuery("1/2")


@pytest.mark.parametrize("text", ["0.4..0.2", "0.2..", "..0.4", "0.2..x", "0.2...0.4", "0.2..1.4"])
def test_a_text_that_is_no_range_says_how_one_is_written(text: str) -> None:
    with pytest.raises(sp.ArgumentError, match=r'two probabilities in order are required, such as "0\.4\.\.0\.6"$'):
        sp.PropertyQuery(text)


@pytest.mark.parametrize(
    "query",
    [
        lambda: sp.PropertyQuery({"a": (0.2, 0.4), "b": "1/2"}),
        lambda: sp.HistogramQuery([[0.2, 0.4], [0.6, 0.8]]),
        lambda: sp.SumQuery({0: (0.2, 0.4), 1: (0.6, 0.8)}),
    ],
)
def test_a_list_of_two_in_place_of_a_number_is_told_how_to_write_a_range(query) -> None:
    with pytest.raises(
        sp.ArgumentError, match=r"sp\.Between\(0\.2, 0\.4\).*sp\.EachBetween\(0\.2, 0\.4\).*\"0\.2\.\.0\.4\""
    ):
        query()


def test_a_list_for_all_entries_is_one_number_an_entry() -> None:
    assert sp.PropertyQuery([0.2, 0.4]) != sp.PropertyQuery(PAIR)
