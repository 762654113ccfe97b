"""Agreement: the delay of a window of 64 packets over k, in simulated packets, against both objectives.

CAPS Fig. 8(d) and 9. Measured is the time to the last acknowledgement, and, as a second reading of the paper's words,
the mean over packets. Packets take 12 us each at the NIC, so a window takes 0.77 ms to send, which CAPS
Eq. 4 leaves out, and its packets wait for their unit while later ones are sent, not in addition: both are the
same for all k up to the repair packets. Set: 10 paths, 2 or 3 long flows, r by the ceiling rule and r as
``with_redundancy_cost`` prescribes, the k below. Neither objective's delays agree; the tests say which optimum holds.
"""

from functools import cache

import numpy as np
import pytest

from capsmodel import repair_packets
from capsmodel.coding_unit import delay_curve, optimal_coding_unit, window_delay_s
from capsmodel.experiments.agreement import agreement
from capsmodel.experiments.measurements.coding_units import (
    WINDOW_PACKETS,
    mean_packet_delays_s,
    run_units,
    window_delays_s,
)
from capsmodel.experiments.statistics import mean_interval, welch_difference

FABRIC = {"rtt_short_s": 1e-4, "rtt_long_s": 3e-3, "packet_bytes": 1500, "rate_bps": 1e9}
SIZES = (1, 4, 16, 28, 32, 61, 64)
WINDOWS = 400
SEED = 20261121  # the tests were written from seed 7; this one confirms them


@cache
def delays_s(k, r, long_flows):
    return window_delays_s(run_units(k, r=r, n_paths=10, long_flows=long_flows, windows=WINDOWS, seed=SEED))


def ceiling(k, long_flows):
    return repair_packets(k, blocking_prob=long_flows / 10)


def best_repair(k, long_flows):
    return int(delay_curve(WINDOW_PACKETS, blocking_prob=long_flows / 10, **FABRIC).r[k - 1])


@pytest.mark.parametrize("long_flows", [2, 3])
@pytest.mark.parametrize("repair", [ceiling, best_repair])
def test_one_unit_for_the_window_is_fastest(long_flows, repair):
    """With few and with many repair packets each k listed up to 32 is slower, at 99.9 %; 61 is not told apart."""
    least = delays_s(64, repair(64, long_flows), long_flows)
    for k in SIZES[:-2]:
        slower = welch_difference(delays_s(k, repair(k, long_flows), long_flows), least, confidence=0.999)
        assert slower.low > 0, f"k = {k}: {slower}"


@pytest.mark.parametrize("long_flows", [2, 3])
def test_eq4_puts_its_optimum_near_the_window_and_the_other_objective_does_not(long_flows):
    p = long_flows / 10
    assert optimal_coding_unit(64, blocking_prob=p, objective="eq4", **FABRIC).k == 61
    best = optimal_coding_unit(64, blocking_prob=p, **FABRIC)
    assert best.k == {2: 28, 3: 32}[long_flows]
    excess = welch_difference(
        delays_s(best.k, best.r, long_flows), delays_s(64, best_repair(64, long_flows), long_flows), confidence=0.999
    )
    assert 0.05e-3 < excess.low < excess.high < 0.5e-3


@pytest.mark.parametrize("long_flows", [2, 3])
def test_r_matters_more_than_k(long_flows):
    """The r that the cost objective prescribes beats the ceiling rule at its own best k, though that k is not best."""
    best = optimal_coding_unit(64, blocking_prob=long_flows / 10, **FABRIC)
    by_cost, by_rule = delays_s(best.k, best.r, long_flows), delays_s(64, ceiling(64, long_flows), long_flows)
    assert welch_difference(by_rule, by_cost, confidence=0.999).low > 0.3e-3


@pytest.mark.parametrize(("objective", "missing_s"), [("eq4", 0.74e-3), ("with_redundancy_cost", 0.24e-3)])
def test_neither_objective_gives_the_delay(objective, missing_s):
    """A finding, kept visible: at k = 64, r = 42 and p_B = 0.3 both are too small, by about this much."""
    r = best_repair(64, 3)
    model = window_delay_s(64, r=r, window_packets=64, blocking_prob=0.3, objective=objective, **FABRIC)
    verdict = agreement(model, mean_interval(delays_s(64, r, 3)), detect=0.1e-3)
    assert verdict.verdict == "disagrees"
    assert verdict.measured - model == pytest.approx(missing_s, abs=0.04e-3)


def test_both_engines_give_the_same_delays():
    compiled, reference = (
        run_units(16, r=8, n_paths=10, long_flows=2, windows=2, seed=3, engine=engine)
        for engine in ("compiled", "reference")
    )
    assert (np.sort(window_delays_s(compiled)) == np.sort(window_delays_s(reference))).all()


def test_mean_over_packets_is_least_inside():
    """The second reading, r as the cost objective prescribes: u-shaped, and its k = 28 beats both ends."""
    runs = {
        k: run_units(k, r=best_repair(k, 2), n_paths=10, long_flows=2, windows=WINDOWS, seed=SEED) for k in (4, 28, 64)
    }
    found = {k: mean_packet_delays_s(result) for k, result in runs.items()}
    assert welch_difference(found[4], found[28], confidence=0.999).low > 0.02e-3
    assert welch_difference(found[64], found[28], confidence=0.999).low > 0.02e-3
