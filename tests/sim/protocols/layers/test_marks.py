"""Marks (ECN) under layers that code: coded packets can be marked, and acknowledgements echo what marked them."""

import numpy as np
import pytest
from support.coded_streams import TWO, Coded
from support.engine_setups import CROWDED, marking_early, setup_of
from support.layer_setups import LayerEnd
from support.scripted import MSS

from capsim import FOLLOW, KEEP, scheme
from capsim.engines import run
from capsim.engines.hosts import handlers
from capsim.protocols.layers.decoder import Release
from capsim.protocols.layers.params import UnitSize
from capsim.records import (
    ACK,
    ARRIVED,
    CODED,
    CONGESTION_EXPERIENCED,
    DATA,
    ECN_CAPABLE,
    ECN_ECHO,
    ENQUEUED,
    NONE,
    RETRANSMITTED,
)

THREES = {"unit_size": UnitSize.FIXED, "fixed_packets": 3, "initial_blocking_prob": 0.25}  # r = 1
MARKED = ECN_CAPABLE | CONGESTION_EXPERIENCED


class Receiver:
    """The receiving host of one coded flow of DCTCP with two units of three packets."""

    def __init__(self, name, **layer):
        self.end = LayerEnd(scheme(name), n_segments=12, layer=layer)
        for number, after in enumerate((1, NONE)):
            unit = self.end.units[number]
            unit.first_segment, unit.k, unit.n, unit.next, unit.decoded_ps = 3 * number, 3, 4, after, NONE
        self.end.memory.first_unit = 0

    def take(self, position, *, marked, unit=0, flags=0, kind=CODED):
        """Take a packet; return for each acknowledgement that leaves whether it echoes a mark."""
        segment = self.end.units[unit].first_segment if kind == CODED else position
        flags |= MARKED if marked else ECN_CAPABLE
        number = unit if kind == CODED else NONE
        packet = self.end.packet(
            kind=kind, unit=number, position=position, flags=flags, segment=segment, bytes=MSS + 40, stale=0
        )
        delivered = [packet] if self.end.call("collect", packet) else []
        while self.end.call("release", packet := self.end.packet()):
            delivered.append(packet)
        return [self.echo(each) for each in delivered]

    def echo(self, packet):
        assert self.end.call("on_data", packet)
        return bool(packet.flags & ECN_ECHO)


def test_repair_packets_can_be_marked_as_source_packets_can(subtests):
    cases = [("caps+dctcp", True), ("caps+dctcp", False), ("caps_decode+dctcp", True)]
    for flags in [0, ECN_CAPABLE]:
        for name, systematic in cases:
            with subtests.test(flags=flags, name=name, systematic=systematic):
                end = LayerEnd(scheme(name), n_segments=12, layer=THREES | {"systematic": systematic})
                end.sub.cwnd_bytes = 10 * MSS
                coded = []
                for segment in range(3):
                    end.sub.next_segment = segment + 1
                    packet = end.packet(kind=DATA, segment=segment, unit=NONE, flags=flags, bytes=1500)
                    decision = end.call("accept", packet)
                    coded += [] if decision == KEEP else [packet]
                    coded += end.all_of("emit") if decision == FOLLOW else []
                coded += end.all_of("emit")
                assert [packet.flags for packet in coded] == [flags] * 4


def test_each_packet_that_causes_an_acknowledgement_is_echoed_by_that():
    receiver = Receiver("caps+dctcp")
    echoes = [receiver.take(position, marked=marked) for position, marked in ((0, True), (2, False), (3, True))]
    assert echoes == [[True], [False], [True]]  # the third is a repair packet


def test_the_mark_of_a_packet_that_comes_late_waits_for_the_next_without_one():
    receiver = Receiver("caps+dctcp")
    assert [receiver.take(position, marked=False) for position in range(3)] == [[False]] * 3
    assert [receiver.take(position, marked=position > 3) for position in range(3, 6)] == [[], [], []]
    later = [receiver.take(position, marked=position == 1, unit=1) for position in range(3)]
    assert later == [[True], [True], [True]]  # one of the first, its own, the other one of the first
    assert receiver.end.memory.waiting_marks == 0


def test_no_more_marks_wait_than_a_unit_has_source_packets():
    receiver = Receiver("caps+dctcp")
    for position in range(3):
        receiver.take(position, marked=False)
    for position in range(3, 12):
        receiver.take(position, marked=True)
    assert receiver.end.memory.waiting_marks == 3


