"""What balancers decide, asked packet by packet: CAPS Algorithm 1, own paths."""

from types import SimpleNamespace

import numpy as np
import pytest
from support.engine_setups import (
    FAT_TREE,
    LEAF_SPINE,
    PARALLEL,
    flow_list,
    memory_of,
    one_run,
    params_of,
    record,
    setup_of,
)

from capsim import records, scheme
from capsim.protocols.balancers.caps import CAPS, LongFrom, ModeCounts
from capsim.protocols.balancers.own_paths import OWN_PATHS
from capsim.records import ACK, CODED, DATA, ENQUEUED, SYN, SYN_ACK

DRAWS = (0.1, 0.9)  # of four paths, spraying takes the first and the last


class Switch:
    """A switch that can be asked which of its paths a packet takes."""

    def __init__(self, balancer, *, tier=0, n_paths=4, **changes):
        self.choose, self.params, self.n_paths = balancer.choose, params_of(balancer, **changes), n_paths
        self.memory = memory_of(balancer, "switch")
        self.record = record(records.SWITCH, salt=12345, tier=tier)

    def path(self, flow, now_us=0.0, *, kind=DATA, packet_bytes=1500, u0=0.1):
        packet = record(records.PACKET, kind=kind, bytes=packet_bytes, hash=1 if kind in (DATA, CODED, SYN) else 2)
        own, ports, paths = SimpleNamespace(switch=self.memory, subflow=flow.memory), [], range(self.n_paths)
        return self.choose(self.params, own, self.record, flow.sub, packet, ports, paths, round(now_us * 1e6), u0)


class Algorithm1(Switch):
    """A switch of CAPS."""

    def __init__(self, **changes):
        super().__init__(scheme("caps").balancer, **changes)

    def sprays(self, flow, now_us, **packet):
        """Return whether a packet follows the draw; the packet is counted once, whatever it is asked."""
        paths = [self.path(one, now_us, u0=u0, **packet) for one, u0 in zip((flow, replica(flow)), DRAWS, strict=True)]
        return paths == [0, 3]


def subflow(balancer=CAPS, *, short=0, **memory):
    """Return a subflow with what the switches know of it."""
    return SimpleNamespace(
        sub=record(records.SUBFLOW, short=short), memory=memory_of(balancer, "subflow", **memory), balancer=balancer
    )


def replica(flow):
    """Return a copy, so that asking twice counts once."""
    known = {name: getattr(flow.memory, name) for name in flow.memory.__slots__}
    return subflow(flow.balancer, short=flow.sub.short, **known)


def test_caps_mode_follows_the_last_period():
    """Algorithm 1: a short packet in one period of 500 us makes long flows hash in the next, and only there."""
    switch, long, short = Algorithm1(), subflow(short=0), subflow(short=1)
    assert switch.sprays(long, 10)  # OFF at the start
    assert switch.sprays(long, 490)
    assert switch.sprays(short, 600)
    assert switch.sprays(long, 900)  # seen in this period: counts from the next on
    assert not switch.sprays(long, 1000)
    assert not switch.sprays(long, 1499)
    assert switch.sprays(short, 1499)  # short flows are sprayed in either mode
    assert not switch.sprays(long, 1700)
    assert switch.sprays(long, 2000)  # nothing short between 1500 and 2000
    assert switch.sprays(short, 2100)
    assert switch.sprays(long, 3600)  # a silent period in between


def test_only_packets_towards_the_receiver_switch_the_mode_on(subtests):
    """Data and SYN; an acknowledgement of a short flow does when ``mode_counts = "all"``, one of a long flow never."""
    cases = [(DATA, True), (CODED, True), (SYN, True), (ACK, False), (SYN_ACK, False)]
    for kind, on in cases:
        with subtests.test(kind=kind, on=on):
            for counts, switches_on in ((ModeCounts.DATA, on), (ModeCounts.ALL, True)):
                switch = Algorithm1(mode_counts=counts)
                switch.path(subflow(short=1), 100, kind=kind)
                assert switch.sprays(subflow(short=0), 600) != switches_on
                switch = Algorithm1(mode_counts=counts)
                switch.path(subflow(short=0), 100, kind=kind)
                assert switch.sprays(subflow(short=0), 600)


def test_acknowledgements_have_the_class_of_their_flow():
    switch, long, short = Algorithm1(), subflow(short=0), subflow(short=1)
    switch.path(short, 100)
    assert not switch.sprays(long, 600, kind=ACK, packet_bytes=40)
    assert switch.sprays(short, 700, kind=ACK, packet_bytes=40)
    assert long.memory.bytes == 0


