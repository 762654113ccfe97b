"""The receiver with an ACK at decoding, packet by packet: what is held, what is delivered to TCP, what is counted."""

import pytest
from support.layer_setups import LayerEnd
from support.scripted import MSS

from capsim.protocols.layers.decoder import Release
from capsim.records import CODED, DATA, NONE, RETRANSMITTED, SYN


class Decoder:
    """The receiving host of one flow of 12 segments; `handed` is what TCP got of the decoder, packet by packet."""

    def __init__(self, *, window=12, **layer):
        transport = {"max_window_bytes": window * MSS}
        self.end = LayerEnd("caps_decode", n_segments=12, layer=layer, transport=transport)
        self.sub, self.memory, self.handed = self.end.sub, self.end.memory, []

    def unit(self, first, k, n):
        """Let the sender close a unit, and return it."""
        number = self.end.counters.units
        self.end.counters.units += 1
        unit = self.end.units[number]
        unit.first_segment, unit.k, unit.n, unit.sent_ps = first, k, n, 100 + number
        unit.next = unit.decoded_ps = NONE
        unit.over = 0
        if number:
            self.end.units[number - 1].next = number
        if self.memory.first_unit == NONE:
            self.memory.first_unit = number
        return unit

    def coded(self, number, *, position=0):
        """Take a coded packet; return the segments that are delivered to TCP."""
        return self.take(kind=CODED, unit=number, segment=self.end.units[number].first_segment, position=position)

    def source(self, segment, *, flags=0):
        """Take an uncoded packet; return the segments that are delivered to TCP."""
        return self.take(kind=DATA, unit=NONE, segment=segment, flags=flags)

    def resent(self, segment):
        return self.source(segment, flags=RETRANSMITTED)

    def take(self, *, flags=0, **fields):
        """Take a packet; return the segments that are delivered to TCP."""
        self.end.now_ps += 1000
        sent_ps, before = self.end.now_ps - 500, len(self.handed)
        packet = self.end.packet(bytes=MSS + 40, sent_ps=sent_ps, flags=flags, priority=0, ack=0, **fields)
        if self.end.call("collect", packet):
            self._up(packet)
        return self._released(before)

    def wake(self):
        """Go to the deadline that the receiver has set; return the segments that are delivered to TCP."""
        self.end.now_ps = self.sub.receive_wake_ps
        return self._released(len(self.handed))

    def _released(self, before):
        packet = self.end.packet()
        while self.end.call("release", packet):
            self._up(packet)
            packet = self.end.packet()
        return [segment for segment, _ in self.handed[before:]]

    def _up(self, packet):
        names = ("kind", "flags", "bytes", "priority", "ack", "unit", "sent_ps")
        self.handed.append((packet.segment, tuple(getattr(packet, name) for name in names)))
        self.end.call("on_data", packet)

    def units_arrived(self, number):
        """Return how many packets of a unit are counted."""
        return self.end.units[number].arrived_packets

    @property
    def counts(self):
        """Return units decoded, units stalled, late packets."""
        return self.memory.units_decoded, self.memory.units_stalled, self.memory.late_packets


@pytest.mark.parametrize(
    ("release", "second", "first"), [(Release.IN_ORDER, [], [0, 1, 2, 3, 4]), (Release.DECODED, [3, 4], [0, 1, 2])]
)
def test_a_later_unit_decodes_first(release, second, first):
    decoder = Decoder(release=release)
    one, two = decoder.unit(0, 3, 4), decoder.unit(3, 2, 2)
    assert [decoder.coded(1), decoder.coded(1)] == [[], second]
    assert [decoder.coded(0) for _ in range(4)] == [[], [], first, []]
    assert (one.decoded_ps, two.decoded_ps, one.arrived_packets, two.arrived_packets) == (5000, 2000, 3, 2)
    assert decoder.counts == (2, 0, 1)


def test_what_tcp_gets_of_a_unit():
    """Source packets of one MSS, sent when the unit was, which are no retransmissions."""
    decoder = Decoder()
    decoder.sub.priority = 1
    decoder.unit(0, 1, 1), decoder.unit(1, 2, 2)
    assert [decoder.coded(0), decoder.coded(1), decoder.coded(1)] == [[0], [], [1, 2]]
    sources = [(DATA, 0, MSS, 1, 0, unit, 100 + unit) for unit in (0, 1, 1)]
    assert decoder.handed == list(enumerate(sources))


