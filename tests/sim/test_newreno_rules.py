"""RFC 5681, 6582 and 3042 by hand: windows in segments after each acknowledgement, and which segments leave for it."""

import pytest
from scripted import MSS, US, Receiver, Sender, resent

from capsim.records import ACK, CLOSED, CONGESTION_EXPERIENCED, ECN_CAPABLE, ECN_ECHO, NONE, RETRANSMITTED


def in_recovery(**options):
    """Return a sender of 10 segments after three duplicates for the first; 10 and 11 have left by RFC 3042."""
    sender = Sender(**options)
    sender.duplicates(0, 3)
    return sender


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
    assert sender.conn.cwnd_bytes == 10 * MSS + 500


def test_congestion_avoidance_adds_smss_squared_over_cwnd():
    """RFC 5681, eq. 3, from cwnd = ssthresh on, in whole bytes."""
    sender = Sender(initial_ssthresh_bytes=10 * MSS)
    sender.ack(1)
    assert sender.conn.cwnd_bytes == 10 * MSS + MSS // 10
    sender.ack(2)
    assert sender.conn.cwnd_bytes == 10 * MSS + MSS // 10 + MSS * MSS // (10 * MSS + MSS // 10)


def test_slow_start_ends_at_ssthresh():
    sender = Sender(initial_ssthresh_bytes=12 * MSS)
    sender.acks(1, 2)
    assert sender.cwnd == 12
    sender.ack(3)
    assert sender.conn.cwnd_bytes == 12 * MSS + MSS // 12


@pytest.mark.parametrize("name", ["ecmp", "sack", "dctcp"])
def test_the_window_stays_at_the_receive_window(name):
    """300 acknowledgements without a loss: cwnd is the receive window, and no more than that is in flight."""
    sender = Sender(name, n_segments=400, max_window_bytes=40 * MSS)
    for ack in range(1, 301):
        sender.ack(ack)
    assert sender.cwnd == 40
    assert sender.conn.next_segment == 340


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


# -- fast retransmit and recovery (RFC 5681, section 3.2; RFC 6582, section 3.2)


def test_third_duplicate_halves_and_inflates_by_three():
    """FlightSize 10 (RFC 5681: the two segments of limited transmit not counted): ssthresh 5, cwnd 5 + 3."""
    sender = in_recovery()
    assert (sender.ssthresh, sender.cwnd) == (5, 8)
    assert resent(sender) == [0]
    assert sender.conn.recover == 11
    assert sender.duplicates(0, 5) == [[], [], [], [], [12]]  # 13 = cwnd for 12 in flight


def test_halving_counts_a_short_last_segment_by_its_bytes():
    """Five segments in flight, the last of 500 bytes: ssthresh is half of 4 SMSS + 500 bytes."""
    sender = in_recovery(n_segments=5, last_bytes=500)
    assert sender.conn.ssthresh_bytes == (4 * MSS + 500) // 2


def test_halving_leaves_out_only_the_last_limited_transmit():
    """Segments 10 and 11 have left so too, but are acknowledged as others are: 2-13 are out, 14 and 15 do not count."""
    sender = Sender()
    sender.duplicates(0, 2)
    assert sender.ack(1) == []  # cwnd 11: 1-11
    assert sender.ack(2) == [12, 13]
    sender.duplicates(2, 3)
    assert (sender.conn.next_segment, sender.ssthresh) == (16, 6)


def test_halving_keeps_two_segments():
    """RFC 5681, eq. 4: max(FlightSize / 2, 2 SMSS) with three in flight."""
    sender = Sender(n_segments=3)
    sender.expire()
    assert sender.conn.ssthresh_bytes == 2 * MSS


def test_partial_acknowledgement_deflates_and_adds_back_one_segment():
    """Segments 0 and 4 of 10 are lost, so ten duplicates come: from 1-3 and 5-11.

    Window 8, inflated by seven to 15: 12, 13, 14 leave. The partial acknowledgement 4 takes four off and adds one: 12,
    with 11 in flight, so that 4 goes again and one new segment with it. Three more duplicates bring one new each. The
    acknowledgement 15 covers all that was sent before the recovery.
    """
    sender = in_recovery()
    assert [segment for sent in sender.duplicates(0, 7) for segment in sent] == [12, 13, 14]
    assert sender.cwnd == 15
    assert sender.ack(4) == [4, 15]
    assert sender.cwnd == 15 - 4 + 1
    assert sender.duplicates(4, 3) == [[16], [17], [18]]
    sender.ack(15)
    assert (sender.cwnd, sender.conn.in_recovery) == (5, 0)
    assert resent(sender) == [0, 4]


