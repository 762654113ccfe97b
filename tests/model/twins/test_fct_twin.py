"""Second implementation of RepFlow's Eq. 1-14, straight from the paper, with SciPy's adaptive quadrature."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad

from capsmodel.fct.completion import mean_fct, tail_fct
from capsmodel.fct.long_flows import mean_fct_long, tail_fct_long
from capsmodel.workloads.catalogue import load_workload

M, S_L, K, EPS = 44, 68, 12, 0.05
LOADS = (0.1, 0.4, 0.8)
NAMES = ("websearch", "datamining", "fb_cachefollower_expresspass", "solar2022")


def average(g, sizes, low, high):
    """Integral of g f over (low, high], steps of the distribution included, over the share of flows there."""
    total, share = 0.0, 0.0
    points = list(zip(sizes.sizes, sizes.cdf_values, strict=True))
    for i in range(1, len(points)):
        (a, below), (b, upto) = points[i - 1], points[i]
        mass = upto - below
        if a == b:
            if low < a <= high:
                total, share = total + mass * g(a), share + mass
            continue
        start, end = max(a, low), min(b, high)
        if start < end and mass > 0:
            density = mass / (b - a)
            # In log size, where the integrands are smooth over many decades; the piece below 1e-12 is nothing.
            cuts = sorted({max(start, 1e-12), end, *(c for c in (1.0, 12.0) if start < c < end)})
            for left, right in itertools.pairwise(cuts):
                piece, _ = quad(
                    lambda y: g(math.exp(y)) * math.exp(y),
                    math.log(left),
                    math.log(right),
                    epsabs=1e-14,
                    epsrel=1e-13,
                    limit=200,
                )
                total += density * piece
            share += density * (end - start)
    return total / share


@pytest.fixture(params=NAMES)
def sizes(request):
    return load_workload(request.param).in_packets(1500)


@pytest.mark.parametrize("rounding", ["fractional", "whole"])
def test_short_flows(sizes, rounding):
    def rounds(x):
        exact = math.log2(x / K + 1)
        return exact if rounding == "fractional" else max(math.ceil(exact), 1)

    def clamp(x):
        return max(x, 1.0)

    edges = [K * (2**i - 1) for i in range(1, 4)]
    if rounding == "whole":
        # One piece for each number of rounds, so that the quadrature sees no jump.
        pieces = list(zip([0, *[e for e in edges if e < S_L]], [*[e for e in edges if e < S_L], S_L], strict=True))
    else:
        pieces = [(0, S_L)]
    shares = [float(sizes.cdf(b) - (sizes.cdf(a) if a else 0.0)) for a, b in pieces]

    def mean_over_short(g):
        parts = [average(g, sizes, a if a else -1.0, b) * w for (a, b), w in zip(pieces, shares, strict=True) if w > 0]
        return sum(parts) / sum(shares)

    integral_j = mean_over_short(lambda x: rounds(clamp(x)) / clamp(x))
    integral_n = mean_over_short(lambda x: (rounds(clamp(x)) - 1 + 2 * math.log(10)) / clamp(x))
    for rho in LOADS:
        for copies, seen in ((1, rho), (2, (1 + EPS) ** 2 * rho**2)):
            wait = seen * M / (2 * (1 - seen))
            options = {"sizes": sizes, "rounding": rounding, "replicas": copies, "short_byte_share": EPS}
            assert mean_fct(rho, **options) == pytest.approx(wait * integral_j + 1, rel=1e-9)
            assert tail_fct(rho, **options) == pytest.approx(wait * integral_n + 1, rel=1e-9)


def test_long_flows(sizes):
    integral_p = average(lambda x: 1 / x, sizes, S_L, math.inf)
    for rho in LOADS:
        for copies, load in ((1, rho), (2, (1 + EPS) * rho)):
            wait = load * M / (2 * (1 - load))
            mean = load / (2 * (1 - load)) + 1
            options = {"sizes": sizes, "replicas": copies, "short_byte_share": EPS}
            assert mean_fct_long(rho, **options) == pytest.approx(mean, rel=1e-12)
            expected = mean + (2 * math.log(10) - 1) * wait * integral_p
            assert tail_fct_long(rho, **options) == pytest.approx(expected, rel=1e-9)


def test_whole_packets_by_plain_sums():
    distribution = load_workload("websearch").in_packets(1500, whole=True)
    packets = np.arange(1, 20_001)
    mass = np.diff(np.concatenate([[0.0], distribution.cdf(packets)]))
    short = packets <= S_L
    rounds = np.array([next(m for m in range(1, 20) if K * (2**m - 1) >= x) for x in packets])
    wait = 0.6 * M / 0.8
    expected = wait * np.sum((rounds / packets * mass)[short]) / mass[short].sum() + 1
    assert mean_fct(0.6, sizes=distribution, rounding="whole") == pytest.approx(expected, rel=1e-12)
    bursts = -(-packets // M)
    expected = wait * np.sum((bursts / packets * mass)[~short]) / mass[~short].sum() + 1
    assert mean_fct_long(0.6, sizes=distribution, rounding="whole") == pytest.approx(expected, rel=1e-12)
