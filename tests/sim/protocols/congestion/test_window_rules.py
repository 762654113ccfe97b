"""RFC 5681 and 3042 by hand: how the window opens, limited transmit, what packets and acknowledgements carry."""

import pytest
from support.scripted import MSS, US, Receiver, Sender

from capsim.protocols.congestion.proportional import Reduction, allowed_bytes
from capsim.records import (
    ACK,
    CLOSED,
    CONGESTION_EXPERIENCED,
    DATA,
    ECN_CAPABLE,
    ECN_ECHO,
    HANDSHAKE_ACK,
    NONE,
    RETRANSMITTED,
    SYN,
)

# -- growth


def test_slow_start_adds_no_more_than_one_segment_for_each_acknowledgement():
    """RFC 5681, eq. 2: min(N, SMSS), also when one acknowledgement covers five segments."""
    sender = Sender()
    assert sender.ack(1) == [10, 11]
    assert sender.ack(6) == [12, 13, 14, 15, 16, 17]
    assert sender.cwnd == 12


def test_slow_start_adds_the_bytes_of_a_short_segment():
    """Eq. 2 again: N is 500 for the last segment."""
    sender = Sender(n_segments=1, last_bytes=500)
    sender.ack(1)
    assert sender.sub.cwnd_bytes == 10 * MSS + 500


def test_congestion_avoidance_adds_smss_squared_over_cwnd():
    """RFC 5681, eq. 3, from cwnd = ssthresh on, in whole bytes."""
    sender = Sender(initial_ssthresh_bytes=10 * MSS)
    sender.ack(1)
    assert sender.sub.cwnd_bytes == 10 * MSS + MSS // 10
    sender.ack(2)
    assert sender.sub.cwnd_bytes == 10 * MSS + MSS // 10 + MSS * MSS // (10 * MSS + MSS // 10)


def test_congestion_avoidance_adds_a_byte_at_least():
    """RFC 5681, section 3.1: SMSS^2 / cwnd is 0.7 bytes for a window of 2000 segments."""
    sender = Sender(n_segments=3000, initial_window_packets=2000, initial_ssthresh_bytes=MSS, max_window_bytes=10**7)
    sender.ack(1)
    assert sender.sub.cwnd_bytes == 2000 * MSS + 1


def test_slow_start_ends_at_ssthresh():
    sender = Sender(initial_ssthresh_bytes=12 * MSS)
    sender.acks(1, 2)
    assert sender.cwnd == 12
    sender.ack(3)
    assert sender.sub.cwnd_bytes == 12 * MSS + MSS // 12


@pytest.mark.parametrize("name", ["ecmp", "sack", "dctcp"])
@pytest.mark.parametrize("window", [16, 40])
def test_the_window_stays_at_the_receive_window(name, window):
    """300 acknowledgements without a loss: cwnd is the receive window, and no more than that is in flight."""
    sender = Sender(name, n_segments=400, max_window_bytes=window * MSS)
    for ack in range(1, 301):
        sender.ack(ack)
    assert sender.cwnd == window
    assert sender.sub.next_segment == 300 + window


def test_no_more_segments_in_flight_than_whole_ones_fit_in_the_receive_window():
    """A ninth segment of 100 bytes would fit beside eight whole ones, but there are flags for eight."""
    sender = Sender(n_segments=9, last_bytes=100, max_window_bytes=8 * MSS + 500)
    assert sender.sub.next_segment == 8
    assert sender.ack(1) == [8]


# -- limited transmit (RFC 3042)


def test_limited_transmit_sends_two_segments():
    """One new segment for each of the first two duplicates, none for the third and fourth; cwnd does not change."""
    sender = Sender(dup_ack_threshold=5)
    assert sender.duplicates(0, 4) == [[10], [11], [], []]
    assert sender.cwnd == 10


def test_limited_transmit_can_be_switched_off():
    assert Sender(limited_transmit=False).duplicates(0, 3) == [[], [], [0]]


def test_limited_transmit_respects_the_receive_window():
    sender = Sender(max_window_bytes=11 * MSS)
    assert sender.duplicates(0, 2) == [[10], []]


def test_limited_transmit_is_over_with_new_data():
    """A duplicate of each of two acknowledgements: two segments for the second, from a window of 11."""
    sender = Sender(dup_ack_threshold=5)
    assert sender.ack(0) == [10]
    assert sender.ack(1) == [11]  # cwnd 11: segments 1-11
    assert sender.duplicates(1, 3) == [[12], [13], []]


# -- what is sent


def test_a_flow_ends_with_its_last_acknowledgement():
    sender = Sender(n_segments=11, last_bytes=100)
    assert sender.ack(1) == [10]
    assert sender.packets[-1].bytes == 100 + 40
    sender.ack(11)
    assert sender.sub.state == CLOSED
    assert sender.sub.timer_ps == NONE


def test_an_old_acknowledgement_changes_nothing():
    """RFC 5681, section 2: a duplicate has the same number as the greatest so far."""
    sender = Sender()
    sender.ack(3)
    before = (sender.sub.dup_acks, sender.sub.cwnd_bytes, len(sender.packets))
    sender.duplicates(1, 4)
    assert (sender.sub.dup_acks, sender.sub.cwnd_bytes, len(sender.packets)) == before


