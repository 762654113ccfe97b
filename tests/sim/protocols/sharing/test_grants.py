"""Which subflow gets which data segment, and when: schedulers, joins, the receive buffer, data granted once more."""

from fractions import Fraction
from math import comb

import pytest
from support.engine_setups import BUSY, assert_same_trace, memory_of, params_of, setup_of
from support.scripted import US
from support.shared_sender import Shared

from capsim.engines import run
from capsim.protocols.sharing.grants import Scheduler
from capsim.protocols.sharing.joins import SLOTS, next_joins
from capsim.protocols.sharing.mptcp import MPTCP
from capsim.records import NONE

TWO = {"initial_window_packets": 2}


# -- joins


def test_further_subflows_wait_for_the_first():
    """It is open at once without a handshake; the others are opened by an event of their own."""
    shared = Shared("mptcp", transport=TWO, sharing={"subflows": 3, "join_after_first": True})
    assert shared.sent() == [(0, 0), (0, 1)]
    assert shared.wake() == 0
    assert shared.sent() == [(1, 2), (1, 3), (2, 4), (2, 5)]
    assert shared.flow.wake_ps == NONE


def test_with_a_handshake_they_wait_for_the_first_syn_ack():
    shared = Shared("mptcp", transport=TWO | {"handshake": True}, sharing={"subflows": 3, "join_after_first": True})
    assert (len(shared.subs), shared.flow.wake_ps) == (1, NONE)
    assert shared.syn_ack(0, at_us=100) == [(0, 0), (0, 1)]
    assert shared.wake() == 100
    assert [len(shared.subs), shared.sent()] == [3, []]
    assert shared.syn_ack(2, at_us=200) == [(2, 2), (2, 3)]


def test_no_more_subflows_than_data_segments():
    shared = Shared("mptcp", n_segments=3, sharing={"join_after_first": True})
    shared.wake()
    assert len(shared.subs) == 3


def test_gaps_are_distinct_steps_of_a_fiftieth():
    shared = Shared("mptcp", sharing={"subflows": 8, "join_after_first": True, "join_gap_s": 50e-6})
    times = [shared.wake() for _ in range(7)]
    assert shared.flow.wake_ps == NONE
    assert all(time in range(50) for time in times)
    assert times == sorted(set(times))


def test_every_set_of_slots_is_equally_likely(subtests):
    """The next of `left` subflows has one of the free slots up to `slot` with the share of the sets that say so."""
    for slot in [0, 1, 20]:
        for left in [1, 2, 7]:
            with subtests.test(slot=slot, left=left):
                later = float(Fraction(comb(SLOTS - 1 - slot, left), comb(SLOTS, left)))
                assert joins_at(left, later + 1e-9)[0] <= slot < joins_at(left, later - 1e-9)[0]


def joins_at(left, u0):
    """Return the slot of the next subflow of `left`, and how many are left then."""
    memory = memory_of(MPTCP, "flow", joins_left=left)
    flow = type("Flow", (), {"wake_ps": NONE})()
    assert next_joins(params_of(MPTCP, join_gap_s=50e-6), memory, flow, 10 * US, u0) == 1
    return flow.wake_ps // US - 10, memory.joins_left


def test_the_last_slots_are_reached():
    assert joins_at(7, 0.0) == (SLOTS - 7, 6)
    assert joins_at(1, 0.0) == (SLOTS - 1, 0)


# -- schedulers


def blocked_by_the_buffer(scheduler, name="mptcp"):
    """Return a flow whose first two subflows have filled the receiver's four places; the third would send too."""
    sharing = {"subflows": 3, "buffer_segments": 4, "scheduler": scheduler}
    shared = Shared(name, transport=TWO, sharing=sharing)
    assert shared.sent() == [(0, 0), (0, 1), (1, 2), (1, 3)]
    return shared


