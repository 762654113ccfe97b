"""Links that lose packets by chance: how many, which ones, and that nothing else of a run is touched."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import stats
from support.engine_setups import BUSY, CROWDED, one_run, setup_of

from capsim import Batch, FatTree, LeafSpine, LinkChange, ParameterError, Scenario, simulate
from capsim.engines import run
from capsim.engines.state import RawRecords, Setup
from capsim.fabric.base import FabricKind
from capsim.records import ARRIVED, CORRUPTED, DROPPED
from capsim.results import conservation
from capsim.scenario.scenario import from_dict

UPLINKS = LinkChange(between=("leaf*", "spine*"), one_way=True, loss_prob=0.1)


def busy(fabric: str, name: str, *, flows_of: Any = BUSY, **change: Any) -> Setup:
    """Return the busy set-up of a fabric with some of its keys changed."""
    kind, flows = flows_of[fabric]
    tables = {key: getattr(kind, key) for key in kind.__struct_fields__} | change
    return setup_of(type(kind)(**tables), flows, name)


def fates(raw: RawRecords, port: int) -> list[bool]:
    """Return whether each packet that crossed the link of a port was lost there, in order of arrival."""
    ends = (raw.trace["what"] == ARRIVED) | (raw.trace["reason"] == CORRUPTED)
    lines = raw.trace[ends & (raw.trace["port"] == port)]
    return (lines["what"] == DROPPED).tolist()


@pytest.mark.agreement
@pytest.mark.parametrize(
    ("fabric", "name"),
    [("leaf-spine", "dctcp"), ("leaf-spine", "rps_pq"), ("leaf-spine", "caps"), ("fat-tree", "mptcp")],
)
def test_engines_agree_with_ecn_priorities_codes_and_subflows(fabric: str, name: str) -> None:
    setup = busy(fabric, name, flows_of=CROWDED, loss_prob=0.03)
    raw = one_run(setup)
    assert raw.ports["packets_lost"].sum() > 50
    conservation.check(raw, setup.fabric)


def test_the_share_that_is_lost_is_the_probability() -> None:
    """Two-sided, over the links into the spines; the other links lose nothing."""
    setup = busy("leaf-spine", "rps", links=(UPLINKS,))
    ports = run(setup).ports
    up = np.array([layer == "leaf>spine" for layer in setup.fabric.port_layers])
    crossed, lost = int(ports["packets_arrived"][up].sum()), int(ports["packets_lost"][up].sum())
    assert crossed > 2000
    assert stats.binomtest(lost, crossed, 0.1).pvalue > 1e-3
    assert ports["packets_lost"][~up].sum() == 0


def test_losses_are_independent_of_each_other_and_of_the_port() -> None:
    """A packet behind a lost one is lost as often as any other, and no two ports lose the same packets."""
    setup = busy("leaf-spine", "rps", loss_prob=0.3)
    raw = run(setup)
    series = [fates(raw, port) for port in range(setup.fabric.n_ports)]
    pairs = [pair for one in series for pair in pairwise(one)]
    behind = [second for first, second in pairs if first]
    assert len(behind) > 300
    assert stats.binomtest(sum(behind), len(behind), 0.3).pvalue > 1e-3
    long = [tuple(one[:30]) for one in series if len(one) >= 30]
    assert len(set(long)) == len(long) > 10


def test_the_same_packets_of_a_link_are_lost_whatever_the_scheme() -> None:
    """Common random numbers: the n-th packet that crosses a link is lost with ECMP if it is with packet spraying."""
    setups = [busy("leaf-spine", name, loss_prob=0.1) for name in ("ecmp", "rps")]
    runs = [run(setup) for setup in setups]
    compared = 0
    for port in range(setups[0].fabric.n_ports):
        ours, theirs = (fates(raw, port) for raw in runs)
        count = min(len(ours), len(theirs))
        assert ours[:count] == theirs[:count]
        compared += count
    assert compared > 2000
    other = run(replace(setups[0], loss_seed=6))
    assert fates(other, 0) != fates(runs[0], 0)


def test_what_is_lost_is_counted_and_written_once() -> None:
    raw = run(busy("leaf-spine", "ecmp", loss_prob=0.1))
    lines = raw.trace[raw.trace["reason"] == CORRUPTED]
    ports = range(len(raw.ports))
    assert raw.ports["packets_lost"].tolist() == [int((lines["port"] == port).sum()) for port in ports]
    assert raw.ports["bytes_lost"].tolist() == [int(lines["bytes"][lines["port"] == port].sum()) for port in ports]
    dropped = raw.trace[raw.trace["what"] == DROPPED]
    assert raw.subs["packets_dropped"].tolist() == np.bincount(dropped["sub"], minlength=len(raw.subs)).tolist()
    assert set(lines["queue_packets"]) == {0}
    crossed = int((raw.trace["what"] == ARRIVED).sum()) + len(lines)
    assert raw.ports["packets_arrived"].sum() == raw.counters["traversals"][0] == crossed


def test_a_link_that_loses_everything_delivers_nothing() -> None:
    setup = busy("dumbbell", "ecmp", loss_prob=1.0)
    raw = run(setup)
    assert raw.ports["packets_lost"].sum() == raw.ports["packets_arrived"].sum() > 0
    assert (raw.flows["received_ps"] < 0).all()


def test_the_balance_notices_a_loss_too_many() -> None:
    setup = busy("leaf-spine", "ecmp", loss_prob=0.1)
    raw = run(setup)
    for layer, text in (("leaf>spine", "switches:"), ("leaf>host", "subflows:")):
        ports = raw.ports.copy()
        ports["packets_lost"][setup.fabric.port_layers.index(layer)] += 1
        with pytest.raises(conservation.ConservationError, match=text):
            conservation.check(replace(raw, ports=ports), setup.fabric)
    ports = raw.ports.copy()
    ports["packets_lost"][0] = ports["packets_arrived"][0] + 1
    with pytest.raises(conservation.ConservationError, match="more packets lost than arrived"):
        conservation.check(replace(raw, ports=ports), setup.fabric)


# -- as a scenario says it


def test_one_key_for_all_links_and_entries_that_differ() -> None:
    links = (
        LinkChange(between=("leaf0", "spine1"), loss_prob=0.5),
        LinkChange(between=("host0", "leaf0"), loss_prob=0),
    )
    fabric = LeafSpine(leaves=2, hosts_per_leaf=2, spines=2, loss_prob=0.01, links=links).build()
    found = dict(zip(fabric.port_names, fabric.loss_prob.tolist(), strict=True))
    assert {found[name] for name in ("leaf0>spine1", "spine1>leaf0")} == {0.5}
    assert {found[name] for name in ("host0>leaf0", "leaf0>host0")} == {0.0}
    assert {found[name] for name in ("leaf1>spine1", "leaf0>host1")} == {0.01}


def test_the_tables_of_a_result_have_what_was_lost() -> None:
    traffic = (Batch(flows=2, flow_bytes=200_000, pairs="other-leaf"),)
    fabric: FabricKind = FatTree(pods=4, loss_prob=0.02)
    scenario = Scenario(fabric=fabric, traffic=traffic, trace="drops")
    result = simulate(scenario)
    lost = int(result.ports["packets_lost"].sum())
    assert 0 < lost == len(result.trace) == result.summary.packets_dropped
    assert set(result.trace["reason"]) == {"corrupted"}
    assert simulate(scenario, rng=2).ports["packets_lost"].tolist() != result.ports["packets_lost"].tolist()


def test_a_probability_that_is_none_is_refused(subtests: pytest.Subtests) -> None:
    cases = [("loss_prob", 1.5), ("loss_prob", -0.1), ("links", [{"between": ["*", "*"], "loss_prob": 2.0}])]
    for place, value in cases:
        with subtests.test(place=place, value=value):
            fabric = {"kind": "leaf-spine", "leaves": 2, "hosts_per_leaf": 1, "spines": 1, place: value}
            with pytest.raises(ParameterError, match=r"loss_prob") as error:
                from_dict({"fabric": fabric, "traffic": [{"kind": "batch", "flow_bytes": 1}]})
            assert "\n" not in str(error.value)