def test_only_the_first_partial_acknowledgement_restarts_the_timer():
    """RFC 6582, section 3.2 step 3: five holes, RTO 2 ms: the timer fires 2 ms after the first partial one."""
    sender = in_recovery()
    for hole, at_us in ((1, 500), (2, 1000), (3, 1500), (4, 2000)):
        sender.ack(hole, at_us=at_us)
        assert sender.timer_us == 500 + 2000
    sender.expire()
    assert (sender.now_us, sender.conn.timeouts, sender.conn.in_recovery) == (2500, 1, 0)


def test_each_recovery_restarts_the_timer_at_its_first_partial_acknowledgement():
    sender = in_recovery()
    sender.ack(4, at_us=500)
    sender.ack(12, at_us=600)  # all that was out: the recovery ends
    sender.ack(13, at_us=650)
    sender.duplicates(13, 2)
    sender.ack(13, at_us=700)
    sender.ack(14, at_us=800)
    assert (sender.conn.in_recovery, sender.conn.fast_retransmits) == (1, 2)
    assert sender.timer_us == 800 + 2000


@pytest.mark.parametrize(("more", "flight", "cwnd"), [(0, 0, 2), (5, 1, 2), (7, 3, 4), (8, 4, 5), (9, 5, 5)])
def test_full_acknowledgement_leaves_no_room_for_a_burst(more, flight, cwnd):
    """Option 1: min(ssthresh, max(FlightSize, SMSS) + SMSS); ssthresh is 5, `flight` new segments left in recovery."""
    sender = in_recovery()
    sender.duplicates(0, more)
    assert sender.conn.next_segment == 12 + flight
    sender.ack(12)
    assert (sender.cwnd, sender.conn.next_segment - 12) == (cwnd, cwnd)


def test_full_acknowledgement_option_2_is_ssthresh():
    sender = in_recovery(full_ack_option=2)
    assert sender.ack(12) == [12, 13, 14, 15, 16]
    assert sender.cwnd == 5


def test_ssthresh_from_what_is_thought_to_be_in_the_network():
    """Outstanding minus one segment for each duplicate: 12 - 3 at the third, 10 - 2 at a timeout after two."""
    sender = in_recovery(ssthresh_from="pipe")
    assert (sender.ssthresh, sender.cwnd) == (4.5, 7.5)
    late = Sender(ssthresh_from="pipe", limited_transmit=False)
    late.duplicates(0, 2)
    late.expire()
    assert late.ssthresh == 4


def test_no_fast_retransmit_below_recover_after_a_timeout():
    """RFC 6582, section 3.2 steps 1 and 4: duplicates for data sent before the timeout start no recovery."""
    sender = Sender()
    sender.ack(1)  # 1-11 out
    sender.expire()
    assert sender.conn.recover == 11
    sender.ack(4)
    assert sender.duplicates(4, 5) == [[], [], [], [], []]
    assert (sender.conn.in_recovery, sender.conn.fast_retransmits) == (0, 0)
    assert resent(sender) == [1, 4, 5]


def test_fast_retransmit_again_beyond_recover():
    sender = Sender()
    sender.expire()
    sender.ack(10)
    sender.ack(11)
    assert sender.conn.recover == 9
    sender.duplicates(11, 3)
    assert (sender.conn.in_recovery, sender.conn.fast_retransmits) == (1, 1)


def test_one_recovery_at_a_time():
    """More duplicates, and three after a partial acknowledgement, are no second loss event."""
    sender = in_recovery()
    sender.duplicates(0, 6)
    sender.ack(4)
    sender.duplicates(4, 4)
    assert sender.conn.fast_retransmits == 1
    assert sender.ssthresh == 5


