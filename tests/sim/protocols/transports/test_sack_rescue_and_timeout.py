"""RFC 6675 by hand: rescue retransmissions, partial acknowledgements, timeouts. Windows in segments."""

import pytest
from support.scripted import MSS, Sender, resent

# -- rescue retransmission (section 4, NextSeg rule 4)


def with_lost_end(**options):
    """Return a sender of 10 segments in all that has lost 0, 8 and 9; 0 was sent again; 0 and 6-9 fill the window."""
    sender = Sender("sack", n_segments=10, **options)
    assert sender.ack(0, blocks=[(1, 6)]) == [0]
    return sender


def test_rescue_of_the_last_segment():
    """When 0-7 have come, rules 1-3 name nothing: the last segment goes again, once, and HighRxt stays.

    Pipe is then 8, 9 and 9 again. The rescue brings word that 8 has not come: below the highest SACKed, rule 3.
    """
    sender = with_lost_end()
    assert sender.ack(8) == [9]
    assert sender.own("transport").pipe_packets == 3
    assert sender.ack(8, blocks=[(9, 10)]) == [8]
    sender.ack(10)
    assert (resent(sender), sender.sub.timeouts) == ([0, 9, 8], 0)


def test_without_rescue_the_end_waits_for_the_timer():
    sender = with_lost_end(rescue=False)
    assert sender.ack(8) == []
    assert sender.expire() == [8]


def test_one_rescue_in_a_recovery():
    """RescueRxt is RecoveryPoint afterwards. Pipe counts the rescue when it leaves, and not in the next SetPipe."""
    sender = with_lost_end()
    sent = [(sender.ack(ack), sender.own("transport").pipe_packets) for ack in (6, 7, 8)]
    assert sent == [([9], 5), ([], 3), ([], 2)]


def test_rescue_as_soon_as_the_first_retransmission_is_acknowledged():
    """HighACK > RescueRxt: 0, 2, 8 and 9 of 10 are lost, 0 and 2 are sent again; 0 is RescueRxt, then 1 is HighACK."""
    sender = Sender("sack", n_segments=10)
    assert sender.ack(0, blocks=[(3, 8), (1, 2)]) == [0, 2]
    assert sender.ack(2, blocks=[(3, 8)]) == [9]


def test_rescue_comes_after_everything_else():
    """With new data, rule 2 fills the window and nothing else is sent twice."""
    sender = Sender("sack")
    assert sender.ack(0, blocks=[(1, 8)]) == [0, 10, 11]  # 0, 8, 9 in the network, cwnd 5
    assert sender.ack(8) == [12]


def test_the_rescue_skips_what_has_arrived():
    """9 is SACKed, 8 is the highest that is not; rule 3 names it first, and rule 4, as its text stands, once more."""
    sender = with_lost_end()
    assert sender.ack(8, blocks=[(9, 10)]) == [8, 8]
    assert sender.own("transport").pipe_packets == 3


# -- partial acknowledgements, timeouts


@pytest.mark.parametrize(("resend_at_partial_ack", "sent"), [(False, []), (True, [4])])
def test_partial_acknowledgement_without_sign_of_a_loss(resend_at_partial_ack, sent):
    """RFC 6675: 4 has no SACKed segment above it, so it is not lost; NewReno would send it again."""
    sender = Sender("sack", resend_at_partial_ack=resend_at_partial_ack)
    sender.ack(0, blocks=[(1, 4)])
    assert sender.ack(4) == sent


def after_timeout():
    """Return a sender that has lost 0 twice and 4 once, after its timeout; 1-3 and 5-9 are SACKed, 10-12 are out."""
    sender = Sender("sack")
    assert sender.ack(0, blocks=[(1, 4)]) == [0]
    assert sender.ack(0, blocks=[(5, 10), (1, 4)]) == [4, 10, 11, 12]  # cwnd 5; 0 in the network
    assert sender.expire() == [0]
    return sender


