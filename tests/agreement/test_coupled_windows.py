"""Agreement: LIA windows at equilibrium, and the rate they give, against the window process with random losses.

The equations put one number for a window that swings between W and W/2. How much that costs is known exactly for one
path and declared as a bias for several (`WINDOW_FLUCTUATION_BIAS`); what the process must satisfy exactly, the balance
of gains and losses, checks the process itself.
"""

from functools import cache

import numpy as np
import pytest
from scipy.integrate import quad

from capsmodel.congestion import (
    WINDOW_FLUCTUATION_BIAS,
    best_path_rate_per_s,
    lia_equilibrium_windows,
    single_path_window,
)
from capsmodel.experiments.agreement import agreement
from capsmodel.experiments.measurements.coupled_windows import CoupledWindows, simulate_coupled_windows

PATHS = {
    "one path": ((0.005,), (1.0,)),
    "two alike": ((0.01, 0.01), (1.0, 1.0)),
    "one loses twice as much": ((0.01, 0.02), (1.0, 1.0)),
    "one takes four times as long": ((0.01, 0.01), (1.0, 4.0)),
    "lossy and short, clean and long": ((0.02, 0.01), (1.0, 2.0)),
    "four alike": ((0.005,) * 4, (1.0,) * 4),
    "four that differ": ((0.002, 0.01, 0.01, 0.03), (1.0, 1.0, 2.0, 3.0)),
}
MULTIPATH = [name for name in PATHS if name != "one path"]


@cache
def process(name: str) -> CoupledWindows:
    loss_probs, rtts_s = PATHS[name]
    return simulate_coupled_windows(loss_probs, rtts_s=rtts_s, connections=400, packets=25_000, rng=8)


def swinging_share() -> float:
    """Return E[W] over W^s for one path as p -> 0.

    Packet by packet W² gains 2 and a loss, every 1/p packets, leaves a quarter: p W²/2 is a sum of unit exponentials
    weighted by 4^-k. Time weighs a packet by 1/W, so E[W] = 1/E_packets[1/W], and E[Y^-1/2] is an integral of the
    transform of Y.
    """

    def transform(root: float) -> float:
        return float(2 / np.prod(1 + root**2 * 4.0 ** -np.arange(40)))

    return float(np.sqrt(np.pi) / quad(transform, 0, np.inf)[0])


def test_one_path_swings_as_derived() -> None:
    """At p = 0.005 the limit p -> 0 is right to 1%: a window of 20 packets has steps of a twentieth of a packet."""
    share = process("one path").mean_windows_packets[:, 0] / single_path_window(0.005)
    assert swinging_share() == pytest.approx(0.9262, abs=1e-4)
    verdict = agreement(swinging_share(), share, bias=0.01, detect=0.03)
    assert verdict, verdict


@pytest.mark.parametrize("name", MULTIPATH)
def test_total_window(name: str) -> None:
    loss_probs, rtts_s = PATHS[name]
    model = float(np.sum(lia_equilibrium_windows(loss_probs, rtts_s=rtts_s)))
    bias = WINDOW_FLUCTUATION_BIAS * model
    verdict = agreement(model, process(name).mean_windows_packets.sum(axis=1), bias=bias, detect=bias + 0.03 * model)
    assert verdict, verdict


@pytest.mark.parametrize("name", MULTIPATH)
def test_share_of_each_subflow(name: str) -> None:
    """How the total is divided is right much more closely than the total itself."""
    loss_probs, rtts_s = PATHS[name]
    windows = lia_equilibrium_windows(loss_probs, rtts_s=rtts_s)
    found = process(name).mean_windows_packets
    for path in range(len(windows)):
        model = float(windows[path] / windows.sum())
        verdict = agreement(model, found[:, path] / found.sum(axis=1), bias=0.01, detect=0.05)
        assert verdict, (path, str(verdict))


def test_alike_paths_take_more_than_one_tcp() -> None:
    """Eq. 9 says at most one TCP. Measured: 9% more than one TCP on two equal paths, 20% on four; never less than 0.93.

    LIA scales by the largest window of the moment, and the largest of several swinging windows is larger than their
    mean. A single TCP is the same process on one path, so it swings too.
    """
    one_tcp = process("one path").packets_per_s.mean() / best_path_rate_per_s([0.005], rtts_s=[1.0])
    measured = {}
    for name in MULTIPATH:
        loss_probs, rtts_s = PATHS[name]
        measured[name] = process(name).packets_per_s / best_path_rate_per_s(loss_probs, rtts_s=rtts_s) / one_tcp
    assert agreement(1.09, measured["two alike"], bias=0.01, detect=0.03)
    assert agreement(1.20, measured["four alike"], bias=0.02, detect=0.05)
    assert agreement(1.0, measured["four alike"], detect=0.1).verdict == "disagrees"
    assert all(rates.mean() > 0.93 for rates in measured.values())


def test_gains_balance_losses_on_one_path() -> None:
    """Exact for the process: (1-p) packets gained for each round trip are p/2 of the mean square window."""
    squares = process("one path").mean_squares_packets2[:, 0]
    model = float(single_path_window(0.005)) ** 2
    verdict = agreement(model, squares, detect=0.05 * model)
    assert verdict, verdict