def test_of_a_decoded_unit_as_many_acknowledgements_echo_as_packets_were_marked(subtests):
    """The fourth comes late; its mark waits for the next unit."""
    for marked in range(5):
        with subtests.test(marked=marked):
            receiver = Receiver("caps_decode+dctcp")
            echoes = [receiver.take(position, marked=position < marked) for position in range(3)]
            assert echoes == [[], [], [position < marked for position in range(3)]]
            assert receiver.take(3, marked=marked == 4) == []
            assert [receiver.take(position, marked=False, unit=1) for position in range(2)] == [[], []]
            assert receiver.take(2, marked=False, unit=1) == [marked == 4, False, False]


def test_a_source_packet_that_is_held_is_echoed_when_it_is_delivered():
    """Segment 1 is lost; 2 is marked and held; a coded packet decodes the unit, and one of the two echoes the mark."""
    layer = {"systematic": True, "release": Release.IN_ORDER}
    receiver = Receiver("caps_decode+dctcp", **layer)
    assert receiver.take(0, marked=False, kind=DATA) == [False]
    assert receiver.take(2, marked=True, kind=DATA) == []
    assert sorted(receiver.take(3, marked=False)) == [False, True]


def test_a_retransmission_of_a_coded_unit_echoes_its_own_mark():
    receiver = Receiver("caps_decode+dctcp")
    assert receiver.take(0, marked=True, kind=DATA, flags=RETRANSMITTED) == [True]
    assert receiver.end.memory.waiting_marks == 0


def test_a_packet_without_data_takes_no_mark_along():
    receiver = Receiver("caps+dctcp")
    receiver.end.memory.waiting_marks = 1
    packet = receiver.end.packet(kind=ACK, flags=0, unit=NONE)
    receiver.end.call("collect", packet)
    assert (packet.flags, receiver.end.memory.waiting_marks) == (0, 1)


def test_what_queues_mark_is_echoed():
    """In a run: as many are echoed as come, but for those that wait when a flow is over; no unit is all marked."""
    for name in ("dctcp+cdcps", "dctcp+caps.layer"):
        setup = setup_of(
            *CROWDED["leaf-spine"], marking_early(name), layer={"fixed_packets": 32, "max_overhead": 0.125}
        )
        records, nic = run(setup), setup.fabric.host_port
        trace, subs = records.trace, records.subs
        end = records.ports["to_node"][trace["port"]]
        came = trace[(trace["what"] == ARRIVED) & (end == subs["dst"][trace["sub"]])]
        answers = trace[(trace["what"] == ENQUEUED) & (trace["port"] == nic[subs["dst"][trace["sub"]]])]
        marked = came["flags"] & CONGESTION_EXPERIENCED != 0
        waiting = records.own.records("subflow", (0, "layer"))["waiting_marks"]
        assert np.count_nonzero(answers["flags"] & ECN_ECHO) + waiting.sum() == np.count_nonzero(marked)
        assert np.count_nonzero(marked & (came["kind"] == CODED)) > 50


@pytest.mark.parametrize(
    ("name", "layer"),
    [("dc2mtcp", {"redundancy_factor": 40.0}), ("sc_mptcp", {"block_packets": 4, "initial_loss_prob": 0.4})],
)
def test_coded_packets_of_a_stream_can_be_marked_and_are_echoed(name, layer):
    """The coded packet causes no acknowledgement; the next data packet of its subflow takes its mark along, once."""
    flow = Coded(scheme(f"{name}+dctcp.transport"), layer=layer, **TWO)
    for ack in range(1, 4):
        flow.ack(0, ack, data_ack=ack, window=4096)
    coded = [packet.flags for packet in flow.hosts.sent if packet.kind == CODED]
    assert set(coded) == {ECN_CAPABLE}
    first = flow.hosts.arriving(0, kind=CODED, unit=0, position=0, segment=0, stale=0, flags=MARKED)
    if name == "dc2mtcp":
        flow.option(first).number = flow.option(first).mixed = 0
    before = len(flow.hosts.sent)
    handlers.deliver(flow.hosts, first.number, 0)
    flow.original(0, 0, 0), flow.original(0, 1, 1)
    answers = [each.flags & ECN_ECHO for each in flow.hosts.sent[before:] if each.kind == ACK]
    assert answers == [ECN_ECHO, 0]
