"""RFC 8985 by hand, sender and receiver: which segment leaves at which microsecond. Windows in segments."""

import pytest
from support.scripted import MSS, US, Receiver, Sender, resent

from capsim import scheme
from capsim.engines.hosts import handlers
from capsim.records import CONGESTION_EXPERIENCED, ECN_ECHO, NONE, RETRANSMITTED, SYN
from capsim.roles.own import check_memory
from capsmodel.checks import ParameterError

RTO_US = 2000  # of `setup_of`


def acked(last, *, n_segments=1000, window=10, **options):
    """Return a sender whose first `window` segments, sent at 0, are acknowledged below `last` at 100 us."""
    sender = Sender("rack", n_segments=n_segments, initial_window_packets=window, **options)
    for ack in range(1, last + 1):
        sender.ack(ack, at_us=100)
    return sender


def test_a_probe_repairs_the_end_after_two_round_trips():
    """7.2, 7.3: at 100 + 2 * 100 us; the timeout is counted anew from then."""
    sender = acked(9, n_segments=10)
    assert sender.timer_us == 300
    assert sender.expire() == [9]
    assert sender.timer_us == 300 + RTO_US
    sender.ack(10, at_us=400, flags=RETRANSMITTED)
    assert (sender.sub.timeouts, sender.sub.fast_retransmits, sender.timer_us) == (0, 0, None)


def test_a_probe_of_a_lost_end_brings_word_of_all_of_it():
    """7.4.1: 6-9 are lost; the acknowledgement of the probe makes 6, 7 and 8 lost by time, at once."""
    sender = acked(6, n_segments=10)
    assert sender.expire() == [9]
    assert sender.ack(6, at_us=400, blocks=[(9, 10)], flags=RETRANSMITTED) == [6, 7]
    assert (sender.own("transport").missing_packets, sender.cwnd, sender.sub.timeouts) == (1, 2, 0)


def test_new_data_are_the_probe_where_there_are_any_and_one_probe_is_out_at_a_time():
    sender = acked(1, window=4)  # 4 and 5 have left; the window of five is full
    assert sender.sub.next_segment - sender.sub.una == 5
    assert (sender.timer_us, sender.expire()) == (300, [6])
    assert sender.timer_us == 300 + RTO_US
    sender.ack(2, at_us=350, rtt_us=250)
    assert sender.timer_us == 350 + RTO_US  # 7.4: TLP.end_seq is not reached
    sender.ack(7, at_us=400, rtt_us=100)
    assert sender.timer_us == 400 + 2 * sender.sub.srtt_ps / US
    assert sender.ssthresh > 1000  # no congestion


def test_no_probe_before_a_round_trip_or_without_tlp():
    assert Sender("rack").timer_us == RTO_US
    assert acked(1, tlp=False).timer_us == 100 + RTO_US
    assert Sender("rack", initial_rtt_s=100e-6).timer_us == 200


def test_a_probe_waits_for_the_acknowledgement_of_a_single_segment(subtests):
    """7.2: 2 SRTT, and TLP.max_ack_delay when one segment is in flight."""
    for ack_every, in_flight, pto_us in [(1, 1, 200), (2, 1, 1200), (2, 2, 200)]:
        with subtests.test(ack_every=ack_every, in_flight=in_flight, pto_us=pto_us):
            sender = acked(10 - in_flight, n_segments=10, ack_every=ack_every, ack_delay_s=1e-3)
            assert sender.timer_us == 100 + pto_us


def test_the_window_is_reduced_if_the_probe_has_repaired_a_loss(subtests):
    """7.4.2: an acknowledgement beyond the probe says so; a D-SACK of it, or a bare duplicate, that nothing was lost.

    The receiver has room for four segments, so that the probe is a retransmission. It is no recovery in doubt.
    """
    cases = [(None, True), ({"twice": 3}, False), ({}, False), ({"twice": 2}, True), ({"blocks": [(5, 6)]}, True)]
    for word, reduced in cases:
        with subtests.test(word=word, reduced=reduced):
            sender = Sender("rack", initial_window_packets=4, max_window_bytes=4 * MSS, initial_rtt_s=100e-6)
            assert sender.expire() == [3]
            assert [sender.ack(ack, at_us=300, rtt_us=300) for ack in (1, 2, 3, 4)] == [[4], [5], [6], [7]]
            if word is not None:
                sender.ack(4, at_us=310, rtt_us=110, flags=RETRANSMITTED, **word)
            sender.ack(5, at_us=400)
            assert (sender.ssthresh == 2) == reduced
            assert (sender.sub.in_recovery, sender.sub.in_doubt, sender.sub.fast_retransmits) == (0, 0, 0)
            sender.ack(6, at_us=400)
            assert sender.ssthresh == (2 if reduced else 2**40 / MSS)