def test_a_scheduler_chooses_among_those_that_would_send(subtests):
    """One place becomes free by an acknowledgement on the first subflow, whose round trip is 100 us."""
    cases = [
        (Scheduler.ROUND_ROBIN, 300, 2),
        (Scheduler.IN_ORDER, 300, 0),
        (Scheduler.LOWEST_RTT, 300, 0),
        (Scheduler.LOWEST_RTT, 50, 2),
        (Scheduler.LOWEST_RTT, 0, 2),  # not measured
    ]
    for name in ["mptcp", "ietf_mptcp"]:
        for scheduler, srtt_us, chosen in cases:
            with subtests.test(name=name, scheduler=scheduler, srtt_us=srtt_us, chosen=chosen):
                shared = blocked_by_the_buffer(scheduler, name)
                shared.subs[2].srtt_ps = srtt_us * US
                assert shared.ack(0, 1, data_ack=1, window=4) == [(chosen, 4)]


def test_the_turn_goes_round():
    """Two places: the third subflow's turn, then the first's."""
    shared = blocked_by_the_buffer(Scheduler.ROUND_ROBIN)
    assert shared.ack(0, 2, data_ack=2, window=4) == [(2, 4), (0, 5)]


# -- the receive buffer


def test_a_full_buffer_blocks_and_the_time_is_counted():
    """From the start to the acknowledgement that makes room for all that would be sent."""
    shared = blocked_by_the_buffer(Scheduler.ROUND_ROBIN)
    shared.ack(0, 1, data_ack=0, window=4, at_us=100)
    assert (shared.flow.blocked_ps, shared.flow.blocked_since_ps) == (0, 0)
    shared.ack(1, 2, data_ack=4, window=8, at_us=250)
    assert (shared.flow.blocked_ps, shared.flow.blocked_since_ps) == (250 * US, NONE)


def test_the_receiver_refuses_what_lies_beyond_its_buffer():
    shared = blocked_by_the_buffer(Scheduler.ROUND_ROBIN)
    assert shared.data(1, 0, 2).data_ack == 0
    assert shared.data(2, 0, 4) is None
    assert (shared.flow.refused, shared.flow.buffered) == (1, 1)
    for segment in (0, 1):
        reply = shared.data(0, segment, segment)
    assert (reply.data_ack, reply.ack, reply.window) == (3, 2, 4)


# -- reinjection after a timeout


def two_subflows(name="ietf_mptcp", **sharing):
    """Return a flow with two subflows of two segments; the second has had one acknowledged."""
    shared = Shared(name, n_segments=100, transport=TWO, sharing={"subflows": 2} | sharing)
    assert shared.sent() == [(0, 0), (0, 1), (1, 2), (1, 3)]
    assert shared.ack(1, 1) == [(1, 4), (1, 5)]
    return shared


def test_what_a_subflow_has_not_delivered_goes_to_another_one_first():
    """The subflow that timed out repairs its own loss as well."""
    shared = two_subflows()
    assert shared.expire(0) == [(0, 0)]
    assert shared.ack(1, 2) == [(1, 0), (1, 1)]
    assert shared.flow.reinjected == 2
    assert shared.ack(1, 3) == [(1, 6), (1, 7)]


def test_without_reinjection_new_data_go_on():
    for shared in (two_subflows("mptcp"), two_subflows(reinject=False)):
        assert shared.expire(0) == [(0, 0)]
        assert shared.ack(1, 2) == [(1, 6), (1, 7)]
        assert shared.flow.reinjected == 0


def test_only_what_the_stream_lacks_is_granted_again():
    """Data segment 0 is acknowledged in the stream, though its acknowledgement on the subflow was lost."""
    shared = two_subflows()
    assert shared.ack(1, 2, data_ack=1) == [(1, 6), (1, 7)]
    shared.expire(0)
    assert shared.ack(1, 3, data_ack=1) == [(1, 1), (1, 8)]


def test_a_data_segment_goes_to_each_subflow_once():
    shared = two_subflows()
    shared.expire(0)
    assert shared.ack(1, 2) == [(1, 0), (1, 1)]
    shared.expire(0)
    assert shared.ack(1, 3) == [(1, 6), (1, 7)]
    shared.expire(1)
    assert shared.flow.reinjected == 2
    assert shared.ack(0, 1) == [(0, 1), (0, 5)]  # of 5, 0, 1, 6 and 7 on the second subflow, not 0 and 1


