"""Property: a run that adds up passes, and each rule of the balance fails by itself when one record is changed."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from capsim import Batch, LeafSpine, LinkChange, Scenario, simulate
from capsim.engines import run
from capsim.engines.state import RawRecords, Setup
from capsim.results import conservation
from capsim.run.simulation import prepare

# A spine link and a host fail: packets are lost with a link, then some have no route. Four long flows fill the buffers
# to the end, some of the short ones finish.
FAILS = (
    LinkChange(between=("leaf1", "spine0"), down_s=1e-3),
    LinkChange(between=("leaf1", "host5"), down_s=1.5e-3),
)
SCENARIO = Scenario(
    fabric=LeafSpine(leaves=2, hosts_per_leaf=4, spines=2, buffer_packets=8, links=FAILS),
    traffic=(Batch(pairs="other-leaf", flow_bytes=10**6), Batch(pairs="random", flow_bytes=5000, flows=6)),
    seed=3,
    end_s=2.1e-3,
)
SETUP = prepare(SCENARIO)
FABRIC = SETUP.fabric
BUSY = FABRIC.port_names.index("spine1>leaf0")
NIC = FABRIC.port_names.index("host1>leaf0")
DOWNLINK = FABRIC.port_names.index("leaf1>host4")


@pytest.fixture(scope="module")
def raw() -> RawRecords:
    return run(SETUP, engine="reference")


def check(raw: RawRecords) -> None:
    conservation.check(raw, FABRIC)


def changed(raw: RawRecords, table: str, row: int, **by: int) -> RawRecords:
    """Return the records with some fields of one row changed by the given numbers."""
    array = getattr(raw, table).copy()
    for name, change in by.items():
        array[name][row] += change
    return replace(raw, **{table: array})


def test_a_run_with_losses_of_every_kind_adds_up(raw: RawRecords) -> None:
    check(raw)
    assert raw.ports["packets_dropped"].sum() > 0
    assert raw.ports["queue_packets"][BUSY] > 0
    assert raw.ports["packets_arrived"][BUSY] == raw.ports["packets_out"][BUSY] - 1
    assert raw.counters["unroutable"][0] > 0
    assert raw.counters["in_flight"][0] > raw.ports["queue_packets"].sum(), "some are on the wire"
    assert 0 < (raw.flows["received_ps"] >= 0).sum() < len(raw.flows)


PORT_BALANCE: list[tuple[dict[str, int], str]] = [
    ({"packets_in": 1}, "packets offered are not"),
    ({"packets_out": 1}, "packets offered are not"),
    ({"packets_dropped": -1}, "packets offered are not"),
    ({"queue_packets": 1}, "packets offered are not"),
    ({"bytes_in": 1}, "bytes offered are not"),
    ({"bytes_out": -1}, "bytes offered are not"),
    ({"bytes_dropped": 1}, "bytes offered are not"),
    ({"queue_bytes": -1}, "bytes offered are not"),
    ({"packets_arrived": 2}, "more packets arrived than sent"),
    ({"queue_packets": -(10**6), "packets_out": 10**6}, "a queue is negative"),
]


def test_rule_1_every_port_adds_up(subtests: pytest.Subtests, raw: RawRecords) -> None:
    for by, rule in PORT_BALANCE:
        with (
            subtests.test(by=by, rule=rule),
            pytest.raises(conservation.ConservationError, match=f"spine1>leaf0: port: .*{rule}"),
        ):
            check(changed(raw, "ports", BUSY, **by))


@pytest.mark.parametrize("by", [1, -1])
def test_rule_2_switches_forward_what_arrives(by: int, raw: RawRecords) -> None:
    with pytest.raises(conservation.ConservationError, match=r"^switches: \d+ packets arrived"):
        check(changed(raw, "ports", BUSY, packets_in=by, queue_packets=by))
    with pytest.raises(conservation.ConservationError, match=r"^switches: "):
        check(changed(raw, "counters", 0, unroutable=by))


@pytest.mark.parametrize("by", [1, -1])
def test_rule_3_all_that_was_created_is_somewhere(by: int, raw: RawRecords) -> None:
    for other in (
        changed(raw, "counters", 0, in_flight=by),
        changed(raw, "ports", NIC, packets_in=by, packets_out=by),
        changed(raw, "ports", DOWNLINK, packets_arrived=-1),
        changed(raw, "ports", BUSY, packets_dropped=by, queue_packets=-by),
    ):
        with pytest.raises(conservation.ConservationError, match=r"^total: \d+ packets created"):
            check(other)


@pytest.mark.parametrize("by", [1, -1])
def test_rule_4_subflows_lose_what_the_fabric_loses(by: int, raw: RawRecords) -> None:
    sub = int(np.argmax(raw.subs["packets_dropped"]))
    with pytest.raises(conservation.ConservationError, match=r"^subflows: \d+ of their packets dropped, but"):
        check(changed(raw, "subs", sub, packets_dropped=by))


@pytest.mark.parametrize("unit", ["packets", "bytes"])
def test_rule_5_no_mean_queue_is_above_its_maximum(unit: str, raw: RawRecords) -> None:
    most = f"max_queue_{unit}"
    with pytest.raises(conservation.ConservationError, match=f"spine1>leaf0: port: mean queue .* maximum, {unit}"):
        check(changed(raw, "ports", BUSY, **{most: -int(raw.ports[most][BUSY])}))


def winner_of(raw: RawRecords) -> tuple[int, int]:
    """Return a finished flow and the subflow that completed it."""
    flow = int(np.flatnonzero(raw.flows["received_ps"] >= 0)[-1])
    return flow, int(raw.flows["winner"][flow])


@pytest.mark.parametrize("by", [1, -1])
def test_rule_6_a_finished_flow_is_whole(by: int, raw: RawRecords) -> None:
    flow, sub = winner_of(raw)
    for other in (
        changed(raw, "flows", flow, flow_bytes=by),
        changed(raw, "flows", flow, last_segment_bytes=by),
        changed(raw, "flows", flow, n_segments=by),
        changed(changed(raw, "subs", sub, receive_next=by), "flows", flow, last_segment_bytes=-1460 * by),
    ):
        with pytest.raises(conservation.ConservationError, match=f"^{flow}: finished flow: delivered bytes"):
            check(other)
    unfinished = int(np.flatnonzero(raw.flows["received_ps"] < 0)[0])
    check(changed(raw, "flows", unfinished, flow_bytes=by))


@pytest.mark.parametrize("by", [1, -1])
def test_rule_6_a_shared_stream_is_whole_too(by: int, raw: RawRecords) -> None:
    """Whatever the subflow that won has received, every data segment came and none waits in the receive buffer."""
    flow, sub = winner_of(raw)
    whole = changed(raw, "flows", flow, shared=1, data_next=int(raw.flows["n_segments"][flow]))
    check(changed(whole, "subs", sub, receive_next=by))
    with pytest.raises(conservation.ConservationError, match=f"^{flow}: finished flow: data segments are missing"):
        check(changed(whole, "flows", flow, data_next=by))
    with pytest.raises(conservation.ConservationError, match=f"^{flow}: finished flow: data segments are still in its"):
        check(changed(whole, "flows", flow, buffered=by))


@pytest.mark.parametrize(("table", "row", "field"), [("ports", NIC, "packets_out"), ("counters", 0, "in_flight")])
def test_a_run_that_loses_a_packet_gives_no_result(
    table: str, row: int, field: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def losing(setup: Setup, **options: Any) -> RawRecords:
        return changed(run(setup, **options), table, row, **{field: -1})

    monkeypatch.setattr("capsim.run.hook_failures.run", losing)
    with pytest.raises(conservation.ConservationError):
        simulate(SCENARIO, engine="reference")
