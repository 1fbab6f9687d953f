"""Ctrl-C at every step: before the spend nothing is spent and nothing is written; after it, that is what is said."""

from __future__ import annotations

import os
import signal

import pytest

from statpriv._native import RowTokens, stream_fingerprints
from statpriv.releasing.tables import duckdb as engine

from .conftest import query

BEFORE_THE_SPEND = ["ledger", "rows", "guarantee", "ids", "earlier releases", "content", "partition"]
AFTER_THE_SPEND = ["predicates", "report"]
INTERRUPTED, SPENT = 130, 5


def released(workshop, in_process, on_step):
    workshop.table(["id", "v"], [[i, i % 2] for i in range(40)])
    plan = workshop.plan(query("v = 0", rows=20), more_data='row_id = "id"')
    return in_process(
        *("release", plan, "--out", workshop.page, "--json", workshop.json, "--registry", workshop.registry),
        on_step=on_step,
    )


def interrupt_at(chosen):
    def on_step(step):
        if step == chosen:
            os.kill(os.getpid(), signal.SIGINT)

    return on_step


@pytest.mark.parametrize("step", BEFORE_THE_SPEND)
def test_before_the_spend_an_interrupt_leaves_nothing(workshop, in_process, step):
    code, _, errors = released(workshop, in_process, interrupt_at(step))
    assert code == INTERRUPTED
    assert "Traceback" not in errors
    workshop.assert_untouched()


@pytest.mark.parametrize("step", AFTER_THE_SPEND)
def test_after_the_spend_an_interrupt_says_that_rows_are_spent(workshop, in_process, step):
    code, _, errors = released(workshop, in_process, interrupt_at(step))
    assert code == SPENT
    assert "they count as spent, and there is no report" in " ".join(errors.split())
    assert workshop.spent() == [20]
    assert workshop.outputs() == []


def test_the_steps_are_all_of_them(workshop, in_process):
    steps = []
    assert released(workshop, in_process, steps.append)[0] == 0
    assert [step for step in steps if step in BEFORE_THE_SPEND] == BEFORE_THE_SPEND
    assert steps[steps.index("spend") + 1 :] == AFTER_THE_SPEND


@pytest.mark.parametrize("reading", ["ids", "content"])
def test_an_interrupt_while_batches_are_read_leaves_nothing(workshop, in_process, monkeypatch, reading):
    """The signal comes while the native code waits for the engine's next batch."""

    def interrupted(work):
        def run(*arguments, **options):
            signal.setitimer(signal.ITIMER_REAL, 0.03)
            return work(*arguments, **options)

        return run

    class Ids:
        of_stream = staticmethod(interrupted(RowTokens.of_stream))

    if reading == "ids":
        monkeypatch.setattr(engine, "RowTokens", Ids)
    else:
        monkeypatch.setattr(engine, "stream_fingerprints", interrupted(stream_fingerprints))
    interrupted_release(workshop, in_process)


def test_an_interrupt_while_the_engine_copies_leaves_nothing(workshop, in_process, before_each_statement):
    def interrupt_soon(sql):
        if sql.startswith("CREATE TABLE content"):
            signal.setitimer(signal.ITIMER_REAL, 0.01)

    before_each_statement(interrupt_soon)
    interrupted_release(workshop, in_process)


def interrupted_release(workshop, in_process):
    """A release of a million rows, interrupted by the alarm that is set in it."""
    workshop.parquet("SELECT range AS id, range % 2 AS v FROM range(1_000_000)")
    asked = query("v = 0", rows=20, probability=("1/2", "1/2"))  # the curves of a range would take longer than the rows
    plan = workshop.plan(asked, more_data='row_id = "id"', data="people.parquet")
    before = signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
    try:
        code, _, errors = in_process(
            *("release", plan, "--out", workshop.page, "--json", workshop.json, "--registry", workshop.registry)
        )
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert code == INTERRUPTED
    assert "Traceback" not in errors
    workshop.assert_untouched()