def test_reordering_is_waited_for_a_quarter_of_the_shortest_round_trip():
    """6.2: 5 is overtaken, and then 6 is late: lost at 100 + 100 + 25 us, not before; the timer looks then."""
    sender = acked(5)
    sender.ack(5, at_us=100, blocks=[(6, 7)])
    assert sender.own("transport").reordering_seen == 0
    sender.ack(7, at_us=100)
    assert sender.own("transport").reordering_seen == 1
    assert sender.ack(7, at_us=100, blocks=[(8, 10)]) != [7]
    assert (resent(sender), sender.timer_us) == ([], 125)
    assert sender.expire()[0] == 7
    assert (sender.sub.fast_retransmits, sender.sub.in_recovery) == (1, 1)


def test_a_late_segment_that_was_taken_for_lost_gives_a_round_trip():
    """6.2, step 2: 5 and 6 wait to be sent again; of 0, which was, nothing is certain but a round trip of its copy."""
    sender = Sender("rack", n_segments=1000, initial_window_packets=10)
    assert sender.ack(0, at_us=100, blocks=[(7, 10)]) == [0, 1, 2, 3, 4]
    memory = sender.own("transport")
    assert (memory.missing_packets, memory.rtt_ps) == (2, 100 * US)
    sender.ack(0, at_us=150, rtt_us=150, blocks=[(5, 6), (7, 10)])
    assert (memory.missing_packets, memory.rtt_ps, memory.reordering_seen) == (1, 150 * US, 1)


def test_three_sacked_segments_end_the_wait_while_no_reordering_was_seen():
    sender = Sender("rack")
    assert sender.ack(0, at_us=100, blocks=[(1, 3)]) == [10, 11]
    assert sender.timer_us == 125
    assert sender.ack(0, at_us=110, rtt_us=110, blocks=[(1, 4)])[0] == 0
    assert (sender.cwnd, sender.ssthresh) == (5, 5)  # half of the window, not of the 12 in flight


def test_what_is_sacked_makes_room_before_a_recovery_unless_it_must_not():
    assert Sender("rack").ack(0, at_us=100, blocks=[(1, 3)]) == [10, 11]
    assert Sender("rack", limited_transmit=False).ack(0, at_us=100, blocks=[(1, 3)]) == []


def test_a_retransmission_that_is_lost_goes_again_after_a_round_trip():
    """Section 3.1, 9.3: at 200 us 10 has come, which left behind it at 100; the window is halved once more."""
    sender = Sender("rack")
    assert sender.ack(0, at_us=100, blocks=[(1, 8)]) == [0, 10, 11]
    assert sender.ack(0, at_us=150, rtt_us=150, blocks=[(1, 9)]) == [12]
    assert sender.cwnd == 5
    assert sender.ack(0, at_us=200, blocks=[(10, 11), (1, 9)]) == [0]
    assert (sender.cwnd, sender.sub.fast_retransmits) == (2.5, 1)
    assert sender.own("transport").missing_packets == 1  # 9


def in_vain(*, undo=True):
    """Return a sender that sends 0 again at 110 us, in a window of five, before the first copy of 0 has come."""
    sender = Sender("rack", undo=undo)
    sender.ack(0, at_us=110, rtt_us=110, blocks=[(1, 4)])
    assert (sender.cwnd, sender.ssthresh) == (5, 5)
    return sender


