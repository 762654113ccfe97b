"""RFC 8257 by hand: alpha of each observation window, the cut by alpha / 2, once per window. Windows in segments."""

import pytest
from support.scripted import MSS, Receiver, Sender

from capsim.records import ECN_CAPABLE, ECN_ECHO


def fixed_window(**options):
    """Return a sender whose receive window keeps cwnd at 10 until a mark comes."""
    return Sender("dctcp", max_window_bytes=10 * MSS, **options)


def marked_acks(sender, first, last, marked=()):
    for ack in range(first, last + 1):
        sender.ack(ack, flags=ECN_ECHO if ack in marked else 0)


def test_alpha_over_three_windows():
    """Section 3.3, g = 1/16, from alpha = 1 and WindowEnd = 0: the first window is one segment, without a mark.

    The second ends beyond 10, with 4 of 10 segments marked. Its first mark cuts cwnd to 5.3, so at acknowledgement 11
    SND.NXT is 15; the third window ends at 16, with one of five marked.
    """
    sender = fixed_window()
    marked_acks(sender, 1, 1)
    assert sender.own("congestion").alpha == 15 / 16
    marked_acks(sender, 2, 10, marked=(2, 3, 4, 5))
    assert sender.own("congestion").alpha == 15 / 16
    marked_acks(sender, 11, 11)
    assert sender.own("congestion").alpha == pytest.approx((15 / 16) ** 2 + 1 / 16 * 4 / 10, rel=1e-12)
    marked_acks(sender, 12, 15)
    marked_acks(sender, 16, 16, marked=(16,))
    assert sender.own("congestion").alpha == pytest.approx(15 / 16 * 0.90390625 + 1 / 16 * 1 / 5, rel=1e-12)


def test_alpha_counts_bytes():
    """One acknowledgement for three segments counts three times, marked or not."""
    sender = fixed_window()
    marked_acks(sender, 1, 1)
    for ack, flags in ((4, ECN_ECHO), (6, 0), (11, 0)):
        sender.ack(ack, flags=flags)
    assert sender.own("congestion").alpha == pytest.approx((15 / 16) ** 2 + 1 / 16 * 3 / 10, rel=1e-12)


def test_the_first_mark_of_a_window_cuts_by_half_of_alpha():
    """cwnd (1 - alpha / 2) with alpha = 15/16; ssthresh is the new window, so congestion avoidance follows."""
    sender = fixed_window()
    marked_acks(sender, 1, 2, marked=(2,))
    assert sender.sub.cwnd_bytes == sender.sub.ssthresh_bytes == int(10 * MSS * (1 - 15 / 32))


def test_a_window_that_comes_down_in_proportion_sends_for_every_second_acknowledgement(subtests):
    """RFC 6937: of 10 segments 17/32 stay, 5.3, so 17/32 n are sent for n delivered, the first at once.

    ns-3 counts two more, of 9 in the network: 17/32 10/9 (n + 2). From 5 segments in the network on, each
    acknowledgement lets one more leave. The window is ssthresh in the end.
    """
    cases = [
        ("at_once", [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]),
        ("proportional", [1, 0, 0, 1, 0, 1, 0, 0, 1, 1]),
        ("proportional_ns3", [1, 1, 0, 1, 1, 0, 1, 0, 1, 1]),
    ]
    for reduction, sent in cases:
        with subtests.test(reduction=reduction, sent=sent):
            sender = fixed_window(congestion={"reduction": reduction})
            sender.ack(1)
            assert [len(sender.ack(ack, flags=ECN_ECHO * (ack == 2))) for ack in range(2, 12)] == sent
            assert sender.sub.ssthresh_bytes == int(10 * MSS * 17 / 32)
            sender.ack(12)
            assert sender.sub.cwnd_bytes == sender.sub.ssthresh_bytes + MSS * MSS // sender.sub.ssthresh_bytes