def test_a_retransmission_counts_for_its_unit():
    """Two of three have come; 4 belongs to the second unit, 1 completes the first. Then every packet of it is late."""
    decoder = Decoder()
    one, two = decoder.unit(0, 3, 4), decoder.unit(3, 2, 3)
    assert [decoder.coded(0), decoder.coded(0), decoder.resent(4)] == [[], [], [4]]
    assert (one.arrived_packets, one.stalled, two.arrived_packets, two.stalled) == (2, 0, 1, 1)
    assert decoder.resent(3) == [3]  # completes the second, which waits for the first
    assert decoder.counts == (1, 1, 0)
    assert decoder.resent(1) == [1, 0, 2]
    assert (one.arrived_packets, one.stalled, one.decoded_ps) == (3, 1, 5000)
    assert decoder.counts == (2, 2, 0)
    assert [decoder.coded(0), decoder.resent(2)] == [[], [2]]
    assert (one.arrived_packets, decoder.counts) == (3, (2, 2, 1))


def flags_by_segment(decoder):
    return {segment: found[1] for segment, found in decoder.handed}


def test_what_waited_for_a_retransmission_gives_no_rtt():
    """The second unit is decoded and waits; the first has two of three when TCP sends one of its packets again."""
    decoder = Decoder()
    decoder.unit(0, 3, 4), decoder.unit(3, 2, 2), decoder.unit(5, 1, 1)
    assert [decoder.coded(1), decoder.coded(1), decoder.coded(0), decoder.resent(0)] == [[], [], [], [0]]
    assert decoder.coded(0) == [1, 2, 3, 4]
    assert decoder.coded(2) == [5]
    assert flags_by_segment(decoder) == dict.fromkeys(range(5), RETRANSMITTED) | {5: 0}


def test_what_waited_for_a_blocked_packet_gives_one():
    """Nothing was sent again: the second unit is decoded first, and its RTT is the time that it took."""
    decoder = Decoder()
    decoder.unit(0, 3, 4), decoder.unit(3, 2, 2)
    assert [decoder.coded(number) for number in (1, 1, 0, 0, 0)] == [[], [], [], [], [0, 1, 2, 3, 4]]
    assert flags_by_segment(decoder) == dict.fromkeys(range(5), 0)


SYSTEMATIC = {"systematic": True}


def test_sources_that_came_before_their_unit_was_closed_count():
    """1 of 0-3 is missing: 2 and 3 wait, and the first repair packet decodes."""
    decoder = Decoder(**SYSTEMATIC)
    assert [decoder.source(segment) for segment in (0, 2, 3)] == [[0], [], []]
    unit = decoder.unit(0, 4, 6)
    assert decoder.coded(0) == [1, 2, 3]
    assert (unit.arrived_packets, unit.decoded_ps, decoder.counts) == (4, 4000, (1, 0, 0))
    assert [decoder.coded(0), decoder.source(1)] == [[], []]
    assert decoder.counts == (1, 0, 2)


def test_only_sources_of_the_unit_count():
    """Of the unit 4-7 only 5 has come; 8 is of the next. It takes three repair packets."""
    decoder = Decoder(**SYSTEMATIC)
    assert [decoder.source(segment) for segment in (0, 1, 2, 3, 5, 8)] == [[0], [1], [2], [3], [], []]
    unit = decoder.unit(4, 4, 8)
    assert [decoder.coded(0) for _ in range(3)] == [[], [], [4, 5, 6, 7, 8]]
    assert unit.arrived_packets == 4


def test_a_unit_complete_before_it_was_closed_is_decoded():
    decoder = Decoder(**SYSTEMATIC)
    assert [decoder.source(segment) for segment in (0, 1)] == [[0], [1]]
    one = decoder.unit(0, 2, 2)
    assert decoder.source(2) == [2]
    assert (one.arrived_packets, one.decoded_ps, decoder.counts) == (2, 3000, (1, 0, 0))
    two = decoder.unit(2, 1, 1)
    assert decoder.source(2) == []  # once more
    assert (two.arrived_packets, two.decoded_ps, decoder.counts) == (1, 4000, (2, 0, 1))


def test_a_retransmission_frees_what_was_held_behind_the_gap():
    """They are delivered with the time and the flag of the retransmission, so that no RTT is measured."""
    decoder = Decoder(**SYSTEMATIC)
    assert [decoder.source(0), decoder.source(2), decoder.source(3), decoder.resent(1)] == [[0], [], [], [1, 2, 3]]
    assert [found[1] for _, found in decoder.handed] == [0, *3 * [RETRANSMITTED]]
    assert [found[6] for _, found in decoder.handed] == [500, *3 * [3500]]