@pytest.mark.parametrize("undo", [True, False])
def test_a_window_reduced_in_vain_is_restored_when_the_duplicate_is_reported(undo):
    """RFC 3708: both copies of 0 have come, so it was late, not lost; before the report nothing says so."""
    sender = in_vain(undo=undo)
    sender.ack(4, at_us=120, rtt_us=120)
    assert (sender.cwnd, sender.sub.in_recovery) == (5, 1)
    sender.ack(4, at_us=210, flags=RETRANSMITTED, twice=0)
    assert (sender.cwnd, sender.ssthresh) == ((10, 2**40 / MSS) if undo else (5, 5))
    assert sender.sub.in_recovery == (0 if undo else 1)


def test_it_is_restored_after_the_recovery_too_and_once():
    sender = in_vain()
    sender.ack(sender.sub.high, at_us=120, rtt_us=120)
    assert (sender.cwnd, sender.sub.in_recovery) == (5, 0)
    high, flags = sender.sub.high, RETRANSMITTED
    before = high - sender.sub.una
    sender.ack(high - before, at_us=210, flags=flags, twice=0)
    assert sender.cwnd == 10
    sender.sub.cwnd_bytes = 3 * MSS
    sender.ack(high - before, at_us=220, flags=flags, twice=0)
    assert sender.cwnd == 3


def test_it_stays_reduced_where_something_else_than_a_guess_has_reduced_it(subtests):
    """Two were sent again and one came twice; the report is of a segment from before; or no guess by time was made."""
    cases = ["one of two", "an older segment", "a header", "a timeout", "lost again"]
    for case in cases:
        with subtests.test(case=case):
            sender = acked(5, undo=True)
            if case == "a header":
                sender.ack(5, at_us=110, rtt_us=110, trimmed=5)
            elif case == "a timeout":
                sender.expire()  # the probe
                sender.expire()
            else:
                sender.ack(5, at_us=210, rtt_us=110, blocks=[(7, 20) if case == "one of two" else (6, 13)])
            if case == "lost again":
                sender.ack(5, at_us=320, rtt_us=110, blocks=[(sender.sub.high - 1, sender.sub.high), (6, 13)])
            reduced = sender.cwnd
            assert reduced < 10
            assert 5 in resent(sender)
            sender.ack(5, at_us=330, flags=RETRANSMITTED, twice=4 if case == "an older segment" else 5)
            assert sender.cwnd == reduced


def test_duplicates_widen_the_window_once_a_round_up_to_the_round_trip():
    """6.2, step 4: a quarter more in each round that reports one, narrow again after 16 recoveries without."""
    sender = acked(5)
    memory = sender.own("transport")
    sender.ack(5, at_us=100, blocks=[(6, 7)])
    sender.ack(7, at_us=100)
    quarters = []
    for _ in range(6):
        for _ in range(2):
            sender.ack(sender.sub.una, at_us=100, blocks=[(sender.sub.high - 1, sender.sub.high)], twice=1)
        quarters.append(memory.window_ps / (25 * US))
        sender.ack(sender.sub.high, at_us=100)
    assert quarters == [2, 3, 4, 4, 4, 4]
    for recovery in range(16):
        assert memory.quarters == 7
        una = sender.sub.una
        sender.ack(una, at_us=1000 * (recovery + 1), blocks=[(una + 1, una + 2)])
        assert sender.expire()[0] == una
        sender.ack(sender.sub.high, at_us=1000 * (recovery + 1) + 100)
    assert memory.quarters == 1


def test_a_timeout_takes_the_first_segment_for_lost_and_those_whose_time_has_come():
    """6.3, and RFC 6298: 0 leaves alone, in a window of one segment."""
    sender = Sender("rack", tlp=False)
    assert sender.expire() == [0]
    assert (sender.cwnd, sender.ssthresh, sender.sub.timeouts) == (1, 5, 1)
    assert sender.ack(1, at_us=2100, flags=RETRANSMITTED) == [1, 2]


