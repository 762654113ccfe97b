"""The documented habits of the ns-3 code of MMPTCP's authors, each by hand and each switched off."""

from dataclasses import replace

import pytest
from support.engine_setups import BUSY, assert_same_trace, setup_of
from support.scripted import US, Sender
from support.shared_sender import Shared

from capsim import scheme
from capsim.engines import run
from capsim.protocols.sharing.scattered import SCATTERED
from capsim.protocols.transports.newreno_ns3 import NEWRENO_NS3
from capsim.records import DATA, ESTABLISHED, NONE, SYN, SYN_SENT

MSS = 1400
TIMERS = {"min_rto_s": 0.2, "initial_rto_s": 1.5}  # set-ups of the tests have others


def opened(*, subflows=3, established=(0, 1, 2), **options):
    """Return a flow of mptcp_ns3 with some of its subflows established; the others have sent their SYN."""
    transport = TIMERS | options.pop("transport", {})
    sharing = {"subflows": subflows, "join_gap_s": 0.0} | options.pop("sharing", {})
    shared = Shared("mptcp_ns3", transport=transport, sharing=sharing, **options)
    shared.syn_ack(0, at_us=100)
    shared.wake()
    for sub in established:
        shared.syn_ack(sub, at_us=200)
    return shared


# -- timers and sizes


def test_the_first_rto_is_one_and_a_half_seconds_and_doubles():
    """The round trip of the handshake is no sample; 200 ms are the least after the first sample of data."""
    shared = opened(subflows=1, established=())
    assert (shared.subs[0].srtt_ps, shared.subs[0].rto_ps) == (0, 1_500_000 * US)
    shared.expire(0)
    assert shared.subs[0].rto_ps == 3_000_000 * US
    shared = opened(subflows=1, established=())
    shared.ack(0, 1)
    assert shared.subs[0].rto_ps == 200_000 * US


def test_the_handshake_may_be_a_sample():
    shared = opened(subflows=1, established=(), transport={"sample_handshake": True})
    assert shared.subs[0].rto_ps == 200_000 * US


def test_the_first_syn_waits_three_seconds_and_doubles():
    shared = Shared("mptcp_ns3", transport=TIMERS)
    assert shared.subs[0].timer_ps == 3_000_000 * US
    shared.expire(0)
    assert shared.subs[0].timer_ps == 9_000_000 * US
    assert [packet.kind for packet in shared.hosts.sent] == [SYN, SYN]


@pytest.mark.parametrize(("repeat", "timer_us"), [(False, None), (True, 3_000_100)])
def test_the_syn_of_a_further_subflow_is_sent_once(repeat, timer_us):
    shared = opened(established=(), transport={"repeat_join_syns": repeat})
    for sub in shared.subs[1:]:
        assert sub.state == SYN_SENT
        assert sub.timer_ps == (NONE if timer_us is None else timer_us * US)


def test_a_window_of_46_segments_for_each_subflow():
    """65,535 bytes are 46 segments of 1400 bytes, 1462 on the wire; slow start ends there too."""
    shared = opened(subflows=2, established=(1,), n_segments=10_000)
    for ack in range(1, 200):
        shared.ack(0, ack)
    assert shared.subs[0].next_segment - shared.subs[0].una == 46
    assert shared.hosts.sent[-1].bytes == 1462
    assert shared.subs[1].cwnd_bytes == MSS


# -- loss recovery


def lossy(*, acks=0, sharing=None, **transport):
    """Return a flow of one subflow with ten segments outstanding, and so many acknowledged."""
    options = {"subflows": 1} | (sharing or {})
    shared = opened(established=(), sharing=options, transport={"initial_window_packets": 10} | transport)
    for ack in range(1, acks + 1):
        shared.ack(0, ack)
    shared.sent()
    return shared


def duplicates(shared, count, ack=0):
    """Return the data segments that are sent for so many duplicates."""
    return [segment for _ in range(count) for _, segment in shared.ack(0, ack)]


@pytest.mark.parametrize(("careful", "sent"), [(False, [0]), (True, [])])
def test_three_duplicates_after_a_timeout_repeat_the_segment(careful, sent):
    """RFC 6582's careful variant takes them for answers to segments that were not lost."""
    shared = lossy(careful=careful, forget_at_timeout=True)
    assert shared.expire(0) == [(0, 0)]
    assert duplicates(shared, 3)[:1] == sent


@pytest.mark.parametrize(("forget", "count", "recover"), [(False, 2, -2), (True, 0, 9)])
def test_a_timeout_leaves_the_count_of_duplicates_and_the_recovery_point(forget, count, recover):
    shared = lossy(forget_at_timeout=forget)
    duplicates(shared, 2)
    shared.expire(0)
    assert (shared.subs[0].dup_acks, shared.subs[0].recover) == (count, recover)
    assert duplicates(shared, 1)[:1] == ([] if forget else [0])


