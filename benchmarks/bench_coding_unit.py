"""Rate of the optimal-coding-unit search, and accuracy and rate of the decoding probability beside scipy.special.

Each prints one line. The parameter points are all different, so no table of equal blocking probabilities can help.
"""

import math
import time

import numpy as np
import pytest
from scipy.special import bdtr, betaincc
from scipy.stats import binom

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


def cpu_s(call, repeats):
    """Return the CPU seconds of one call."""
    begin = time.process_time()
    for _ in range(repeats):
        call()
    return (time.process_time() - begin) / repeats


def paired(calls, *, repeats, rounds=15):
    """Return the median CPU seconds of each call and the median ratios to the first, measured in turn."""
    seconds = np.array([[cpu_s(call, repeats) for call in calls] for _ in range(rounds)])
    return np.median(seconds, axis=0), np.median(seconds[:, :1] / seconds, axis=0)


def by_sum(k, r, prob):
    return sum(math.comb(k + r, j) * prob**j * (1 - prob) ** (k + r - j) for j in range(r + 1))


def by_scipy(k, r, prob):
    return binom.cdf(r, k + r, prob)


def naive_best(decoded, prob, *, rtt_short_s, rtt_long_s, packet_bytes, rate_bps):
    """Return the k of least delay by the loop that a reader of Eq. 4 writes, r by the ceiling rule."""
    delays = []
    for k in range(1, WINDOW_PACKETS + 1):
        r = math.ceil(k * prob / (1 - prob) - 1e-9)
        window = decoded(k, r, prob) ** (WINDOW_PACKETS / k)
        buffered_s = rtt_short_s + (k - 1) * 8 * packet_bytes / rate_bps / 2
        delays.append(window * buffered_s + (1 - window) * rtt_long_s)
    return 1 + int(np.argmin(delays))


@pytest.mark.bench
@pytest.mark.parametrize("prob", [0.05, 0.2, 0.35])
def test_one_point_beside_the_naive_loop(benchmark, prob):
    fabric = {"rtt_short_s": 1e-4, "rtt_long_s": 3e-3, "packet_bytes": 1500, "rate_bps": 1e9}
    calls = [lambda way=way: naive_best(way, prob, **fabric) for way in (by_scipy, by_sum)]
    for objective in ("eq4", "with_redundancy_cost"):
        settings = fabric | {"objective": objective}
        calls.append(lambda settings=settings: optimal_coding_unit(WINDOW_PACKETS, blocking_prob=prob, **settings))
    assert calls[0]() == calls[1]() == calls[2]().k
    seconds, ratios = paired(calls, repeats=10)
    benchmark.pedantic(calls[-1], rounds=20)
    names = ("loop of binom.cdf over k, Eq. 4", "loop of sums in floats, Eq. 4", "ours, Eq. 4", "ours, with cost")
    each = [f"{name} {s * 1e3:.2f} ms ({x:.1f})" for name, s, x in zip(names, seconds, ratios, strict=True)]
    print(f"\none point, w = {WINDOW_PACKETS}, p = {prob}, in brackets times as fast as the first: {'; '.join(each)}")


@pytest.mark.bench
@pytest.mark.parametrize(("k", "r"), [(10, 4), (64, 20), (1000, 300)])
def test_scalar_decode_prob_beside_scipy(benchmark, k, r):
    calls = [lambda: binom.cdf(r, k + r, 0.2), lambda: decode_prob(k, r=r, blocking_prob=0.2)]
    assert calls[0]() == pytest.approx(calls[1](), rel=1e-9)
    seconds, ratios = paired(calls, repeats=200)
    benchmark.pedantic(calls[-1], rounds=200)
    print(
        f"\none value, k = {k}, r = {r}: decode_prob {seconds[1] * 1e6:.0f} us, scipy.stats.binom.cdf "
        f"{seconds[0] * 1e6:.0f} us, {1 / ratios[1]:.2f} of its time"
    )