def test_the_receiver_reports_a_duplicate_first_and_drops_the_oldest_block_for_it():
    """RFC 2883, section 4; 40 bytes, 4 for the option and 8 for each block."""
    receiver = Receiver("rack")
    assert receiver.take(0).bytes == 40
    reply = receiver.take(0)
    assert (receiver.options(reply).duplicate, reply.bytes, reply.ack) == (1, 40 + 4 + 8, 1)
    sizes = [receiver.take(segment).bytes for segment in (2, 4, 6)]
    assert sizes == [52, 60, 68]
    reply = receiver.take(4)
    assert (receiver.options(reply).duplicate, reply.bytes) == (5, 68)
    assert receiver.blocks(reply) == [(4, 5), (6, 7)]
    assert receiver.options(receiver.take(8)).duplicate == 0


def late(**options):
    return Receiver("rack", ack_every=2, ack_delay_s=1e-3, **options)


def test_every_second_packet_in_order_is_acknowledged_and_all_others_at_once():
    """RFC 5681, section 4.2: 3 comes before 2, which fills the gap; 3 comes again; 4 waits, 5 ends that, 9 is last."""
    receiver = late(n_segments=10)
    answers = [receiver.take(segment) for segment in (0, 1, 3, 2, 3, 4, 5, 6, 7, 8, 9)]
    assert [answer and answer.ack for answer in answers] == [None, 2, 2, 4, 4, None, 6, None, 8, None, 10]
    receiver = late(n_segments=4)
    assert [getattr(receiver.take(segment), "ack", 0) for segment in (0, 1, 2, 3)] == [0, 2, 0, 4]
    assert getattr(late(n_segments=1).take(0), "ack", 0) == 1
    assert late().reply(SYN, flags=0).ack == 0


def test_an_acknowledgement_leaves_when_its_time_has_come_and_echoes_the_first_packet():
    receiver = late()
    assert receiver.reply(0, segment=0, bytes=1500, flags=RETRANSMITTED, sent_ps=5) is None
    assert receiver.sub.receive_wake_ps == 1000 * US
    handlers.wake(receiver.hosts, handlers.RECEIVE_WAKE, 0, 1000 * US)
    (reply,) = receiver.hosts.sent[-1:]
    assert (reply.ack, reply.sent_ps, reply.flags, reply.segment, reply.bytes) == (1, 5, RETRANSMITTED, 0, 40)
    assert receiver.sub.receive_wake_ps == NONE
    before = len(receiver.hosts.sent)
    handlers.wake(receiver.hosts, handlers.RECEIVE_WAKE, 0, 2000 * US)
    assert len(receiver.hosts.sent) == before
    receiver.reply(0, segment=1, bytes=1500, flags=0, sent_ps=7)
    assert receiver.reply(0, segment=2, bytes=1500, flags=RETRANSMITTED, sent_ps=9).sent_ps == 7


def test_a_change_of_marks_is_acknowledged_at_once_for_the_packets_before_it():
    """RFC 8257, 3.2. Where the packet itself asks for an acknowledgement, that follows in the same instant."""
    receiver = late()
    marks = [0, 1, 1, 1, 0, 0]
    answers = [receiver.take(at, flags=CONGESTION_EXPERIENCED * mark) for at, mark in enumerate(marks)]
    told = [answer and (answer.ack, answer.flags & ECN_ECHO > 0) for answer in answers]
    assert told == [None, (1, False), (3, True), None, (4, True), (6, False)]
    receiver.take(6)
    answer = receiver.take(8, flags=CONGESTION_EXPERIENCED)
    assert (answer.ack, answer.flags & ECN_ECHO, receiver.sub.receive_wake_ps) == (7, 0, 0)
    handlers.wake(receiver.hosts, handlers.RECEIVE_WAKE, 0, 0)
    assert (receiver.hosts.sent[-1].ack, receiver.hosts.sent[-1].flags) == (7, ECN_ECHO)


def test_memory_of_segments_has_no_first_values():
    """Places of a ring are used again and again, so a transport writes them itself."""
    with pytest.raises(ParameterError, match="a place of a ring begins as 0"):
        check_memory("mine", "transport", {"segment": (("sent_ps", "i8", -1),)})


def test_a_layer_with_a_timer_of_its_own_takes_no_late_acknowledgements():
    both = scheme("rack+presto.layer")
    with pytest.raises(ParameterError, match="rack puts acknowledgements off, but presto has the timer of the rec"):
        both.with_params(transport={"ack_every": 2})
