"""RFC 5681 and 6582 by hand: recovery and timeouts of NewReno. Windows in segments."""

import pytest
from support.scripted import MSS, Sender, resent


def in_recovery(**options):
    """Return a sender of 10 segments after three duplicates for the first; 10 and 11 have left by RFC 3042."""
    sender = Sender(**options)
    sender.duplicates(0, 3)
    return sender


# -- fast retransmit and recovery (RFC 5681, section 3.2; RFC 6582, section 3.2)


def test_third_duplicate_halves_and_inflates_by_three():
    """FlightSize 10 (RFC 5681: the two segments of limited transmit not counted): ssthresh 5, cwnd 5 + 3."""
    sender = in_recovery()
    assert (sender.ssthresh, sender.cwnd) == (5, 8)
    assert (sender.sub.cwnd_bytes, sender.sub.inflation_bytes) == (5 * MSS, 3 * MSS)
    assert resent(sender) == [0]
    assert (sender.sub.recover, sender.sub.dup_acks_received) == (11, 3)
    assert sender.duplicates(0, 5) == [[], [], [], [], [12]]  # 13 = cwnd for 12 in flight


def test_halving_counts_a_short_last_segment_by_its_bytes():
    """Five segments in flight, the last of 500 bytes: ssthresh is half of 4 SMSS + 500 bytes."""
    sender = in_recovery(n_segments=5, last_bytes=500)
    assert sender.sub.ssthresh_bytes == (4 * MSS + 500) // 2
    assert in_recovery(last_bytes=500).ssthresh == 5  # which is not out yet


def test_halving_leaves_out_only_the_last_limited_transmit():
    """Segments 10 and 11 have left so too, but are acknowledged as others are: 2-13 are out, 14 and 15 do not count."""
    sender = Sender()
    sender.duplicates(0, 2)
    assert sender.ack(1) == []  # cwnd 11: 1-11
    assert sender.ack(2) == [12, 13]
    sender.duplicates(2, 3)
    assert (sender.sub.next_segment, sender.ssthresh) == (16, 6)


def test_halving_keeps_two_segments():
    """RFC 5681, eq. 4: max(FlightSize / 2, 2 SMSS) with three in flight."""
    sender = Sender(n_segments=3)
    sender.expire()
    assert sender.sub.ssthresh_bytes == 2 * MSS


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
    assert (sender.cwnd, sender.sub.in_recovery) == (5, 0)
    assert resent(sender) == [0, 4]


def test_partial_acknowledgement_leaves_a_window_of_one_segment():
    """8 segments, less the 11 acknowledged: there is a loss window at least (RFC 5681), and it lets 11 go again."""
    sender = in_recovery()
    assert sender.ack(11) == [11]
    assert (sender.cwnd, sender.sub.in_recovery) == (1, 1)


def test_only_the_first_partial_acknowledgement_restarts_the_timer():
    """RFC 6582, section 3.2 step 3: five holes, RTO 2 ms: the timer fires 2 ms after the first partial one."""
    sender = in_recovery()
    for hole, at_us in ((1, 500), (2, 1000), (3, 1500), (4, 2000)):
        sender.ack(hole, at_us=at_us)
        assert sender.timer_us == 500 + 2000
        assert sender.cwnd == 8  # one segment has left the network, one more may enter it
    sender.expire()
    assert (sender.now_us, sender.sub.timeouts, sender.sub.in_recovery) == (2500, 1, 0)


def test_each_recovery_restarts_the_timer_at_its_first_partial_acknowledgement():
    sender = in_recovery()
    sender.ack(4, at_us=500)
    sender.ack(12, at_us=600)  # all that was out: the recovery ends
    sender.ack(13, at_us=650)
    sender.duplicates(13, 2)
    sender.ack(13, at_us=700)
    sender.ack(14, at_us=800)
    assert (sender.sub.in_recovery, sender.sub.fast_retransmits) == (1, 2)
    assert sender.timer_us == 800 + 2000


@pytest.mark.parametrize(("more", "flight", "cwnd"), [(0, 0, 2), (5, 1, 2), (7, 3, 4), (8, 4, 5), (9, 5, 5)])
def test_full_acknowledgement_leaves_no_room_for_a_burst(more, flight, cwnd):
    """Option 1: min(ssthresh, max(FlightSize, SMSS) + SMSS); ssthresh is 5, `flight` new segments left in recovery."""
    sender = in_recovery()
    sender.duplicates(0, more)
    assert sender.sub.next_segment == 12 + flight
    sender.ack(12)
    assert (sender.cwnd, sender.sub.next_segment - 12) == (cwnd, cwnd)


