"""No strategy that the accountant allows exceeds the privacy loss that it states.

The judge is the game itself, in exact rationals: every database, every order of the rows, every answer, and after every
answer the best of all questions that the accountant still allows. It knows no formula of composition.
"""

from __future__ import annotations

import copy
import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product

import pytest

import statpriv as sp

from ..cases import spread

Row = tuple[int, ...]
Law = Mapping[Row, Fraction]


@dataclass(frozen=True)
class Question:
    """A query with what it computes of rows, asked on so many."""

    query: object
    of: Callable[[Sequence[Row]], Hashable]
    size: int


@dataclass(frozen=True)
class Batch:
    """Questions that are asked at once."""

    questions: tuple[Question, ...]


@dataclass(frozen=True)
class Growth:
    """Rows of the law join, at a time that the analyst chooses; once. With a pair, the critical one is among them."""

    rows: int
    law: Law
    pair: tuple[Row, Row] | None = None

    def of(self, world: World, used: int) -> Iterator[World]:
        """The rows that are left are put in a new order, with those that join."""
        rows, v, w = world
        others = self.rows - (self.pair is not None)
        sides = (
            [((), v, w)]
            if self.pair is None
            else [((self.pair[0],), v, Fraction(0)), ((self.pair[1],), Fraction(0), w)]
        )
        for critical, v_side, w_side in sides:
            for values in product(self.law, repeat=others):
                left = (*rows[used:], *critical, *values)
                share = math.prod((self.law[value] for value in values), start=Fraction(1)) / math.factorial(len(left))
                for order in permutations(left):
                    yield (*rows[:used], *order), v_side * share, w_side * share


Action = Question | Batch | Growth
World = tuple[tuple[Row, ...], Fraction, Fraction]
"""The rows in their secret order, and how probable that is for each of the two values of the critical entry."""


def bit(index: int) -> Callable[[Sequence[Row]], int]:
    return lambda rows: sum(row[index] for row in rows)


def worlds(law: Law, n: int, pair: tuple[Row, Row], known: Sequence[Row] = ()) -> list[World]:
    """Entry 0 is critical, the entries after it are known as stated, the others have the law."""
    found: dict[tuple[Row, ...], list[Fraction]] = defaultdict(lambda: [Fraction(0), Fraction(0)])
    share = Fraction(1, math.factorial(n))
    for others in product(law.items(), repeat=n - 1 - len(known)):
        mass = share * math.prod((probability for _, probability in others), start=Fraction(1))
        for side, critical in enumerate(pair):
            rows = (critical, *known, *(row for row, _ in others))
            for order in permutations(range(n)):
                found[tuple(rows[i] for i in order)][side] += mass
    return [(rows, v, w) for rows, (v, w) in found.items()]


def best_play(
    accountant: sp.PartitionAccountant, seen: list[World], used: int, actions: Sequence[Action], x: Fraction
) -> Fraction:
    """The largest Σ max(0, P_v − x P_w) over all strategies that the accountant allows from here on."""
    best = max(Fraction(0), sum(v for _, v, _ in seen) - x * sum(w for _, _, w in seen))
    for action in actions:
        allowed = copy.copy(accountant)
        if isinstance(action, Growth):
            left = [action for action in actions if not isinstance(action, Growth)]
            grown = [later for world in seen for later in action.of(world, used)]
            best = max(best, best_play(allowed.extend(action.rows), grown, used, left, x))
            continue
        try:
            ask(allowed, action)
        except sp.BudgetExceededError:
            continue
        after: defaultdict[Hashable, list[World]] = defaultdict(list)
        for world in seen:
            after[answers(action, world[0], used)].append(world)
        rows = used + sum(question.size for question in questions(action))
        best = max(best, sum(best_play(allowed, left, rows, actions, x) for left in after.values()))
    return best


def questions(action: Action) -> tuple[Question, ...]:
    return action.questions if isinstance(action, Batch) else (action,)


def ask(accountant: sp.PartitionAccountant, action: Action) -> None:
    if isinstance(action, Batch):
        sizes = sp.RandomPartition([question.size for question in action.questions])
        accountant.compose_batch([question.query for question in action.questions], sizes)
    else:
        accountant.compose(action.query, size=action.size)


