"""`curve.delta` and `curve.epsilon` of arrays agree with the results for their entries."""

import os
import signal
import subprocess
import sys
import threading
import time
from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest

import statpriv as sp

HALF = sp.PropertyQuery("1/2")
CURVES = {
    "one pair": sp.privacy_curve(HALF, sp.Population(1000)),
    "one direction": sp.privacy_curve(HALF, sp.Population(1000), pair=(1, 0)),
    "a range": sp.privacy_curve(sp.PropertyQuery(sp.Between("0.4", "0.6")), sp.Population(100)),
    "known rows": sp.privacy_curve(
        HALF,
        sp.Population(100),
        adversary=sp.Adversary(known=20),
        sampling=sp.WithoutReplacement(50),
        bound="spc",
    ),
}
EPSILONS = [0.0, 1e-12, 0.01, 0.1, 0.25, 1.0, 30.0, 1000.0]
DELTAS = [0.0, 1e-300, 1e-9, 0.001, 0.01, 0.1, 0.5, 1.0, 2.0]


@pytest.mark.parametrize("curve", CURVES.values(), ids=CURVES.keys())
def test_an_array_of_epsilon_gives_what_its_entries_give(curve):
    array = curve.delta(np.array(EPSILONS))
    assert isinstance(array, sp.EnclosureArray)
    assert list(array) == [curve.delta(epsilon) for epsilon in EPSILONS]
    assert np.all(np.diff(array.lower) <= 0)


@pytest.mark.parametrize("curve", CURVES.values(), ids=CURVES.keys())
def test_an_array_of_delta_gives_what_its_entries_give(curve):
    array = curve.epsilon(np.array(DELTAS))
    assert list(array) == [curve.epsilon(delta) for delta in DELTAS]
    reached = array.upper < inf
    assert np.all(curve.delta(array.upper[reached]).upper <= np.array(DELTAS)[reached])


ERRORS = [0.0, 0.01, "1/3", 1.0]


@pytest.mark.parametrize("curve", CURVES.values(), ids=CURVES.keys())
def test_other_views_of_an_array_give_what_its_entries_give(curve):
    assert list(curve.beta(ERRORS)) == [curve.beta(error) for error in ERRORS]
    assert list(curve.alpha(ERRORS)) == [curve.alpha(error) for error in ERRORS]
    assert list(curve.log_delta(EPSILONS)) == [curve.log_delta(epsilon) for epsilon in EPSILONS]
    assert list(curve.gaussian_mu([0.01, "0.1"])) == [curve.gaussian_mu(0.01), curve.gaussian_mu("0.1")]
    assert curve.beta(np.array([ERRORS[:2]], dtype=float)).shape == (1, 2)


def test_exact_values_of_an_array_are_fractions():
    curve = CURVES["a range"]
    exact = curve.exact_delta(exp_epsilon=[[1, "11/10"]])
    assert exact.shape == (1, 2)
    assert exact.tolist() == [[curve.exact_delta(exp_epsilon=1), curve.exact_delta(exp_epsilon=Fraction(11, 10))]]
    assert curve.exact_delta(exp_epsilon=np.array(1.5)) == curve.exact_delta(exp_epsilon=1.5)
    with pytest.raises(sp.ArgumentError, match=r"^at \[1\]: exp_epsilon = 0\.5; a number of at least 1 is required$"):
        curve.exact_delta(exp_epsilon=[1, 0.5])
    with pytest.raises(sp.ArgumentError, match=r"^at \[1\]: alpha = 2\.0; a number from 0 to 1 is required$"):
        curve.beta([0, 2])


def test_shapes_are_kept():
    curve = CURVES["one pair"]
    epsilons = np.array(EPSILONS).reshape(2, 1, 4)
    assert curve.delta(epsilons).shape == (2, 1, 4)
    assert curve.delta(epsilons)[1, 0, 2] == curve.delta(EPSILONS[6])
    assert curve.delta([]).shape == curve.epsilon([]).shape == (0,)
    assert curve.delta(np.array(0.1)) == curve.delta(0.1)
    assert curve.epsilon(np.array(0.1)) == curve.epsilon(0.1)
    assert curve.delta(epsilons.T).shape == (4, 1, 2)
    assert curve.delta(np.array(EPSILONS)[::-2]) == curve.delta(EPSILONS)[::-2]


