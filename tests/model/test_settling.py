"""Identity and property: how far a run comes to its load, against sums in fractions, and residual sizes."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsmodel import (
    FlowSizes,
    ParameterError,
    load_workload,
    run_bias,
    run_flows,
    run_length,
    run_precision,
    settled_share,
)
from capsmodel.queueing.settling import mean_slowdown, settling_s

TWO = FlowSizes([1000, 1000, 50_000, 50_000], [0, 0.75, 0.75, 1])  # three of four small
ONE_GBPS = 1e9


def in_progress_share(sizes: dict[int, Fraction], load: Fraction, arrivals: Fraction, warm_up: Fraction) -> Fraction:
    """Return the mean over [warm_up, arrivals] of E[min(D, t)] / E[D], in units in which a byte takes 1 alone.

    Flows that arrive at a constant rate from 0 on and last D do not meet: at time t those are in progress that began
    less than D ago. The integral of min(D, t) is t^2/2 up to D, and grows by D from there.
    """
    factor = (1 + load) / (1 - load) ** 2

    def integral(size: int, until: Fraction) -> Fraction:
        lasts = size * factor
        return until**2 / 2 if until <= lasts else lasts**2 / 2 + lasts * (until - lasts)

    total = sum(p * (integral(size, arrivals) - integral(size, warm_up)) for size, p in sizes.items())
    return total / (sum(p * size for size, p in sizes.items()) * factor * (arrivals - warm_up))


def test_settled_share_is_that_of_flows_that_do_not_meet(subtests: pytest.Subtests) -> None:
    for arrivals in [900, 60_000, 1_000_000, 10**9]:
        for warm_up in [0, 3_000, 400_000]:
            for load in [Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)]:
                with subtests.test(arrivals=arrivals, warm_up=warm_up, load=load):
                    until = Fraction(warm_up + arrivals)
                    exact = in_progress_share(
                        {1000: Fraction(3, 4), 50_000: Fraction(1, 4)}, load, until, Fraction(warm_up)
                    )
                    byte_s = 8 / ONE_GBPS
                    found = settled_share(
                        TWO,
                        load=float(load),
                        rate_bps=ONE_GBPS,
                        arrivals_s=float(until) * byte_s,
                        warm_up_s=warm_up * byte_s,
                    )
                    assert found == pytest.approx(float(exact), rel=1e-9)


@given(load=st.floats(0.01, 0.95), settled=st.floats(0.05, 0.99), hosts=st.integers(2, 4096))
def test_run_length_is_the_inverse_of_the_settled_share(load: float, settled: float, hosts: int) -> None:
    """One flow fewer does not reach the share, whatever the rate of the links."""
    sizes = load_workload("websearch")
    flows = run_length(sizes, load=load, hosts=hosts, settled=settled)

    def share(number: float) -> float:
        arrivals_s = number * 8 * sizes.mean_bytes / (load * hosts * 25e9)
        return settled_share(sizes, load=load, rate_bps=25e9, arrivals_s=arrivals_s)

    assert share(flows) >= settled - 1e-6
    if flows > 1:
        assert share(flows - 1) < settled + 1e-6


def test_run_length_has_one_line_where_arrivals_outlast_every_flow() -> None:
    """16 hosts, load 1/2, one size: 16 (1/2)(3/2) / (2 (1/10)(1/4)) = 240; E[X^2]/E[X]^2 of `TWO` times as many."""
    assert run_length(FlowSizes.fixed(1000), load=0.5, hosts=16) == 240
    squares = (0.75 * 1000**2 + 0.25 * 50_000**2) / (0.75 * 1000 + 0.25 * 50_000) ** 2
    assert run_length(TWO, load=0.5, hosts=16) == np.ceil(240 * squares)


def test_numbers_of_the_published_workloads() -> None:
    """32 hosts: 1 + cv^2 is 6.4 for web search and 65 for data mining, to a percent."""
    flows = {name: run_length(load_workload(name), load=0.6, hosts=32) for name in ("websearch", "datamining")}
    assert flows["websearch"] == pytest.approx(6117, rel=0.02)
    assert flows["datamining"] == pytest.approx(62_549, rel=0.02)


def test_bias_is_the_lacking_share_of_what_flows_wait_for_each_other() -> None:
    given = {"load": 0.6, "rate_bps": 1e10, "arrivals_s": 0.05}
    sizes = load_workload("websearch")
    lacking = 1 - settled_share(sizes, **given)
    assert run_bias(sizes, **given) == pytest.approx(-lacking * 3 / 4, rel=1e-12)  # slowdown 4, of which 3 are others
    assert mean_slowdown(0.6) == pytest.approx(4, rel=1e-15)
    assert settling_s(1e6, load=0.6, rate_bps=1e10) == pytest.approx(8e6 / 1e10 * 4 / 0.4, rel=1e-14)


def test_precision_by_hand_and_without_long_flows() -> None:
    """1600 flows of 125 MB, 16 hosts, load 1/2: 4 (6/(200 16) + 1/1600) = 0.01, so 1.96 0.1 / 3."""
    assert run_precision(FlowSizes.fixed(125_000_000), load=0.5, hosts=16, flows=1600) == pytest.approx(
        0.196 / 3, rel=1e-12
    )
    assert run_precision(FlowSizes.fixed(1000), load=0.5, hosts=16, flows=1600) == np.inf


def test_flows_for_a_half_width_are_the_fewest_that_give_it(subtests: pytest.Subtests) -> None:
    for load in [0.1, 0.6, 0.9]:
        for half_width in [0.01, 0.05, 0.3]:
            with subtests.test(load=load, half_width=half_width):
                given = {"load": load, "hosts": 16}
                sizes = load_workload("websearch")
                flows = run_flows(sizes, half_width=half_width, **given)
                assert (
                    run_precision(sizes, flows=flows, **given)
                    <= half_width
                    < run_precision(sizes, flows=flows - 1, **given)
                )
                assert run_flows(FlowSizes.fixed(1000), half_width=half_width, **given) == np.inf
                with pytest.raises(ParameterError, match="half_width = 1, but it must be below 1"):
                    run_flows(sizes, half_width=1.0, **given)


def test_residual_sizes_follow_the_law_of_flows_in_progress(subtests: pytest.Subtests) -> None:
    """P(whole <= x) is the share of bytes in flows of at most x; the mean of what is left is E[X^2]/(2 E[X])."""
    cases = [TWO, FlowSizes.uniform(1000, 9000), load_workload("websearch")]
    for sizes in cases:
        with subtests.test(sizes=sizes):
            left, whole = sizes.sample_residual(40_000, rng=5)
            assert np.all((left >= 1) & (left <= whole))
            for x in np.quantile(whole, [0.2, 0.5, 0.8]):
                share = sizes.byte_share_below(x)
                assert np.mean(whole <= x) == pytest.approx(
                    share, abs=4 * np.sqrt(share * (1 - share) / len(whole)) + 1e-3
                )
            square = sizes.expectation(lambda x: x**2)
            mean = square / (2 * sizes.expectation(lambda x: x))
            assert left.mean() == pytest.approx(mean, abs=4 * left.std() / np.sqrt(len(left)) + 1)
            places = left / whole
            assert places.mean() == pytest.approx(0.5, abs=4 / np.sqrt(12 * len(left)) + 1e-3)


def test_refusals(subtests: pytest.Subtests) -> None:
    cases = [
        ({"load": 1.0}, "load = 1, but it must be below 1"),
        ({"load": -0.1}, "load"),
        ({"rate_bps": 0}, "rate_bps"),
        ({"arrivals_s": 0}, "arrivals_s"),
        ({"warm_up_s": 2.0}, "warm_up_s = 2, but it must be below arrivals_s = 1"),
    ]
    for changed, message in cases:
        with subtests.test(changed=changed, message=message):
            with pytest.raises(ParameterError, match=message):
                settled_share(TWO, **({"load": 0.5, "rate_bps": 1e9, "arrivals_s": 1.0} | changed))
            with pytest.raises(ParameterError, match="settled = 1, but it must be in"):
                run_length(TWO, load=0.5, hosts=4, settled=1.0)
