"""statpriv: the accountant for privacy that comes from the data itself.

Every number is an :class:`Enclosure` that contains the truth for the inputs exactly as given;
every analysis ends in a :class:`PrivacyCurve`.

Questions
    PropertyQuery (CountQuery), HistogramQuery, ContingencyTable, SumQuery, MeanQuery, LinearQuery, MedianQuery,
    MinimumQuery, MaximumQuery, OrderStatisticQuery, AnyOf; AnswerLaws for one of your own
What is done to an answer
    PostProcessed, RangeGate, Threshold, Rounding, RandomRounding, Clip, Relabel, noise
Who answers, and what a reader knows
    Population, Between, EachBetween, Adversary
Which entries answer
    WithoutReplacement, WithReplacement, PoissonSampling, Stratified, ClusterSample, TemplateLaw, OverlappingSamples;
    RandomPartition, MultinomialPartition, ClusterPartition, PartitionLaw, SameRows
Curves
    privacy_curve, compose, compose_adaptive, Ask, PartitionAccountant, delta_at_sizes, minimum_count_curve,
    perturbation_curve, threshold_bound, hockey_stick, PrivacyCurve, Enclosure, EnclosureArray, NormalisedEnclosure
Planning
    design, sensitivity_of, root_mean_squared_error
Tables, released and reviewed
    release, Report, assess, assess_tables, read_table, read_perturbation_table, PublishedTable, TableLayout
Proof
    verify, Claim, Verification, Certificate, attack, Attack, plan_mechanism, reference
Laws, exchange and other theories
    laws, interop, differential, granularity, noiseless, pac_privacy, partial_knowledge
Errors
    StatprivError, ArgumentError, BudgetExceededError, CallError, DisagreementError, GuaranteeNotReachedError,
    LedgerError, MissingExtraError, NotASingleNumberError, NotAvailableError, PlanError, PrecisionError,
    PublicationError, RowsSpentError, TableError, UndecidedError

>>> import statpriv as sp
>>> curve = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(1024))
>>> curve.delta("0.005").upper < 0.0226
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from statpriv import interop, reference
    from statpriv.assurance.attack import Attack, attack
    from statpriv.assurance.certificate import Certificate
    from statpriv.assurance.verification import Claim, Verification, verify
    from statpriv.audit.table import PublishedTable
    from statpriv.composition.accountant import PartitionAccountant
    from statpriv.composition.adaptive import compose_adaptive
    from statpriv.curves.build import compose, privacy_curve
    from statpriv.curves.curve import PrivacyCurve
    from statpriv.curves.given_threshold import threshold_bound
    from statpriv.curves.minimum_count import minimum_count_curve
    from statpriv.curves.perturbation import perturbation_curve
    from statpriv.curves.population_sweep import delta_at_sizes
    from statpriv.distributions import laws
    from statpriv.distributions.hockey_stick import NormalisedEnclosure, hockey_stick
    from statpriv.errors import (
        ArgumentError,
        BudgetExceededError,
        DisagreementError,
        GuaranteeNotReachedError,
        LedgerError,
        MissingExtraError,
        NotASingleNumberError,
        NotAvailableError,
        PlanError,
        PrecisionError,
        PublicationError,
        RowsSpentError,
        StatprivError,
        TableError,
        UndecidedError,
    )
    from statpriv.files.assessment import assess
    from statpriv.files.perturbation_table import read_perturbation_table
    from statpriv.files.published_table import TableLayout, read_table
    from statpriv.files.table_assessment import assess_tables
    from statpriv.model import noise
    from statpriv.model.adversaries import Adversary
    from statpriv.model.partitions import ClusterPartition, MultinomialPartition, PartitionLaw, RandomPartition
    from statpriv.model.perturbations import RandomRounding
    from statpriv.model.populations import Population
    from statpriv.model.queries.contingency import ContingencyTable
    from statpriv.model.queries.histogram import HistogramQuery
    from statpriv.model.queries.linear import LinearQuery
    from statpriv.model.queries.order_statistic import MaximumQuery, MedianQuery, MinimumQuery, OrderStatisticQuery
    from statpriv.model.queries.processed import Clip, PostProcessed, RangeGate, Relabel, Rounding, Threshold
    from statpriv.model.queries.property import CountQuery, PropertyQuery
    from statpriv.model.queries.protocol import AnswerLaws
    from statpriv.model.queries.sum import MeanQuery, SumQuery
    from statpriv.model.ranges import Between, EachBetween
    from statpriv.model.same_rows import SameRows
    from statpriv.model.samplings import (
        ClusterSample,
        OverlappingSamples,
        PoissonSampling,
        Stratified,
        TemplateLaw,
        WithoutReplacement,
        WithReplacement,
    )
    from statpriv.model.strategies import AnyOf, Ask
    from statpriv.numeric.enclosure import Enclosure
    from statpriv.numeric.enclosure_array import EnclosureArray
    from statpriv.planning import design
    from statpriv.planning.sensitivity import sensitivity_of
    from statpriv.planning.worst_error import root_mean_squared_error
    from statpriv.releasing import Report, release
    from statpriv.releasing.rehearsal import plan_mechanism
    from statpriv.theories import differential, granularity, noiseless, pac_privacy, partial_knowledge

__version__ = "0.1.0"

# Loaded when first used: `import statpriv` must cost less than `import numpy`.
_HOME = {
    "Adversary": "model.adversaries",
    "AnswerLaws": "model.queries.protocol",
    "AnyOf": "model.strategies",
    "ArgumentError": "errors",
    "Ask": "model.strategies",
    "Attack": "assurance.attack",
    "Between": "model.ranges",
    "BudgetExceededError": "errors",
    "CallError": "errors",
    "Certificate": "assurance.certificate",
    "Claim": "assurance.verification",
    "Clip": "model.queries.processed",
    "ClusterPartition": "model.partitions",
    "ClusterSample": "model.samplings",
    "ContingencyTable": "model.queries.contingency",
    "CountQuery": "model.queries.property",
    "DisagreementError": "errors",
    "EachBetween": "model.ranges",
    "Enclosure": "numeric.enclosure",
    "EnclosureArray": "numeric.enclosure_array",
    "GuaranteeNotReachedError": "errors",
    "HistogramQuery": "model.queries.histogram",
    "LedgerError": "errors",
    "LinearQuery": "model.queries.linear",
    "MaximumQuery": "model.queries.order_statistic",
    "MeanQuery": "model.queries.sum",
    "MedianQuery": "model.queries.order_statistic",
    "MinimumQuery": "model.queries.order_statistic",
    "MissingExtraError": "errors",
    "MultinomialPartition": "model.partitions",
    "NormalisedEnclosure": "distributions.hockey_stick",
    "NotASingleNumberError": "errors",
    "NotAvailableError": "errors",
    "OrderStatisticQuery": "model.queries.order_statistic",
    "OverlappingSamples": "model.samplings",
    "PartitionAccountant": "composition.accountant",
    "PartitionLaw": "model.partitions",
    "PlanError": "errors",
    "PoissonSampling": "model.samplings",
    "Population": "model.populations",
    "PostProcessed": "model.queries.processed",
    "PrecisionError": "errors",
    "PrivacyCurve": "curves.curve",
    "PropertyQuery": "model.queries.property",
    "PublicationError": "errors",
    "PublishedTable": "audit.table",
    "RandomPartition": "model.partitions",
    "RandomRounding": "model.perturbations",
    "RangeGate": "model.queries.processed",
    "Relabel": "model.queries.processed",
    "Report": "releasing",
    "Rounding": "model.queries.processed",
    "RowsSpentError": "errors",
    "SameRows": "model.same_rows",
    "StatprivError": "errors",
    "Stratified": "model.samplings",
    "SumQuery": "model.queries.sum",
    "TableError": "errors",
    "TableLayout": "files.published_table",
    "TemplateLaw": "model.samplings",
    "Threshold": "model.queries.processed",
    "UndecidedError": "errors",
    "Verification": "assurance.verification",
    "WithReplacement": "model.samplings",
    "WithoutReplacement": "model.samplings",
    "assess": "files.assessment",
    "assess_tables": "files.table_assessment",
    "attack": "assurance.attack",
    "compose": "curves.build",
    "compose_adaptive": "composition.adaptive",
    "delta_at_sizes": "curves.population_sweep",
    "hockey_stick": "distributions.hockey_stick",
    "minimum_count_curve": "curves.minimum_count",
    "perturbation_curve": "curves.perturbation",
    "plan_mechanism": "releasing.rehearsal",
    "privacy_curve": "curves.build",
    "read_perturbation_table": "files.perturbation_table",
    "read_table": "files.published_table",
    "release": "releasing",
    "root_mean_squared_error": "planning.worst_error",
    "sensitivity_of": "planning.sensitivity",
    "threshold_bound": "curves.given_threshold",
    "verify": "assurance.verification",
}
_RENAMED = {
    "Clamping": "Clip",
    "Gate": "RangeGate",
    "Processed": "PostProcessed",
    "Table": "Relabel",
}
"""Old names, which go in 0.3."""
_MODULES = {
    "design": "planning.design",
    "differential": "theories.differential",
    "granularity": "theories.granularity",
    "interop": "interop",
    "laws": "distributions.laws",
    "noise": "model.noise",
    "noiseless": "theories.noiseless",
    "pac_privacy": "theories.pac_privacy",
    "partial_knowledge": "theories.partial_knowledge",
    "reference": "reference",
}

__all__ = [
    "Adversary",
    "AnswerLaws",
    "AnyOf",
    "ArgumentError",
    "Ask",
    "Attack",
    "Between",
    "BudgetExceededError",
    "CallError",
    "Certificate",
    "Claim",
    "Clip",
    "ClusterPartition",
    "ClusterSample",
    "ContingencyTable",
    "CountQuery",
    "DisagreementError",
    "EachBetween",
    "Enclosure",
    "EnclosureArray",
    "GuaranteeNotReachedError",
    "HistogramQuery",
    "LedgerError",
    "LinearQuery",
    "MaximumQuery",
    "MeanQuery",
    "MedianQuery",
    "MinimumQuery",
    "MissingExtraError",
    "MultinomialPartition",
    "NormalisedEnclosure",
    "NotASingleNumberError",
    "NotAvailableError",
    "OrderStatisticQuery",
    "OverlappingSamples",
    "PartitionAccountant",
    "PartitionLaw",
    "PlanError",
    "PoissonSampling",
    "Population",
    "PostProcessed",
    "PrecisionError",
    "PrivacyCurve",
    "PropertyQuery",
    "PublicationError",
    "PublishedTable",
    "RandomPartition",
    "RandomRounding",
    "RangeGate",
    "Relabel",
    "Report",
    "Rounding",
    "RowsSpentError",
    "SameRows",
    "StatprivError",
    "Stratified",
    "SumQuery",
    "TableError",
    "TableLayout",
    "TemplateLaw",
    "Threshold",
    "UndecidedError",
    "Verification",
    "WithReplacement",
    "WithoutReplacement",
    "__version__",
    "assess",
    "assess_tables",
    "attack",
    "compose",
    "compose_adaptive",
    "delta_at_sizes",
    "design",
    "differential",
    "granularity",
    "hockey_stick",
    "interop",
    "laws",
    "minimum_count_curve",
    "noise",
    "noiseless",
    "pac_privacy",
    "partial_knowledge",
    "perturbation_curve",
    "plan_mechanism",
    "privacy_curve",
    "read_perturbation_table",
    "read_table",
    "reference",
    "release",
    "root_mean_squared_error",
    "sensitivity_of",
    "threshold_bound",
    "verify",
]


def __getattr__(name: str) -> object:
    if name in _RENAMED:
        from warnings import warn

        warn(f"sp.{name} is now sp.{_RENAMED[name]}; the old name goes in 0.3", DeprecationWarning, stacklevel=2)
        renamed: object = getattr(import_module("statpriv"), _RENAMED[name])
        return renamed
    if name in _HOME:
        value: object = getattr(import_module(f"statpriv.{_HOME[name]}"), name)
    elif name in _MODULES:
        value = module = import_module(f"statpriv.{_MODULES[name]}")
        vars(module).setdefault("__dir__", lambda: sorted(module.__all__))
    else:
        raise AttributeError(_without(name), name=name)
    globals()[name] = value
    return value


def _without(name: str) -> str:
    from statpriv.numeric.calls import closest

    close = None if name.startswith("_") else closest(name, __all__)
    return f"module 'statpriv' has no attribute {name!r}" + (f"; did you mean sp.{close}?" if close else "")


def __dir__() -> list[str]:
    return sorted(__all__)
