"""One exact count, as the options of a command describe it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial, wraps
from typing import TYPE_CHECKING

import rich_click as click

from statpriv.cli.options import count_from, each_option, exact_range
from statpriv.numeric.literals import literal

if TYPE_CHECKING:
    from statpriv.curves.curve import PrivacyCurve


@dataclass(frozen=True)
class SingleCount:
    """How many of `n` entries, or of a secret sample of `size` of them, have a property."""

    n: int
    p: tuple[Fraction, Fraction]
    known: int = 0
    size: int | None = None
    bound: str = "tightest"
    each: bool = False

    def curve(self) -> PrivacyCurve:
        """The privacy curve of the count."""
        import statpriv as sp
        from statpriv.model.codec import stated_range

        return sp.privacy_curve(
            sp.PropertyQuery(stated_range(self.p, each=self.each)),
            sp.Population(self.n),
            adversary=sp.Adversary(known=self.known),
            sampling=None if self.size is None else sp.WithoutReplacement(self.size),
            bound=self.bound,
        )

    def inputs(self) -> dict[str, object]:
        """What was asked, for JSON: probabilities as exact strings."""
        low, high = self.p
        return {
            "n": self.n,
            "p": str(low) if low == high else [str(low), str(high)],
            "each": self.each,
            "known": self.known,
            "size": self.size,
            "bound": self.bound,
        }

    def __str__(self) -> str:
        low, high = self.p
        entries = (
            f"all {self.n} entries" if self.size is None else f"a secret sample of {self.size} of {self.n} entries"
        )
        any_p = "a p of its own for each" if self.each else "any p"
        p = f"p = {literal(low)}" if low == high else f"{any_p} from {literal(low)} to {literal(high)}"
        return f"exact count of {entries}, {p}, {self.known or 'no'} entries known"


_option = partial(click.option, show_default=True)


def single_count_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a :class:`SingleCount`, as the argument `count`."""

    @_option("--n", callback=count_from(1), metavar="COUNT", required=True, help="Entries, the critical one included.")
    @_option(
        "--p", callback=exact_range, metavar="P", required=True, help="Probability: 1/2, 0.4, or a range 0.4..0.6."
    )
    @each_option
    @_option("--known", callback=count_from(0), metavar="COUNT", default="0", help="Other entries an adversary knows.")
    @_option("--size", callback=count_from(1), metavar="COUNT", help="Count in a secret sample of this many entries.")
    @_option("--bound", metavar="NAME", default="tightest", help="Which theorem: tightest, exact, spc, partition-sum …")
    @wraps(command)
    def described(
        *, n: int, p: tuple[Fraction, Fraction], each: bool, known: int, size: int | None, bound: str, **others: object
    ) -> None:
        command(count=SingleCount(n=n, p=p, known=known, size=size, bound=bound, each=each), **others)

    return described
