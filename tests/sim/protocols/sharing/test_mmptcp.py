"""Packet scatter and MMPTCP by hand: marks, thresholds, the change of phase, and what is left out of it."""

from dataclasses import replace

import numpy as np
import pytest
from support.engine_setups import (
    BUSY,
    DUMBBELL,
    FAT_TREE,
    LEAF_SPINE,
    assert_same_trace,
    flow_list,
    random_flows,
    setup_of,
)
from support.scripted import Sender
from support.shared_sender import Shared

from capsim import scheme
from capsim.engines import run
from capsim.engines.initial_state import initial_state
from capsim.protocols.congestion.lia import takes_part
from capsim.records import CLOSED, DATA, ESTABLISHED, FLOW, NONE, SUBFLOW

MSS = 1460
AT_ONCE = {"join_gap_s": 0.0}


def marks(shared, sub):
    """Return the hashes of the data packets that a subflow has sent."""
    return [packet.hash for packet in shared.hosts.sent if packet.kind == DATA and packet.sub == sub]


# -- packet scatter


def test_each_packet_has_a_source_port_of_its_own_and_a_new_one_when_it_is_resent():
    sender = Sender("ps")
    assert len({packet.hash for packet in sender.packets}) == 10
    first = sender.packets[0].hash
    sender.expire()
    assert (sender.packets[-1].segment, sender.packets[-1].hash == first) == (0, False)


def test_the_handshake_keeps_the_source_port_of_the_subflow():
    sender = Sender("ps", handshake=True)
    sender.syn_ack(at_us=100, rtt_us=100)
    assert [packet.hash == sender.sub.hash for packet in sender.packets] == [True, True] + [False] * 10


def test_source_ports_are_drawn_from_as_many_as_there_are():
    one = scheme("ps").with_params(marking={"source_ports": 1})
    assert len({packet.hash for packet in Sender(one).packets}) == 1
    two = scheme("ps").with_params(marking={"source_ports": 2})
    assert len({packet.hash for packet in Sender(two).packets}) == 2


@pytest.mark.parametrize(
    ("kind", "dst", "threshold"),
    [(LEAF_SPINE, 1, 3), (LEAF_SPINE, 8, 6), (FAT_TREE, 1, 3), (FAT_TREE, 3, 5), (FAT_TREE, 23, 7)],
)
@pytest.mark.parametrize("name", ["ps", "mmptcp"])
def test_the_threshold_is_three_and_the_number_of_paths(name, kind, dst, threshold):
    """In the rack, in the pod and through the core; k = 4 has 1, 2 and 4 paths, three spines have 3."""
    assert Shared(name, kind=kind, dst=dst).subs[0].dup_ack_threshold == threshold
    three = Shared(name, kind=kind, dst=dst, sharing={"path_threshold": False})
    assert three.subs[0].dup_ack_threshold == 3
    for rule in (True, False):
        fixed = Shared(name, kind=kind, dst=dst, sharing={"fixed_threshold": 23, "path_threshold": rule})
        assert fixed.subs[0].dup_ack_threshold == 23


def test_limited_transmit_sends_a_segment_for_each_duplicate_below_the_threshold():
    """MMPTCP_LT: six of them below a threshold of seven; none without it."""
    for name, sent in (("mmptcp_lt", 6), ("mmptcp", 0)):
        shared = Shared(name, kind=FAT_TREE, n_segments=60)
        shared.sent()
        assert sum(len(shared.ack(0, 0)) for _ in range(6)) == sent
        assert shared.ack(0, 0)[0] == (0, 0)


# -- the change of phase


def sending(name="mmptcp", *, acks, **options):
    """Return a flow after so many acknowledgements in order on its first subflow."""
    shared = Shared(name, **options)
    for ack in range(1, acks + 1):
        shared.ack(0, ack, data_ack=ack, window=10_000)
    shared.sent()
    return shared


def test_further_subflows_are_asked_for_after_100_kb_have_been_sent():
    """69 segments are 100,740 bytes: in slow start from 10, they have left with the 30th acknowledgement."""
    shared = sending(acks=30, sharing=AT_ONCE)
    assert (shared.flow.granted, shared.flow.to_open) == (70, 0)
    shared.ack(0, 31, data_ack=31, window=10_000)
    assert shared.flow.to_open == 8


@pytest.mark.parametrize(("n_bytes", "asked"), [(100_000, 0), (100_001, 8)])
def test_exactly_100_kb_do_not_end_the_first_phase(n_bytes, asked):
    shared = sending(acks=60, n_bytes=n_bytes, sharing=AT_ONCE)
    assert shared.flow.to_open == asked


def test_acknowledged_bytes_may_count_instead():
    shared = sending(acks=68, sharing=AT_ONCE | {"switch_at": "acked"})
    assert shared.flow.to_open == 0
    shared.ack(0, 69, data_ack=69, window=10_000)
    assert shared.flow.to_open == 8


def test_a_loss_may_end_the_first_phase():
    shared = sending(acks=5, sharing=AT_ONCE | {"switch_at": "loss"})
    shared.ack(0, 5)
    shared.ack(0, 5)
    assert shared.flow.to_open == 0
    shared.ack(0, 5)
    assert shared.flow.to_open == 8


def test_the_first_subflow_sends_until_one_of_the_others_is_open():
    """With a handshake; then new data go to the others, and it repairs what it has sent."""
    shared = Shared("mmptcp", transport={"handshake": True}, sharing=AT_ONCE)
    shared.syn_ack(0, at_us=100)
    for ack in range(1, 41):
        shared.ack(0, ack, data_ack=ack, window=10_000)
    shared.wake()
    assert len(shared.subs) == 9
    assert shared.ack(0, 41, data_ack=41, window=10_000) == [(0, 90), (0, 91)]
    assert shared.syn_ack(3, at_us=200) == [(3, 92 + count) for count in range(10)]
    assert shared.ack(0, 42, data_ack=42, window=10_000) == []
    assert shared.expire(0) == [(0, 42)]
    assert shared.subs[0].state == ESTABLISHED


