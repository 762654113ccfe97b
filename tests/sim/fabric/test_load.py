"""Property: what a load is measured against, by hand on small fabrics, and that expected and offered loads agree."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from capsim import Batch, FatTree, FlowList, LeafSpine, LinkChange, Listed, Poisson, Scenario, simulate
from capsim.base import memory
from capsim.fabric.endpoints import Pairing
from capsim.fabric.flows import flow_list
from capsim.fabric.load import LoadOf, counted_share, layer_of, load_layers, offered
from capsim.results.load_record import (
    backlog_growth,
    load_columns,
    load_record,
    load_remarks,
    offered_line,
    settled_start,
)
from capsim.run import needs
from capsim.run.simulation import prepare
from capsmodel.checks import ParameterError
from capsmodel.queueing.steady_flows import SteadyLoad

# 2 leaves with 3 hosts at 1 Gbps; 2 spines, 3 links at 2 Gbps and one at 0.5 Gbps.
SLOW = LinkChange(between=("leaf1", "spine1"), rate_bps=5e8)
KIND = LeafSpine(leaves=2, hosts_per_leaf=3, spines=2, rate_bps=2e9, host_rate_bps=1e9, links=(SLOW,))
FABRIC = KIND.build()
CAPACITY_BPS = {"host-links": 6e9, "leaf-uplinks": 6.5e9}
SHARE = {"host-links": 1.0, "leaf-uplinks": 3 / 5}  # 3 of the 5 others hang on the other leaf


@pytest.fixture(params=["host-links", "leaf-uplinks"])
def load_of(request: pytest.FixtureRequest) -> LoadOf:
    definition: LoadOf = request.param
    return definition


def test_capacity_by_hand(subtests: pytest.Subtests) -> None:
    cases = [
        (FABRIC, 6e9, 6.5e9),
        (FatTree(pods=4, hosts_per_edge=8, rate_bps=1e9).build(), 64e9, 16e9),  # 8 edges, 2 uplinks each
        (LeafSpine(leaves=2, hosts_per_leaf=4, spines=4, oversubscription=2.0).build(), 8e9, 4e9),
    ]
    for fabric, host_bps, uplink_bps in cases:
        with subtests.test(fabric=fabric, host_bps=host_bps, uplink_bps=uplink_bps):
            assert layer_of(fabric, "host-links").capacity_bps == host_bps
            assert layer_of(fabric, "leaf-uplinks").capacity_bps == uplink_bps


def test_share_of_the_flows_that_count(load_of: LoadOf) -> None:
    assert counted_share(FABRIC, load_of, Pairing("random")) == pytest.approx(SHARE[load_of], rel=1e-15)
    assert counted_share(FABRIC, load_of, Pairing("other-leaf")) == 1


def test_rate_and_expected_flows_by_hand(load_of: LoadOf) -> None:
    """0.5 of the capacity in flows of 1 Mbit, of which the share counts, for 2 s."""
    entry = Poisson(load=0.5, load_of=load_of, flow_bytes=125_000, duration_s=2.0)
    rate_per_s = 0.5 * CAPACITY_BPS[load_of] / (1e6 * SHARE[load_of])
    assert entry.rate_per_s(FABRIC) == pytest.approx(rate_per_s, rel=1e-14)
    assert entry.expected_flows(FABRIC) == pytest.approx(2 * rate_per_s, rel=1e-14)


def test_memory_is_checked_for_the_flows_that_the_definition_gives(
    load_of: LoadOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = Poisson(load=0.5, load_of=load_of, flow_bytes=125_000, duration_s=2000.0)
    scenario = Scenario(fabric=KIND, traffic=(entry, Batch(flows=7, flow_bytes=1)))
    needed = {"host-links": 6_000_007, "leaf-uplinks": 10_833_341}[load_of]  # 2000 * 3000 / 1, 2000 * 3250 / 0.6, and 7
    monkeypatch.setattr(memory, "available_bytes", lambda: needed * needs.BYTES_PER_DRAWN_FLOW)
    needs.check_traffic(scenario, FABRIC)
    monkeypatch.setattr(memory, "available_bytes", lambda: needed * needs.BYTES_PER_DRAWN_FLOW - 1)
    with pytest.raises(ParameterError, match=f"{needed} flows would not fit"):
        needs.check_traffic(scenario, FABRIC)


def flows_of(*rows: tuple[int, int, int, float, int]) -> FlowList:
    src, dst, flow_bytes, start_s, tag = zip(*rows, strict=True)
    return flow_list(src, dst, flow_bytes=flow_bytes, start_s=start_s, tag=tag)


def test_offered_load_by_hand(load_of: LoadOf) -> None:
    """Over 0.1 s, 30 MB to the other leaf and 45 MB within a leaf; entry 1 is another matter."""
    flows = flows_of(
        (0, 3, 10_000_000, 0.5, 0), (0, 1, 45_000_000, 0.55, 0), (4, 1, 20_000_000, 0.6, 0), (2, 5, 10**9, 0.9, 1)
    )
    load = {"host-links": 6e9 / 6e9, "leaf-uplinks": 2.4e9 / 6.5e9}[load_of]
    assert offered(flows, layer_of(FABRIC, load_of), entry=0) == pytest.approx((load, 0.1), rel=1e-12)
    assert offered(flows, layer_of(FABRIC, load_of), entry=1) == (None, 0.0)


def test_flows_that_stay_below_their_leaf_offer_its_uplinks_nothing() -> None:
    flows = flows_of((0, 1, 1000, 0.0, 0), (1, 2, 1000, 1.0, 0))
    assert offered(flows, layer_of(FABRIC, "leaf-uplinks"), entry=0) == (0.0, 1.0)


def test_hosts_of_one_leaf_cannot_load_its_uplinks() -> None:
    alone = LeafSpine(leaves=1, hosts_per_leaf=2, spines=1).build()
    with pytest.raises(ParameterError, match="no flow leaves its leaf"):
        Poisson(load=0.5, load_of="leaf-uplinks", flow_bytes=1000, flows=5).rate_per_s(alone)


def record_of(scenario: Scenario) -> dict[str, Any]:
    setup = prepare(scenario)
    return load_record(scenario.traffic, setup.fabric, setup.flows)


def test_the_record_has_asked_and_offered_of_each_entry_over_one_capacity() -> None:
    """4000 arrivals: the load offered has a relative error of 1/sqrt(4000), or of their counted part."""
    common = {"flow_bytes": 50_000, "flows": 4000}
    traffic = (
        Poisson(load=0.6, load_of="leaf-uplinks", **common),  # type: ignore[arg-type]
        Poisson(load=0.3, **common),  # type: ignore[arg-type]
        Poisson(flows_per_s=1000.0, pairs="other-leaf", **common),  # type: ignore[arg-type]
        Batch(flow_bytes=1000),
    )
    scenario = Scenario(fabric=KIND, traffic=traffic)
    record = record_of(scenario)
    assert [entry["asked"] for entry in record["entries"]] == [0.6, 0.3, None, None]
    assert [entry["capacity_bps"] for entry in record["entries"]] == [6.5e9, 6e9, 6e9, 6e9]
    expected = (0.6, 0.3, 1000 * 50_000 * 8 / 6e9)
    for entry, load in zip(record["entries"], expected, strict=False):
        assert entry["offered"] == pytest.approx(load, rel=3.3 / (0.6 * 4000) ** 0.5)
    assert record["entries"][3]["offered"] is None
    assert set(record["definitions"]) == set(CAPACITY_BPS)


def test_loads_of_all_layers_by_hand() -> None:
    """4 pods: two flows of 1 MB leave their edge, one of them its pod, a third stays; all in 1 ms."""
    fabric = FatTree(pods=4).build()
    flows = flows_of((0, 2, 10**6, 0.0, 0), (0, 4, 10**6, 0.0005, 0), (5, 4, 10**6, 0.001, 0))
    loads = {name: offered(flows, layer, entry=0)[0] for name, layer in load_layers(fabric).items()}
    # 16 links in each layer, 16 Mbit in 1 ms; a flow to another pod crosses one link from aggregation to core.
    assert loads == pytest.approx({"hosts": 24 / 16, "leaf uplinks": 16 / 16, "agg>core": 8 / 16}, rel=1e-12)


def test_expected_links_between_upper_switches_by_hand(subtests: pytest.Subtests) -> None:
    cases = [
        (Pairing("random"), 12 / 15),  # 12 of the 15 other hosts are in other pods
        (Pairing("permutation"), 12 / 15),
        (Pairing("other-leaf"), 12 / 14),
        (Pairing("other-pod"), 1.0),
        (Pairing("staggered", edge_prob=0.5, pod_prob=0.3), 0.2),
        (Pairing("stride", stride_hosts=3), 3 / 4),  # of the 4 hosts of a pod the first reaches its last
        (Pairing("sides"), 1.0),
    ]
    for pairing, core in cases:
        with subtests.test(pairing=pairing, core=core):
            fabric = FatTree(pods=4).build()
            layers = load_layers(fabric)
            assert layers["agg>core"].expected_links(pairing) == pytest.approx(core, rel=1e-14)
            shares = pairing.shares(fabric)
            assert shares.sum() == pytest.approx(1, rel=1e-14)
            assert 1 - np.trace(shares) == pytest.approx(layers["leaf uplinks"].expected_links(pairing), rel=1e-14)


def test_flows_on_unequal_ways_cross_links_by_the_share_of_each_switch() -> None:
    """Pods of a fat-tree with one aggregation switch each: the mean over drawn paths is the number of links crossed."""
    fabric = FatTree(pods=6).build()
    layer = load_layers(fabric)["agg>core"]
    src, dst = np.arange(10), np.arange(10, 20)
    for flow, links in enumerate(layer.links(src, dst)):
        paths = list(fabric.paths(int(src[flow]), int(dst[flow])))
        crossed = np.mean([np.isin(path, layer.ports).sum() for path in paths])
        assert links == pytest.approx(crossed, rel=1e-14)


OVER = LeafSpine(leaves=4, hosts_per_leaf=16, spines=4)


def test_on_4_to_1_a_load_of_the_hosts_overloads_the_uplinks_and_it_is_said() -> None:
    columns = columns_of(record_of(Scenario(fabric=OVER, traffic=(poisson(0.7),))))
    assert columns["expected_load_hosts"] == pytest.approx(0.7, rel=1e-12)
    assert columns["inner_layer"] == "leaf uplinks"
    assert columns["expected_load_inner"] == pytest.approx(0.7 * 4 * 48 / 63, rel=1e-12)
    runs = pd.DataFrame([{"scheme": "ecmp", **columns}])
    assert "leaf uplinks" in offered_line(runs)
    assert "of 2.13" in offered_line(runs)
    (line,) = load_remarks(runs)
    assert line.startswith("overload: leaf uplinks are asked for 2.13 of their capacity:")
    assert "traffic.load_of=leaf-uplinks" in line


def poisson(load: float, **changes: Any) -> Poisson:
    return Poisson(**{"load": load, "flow_bytes": 50_000, "flows": 6000, **changes})  # 4232 settle at 0.7


def columns_of(record: dict[str, Any]) -> dict[str, Any]:
    return load_columns(record, pd.DataFrame(columns=NO_FLOWS, dtype=float).astype({"counted": bool}), end_s=1.0)


NO_FLOWS = ("start_s", "fct_s", "counted")


def test_below_1_nothing_is_said_and_the_load_of_the_uplinks_is_what_was_asked_there() -> None:
    scenario = Scenario(fabric=OVER, traffic=(poisson(0.7, load_of="leaf-uplinks"),))
    columns = columns_of(record_of(scenario))
    assert columns["expected_load_inner"] == pytest.approx(0.7, rel=1e-12)
    assert columns["offered_over_asked"] == pytest.approx(1, abs=3.3 / (0.76 * 6000) ** 0.5)
    assert load_remarks(pd.DataFrame([{"scheme": "ecmp", **columns}])) == []


def test_a_load_that_the_sizes_drawn_miss_is_said_and_an_exact_one_is_not() -> None:
    columns = []
    for exact in (False, True):
        entry = Poisson(load=0.6, workload="datamining", flows=200, exact_load=exact)
        record = record_of(Scenario(fabric=OVER, traffic=(entry,), seed=3))
        columns.append({"scheme": "ecmp", **columns_of(record)})
    by_chance, exactly = (load_remarks(pd.DataFrame([row])) for row in columns)
    assert [line.split(":")[0] for line in by_chance] == ["overload", "not at its load", "offered load"]
    assert [line.split(":")[0] for line in exactly] == ["overload", "not at its load"]
    assert columns[1]["offered_over_asked"] == pytest.approx(1, rel=1e-9)  # times are whole picoseconds


@pytest.mark.parametrize(("end_s", "cut"), [(10.0, False), (0.05, True)])
def test_flows_that_would_start_after_the_end_are_said(end_s: float, cut: bool) -> None:
    """Catches a mean over the first half of the flows that were asked for, without a word."""
    traffic = (Poisson(load=0.5, workload="solar2022", flows=1000),)
    run = Scenario(fabric=LeafSpine(leaves=2, hosts_per_leaf=2, spines=2), traffic=traffic, end_s=end_s)
    result = simulate(run)
    lines = [line for line in result.remarks() if line.startswith("cut off: ")]
    assert bool(lines) == cut
    if cut:
        share = 100 * (result.flows["start_s"] > end_s).mean()
        remedy = "give a later end_s, or fewer flows"
        assert lines == [f"cut off: {share:.0f}% of the flows had not started when the run ended: {remedy}"]


def test_a_list_of_flows_offers_a_load_of_each_layer() -> None:
    """The flows of `test_loads_of_all_layers_by_hand`: 8 Gbit/s each for 1 ms over 16 links of 1 Gbit/s."""
    rows = ((0, 2, 10**6, 0.0), (0, 4, 10**6, 0.0005), (5, 4, 10**6, 0.001))
    columns = columns_of(record_of(Scenario(fabric=FatTree(pods=4), traffic=(Listed(flows=rows),))))
    runs = pd.DataFrame([{"scheme": "ecmp", **columns}])
    said = "offered load: hosts 1.50, leaf uplinks 1.00, from the first start of the list to the last"
    assert (offered_line(runs), load_remarks(runs)) == (said, [])
    together = record_of(Scenario(fabric=FatTree(pods=4), traffic=(Listed(flows=((0, 2, 10**6, 0.0),)),)))
    assert offered_line(pd.DataFrame([{"scheme": "ecmp", **columns_of(together)}])) == ""


def test_without_a_rate_there_is_no_load() -> None:
    scenario = Scenario(fabric=KIND, traffic=(Batch(flow_bytes=1000),))
    columns = columns_of(record_of(scenario))
    runs = pd.DataFrame([{"scheme": "ecmp", **columns}])
    assert np.isnan([columns[name] for name in columns if name != "inner_layer"]).all()
    assert (offered_line(runs), load_remarks(runs)) == ("", [])


def first_come_first_served(load: float, *, arrivals: int, seed: int) -> pd.DataFrame:
    """Return the flows of one server that serves each for 1 s, after all that came before."""
    start_s = np.cumsum(np.random.default_rng(seed).exponential(1 / load, arrivals))
    number = np.arange(arrivals)
    done_s = number + 1 + np.maximum.accumulate(start_s - number)  # d(i) = max(d(i - 1), a(i)) + 1
    return pd.DataFrame({"start_s": start_s, "fct_s": done_s - start_s, "counted": True})


def test_a_backlog_grows_where_more_arrives_than_is_served_and_only_there() -> None:
    """At 1.5 it is the time's multiple: mean logarithms of the last two thirds of a ramp differ by 0.523."""
    growth = {
        load: np.array(
            [
                backlog_growth(first_come_first_served(load, arrivals=3000, seed=seed), end_s=np.inf)
                for seed in range(60)
            ]
        )
        for load in (0.3, 0.8, 1.5)
    }
    assert np.median(growth[1.5][:, 0]) == pytest.approx(np.exp(0.523), rel=0.02)
    flagged = {load: np.mean(found[:, 1] > 1.1) for load, found in growth.items()}
    assert flagged[1.5] == 1
    assert flagged[0.3] <= 0.05
    assert flagged[0.8] <= 0.15