def test_the_count_of_duplicates_begins_anew_at_a_partial_acknowledgement():
    shared = lossy()
    duplicates(shared, 6)
    shared.ack(0, 1)
    assert (shared.subs[0].in_recovery, shared.subs[0].dup_acks) == (1, 0)


@pytest.mark.parametrize(("impatient", "second_us"), [(False, 700), (True, 600)])
def test_each_partial_acknowledgement_starts_the_timer_again(impatient, second_us):
    shared = lossy(impatient=impatient, sample_handshake=True)
    duplicates(shared, 3)
    shared.ack(0, 1, at_us=600)
    shared.ack(0, 2, at_us=700)
    assert shared.subs[0].timer_ps == second_us * US + shared.subs[0].rto_ps


@pytest.mark.parametrize(("highest", "segments"), [(True, 5), (False, 2)])
def test_flight_size_goes_up_to_the_highest_segment_sent(highest, segments):
    """One segment of ten has been sent again since the timeout."""
    shared = lossy(flight_to_highest=highest, forget_at_timeout=True)
    shared.expire(0)
    duplicates(shared, 3)
    assert shared.subs[0].ssthresh_bytes == segments * MSS


@pytest.mark.parametrize(("by_three", "segments"), [(True, 3), (False, 7)])
def test_a_fast_retransmit_inflates_by_three_segments(by_three, segments):
    shared = Shared(
        "mmptcp_ns3",
        sharing={"fixed_threshold": 7},
        transport=TIMERS | {"initial_window_packets": 10, "inflate_by_three": by_three},
    )
    shared.syn_ack(0, at_us=100)
    duplicates(shared, 7)
    assert shared.subs[0].inflation_bytes == segments * MSS


@pytest.mark.parametrize(("wrap", "window"), [(True, 2**32 - MSS), (False, MSS)])
def test_a_window_below_zero_is_close_to_its_largest_value(wrap, window):
    """Five segments and three are left of ten; ten are acknowledged, and one is added: one below zero."""
    shared = lossy(wrap_window=wrap)
    duplicates(shared, 3)
    sub = shared.subs[0]
    sub.recover = 20
    sub.next_segment = sub.high = sub.end = 21
    shared.flow.granted = 21
    shared.ack(0, 10)
    assert sub.cwnd_bytes + sub.inflation_bytes == window


