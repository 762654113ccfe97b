"""pFabric: which packet a port sends and loses, what its hosts do, worked out by hand from Alizadeh et al. (2013)."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from support.engine_setups import CROWDED, differences, flow_list, one_run, setup_of
from support.scripted import MSS, Receiver, Sender

from capsim import ACCEPT, EVICT, Dumbbell, scheme
from capsim.engines import reference
from capsim.engines.hosts import handlers
from capsim.engines.state import TRACE_PACKETS
from capsim.protocols.queues.pfabric import PFABRIC
from capsim.records import ACK, DATA, DROPPED, EVICTED, NONE

PARAMS = SimpleNamespace(buffer_bytes=36_000, earliest_first=True)
LINK = Dumbbell(hosts_per_side=2, rate_bps=1e9, delay_s=10e-6, host_rate_bps=1e10)


def waiting(*rows):
    """Return a port and its packets; rows are (flow, priority, time of arrival) in the order of the chain."""
    packets = [
        SimpleNamespace(sub=flow, target=1, priority=priority, enqueue_ps=time, next=number + 1)
        for number, (flow, priority, time) in enumerate(rows)
    ]
    packets[-1].next = NONE
    return SimpleNamespace(wait_head=0), packets


def taken(*rows, earliest_first=True):
    """Return the number of the packet that is sent next."""
    params = SimpleNamespace(buffer_bytes=36_000, earliest_first=earliest_first)
    return PFABRIC.take(params, None, *waiting(*rows), 0)


def test_the_earliest_packet_of_the_most_urgent_flow_is_sent():
    rows = (7, 100, 50), (8, 150, 10), (7, 200, 40), (7, 300, 20), (9, 400, 5)
    assert taken(*rows) == 3
    assert taken(*rows, earliest_first=False) == 0


def test_of_packets_of_one_time_the_one_with_more_left_was_sent_first():
    assert taken((7, 100, 50), (7, 200, 50), (7, 200, 50)) == 1
    assert taken((7, 100, 50), (7, 200, 51)) == 0


def test_packets_of_the_other_direction_are_another_flow():
    port, packets = waiting((7, 100, 50), (7, 200, 40))
    packets[1].target = 2
    assert PFABRIC.take(PARAMS, None, port, packets, 0) == 0


@pytest.mark.parametrize(("queue_bytes", "decision"), [(34_500, ACCEPT), (34_501, EVICT)])
def test_a_port_has_36_kilobytes(queue_bytes, decision):
    packet = SimpleNamespace(bytes=1500)
    assert PFABRIC.admit(PARAMS, None, None, packet, 1, queue_bytes, 0, 0.0) == decision


@pytest.mark.parametrize(("limit_packets", "decision"), [(3, ACCEPT), (2, EVICT)])
def test_without_a_size_of_its_own_it_has_that_of_the_fabric(limit_packets, decision):
    params, port = SimpleNamespace(buffer_bytes=0), SimpleNamespace(limit_packets=limit_packets, limit_bytes=NONE)
    assert PFABRIC.admit(params, None, port, SimpleNamespace(bytes=1500), 2, 10**9, 0, 0.0) == decision


def test_it_starts_with_a_window_and_says_what_remains():
    sender = Sender("pfabric", n_segments=100, last_bytes=500)
    assert [packet.segment for packet in sender.packets] == [*range(12)]
    left = 99 * MSS + 500
    assert {packet.priority for packet in sender.packets} == {left}
    assert sender.timer_us == 450
    assert sender.ack(2, at_us=100) == [12, 13]
    assert {packet.priority for packet in sender.packets[12:]} == {left - 2 * MSS}
    assert sender.timer_us == 550
    assert sender.cwnd == 12  # no growth beyond


def test_what_is_sacked_does_not_remain_and_is_not_in_the_network():
    sender = Sender("pfabric", n_segments=100)
    assert sender.ack(0, at_us=100, blocks=[(1, 2)]) == [12]
    assert sender.packets[-1].priority == 99 * MSS
    assert sender.ack(0, blocks=[(3, 5), (1, 2)]) == [13, 14]
    assert sender.packets[-1].priority == 97 * MSS
    assert sender.timer_us == 450  # a duplicate leaves the timer


def test_the_last_segment_counts_its_own_bytes_when_sacked():
    sender = Sender("pfabric", n_segments=3, last_bytes=200, most_window_packets=2, initial_window_packets=2)
    assert sender.ack(0, blocks=[(1, 2)], at_us=10) == [2]
    assert sender.packets[-1].priority == MSS + 200
    assert sender.ack(0, blocks=[(1, 3)]) == []
    assert sender.expire() == [0]
    assert sender.packets[-1].priority == MSS


def test_duplicates_repair_nothing_and_a_timeout_goes_back_past_what_is_sacked():
    sender = Sender("pfabric", n_segments=100)
    for end in range(2, 13):
        sender.ack(0, at_us=100, blocks=[(1, end)])
    assert sender.sub.dup_acks_received == 11
    assert sender.sub.fast_retransmits == 0
    assert sender.sub.retransmissions == 0
    assert sender.expire() == [0]
    assert sender.now_us == 450
    assert (sender.cwnd, sender.ssthresh) == (1, 6)
    assert sender.ack(12, at_us=550) == [12, 13]  # slow start: 12 to 22 are in the network, as far as is known
    assert sender.sub.next_segment == 14


@pytest.mark.parametrize(("count", "sent"), [(False, [0]), (True, [0, 1, 2, 3])])
def test_what_is_sacked_above_may_widen_the_window_after_a_timeout(count, sent):
    """Segments 5 to 7 have come: one segment goes at once, or one and three."""
    sender = Sender("pfabric", n_segments=100, count_all_sacked=count)
    sender.ack(0, blocks=[(5, 8)])
    assert sender.expire() == sent


def test_the_timer_is_constant():
    sender = Sender("pfabric", n_segments=100, rto_s=200e-6, probe_after_timeouts=0)
    sender.ack(1, at_us=150, rtt_us=150)
    deadlines = []
    for _ in range(7):
        deadlines.append(sender.timer_us)
        assert sender.expire() == [1]
    assert deadlines == [350, 550, 750, 950, 1150, 1350, 1550]
    assert sender.ssthresh == 2


def test_after_five_timeouts_it_probes_with_one_byte_and_starts_slowly_after_an_ack():
    sender = Sender("pfabric", n_segments=100)
    sizes = []
    for _ in range(7):
        assert sender.expire() == [0]
        sizes.append(sender.packets[-1].bytes)
    assert sizes == 4 * [MSS + 40] + 3 * [41]
    assert [sender.options(packet).probe for packet in sender.packets[-4:]] == [0, 1, 1, 1]
    assert sender.ack(0, at_us=4000) == [0]
    assert sender.packets[-1].bytes == MSS + 40
    assert sender.timer_us == 4450
    assert sender.ack(1, at_us=4100) == [1, 2]


def test_four_timeouts_before_an_ack_are_forgotten():
    sender = Sender("pfabric", n_segments=100)
    for _ in range(4):
        sender.expire()
    sender.ack(0, at_us=2000)
    for _ in range(4):
        sender.expire()
    assert sender.packets[-1].bytes == MSS + 40
    sender.expire()
    assert sender.packets[-1].bytes == 41


def reply_to(receiver, segment, *, probe):
    """Return the acknowledgement of a packet that is a probe or none."""
    packet = receiver.hosts.arriving(0, kind=DATA, segment=segment, bytes=41 if probe else MSS + 40, flags=0)
    receiver.options(packet).probe = int(probe)
    handlers.deliver(receiver.hosts, packet.number, 0)
    return receiver.hosts.sent[-1]


def test_a_probe_brings_nothing_and_acknowledgements_are_most_urgent():
    receiver = Receiver("pfabric", n_segments=10)
    replies = [
        reply_to(receiver, 0, probe=False),
        reply_to(receiver, 1, probe=True),
        reply_to(receiver, 2, probe=False),
    ]
    assert [(reply.kind, reply.ack, reply.priority) for reply in replies] == 3 * [(ACK, 1, 0)]
    assert [receiver.blocks(reply) for reply in replies] == [[], [], [(2, 3)]]
    assert receiver.sub.duplicate_packets == 0


def test_alone_it_is_sack_with_that_window():
    """No loss, one path, one flow: priorities, buffers and the timer make no difference."""
    flows = flow_list([(0, 2, 200_000, 0.0)])
    window = {"initial_window_packets": 12, "max_window_bytes": 12 * MSS}
    alone = one_run(setup_of(LINK, flows, "pfabric", transport={"rto_s": 0.1}))
    other = one_run(setup_of(LINK, flows, "sack", transport=window))
    assert len(alone.trace) > 1000
    assert np.array_equal(alone.trace, other.trace)


def test_the_flow_with_less_left_has_the_link_to_itself():
    """A flow of 30 segments comes to a link that a long one fills: it waits for no more than the packet being sent."""
    rows = [(0, 2, 2_000_000, 0.0), (1, 3, 30 * MSS, 3000.0)]
    alone = one_run(setup_of(LINK, flow_list([rows[1]]), "pfabric"))
    both = one_run(setup_of(LINK, flow_list(rows), "pfabric"))
    fct_us = (both.flows["received_ps"] - both.flows["start_ps"]) / 1e6
    alone_us = (alone.flows["received_ps"][0] - alone.flows["start_ps"][0]) / 1e6
    assert alone_us <= fct_us[1] <= alone_us + 12
    assert fct_us[0] < 2_000_000 / MSS * 12 + 30 * 12 + 200  # it loses what the other needs, and no more


def test_the_packet_with_the_most_left_is_lost():
    flows = flow_list([(0, 2, 2_000_000, 0.0), (1, 2, 1_000_000, 0.0)])
    window = {"initial_window_packets": 22, "most_window_packets": 22}
    result = one_run(setup_of(LINK, flows, "pfabric", transport=window, end_ps=3 * 10**9, trace=TRACE_PACKETS))
    dropped = result.trace[result.trace["what"] == DROPPED]
    assert len(dropped) > 10
    assert set(dropped["sub"]) == {0}
    assert EVICTED in dropped["reason"]


@pytest.mark.agreement
@pytest.mark.parametrize("fabric", CROWDED)
def test_engines_agree_with_timeouts_and_probes(fabric):
    """A timer below the round trip and ports of four packets."""
    kind, flows = CROWDED[fabric]
    options = {"transport": {"rto_s": 60e-6, "probe_after_timeouts": 2}, "queue": {"buffer_bytes": 6000}}
    assert differences(setup_of(kind, flows, "pfabric", **options)) == []


def test_strict_records_take_what_it_writes():
    kind, flows = CROWDED["dumbbell"]
    small = replace(scheme("pfabric"), queue=replace(PFABRIC, params=replace(PFABRIC.params, buffer_bytes=6000)))
    found = reference.run(setup_of(kind, flows, small), strict=True)
    assert np.all(found.flows["acked_ps"] != NONE)