def test_what_does_not_change_and_what_is_too_little_has_no_growth() -> None:
    flows = first_come_first_served(1.5, arrivals=90, seed=1)
    assert backlog_growth(flows, end_s=np.inf)[0] > 1
    last_of_59_s = float(flows["start_s"].iloc[58])
    assert np.isnan(backlog_growth(flows, end_s=last_of_59_s)).all()
    after_31 = flows.assign(counted=flows["start_s"] >= flows["start_s"].iloc[31])
    assert np.isnan(backlog_growth(after_31, end_s=np.inf)).all()
    assert np.isnan(backlog_growth(flows.assign(fct_s=1e-9), end_s=np.inf)).all()
    middle, last = np.log(np.arange(31, 91)).reshape(2, 30).mean(axis=1)  # all are still in progress
    never = backlog_growth(flows.assign(fct_s=np.nan), end_s=np.inf)[0]
    assert never == pytest.approx(np.exp(last - middle), rel=1e-12)


def test_a_point_whose_backlog_grows_in_most_runs_is_named() -> None:
    row = columns_of(record_of(Scenario(fabric=KIND, traffic=(poisson(0.5),))))
    lows = {"rps": (1.2, 1.3, 0.9), "ecmp": (1.2, 1.09, 1.0)}
    runs = [
        {"scheme": name, **row, "backlog_growth": 1.5, "backlog_growth_low": low}
        for name, found in lows.items()
        for low in found
    ]
    (line,) = load_remarks(pd.DataFrame(runs))
    assert line.startswith("no steady state: the flows in progress grow by a factor of 1.50 from the middle third")
    assert "(rps)" in line


