"""Identity: completion times by size, percentile and distribution, from tables made by hand; the overview of a run."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from capsim import Batch, Dumbbell, ParameterError, Poisson, Result, Scenario, simulate
from capsim.results.fct import (
    SIZE_EDGES_BYTES,
    fct_by_size,
    fct_cdf,
    fct_percentile_s,
    finished_flows,
    slowdown_by_size,
)
from capsmodel.experiments.statistics.intervals import mean_interval

KB, MB = 1000, 1_000_000
WARM_UP_S = 1.0


def flow(start_s: float, flow_bytes: int, fct_s: float = math.nan, slowdown: float = math.nan) -> dict[str, Any]:
    """Return a row of the flows table; it is finished if it has a time, and short up to 100 KB."""
    done = not math.isnan(fct_s)
    columns = {"start_s": start_s, "flow_bytes": flow_bytes, "fct_s": fct_s, "slowdown": slowdown, "finished": done}
    return columns | {"short": flow_bytes <= 100 * KB, "counted": start_s >= WARM_UP_S}


FLOWS = pd.DataFrame(
    [
        flow(0.999, 10 * KB, fct_s=50.0, slowdown=999.0),  # before the warm-up has ended
        flow(1.0, 10 * KB, fct_s=0.004, slowdown=4.0),
        flow(1.1, 100 * KB, fct_s=0.001, slowdown=1.0),  # at the edge: in the lower bin
        flow(1.2, 100 * KB),  # not finished
        flow(1.3, 20 * KB, fct_s=0.001, slowdown=1.0),
        flow(1.4, 30 * KB, fct_s=0.208, slowdown=30.0),
        flow(1.5, 100 * KB + 1, fct_s=0.3, slowdown=2.0),
        flow(1.6, 10 * MB, fct_s=0.1, slowdown=1.5),
        flow(1.7, 10 * MB + 1),
    ]
)


def test_by_size() -> None:
    table = fct_by_size(FLOWS)
    expected = pd.DataFrame(
        {
            "above_bytes": [0.0, 1e5, 1e7],
            "up_to_bytes": [1e5, 1e7, np.inf],
            "flows": [5, 2, 1],
            "unfinished_flows": [1, 0, 1],
            "mean_fct_s": [0.0535, 0.2, np.nan],  # (4 + 1 + 1 + 208) / 4 ms
            "median_fct_s": [0.001, 0.1, np.nan],
            "p95_fct_s": [0.208, 0.3, np.nan],
            "p99_fct_s": [0.208, 0.3, np.nan],
            "mean_slowdown": [9.0, 1.75, np.nan],
            "p99_slowdown": [30.0, 2.0, np.nan],
        }
    )
    pd.testing.assert_frame_equal(table, expected)


def test_percentiles_of_a_bin_are_apart() -> None:
    """By nearest rank in 1, 2, ..., 200: ranks 100, 190 and 198."""
    many = pd.DataFrame([flow(2.0, KB, fct_s=float(rank), slowdown=1.0) for rank in range(1, 201)])
    row = fct_by_size(many).iloc[0]
    assert (row["median_fct_s"], row["p95_fct_s"], row["p99_fct_s"]) == (100, 190, 198)


def test_slowdown_of_a_size_is_by_its_own_rank() -> None:
    """The 99th of 100 and not the largest; of completion times that are all equal, whose rank would say nothing."""
    small = [flow(2.0, KB, fct_s=1e-3, slowdown=value) for value in [1.0] * 98 + [5.0, 9.0]]
    large = [flow(2.0, 50 * KB, fct_s=1e-3, slowdown=2.0)] * 100
    table = fct_by_size(pd.DataFrame(large + small), [0, 10 * KB, 100 * KB])
    assert table["p99_slowdown"].tolist() == [5.0, 2.0]


def test_own_edges_leave_out_what_lies_outside() -> None:
    table = fct_by_size(FLOWS, [10 * KB, 30 * KB, 100 * KB])
    assert table["flows"].tolist() == [2, 2]
    assert table["mean_fct_s"].tolist() == [pytest.approx(0.1045), 0.001]
    one_byte = fct_by_size(FLOWS, [100 * KB, 100 * KB + 1])
    assert one_byte["median_fct_s"].tolist() == [0.3]


def test_without_a_warm_up_all_flows_count() -> None:
    soon = pd.DataFrame([flow(0.0, KB, fct_s=1.0, slowdown=1.0), flow(0.5, KB, fct_s=2.0, slowdown=1.0)])
    soon = soon.assign(counted=True)
    assert fct_by_size(soon)["flows"].tolist() == [2, 0, 0]
    assert fct_percentile_s(soon, [0, 100]).tolist() == [1.0, 2.0]
    assert fct_cdf(soon)["cdf_prob"].tolist() == [0.5, 1.0]


def test_percentiles(subtests: pytest.Subtests) -> None:
    cases = [("all", 0.004, 0.3), ("short", 0.001, 0.208), ("long", 0.1, 0.3)]
    for kind, median_s, p99_s in cases:
        with subtests.test(kind=kind, median_s=median_s, p99_s=p99_s):
            assert fct_percentile_s(FLOWS, [50, 99], kind=kind).tolist() == [median_s, p99_s]
            assert fct_percentile_s(FLOWS, 99, kind=kind) == p99_s
            assert fct_percentile_s(FLOWS, 0) == 0.001


def test_distribution() -> None:
    table = fct_cdf(FLOWS)
    assert table["fct_s"].tolist() == [0.001, 0.004, 0.1, 0.208, 0.3]
    assert table["cdf_prob"].tolist() == pytest.approx([2 / 6, 3 / 6, 4 / 6, 5 / 6, 1.0])
    assert fct_cdf(FLOWS, kind="long")["fct_s"].tolist() == [0.1, 0.3]
    assert fct_cdf(FLOWS.assign(counted=True))["fct_s"].max() == 50.0


def test_without_a_finished_flow_there_is_no_value() -> None:
    late = FLOWS.assign(counted=FLOWS["start_s"] >= 1.7)
    assert math.isnan(fct_percentile_s(late, 99))
    assert np.isnan(fct_percentile_s(late, [1, 99])).tolist() == [True, True]
    assert len(fct_cdf(late)) == 0


def test_edges_must_increase(subtests: pytest.Subtests) -> None:
    cases = [[], [1], [0, 0], [2, 1], [0, 2, 1], [0, math.nan], [[0, 1], [2, 3]]]
    for edges_bytes in cases:
        with (
            subtests.test(edges_bytes=edges_bytes),
            pytest.raises(ParameterError, match=r"edges_bytes = .* two or more numbers in increasing order"),
        ):
            fct_by_size(FLOWS, edges_bytes)


def test_percent_is_a_percentage(subtests: pytest.Subtests) -> None:
    """Catches a probability in place of percent: the 0.99th percentile was returned without a word."""
    cases = [-0.1, 100.1, [50, 990], math.nan, 0.99, [50, 0.999], 1 - 2**-53, 5e-324]
    for percent in cases:
        with (
            subtests.test(percent=percent),
            pytest.raises(ParameterError, match=r"percent = .* 0 or in \[1, 100\]: 99 is .*percentile\(times, q="),
        ):
            fct_percentile_s(FLOWS, percent)


def test_percent_from_one_to_a_hundred_is_taken() -> None:
    assert fct_percentile_s(FLOWS, [0, 1, 100]).tolist() == [0.001, 0.001, 0.3]


def test_there_are_three_kinds_of_flow() -> None:
    with pytest.raises(ParameterError, match="kind = 'mice': there are all, short, long"):
        finished_flows(FLOWS, kind="mice")  # type: ignore[arg-type]


def test_the_default_edge_is_that_between_short_and_long() -> None:
    assert Scenario(fabric=Dumbbell(hosts_per_side=1), traffic=()).short_bytes == SIZE_EDGES_BYTES[1]


@pytest.fixture(scope="module")
def warmed_up() -> Result:
    """A run with flows before the warm-up ends and flows that do not finish."""
    traffic = (
        Poisson(workload="websearch", load=0.9, flows=40, pairs="sides"),
        Batch(flow_bytes=10**9, pairs="sides", flows=1, start_s=0.03),
    )
    fabric = Dumbbell(hosts_per_side=4, buffer_packets=20)
    return simulate(Scenario(fabric=fabric, traffic=traffic, warm_up_s=0.02, end_s=0.5))


def test_a_result_counts_the_flows_of_its_summary(warmed_up: Result) -> None:
    summary, by_size = warmed_up.summary, warmed_up.fct_by_size([0, math.inf]).iloc[0]
    assert 0 < summary.unfinished_flows < summary.flows < len(warmed_up.flows)
    assert (by_size["flows"], by_size["unfinished_flows"]) == (summary.flows, summary.unfinished_flows)
    assert by_size["mean_slowdown"] == summary.mean_slowdown
    assert warmed_up.fct_percentile_s(99, kind="short") == summary.p99_fct_short_s
    long = warmed_up.fct_cdf(kind="long")
    assert np.average(long["fct_s"], weights=np.diff(long["cdf_prob"], prepend=0)) == pytest.approx(
        summary.mean_fct_long_s
    )


def test_an_overview_fits_a_screen(warmed_up: Result) -> None:
    summary, lines = warmed_up.summary, repr(warmed_up).splitlines()
    assert lines[:3] == [
        "Result of scenario",
        "  scheme          ecmp, seed 1",
        "  fabric          dumbbell, 8 hosts, 2 switches",
    ]
    text = "\n".join(lines)
    for value in (summary.flows, summary.unfinished_flows, summary.timeouts, summary.packets_dropped):
        assert f" {value}" in text
    for time_s in (summary.mean_fct_short_s, summary.p99_fct_short_s, summary.mean_fct_long_s):
        assert f"{1e3 * time_s:.4g} ms" in text
    assert f"99th percentile {1e3 * warmed_up.fct_percentile_s(99, kind='long'):.4g} ms" in text
    in_notebook = warmed_up._repr_html_()
    assert all(f"<td>{line[18:]}</td>" in in_notebook for line in lines[1:])


def test_a_long_name_or_no_flow_of_a_kind_fits_too() -> None:
    scenario = Scenario(
        fabric=Dumbbell(hosts_per_side=2), traffic=(Batch(flow_bytes=5000, pairs="sides"),), name="many words " * 20
    )
    lines = repr(simulate(scenario, engine="reference")).splitlines()
    assert len(lines) <= 12
    assert max(map(len, lines)) <= 80
    assert "  FCT, long       none finished" in lines


def test_slowdown_by_size_has_percentiles_of_all_seeds_and_no_mean_of_unfinished_flows() -> None:
    """By hand: the unfinished flow is the longest of four. Wrong line: a percentile of each seed, a mean without it."""
    flows = pd.DataFrame({"seed": [1, 1, 2, 2], "flow_bytes": [5, 5, 5, 50], "slowdown": [4.0, 1.0, 2.0, np.nan]})
    flows = flows.assign(counted=True, finished=flows["slowdown"].notna())
    small, large, every = slowdown_by_size(flows, [0, 10, 100]).to_dict("records")
    assert (small["flows"], large["flows"], every["flows"]) == (3, 1, 4)
    assert [small["mean_slowdown"], small["p50_slowdown"], small["p99_slowdown"]] == pytest.approx([7 / 3, 2, 4])
    assert (every["unfinished_flows"], every["p50_slowdown"]) == (1, 2.0)
    assert np.isnan([every["mean_slowdown"], every["p90_slowdown"], large["mean_slowdown"]]).all()
    assert np.isnan(large["mean_slowdown_half_width"])  # one seed has no such flow
    half = 7 / 3 * (mean_interval(np.log([2.5, 2.0])).high - np.log([2.5, 2.0]).mean())
    assert small["mean_slowdown_half_width"] == pytest.approx(half)


def test_slowdowns_of_flows_that_count_as_several_are_those_of_so_many_flows() -> None:
    """Of whole weights, at ranks that are whole numbers too. Wrong line: a weight that a percentile leaves out."""
    rng = np.random.default_rng(1)
    flows = pd.DataFrame({"seed": np.arange(60) % 2, "flow_bytes": 5, "slowdown": rng.pareto(2, 60)})
    flows = flows.assign(counted=True, finished=True, weight=rng.integers(1, 6, 60))
    several = flows.loc[flows.index.repeat(flows["weight"])].drop(columns="weight")
    pd.testing.assert_frame_equal(slowdown_by_size(flows, [0, 10]), slowdown_by_size(several, [0, 10]).assign(flows=60))