def answers(action: Action, rows: tuple[Row, ...], used: int) -> Hashable:
    given = []
    for question in questions(action):
        given.append(question.of(rows[used : used + question.size]))
        used += question.size
    return tuple(given)


def game(
    accountant: sp.PartitionAccountant, law: Law, actions: Sequence[Action], x: Fraction, known: int = 0
) -> Fraction:
    """The best play against the worst pair of values and the worst values of the known entries."""
    n = accountant.population.size
    return max(
        best_play(accountant, worlds(law, n, pair, values), 0, actions, x)
        for pair in permutations(law, 2)
        for values in combinations_of(law, known)
    )


def combinations_of(law: Law, known: int) -> Iterator[tuple[Row, ...]]:
    return (values for values in product(law, repeat=known) if list(values) == sorted(values))


def just_below_log(x: Fraction) -> Fraction:
    """An ε below ln x, as near as doubles get: what is charged at it is no less than at ln x."""
    return max(Fraction(0), Fraction(math.log(x)) - Fraction(1, 2**40))


def coin(p: str) -> Law:
    return {(1,): Fraction(p), (0,): 1 - Fraction(p)}


TWO_BITS: Law = {(0, 0): Fraction(2, 5), (0, 1): Fraction(1, 10), (1, 0): Fraction(1, 5), (1, 1): Fraction(3, 10)}
"""Two dependent properties, of probability 1/2 and 2/5."""
TWO_FAIR_BITS: Law = {(0, 0): Fraction(1, 5), (0, 1): Fraction(3, 10), (1, 0): Fraction(3, 10), (1, 1): Fraction(1, 5)}
"""Two dependent properties, both of probability 1/2."""


def counts(attribute: str, index: int, p: str, sizes: Sequence[int]) -> list[Question]:
    return [Question(sp.PropertyQuery(p, attribute=attribute), bit(index), size) for size in sizes]


ONE_PROPERTY = counts("a", 0, "2/5", (1, 2, 3))
ANSWERS = [
    *ONE_PROPERTY,
    Question(
        sp.PropertyQuery("2/5", attribute="a").thresholded(1),
        lambda rows: total if (total := bit(0)(rows)) > 1 else None,
        3,
    ),
]
TWO_PROPERTIES = [*counts("a", 0, "1/2", (1, 2, 3)), *counts("b", 1, "2/5", (1, 2))]


@pytest.mark.parametrize("budget", ["1/4", "2/5", "3/5", "4/5"])
@pytest.mark.parametrize("x", [Fraction(1), Fraction(6, 5), Fraction(2)])
def test_no_allowed_strategy_exceeds_the_budget(budget, x):
    accountant = sp.PartitionAccountant(sp.Population(3), epsilon=just_below_log(x), delta=budget)
    assert game(accountant, TWO_BITS, TWO_PROPERTIES, x) <= Fraction(budget)


def test_the_filter_is_what_keeps_the_game_below_the_budget():
    """The same analyst with a budget of 1 tells more than 2/5, and with a budget of 2/5 most of it."""
    x = Fraction(6, 5)
    free, held = (
        sp.PartitionAccountant(sp.Population(3), epsilon=just_below_log(x), delta=delta) for delta in (1, "2/5")
    )
    assert game(free, TWO_BITS, TWO_PROPERTIES, x) > Fraction(2, 5)
    assert game(held, TWO_BITS, TWO_PROPERTIES, x) > Fraction(1, 5)


@pytest.mark.parametrize("budget", ["1/4", "1/2"])
def test_sizes_and_processed_answers_may_be_chosen_by_answers(budget):
    x = Fraction(5, 4)
    accountant = sp.PartitionAccountant(sp.Population(4), epsilon=just_below_log(x), delta=budget)
    assert game(accountant, coin("2/5"), ANSWERS, x) <= Fraction(budget)