def flows_of_one_size(number: int, *, slowdown: float) -> pd.DataFrame:
    """Return flows of 1 s alone and 0.25 s of base latency that come each second."""
    start_s = np.arange(0.0, number)
    table = {"counted": True, "start_s": start_s, "flow_bytes": 125_000_000, "ideal_fct_s": 1.25, "traffic_entry": 0}
    return pd.DataFrame(table).assign(fct_s=slowdown + 0.25)


AT_HALF = SteadyLoad(flows_per_s=1.0, load=0.5, rate_bps=1e9)  # shared links keep flows three times as long


def test_a_steady_start_of_flows_that_last_as_long_as_it_reckons_with_is_settled(subtests: pytest.Subtests) -> None:
    for slowdown in [1.0, 2.9, 3.0]:
        with subtests.test(slowdown=slowdown):
            found = settled_start(flows_of_one_size(50, slowdown=slowdown), load=AT_HALF, end_s=1e9)
            assert found == pytest.approx((1.0, slowdown, 50), rel=1e-12)


@pytest.mark.parametrize("slowdown", [4.0, 6.0, 30.0])
def test_a_steady_start_of_flows_that_last_longer_settles_with_their_number(slowdown: float) -> None:
    """It begins with 3/s of them; each is felt for D = s(1 + s)/2, so arrivals of T > D add 1 - D/2T of the rest."""
    share, kept_slowdown, needed = settled_start(flows_of_one_size(2000, slowdown=slowdown), load=AT_HALF, end_s=1e9)
    begun, felt_s = 3 / slowdown, slowdown * (1 + slowdown) / 2
    assert share == pytest.approx(begun + (1 - begun) * (1 - felt_s / (2 * 2000)), abs=1e-3)
    assert (kept_slowdown, needed >= 2000) == (pytest.approx(slowdown, rel=1e-12), True)
    given = settled_start(
        flows_of_one_size(2000, slowdown=slowdown), load=replace(AT_HALF, slowdown=slowdown), end_s=1e9
    )
    assert given == pytest.approx((1.0, slowdown, 2000), rel=1e-12)
    few = max(2, round(felt_s))
    share, _, needed = settled_start(flows_of_one_size(few, slowdown=slowdown), load=AT_HALF, end_s=1e9)
    longer = settled_start(flows_of_one_size(round(needed), slowdown=slowdown), load=AT_HALF, end_s=1e9)[0]
    assert longer == pytest.approx(0.9, abs=0.02) or (needed == few and share >= 0.88)


