"""Composition of differential privacy at any granularity: the neighbouring relation, and what one step can change.

>>> import statpriv as sp
>>> unbounded, bounded = sp.granularity.Unbounded(), sp.granularity.Bounded()
>>> sp.granularity.compose(["0.5", "0.3", "0.1"], granularity=unbounded, setting="disjoint").epsilon
Fraction(1, 2)
>>> sp.granularity.compose(["0.5", "0.3", "0.1"], granularity=bounded, setting="element_partition").epsilon
Fraction(4, 5)

The statements are those of *Composition in Differential Privacy for General Granularity Notions*.
"""

from statpriv.theories.granularity.changes import Change, Sensitivity, change_granularity, preprocess, sensitivity
from statpriv.theories.granularity.check import Counterexample, PartitionCheck, check_partition
from statpriv.theories.granularity.composition import Composition, compose
from statpriv.theories.granularity.graphs import Edge, Node
from statpriv.theories.granularity.inputs import Inputs
from statpriv.theories.granularity.mechanisms import FiniteMechanism, Loss
from statpriv.theories.granularity.notions import Figures
from statpriv.theories.granularity.pairs import (
    Between,
    MinimumDistance,
    compose_between,
    minimum_distance,
    subuniverse_distance,
)
from statpriv.theories.granularity.people import PersonCurve, person_curve
from statpriv.theories.granularity.protocol import Granularity
from statpriv.theories.granularity.relation import NoPathWarning, Relation, restricted
from statpriv.theories.granularity.tabular import Bounded, FreeLunch, Ordered, Unbounded

__all__ = [
    "Between",
    "Bounded",
    "Change",
    "Composition",
    "Counterexample",
    "Edge",
    "Figures",
    "FiniteMechanism",
    "FreeLunch",
    "Granularity",
    "Inputs",
    "Loss",
    "MinimumDistance",
    "NoPathWarning",
    "Node",
    "Ordered",
    "PartitionCheck",
    "PersonCurve",
    "Relation",
    "Sensitivity",
    "Unbounded",
    "change_granularity",
    "check_partition",
    "compose",
    "compose_between",
    "minimum_distance",
    "person_curve",
    "preprocess",
    "restricted",
    "sensitivity",
    "subuniverse_distance",
]
