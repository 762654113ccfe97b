"""Property: rounds, patterns and measured columns of the experiments of DC2-MTCP, and statements about averages."""

import numpy as np
import pandas as pd
import pytest

from capsim import FlowList, draw_flows, load_scenario, simulate
from capsim.fabric.base import FabricKind
from capsim.scenario.scenario import from_dict
from capsim.study.measures import multipath_run
from capsmodel.experiments.statistics.robustness import TEXT
from capsmodel.papers.experiments import Scale, published_experiment
from capsmodel.papers.experiments._dc2mtcp import FACTORS, ROUND_S, ROUNDS
from capsmodel.papers.index import read_claims
from capsmodel.papers.statements import Runs, compared
from capsmodel.workloads.catalogue import load_workload

RANDOM, HOT = published_experiment("dc2mtcp-random-fct"), published_experiment("dc2mtcp-hotspot")


def flows_of(place: str, setting: str = TEXT, *, scale: Scale = "paper", seed: int = 1) -> FlowList:
    experiment = HOT if place.startswith("hot") else RANDOM
    scenario = from_dict(experiment.run(("ietf_mptcp", place), setting=setting, scale=scale)["scenario"])
    return draw_flows(scenario.traffic, scenario.fabric.build(), seed=seed, short_bytes=scenario.short_bytes)


def fabric_of(place: str, setting: str = TEXT, *, scale: Scale = "paper") -> FabricKind:
    return from_dict(HOT.run(("dc2mtcp", place), setting=setting, scale=scale)["scenario"]).fabric


def test_each_of_ten_rounds_has_30_flows_of_other_hosts_and_one_of_each_host_behind():
    flows = flows_of("4 times, 2 subflows")
    starts = np.arange(ROUNDS) * round(ROUND_S * 1e12)
    assert np.array_equal(np.unique(flows.start_ps), starts)
    for number, start in enumerate(starts.tolist()):
        asked, behind = ((flows.start_ps == start) & (flows.tag == 2 * number + more) for more in (0, 1))
        assert len(set(flows.src[asked].tolist())) == asked.sum() == 30
        assert sorted(flows.src[behind].tolist()) == list(range(128))
    senders = [set(flows.src[flows.tag == 2 * number].tolist()) for number in range(ROUNDS)]
    assert len(set().union(*senders)) == 120, "ten new hosts in each round"


@pytest.mark.parametrize(("place", "setting", "factor"), [("4 times", TEXT, 4), ("16 times", "size_scale = 10", 160)])
def test_sizes_are_those_of_the_trace_times_the_factor(place, setting, factor):
    """Half are one packet, and the mean of 1580 flows lies within its error of that of the table."""
    sizes, known = flows_of(f"{place}, 4 subflows", setting).flow_bytes, load_workload("univ1_benson_pkts")
    assert abs(np.mean(sizes == 1460 * factor) - 0.5) < 3.3 * np.sqrt(0.25 / len(sizes))
    assert abs(sizes.mean() / factor - known.mean_bytes) < 3.3 * sizes.std() / factor / np.sqrt(len(sizes))
    assert sizes.max() <= known.sizes[-1] * factor


@pytest.mark.parametrize(("setting", "hot"), [(TEXT, 3), ("hot_flows = 1", 1)])
def test_hot_flows_come_from_hosts_that_send_nothing_else_over_several_subflows(setting, hot):
    flows = flows_of("hot, 1 times, 2 subflows", setting)
    for number in range(ROUNDS):
        asked, hottest = (flows.tag == 3 * number + more for more in (0, 1))
        assert flows.flow_bytes[hottest].tolist() == [100_000_000] * hot
        assert not set(flows.src[hottest].tolist()) & set(flows.src[asked].tolist())


