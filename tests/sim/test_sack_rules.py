"""RFC 2018 and 6675 by hand: the receiver's blocks; the sender's Pipe, NextSeg and recovery. Windows in segments."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted import MSS, Receiver, Sender, blocks_of, resent, runs_above

# -- receiver (RFC 2018, section 4)


@given(st.permutations([*range(10), *range(10)]))  # each segment comes twice
def test_blocks_are_the_runs_reported_last(arrivals):
    """Each block is a whole run above the acknowledgement, the one of the segment that came first, the rest by age."""
    receiver, came = Receiver("sack", n_segments=20), {}
    for time, segment in enumerate(arrivals):
        packet = receiver.take(segment)
        came[segment] = time
        ack = next(number for number in range(20) if number not in came)
        runs = runs_above(came, ack)
        runs.sort(key=lambda run: -max(came[number] for number in range(*run)))
        blocks = blocks_of(packet)
        assert packet.ack == ack
        assert blocks == [run for run in runs if run in blocks]
        assert segment < ack or blocks[0] == runs[0]


def test_blocks_by_hand():
    """0, 1 in order; 3, 5, 7, 9 are runs of one: three fit, the latest first. 4 joins 3 and 5."""
    receiver = Receiver("sack")
    answers = [receiver.take(segment) for segment in (0, 1, 3, 5, 4, 7, 9)]
    assert [answer.ack for answer in answers] == [1, 2, 2, 2, 2, 2, 2]
    assert [blocks_of(answer) for answer in answers] == [
        [],
        [],
        [(3, 4)],
        [(5, 6), (3, 4)],
        [(3, 6)],
        [(7, 8), (3, 6)],
        [(9, 10), (7, 8), (3, 6)],
    ]


def test_what_is_acknowledged_is_no_block():
    receiver = Receiver("sack")
    answers = [receiver.take(segment) for segment in (3, 0, 1, 2, 4)]
    assert [answer.ack for answer in answers] == [0, 1, 2, 4, 5]
    assert [blocks_of(answer) for answer in answers] == [[(3, 4)], [(3, 4)], [(3, 4)], [], []]


def test_bytes_of_an_acknowledgement_with_blocks():
    """40, and 4 for the option, 8 for each block."""
    receiver = Receiver("sack")
    assert [receiver.take(segment).bytes for segment in (0, 2, 4, 6, 8)] == [40, 52, 60, 68, 68]


# -- sender: Pipe and NextSeg (RFC 6675, section 4)


@pytest.mark.parametrize("resend_at_partial_ack", [False, True])
def test_pipe_and_next_segment_with_two_holes(resend_at_partial_ack):
    """Ten segments out, 0 and 4 lost. What each acknowledgement lets go, and Pipe after that.

    Duplicates 1, 2: limited transmit of 10, 11. The third: FlightSize 10 (limited transmit not counted), cwnd 5;
    0 goes again; Pipe is 0 and 4-11. At (5, 8) three SACKed segments lie above 4: it is lost and leaves Pipe. From
    (5, 9) on there is room for one: 4 by rule 1, then new segments by rule 2. Acknowledgement 12 ends the recovery.
    At the partial acknowledgement 4 is on its way already: it does not go once more, even if asked for.
    """
    sender = Sender("sack", resend_at_partial_ack=resend_at_partial_ack)
    script = [
        (0, [(1, 2)], [10]),
        (0, [(1, 3)], [11]),
        (0, [(1, 4)], [0]),
        (0, [(5, 6), (1, 4)], []),
        (0, [(5, 7), (1, 4)], []),
        (0, [(5, 8), (1, 4)], []),
        (0, [(5, 9), (1, 4)], [4]),
        (0, [(5, 10), (1, 4)], [12]),
        (0, [(5, 11), (1, 4)], [13]),
        (0, [(5, 12), (1, 4)], [14]),
        (4, [(5, 12)], [15]),
    ]
    pipes = []
    for ack, blocks, expected in script:
        assert sender.ack(ack, blocks=blocks) == expected
        pipes.append(sender.conn.pipe_packets)
    assert pipes[2:] == [9, 8, 7, 5, 5, 5, 5, 5, 5]
    assert (sender.cwnd, sender.ssthresh, sender.conn.in_recovery) == (5, 5, 1)
    assert sender.ack(12) == [16]
    assert (sender.cwnd, sender.conn.in_recovery) == (5, 0)
    assert sender.conn.fast_retransmits == 1


def test_one_acknowledgement_that_sacks_three_starts_recovery():
    """Section 5 step 2: IsLost(HighACK + 1) is enough, however few duplicates have come. Pipe: 0 again, 4-9."""
    sender = Sender("sack")
    assert sender.ack(0, blocks=[(1, 4)]) == [0]
    assert (sender.conn.in_recovery, sender.cwnd, sender.ssthresh, sender.conn.pipe_packets) == (1, 5, 5, 7)


def test_two_sacked_segments_are_not_enough():
    sender = Sender("sack")
    sender.ack(0, blocks=[(1, 3)])
    assert sender.conn.in_recovery == 0
    assert resent(sender) == []


def test_a_duplicate_brings_new_sack_information():
    """RFC 6675, section 2; RFC 5681, section 3.2: without it no new segment leaves and no recovery begins."""
    sender = Sender("sack")
    assert sender.duplicates(0, 5) == [[]] * 5
    sender.ack(0, blocks=[(1, 2)])
    assert [sender.ack(0, blocks=[(1, 2)]) for _ in range(4)] == [[]] * 4
    assert sender.conn.in_recovery == 0


def test_discontiguous_blocks_count_segments():
    """Above 2 lie 3 and 7, above 0 also 1: the third SACKed segment makes 0 lost and no other."""
    sender = Sender("sack")
    sender.ack(0, blocks=[(1, 2)])
    sender.ack(0, blocks=[(3, 4), (1, 2)])
    assert sender.ack(0, blocks=[(7, 8), (3, 4), (1, 2)]) == [0]
    assert sender.conn.pipe_packets == 1 + len([2, 4, 5, 6, 8, 9, 10, 11])


def test_a_large_hole_is_filled_as_far_as_pipe_allows():
    """Segments 0-4 of 20 lost, one acknowledgement for all others: cwnd 10, Pipe 0: five go again, five are new."""
    sender = Sender("sack", initial_window_packets=20)
    assert sender.ack(0, blocks=[(5, 20)]) == [0, 1, 2, 3, 4, 20, 21, 22, 23, 24]
    assert sender.conn.pipe_packets == 10


def test_recovery_respects_the_receive_window():
    """0 lost, 1-9 SACKed: cwnd 5 and one in the network, but the receiver takes only up to 11."""
    sender = Sender("sack", max_window_bytes=12 * MSS, rescue=False)
    assert sender.ack(0, blocks=[(1, 10)]) == [0, 10, 11]


def without_new_data(lost):
    """Return a sender of 10 segments in all, after acknowledgements for those not lost, and what left for each."""
    sender, sent, above = Sender("sack", n_segments=10, rescue=False), [], []
    for segment in range(1, 10):
        if segment not in lost:
            above.append(segment)
            sent.append(sender.ack(0, blocks=runs_above(above, 0)[::-1][:3]))
    return sender, sent


def test_rule_3_repeats_what_may_only_be_late():
    """Lost are 0 and 8; nothing new to send. 9 alone lies above 8: not lost, but the only thing to send.

    FlightSize 10, so cwnd 5; Pipe is 0 and 4-9, falls with each acknowledgement, and is 0, 8 (2) at the last.
    """
    sender, sent = without_new_data(lost=(0, 8))
    assert sent == [[], [], [0], [], [], [], [], [8]]
    assert sender.conn.pipe_packets == 3  # 8 counts as late and as resent (SetPipe a and b)


def test_recovery_ends_with_the_window_at_ssthresh():
    sender, _ = without_new_data(lost=(0, 8))
    assert sender.ack(8, blocks=[(9, 10)]) == []
    assert sender.conn.in_recovery == 1
    sender.ack(10)
    assert (sender.cwnd, sender.conn.in_recovery) == (5, 0)


@pytest.mark.parametrize("window", [7, 8, 9, 13])
def test_window_is_halved_once(window):
    """Section 5 step 4.2: cwnd = ssthresh = FlightSize / 2; no inflation, also not by a second hole."""
    sender = Sender("sack", initial_window_packets=window)
    sender.ack(0, blocks=[(1, 4)])
    assert sender.conn.cwnd_bytes == sender.conn.ssthresh_bytes == window * MSS // 2
    sender.ack(0, blocks=[(5, 7), (1, 4)])
    assert sender.conn.cwnd_bytes == window * MSS // 2


def test_in_flight_never_more_than_the_window():
    """cwnd 3.5 segments: with three in the network there is no room for a fourth (cwnd - pipe >= 1 SMSS)."""
    sender = Sender("sack", initial_window_packets=7)
    sender.ack(0, blocks=[(1, 4)])  # Pipe: 0, 4, 5, 6
    assert sender.ack(0, blocks=[(4, 5), (1, 4)]) == []  # 0, 5, 6
    assert sender.ack(0, blocks=[(4, 6), (1, 4)]) == [7]
    assert sender.conn.pipe_packets == 3


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
    assert sender.conn.pipe_packets == 3
    assert sender.ack(8, blocks=[(9, 10)]) == [8]
    sender.ack(10)
    assert (resent(sender), sender.conn.timeouts) == ([0, 9, 8], 0)


def test_without_rescue_the_end_waits_for_the_timer():
    sender = with_lost_end(rescue=False)
    assert sender.ack(8) == []
    assert sender.expire() == [8]


def test_one_rescue_in_a_recovery():
    """RescueRxt is RecoveryPoint afterwards. Pipe counts the rescue when it leaves, and not in the next SetPipe."""
    sender = with_lost_end()
    sent = [(sender.ack(ack), sender.conn.pipe_packets) for ack in (6, 7, 8)]
    assert sent == [([9], 5), ([], 3), ([], 2)]


def test_rescue_comes_after_everything_else():
    """With new data, rule 2 fills the window and nothing else is sent twice."""
    sender = Sender("sack")
    assert sender.ack(0, blocks=[(1, 8)]) == [0, 10, 11]  # 0, 8, 9 in the network, cwnd 5
    assert sender.ack(8) == [12]


def test_the_rescue_skips_what_has_arrived():
    """9 is SACKed, 8 is the highest that is not; rule 3 names it first, and rule 4, as its text stands, once more."""
    sender = with_lost_end()
    assert sender.ack(8, blocks=[(9, 10)]) == [8, 8]
    assert sender.conn.pipe_packets == 3


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
    assert (sender.cwnd, sender.conn.in_recovery) == (1, 0)
    assert sender.ack(4, blocks=blocks) == [4, 10]
    assert sender.ack(10) == [11, 12]
    assert sender.ack(13) == [13, 14, 15, 16]
    assert resent(sender) == [0, 4, 0, 4, 10, 11, 12]


def test_no_recovery_before_recovery_point_after_a_timeout():
    """Section 5.1: RecoveryPoint is 12. A second loss of 4 starts none, a loss beyond it does."""
    sender = after_timeout()
    sender.ack(4, blocks=[(5, 10)])
    assert sender.ack(4, blocks=[(5, 11)]) == [11]
    assert (sender.conn.in_recovery, sender.conn.fast_retransmits) == (0, 1)
    sender.ack(13)
    first = sender.conn.una
    sender.ack(first, blocks=[(first + 1, first + 4)])
    assert (sender.conn.in_recovery, sender.conn.fast_retransmits) == (1, 2)


def test_ssthresh_from_pipe():
    """Ten out, 1-3 SACKed, 0 lost: six are thought to be in the network."""
    sender = Sender("sack", ssthresh_from="pipe")
    sender.ack(0, blocks=[(1, 4)])
    assert sender.ssthresh == 3