def test_flags_of_a_receive_window_used_again():
    """Four flags for a window of four: that 2 was held says nothing about 6."""
    decoder = Decoder(window=4, **SYSTEMATIC)
    assert [decoder.source(segment) for segment in (0, 2, 3)] == [[0], [], []]
    assert decoder.resent(1) == [1, 2, 3]
    assert [decoder.source(segment) for segment in (4, 5, 7)] == [[4], [5], []]
    assert decoder.resent(6) == [6, 7]


def test_what_was_decoded_is_held_no_more():
    decoder = Decoder(window=4, **SYSTEMATIC)
    decoder.unit(0, 4, 5)
    assert [decoder.source(segment) for segment in (0, 2, 3)] == [[0], [], []]
    assert decoder.coded(0) == [1, 2, 3]
    assert [decoder.source(segment) for segment in (4, 5, 7)] == [[4], [5], []]


def test_sources_beyond_the_coded_part_go_up_at_once():
    """The first three segments are coded: 2 waits for 1, 3 does not, and no repair packet could help it."""
    decoder = Decoder(coded_packets=3, **SYSTEMATIC)
    assert [decoder.source(segment) for segment in (0, 2, 3)] == [[0], [], [3]]
    assert decoder.source(1) == [1, 2]


def test_as_decoded_sources_go_up_as_they_come():
    decoder = Decoder(release=Release.DECODED, **SYSTEMATIC)
    unit = decoder.unit(0, 3, 4)
    assert [decoder.source(0), decoder.source(2), decoder.coded(0)] == [[0], [2], [1]]
    assert (unit.arrived_packets, decoder.counts) == (3, (1, 0, 0))


@pytest.mark.parametrize("name", ["packet", "decoded"])
def test_a_syn_passes_by_the_decoder(name):
    decoder = Decoder(ack=name)
    assert decoder.take(kind=SYN, unit=NONE, segment=0) == [0]
    assert decoder.counts == (0, 0, 0)


# -- units that are waited for only so long

REQUEST_PS = 50_000


def impatient():
    """Return the receiver of a systematic code that waits 50 ns for a unit of which no more is under way."""
    return Decoder(systematic=True, request_s=50e-9)


def deadline(decoder):
    """Return for how long the receiver will still wait, or NONE."""
    sub = decoder.sub
    return NONE if sub.receive_wake_ps == NONE else sub.receive_wake_ps - decoder.end.now_ps


def test_a_unit_is_waited_for_after_its_last_packet():
    """Segments 1 and 2 are lost, and one of two repair packets; the other one is the last of its unit."""
    decoder = impatient()
    decoder.unit(0, 4, 6)
    assert [decoder.source(0), decoder.source(3), deadline(decoder)] == [[0], [], NONE]
    assert [decoder.coded(0, position=5), deadline(decoder)] == [[], REQUEST_PS]
    assert decoder.wake() == [3]
    assert (decoder.sub.receive_wake_ps, decoder.memory.units_asked, decoder.memory.held_packets) == (NONE, 1, 0)
    assert dict(decoder.handed)[3][1] == RETRANSMITTED  # its acknowledgement is no RTT sample (Karn)
    assert decoder.resent(2) == [2, 1]  # one retransmission makes four of the unit
    assert decoder.counts == (1, 1, 0)


def test_a_packet_of_a_later_unit_says_so_too_and_further_ones_put_nothing_off():
    decoder = impatient()
    decoder.unit(0, 2, 3), decoder.unit(2, 3, 4)
    assert [decoder.source(1), deadline(decoder)] == [[], NONE]
    assert [decoder.source(2), deadline(decoder)] == [[], REQUEST_PS]
    assert [decoder.source(4), deadline(decoder)] == [[], REQUEST_PS - 1000]
    assert decoder.wake() == [1, 2]  # 3 is waited for anew
    assert deadline(decoder) == NONE
    assert [decoder.coded(1, position=3), decoder.sub.receive_next] == [[3, 4], 0]
    assert decoder.resent(0) == [0]
    assert (decoder.memory.units_asked, decoder.memory.units_decoded, decoder.sub.receive_next) == (1, 2, 5)


def test_behind_a_unit_that_was_left_packets_in_order_are_not_held():
    """Segment 0 stays lost: 2 to 4 of the next unit are as if it was there, and 6 waits for 5."""
    decoder = impatient()
    decoder.unit(0, 2, 3), decoder.unit(2, 5, 6)
    decoder.source(1), decoder.source(2)
    assert decoder.wake() == [1, 2]
    assert [decoder.source(3), decoder.source(4), decoder.source(6)] == [[3], [4], []]
    assert [decoder.source(5), decoder.sub.receive_next, decoder.memory.held_packets] == [[5, 6], 0, 0]


