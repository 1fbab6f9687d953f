"""Long work lets other threads run, and ends when Ctrl-C is pressed."""

import os
import signal
import subprocess
import sys
import threading
import time

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
    """A shell's background job ignores SIGINT, and so would its children: Python installs no handler then."""
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


def test_other_threads_run_while_the_kernel_works():
    """Were the interpreter lock held, the other thread would be stopped for the whole evaluation."""
    curve = sp.privacy_curve(
        sp.PropertyQuery("1/2"),
        sp.Population(10**10),
        adversary=sp.Adversary(known=10**9),
        sampling=sp.WithoutReplacement(5 * 10**9),
        bound="spc",
    )
    ticks, done = [], threading.Event()

    def tick():
        while not done.wait(0.001):
            ticks.append(time.monotonic())

    other = threading.Thread(target=tick)
    other.start()
    started = time.monotonic()
    curve.delta("1e-6")
    ended = time.monotonic()
    done.set()
    other.join()
    during = sum(started < tick < ended for tick in ticks)
    assert during > 20


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
