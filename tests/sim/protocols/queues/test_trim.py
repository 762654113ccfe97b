"""Ports that trim: what they cut, what leaves first, and what a header makes of its segment. Times are microseconds."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from support.engine_setups import (
    CROWDED,
    DUMBBELL,
    LEAF_SPINE,
    MSS,
    flow_list,
    in_turns,
    memory_of,
    one_run,
    params_of,
    record,
    setup_of,
)
from support.scripted import Receiver, Sender

from capsim import (
    ACCEPT,
    MARK,
    REFUSE,
    TRIM,
    TRIM_LAST,
    ConservationError,
    Dumbbell,
    LeafSpine,
    LinkChange,
    Queue,
    scheme,
)
from capsim.engines import run
from capsim.protocols.queues.trim import TRIM_QUEUE
from capsim.records import ACK, CODED, CUT, DATA, ECN_CAPABLE, PACKET, PORT, RETRANSMITTED, TRIMMED
from capsim.results.conservation import check
from capsim.roles.components import NoParams


def asked(packet_bytes=1500, *, kind=DATA, flags=0, now_ps=0, segment=0, queue=TRIM_QUEUE, **port):
    """Return what a port of a switch decides that has some data and some other bytes in its queue."""
    values = {"of_host": 0, "limit_packets": -1, "limit_bytes": -1} | port
    packet = record(PACKET, kind=kind, bytes=packet_bytes, flags=flags, segment=segment)
    at = record(PORT, **values)
    return queue.admit(params_of(queue), memory_of(queue, "port"), at, packet, 5, at.queue_bytes, now_ps, 0.0)


def test_data_have_their_limit_and_headers_twice_as_much():
    """12,000 bytes of data, the packet that is sent included; 24,000 of headers and control packets, apart from it."""
    for kind in (DATA, CODED):
        assert asked(kind=kind, data_bytes=10_500, queue_bytes=30_000) == ACCEPT
        assert asked(kind=kind, data_bytes=10_501, queue_bytes=30_000) in (TRIM, TRIM_LAST)
    for header in ({"kind": ACK}, {"flags": TRIMMED}):
        assert asked(64, data_bytes=12_000, queue_bytes=12_000 + 24_000 - 64, **header) == ACCEPT
        assert asked(64, data_bytes=12_000, queue_bytes=12_000 + 24_000 - 63, **header) == REFUSE


def test_a_slower_port_has_less_in_proportion():
    """A quarter of the rate: 3000 bytes of data, 6000 of headers, thresholds of 750 and 2250. Catches one of the three
    that is left out, and the ratio upside down."""
    queue = replace(MARKING, params=replace(MARKING.params, reference_rate_bps=100_000_000_000))
    slow = {"rate_bps": 25_000_000_000, "queue": queue}
    assert asked(1500, data_bytes=1500, queue_bytes=1500, **slow) == ACCEPT
    assert asked(1501, data_bytes=1500, queue_bytes=1500, **slow) in (TRIM, TRIM_LAST)
    assert asked(64, kind=ACK, queue_bytes=6000 - 64, **slow) == ACCEPT
    assert asked(64, kind=ACK, queue_bytes=6000 - 63, **slow) == REFUSE
    assert [marked(data_bytes, **slow) for data_bytes in (750, 2251)] == [0, 1]


def test_the_arriving_packet_and_the_last_one_are_trimmed_equally_often():
    found = [
        asked(data_bytes=12_000, queue_bytes=12_000, now_ps=123_456 * step, segment=step % 7) for step in range(4000)
    ]
    assert abs(found.count(TRIM) - 2000) < 4 * 1000**0.5
    assert found.count(TRIM) + found.count(TRIM_LAST) == 4000


def test_hosts_trim_nothing():
    assert asked(of_host=1, data_bytes=10**9, queue_bytes=10**9) == ACCEPT
    assert asked(of_host=1, limit_packets=5) == REFUSE


MARKING = replace(TRIM_QUEUE, params=replace(TRIM_QUEUE.params, mark_low_bytes=3000, mark_high_bytes=9000))


def marked(data_bytes, *, queue=MARKING, kind=DATA, flags=ECN_CAPABLE, count=1, rate_bps=0):
    """Return how many of so many packets have a mark that leave such data behind."""
    port, found = record(PORT, data_bytes=data_bytes, rate_bps=rate_bps), 0
    for step in range(count):
        packet = record(PACKET, kind=kind, bytes=1500, flags=flags, segment=step % 7)
        found += queue.leave(params_of(queue), memory_of(queue, "port"), port, packet, 123_456 * step) == MARK
    return found


def test_what_leaves_is_marked_by_the_data_behind_it():
    """None up to the lower threshold, each above the upper one, a share that grows in proportion between them."""
    assert [marked(data_bytes, count=200) for data_bytes in (0, 3000, 9001, 12_000)] == [0, 0, 200, 200]
    for data_bytes in (4500, 6000, 7500):
        share = (data_bytes - 3000) / 6000
        assert abs(marked(data_bytes, count=4000) - 4000 * share) < 4 * (4000 * share * (1 - share)) ** 0.5
    assert marked(12_000, flags=0) == marked(12_000, flags=ECN_CAPABLE | TRIMMED) == 0
    assert TRIM_QUEUE.hook("leave") is None, "with thresholds of 0 nothing is marked, and it is not asked"
    assert MARKING.hook("leave") is replace(TRIM_QUEUE, params=NoParams()).hook("leave") is TRIM_QUEUE.leave


def test_headers_leave_first_but_not_for_ever(subtests):
    """With two headers for each packet with data; what waits is in order of rank, then of arrival."""
    cases = [("hhhdd", "hhdhd"), ("ddhhh", "hhdhd"), ("hhhh", "hhhh"), ("dd", "dd")]
    for waiting, order in cases:
        with subtests.test(waiting=waiting, order=order):
            queue = replace(TRIM_QUEUE, params=replace(TRIM_QUEUE.params, headers_per_data=2))
            ranks, memory, sent = (
                sorted(int(kind == "d") for kind in waiting),
                SimpleNamespace(port=memory_of(queue, "port")),
                "",
            )
            while ranks:
                packets = [record(PACKET, rank=rank, next=at + 1) for at, rank in enumerate(ranks)]
                port = record(PORT, wait_head=0, wait_tail=len(ranks) - 1)
                sent += "hd"[ranks.pop(queue.take(params_of(queue), memory, port, packets, 0))]
            assert sent == order


def test_the_receiver_answers_a_header_at_once_with_its_number():
    receiver = Receiver("rack", ack_every=2)
    receiver.take(0)
    reply = receiver.take(2, flags=TRIMMED)
    assert (reply.ack, reply.bytes, reply.flags, receiver.options(reply).trimmed) == (1, 40, RETRANSMITTED, 3)
    assert (receiver.sub.receive_next, receiver.blocks(reply), receiver.sub.duplicate_packets) == (1, [], 0)
    assert receiver.options(receiver.take(2)).trimmed == 0
    assert receiver.blocks(receiver.take(4, flags=TRIMMED)) == [(2, 3)]


def test_a_header_makes_its_segment_lost_at_once_and_the_window_smaller_once():
    sender = Sender("rack")
    assert sender.ack(0, at_us=100, flags=RETRANSMITTED, trimmed=4) == [4]
    assert (sender.cwnd, sender.ssthresh, sender.sub.dup_acks_received) == (5, 5, 0)
    assert (sender.sub.in_doubt, sender.sub.in_recovery) == (0, 1)  # certain: a header has come
    assert sender.ack(0, at_us=100, flags=RETRANSMITTED, trimmed=5) == []
    assert (sender.cwnd, sender.own("transport").missing_packets, sender.sub.fast_retransmits) == (5, 1, 1)
    sender.ack(0, at_us=150, rtt_us=150, flags=RETRANSMITTED, trimmed=4)  # of the first copy once more
    assert sender.own("transport").missing_packets == 1
    sender.ack(0, at_us=180, rtt_us=80, flags=RETRANSMITTED, trimmed=4)  # of the second copy
    assert (sender.own("transport").missing_packets, sender.cwnd) == (1, 2.5)
    assert [packet.segment for packet in sender.packets[10:]] == [4, 4]


@pytest.mark.parametrize("trimmed", [3, 12])
def test_a_header_of_what_is_acknowledged_or_not_sent_says_nothing(trimmed):
    sender = Sender("rack")
    sender.acks(1, 4)
    sender.ack(4, at_us=100, flags=RETRANSMITTED, trimmed=trimmed + 10 * (trimmed > 10))
    assert sender.own("transport").missing_packets == 0


def test_a_limit_that_is_never_met_is_drop_tail():
    """Limiting case, packet for packet: where data meet no acknowledgements, since these leave before them."""
    flows = flow_list([(host, 3 + (host + at) % 3, 60_000, 40.0 * at) for host in range(3) for at in range(3)])
    kind = Dumbbell(hosts_per_side=3, delay_s=5e-6, buffer_packets=10_000)
    plain, trims = (
        run(setup_of(kind, flows, name, **options))
        for name, options in (("rack", {}), ("rack+rps_trim.queue", {"queue": {"limit_bytes": 10**9}}))
    )
    assert trims.ports["packets_trimmed"].sum() == 0
    assert plain.ports["max_queue_packets"].max() > 20
    assert np.array_equal(plain.trace, trims.trace)


def test_bytes_are_sent_dropped_queued_or_trimmed():
    setup = setup_of(*CROWDED["leaf-spine"], "rps_trim", end_ps=400_000_000)
    found = run(setup)
    ports = found.ports
    assert (ports["packets_trimmed"].sum(), ports["queue_bytes"].sum()) > (20, 0)
    assert (found.trace["what"] == CUT).sum() == ports["packets_trimmed"].sum()
    cut = found.trace[found.trace["what"] == CUT]
    assert set(cut["bytes"]) == {64}
    assert ((cut["flags"] & TRIMMED) != 0).all()
    check(found, setup.fabric)
    ports["bytes_trimmed"][np.argmax(ports["packets_trimmed"])] += 1
    with pytest.raises(ConservationError, match="bytes offered are not sent"):
        check(found, setup.fabric)


CHANGES = (LinkChange(between=("leaf0", "spine1"), down_s=100e-6, up_s=900e-6),)
FAILING = LeafSpine(
    leaves=3, hosts_per_leaf=3, spines=3, delay_s=2e-6, buffer_packets=12, links=CHANGES, reroute_s=50e-6
)
CASES = {
    "links fail": (FAILING, "rps_trim", {}),
    "headers and data in turn, ties in order": (
        LEAF_SPINE,
        "rps_trim",
        {"ordered": True, "queue": {"headers_per_data": 1, "limit_bytes": 4000}},
    ),
    "hosts send in turns": (LEAF_SPINE, in_turns("rps_trim", control_first=True), {"count_in_service": True}),
    "no room for headers": (DUMBBELL, "rps_trim", {"queue": {"limit_bytes": 1500, "trim_bytes": 1400}}),
    "the transport does not read headers": (LEAF_SPINE, "rps+rps_trim.queue", {}),
    "marks as packets leave, ties in order": (
        LEAF_SPINE,
        "rps_trim",
        {"ordered": True, "transport": {"ecn": True}, "queue": {"mark_low_bytes": 1500, "mark_high_bytes": 9000}},
    ),
    "coded packets": (LEAF_SPINE, "caps+rps_trim.queue", {"layer": {"initial_blocking_prob": 0.3}}),
    "marks, a shared stream": (DUMBBELL, "mptcp+rack+rps_trim.queue", {"transport": {"ack_every": 2}}),
}


@pytest.mark.agreement
@pytest.mark.parametrize("case", CASES)
def test_both_engines_trim_alike(case):
    """And every flow ends, also where a header says nothing to its transport."""
    kind, name, options = CASES[case]
    flows = CROWDED["dumbbell" if kind is DUMBBELL else "leaf-spine"][1]
    setup = setup_of(kind, flows, name, **options)
    found = one_run(setup, strict=True)
    check(found, setup.fabric)
    assert found.ports["packets_trimmed"].sum() > 0
    assert (found.flows["received_ps"] > 0).all()
    ports = found.ports
    assert ports["packets_marked"][ports["of_host"] == 1].sum() == 0
    assert ports["packets_marked"].sum() == found.subs["packets_marked"].sum()
    assert (ports["packets_marked"].sum() > 50) == case.startswith("marks as")
    if case == "no room for headers":
        assert found.ports["packets_dropped"].sum() > 0


def test_packets_with_real_bytes_decode_without_those_that_were_trimmed():
    kind, flows = CROWDED["leaf-spine"]
    counted, carried = (run(setup_of(kind, flows, "caps+rps_trim.queue", payload=payload)) for payload in ("", "rs"))
    assert counted.ports["packets_trimmed"].sum() > 0
    assert (carried.flows["received_ps"] > 0).all()


def test_a_queue_without_headers_first_cannot_trim():
    """TRIM is REFUSE there, in both engines."""
    queue = Queue(name="mine", admit=TRIM_QUEUE.admit, params=TRIM_QUEUE.params)
    setup = setup_of(DUMBBELL, CROWDED["dumbbell"][1], replace(scheme("rack"), queue=queue))
    found = one_run(setup)
    assert (found.ports["packets_trimmed"].sum(), found.ports["data_bytes"].sum()) == (0, 0)
    assert found.ports["packets_dropped"].sum() > 0


def test_an_incast_waits_for_no_timer():
    """Eight hosts send 64 segments each to one at once: a lost end costs a timeout, a trimmed one a round trip."""
    fast = {"rate_bps": 1e10, "host_rate_bps": 1e10, "delay_s": 1e-6}
    kind = LeafSpine(leaves=3, hosts_per_leaf=3, spines=3, buffer_bytes=12_000, host_buffer_packets=1000, **fast)
    flows = flow_list([(host, 8, 64 * MSS, 0.0) for host in range(8)])
    trims, drops = (run(setup_of(kind, flows, name)) for name in ("rps_trim", "rack_rps"))
    assert trims.ports["packets_trimmed"].sum() > 50
    assert drops.subs["timeouts"].sum() > 0
    assert (trims.subs["timeouts"].sum(), trims.ports["packets_dropped"].sum()) == (0, 0)
    assert trims.flows["received_ps"].max() < 0.5 * drops.flows["received_ps"].max()