@pytest.mark.parametrize(("setting", "hot"), [(TEXT, 3), ("hot_flows = 1", 1)])
def test_the_reduced_scale_has_an_eighth_of_each_kind(setting, hot):
    flows = flows_of("hot, 1 times, 2 subflows", setting, scale="reduced")
    counts = [np.sum(flows.tag == more) for more in range(3)]
    assert counts == [4, 1, 16]
    assert flows.flow_bytes[flows.tag == 1].tolist() == [hot * 100_000_000 // 8]


def test_in_the_hot_spot_pattern_other_links_fail_in_each_round_and_routing_does_not_follow():
    """Section VI-A adds failures to the hot-spot pattern only; those of the preset, a round later each."""
    fabric = fabric_of("hot, 1 times, 2 subflows")
    assert [(one.count, one.down_s, one.up_s) for one in fabric.faults] == [
        (4, pytest.approx(20 * number + 0.001), pytest.approx(20 * number + 1)) for number in range(ROUNDS)
    ]
    (of_the_preset,) = load_scenario("dc2mtcp-hot-spot").fabric.faults
    assert fabric.faults[0] == of_the_preset, "the number of links too, which settings.toml has again"
    drawn = fabric.build(seed=1).drawn
    assert len(set(drawn)) > 1
    assert all(len(set(names)) == 4 for names in drawn)
    assert fabric.reroute_s > 10 * 20
    assert not fabric_of("1 times, 2 subflows").faults
    assert not fabric_of("hot, 1 times, 2 subflows", "failed_links = 0").faults
    assert {one.count for one in fabric_of("hot, 1 times, 2 subflows", scale="reduced").faults} == {1}


def test_subflows_and_receive_buffer_are_those_of_place_and_setting():
    for subflows in (2, 4):
        term = ("dc2mtcp", f"1 times, {subflows} subflows")
        assert RANDOM.run(term)["scenario"]["params"]["sharing"] == {"subflows": subflows, "buffer_segments": 256}
    other = RANDOM.run(term, setting="receive_buffer_packets = 64")["scenario"]["params"]["sharing"]
    assert other["buffer_segments"] == 64


def test_columns_are_those_of_flows_over_several_subflows_alone():
    (task, *_) = RANDOM.tasks([("dc2mtcp", "4 times, 2 subflows")], [1], scale="quick").values()
    row = multipath_run(**task.payload)
    result = simulate(from_dict(task.payload["scenario"]).replace(seed=1))
    flows = result.flows[result.flows["traffic_entry"] % 2 == 0]
    assert len(flows) == 8
    assert flows["subflows"].max() == 2
    assert result.flows.loc[result.flows["traffic_entry"] % 2 == 1, "subflows"].max() == 1
    short = flows[flows["flow_bytes"] <= 1_000_000]
    assert row["multipath_fct_short_s"] == pytest.approx(short["fct_s"].mean(), rel=1e-14)
    assert row["untimed_ratio"] == (short["timeouts"] == 0).mean()
    assert row["longest_untimed_fct_s"] == short.loc[short["timeouts"] == 0, "fct_s"].max()
    coded, all_first = flows["repair_packets"].sum(), flows["coded_packets"].sum()
    assert row["coded_ratio"] == coded / (all_first - coded)
    assert coded > 0


def test_an_average_is_one_geometric_mean_over_the_places():
    """Halved at one place and doubled at the other is no change on average; halved at both is one half."""
    claim = read_claims()["dc2mtcp-f4-dc2-2"]
    names = {"DC2-2": "dc2mtcp", "MPTCP-2": "ietf_mptcp"}
    statement = compared(claim, ["a", "b"], names=names, column="fct", average=True)

    def ratio(a: float, b: float) -> float:
        values = {("dc2mtcp", "a"): a, ("dc2mtcp", "b"): b, ("ietf_mptcp", "a"): 1.0, ("ietf_mptcp", "b"): 1.0}
        rows = [
            {"scheme": scheme, "place": place, "seed": seed, "fct": value * (1 + 0.01 * seed)}
            for (scheme, place), value in values.items()
            for seed in range(1, 5)
        ]
        (point,) = statement.points(claim, Runs(pd.DataFrame(rows)), 4)
        return point.interval(0.005).value

    assert ratio(0.5, 2.0) == pytest.approx(1.0, rel=1e-12)
    assert ratio(0.5, 0.5) == pytest.approx(0.5, rel=1e-12)
    assert ratio(0.2, 0.8) == pytest.approx(0.4, rel=1e-12)


def test_places_are_all_factors_and_both_numbers_of_subflows():
    assert len(RANDOM.places) == 2 * len(FACTORS)
    co = published_experiment("dc2mtcp-co")
    assert co.places.keys() == RANDOM.places.keys() | HOT.places.keys()
    here, there = (one.run(("dc2mtcp", "1 times, 2 subflows")) for one in (RANDOM, co))
    assert here == there, "equal runs of two experiments are one run"
