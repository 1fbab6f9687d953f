"""Who waits for many values is told how many are found, where somebody watches, and nowhere else."""

import io
import os
from contextlib import redirect_stderr

import numpy as np
import pytest

import statpriv as sp
from statpriv._native import Curve, delta_array, epsilon_array, rough_delta_array
from statpriv.numeric import waiting

SLOW = Curve.each_in_range(others=3000, lower="0.1", upper="0.6")
EPSILONS = np.linspace(0.01, 0.4, 200)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    monkeypatch.setattr(waiting, "_PATIENCE", 0.0)


def test_the_number_of_values_is_shown_and_taken_back():
    with redirect_stderr(Terminal()) as shown, waiting.while_found("δ at ε") as on_done:
        on_done(3, 1000)
        on_done(20, 1000)
    assert shown.getvalue() == "\rδ at ε: 3 of 1,000\rδ at ε: 20 of 1,000\r                   \r"


def test_nobody_waits_a_word_long(monkeypatch):
    monkeypatch.setattr(waiting, "_PATIENCE", 1000.0)
    with redirect_stderr(Terminal()) as shown, waiting.while_found("δ at ε") as on_done:
        on_done(3, 1000)
    assert shown.getvalue() == ""


@pytest.mark.parametrize("stream", [io.StringIO(), None])
def test_where_nobody_watches_nothing_is_written(stream):
    with redirect_stderr(stream), waiting.while_found("δ at ε") as on_done:
        assert on_done is None


def test_where_progress_is_shown_elsewhere_nothing_is_written():
    with redirect_stderr(Terminal()):
        with waiting.shown_elsewhere(), waiting.while_found("δ at ε") as on_done:
            assert on_done is None
        with waiting.while_found("δ at ε") as on_done:
            assert on_done is not None


def test_the_line_is_taken_back_after_an_error():
    def interrupted():
        with waiting.while_found("δ at ε") as on_done:
            on_done(1, 2)
            raise KeyboardInterrupt

    with redirect_stderr(Terminal()) as shown, pytest.raises(KeyboardInterrupt):
        interrupted()
    assert shown.getvalue().endswith(" \r")


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one processor evaluates one value after the other")
@pytest.mark.parametrize("evaluate", [delta_array, lambda *given: rough_delta_array(*given[:2], 1e-6, given[2])])
def test_the_kernel_tells_how_many_are_done_and_finds_the_same(evaluate):
    told = []
    found = evaluate(SLOW, EPSILONS, lambda done, of: told.append((done, of)))
    assert {of for _, of in told} == {len(EPSILONS)}
    done = [done for done, _ in told]
    assert done == sorted(done)
    assert np.array_equal(found, evaluate(SLOW, EPSILONS, None))


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one processor evaluates one value after the other")
def test_what_is_told_may_end_the_work():
    def enough(done, of):
        raise InterruptedError(f"{done} of {of}")

    with pytest.raises(InterruptedError, match="of 40"):
        epsilon_array(SLOW, np.linspace(0.001, 0.01, 40), enough)


def test_a_curve_shows_it(monkeypatch):
    """Of a curve that takes long enough to be asked."""
    monkeypatch.setattr("statpriv.curves.evaluation.delta_array", _slowly)
    curve = sp.privacy_curve(sp.PropertyQuery("1/2"), sp.Population(10))
    with redirect_stderr(Terminal()) as shown:
        assert curve.delta([0.1, 0.2]).upper.tolist() == [1.0, 1.0]
    assert "δ at ε: 1 of 2" in shown.getvalue()


def _slowly(_, doubles, on_done):
    on_done(1, 2)
    return np.ones((*doubles.shape, 2))