def switched(**options):
    """Return a flow whose second phase has begun: 31 segments acknowledged, 72 granted to the first subflow."""
    shared = sending(acks=31, sharing=AT_ONCE, **options)
    shared.wake()
    shared.sent()
    return shared


def test_the_first_subflow_is_closed_when_all_it_has_sent_is_acknowledged():
    shared = switched()
    assert (shared.subs[0].end, shared.subs[0].state) == (72, ESTABLISHED)
    shared.ack(0, 71, data_ack=71, window=10_000)
    assert shared.subs[0].closed_ps == NONE
    open_subs = shared.hosts.counters[0].open_subs
    shared.ack(0, 72, data_ack=72, window=10_000, at_us=500)
    assert (shared.subs[0].state, shared.subs[0].closed_ps) == (CLOSED, 500 * 10**6)
    assert shared.hosts.counters[0].open_subs == open_subs - 1
    assert shared.flow.acked_ps == NONE


def test_a_first_subflow_with_nothing_outstanding_is_closed_at_once():
    shared = Shared("mmptcp", n_bytes=101_000, transport={"handshake": True}, sharing=AT_ONCE | {"switch_bytes": 1000})
    shared.syn_ack(0, at_us=100)
    shared.ack(0, 10, data_ack=10, window=0)
    shared.flow.granted = shared.subs[0].end = shared.subs[0].next_segment = shared.subs[0].high = 10
    shared.wake()
    shared.syn_ack(1, at_us=200)
    assert shared.subs[0].state == CLOSED
    assert shared.subs[0].closed_ps == 200 * 10**6


def test_a_receiver_that_has_all_of_the_first_subflow_does_not_take_the_flow_for_complete():
    shared = switched()
    for segment in range(72):
        shared.data(0, segment, segment)
    assert (shared.subs[0].received_ps >= 0, shared.flow.received_ps) == (True, NONE)


def test_windows_are_coupled_without_the_first_subflow():
    shared = switched()
    assert [takes_part(sub) for sub in shared.subs] == [False] + [True] * 8
    assert {sub.dup_ack_threshold for sub in shared.subs[1:]} == {3}


def test_only_the_first_subflow_is_scattered():
    shared = switched()
    assert len(set(marks(shared, 0))) == len(marks(shared, 0)) == 72
    assert set(marks(shared, 1)) == {shared.subs[1].hash}


def test_auto_subflow_opens_as_many_as_the_distance_needs(subtests):
    for dst, joins in [(1, 1), (3, 4), (23, 8)]:
        with subtests.test(dst=dst, joins=joins):
            shared = sending("mmptcp_as", acks=31, kind=FAT_TREE, dst=dst, sharing=AT_ONCE)
            assert shared.flow.to_open == joins
            shared.wake()
            assert len(shared.subs) == 1 + joins


# -- limiting cases


@pytest.mark.parametrize("fabric", BUSY)
@pytest.mark.parametrize(("name", "transport"), [("mmptcp", {}), ("mmptcp_lt", {"limited_transmit": True})])
def test_below_the_threshold_it_is_packet_scatter_packet_for_packet(name, transport, fabric):
    kind, flows = BUSY[fabric]
    below = run(setup_of(kind, flows, name, sharing={"switch_bytes": 10**6}))
    assert below.flows["n_subs"].max() == 1
    assert_same_trace(below, run(setup_of(kind, flows, "ps", transport=transport)))


def test_short_flows_of_mmptcp_are_scattered_as_by_packet_scatter():
    """With its own threshold, when no flow is longer."""
    flows = random_flows(9, n_flows=24, rng=3)
    short = replace(flows, flow_bytes=np.minimum(flows.flow_bytes, 100_000))
    assert_same_trace(run(setup_of(LEAF_SPINE, short, "mmptcp")), run(setup_of(LEAF_SPINE, short, "ps")))


def test_over_one_path_packet_scatter_is_newreno_packet_for_packet():
    kind, flows = BUSY["dumbbell"]
    assert kind == DUMBBELL
    plain = setup_of(kind, flows, "ecmp", transport={"limited_transmit": False})
    assert_same_trace(run(setup_of(kind, flows, "ps")), run(plain))


def test_mixtures_run_one_stack_for_short_and_one_for_long_flows():
    assert scheme("mptcp_tcp").stacks == (scheme("ecmp").short, scheme("mptcp").long)
    plain = scheme("ecmp").with_params(transport={"limited_transmit": False})
    assert scheme("ps_tcp").stacks == (plain.short, scheme("ps").long)


def test_a_flow_that_stays_in_its_first_phase_takes_little_memory():
    """70 kB: records, own memory, the flags of segments and data segments; at most 1.5 kB."""
    setup = setup_of(LEAF_SPINE, flow_list([(0, 8, 70_000, 0.0)]), "mmptcp")
    state, found = initial_state(setup), run(setup, engine="reference")
    used = FLOW.itemsize + SUBFLOW.itemsize
    used += sum(layout.row_bytes for name, layout in state.own.layouts.items() if name in ("flow", "subflow"))
    used += int(found.counters["ring_end"][0]) * (state.rings.itemsize + state.maps.itemsize)
    used += int(found.counters["data_end"][0]) * state.data.itemsize
    assert used <= 1500