def test_the_last_data_segment_keeps_its_size_on_another_subflow():
    shared = Shared("ietf_mptcp", n_bytes=3 * 1460 + 100, transport=TWO, sharing={"subflows": 2})
    assert shared.sent() == [(0, 0), (0, 1), (1, 2), (1, 3)]
    shared.expire(1)
    assert shared.ack(0, 2, data_ack=2) == [(0, 2), (0, 3)]
    assert [packet.bytes for packet in shared.hosts.sent[-2:]] == [1500, 140]


def test_who_was_offered_the_short_last_segment_in_vain_carries_a_whole_one_in_its_place():
    """The first subflow would send data segment 4, of 100 bytes, as its third, but the nearer one gets it.

    That one times out: 3 goes out whole as the third of the first subflow, and 4 with its 100 bytes as the fourth.
    """
    sharing = {"subflows": 2, "buffer_segments": 4}
    shared = Shared("ietf_mptcp", n_bytes=4 * 1460 + 100, transport=TWO, sharing=sharing)
    assert shared.sent() == [(0, 0), (0, 1), (1, 2), (1, 3)]
    assert shared.ack(0, 2, window=4, rtt_us=100) == []
    assert shared.ack(1, 1, data_ack=1, window=5, rtt_us=50) == [(1, 4)]
    assert shared.expire(1) == [(1, 3), (0, 3), (0, 4)]
    assert [packet.bytes for packet in shared.hosts.sent[-3:]] == [1500, 1500, 140]


def test_the_receiver_drops_the_second_copy_of_data():
    shared = two_subflows()
    assert shared.data(0, 0, 0).data_ack == 1
    reply = shared.data(1, 0, 0)
    assert (reply.data_ack, reply.ack, shared.flow.data_duplicates) == (1, 1, 1)


# -- opportunistic retransmission and penalisation


def held_up(**sharing):
    """Return a flow with a full buffer of eight: the first subflow holds it up, all on the second is acknowledged."""
    shared = Shared(
        "ietf_mptcp",
        transport={"initial_window_packets": 4},
        sharing={"subflows": 2, "buffer_segments": 8} | sharing,
    )
    shared.subs[0].srtt_ps = 300 * US
    shared.sent()
    return shared, shared.ack(1, 4, at_us=1000)


def test_what_a_full_buffer_waits_for_goes_to_a_subflow_that_would_send():
    assert held_up()[1] == []
    shared, sent = held_up(opportunistic=True)
    assert sent == [(1, 0)]
    assert shared.subs[0].cwnd_bytes == 4 * 1460
    assert shared.ack(1, 5, data_ack=1, window=8) == [(1, 8), (1, 1)]


def test_the_subflow_that_holds_it_up_is_penalised_once_in_its_round_trip():
    shared, _ = held_up(opportunistic=True, penalise=True)
    assert (shared.subs[0].cwnd_bytes, shared.subs[0].ssthresh_bytes) == (2 * 1460, 2 * 1460)
    assert shared.subs[1].cwnd_bytes > 4 * 1460
    shared.flow.peer_window = 9  # no room any more once 8 is sent
    shared.ack(1, 5, data_ack=1, at_us=1299)
    assert (shared.flow.reinjected, shared.subs[0].cwnd_bytes) == (2, 2 * 1460)
    shared.ack(1, 6, data_ack=2, at_us=1300)
    assert (shared.flow.reinjected, shared.subs[0].cwnd_bytes) == (3, 1460)


# -- limiting cases


@pytest.mark.parametrize("fabric", BUSY)
def test_without_its_options_it_is_mptcp_packet_for_packet(fabric):
    kind, flows = BUSY[fabric]
    plain = {"reinject": False, "scheduler": "round_robin"}
    assert_same_trace(run(setup_of(kind, flows, "ietf_mptcp", sharing=plain)), run(setup_of(kind, flows, "mptcp")))
