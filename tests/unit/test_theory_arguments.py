"""Arguments of the wrong kind in the three theories: each error names the argument."""

import re
from fractions import Fraction

import numpy as np
import pytest

import statpriv as sp
from statpriv import granularity as gr
from statpriv import noiseless
from statpriv import partial_knowledge as pk

FAIR = {0: "1/2", 1: "1/2"}
MAJORITY = [0, 0, 0, 1, 0, 1, 1, 1]
LOSS = pk.PrivacyLoss.between({0: "1/4", 1: "3/4"}, {0: "3/4", 1: "1/4"})
MODEL = pk.Model.independent([FAIR] * 3, sum, background=lambda votes: votes[2])
COUNT = noiseless.FiniteModel([FAIR] * 3, sum)
SPINNER = gr.FiniteMechanism({0: {"y": "1/4", "n": "3/4"}, 1: {"y": "3/4", "n": "1/4"}})
TABLES = [(), ("a",), ("b",)]
SCALAR = np.array(0.5)
"""An object that some tests consider to have a length and others not."""


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: pk.PrivacyLoss(None), "law = None; a dict from values of e^L to probabilities is required"),
        (lambda: LOSS.independent_sum(3), "other = 3; another PrivacyLoss is required"),
        (lambda: pk.Model.independent(3, sum), "laws = 3; a list with the law of each record is required"),
        (lambda: MODEL.answer_laws([1]), "background = [1]; something hashable is required"),
        (lambda: MODEL.loss([0], 1, background=0), "value = [0]; something hashable is required"),
        (
            lambda: pk.bernoulli_epsilon(n=9, margin="0.1", delta="0.1", method=np.zeros(2)),
            "method = array([0., 0.]); 'sharp' or 'printed' is required",
        ),
        (lambda: noiseless.boolean_epsilon([[1, 2], [3]]), "truth_table = [[1, 2], [3]]; a list of 2^n zeros and ones"),
        (lambda: noiseless.boolean_epsilon(MAJORITY, leaked=SCALAR), "leaked = array(0.5); a list of entries"),
        (lambda: noiseless.BooleanFunction([0, 1], law=SCALAR), "law = array(0.5); a dict from tuples of bits"),
        (lambda: noiseless.junta_epsilon("0.1", "0.1", method=np.zeros(2)), "'printed' or 'sharp' is required"),
        (lambda: noiseless.linear_mu([[1, 1]], entry=0, difference=1, known=None), "known = None; a list of entries"),
        (lambda: noiseless.linear_mu([[1]], entry=0, difference=1, variances=SCALAR), "variances = array(0.5); a list"),
        (lambda: noiseless.FiniteModel(SCALAR, sum), "law = array(0.5); a list with the law of each entry"),
        (lambda: noiseless.FiniteModel([FAIR], sum, leaked=3), "leaked = 3; a list of entries is required"),
        (lambda: COUNT.delta(1, notion=np.zeros(2)), "'noiseless' or 'a posteriori' is required"),
        (lambda: COUNT.posterior([1], entry=0), "answer = [1]; something hashable is required"),
        (lambda: COUNT.curve([0]), "entry = [0]; something hashable is required"),
        (lambda: noiseless.symmetric_curve(5, p="1/2", function=3), "function = 3; a function of the count"),
        (lambda: noiseless.SubsetCounts(SCALAR, p="1/2"), "subsets = array(0.5); a list of sets of entries"),
        (lambda: noiseless.SubsetCounts([[[1]]], p="1/2"), "subsets[0] = [1]; something hashable is required"),
        (lambda: noiseless.compose_overlapping(SCALAR, 1), "entries = array(0.5); a list with the entries"),
        (lambda: noiseless.Timeline(9).remove(SCALAR), "entries = array(0.5); numbers of entries that are present"),
        (lambda: gr.Relation(3, []), "universe = 3; all databases of the class are required"),
        (lambda: gr.Relation([1], SCALAR), "neighbours = array(0.5); a function of two databases, or pairs, are"),
        (lambda: gr.restricted(None, TABLES), "granularity = None; one of Unbounded(), "),
        (lambda: gr.Inputs([{0}], by="index", universe=1.5), "universe = 1.5; "),
        (lambda: gr.Inputs([{0}], by="index", universe=10**400), "universe = "),
        (lambda: gr.compose(SCALAR, granularity=gr.Bounded()), "budgets = array(0.5); a sequence with the budget"),
        (
            lambda: gr.compose([1], granularity=gr.Bounded(), setting=np.zeros(2)),
            "setting = array([0., 0.]); one of 'sequential', 'disjoint', 'element_partition', 'overlapping'",
        ),
        (lambda: gr.compose([1], granularity=gr.Bounded(), inputs=SCALAR), "inputs = array(0.5); one input for each"),
        (lambda: gr.FreeLunch().distance(np.zeros(2), np.zeros(2)), "are not compared as a whole by ==; tuples are"),
        (
            lambda: gr.compose_between([1], None, [], metrics=gr.Unbounded(), inputs=gr.Inputs([{"a"}])),
            "database = None; a list of records, or a dict of how many, is required",
        ),
        (
            lambda: gr.compose_between([1], [], [], metrics=gr.Unbounded),
            "metric = None; a granularity such as Unbounded(), or a function of two databases, is required",
        ),
        (
            lambda: gr.minimum_distance((), (), metric=gr.Unbounded(), reads=3, universe=TABLES),
            "reads = 3; a function of the database is required",
        ),
        (
            lambda: gr.minimum_distance((), (), metric=gr.Unbounded(), reads=len, universe=TABLES, delta=3),
            "delta = 3; a function of two databases is required",
        ),
        (lambda: gr.subuniverse_distance([], [], part=None, outside="c"), "part = None; the values of records"),
        (lambda: gr.subuniverse_distance([], [], part="a", outside=[1]), "part = 'a'; the values of records"),
        (lambda: gr.check_partition([len], gr.Bounded(), 3), "universe = 3; all databases of the class are required"),
        (lambda: gr.check_partition([len], gr.Bounded(), [[]]), "a database = []; something hashable is required"),
        (
            lambda: gr.sensitivity(3, universe=TABLES, source=gr.Bounded(), target=gr.Bounded()),
            "function = 3; a function of the database is required",
        ),
        (
            lambda: gr.change_granularity(1, source=gr.Bounded(), target=gr.Bounded(), universe=[]),
            "universe is empty; at least one database is required",
        ),
        (lambda: gr.FiniteMechanism.independent(3), "mechanisms = 3; a list of finite mechanisms is required"),
        (lambda: gr.FiniteMechanism.independent([3]), "mechanism 3; a FiniteMechanism is required"),
        (lambda: gr.FiniteMechanism.adaptive([3]), "choose[0] = 3; a list of functions from the earlier answers"),
        (lambda: SPINNER.preprocessed([0], 3), "function = 3; a function of the database is required"),
        (lambda: SPINNER.processed(3), "function = 3; a function of the answer is required"),
        (lambda: SPINNER.component(0), "index = 0; answers are no tuples with so many components"),
        (lambda: SPINNER.least_epsilon(gr.Unbounded), "; one of Unbounded(), "),
        (lambda: gr.person_curve(3, sp.Population(9), rows=1), "queries = 3; a query such as sp.PropertyQuery(0.5)"),
        (
            lambda: gr.person_curve(sp.PropertyQuery("0.4"), 9, rows=1),
            "population = 9; a Population such as",
        ),
    ],
)
def test_what_is_wrong_is_named(ask, message):
    with pytest.raises(sp.errors.ArgumentError, match=re.escape(message)):
        ask()