@pytest.mark.parametrize("known", [1, 2])
@pytest.mark.parametrize("budget", ["1/2", "3/4"])
def test_no_allowed_strategy_exceeds_the_budget_where_entries_are_known(known, budget):
    x = Fraction(6, 5)
    adversary = sp.Adversary(known=known)
    accountant = sp.PartitionAccountant(sp.Population(4), epsilon=just_below_log(x), delta=budget, adversary=adversary)
    assert game(accountant, coin("2/5"), ONE_PROPERTY, x, known) <= Fraction(budget)


@pytest.mark.parametrize("joins", ["another row", "the critical row"])
@pytest.mark.parametrize("budget", ["1/2", "2/3", "4/5"])
def test_no_allowed_strategy_exceeds_the_budget_where_rows_join_when_the_analyst_likes(budget, joins):
    x, law = Fraction(6, 5), coin("2/5")
    accountant = sp.PartitionAccountant(sp.Population(2), epsilon=just_below_log(x), delta=budget)
    for pair in permutations(law, 2):
        if joins == "another row":
            start, growth = worlds(law, 2, pair), Growth(1, law)
        else:
            start = [(rows, mass, mass) for rows, mass in tables(law, 2)]
            growth = Growth(1, law, pair)
        told = best_play(accountant, start, 0, [*ONE_PROPERTY[:2], growth], x)
        assert Fraction(budget) / 4 < told <= Fraction(budget)


def tables(law: Law, n: int) -> Iterator[tuple[tuple[Row, ...], Fraction]]:
    """All rows, none of them critical, and how probable they are."""
    for values in product(law, repeat=n):
        yield values, math.prod((law[value] for value in values), start=Fraction(1))


@pytest.mark.parametrize("budget", ["1/5", "2/5"])
def test_batches_and_single_queries_may_follow_each_other(budget):
    x = Fraction(6, 5)
    a, b = counts("a", 0, "1/2", (1, 2)), counts("b", 1, "2/5", (1,))
    actions = [*a, *b, Batch((a[0], a[0])), Batch((a[0], a[1]))]
    accountant = sp.PartitionAccountant(sp.Population(3), epsilon=just_below_log(x), delta=budget)
    assert game(accountant, TWO_BITS, actions, x) <= Fraction(budget)


@pytest.mark.parametrize("known", [0, 1])
@pytest.mark.parametrize("x", [Fraction(1), Fraction(5, 4), Fraction(2)])
def test_any_strategy_about_one_attribute_tells_exactly_what_its_total_tells(x, known):
    n, adversary = 4, sp.Adversary(known=known)
    smokers = sp.PropertyQuery("2/5", attribute="a")
    accountant = sp.PartitionAccountant(
        sp.Population(n), epsilon=just_below_log(x), delta=1, only=smokers, adversary=adversary
    )
    total = sp.privacy_curve(smokers, sp.Population(n - known)).exact_delta(exp_epsilon=x)
    assert game(accountant, coin("2/5"), ANSWERS, x, known) == total
    assert total <= accountant.spent


@spread("x, known", [(Fraction(6, 5), 0), (Fraction(1), 0), (Fraction(6, 5), 1), (Fraction(2), 0)], few=2)
def test_any_strategy_about_properties_of_one_half_tells_exactly_what_one_total_tells(x, known):
    """Although the properties are different, dependent ones, and the row that is critical differs in any of them."""
    fair, n = sp.PropertyQuery("1/2"), 3
    accountant = sp.PartitionAccountant(
        sp.Population(n), epsilon=just_below_log(x), delta=1, only=fair, adversary=sp.Adversary(known=known)
    )
    actions = [*counts("a", 0, "1/2", (1, 2, 3)), *counts("b", 1, "1/2", (1, 2))]
    total = sp.privacy_curve(fair, sp.Population(n - known)).exact_delta(exp_epsilon=x)
    assert game(accountant, TWO_FAIR_BITS, actions, x, known) == total


