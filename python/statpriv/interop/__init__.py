"""Exchange with other accountants: privacy loss distributions, privacy profiles, trade-off functions, arrays.

>>> import statpriv as sp
>>> sp.interop.privacy_profile(sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(3)))(0)
0.5
"""

from statpriv.interop.exports import to_dp_accounting, to_opendp
from statpriv.interop.privacy_loss_distribution import DominatingPair, dominating_pair, privacy_loss_distribution
from statpriv.interop.profile import ProfileArrays, privacy_profile, profile_arrays, trade_off
from statpriv.interop.query import PairOfLaws, query_from_distribution, query_from_laws

__all__ = [
    "DominatingPair",
    "PairOfLaws",
    "ProfileArrays",
    "dominating_pair",
    "privacy_loss_distribution",
    "privacy_profile",
    "profile_arrays",
    "query_from_distribution",
    "query_from_laws",
    "to_dp_accounting",
    "to_opendp",
    "trade_off",
]


def __dir__() -> list[str]:
    return sorted(__all__)
