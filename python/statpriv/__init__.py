"""statpriv: the accountant for privacy that comes from the data itself.

Every number is an :class:`Enclosure` that contains the truth for the inputs exactly as given;
every analysis ends in a :class:`PrivacyCurve`.

>>> import statpriv as sp
>>> curve = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(1024))
>>> curve.delta("0.005").upper < 0.0226
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from statpriv import (
        differential,
        granularity,
        interop,
        laws,
        noise,
        noiseless,
        partial_knowledge,
        reference,
    )
    from statpriv import planning as design
    from statpriv.adversaries import Adversary
    from statpriv.analysis import compose, privacy_curve
    from statpriv.assessment import assess
    from statpriv.certificate import Certificate
    from statpriv.composition.accountant import PartitionAccountant
    from statpriv.composition.adaptive import compose_adaptive
    from statpriv.composition.strategies import AnyOf, Ask
    from statpriv.curve import PrivacyCurve
    from statpriv.divergence import NormalisedEnclosure, hockey_stick
    from statpriv.enclosure import Enclosure
    from statpriv.enclosure_array import EnclosureArray
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
    from statpriv.partitions import MultinomialPartition, PartitionLaw, RandomPartition
    from statpriv.populations import Population
    from statpriv.queries.histogram import HistogramQuery
    from statpriv.queries.linear import LinearQuery
    from statpriv.queries.order_statistic import MaximumQuery, MedianQuery, MinimumQuery, OrderStatisticQuery
    from statpriv.queries.processed import Clamping, Gate, Processed, Rounding, Table, Threshold
    from statpriv.queries.property import Between, PropertyQuery
    from statpriv.queries.protocol import AnswerLaws
    from statpriv.queries.sum import MeanQuery, SumQuery
    from statpriv.releasing import Report, release
    from statpriv.samplings import (
        OverlappingSamples,
        PoissonSampling,
        Stratified,
        TemplateLaw,
        WithoutReplacement,
        WithReplacement,
    )
    from statpriv.sensitivity import sensitivity_of
    from statpriv.sizes import delta_at_sizes
    from statpriv.verification import Claim, Verification, verify

__version__ = "0.1.0"

# Loaded when first used: `import statpriv` must cost less than `import numpy`.
_HOME = {
    "Adversary": "adversaries",
    "AnswerLaws": "queries.protocol",
    "AnyOf": "composition.strategies",
    "ArgumentError": "errors",
    "Ask": "composition.strategies",
    "Between": "queries.property",
    "BudgetExceededError": "errors",
    "Certificate": "certificate",
    "Claim": "verification",
    "Clamping": "queries.processed",
    "DisagreementError": "errors",
    "Enclosure": "enclosure",
    "EnclosureArray": "enclosure_array",
    "Gate": "queries.processed",
    "GuaranteeNotReachedError": "errors",
    "HistogramQuery": "queries.histogram",
    "LedgerError": "errors",
    "LinearQuery": "queries.linear",
    "MaximumQuery": "queries.order_statistic",
    "MeanQuery": "queries.sum",
    "MedianQuery": "queries.order_statistic",
    "MinimumQuery": "queries.order_statistic",
    "MissingExtraError": "errors",
    "NormalisedEnclosure": "divergence",
    "NotASingleNumberError": "errors",
    "NotAvailableError": "errors",
    "OrderStatisticQuery": "queries.order_statistic",
    "OverlappingSamples": "samplings",
    "PartitionAccountant": "composition.accountant",
    "PlanError": "errors",
    "PoissonSampling": "samplings",
    "Population": "populations",
    "PrecisionError": "errors",
    "PrivacyCurve": "curve",
    "Processed": "queries.processed",
    "PropertyQuery": "queries.property",
    "PublicationError": "errors",
    "MultinomialPartition": "partitions",
    "PartitionLaw": "partitions",
    "RandomPartition": "partitions",
    "Report": "releasing",
    "Rounding": "queries.processed",
    "RowsSpentError": "errors",
    "StatprivError": "errors",
    "Stratified": "samplings",
    "SumQuery": "queries.sum",
    "Table": "queries.processed",
    "TableError": "errors",
    "TemplateLaw": "samplings",
    "Threshold": "queries.processed",
    "UndecidedError": "errors",
    "Verification": "verification",
    "WithReplacement": "samplings",
    "WithoutReplacement": "samplings",
    "assess": "assessment",
    "compose": "analysis",
    "compose_adaptive": "composition.adaptive",
    "delta_at_sizes": "sizes",
    "hockey_stick": "divergence",
    "privacy_curve": "analysis",
    "release": "releasing",
    "sensitivity_of": "sensitivity",
    "verify": "verification",
}
_MODULES = {
    "design": "planning",
    "differential": "differential",
    "granularity": "granularity",
    "interop": "interop",
    "laws": "laws",
    "noise": "noise",
    "noiseless": "noiseless",
    "partial_knowledge": "partial_knowledge",
    "reference": "reference",
}

__all__ = [
    "Adversary",
    "AnswerLaws",
    "AnyOf",
    "ArgumentError",
    "Ask",
    "Between",
    "BudgetExceededError",
    "Certificate",
    "Claim",
    "Clamping",
    "DisagreementError",
    "Enclosure",
    "EnclosureArray",
    "Gate",
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
    "PrecisionError",
    "PrivacyCurve",
    "Processed",
    "PropertyQuery",
    "PublicationError",
    "RandomPartition",
    "Report",
    "Rounding",
    "RowsSpentError",
    "StatprivError",
    "Stratified",
    "SumQuery",
    "Table",
    "TableError",
    "TemplateLaw",
    "Threshold",
    "UndecidedError",
    "Verification",
    "WithReplacement",
    "WithoutReplacement",
    "__version__",
    "assess",
    "compose",
    "compose_adaptive",
    "delta_at_sizes",
    "design",
    "differential",
    "granularity",
    "hockey_stick",
    "interop",
    "laws",
    "noise",
    "noiseless",
    "partial_knowledge",
    "privacy_curve",
    "reference",
    "release",
    "sensitivity_of",
    "verify",
]


def __getattr__(name: str) -> object:
    if name in _HOME:
        value: object = getattr(import_module(f"statpriv.{_HOME[name]}"), name)
    elif name in _MODULES:
        value = import_module(f"statpriv.{_MODULES[name]}")
    else:
        raise AttributeError(f"module 'statpriv' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
