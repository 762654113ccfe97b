"""Rate of the optimal-coding-unit search, and accuracy and rate of the decoding probability beside scipy.special.

Each prints one line. The parameter points are all different, so no table of equal blocking probabilities can help.
"""

import numpy as np
import pytest
from scipy.special import bdtr, betaincc

from capsmodel.coding.decoding import decode_prob
from capsmodel.coding.optimal_unit import optimal_coding_unit

N_POINTS = 100_000
WINDOW_PACKETS = 64
REQUIRED_PER_S = 100_000


@pytest.mark.parametrize("largest_prob", [0.5, 0.9])
@pytest.mark.parametrize("objective", ["eq4", "with_redundancy_cost"])
def test_rate_of_optimal_coding_unit(benchmark, objective, largest_prob):
    rng = np.random.default_rng(2)
    fabric = {
        "blocking_prob": rng.uniform(0, largest_prob, N_POINTS),
        "rtt_short_s": rng.uniform(0.5e-4, 2e-4, N_POINTS),
        "rtt_long_s": rng.uniform(1e-3, 5e-3, N_POINTS),
        "packet_bytes": 1500,
        "rate_bps": rng.uniform(1e9, 1e10, N_POINTS),
        "objective": objective,
    }
    assert np.unique(fabric["blocking_prob"]).size == N_POINTS
    benchmark.pedantic(optimal_coding_unit, args=(WINDOW_PACKETS,), kwargs=fabric, rounds=5, warmup_rounds=1)
    rate = N_POINTS / benchmark.stats.stats.min
    benchmark.extra_info["points_per_s"] = rate
    print(
        f"\noptimal_coding_unit, w = {WINDOW_PACKETS}, {objective}, distinct p up to {largest_prob}: "
        f"{rate:,.0f} points/s, {rate / REQUIRED_PER_S:.1f} times the {REQUIRED_PER_S:,} required"
    )


@pytest.mark.parametrize("k", [64, 10_000])
def test_rate_of_decode_prob_beside_scipy(benchmark, k):
    p = np.random.default_rng(3).uniform(0.01, 0.9, 20_000)
    r = np.ceil(k * p / (1 - p))
    benchmark.pedantic(decode_prob, args=(k,), kwargs={"r": r, "blocking_prob": p}, rounds=5, warmup_rounds=1)
    ours = decode_prob(k, r=r, blocking_prob=p)
    worst_bdtr = np.max(np.abs(bdtr(r, (k + r).astype(int), p) / ours - 1))
    worst_betaincc = np.max(np.abs(betaincc(r + 1, k, p) / ours - 1))
    print(
        f"\ndecode_prob, k = {k}: {p.size / benchmark.stats.stats.min:,.0f} values/s; largest relative difference from "
        f"betaincc {worst_betaincc:.0e}, from bdtr {worst_bdtr:.0e}"
    )
