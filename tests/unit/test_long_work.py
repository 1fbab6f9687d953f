"""Long computations let other threads run, and end when Ctrl-C is pressed."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import statpriv as sp

LONG = (
    "sp.privacy_curve(sp.PropertyQuery('1/2'), sp.Population(10**7), adversary=sp.Adversary(known=10**6), "
    "sampling=sp.WithoutReplacement(5 * 10**6), bound='spc')"
)
INTERRUPTED = f"""
import sys
import statpriv as sp
curve = {LONG}
print("working", flush=True)
try:
    {{work}}
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.exit(7)
print("done", flush=True)
"""


def hears_ctrl_c():
    """A background job of a shell ignores SIGINT and passes this on: Python then installs no handler."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX does")
@pytest.mark.parametrize("work", ["curve.epsilon('1e-9')", "[curve.delta(k / 1000) for k in range(1000)]"])
def test_ctrl_c_ends_minutes_of_work_at_once(work):
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED.format(work=work)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hears_ctrl_c,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "working\n"
        time.sleep(0.5)
        assert process.poll() is None, "the work was over before it could be interrupted"
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=10)
    finally:
        process.kill()
        process.wait()
    assert (output, errors, process.returncode) == ("interrupted\n", "", 7)


def one_hard_evaluation():
    curve = sp.privacy_curve(
        sp.PropertyQuery("1/2"),
        sp.Population(10**10),
        adversary=sp.Adversary(known=10**9),
        sampling=sp.WithoutReplacement(5 * 10**9),
        bound="spc",
    )
    return lambda: curve.delta("1e-6")


def many_values():
    k = np.arange(500_000)
    return lambda: sp.laws.binomial_log_pmf(k, n=10**6, p=0.5)


@pytest.mark.parametrize("work", [one_hard_evaluation, many_values])
def test_other_threads_run_while_the_kernel_works(work):
    """If the kernel held the interpreter lock, another thread could move at most once before and once after its work.

    The number of moves depends on the machine, so the work is repeated until there are enough.
    """
    call = work()
    count, done = 0, threading.Event()

    def tick():
        nonlocal count
        while not done.wait(0.0005):
            count += 1

    other = threading.Thread(target=tick)
    other.start()
    try:
        for _ in range(50):
            before = count
            call()
            if count - before >= 5:
                return
    finally:
        done.set()
        other.join()
    pytest.fail("no other thread ran during 50 calls")


def test_threads_share_a_curve():
    curve = sp.privacy_curve(
        sp.PropertyQuery("1/3"), sp.Population(10**5), adversary=sp.Adversary(known=10**4), bound="exact"
    )
    alone = curve.delta("0.001")
    found = []
    threads = [threading.Thread(target=lambda: found.append(curve.delta("0.001"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [alone] * 8
