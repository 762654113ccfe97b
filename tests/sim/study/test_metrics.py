"""Identity: metrics that are read off histograms, the packet trace or several runs, against plain loops over tables."""

from collections import defaultdict
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from capsim import Batch, Collective, Dumbbell, LeafSpine, Listed, Probes, Scenario, compare, simulate
from capsim.study.measures import mmptcp_worst_flow
from capsim.study.metrics import METRICS, OF_COLLECTIVES, ON_PERIOD_S, Run, columns, values_of
from capsim.study.plot import PLOTTED
from capsmodel.papers.measurements.head_of_line import packet_waits_s

SPINES = 6
BUSY = Scenario(
    fabric=LeafSpine(leaves=2, hosts_per_leaf=4, spines=SPINES, rate_bps=100e6, buffer_packets=40),
    traffic=(
        Batch(hosts=6, flows=12, flow_bytes=30_000, pairs="other-leaf", spread_s=5e-3),
        Batch(skip_hosts=6, hosts=2, flows=2, flow_bytes=300_000, pairs="other-leaf"),
    ),
    scheme="caps",
    trace="packets",
    probes=Probes(histograms=True),
    end_s=5.0,
)
QUIET = BUSY.replace(trace="off", probes=None)


@pytest.fixture(scope="module")
def run():
    return Run.of(simulate(BUSY))


def measured(run, name):
    return columns(run, [name])[name]


def test_the_wait_in_switches_is_that_of_the_packet_trace(run):
    """Of long flows alone, of both switches and the last link, within half a bin."""
    waits = packet_waits_s(run.result)
    of_long = waits[~waits["flow"].map(run.result.flows.set_index("flow")["short"])]
    at_switch = of_long[of_long["layer"] != "host>leaf"]
    arrived = (of_long["layer"] == "leaf>host").sum()
    assert at_switch["wait_s"].sum() > 0
    assert measured(run, "switch_wait_long_s") == pytest.approx(at_switch["wait_s"].sum() / arrived, rel=0.2)


def test_unused_paths_are_those_without_a_short_packet_while_a_leaf_sends_some(run):
    flows, used = run.result.flows.set_index("flow"), defaultdict(set)
    for line in run.result.trace.itertuples():
        is_data = line.event == "enqueued" and line.packet in ("data", "coded") and line.layer == "leaf>spine"
        if is_data and flows.loc[line.flow, "short"] and line.time_s < flows["start_s"].max():
            used[line.port.split(">")[0], int(line.time_s / ON_PERIOD_S)].add(line.path)
    assert len({leaf for leaf, _ in used}) == 2 < len(used)
    expected = np.mean([1 - len(paths) / SPINES for paths in used.values()])
    assert 0.1 < expected < 0.9
    assert measured(run, "unused_paths_short") == pytest.approx(expected)


def test_a_unit_waits_from_its_first_packet_until_it_is_decoded(run):
    result, waits_s = run.result, []
    came = result.trace[(result.trace["event"] == "arrived") & (result.trace["layer"] == "leaf>host")]
    for unit in result.units.itertuples():
        mine = came[(came["flow"] == unit.flow) & (came["segment"] == unit.first_segment) & (came["packet"] == "coded")]
        waits_s += [unit.decoded_s - mine["time_s"].min()]
    assert len(waits_s) > 12
    assert measured(run, "unit_wait_s") == pytest.approx(np.mean(waits_s))


def test_without_trace_and_histograms_they_have_no_value():
    run = Run.of(simulate(QUIET))
    assert all(np.isnan(measured(run, name)) for name in ("switch_wait_long_s", "unused_paths_short", "unit_wait_s"))


def test_the_worst_flow_of_several_runs_is_that_of_the_worst_run():
    """Seed 2 of two runs has the seeds 3 and 4, and the worst flow need not be the same for both numbers."""
    crowded = QUIET.replace(fabric=LeafSpine(leaves=2, hosts_per_leaf=4, spines=1, rate_bps=100e6, buffer_packets=4))
    found = mmptcp_worst_flow(crowded.to_dict(), runs=2, seed=2)
    flows = [simulate(crowded.replace(seed=seed)).flows for seed in (3, 4)]
    short = pd.concat([each[each["short"]] for each in flows])
    assert found["most_timeouts_short"] == short["timeouts"].max() > 0
    assert found["most_fast_retransmits_short"] == short["fast_retransmits"].max()