@pytest.mark.parametrize(("ecn", "flag"), [(False, 0), (True, ECN_CAPABLE)])
def test_data_are_ecn_capable_when_asked(ecn, flag):
    assert {packet.flags & ECN_CAPABLE for packet in Sender(ecn=ecn).packets} == {flag}


def test_packets_say_what_they_are():
    """Of a long flow, which has the lower of two classes: SYN, the third packet of the handshake, data."""
    sender = Sender("ecmp_pq", handshake=True, ecn=True, n_segments=1, last_bytes=900)
    long = Sender("ecmp_pq", handshake=True, ecn=True)
    for each in (sender, long):
        each.syn_ack(at_us=100, rtt_us=100)
    fields = ("kind", "segment", "ack", "unit", "flags", "bytes", "priority", "sent_ps")
    found = [tuple(getattr(packet, name) for name in fields) for packet in (*sender.packets, *long.packets[:4])]
    assert found == [
        (SYN, 0, 0, NONE, 0, 40, 0, 0),
        (HANDSHAKE_ACK, 0, 0, NONE, 0, 40, 0, 100 * US),
        (DATA, 0, 0, NONE, ECN_CAPABLE, 940, 0, 100 * US),
        (SYN, 0, 0, NONE, 0, 40, 1, 0),
        (HANDSHAKE_ACK, 0, 0, NONE, 0, 40, 1, 100 * US),
        (DATA, 0, 0, NONE, ECN_CAPABLE, 1500, 1, 100 * US),
        (DATA, 1, 0, NONE, ECN_CAPABLE, 1500, 1, 100 * US),
    ]


def test_the_time_sent_is_that_of_each_sending():
    sender = Sender()
    sender.ack(1, at_us=100)
    assert [packet.sent_ps for packet in sender.packets] == [0] * 10 + [100 * US] * 2


# -- the receiver (RFC 5681, section 4.2)


def test_each_packet_is_acknowledged_with_the_next_one_expected():
    receiver = Receiver(n_segments=6)
    assert [receiver.take(segment).ack for segment in (0, 2, 3, 1, 1, 5, 4)] == [1, 1, 1, 4, 4, 4, 6]
    assert receiver.sub.duplicate_packets == 1


def test_what_fills_a_hole_is_reordered_only_if_it_was_sent_once():
    """A retransmission comes after later segments because of a loss, not of another path."""
    receiver = Receiver()
    for segment, flags in ((0, 0), (3, 0), (1, RETRANSMITTED), (2, 0), (4, 0)):
        receiver.take(segment, flags=flags)
    assert receiver.sub.reordered_packets == 1


def test_an_acknowledgement_echoes_the_packet_it_answers(subtests):
    """Its time of sending, Karn's flag and the mark of this packet alone (RFC 8257, section 3.2, one ACK a packet)."""
    cases = [
        (0, 0),
        (RETRANSMITTED, RETRANSMITTED),
        (ECN_CAPABLE, 0),
        (ECN_CAPABLE | CONGESTION_EXPERIENCED, ECN_ECHO),
    ]
    for flags, echo in cases:
        with subtests.test(flags=flags, echo=echo):
            receiver = Receiver("dctcp")
            receiver.take(0, flags=ECN_CAPABLE | CONGESTION_EXPERIENCED)
            answer = receiver.take(1, flags=flags)
            assert (answer.kind, answer.flags, answer.bytes) == (ACK, echo, 40)


# -- proportional rate reduction (RFC 6937, section 3): what may be sent for an acknowledgement


def test_below_ssthresh_by_the_bounds_of_prr(subtests):
    """4 in the network for an ssthresh of 10, 6 delivered, one of them now; 6 sent since, or 4."""
    cases = [
        (Reduction.PROPORTIONAL, 0, 2, 3),
        (Reduction.PROPORTIONAL_CONSERVATIVE, 0, 0, 2),
        (Reduction.PROPORTIONAL_NS3, 0, 1, 2),
        (Reduction.PROPORTIONAL_NS3, 1, 2, 3),
    ]
    for reduction, repaired, ahead, behind in cases:
        with subtests.test(reduction=reduction, repaired=repaired, ahead=ahead, behind=behind):
            assert allowed_bytes(reduction, 4, 10, 20, 6, 1, 6, repaired, 1) == ahead
            assert allowed_bytes(reduction, 4, 10, 20, 6, 1, 4, repaired, 1) == behind
            assert allowed_bytes(reduction, 9, 10, 20, 6, 1, 1, repaired, 1) == 1  # no more than is missing


def test_the_product_of_ns3_wraps_at_32_bits():
    """100,000 delivered times 100,000 is 10^10, of which 32 bits keep 1,410,065,408; RecoverFS is 200,000."""
    amounts = (150_000, 100_000, 200_000, 100_000, 1460, 1000, 0, 1460)
    assert allowed_bytes(Reduction.PROPORTIONAL, *amounts) == 50_000 - 1000
    assert allowed_bytes(Reduction.PROPORTIONAL_NS3, *amounts) == 7051 - 1000
