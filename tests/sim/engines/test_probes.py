"""Exact arithmetic: what probes sample is what the record or component holds at that time; wrong names get one line."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.engine_setups import LEAF_SPINE, differences, flow_list, setup_of

from capsim import Balancer, Batch, Dumbbell, LeafSpine, Listed, ParameterError, Probes, Scenario, scheme, simulate

PAIR = Dumbbell(hosts_per_side=1, rate_bps=1e9, delay_s=10e-6)
PACKET_S, RTT_S = 12e-6, 60e-6 + 3 * (12e-6 + 0.32e-6)


def sampled(*fields: str, period_s: float = 50e-6, scheme: str = "ecmp", **changes: Any) -> Any:
    """Return the result of one flow of 100 packets between two hosts."""
    probes = Probes(period_s=period_s, fields=fields, ports=("host0>left",), flows="all")
    run = Scenario(fabric=PAIR, traffic=(Listed(flows=((0, 1, 146_000, 0.0),)),), probes=probes, scheme=scheme)
    return simulate(run.replace(**changes), engine="reference")


def test_bytes_out_count_what_the_link_has_sent() -> None:
    """The first ten packets go back to back: after 50, 100 us the NIC has sent 4 and 8 of them, of 1500 bytes."""
    sent = sampled("port.bytes_out", "port.queue_packets").samples("port.bytes_out")["host0>left"]
    assert sent.iloc[:2].tolist() == [4 * 1500, 8 * 1500]
    assert sent.index[:2].tolist() == pytest.approx([50e-6, 100e-6], rel=1e-12)


def test_slow_start_adds_a_segment_for_each_acknowledgement() -> None:
    """The first acknowledgement comes after a round trip, the next ones a transmission time apart."""
    result = sampled("sub.cwnd_bytes", "sub.una", "sub.srtt_s", period_s=5e-6)
    window, una, srtt_s = (result.samples(f"sub.{name}")["flow0.0"] for name in ("cwnd_bytes", "una", "srtt_s"))
    until = window.index < RTT_S + 9 * PACKET_S
    acknowledged = np.floor((window.index[until].to_numpy() - RTT_S) / PACKET_S + 1).astype(int).clip(0)
    assert una[until].tolist() == acknowledged.tolist()
    assert window[until].tolist() == (1460 * (10 + acknowledged)).tolist()
    assert srtt_s[una > 0].iloc[0] == pytest.approx(RTT_S, rel=1e-9)


def test_a_time_that_is_not_there_is_nan() -> None:
    result = sampled("sub.timer_s", "flow.received_s", period_s=300e-6)
    done = result.flows["fct_s"].item()
    received_s = result.samples("flow.received_s")["flow0"]
    assert received_s[received_s.index < done].isna().all()
    np.testing.assert_allclose(received_s[received_s.index > done], done, rtol=1e-9)
    timer_s = result.samples("sub.timer_s")["flow0.0"]
    assert timer_s.iloc[0] == pytest.approx(0.2, abs=1e-3)


def test_all_subflows_of_a_flow_are_sampled() -> None:
    result = simulate(
        Scenario(
            fabric=LeafSpine(leaves=2, hosts_per_leaf=1, spines=2),
            traffic=(Listed(flows=((0, 1, 50_000, 0.0),)),),
            probes=Probes(period_s=1e-4, fields=("sub.number", "flow.n_subs"), flows=(0,)),
            scheme="repflow",
        ),
        engine="reference",
    )
    numbers = result.samples("sub.number")
    assert numbers.iloc[0].to_dict() == {"flow0.0": 0.0, "flow0.1": 1.0}
    assert set(result.samples("flow.n_subs")["flow0"]) == {2.0}


def count(
    params: Any,
    own: Any,
    switch: Any,
    sub: Any,
    packet: Any,
    ports: Any,
    candidates: Any,
    now_ps: int,
    u0: float,
) -> int:
    """Take the first candidate, and count packets in every kind of memory."""
    own.fabric.packets += 1
    own.switch.packets[0] += 1
    own.switch.packets[1] += packet.bytes
    own.towards.share = 0.5
    own.subflow.byte = 200
    own.passing.packets += 1
    for path in own.paths:
        path.packets += 1
        break
    return 0


MEMORY = {
    "fabric": (("packets", "i8"),),
    "switch": (("packets", "(2,)i4"),),
    "towards": (("share", "f8"),),
    "path": (("packets", "i8", 7),),
    "subflow": (("byte", "u1"),),
    "passing": (("packets", "i4"),),
}
COUNTING = replace(scheme("ecmp"), name="counting", balancer=Balancer(name="counting", choose=count, memory=MEMORY))
FIELDS = tuple(f"balancer.{scope}.{fields[0][0]}" for scope, fields in MEMORY.items())
CROSSING = Scenario(
    fabric=LeafSpine(leaves=2, hosts_per_leaf=1, spines=2),
    traffic=(Listed(flows=((0, 1, 14_600, 0.0),)),),
    probes=Probes(period_s=1e-3, fields=FIELDS, flows=(0,)),
    end_s=1.5e-3,
)


def test_every_scope_of_own_memory_is_sampled_by_name() -> None:
    """Ten packets leave the first leaf, ten acknowledgements the second; a spine has nothing to choose from."""
    # A further flow begins after the sample: a run without open flows would have ended.
    traffic = (Listed(flows=((0, 1, 14_600, 0.0), (0, 1, 1460, 1.2e-3))),)
    rows = simulate(CROSSING.replace(traffic=traffic), scheme=COUNTING, engine="reference").probes
    values = {(row.field, row.entity): row.value for row in rows.itertuples()}
    assert values["balancer.fabric.packets", "fabric"] == 20
    assert values["balancer.switch.packets[0]", "leaf0"] == 10
    assert values["balancer.switch.packets[1]", "leaf1"] == 10 * 40
    assert values["balancer.switch.packets[0]", "spine0"] == 0
    assert values["balancer.towards.share", "leaf0 to leaf1"] == 0.5
    assert values["balancer.path.packets", "leaf0 to leaf1 path 0"] == 7 + 10
    assert values["balancer.path.packets", "leaf0 to leaf1 path 1"] == 7
    assert values["balancer.subflow.byte", "flow0.0"] == 200
    assert values["balancer.passing.packets", "flow0.0 forward tier 0"] == 10
    assert values["balancer.passing.packets", "flow0.0 back tier 0"] == 10
    assert values["balancer.passing.packets", "flow0.0 back tier 1"] == 0


def test_both_engines_read_every_type_and_scope() -> None:
    flows = flow_list([(0, 3, 14_600, 0.0), (4, 8, 60_000, 10.0)])
    setup = setup_of(LEAF_SPINE, flows, COUNTING, probe_ps=10**8, probe_flows=(0, 1), probe_switches=(0, 2, 5))
    assert differences(replace(setup, probe_fields=FIELDS)) == []


def test_a_short_name_is_enough_where_it_is_clear() -> None:
    result = sampled("congestion.alpha", "congestion.subflow.alpha", scheme="dctcp")
    short, long = (result.samples(name)["flow0.0"] for name in ("congestion.alpha", "congestion.subflow.alpha"))
    assert short.tolist() == long.tolist()
    assert short.iloc[0] > 0


def test_sampling_less_changes_nothing_else() -> None:
    result, blind = sampled("sub.una"), sampled(probes=None)
    assert result.flows.equals(blind.flows)
    assert result.ports.equals(blind.ports)


def test_a_wrong_name_is_told_with_those_that_there_are(subtests: pytest.Subtests) -> None:
    cases = [
        ({"fields": ("port.queue",), "ports": ("*",)}, r"no field 'port.queue': port has .*queue_bytes, queue_packets"),
        ({"fields": ("switch.queue",)}, r"no field 'switch.queue': it begins with one of flow, port, sub$"),
        ({"fields": ("sub.ring",), "flows": (0,)}, r"no field 'sub.ring'"),
        ({"fields": ("port.queue_bytes",)}, r"'port.queue_bytes' is of a port: name some in probes.ports"),
        ({"fields": ("sub.una",), "ports": ("*",)}, r"'sub.una' is of a flow: name some in probes.flows"),
        ({"fields": ("sub.una",), "flows": (0,), "switches": ("moon",)}, r"probes.switches: no switch 'moon'"),
    ]
    for probes, rule in cases:
        with subtests.test(probes=probes, rule=rule):
            with pytest.raises(ParameterError, match=rule) as error:
                sampled(probes=Probes(**probes))
            assert "\n" not in str(error.value)


def test_a_field_that_was_not_sampled_is_told() -> None:
    with pytest.raises(ParameterError, match=r"no samples of 'sub.cwnd_bytes': this run sampled sub.una"):
        sampled("sub.una").samples("sub.cwnd_bytes")


def test_every_flow_can_be_sampled_at_once() -> None:
    probes = Probes(period_s=20e-6, fields=("flow.n_segments",), flows="all")
    run = Scenario(fabric=PAIR, traffic=(Batch(flows=3, flow_bytes=14_600, pairs="sides"),), probes=probes)
    assert list(simulate(run, engine="reference").samples("flow.n_segments")) == ["flow0", "flow1", "flow2"]