def test_ssthresh_after_a_timeout_in_recovery():
    """RFC 5681, eq. 4, for all 13 that are out; only a fast retransmit leaves the two of limited transmit aside."""
    sender = Sender("sack")
    for end, sent in ((2, [10]), (3, [11]), (4, [0])):
        assert sender.ack(0, blocks=[(1, end)]) == sent
    assert sender.ack(0, blocks=[(1, 9)]) == [12]  # 0 and 9-11 in the network, cwnd 5
    sender.expire()
    assert sender.ssthresh == 6.5


@pytest.mark.parametrize("blocks", [[(5, 10)], []])
def test_what_is_sacked_is_not_sent_again_after_a_timeout(blocks):
    """Section 5.1; slow start from one segment, 5-9 are not in the network, told of once more or not."""
    sender = after_timeout()
    assert (sender.cwnd, sender.sub.in_recovery) == (1, 0)
    assert sender.ack(4, blocks=blocks) == [4, 10]
    assert sender.ack(10) == [11, 12]
    assert sender.ack(13) == [13, 14, 15, 16]
    assert resent(sender) == [0, 4, 0, 4, 10, 11, 12]


def test_no_recovery_before_recovery_point_after_a_timeout():
    """Section 5.1: RecoveryPoint is 12. A second loss of 4 starts none, a loss beyond it does."""
    sender = after_timeout()
    sender.ack(4, blocks=[(5, 10)])
    assert sender.ack(4, blocks=[(5, 11)]) == [11]
    assert (sender.sub.in_recovery, sender.sub.fast_retransmits) == (0, 1)
    sender.ack(12)
    sender.ack(12, blocks=[(13, 16)])
    assert (sender.sub.in_recovery, sender.sub.fast_retransmits) == (0, 1)
    sender.ack(13)
    first = sender.sub.una
    sender.ack(first, blocks=[(first + 1, first + 4)])
    assert (sender.sub.in_recovery, sender.sub.fast_retransmits) == (1, 2)


def test_ssthresh_from_pipe():
    """Ten out, 1-3 SACKed, 0 lost: six are thought to be in the network."""
    sender = Sender("sack", ssthresh_from="pipe")
    sender.ack(0, blocks=[(1, 4)])
    assert sender.ssthresh == 3


def test_ssthresh_from_pipe_at_a_timeout():
    """Twenty out, 1-3 and 5-14 SACKed: 0 and 4, both sent again, 15-19 and the new 20 are in the network."""
    sender = Sender("sack", ssthresh_from="pipe", initial_window_packets=20)
    assert sender.ack(0, blocks=[(1, 4)]) == [0]
    assert sender.ssthresh == 8
    assert sender.ack(0, blocks=[(5, 15), (1, 4)]) == [4, 20]
    sender.expire()
    assert sender.ssthresh == 4


def test_pipe_is_no_more_than_what_is_out():
    """Three segments, the last of 100 bytes: FlightSize 2 SMSS + 100 is less than three whole segments."""
    sender = Sender("sack", ssthresh_from="pipe", n_segments=5, last_bytes=100)
    sender.expire()
    assert sender.sub.ssthresh_bytes == (4 * MSS + 100) // 2


def test_what_is_sacked_makes_room_until_recovery_point_is_acknowledged():
    """After the timeout RecoveryPoint is 12. Window 3 (slow start from 1, two acknowledgements), 13 SACKed above 12."""
    sender = after_timeout()
    assert sender.ack(10) == [10, 11]
    assert sender.ack(12) == [12, 13, 14]
    assert sender.ack(12, blocks=[(13, 14)]) == [15]


def test_scoreboard_of_a_receive_window_used_again():
    """Eight flags for a window of eight segments: what was SACKed or resent of 0-7 says nothing about 8-15."""
    sender = Sender("sack", max_window_bytes=8 * MSS)
    assert sender.ack(0, blocks=[(1, 8)]) == [0]
    assert sender.ack(8) == [8, 9, 10, 11]
    sender.ack(4, blocks=[(5, 8)])  # late
    assert sender.ack(8, blocks=[(9, 12)]) == [8, 12]
    assert sender.own("transport").pipe_packets == 2
