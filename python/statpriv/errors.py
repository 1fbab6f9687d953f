"""The errors of statpriv: one root class, and each error also derives from the built-in class a caller would expect.

Every message names the argument, its value, the allowed values, and the remedy.
"""

from __future__ import annotations

__all__ = [
    "ArgumentError",
    "BudgetExceededError",
    "CallError",
    "DisagreementError",
    "GuaranteeNotReachedError",
    "LedgerError",
    "MissingExtraError",
    "NotASingleNumberError",
    "NotAvailableError",
    "PlanError",
    "PrecisionError",
    "PublicationError",
    "RowsSpentError",
    "StatprivError",
    "TableError",
    "UndecidedError",
]


class StatprivError(Exception):
    """Root of every error that statpriv raises on purpose."""


class ArgumentError(StatprivError, ValueError):
    """An argument has a value that is not allowed, or of a kind that is not allowed."""


class NotAvailableError(ArgumentError):
    """No rule covers the requested combination; the message names the nearest supported one."""


class PrecisionError(StatprivError, ArithmeticError):
    """No tier of the kernel can enclose the result within its budget."""


class UndecidedError(StatprivError, ArithmeticError):
    """An enclosure is too wide to decide a comparison; asking for more digits may decide it."""


class CallError(StatprivError, TypeError):
    """The arguments do not fit the signature of a function; the message has a call that does."""


class NotASingleNumberError(StatprivError, TypeError):
    """An enclosure was used where one number is needed; which end is safe depends on the question."""


class MissingExtraError(StatprivError, ImportError):
    """An optional dependency is not installed; the message names the extra that brings it."""


class PlanError(ArgumentError):
    """A plan file cannot be carried out as written; the message lists every key at fault."""


class TableError(StatprivError):
    """The data cannot be read as the plan describes them. The message never quotes a cell."""


class LedgerError(StatprivError):
    """The ledger refuses: this table, or some of its rows, was released before, or the ledger is damaged."""


class PublicationError(StatprivError):
    """The report cannot be written where it should go."""


class BudgetExceededError(StatprivError):
    """A query would exceed the budget, the rows or the promise of an accountant; the accountant is unchanged."""


class GuaranteeNotReachedError(StatprivError):
    """The certified delta is above the target: no data were read and no budget was spent."""


class RowsSpentError(StatprivError):
    """The release failed after its rows were spent: they stay spent, and there is no report."""


class DisagreementError(StatprivError, ArithmeticError):
    """Two independent computations of one number contradict each other: a defect of statpriv."""