def test_a_jump_is_the_distance_of_medians_of_flows_with_one_timeout_and_with_none():
    flows = pd.DataFrame({"timeouts": [0, 0, 0, 1, 2], "fct_s": [0.01, 0.02, 0.09, 0.25, 0.9]})
    assert METRICS["timeout_jump_s"].of(SimpleNamespace(foreground_short=flows)) == pytest.approx(0.23)


def test_a_derived_metric_is_taken_from_all_its_columns():
    rows = pd.DataFrame({"coded_ratio_short": [0.2, 0.2], "coded_ratio_long": [0.1, 0.0]})
    assert values_of(rows, "coded_ratio_short_over_long") == pytest.approx([2.0, np.nan], nan_ok=True)


@pytest.mark.parametrize("scheme", ["ecmp", "caps"])
@pytest.mark.parametrize("flow_bytes", [3000, 200_000])
@pytest.mark.parametrize("fabric", [Dumbbell(hosts_per_side=2), LeafSpine(leaves=2, hosts_per_leaf=2, spines=2)])
def test_each_metric_is_a_number_or_nan_of_whatever_was_traced(fabric, flow_bytes, scheme):
    """Without leaves, without short flows or long ones, without coding units."""
    traffic = (Listed(flows=((0, 2, flow_bytes, 0.0), (1, 3, flow_bytes, 0.0))),)
    traced = Scenario(fabric=fabric, traffic=traffic, scheme=scheme, trace="packets")
    found = columns(Run.of(simulate(traced)), METRICS)
    assert all(isinstance(value, float | int) for value in found.values())


RING = Scenario(
    fabric=LeafSpine(leaves=2, hosts_per_leaf=2, spines=2),
    traffic=(Collective(algorithm="ring_allreduce", vector_bytes=20_000, iterations=3),),
)


def test_collectives_are_measured_by_their_operations_and_not_by_their_messages():
    """Catches a tail of messages in place of operations, and tables of what no run has."""
    run = Run.of(simulate(RING))
    times_s = run.result.collectives["completion_s"]
    assert len(times_s) == 3
    assert measured(run, "mean_collective_s") == pytest.approx(times_s.mean())
    assert measured(run, "p99_collective_s") == measured(run, "longest_collective_s") == times_s.max()
    assert measured(run, "mean_bus_bandwidth_bps") == run.result.collectives["bus_bandwidth_bps"].mean()
    assert np.isnan(columns(Run.of(simulate(QUIET)), OF_COLLECTIVES).popitem()[1])


def test_a_study_of_long_flows_shows_their_slowdown():
    """Catches a picture and a LaTeX table of short flows where there are none."""
    compared = compare(RING.replace(traffic=(Batch(flow_bytes=200_000),)), schemes=["ecmp"], seeds=1)
    assert compared.main_metrics == ("mean_slowdown", "mean_throughput_long_bps")
    assert compared.measured(["mean_fct_short_s", "mean_fct_long_s", "nothing"]) == ("mean_fct_long_s",)


@pytest.mark.parametrize(("iterations", "equal"), [(1, {"p99", "longest"}), (3, {"p99"}), (101, set())])
def test_a_time_of_collectives_is_shown_once(iterations, equal):
    """Catches the 99th percentile and the longest of one operation, which are its mean."""
    ring = Collective(algorithm="ring_allreduce", vector_bytes=20_000, iterations=iterations)
    compared = compare(RING.replace(traffic=(ring,)), schemes=["ecmp"], seeds=2)
    assert [*compared.of_operations] == [one for one in OF_COLLECTIVES if one.split("_")[0] not in equal]


@pytest.mark.parametrize(
    ("others", "shown"),
    [
        ((), ["mean_collective_s", "longest_collective_s", "mean_bus_bandwidth_bps"]),
        (
            (Batch(flow_bytes=5000),),
            ["mean_collective_s", "longest_collective_s", "mean_bus_bandwidth_bps", *PLOTTED[:2]],
        ),
    ],
)
def test_what_is_shown_follows_from_what_the_runs_contain(others, shown):
    """Catches tables of "-" for collectives, a background that is left out, and a panel of long flows without one."""
    mixed = RING.replace(traffic=RING.traffic + others)
    compared = compare(mixed, schemes=["ecmp"], seeds=1)
    assert [*compared.main_metrics] == shown
    assert compared.table()["metric"].tolist()[:4] == [*OF_COLLECTIVES]
    assert all(axes.get_xlabel() for axes in compared.plot().axes)
    assert len(compared.plot().axes) == len(shown)
