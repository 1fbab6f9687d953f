"""The page that explores one count or one exact table: what a form states, the certified numbers, and code for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import ceil, log10
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import statpriv as sp
from statpriv.numeric.exact import as_nonnegative
from statpriv.numeric.literals import at_most
from statpriv.studio.fields import whole

if TYPE_CHECKING:
    from statpriv.curves.curve import PrivacyCurve

__all__ = ["Explored"]

_REMEMBERED = 64

_DEFAULTS = {
    "what": "count",
    "n": "1000",
    "low": "0.4",
    "high": "0.6",
    "each": "",
    "known": "0",
    "size": "",
    "minimum": "10",
    "epsilon": "0.1",
}
_POINTS = 24
_FEWEST_DECADES = 1e-12


@dataclass(frozen=True)
class Explored:
    """What the form states, as texts."""

    fields: Mapping[str, str]

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Explored:
        """The form with what an address states, and the defaults for the rest."""
        if not given:
            return cls(_DEFAULTS)
        ticked = {"each": ""} if "what" in given else {}
        return cls({**_DEFAULTS, **ticked, **{key: given[key].strip() for key in _DEFAULTS if key in given}})

    @property
    def address(self) -> str:
        """The address of this state."""
        return f"/explore?{urlencode(self.fields)}"

    @property
    def is_table(self) -> bool:
        """Whether an exact table is explored."""
        return self.fields["what"] == "table"

    @property
    def epsilon(self) -> str:
        """ε as it is written."""
        return self.fields["epsilon"]

    def _whole(self, name: str) -> int:
        return whole(name, self.fields[name])

    @property
    def _ends(self) -> tuple[str, str]:
        """The least and the largest probability; one that stands alone is both."""
        return self.fields["low"], self.fields["high"] or self.fields["low"]

    @cached_property
    def _upper(self) -> str:
        """The certified upper end of δ."""
        return at_most(self.curve.delta(self.epsilon).upper)

    @cached_property
    def curve(self) -> PrivacyCurve:
        """The privacy curve.

        Raises
        ------
        StatprivError
            With a sentence about the value that is not allowed.
        """
        known = self._whole("known")
        if self.is_table:
            return sp.minimum_count_curve(self._whole("minimum"), known=known)
        low, high = self._ends
        p = sp.EachBetween(low, high) if self.fields["each"] else low if low == high else sp.Between(low, high)
        return sp.privacy_curve(
            sp.PropertyQuery(p),
            sp.Population(self._whole("n")),
            adversary=sp.Adversary(known=known),
            sampling=sp.WithoutReplacement(self._whole("size")) if self.fields["size"] else None,
        )

    @property
    def answer(self) -> str:
        """The certified δ in words."""
        return f"δ ≤ {self._upper}"

    @property
    def promise(self) -> str:
        """What that means for one person."""
        return (
            f"Whatever anyone looks for in the {'table' if self.is_table else 'count'}, its chance is at most "
            f"e^{self.epsilon} times the chance it would have if one person’s row held another value, plus "
            f"{self._upper}."
        )

    @property
    def picture(self) -> tuple[str, str]:
        """δ against ε as the path of an SVG in a box of 1000 by 1000, logarithmic in δ, and what its axes are."""
        last = max(ceil(2 * as_nonnegative(self.epsilon, "epsilon")), 1)
        return _picture(tuple(sorted({**self.fields, "epsilon": str(last)}.items())))

    @property
    def python(self) -> str:
        """The same in Python."""
        fields, known = self.fields, self.fields["known"]
        if self.is_table:
            return (
                "import statpriv as sp\n"
                f"curve = sp.minimum_count_curve({fields['minimum']}, known={known})\n"
                f'curve.delta("{self.epsilon}")'
            )
        low, high = self._ends
        p = f'sp.EachBetween("{low}", "{high}")' if fields["each"] else f'sp.Between("{low}", "{high}")'
        p = f'"{low}"' if low == high and not fields["each"] else p
        sample = f", sampling=sp.WithoutReplacement({fields['size']})" if fields["size"] else ""
        return (
            "import statpriv as sp\n"
            f"curve = sp.privacy_curve(sp.PropertyQuery({p}), sp.Population({fields['n']}), "
            f"adversary=sp.Adversary(known={known}){sample})\n"
            f'curve.delta("{self.epsilon}")'
        )

    @property
    def command(self) -> str:
        """The same as a command; of a table it reviews one that is published."""
        fields = self.fields
        if self.is_table:
            return f"statpriv assess crosstab.csv --minimum {fields['minimum']} --epsilon {self.epsilon}"
        low, high = self._ends
        p = low if low == high else f"{low}..{high}"
        each = " --each" if fields["each"] else ""
        size = f" --size {fields['size']}" if fields["size"] else ""
        return (
            f"statpriv delta --n {fields['n']} --p {p}{each} --known {fields['known']}{size} --epsilon {self.epsilon}"
        )

    @property
    def toml(self) -> str:
        """The same as a composition file for `statpriv compose`, or as a table of a plan."""
        fields = self.fields
        if self.is_table:
            return f'[[table]]\nname = "…"\nminimum = {fields["minimum"]}\n[table.dimensions]\n# column = ["…", "*"]'
        low, high = self._ends
        each = "each = true\n" if fields["each"] else ""
        return (
            f'epsilon = "{self.epsilon}"\npopulation = {fields["n"]}\nknown_rows = {fields["known"]}\n\n[[part]]\n'
            f'probability = ["{low}", "{high}"]\n{each}'
            f"size = {fields['size'] or fields['n']}"
        )


@lru_cache(_REMEMBERED)
def _picture(fields: tuple[tuple[str, str], ...]) -> tuple[str, str]:
    """The picture up to the ε of these fields: moving ε alone does not draw it again."""
    state = Explored(dict(fields))
    last = int(state.epsilon)
    epsilons = [k * last / _POINTS for k in range(_POINTS + 1)]
    values = [max(state.curve.delta(epsilon).upper, _FEWEST_DECADES) for epsilon in epsilons]
    least = min(*values, 0.1)
    points = [
        f"{1000 * epsilon / last:.1f} {1000 * log10(value) / log10(least):.1f}"
        for epsilon, value in zip(epsilons, values, strict=True)
    ]
    return "M" + " L".join(points), f"from 1 at the top to {at_most(least, 2)}; ε from 0 to {last}"
