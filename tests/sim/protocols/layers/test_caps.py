"""The sender of CAPS, packet by packet: which unit a segment is in, when a unit leaves, what leaves with it."""

import pytest
from support.layer_setups import LayerEnd
from support.scripted import MSS, US

from capsim import FOLLOW, KEEP
from capsim.protocols.layers.params import Acknowledged, UnitSize
from capsim.records import CODED, DATA, NONE, RETRANSMITTED

THREES = {"unit_size": UnitSize.FIXED, "fixed_packets": 3, "initial_blocking_prob": 0.25}  # r = 1
BUFFERED = THREES | {"systematic": False}


class Encoder:
    """The sending host of one flow of 12 segments, with a window that is never full."""

    def __init__(self, **layer):
        self.end = LayerEnd("caps", n_segments=12, layer=layer)
        self.sub, self.memory = self.end.sub, self.end.memory
        self.sub.cwnd_bytes = 10 * MSS
        for unit in self.end.units:  # used before
            for name in unit.__slots__:
                setattr(unit, name, 7)

    def send(self, *segments, flags=0, packet_bytes=1500):
        """Let TCP send segments, one after the other; return what leaves the host: unit and position, or a segment."""
        left = []
        for segment in segments:
            self.sub.next_segment = max(self.sub.next_segment, segment + 1)
            packet = self.end.packet(kind=DATA, segment=segment, unit=NONE, flags=flags, bytes=packet_bytes)
            decision = self.end.call("accept", packet)
            if decision != KEEP:
                left.append(packet)
            if decision == FOLLOW:
                left += self.end.all_of("emit")
        self.packets = [*left, *self.end.all_of("emit")]
        return [(each.unit, each.position) if each.kind == CODED else each.segment for each in self.packets]

    @property
    def made(self):
        """Return first segment, k and n of each unit."""
        units = [self.end.units[number] for number in range(self.end.counters.units)]
        return [(unit.first_segment, unit.k, unit.n) for unit in units]


def of_unit(number, packets):
    return [(number, position) for position in range(packets)]


def test_repair_packets_follow_the_last_source_packet():
    """Three and one; the fifth segment leaves as the first of a unit that is not full yet."""
    encoder = Encoder(**THREES)
    assert encoder.send(*range(4)) == [*of_unit(0, 4), (1, 0)]
    assert encoder.send(4, 5) == [(1, 1), (1, 2), (1, 3)]
    assert encoder.made == [(0, 3, 4), (3, 3, 4)]
    assert (encoder.memory.coded_packets, encoder.memory.repair_packets, encoder.memory.units) == (8, 2, 2)


def test_a_repair_packet_is_one_of_its_unit_and_nothing_else():
    """As large as the largest source, the time of its sending, no flag."""
    encoder = Encoder(**THREES)
    encoder.sub.priority, encoder.end.now_ps = 1, 5 * US
    encoder.send(0, packet_bytes=900)
    encoder.send(1, packet_bytes=1000)
    encoder.send(2, packet_bytes=300)
    names = ("kind", "segment", "bytes", "flags", "priority", "ack", "sent_ps")
    assert [getattr(encoder.packets[-1], name) for name in names] == [CODED, 0, 1000, 0, 1, 0, 5 * US]
    assert encoder.packets[0].segment == 0


def test_of_units_that_are_waited_for_only_so_long_repair_packets_leave_before_the_next_unit():
    """However few packets are in flight, a unit is closed only by its third one."""
    encoder = Encoder(**THREES | {"ack": Acknowledged.DECODED, "request_s": 1e-6})
    assert encoder.send(0) == [0]
    assert encoder.made == []
    assert encoder.send(*range(1, 7)) == [1, 2, (0, 3), 3, 4, 5, (1, 3), 6]
    assert encoder.made == [(0, 3, 4), (3, 3, 4)]


@pytest.mark.parametrize("systematic", [True, False])
def test_the_coded_part_ends_a_unit(systematic):
    """The first five segments are coded: 3 and 4 make a unit of two at once, 5 and 6 leave as they are."""
    encoder = Encoder(**THREES | {"systematic": systematic, "coded_packets": 5})
    left = encoder.send(*range(7))
    assert sorted(left, key=str) == sorted([*of_unit(0, 4), *of_unit(1, 3), 5, 6], key=str)
    assert encoder.made == [(0, 3, 4), (3, 2, 3)]


@pytest.mark.parametrize("systematic", [True, False])
def test_the_end_of_the_flow_ends_a_unit(systematic):
    encoder = Encoder(**THREES | {"systematic": systematic, "fixed_packets": 7})
    encoder.send(*range(12))
    assert encoder.made == [(0, 7, 10), (7, 5, 7)]  # p_B = 1/4: ceil(7 / 3) and ceil(5 / 3)


def test_a_part_of_a_unit_waits_while_more_is_in_flight():
    """Not systematic: 3 and 4 wait for 5 as long as an acknowledgement may come that sends it."""
    encoder = Encoder(**BUFFERED)
    assert encoder.send(*range(5)) == of_unit(0, 4)
    encoder.sub.una = 2
    assert encoder.send() == []
    encoder.sub.una = 3
    assert encoder.send() == of_unit(1, 3)
    assert encoder.made == [(0, 3, 4), (3, 2, 3)]
    assert encoder.send() == []