# -- timeout


def test_timeout_goes_back_with_a_window_of_one():
    """RFC 5681, section 3.1: loss window 1, ssthresh half of the 10 in flight, slow start from the first hole."""
    sender = Sender()
    assert sender.expire() == [0]
    assert (sender.cwnd, sender.ssthresh) == (1, 5)
    assert sender.ack(1) == [1, 2]
    assert sender.ack(5) == [5, 6, 7]
    assert resent(sender) == [0, 1, 2, 5, 6, 7]


def test_ssthresh_is_held_when_the_same_segment_times_out_again():
    """RFC 5681, section 3.1: eq. 4 for the first timeout of a segment only."""
    sender = Sender()
    sender.expire()
    sender.expire()
    assert sender.ssthresh == 5
    sender.ack(6)
    assert sender.conn.next_segment == 8
    sender.expire()
    assert sender.ssthresh == 2  # 2 in flight


def test_timeout_ends_a_recovery():
    sender = in_recovery()
    sender.duplicates(0, 6)
    assert sender.expire() == [0]
    assert (sender.conn.in_recovery, sender.cwnd, sender.conn.recover) == (0, 1, 13)
    assert sender.ssthresh == 7  # half of all 14 that are out
    assert sender.ack(0) == []


# -- what is sent


def test_a_flow_ends_with_its_last_acknowledgement():
    sender = Sender(n_segments=11, last_bytes=100)
    assert sender.ack(1) == [10]
    assert sender.packets[-1].bytes == 100 + 40
    sender.ack(11)
    assert sender.conn.state == CLOSED
    assert sender.conn.timer_ps == NONE


def test_an_old_acknowledgement_changes_nothing():
    """RFC 5681, section 2: a duplicate has the same number as the greatest so far."""
    sender = Sender()
    sender.ack(3)
    before = (sender.conn.dup_acks, sender.conn.cwnd_bytes, len(sender.packets))
    sender.duplicates(1, 4)
    assert (sender.conn.dup_acks, sender.conn.cwnd_bytes, len(sender.packets)) == before


@pytest.mark.parametrize(("ecn", "flag"), [(False, 0), (True, ECN_CAPABLE)])
def test_data_are_ecn_capable_when_asked(ecn, flag):
    assert {packet.flags & ECN_CAPABLE for packet in Sender(ecn=ecn).packets} == {flag}


def test_the_time_sent_is_that_of_each_sending():
    sender = Sender()
    sender.ack(1, at_us=100)
    assert [packet.sent_ps for packet in sender.packets] == [0] * 10 + [100 * US] * 2


# -- the receiver (RFC 5681, section 4.2)


def test_each_packet_is_acknowledged_with_the_next_one_expected():
    receiver = Receiver(n_segments=6)
    assert [receiver.take(segment).ack for segment in (0, 2, 3, 1, 1, 5, 4)] == [1, 1, 1, 4, 4, 4, 6]
    assert receiver.conn.duplicate_packets == 1


def test_what_fills_a_hole_is_reordered_only_if_it_was_sent_once():
    """A retransmission comes after later segments because of a loss, not of another path."""
    receiver = Receiver()
    for segment, flags in ((0, 0), (3, 0), (1, RETRANSMITTED), (2, 0), (4, 0)):
        receiver.take(segment, flags=flags)
    assert receiver.conn.reordered_packets == 1


@pytest.mark.parametrize(
    ("flags", "echo"),
    [
        (0, 0),
        (RETRANSMITTED, RETRANSMITTED),
        (ECN_CAPABLE, 0),
        (ECN_CAPABLE | CONGESTION_EXPERIENCED, ECN_ECHO),
    ],
)
def test_an_acknowledgement_echoes_the_packet_it_answers(flags, echo):
    """Its time of sending, Karn's flag and the mark of this packet alone (RFC 8257, section 3.2, one ACK a packet)."""
    receiver = Receiver("dctcp")
    receiver.take(0, flags=ECN_CAPABLE | CONGESTION_EXPERIENCED)
    answer = receiver.take(1, flags=flags)
    assert (answer.kind, answer.flags, answer.bytes) == (ACK, echo, 40)