def test_behind_a_unit_that_was_left_the_next_one_decodes_whatever_is_missing_of_it():
    """Its first packet is lost, so that the first gap is where the unit that was left ends."""
    decoder = impatient()
    decoder.unit(0, 3, 4), decoder.unit(3, 2, 3)
    decoder.source(1), decoder.coded(0, position=3)
    assert decoder.wake() == [1]
    assert [decoder.source(4), deadline(decoder)] == [[], NONE]
    assert decoder.coded(1, position=2) == [3, 4]


def test_a_held_packet_that_comes_again_is_delivered_once_and_last():
    """The sender took 2 for lost, which was held: 1 is lost and 3 and 4 are held too."""
    decoder = impatient()
    decoder.unit(0, 6, 7)
    decoder.source(0), decoder.source(2), decoder.source(3), decoder.source(4)
    assert decoder.resent(2) == [3, 4, 2]
    assert (decoder.sub.duplicate_packets, decoder.memory.held_packets) == (0, 0)
    assert decoder.units_arrived(0) == 4


def test_what_is_held_is_delivered_before_a_retransmission():
    """A sender that judges by time would take 3 and 5 for lost, which were sent before the retransmission of 0."""
    decoder = impatient()
    decoder.unit(0, 2, 3), decoder.unit(2, 4, 5)
    decoder.source(1), decoder.source(3), decoder.source(5), decoder.wake()
    assert decoder.resent(0) == [3, 5, 0]
    assert [found[1] for _, found in decoder.handed[-3:]] == 3 * [RETRANSMITTED]
    assert [decoder.source(4), decoder.sub.receive_next] == [[4], 2]  # nothing is held for 2 any more
    assert decoder.coded(1, position=4) == [2]


def test_a_probe_of_the_sender_ends_the_wait():
    """All repair packets are lost, and nothing follows: the sender repeats its last segment."""
    decoder = impatient()
    decoder.unit(0, 6, 7)
    assert [decoder.source(1), decoder.source(3), decoder.resent(5)] == [[], [], [1, 3, 5]]
    assert (deadline(decoder), decoder.memory.held_packets) == (NONE, 0)


def test_a_retransmission_that_decodes_a_unit_is_delivered_once():
    decoder = impatient()
    decoder.unit(0, 4, 5)
    decoder.source(2), decoder.source(3), decoder.coded(0, position=4)
    assert decoder.resent(1) == [2, 3, 1, 0]
    assert decoder.sub.duplicate_packets == 0


def test_without_repair_packets_the_last_source_packet_is_the_last():
    decoder = impatient()
    decoder.unit(0, 3, 3)
    assert [decoder.source(2), deadline(decoder)] == [[], REQUEST_PS]
    assert decoder.wake() == [2]


def test_a_unit_that_its_sender_still_fills_is_left_with_all_that_is_held():
    """Its repair packets may be far off, if a window is smaller than a unit: each packet puts the deadline off."""
    decoder = impatient()
    assert [decoder.source(1), deadline(decoder)] == [[], REQUEST_PS]
    assert [decoder.source(3), deadline(decoder)] == [[], REQUEST_PS]
    assert decoder.wake() == [1, 3]
    assert decoder.source(2) == [2]  # comes before the first gap that is waited for
    assert [decoder.source(5), deadline(decoder)] == [[], REQUEST_PS]
    decoder.unit(0, 6, 7)
    assert [decoder.coded(0, position=6), decoder.memory.units_asked] == [[], 0]
    assert decoder.wake() == [5]


def test_each_unit_has_a_time_of_its_own():
    """The first was about to be left when it decoded; of the second more may be under way."""
    decoder = impatient()
    decoder.unit(0, 3, 4), decoder.unit(3, 3, 4)
    decoder.source(1)
    assert [decoder.coded(0, position=3), deadline(decoder)] == [[], REQUEST_PS]
    assert decoder.source(2) == [0, 1, 2]
    assert [decoder.source(4), deadline(decoder)] == [[], NONE]


def test_where_nothing_is_held_there_is_nothing_to_tell():
    decoder = impatient()
    decoder.unit(0, 3, 5)
    assert [decoder.source(0), decoder.coded(0, position=4), deadline(decoder)] == [[0], [], NONE]


def test_nothing_is_asked_for_of_a_unit_that_decodes_in_time():
    decoder = impatient()
    decoder.unit(0, 3, 5)
    assert [decoder.source(1), decoder.coded(0, position=4), deadline(decoder)] == [[], [], REQUEST_PS]
    assert decoder.source(2) == [0, 1, 2]
    assert (deadline(decoder), decoder.memory.units_asked) == (NONE, 0)
