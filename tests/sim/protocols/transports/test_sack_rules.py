"""RFC 6675 by hand: Pipe, NextSeg and the window in recovery. Windows in segments."""

import pytest
from support.scripted import MSS, Sender, resent, runs_above


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
        pipes.append(sender.own("transport").pipe_packets)
    assert pipes[2:] == [9, 8, 7, 5, 5, 5, 5, 5, 5]
    assert (sender.cwnd, sender.ssthresh, sender.sub.in_recovery) == (5, 5, 1)
    assert sender.ack(12) == [16]
    assert (sender.cwnd, sender.sub.in_recovery) == (5, 0)
    assert (sender.sub.fast_retransmits, sender.sub.dup_acks_received) == (1, 10)


def test_halving_leaves_out_only_the_last_limited_transmit():
    """10 and 11 have left so too, but are acknowledged as others are: 3-15 are out, 14 and 15 do not count."""
    sender = Sender("sack")
    assert [sender.ack(0, blocks=[(1, end)]) for end in (2, 3)] == [[10], [11]]
    assert sender.ack(3) == [12, 13]  # cwnd 11
    assert [sender.ack(3, blocks=[(4, end)]) for end in (5, 6)] == [[14], [15]]
    assert sender.ack(3, blocks=[(4, 7)]) == [3]
    assert sender.ssthresh == (13 - 2) / 2


def test_one_acknowledgement_that_sacks_three_starts_recovery():
    """Section 5 step 2: IsLost(HighACK + 1) is enough, however few duplicates have come. Pipe: 0 again, 4-9."""
    sender = Sender("sack")
    assert sender.ack(0, blocks=[(1, 4)]) == [0]
    assert (sender.sub.in_recovery, sender.cwnd, sender.ssthresh, sender.own("transport").pipe_packets) == (1, 5, 5, 7)


def test_two_sacked_segments_are_not_enough():
    sender = Sender("sack")
    sender.ack(0, blocks=[(1, 3)])
    assert sender.sub.in_recovery == 0
    assert resent(sender) == []


def test_a_duplicate_brings_new_sack_information():
    """RFC 6675, section 2; RFC 5681, section 3.2: without it no new segment leaves and no recovery begins."""
    sender = Sender("sack")
    assert sender.duplicates(0, 5) == [[]] * 5
    sender.ack(0, blocks=[(1, 2)])
    assert [sender.ack(0, blocks=[(1, 2)]) for _ in range(4)] == [[]] * 4
    assert sender.sub.in_recovery == 0


def test_discontiguous_blocks_count_segments():
    """Above 2 lie 3 and 7, above 0 also 1: the third SACKed segment makes 0 lost and no other."""
    sender = Sender("sack")
    sender.ack(0, blocks=[(1, 2)])
    sender.ack(0, blocks=[(3, 4), (1, 2)])
    assert sender.ack(0, blocks=[(7, 8), (3, 4), (1, 2)]) == [0]
    assert sender.own("transport").pipe_packets == 1 + len([2, 4, 5, 6, 8, 9, 10, 11])


def test_a_large_hole_is_filled_as_far_as_pipe_allows():
    """Segments 0-4 of 20 lost, one acknowledgement for all others: cwnd 10, Pipe 0: five go again, five are new."""
    sender = Sender("sack", initial_window_packets=20)
    assert sender.ack(0, blocks=[(5, 20)]) == [0, 1, 2, 3, 4, 20, 21, 22, 23, 24]
    assert sender.own("transport").pipe_packets == 10


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


@pytest.mark.parametrize(
    ("reduction", "sent"),
    [("at_once", [0, 0, 1] + 7 * [0] + 9 * [1]), ("proportional", [0, 0, 1, 0] + 4 * [0, 1] + [0, 0] + 5 * [1])],
)
def test_a_window_that_is_reduced_in_proportion_sends_for_every_second_acknowledgement(reduction, sent):
    """RFC 6937: 20 segments, the first is lost, ssthresh is half; for each when Pipe has come down to ssthresh.

    At once, it is silent for half a round trip first.
    """
    sender = Sender("sack", n_segments=60, initial_window_packets=20, limited_transmit=False, reduction=reduction)
    assert [len(sender.ack(0, blocks=[(1, end)])) for end in range(2, 21)] == sent
    assert sender.ssthresh == 10
    sender.ack(sender.sub.high)
    assert sender.cwnd == 10


def test_below_ssthresh_a_proportional_reduction_sends_no_burst(subtests):
    """RFC 6937's bounds: 3 of 20 segments are delivered, the others are lost, so that nothing is in the network."""
    cases = [("at_once", 10), ("proportional", 4), ("proportional_conservative", 3)]
    for reduction, sent in cases:
        with subtests.test(reduction=reduction, sent=sent):
            sender = Sender(
                "sack", n_segments=60, initial_window_packets=20, limited_transmit=False, reduction=reduction
            )
            assert len(sender.ack(0, blocks=[(17, 20)])) == sent
            assert sender.ssthresh == 10


def test_rule_3_repeats_what_may_only_be_late():
    """Lost are 0 and 8; nothing new to send. 9 alone lies above 8: not lost, but the only thing to send.

    FlightSize 10, so cwnd 5; Pipe is 0 and 4-9, falls with each acknowledgement, and is 0, 8 (2) at the last.
    """
    sender, sent = without_new_data(lost=(0, 8))
    assert sent == [[], [], [0], [], [], [], [], [8]]
    assert sender.own("transport").pipe_packets == 3  # 8 counts as late and as resent (SetPipe a and b)


def test_recovery_ends_with_the_window_at_ssthresh():
    sender, _ = without_new_data(lost=(0, 8))
    assert sender.ack(8, blocks=[(9, 10)]) == []
    assert sender.sub.in_recovery == 1
    sender.ack(10)
    assert (sender.cwnd, sender.sub.in_recovery) == (5, 0)


def test_window_is_halved_once(subtests):
    """Section 5 step 4.2: cwnd = ssthresh = FlightSize / 2; no inflation, also not by a second hole."""
    for window in [7, 8, 9, 13]:
        with subtests.test(window=window):
            sender = Sender("sack", initial_window_packets=window)
            sender.ack(0, blocks=[(1, 4)])
            assert sender.sub.cwnd_bytes == sender.sub.ssthresh_bytes == window * MSS // 2
            sender.ack(0, blocks=[(5, 7), (1, 4)])
            assert sender.sub.cwnd_bytes == window * MSS // 2


def test_in_flight_never_more_than_the_window():
    """cwnd 3.5 segments: with three in the network there is no room for a fourth (cwnd - pipe >= 1 SMSS)."""
    sender = Sender("sack", initial_window_packets=7)
    sender.ack(0, blocks=[(1, 4)])  # Pipe: 0, 4, 5, 6
    assert sender.ack(0, blocks=[(4, 5), (1, 4)]) == []  # 0, 5, 6
    assert sender.ack(0, blocks=[(4, 6), (1, 4)]) == [7]
    assert sender.own("transport").pipe_packets == 3
