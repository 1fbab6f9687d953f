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
    from statpriv import differential, laws, reference
    from statpriv.adversaries import Adversary
    from statpriv.analysis import compose, privacy_curve
    from statpriv.curve import PrivacyCurve
    from statpriv.divergence import NormalisedEnclosure, hockey_stick
    from statpriv.enclosure import Enclosure
    from statpriv.enclosure_array import EnclosureArray
    from statpriv.errors import (
        ArgumentError,
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
    from statpriv.partitions import RandomPartition
    from statpriv.populations import Population
    from statpriv.queries.property import Between, PropertyQuery
    from statpriv.releasing import Report, release
    from statpriv.samplings import WithoutReplacement

__version__ = "0.1.0"

# Loaded when first used: `import statpriv` must cost less than `import numpy`.
_HOME = {
    "Adversary": "adversaries",
    "ArgumentError": "errors",
    "Between": "queries.property",
    "Enclosure": "enclosure",
    "EnclosureArray": "enclosure_array",
    "GuaranteeNotReachedError": "errors",
    "LedgerError": "errors",
    "MissingExtraError": "errors",
    "NormalisedEnclosure": "divergence",
    "NotASingleNumberError": "errors",
    "NotAvailableError": "errors",
    "PlanError": "errors",
    "Population": "populations",
    "PrecisionError": "errors",
    "PrivacyCurve": "curve",
    "PropertyQuery": "queries.property",
    "PublicationError": "errors",
    "Report": "releasing",
    "RowsSpentError": "errors",
    "RandomPartition": "partitions",
    "StatprivError": "errors",
    "TableError": "errors",
    "UndecidedError": "errors",
    "WithoutReplacement": "samplings",
    "compose": "analysis",
    "hockey_stick": "divergence",
    "privacy_curve": "analysis",
    "release": "releasing",
}
_MODULES = ("differential", "laws", "reference")

__all__ = [
    "Adversary",
    "ArgumentError",
    "Between",
    "Enclosure",
    "EnclosureArray",
    "GuaranteeNotReachedError",
    "LedgerError",
    "MissingExtraError",
    "NormalisedEnclosure",
    "NotASingleNumberError",
    "NotAvailableError",
    "PlanError",
    "Population",
    "PrecisionError",
    "PrivacyCurve",
    "PropertyQuery",
    "PublicationError",
    "RandomPartition",
    "Report",
    "RowsSpentError",
    "StatprivError",
    "TableError",
    "UndecidedError",
    "WithoutReplacement",
    "__version__",
    "compose",
    "differential",
    "hockey_stick",
    "laws",
    "privacy_curve",
    "reference",
    "release",
]


def __getattr__(name: str) -> object:
    if name in _HOME:
        value: object = getattr(import_module(f"statpriv.{_HOME[name]}"), name)
    elif name in _MODULES:
        value = import_module(f"statpriv.{name}")
    else:
        raise AttributeError(f"module 'statpriv' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