@pytest.mark.parametrize(
    "several", [["1/3", 0.1], [Fraction(1, 3), 0.1], np.array(["1/3", "0.1"]), [0, 10**20, 10**400]], ids=repr
)
def test_exact_entries_stay_exact(several):
    curve = CURVES["one pair"]
    assert list(curve.delta(several)) == [curve.delta(epsilon) for epsilon in np.array(several, dtype=object)]
    assert list(curve.epsilon(several)) == [curve.epsilon(delta) for delta in np.array(several, dtype=object)]


@pytest.mark.parametrize(
    ("several", "message"),
    [
        ([0.1, -0.1], r"^{}\[1\] = -0\.1; a finite number of at least 0 is required$"),
        ([[0.1, nan]], r"^{}\[0, 1\] = nan; a finite number of at least 0"),
        (np.array([0.1, inf]), r"^{}\[1\] = inf; a finite number of at least 0"),
        (["0.1", "-1/3"], r"^at \[1\]: {} = '-1/3'; a number of at least 0 is required$"),
        ([0.1, None], r"^at \[1\]: {} = None is not a number"),
        ([0.1, True], r"^at \[1\]: {} = True is a truth value"),
        ({0.1: 0.2}, r"^{} = {{0\.1: 0\.2}} is not a number"),
        (b"0.1", r"^{} = b'0\.1' is not a number"),
    ],
    ids=repr,
)
def test_the_first_bad_entry_is_named(several, message):
    with pytest.raises(sp.ArgumentError, match=message.format("epsilon")):
        CURVES["one pair"].delta(several)
    with pytest.raises(sp.ArgumentError, match=message.format("delta")):
        CURVES["one pair"].epsilon(several)


def test_many_entries_are_those_of_few():
    """Several threads work on the long array; each of its entries equals that of a short array."""
    curve = sp.privacy_curve(HALF, sp.Population(5000))
    epsilons = np.linspace(0, 0.2, 1000)
    array = curve.delta(epsilons)
    assert array == curve.delta(epsilons)
    for start in range(0, 1000, 100):
        few = slice(start, start + 2)
        assert curve.delta(epsilons[few]) == array[few]


LONG = (
    "sp.privacy_curve(sp.PropertyQuery('1/2'), sp.Population(10**7), adversary=sp.Adversary(known=10**6), "
    "sampling=sp.WithoutReplacement(5 * 10**6), bound='spc').delta(np.linspace(0, 0.01, 1000))",
    "sp.laws.binomial_log_pmf(np.arange(10**4), n=10**9 + np.arange(10**4)[:, None], p=0.5)",
)
INTERRUPTED = """
import sys, time
import numpy as np
import statpriv as sp
print("working", flush=True)
try:
    {work}
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.exit(7)
print("done", flush=True)
"""


def hears_ctrl_c():
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX does")
@pytest.mark.parametrize("work", LONG)
def test_ctrl_c_ends_work_on_all_cores_at_once(work):
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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
def test_a_forked_process_has_its_own_threads():
    script = """
import os
import numpy as np
import statpriv as sp
k = np.arange(20_000)
array = sp.laws.binomial_log_pmf(k, n=10**5, p=0.5)
child = os.fork()
if child == 0:
    os._exit(0 if sp.laws.binomial_log_pmf(k, n=10**5, p=0.5) == array else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    command = [sys.executable, "-W", "ignore", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "0\n"


def test_threads_share_the_cores():
    curve = CURVES["one pair"]
    epsilons = np.linspace(0, 0.1, 200)
    alone = curve.delta(epsilons)
    found = []
    threads = [threading.Thread(target=lambda: found.append(curve.delta(epsilons))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [alone] * 6
