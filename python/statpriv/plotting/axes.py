"""Functions that compute and draw a picture at once, on given or new axes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from statpriv.curves.curve import PrivacyCurve
from statpriv.errors import ArgumentError
from statpriv.model.adversaries import Adversary
from statpriv.model.populations import Population
from statpriv.numeric.exact import Number
from statpriv.numeric.literals import abridged
from statpriv.plotting.curves import against_epsilon, against_known, against_size, trade_off
from statpriv.plotting.designs import design_picture, table_plan_picture, trade_off_pictures
from statpriv.plotting.drawing import draw, figure_size, require_matplotlib
from statpriv.plotting.picture import Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from statpriv.model.samplings import Sampling
    from statpriv.model.situation import Query
    from statpriv.planning.designs import Design, TradeOff
    from statpriv.planning.table_plan import TablePlan


def plot_curve(curve: PrivacyCurve, ax: Axes | None = None, *, points: int | None = None) -> Axes:
    """δ against ε.

    Parameters
    ----------
    curve : PrivacyCurve
        The curve of one answer, or of several together.
    ax : matplotlib Axes, optional
        The axes to draw on; a new figure by default.
    points : int, optional
        Number of ε, from 0 to the point where δ has fallen by six orders of magnitude; by default 200, and 40 where
        each takes more than some ten milliseconds.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    MissingExtraError
        matplotlib is not installed.
    """
    return _on_axes(lambda: against_epsilon(curve, points=points), ax)


def plot_trade_off(curve: PrivacyCurve, ax: Axes | None = None, *, points: int = 200) -> Axes:
    """The least type II error β of a test against its type I error α, below the line 1 − α of an uninformed test.

    `points` is the number of α, from 0 to 1. All else is as for :func:`plot_curve`.
    """
    return _on_axes(lambda: trade_off(curve, points=points), ax)


def plot_against_size(
    query: Query | Sequence[Query],
    sizes: Iterable[Number],
    epsilon: Number | Sequence[Number],
    ax: Axes | None = None,
    *,
    adversary: Adversary | None = None,
    sampling: Sampling | None = None,
    bound: str = "tightest",
) -> Axes:
    """δ against the size of the population, one line for each query and each ε.

    Parameters
    ----------
    query : a query, or several
        For instance `PropertyQuery(p)` for several p.
    sizes : iterable of int
        At least two different sizes, for instance from :func:`sizes_between`.
    epsilon : number, or several
        ε in nats, at least 0.
    ax
        As for :func:`plot_curve`, as are the result and the errors.
    adversary, sampling, bound : optional
        As for :func:`statpriv.privacy_curve`.
    """
    return _on_axes(
        lambda: against_size(query, sizes, epsilon, adversary=adversary, sampling=sampling, bound=bound), ax
    )


def plot_against_known(
    query: Query,
    population: Population,
    epsilon: Number | Sequence[Number],
    ax: Axes | None = None,
    *,
    sampling: Sampling | None = None,
    bound: str = "tightest",
    points: int = 100,
) -> Axes:
    """δ against the number of entries that an adversary knows, one line for each ε.

    With noise, the lines flatten at the level of the noise alone, which is drawn too.

    Parameters
    ----------
    query, population, epsilon
        A query, a population of at least two entries, and one ε or several, in nats and at least 0.
    ax
        As for :func:`plot_curve`, as are the result and the errors.
    sampling, bound : optional
        As for :func:`statpriv.privacy_curve`.
    points : int, default 100
        Approximate number of known-entry counts, from none to all others, denser near the end.
    """
    return _on_axes(
        lambda: against_known(query, population, epsilon, sampling=sampling, bound=bound, points=points), ax
    )


def plot_design(design: Design, ax: Axes | None = None) -> Axes:
    """δ of the alternatives from which a plan was chosen, the target, and the answer.

    `design` is the result of a function of `statpriv.design`. If it varies no number, the whole curve is drawn. All
    else is as for :func:`plot_curve`.
    """
    return _on_axes(lambda: design_picture(design), ax)


def plot_table_plan(plan: TablePlan, ax: Axes | None = None) -> Axes:
    """The probability that a table is published against its minimum count, one line for each recoding.

    `plan` is the result of `statpriv.design.plan_table`. The minimum that is planned and the probability that is wanted
    are drawn too. All else is as for :func:`plot_curve`.
    """
    return _on_axes(lambda: table_plan_picture(plan), ax)


def plot_designs(designs: TradeOff, axes: Sequence[Axes] | None = None) -> Sequence[Axes]:
    """δ and the root mean squared error against the number of queries, on two axes.

    `designs` is the result of `statpriv.design.trade_off`. All else is as for :func:`plot_curve`.
    """
    require_matplotlib()
    from matplotlib import pyplot

    pictures = trade_off_pictures(designs)
    if axes is None:
        _, axes = pyplot.subplots(1, len(pictures), figsize=figure_size(*pictures), layout="constrained")
    return [draw(picture, ax) for picture, ax in zip(pictures, axes, strict=True)]


def _on_axes(picture: Callable[[], Picture], ax: Axes | None) -> Axes:
    """Draw on the given axes or on new ones; nothing is computed unless it can be drawn."""
    require_matplotlib()
    from matplotlib import pyplot
    from matplotlib.axes import Axes

    if not (ax is None or isinstance(ax, Axes)):
        raise ArgumentError(f"ax = {abridged(ax)}; axes of matplotlib are required, or None for a new figure")
    computed = picture()
    if ax is None:
        _, ax = pyplot.subplots(figsize=figure_size(computed), layout="constrained")
    return draw(computed, ax)
