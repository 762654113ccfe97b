"""Property: fabrics, traffic and measured columns of the experiments of CDCPS."""

from collections import Counter
from itertools import pairwise, permutations, product

import numpy as np
import pandas as pd
import pytest

from capsim import Dumbbell, Listed, Scenario, simulate
from capsim.fabric.topology import Fabric
from capsim.scenario.scenario import from_dict
from capsim.study.decide import decide
from capsim.study.measures import experiment_run, sprayed_run
from capsim.study.metrics import mean_windows_packets
from capsmodel.experiments.statistics.robustness import TEXT
from capsmodel.papers.experiments import published_experiment
from capsmodel.papers.experiments._cdcps import LOADS, places
from capsmodel.papers.experiments.cdcps_asym import DEGREES
from capsmodel.papers.index import read_claims
from capsmodel.papers.statements import Runs, levels


def delays_s(fabric: Fabric) -> dict[str, float]:
    return dict(zip(fabric.port_names, (fabric.delay_ps / 1e12).tolist(), strict=True))


def fabric_of(name: str, place: str, setting: str = TEXT) -> Fabric:
    experiment = published_experiment(name)
    return from_dict(experiment.run(("rps", place), setting=setting)["scenario"]).fabric.build()


def round_trip_s(delay_s: dict[str, float], *nodes: str) -> float:
    there = [delay_s[f"{a}>{b}"] for a, b in pairwise(nodes)]
    back = [delay_s[f"{b}>{a}"] for a, b in pairwise(nodes)]
    return sum(there) + sum(back)


@pytest.mark.parametrize("degree", DEGREES)
def test_one_of_the_four_paths_of_the_fat_tree_is_slower_by_the_degree(degree):
    delay_s = delays_s(fabric_of("cdcps-asym", f"degree {degree:g}"))
    paths = [(0, 0), (0, 1), (1, 2), (1, 3)]  # aggregation switch of the pod, core
    found = [
        round_trip_s(delay_s, "host0", "edge0.0", f"agg0.{agg}", f"core{core}", f"agg3.{agg}", "edge3.1", "host15")
        for agg, core in paths
    ]
    assert found == pytest.approx([degree * 100e-6, *[100e-6] * 3], rel=1e-6)


def test_one_spine_is_slow_for_all():
    delay_s = delays_s(fabric_of("cdcps-ws", "websearch 0.6"))
    found = [
        round_trip_s(delay_s, f"host{32 * a}", f"leaf{a}", f"spine{spine}", f"leaf{b}", f"host{32 * b}")
        for a, b in permutations(range(8), 2)
        for spine in range(8)
    ]
    assert Counter(np.round(np.array(found) * 1e6)) == {500.0: 56, 100.0: 7 * 56}


def test_each_pair_has_one_slow_path_that_is_not_that_of_all():
    """As slow for the data as over the one slow spine: 200 us more on the way."""
    delay_s = delays_s(fabric_of("cdcps-ws", "websearch 0.6", "slow_path = each pair"))
    slow: dict[tuple[int, int], list[int]] = {}
    for (a, b), spine in product(permutations(range(8), 2), range(8)):
        way_s = delay_s[f"leaf{a}>spine{spine}"] + delay_s[f"spine{spine}>leaf{b}"]
        assert way_s == pytest.approx(225e-6) or way_s == pytest.approx(25e-6)
        slow.setdefault((a, b), []).extend([spine] if way_s > 1e-4 else [])
    assert all(len(spines) == 1 for spines in slow.values())
    assert {spine for (spine,) in slow.values()} == set(range(8))


@pytest.mark.parametrize("name", ["cdcps-ws", "cdcps-dm"])
def test_loads_are_those_of_the_uplinks_between_different_leaves(name):
    experiment = published_experiment(name)
    for place, load in zip(places(experiment.places[experiment.sampled[0]]["workload"]), LOADS, strict=True):
        (traffic,) = from_dict(experiment.run(("cdcps", place))["scenario"]).traffic
        assert (traffic.load, traffic.load_of, traffic.pairs) == (load, "leaf-uplinks", "other-leaf")


def test_the_coding_unit_is_set_for_cdcps_alone():
    experiment = published_experiment("cdcps-ws")
    setting = "layer.fixed_packets = 16"
    assert experiment.run(("cdcps", "websearch 0.6"), setting=setting)["scenario"]["params"]["layer"] == {
        "fixed_packets": 16
    }
    assert experiment.run(("rps", "websearch 0.6"), setting=setting) == experiment.run(("rps", "websearch 0.6"))


def test_columns_of_a_sprayed_run_are_those_of_its_flows():
    experiment = published_experiment("cdcps-asym")
    (task, *_) = experiment.tasks([("rps", "degree 1.5")], [3], scale="quick").values()
    row = sprayed_run(**task.payload)
    plain = experiment_run(**task.payload)
    del plain["cpu_s"]
    assert {name: str(row[name]) for name in plain} == {name: str(value) for name, value in plain.items()}
    result = simulate(from_dict(task.payload["scenario"]).replace(seed=3))
    flows = result.flows
    assert row["p99_fct_s"] == np.sort(flows["fct_s"])[int(np.ceil(0.99 * len(flows))) - 1]
    assert row["long_dup_ack_run_ratio"] == flows["long_dup_ack_runs"].sum() / flows["packets_sent"].sum() > 0
    assert row["cwnd_packets"] == mean_windows_packets(result).mean() > 1


def test_nothing_is_reordered_where_there_is_one_path():
    """And both other columns are those of the one flow."""
    flows = ((0, 1, 80_000, 0.0),)
    one_path = Scenario(fabric=Dumbbell(hosts_per_side=1), traffic=(Listed(flows=flows),), scheme="rps")
    row = sprayed_run(one_path.to_dict(), seed=1)
    assert row["long_dup_ack_run_ratio"] == row["reorder_ratio"] == 0
    assert row["p99_fct_s"] == row["mean_fct_s"]
    assert "cwnd_packets" not in row


def test_none_at_all_is_met_by_none_alone():
    """A ratio of one in a thousand is no ratio of 0, though both are printed as 0."""
    claim, statement = read_claims()["cdcps-f9a-zero"], levels(["cdcps"], ["a"])

    def runs(values: list[float]) -> Runs:
        rows = [{"scheme": "cdcps", "place": "a", "seed": seed + 1} for seed in range(len(values))]
        return Runs(pd.DataFrame(rows).assign(long_dup_ack_run_ratio=values))

    assert decide(statement.points(claim, runs([0.0] * 16), 16)).word == "reproduced"
    some = [0.0010, 0.0011, 0.0012, 0.0011]
    assert decide(statement.points(claim, runs(some), 4)).word == "refuted"
    assert decide(statement.points(claim, runs([0.0, 0.0, 0.0, 0.001]), 4)).word == "open"