def test_flows_that_have_not_finished_count_until_the_end() -> None:
    flows = flows_of_one_size(100, slowdown=3.0)
    cut = flows.assign(fct_s=np.where(flows["start_s"] + flows["fct_s"] > 90, np.nan, flows["fct_s"]))
    assert settled_start(cut, load=AT_HALF, end_s=90.0)[0] == 1.0
    none = flows.assign(counted=False)
    assert np.isnan(settled_start(none, load=AT_HALF, end_s=90.0)).all()


def test_a_point_whose_steady_start_is_too_low_on_average_is_named() -> None:
    row = columns_of(record_of(Scenario(fabric=KIND, traffic=(poisson(0.5),)))) | {"settled": 1.0}
    found = {"rps": (0.85, 0.97), "dctcp": (0.85, 0.93)}
    runs = [
        {"scheme": name, **row, "settled_start": share, "kept_slowdown": 7.0, "flows_if_longer": 2000.0}
        for name, shares in found.items()
        for share in shares
    ]
    (line,) = load_remarks(pd.DataFrame(runs))
    assert line.startswith("not at its load: a flow finds 89% of the flows in progress of the steady state (dctcp),")
    assert "since they last 7.0 times as long as alone" in line
    assert line.endswith("give traffic.slowdown=7.0, then what it asks for, or up to 2000 flows")


def test_only_a_steady_start_has_a_share_that_it_begins_with() -> None:
    entries = (poisson(0.3), poisson(0.3, start="steady"))
    scenario = Scenario(fabric=KIND, traffic=entries)
    records = record_of(scenario)["entries"]
    assert [entry["steady_load"] is None for entry in records] == [True, False]
    assert records[1]["steady_load"]["load"] == pytest.approx(0.6, rel=1e-12)  # of both
    flows = flows_of_one_size(50, slowdown=8.0).assign(traffic_entry=1)  # 4 of links that share
    both = pd.concat([flows, flows.assign(traffic_entry=0, fct_s=100.0)], ignore_index=True)
    rate = records[1]["steady_load"]["rate_bps"]
    columns = load_columns(record_of(scenario), both.assign(flow_bytes=rate / 8), end_s=1e9)
    alone = settled_start(flows, load=SteadyLoad(1.0, 0.6, 1e9), end_s=1e9)
    found = [columns[name] for name in ("settled_start", "kept_slowdown", "flows_if_longer")]
    assert found == pytest.approx(alone, rel=1e-12)
    assert np.isnan(columns_of(record_of(Scenario(fabric=KIND, traffic=(poisson(0.5),))))["settled_start"])