def test_what_is_acknowledged_leaves_the_buffer():
    encoder = Encoder(**BUFFERED)
    encoder.send(*range(5))
    encoder.sub.una = 5
    assert encoder.send() == []
    assert encoder.send(5, 6, 7) == of_unit(1, 4)
    assert encoder.made == [(0, 3, 4), (5, 3, 4)]


def test_the_longest_wait_in_the_buffer():
    """From the first packet of a unit on, 20 us: at 20 for 3 and 4, at 50 for 5, which comes at 30."""
    encoder = Encoder(**BUFFERED | {"flush_s": 20e-6})
    assert encoder.send(*range(4)) == of_unit(0, 4)
    assert encoder.sub.send_wake_ps == 20 * US
    encoder.end.now_ps = 10 * US
    assert encoder.send(4) == []
    encoder.end.now_ps = 20 * US
    assert encoder.send() == of_unit(1, 3)
    assert encoder.sub.send_wake_ps == NONE
    encoder.end.now_ps = 30 * US
    assert encoder.send(5) == []
    assert encoder.sub.send_wake_ps == 50 * US
    encoder.sub.una = 6
    assert encoder.send() == []
    assert encoder.sub.send_wake_ps == NONE


def test_packets_of_a_buffered_unit():
    """All k + r are as large as the largest of the three; the next unit has its own largest."""
    encoder = Encoder(**BUFFERED)
    encoder.sub.next_segment = 12  # something is in flight
    for first, packet_bytes in ((0, 1500), (3, 700)):
        encoder.send(first, first + 1, packet_bytes=200)
        left = encoder.send(first + 2, packet_bytes=packet_bytes)
        assert left == of_unit(first // 3, 4)
        assert {packet.bytes for packet in encoder.packets} == {packet_bytes}
    assert (encoder.memory.coded_packets, encoder.memory.repair_packets) == (8, 2)


def test_with_an_ack_at_decoding_sources_leave_in_clear():
    """Systematic: the repair packet is at position 3, behind the three uncoded ones, which count as coded too."""
    encoder = Encoder(**THREES, ack=Acknowledged.DECODED)
    assert encoder.send(0, 1, 2) == [0, 1, 2, (0, 3)]
    assert encoder.memory.coded_packets == 4
    plain = Encoder(**THREES | {"initial_blocking_prob": 0.0}, ack=Acknowledged.DECODED)
    assert plain.send(0, 1, 2) == [0, 1, 2]
    assert (plain.made, plain.memory.open_unit) == ([(0, 3, 3)], NONE)


def test_a_retransmission_is_a_new_packet_of_its_unit(subtests):
    """4 of the second unit, whose positions 0-3 have left; copies are so many times r, rounded up."""
    for copies, more in [(0.0, 0), (1.0, 1), (2.5, 3)]:
        with subtests.test(copies=copies, more=more):
            encoder = Encoder(**THREES, resend_copies=copies)
            encoder.send(*range(9))
            encoder.sub.una = 4
            assert encoder.send(4, flags=RETRANSMITTED, packet_bytes=77) == [
                (1, 4 + extra) for extra in range(1 + more)
            ]
            assert [packet.segment for packet in encoder.packets] == [3] * (1 + more)
            assert [packet.bytes for packet in encoder.packets] == [1500] * (1 + more)
            assert [packet.flags for packet in encoder.packets] == [RETRANSMITTED, *[0] * more]
            assert encoder.memory.repair_packets == 3 + more
            assert encoder.memory.first_unit == 1  # all of unit 0 is acknowledged


def test_a_unit_is_kept_until_all_of_it_is_acknowledged():
    encoder = Encoder(**THREES)
    encoder.send(*range(7))
    for una, oldest in ((2, 0), (3, 1), (5, 1), (6, 2)):
        encoder.sub.una = una
        encoder.send(una, flags=RETRANSMITTED)
        assert encoder.memory.first_unit == oldest
    assert encoder.send(7, 8) == [(2, 2), (2, 3), (2, 4)]  # 6 was sent twice


def test_a_unit_that_still_fills_is_kept():
    """0 and 1 are acknowledged; 2 makes it full, and belongs to it when it is sent again."""
    encoder = Encoder(**THREES)
    encoder.send(0, 1)
    encoder.sub.una = 2
    encoder.send(0, flags=RETRANSMITTED)
    assert encoder.send(2) == [(0, 3), (0, 4)]
    assert encoder.send(2, flags=RETRANSMITTED) == [(0, 5)]


def test_a_retransmission_in_no_unit_goes_as_it_is():
    encoder = Encoder(**THREES, coded_packets=3)
    encoder.send(*range(5))
    assert encoder.send(4, flags=RETRANSMITTED) == [4]
    decoded = Encoder(**THREES, ack=Acknowledged.DECODED)
    decoded.send(0, 1, 2)
    assert decoded.send(1, flags=RETRANSMITTED) == [1]
