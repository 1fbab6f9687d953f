"""What is published of exact counts: each step by its definition, and only by what is published."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statpriv.releasing.plan import Publication
from statpriv.releasing.steps import PublishedCount, Steps, expected_counts

SIZE = 40
publications = st.builds(
    Publication,
    gate=st.booleans(),
    rounded_to=st.none() | st.integers(2, 12),
    suppressed_below=st.none() | st.integers(1, 20),
)
gates = st.lists(st.integers(0, SIZE), min_size=2, max_size=2).map(sorted).map(tuple)


@given(publications, gates)
def test_a_count_goes_through_the_steps_that_the_theory_certifies(publication, gate):
    steps = Steps(SIZE, (gate,), publication)
    for count in range(SIZE + 1):
        (published,) = steps.publish([count])
        answer = count
        for step in (*steps.gate, *steps.coarsening):
            answer = step.apply(answer)
        assert published.count == answer
        assert published.withheld == (publication.gate and not gate[0] <= count <= gate[1])
        below = publication.suppressed_below
        assert published.suppressed == (not published.withheld and below is not None and count < below)


@given(publications, gates)
def test_the_exact_counts_behind_a_published_one_are_those_that_are_published_like_it(publication, gate):
    steps = Steps(SIZE, (gate,), publication)
    behind = {}
    for count in range(SIZE + 1):
        behind.setdefault(steps.publish([count])[0], []).append(count)
    for published, counts in behind.items():
        if not published.withheld:
            assert steps.exact(published) == (min(counts), max(counts))


@given(publications, gates)
def test_a_contradiction_is_said_of_all_exact_counts_behind_a_published_one_or_of_none(publication, gate):
    steps = Steps(SIZE, (gate,), publication)
    for published in {steps.publish([count])[0] for count in range(SIZE + 1)}:
        alike = [count for count in range(SIZE + 1) if steps.publish([count]) == (published,)]
        outside = all(not gate[0] <= count <= gate[1] for count in alike)
        assert steps.contradicts(published) == (outside and not published.withheld)
        assert not (publication.gate and steps.contradicts(published))


def test_one_cell_outside_its_gate_withholds_the_whole_histogram():
    steps = Steps(30, ((0, 10), (5, 15), (5, 20)), Publication(gate=True, rounded_to=5))
    assert [cell.count for cell in steps.publish([8, 10, 12])] == [10, 10, 10]
    assert steps.publish([11, 8, 11]) == (PublishedCount(None, withheld=True),) * 3
    assert steps.gate == ()  # the theory has a law for the gate of one count only


@given(st.integers(1, 60), st.integers(1, 12), st.data())
def test_the_gate_is_the_range_give_or_take_three_standard_deviations(size, denominator, data):
    low, high = sorted(Fraction(data.draw(st.integers(0, denominator)), denominator) for _ in range(2))

    def beyond(distance, p):
        return distance > 0 and distance**2 > 9 * size * p * (1 - p)

    inside = [
        count
        for count in range(size + 1)
        if not beyond(size * low - count, low) and not beyond(count - size * high, high)
    ]
    assert inside
    least, most = expected_counts([(size, (low, high))])
    assert inside == list(range(least, most + 1))


@pytest.mark.parametrize("split", [1, 17, 50])
def test_groups_of_one_probability_have_the_gate_of_their_union(split):
    ends = (Fraction(1, 5), Fraction(3, 10))
    assert expected_counts([(split, ends), (100 - split, ends)]) == expected_counts([(100, ends)])
