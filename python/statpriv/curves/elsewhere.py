"""Names that other accountants have for what a curve says, answered with the call that says it here."""

from __future__ import annotations

from collections.abc import Iterable

from statpriv.numeric.calls import closest

__all__ = ["answer"]

_ELSEWHERE = {
    "compose": "compare(), or sp.compose([…], population, partition) for several answers",
    "eps": "epsilon(1e-6)",
    "get_beta": "beta(0.05)",
    "get_delta": "delta(0.1)",
    "get_delta_for_epsilon": "delta(0.1)",
    "get_eps": "epsilon(1e-6)",
    "get_epsilon": "epsilon(1e-6)",
    "get_epsilon_for_delta": "epsilon(1e-6)",
    "rdp": "renyi(2)",
    "rho": "zcdp()",
    "self_compose": "compare(), or sp.compose([…], population, partition) for several answers",
    "summary": "explain()",
    "to_dp_accounting": "delta(0.1), or sp.interop.to_dp_accounting(curve)",
    "to_opendp": "delta(0.1), or sp.interop.to_opendp(curve)",
    "trade_off": "beta(0.05)",
    "tradeoff": "beta(0.05)",
}


def answer(name: str, known: Iterable[str]) -> str:
    """The message for an attribute that a curve does not have.

    >>> answer("get_epsilon", [])
    "a PrivacyCurve has no attribute 'get_epsilon'; write curve.epsilon(1e-6)"
    """
    close = None if name.startswith("_") else _ELSEWHERE.get(name) or closest(name, known)
    return f"a PrivacyCurve has no attribute {name!r}" + (f"; write curve.{close}" if close else "")
