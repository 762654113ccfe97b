"""Tables of P(more than r of n packets are lost) over unequal paths, and the command that reads them.

Each prints one line of CPU time; the two kernels are compiled, as they are for tables of this size times many paths.
"""

import time

import numpy as np

from capsmodel.coding.paths import _loss_table
from capsmodel.coding.paths.losses import PathLosses

PATHS = [0.001] * 8 + [0.005] * 4 + [0.02] * 3 + [0.1]
LEAST_OF = 5


def least_ms(call):
    """Return the least CPU time of some calls, after one that compiles."""
    call()
    found = []
    for _ in range(LEAST_OF):
        begin = time.process_time()
        call()
        found.append(1e3 * (time.process_time() - begin))
    return min(found)


def compiled(monkeypatch):
    """Compile tables of any size."""
    monkeypatch.setattr(_loss_table, "_BY_NUMPY", 0)


def test_independent_packets(monkeypatch):
    compiled(monkeypatch)
    lost, table = np.full(1100, 0.01), np.empty((1101, 101))
    taken_ms = least_ms(lambda: _loss_table.run(_loss_table.independent, lost, table, operations=1))
    print(f"\nP(more than r of n are lost), 1100 packets, r <= 100, independent: {taken_ms:.2f} ms (1 required)")
    assert taken_ms < 1


def test_runs_of_losses_on_paths_in_turn(monkeypatch):
    compiled(monkeypatch)
    losses = PathLosses(PATHS, spread="in-turn", burst_packets=3, first_path=0)
    taken_ms = least_ms(lambda: losses.failure_table(300, 60))
    print(
        f"\nthe same, 300 packets, r <= 60, runs on 16 paths in turn, one first path: {taken_ms:.1f} ms (20 required)"
    )
    assert taken_ms < 20


def test_any_first_path():
    """By NumPy, as a command does it."""
    for kind, runs in (("independent", None), ("runs", 3)):
        losses = PathLosses(PATHS, spread="in-turn", burst_packets=runs)
        taken_ms = least_ms(lambda losses=losses: losses.failure_table(150, 30))
        print(f"\nthe same, 150 packets, r <= 30, 16 first paths, {kind}, by NumPy: {taken_ms:.0f} ms")