def test_full_acknowledgement_option_2_is_ssthresh():
    sender = in_recovery(full_ack_option=2)
    assert sender.ack(12) == [12, 13, 14, 15, 16]
    assert sender.cwnd == 5


def test_the_acknowledgement_that_ends_recovery_may_open_the_window_too(subtests):
    """As in ns-3: to ssthresh, 5 segments, and then by a fifth of a segment in congestion avoidance."""
    for grow, cwnd in [(False, 5), (True, 5.2)]:
        for transport in ["ecmp", "sack"]:
            with subtests.test(grow=grow, cwnd=cwnd, transport=transport):
                option = {"full_ack_option": 2} if transport == "ecmp" else {}  # RFC 6675 leaves ssthresh behind
                sender = Sender(
                    transport, initial_window_packets=10, limited_transmit=False, grow_at_full_ack=grow, **option
                )
                for end in (2, 3, 4):
                    sender.ack(0, **({"blocks": [(1, end)]} if transport == "sack" else {}))
                assert (sender.sub.in_recovery, sender.ssthresh) == (1, 5)
                sender.ack(sender.sub.high)
                assert sender.cwnd == cwnd


def test_ssthresh_from_what_is_thought_to_be_in_the_network():
    """Outstanding minus one segment for each duplicate: 12 - 3 at the third, 10 - 2 at a timeout after two."""
    sender = in_recovery(ssthresh_from="pipe")
    assert (sender.ssthresh, sender.cwnd) == (4.5, 7.5)
    late = Sender(ssthresh_from="pipe", limited_transmit=False)
    late.duplicates(0, 2)
    late.expire()
    assert late.ssthresh == 4


def test_duplicates_told_of_what_a_partial_acknowledgement_leaves(subtests):
    """0 and `ack` of 22 are lost. Of the duplicates `ack` - 1 were of segments below it, the others of later ones.

    At a timeout these are not in the network any more; ssthresh is half of the rest, at least two segments.
    """
    cases = [(14, 4, 27, 14), (3, 3, 22, 4), (0, 4, 22, 0), (0, 21, 22, 0)]
    for more, ack, out, told in cases:
        with subtests.test(more=more, ack=ack, out=out, told=told):
            sender = in_recovery(ssthresh_from="pipe", initial_window_packets=20)
            sender.duplicates(0, more)
            sender.ack(ack)
            assert sender.sub.next_segment == out
            sender.expire()
            assert sender.ssthresh == max((out - ack - told) / 2, 2)


def test_no_fast_retransmit_below_recover_after_a_timeout():
    """RFC 6582, section 3.2 steps 1 and 4: duplicates for data sent before the timeout start no recovery."""
    sender = Sender()
    sender.ack(1)  # 1-11 out
    sender.expire()
    assert (sender.sub.recover, sender.ssthresh) == (11, 5.5)
    sender.ack(4)
    assert sender.duplicates(4, 5) == [[], [], [], [], []]
    assert (sender.sub.in_recovery, sender.sub.fast_retransmits) == (0, 0)
    assert resent(sender) == [1, 4, 5]


def test_fast_retransmit_again_beyond_recover():
    sender = Sender()
    sender.expire()
    sender.ack(10)
    sender.ack(11)
    assert sender.sub.recover == 9
    sender.duplicates(11, 3)
    assert (sender.sub.in_recovery, sender.sub.fast_retransmits) == (1, 1)


def test_one_recovery_at_a_time():
    """More duplicates, and three after a partial acknowledgement, are no second loss event."""
    sender = in_recovery()
    sender.duplicates(0, 6)
    sender.ack(4)
    sender.duplicates(4, 4)
    assert sender.sub.fast_retransmits == 1
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
    assert sender.sub.next_segment == 8
    sender.expire()
    assert sender.ssthresh == 2  # 2 in flight


def test_timeout_ends_a_recovery():
    sender = in_recovery()
    sender.duplicates(0, 6)
    assert sender.expire() == [0]
    assert (sender.sub.in_recovery, sender.cwnd, sender.sub.recover) == (0, 1, 13)
    assert sender.ssthresh == 7  # half of all 14 that are out
    assert sender.ack(0) == []