@pytest.mark.parametrize("grow", [True, False])
def test_an_acknowledgement_that_ends_recovery_opens_the_window_too(grow):
    """To ssthresh, 5 segments, since ten were outstanding; then by one segment in congestion avoidance's fifth part."""
    shared = lossy(grow_at_full_ack=grow)
    duplicates(shared, 3)
    shared.ack(0, shared.subs[0].high)
    assert shared.subs[0].cwnd_bytes == (5 * MSS + MSS // 5 if grow else MSS * 2)


# -- the scheduler


def test_the_turn_waits_for_a_subflow_whose_syn_is_not_answered():
    """Nobody gets anything, though two have windows with room; round robin passes it over."""
    shared = opened(established=(2,))
    assert shared.sent() == []
    assert shared.ack(0, 1) == []
    assert shared.ack(2, 0) == []
    assert shared.syn_ack(1, at_us=300)[0] == (1, 1)
    passing = opened(established=(2,), sharing={"scheduler": "round_robin"})
    assert passing.ack(0, 1) != []


def test_the_first_subflow_of_mmptcp_keeps_sending_until_one_of_the_others_is_open():
    """Two segments for each acknowledgement of slow start, though seven SYNs are out; then the second has the turn."""
    shared = Shared("mmptcp_ns3", transport=TIMERS, sharing={"switch_bytes": 5 * MSS, "join_gap_s": 0.0})
    shared.syn_ack(0, at_us=100)
    for ack in range(1, 5):
        shared.ack(0, ack)
    shared.wake()
    assert [sub.state for sub in shared.subs] == [ESTABLISHED] + [SYN_SENT] * 7
    shared.sent()
    assert shared.ack(0, 5) == [(0, 9), (0, 10)]
    assert shared.syn_ack(1, at_us=300) == [(1, 11)]
    assert shared.ack(0, 6) == []


def test_the_turn_stays_where_it_waits():
    """It has passed the first subflow while that had no room, and does not come back before the second is open."""
    shared = opened(established=())
    assert shared.ack(0, 1) == []
    assert shared.flow.granted == 1


# -- no acknowledgement of the stream


def test_acknowledgements_say_nothing_of_the_stream():
    shared = opened()
    assert shared.data(0, 0, 0).data_ack == 0
    assert shared.flow.data_next == 1
    assert opened(transport={"data_acks": True}).data(0, 0, 0).data_ack == 1


def test_a_flow_is_over_when_all_subflows_have_theirs_acknowledged():
    shared = opened(n_bytes=3 * MSS)
    assert shared.flow.granted == 3
    shared.ack(2, 1)
    shared.ack(1, 1)
    assert (shared.flow.data_acked, shared.flow.acked_ps) == (0, NONE)
    shared.ack(0, 1, at_us=700)
    assert (shared.flow.data_acked, shared.flow.acked_ps) == (3, 700 * US)


# -- the receiver that refuses what it has buffered


def test_a_segment_behind_a_repaired_hole_is_refused_while_the_stream_stands_still():
    """Data 0 is lost on the first subflow; on the second the first of three segments came last."""
    shared = opened(transport={"initial_window_packets": 3})
    assert [shared.data(1, segment, data).ack for segment, data in ((1, 4), (2, 7))] == [0, 0]
    assert shared.data(1, 0, 1, again=True).ack == 1  # in order on the subflow, not in the stream
    assert [shared.data(1, 1, 4, again=True).ack for _ in range(3)] == [1, 1, 1]
    assert shared.data(0, 0, 0, again=True).ack == 1  # the stream moves on, to data 2
    assert shared.flow.data_next == 2
    assert shared.data(1, 1, 4, again=True).ack == 3  # nobody told the sender before


def test_what_is_in_order_in_the_stream_passes_on_what_is_buffered():
    shared = opened(transport={"initial_window_packets": 3})
    shared.data(1, 1, 2)
    shared.data(1, 2, 3)
    assert shared.data(0, 0, 0).ack == 1
    assert shared.data(1, 0, 1, again=True).ack == 3
    assert shared.flow.data_next == 4


def test_a_receiver_need_not_refuse():
    shared = opened(transport={"initial_window_packets": 3, "refuse_buffered": False})
    shared.data(1, 1, 4)
    assert shared.data(1, 0, 1, again=True).ack == 2


# -- limiting cases


@pytest.mark.parametrize("fabric", BUSY)
def test_with_one_subflow_it_is_its_own_tcp_packet_for_packet(fabric):
    """So the refusing receiver, the waiting turn and missing acknowledgements of the stream change nothing there."""
    kind, flows = BUSY[fabric]
    alone = run(setup_of(kind, flows, "mptcp_ns3", sharing={"subflows": 1}))
    assert_same_trace(alone, run(setup_of(kind, flows, "tcp_ns3")))


def test_short_flows_of_ps_tcp_keep_the_threshold_of_scattered_ones():
    mixed = scheme("ps_tcp_ns3")
    assert (mixed.short, mixed.long) == (replace(scheme("tcp_ns3").short, sharing=SCATTERED), scheme("ps_ns3").long)


def test_with_all_habits_off_it_is_mptcp_packet_for_packet():
    """On the leaf-spine fabric, all with the same handshake and sizes."""
    kind, flows = BUSY["leaf-spine"]
    off = {"sample_handshake": True, "repeat_join_syns": True, "refuse_buffered": False, "data_acks": True}
    off |= {"careful": True, "impatient": True, "forget_at_timeout": True, "flight_to_highest": False}
    off |= {"inflate_by_three": False, "wrap_window": False, "grow_at_full_ack": False}
    transport = off | {"syn_rto_s": 2e-3, "max_rto_s": 60.0}
    sharing = {"join_after_first": True, "scheduler": "round_robin", "join_gap_s": 0.0}
    found = run(setup_of(kind, flows, "mptcp_ns3", transport=transport, sharing=sharing))
    plain = {
        name: getattr(NEWRENO_NS3.params, name)
        for name in ("mss_bytes", "header_bytes", "ack_bytes", "syn_bytes", "max_window_bytes", "handshake")
    }
    plain |= {"initial_window_packets": 1, "initial_ssthresh_bytes": 65_535, "limited_transmit": False}
    plain |= {"keep_backoff": True}
    assert_same_trace(found, run(setup_of(kind, flows, "mptcp", transport=plain, sharing=sharing)))


def test_the_scheme_has_the_sizes_of_the_code():
    sender = Sender(scheme("mptcp_ns3").with_params(sharing={"subflows": 1}))
    assert (sender.packets[0].kind, sender.packets[0].bytes) == (SYN, 50)
    sender.syn_ack(at_us=100, rtt_us=100)
    assert sender.sub.state == ESTABLISHED
    assert [packet.bytes for packet in sender.packets if packet.kind == DATA] == [1462]


def test_a_subflow_that_stands_still_does_not_stop_the_others():
    """They go on beyond what all windows hold, 2 x 46 segments, up to `stream_segments`."""
    for limit, granted in ((2**16, 199 + 46 + 1), (128, 1 + 128)):
        shared = opened(subflows=2, established=(1,), n_segments=10_000, sharing={"stream_segments": limit})
        for ack in range(1, 200):
            shared.ack(0, ack)
        assert shared.flow.granted == granted