def test_a_loss_ends_a_reduction_in_proportion(subtests):
    """Three duplicates: half of what is in flight, as without marks."""
    cases = ["proportional", "proportional_conservative", "proportional_ns3"]
    for reduction in cases:
        with subtests.test(reduction=reduction):
            sender = fixed_window(congestion={"reduction": reduction})
            sender.ack(1)
            sender.ack(2, flags=ECN_ECHO)
            in_flight = sender.sub.next_segment - sender.sub.una
            sender.duplicates(2, 3)
            assert sender.own("congestion").cut_flight_bytes == 0
            assert sender.sub.ssthresh_bytes == in_flight * MSS // 2


def test_once_per_window_and_no_growth_meanwhile():
    """Marks until 11, which was SND.NXT at the cut, change nothing; then the window grows, or a mark cuts it again."""
    sender, other = fixed_window(), fixed_window()
    for each, marked in ((sender, (3, 4, 9)), (other, (3, 4, 9, 11))):
        marked_acks(each, 1, 2, marked=(2,))
        cut = each.sub.cwnd_bytes
        marked_acks(each, 3, 11, marked=marked)
        assert each.sub.cwnd_bytes == cut
    sender.ack(12)
    assert sender.sub.cwnd_bytes == cut + MSS * MSS // cut
    other.ack(12, flags=ECN_ECHO)
    assert other.sub.cwnd_bytes == pytest.approx(cut * (1 - other.own("congestion").alpha / 2), abs=MSS * MSS // cut)


def test_the_window_keeps_one_segment():
    """A window of one stays one, whatever alpha says, and the next segment leaves."""
    sender = Sender("dctcp", initial_window_packets=1, max_window_bytes=MSS)
    assert [sender.ack(ack, flags=ECN_ECHO) for ack in (1, 2, 3)] == [[1], [2], [3]]
    assert sender.cwnd == 1


def test_alpha_decays_without_marks():
    """(1 - g)^n after n windows, here of 1, 10, 10 and 10 segments; the window stays at its limit."""
    sender = fixed_window()
    marked_acks(sender, 1, 31)
    assert sender.own("congestion").alpha == pytest.approx((15 / 16) ** 4, rel=1e-12)
    assert sender.cwnd == 10


def test_gain_and_first_alpha_are_parameters():
    sender = fixed_window(congestion={"ewma_gain": 0.5, "initial_alpha": 0.25})
    sender.ack(1)
    assert sender.own("congestion").alpha == 0.125
    sender.ack(2, flags=ECN_ECHO)
    assert sender.sub.cwnd_bytes == int(10 * MSS * (1 - 0.125 / 2))


def test_a_loss_halves_as_in_newreno():
    """Section 3.5: alpha has no part in it."""
    sender = Sender("dctcp")
    sender.duplicates(0, 3)
    assert (sender.ssthresh, sender.cwnd) == (5, 8)


def test_marks_in_recovery_count_but_do_not_cut_again():
    """Segments 1-10 are out, 1 is lost, 2-10 come marked. Each duplicate tells of one segment: 9 of 10 are marked.

    The loss has halved the window (5 + 3, one more for each duplicate); their marks belong to the same window.
    """
    sender = fixed_window()
    sender.ack(1)
    for _ in range(9):
        sender.ack(1, flags=ECN_ECHO)
    assert (sender.ssthresh, sender.cwnd) == (5, 8 + 6)
    sender.ack(11)
    assert sender.own("congestion").alpha == pytest.approx((15 / 16) ** 2 + 1 / 16 * 9 / 10, rel=1e-12)
    assert sender.ssthresh == 5


def test_each_byte_counts_once():
    """Of 10 segments 1 is late: two duplicates, marked, tell of 2 and 3. Acknowledgement 4 tells of 1 alone.

    Acknowledgements 5-11 tell of one segment each, and end the window: 2 of 10 are marked.
    """
    sender = fixed_window()
    sender.ack(1)
    for _ in range(2):
        sender.ack(1, flags=ECN_ECHO)
    marked_acks(sender, 4, 11)
    assert sender.own("congestion").alpha == pytest.approx((15 / 16) ** 2 + 1 / 16 * 2 / 10, rel=1e-12)


def test_duplicates_without_a_mark_count_as_bytes_that_came_unmarked():
    """As above, but of the two duplicates the second alone is marked: 1 of 10."""
    sender = fixed_window()
    sender.ack(1)
    sender.ack(1)
    sender.ack(1, flags=ECN_ECHO)
    marked_acks(sender, 4, 11)
    assert sender.own("congestion").alpha == pytest.approx((15 / 16) ** 2 + 1 / 16 * 1 / 10, rel=1e-12)


def test_a_mark_of_an_old_acknowledgement_cuts_and_counts_no_byte():
    """It reports nothing new: none of the ten segments of the second window is marked."""
    sender = fixed_window()
    sender.acks(1, 3)
    sender.ack(2, flags=ECN_ECHO)
    assert sender.cwnd == pytest.approx(10 * (1 - 15 / 32), abs=1 / MSS)
    sender.acks(4, 11)
    assert sender.own("congestion").alpha == pytest.approx((15 / 16) ** 2, rel=1e-12)


def test_a_mark_after_the_recovery_cuts():
    sender = fixed_window(full_ack_option=2)
    sender.ack(1)
    sender.duplicates(1, 9)
    sender.ack(11)
    assert sender.cwnd == 5
    sender.ack(12, flags=ECN_ECHO)
    assert sender.cwnd == pytest.approx(5 * (1 - sender.own("congestion").alpha / 2), abs=1 / 5)


def test_over_sack_marks_and_losses_follow_the_same_rules():
    """As above, with blocks: recovery at the third duplicate with cwnd = ssthresh = 5."""
    sender = Sender("dctcp_sack", max_window_bytes=10 * MSS)
    marked_acks(sender, 1, 1)
    for end in range(3, 12):
        sender.ack(1, blocks=[(2, end)], flags=ECN_ECHO)
    assert (sender.ssthresh, sender.cwnd, sender.sub.fast_retransmits) == (5, 5, 1)
    sender.ack(11)
    assert sender.own("congestion").alpha == pytest.approx((15 / 16) ** 2 + 1 / 16 * 9 / 10, rel=1e-12)
    assert sender.cwnd == 5


def test_acknowledgements_are_ecn_capable_when_asked(subtests):
    for ecn_acks, flags in [(False, 0), (True, ECN_CAPABLE)]:
        for name in ["dctcp", "dctcp_sack"]:
            with subtests.test(ecn_acks=ecn_acks, flags=flags, name=name):
                assert Receiver(name, ecn_acks=ecn_acks).take(0, flags=ECN_CAPABLE).flags == flags


def test_data_are_ecn_capable():
    assert {packet.flags & ECN_CAPABLE for packet in Sender("dctcp").packets} == {ECN_CAPABLE}


def test_a_mark_before_all_of_recover_is_acknowledged_is_not_answered():
    """RFC 3168, section 6.1.2: 1-10 are out, 10 is `recover`. A mark that comes with 10 is of the window halved."""
    windows = []
    for flags in (0, ECN_ECHO):
        sender = fixed_window()
        sender.ack(1)
        sender.duplicates(1, 9)
        sender.ack(10, flags=flags)
        assert (sender.sub.in_recovery, sender.sub.recover) == (1, 10)
        windows.append((sender.cwnd, sender.ssthresh))
    assert windows[0] == windows[1]


def test_duplicates_beyond_what_was_out_are_forgotten_with_it():
    """Twelve duplicates for the nine segments behind 1, as after needless retransmissions. 11 acknowledges all.

    All are marked, and 11 tells of nothing that they have not told: the fraction is 1. The next window, segment 11,
    counts again: alpha decays with it.
    """
    sender = fixed_window()
    sender.ack(1)
    for _ in range(12):
        sender.ack(1, flags=ECN_ECHO)
    sender.ack(11)
    assert sender.own("congestion").early_bytes == 0
    assert sender.own("congestion").alpha == pytest.approx((15 / 16) ** 2 + 1 / 16, rel=1e-12)
    alpha = sender.own("congestion").alpha
    sender.ack(12)
    assert sender.own("congestion").alpha == 15 / 16 * alpha
