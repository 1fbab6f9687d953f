"""Brute force from the definitions, in exact rationals: every database, every template, every answer.

The module covers databases of a few entries with any finite set of values, any query that is a Python function, and any
law of templates. It uses no formula for the law of a count and shares no code with the rest of statpriv, so it is an
independent test of the closed forms of the library, and of your own ideas.

>>> import statpriv as sp
>>> entries = sp.reference.iid({"yes": "1/3", "no": "2/3"}, 4)
>>> curve = sp.reference.privacy_curve(entries, lambda rows: rows.count("yes"), critical=0)
>>> curve("11/10") == sp.privacy_curve(sp.PropertyQuery("1/3"), sp.Population(4)).exact_delta(exp_epsilon="11/10")
True
"""

from statpriv.reference.clusters import clustered_curve, conditional_range
from statpriv.reference.curves import (
    Curve,
    adaptive_partition_sum,
    partition_sum,
    privacy_curve,
    sampling_privacy_curve,
    worst_strategy_curve,
)
from statpriv.reference.databases import Database, iid
from statpriv.reference.laws import coin, hockey_stick
from statpriv.reference.releases import Strategy, answer_law
from statpriv.reference.tables import table_curve
from statpriv.reference.templates import (
    everyone,
    multinomial_assignment,
    overlapping,
    partitions,
    poisson,
    stratified,
    stratified_partitions,
    uniform,
    with_replacement,
    without_replacement,
)

__all__ = [
    "Curve",
    "Database",
    "Strategy",
    "adaptive_partition_sum",
    "answer_law",
    "clustered_curve",
    "coin",
    "conditional_range",
    "everyone",
    "hockey_stick",
    "iid",
    "multinomial_assignment",
    "overlapping",
    "partition_sum",
    "partitions",
    "poisson",
    "privacy_curve",
    "sampling_privacy_curve",
    "stratified",
    "stratified_partitions",
    "table_curve",
    "uniform",
    "with_replacement",
    "without_replacement",
    "worst_strategy_curve",
]


def __dir__() -> list[str]:
    return sorted(__all__)
