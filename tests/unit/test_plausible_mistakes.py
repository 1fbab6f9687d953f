"""What people of the field type who do not know this library: each is answered with the remedy as code.

`curve.delta(eps=0.1)` has the message of Python alone: an answer would take a tenth of the time of every δ.
"""

from __future__ import annotations

import pytest
from docs.site.mistakes import CALLS, NAMES, NAMESPACE, VALUES

import statpriv as sp
from statpriv.numeric.calls import answered


def told(code: str) -> sp.StatprivError | AttributeError:
    with pytest.raises((sp.StatprivError, AttributeError)) as refused:
        eval(code, dict(NAMESPACE))  # noqa: S307  (code of that file)
    return refused.value


def test_there_are_more_than_sixty() -> None:
    assert len(CALLS) + len(NAMES) + len(VALUES) >= 64


@pytest.mark.parametrize(("code", "remedy"), CALLS.items())
def test_a_call_that_does_not_fit_is_answered_with_one_that_does(code: str, remedy: str) -> None:
    error = told(code)
    assert isinstance(error, sp.CallError)
    assert isinstance(error, TypeError)
    assert remedy in str(error)


@pytest.mark.parametrize(("code", "remedy"), NAMES.items())
def test_a_name_that_others_have_is_answered_with_the_one_here(code: str, remedy: str) -> None:
    error = told(code)
    assert isinstance(error, AttributeError)
    assert remedy in str(error)


@pytest.mark.parametrize(("code", "remedy"), VALUES.items())
def test_a_value_that_is_written_otherwise_is_answered_with_the_way_here(code: str, remedy: str) -> None:
    error = told(code)
    assert isinstance(error, sp.StatprivError)
    assert remedy in str(error)


def test_a_count_query_is_what_it_is_called_elsewhere() -> None:
    assert sp.CountQuery is sp.PropertyQuery


def test_a_failure_inside_is_not_taken_for_a_call_that_does_not_fit() -> None:
    @answered
    def length(value: list[int]) -> int:
        return len(value)

    with pytest.raises(TypeError, match=r"^object of type 'int' has no len\(\)$") as failed:
        length(3)  # type: ignore[arg-type]
    assert not isinstance(failed.value, sp.CallError)
    assert length([1]) == 1


def test_private_names_are_not_answered() -> None:
    assert "write" not in str(told("CURVE._repr_png_"))