def test_integers_count_whatever_their_type():
    """3.0 and "3" are accepted as the integer 3 in the theories too."""
    assert noiseless.noiseless_from_statistical("0.1", "1e-6", target=1, values=3.0, entries="2") == (
        noiseless.noiseless_from_statistical("0.1", "1e-6", target=1, values=3, entries=2)
    )
    assert noiseless.symmetric_guarantee(10, 1, p="1/2", known="3") == (
        noiseless.symmetric_guarantee(10, 1, p="1/2", known=3)
    )
    register = noiseless.Timeline(10, p="1/2")
    assert register.replace_oldest(3.0).present == (*range(3, 10), *range(10, 13))
    queries = noiseless.LinearQueries([[1, 2, 1]])
    assert queries.guarantee(1, entry=1.0, bound=2) == queries.guarantee(1, entry=1, bound=2)


def test_very_large_numbers_are_decided():
    """Beyond the last ratio nothing changes, and a number beyond the doubles is still a number."""
    assert SPINNER.is_private(gr.FreeLunch(), 10**400)
    assert noiseless.linear_mu([[1, 1]], entry=0, difference=1).upper == 1
    assert "1.000e+400" in noiseless.LinearQueries([[1, 1]]).guarantee(1, entry=0, bound=10**400).theorem
    places = gr.Inputs([{0}, {2**40}], by="index", universe=2**53, exhaustive=False)
    assert gr.Ordered().compatible(places)
    with pytest.raises(sp.errors.ArgumentError, match="the parts leave out 1; add it to a part"):
        gr.Inputs([{0}, {2**40}], by="index", universe=2**53)
    person = gr.person_curve(sp.PropertyQuery("0.4"), sp.Population(20), rows=2)
    # Nobody of 18 others counts, or all but fewer than two of them: the first excludes two rows that do.
    q = Fraction(3, 5)
    excluded = q**18 + 18 * Fraction(2, 5) * q**17
    assert person.delta(10**400) == person.delta(50)
    assert person.epsilon("1e-3") == sp.Enclosure(float("inf"))
    assert person.epsilon("2e-3").upper < 5
    assert abs(Fraction(person.delta(10**400).upper) - excluded) < Fraction(1, 10**15)