def test_counted_flow_is_long_at_exactly_100_kb():
    """Mode ON: 99 999 bytes are sprayed, 100 000 hash (fs >= s_L)."""
    for last_bytes, long in ((1499, False), (1500, True)):
        switch, growing = Algorithm1(long_from=LongFrom.THRESHOLD), subflow(bytes=97_000)
        assert switch.sprays(growing, 100)  # 98 500, and it switches the mode ON
        assert switch.sprays(growing, 600, packet_bytes=last_bytes) != long
        assert growing.memory.bytes == 98_500 + last_bytes


def test_known_long_flow_is_long_from_its_first_packet():
    switch = Algorithm1()
    switch.path(subflow(short=1), 100)
    assert not switch.sprays(subflow(short=0), 600)


def test_a_packet_is_counted_at_its_first_switch_only():
    """Edge and aggregation switch of a fat-tree both choose a path; fs[i] grows by one packet, its headers included."""
    result = one_run(setup_of(FAT_TREE, flow_list([(0, 23, 1000, 0.0)]), "caps", layer={"max_overhead": 0.0}))
    assert result.own.records("balancer_subflow", "balancer")["bytes"].tolist() == [1040]
    switch, flow = Algorithm1(tier=1), subflow()
    switch.path(flow)
    assert flow.memory.bytes == 0


def test_long_flows_alone_leave_the_mode_off():
    """No short flow: CAPS is plain spraying, packet for packet. Acknowledgements are no sign of short flows."""
    flows = flow_list([(host, (host + 3) % 9, 150_000, 10.0 * host) for host in range(9)])
    alone, sprayed = (one_run(setup_of(LEAF_SPINE, flows, name)) for name in ("caps", "rps"))
    assert alone.subs["received_ps"].tolist() == sprayed.subs["received_ps"].tolist()
    assert np.array_equal(alone.trace, sprayed.trace)
    counted = one_run(setup_of(LEAF_SPINE, flows, "caps", balancer={"long_from": "threshold"}))
    assert counted.subs["received_ps"].tolist() != sprayed.subs["received_ps"].tolist()  # short at first: ON


@pytest.mark.parametrize("name", ["caps", "caps_ns2"])
def test_acknowledgements_can_keep_to_one_port(name):
    balancer = scheme(name).balancer
    switch, flow = Switch(balancer, spray_acks=False, round_robin=False), subflow(balancer, short=1)
    draws = np.linspace(0.01, 0.99, 20)
    assert len({switch.path(flow, kind=ACK, u0=u0) for u0 in draws}) == 1
    assert {switch.path(flow, u0=u0) for u0 in draws} == {0, 1, 2, 3}


def test_own_paths_in_order_of_appearance():
    """Six long flows over four paths: 0, 1, 2, 3, 0, 1; each keeps its path, its acknowledgements have the same."""
    switch = Switch(scheme("caps_ns2").balancer)
    flows = [subflow(OWN_PATHS, short=0) for _ in range(6)]
    assert [switch.path(flow) for flow in flows] == [0, 1, 2, 3, 0, 1]
    assert [switch.path(flow, kind=ACK) for flow in flows] == [0, 1, 2, 3, 0, 1]
    upper = Switch(scheme("caps_ns2").balancer, tier=1, n_paths=2)
    assert [upper.path(flow) for flow in flows] == [0, 0, 0, 0, 1, 1]  # flows 0 and 4 share the lower path
    short = subflow(OWN_PATHS, short=1)
    assert [switch.path(short) for _ in range(5)] == [1, 2, 3, 0, 1]


def test_long_flows_of_the_ns2_code_never_share_a_path():
    """Four long flows between different pairs over four paths, short ones beside them."""
    rows = [(host, 4 + host, 400_000, 50.0 * host) for host in range(4)] + [(0, 5, 20_000, 120.0)]
    setup = setup_of(PARALLEL, flow_list(rows), "caps_ns2")
    result = one_run(setup)
    trace, long = result.trace, np.flatnonzero(result.flows["short"] == 0)
    middle = [port for port, name in enumerate(setup.fabric.port_names) if name.startswith("left>right")]
    lines = trace[(trace["what"] == ENQUEUED) & np.isin(trace["port"], middle)]
    taken = [set(lines["port"][lines["sub"] == sub].tolist()) for sub in long]
    assert [len(paths) for paths in taken] == [1, 1, 1, 1]
    assert set.union(*taken) == set(middle)