@spread("x, known", [(Fraction(6, 5), 0), (Fraction(1), 0), (Fraction(6, 5), 1), (Fraction(2), 0)], few=2)
def test_no_strategy_about_properties_in_a_range_exceeds_their_bound(x, known):
    asked = sp.PropertyQuery(sp.Between("2/5", "1/2"))
    accountant = sp.PartitionAccountant(
        sp.Population(3), epsilon=just_below_log(x), delta=1, only=asked, adversary=sp.Adversary(known=known)
    )
    worst = game(accountant, TWO_BITS, TWO_PROPERTIES, x, known)
    assert accountant.get_delta(just_below_log(x)).lower <= worst + Fraction(1, 10**9) <= accountant.spent


@pytest.mark.parametrize("x", [Fraction(1), Fraction(11, 10), Fraction(2)])
def test_the_bound_of_a_range_holds_for_skewed_properties(x):
    skewed = {(a, b): Fraction(1 if a else 4, 5) * Fraction(3 if b else 1, 4) for a in (0, 1) for b in (0, 1)}
    actions = [*counts("a", 0, "1/5", (1, 2, 3)), *counts("b", 1, "3/4", (1, 2))]
    accountant = sp.PartitionAccountant(
        sp.Population(3),
        epsilon=just_below_log(x),
        delta=1,
        only=sp.PropertyQuery(sp.Between("1/5", "3/4")),
    )
    assert game(accountant, skewed, actions, x) <= accountant.spent


def test_other_probabilities_have_no_such_promise():
    """Two properties of probability 3/10 tell more than the total of either: that is so at one half alone."""
    independent = {(a, b): Fraction(3 if a else 7, 10) * Fraction(3 if b else 7, 10) for a in (0, 1) for b in (0, 1)}
    x, n = Fraction(11, 10), 3
    actions = [*counts("a", 0, "3/10", (1, 2)), *counts("b", 1, "3/10", (1,))]
    free = sp.PartitionAccountant(sp.Population(n), epsilon=just_below_log(x), delta=1)
    total = sp.privacy_curve(sp.PropertyQuery("3/10"), sp.Population(n)).exact_delta(exp_epsilon=x)
    assert game(free, independent, actions, x) > total


@pytest.mark.parametrize("x", [Fraction(1), Fraction(5, 4)])
def test_what_was_declared_tells_no_more_in_any_order(x):
    queries = [sp.PropertyQuery("2/5", attribute="a")] * 3
    accountant = sp.PartitionAccountant(
        sp.Population(5), epsilon=just_below_log(x), delta=1, declared=(queries, sp.RandomPartition([1, 1, 2]))
    )
    all_at_once = sp.compose(queries, sp.Population(5), sp.RandomPartition([1, 1, 2])).exact_delta(exp_epsilon=x)
    assert game(accountant, coin("2/5"), ONE_PROPERTY, x) == all_at_once <= accountant.spent


def test_the_sum_that_is_reported_is_that_of_the_theorem():
    coins, parts = sp.reference.iid(sp.reference.coin("2/5"), 4), sp.reference.partitions(4, [1, 2, 1])
    theorem = sp.reference.partition_sum(coins, [sum, sum, sum], parts, critical=0)
    accountant = sp.PartitionAccountant(sp.Population(4), epsilon=0, delta=1)
    accountant.compose(sp.PropertyQuery("2/5"), size=1, count=2).compose(sp.PropertyQuery("2/5"), size=2)
    assert theorem(1) in accountant.get_delta(0)
    assert theorem(1) <= accountant.spent <= theorem(1) + Fraction(1, 2**50)


@pytest.mark.parametrize("x", [Fraction(1), Fraction(6, 5)])
def test_the_game_finds_the_worst_strategy(x):
    """Against the enumeration of all strategies in `sp.reference`, where parts of one row are all there are."""
    rows, parts = sp.reference.iid(TWO_BITS, 3), sp.reference.partitions(3, [1, 1, 1])
    worst = sp.reference.worst_strategy_curve(rows, [bit(0), bit(1)], parts, critical=0)
    free = sp.PartitionAccountant(sp.Population(3), epsilon=just_below_log(x), delta=1)
    actions = [*counts("a", 0, "1/2", (1,)), *counts("b", 1, "2/5", (1,))]
    assert game(free, TWO_BITS, actions, x) == worst(x)
