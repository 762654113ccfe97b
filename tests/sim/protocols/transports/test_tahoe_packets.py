"""Scripted losses under Tahoe, worked out by hand from ns-2's ``dupack_action`` and ``slowdown``."""

from dataclasses import replace

import pytest
from support.engine_setups import (
    LINK,
    MSS,
    flow_list,
    one_run,
    setup_of,
    subflow_with_losses,
)

from capsim import scheme
from capsim.protocols.schemes.caps_ns2 import LONG
from capsim.records import RETRANSMITTED

SCHEME = replace(scheme("ecmp"), name="tahoe", short=LONG, long=LONG)


def test_without_losses_it_is_newreno():
    plain = one_run(setup_of(LINK, flow_list([(0, 1, 200 * MSS, 0.0)]), "ecmp"))
    tahoe, _ = subflow_with_losses(200, SCHEME)
    assert (tahoe["received_ps"], tahoe["cwnd_bytes"]) == (plain.subs["received_ps"][0], plain.subs["cwnd_bytes"][0])


def test_third_duplicate_starts_again_with_one_segment():
    """Segment 5 is lost out of a first window of 10.

    ACKs 1-5 open a window of 15 and let 10-19 go, two duplicates 20 and 21 (limited transmit). The third: ssthresh 7.5
    segments, window 1, and 5 alone. The other duplicates do nothing. ACK 22 makes the window 2: 22 and 23 go, and each
    further ACK lets two more go, until the window is 8 segments.
    """
    sub, sent = subflow_with_losses(60, SCHEME, once_a=5)
    assert sent["segment"].tolist() == [*range(22), 5, *range(22, 60)]
    assert (sub["fast_retransmits"], sub["retransmissions"], sub["timeouts"]) == (1, 1, 0)
    assert sub["ssthresh_bytes"] == 15 * MSS // 2
    assert sub["dup_acks_received"] == 16
    after = sent["time_ps"][23:]
    assert (after[:2] == after[0]).all()
    assert after[2] > after[0]


def test_second_hole_is_met_by_going_back():
    """5 and 8 are lost: the ACK of 5 expects 8, and with a window of 2, 9 is sent too, which has arrived."""
    sub, sent = subflow_with_losses(60, SCHEME, once_a=5, once_b=8)
    again = sent[(sent["flags"] & RETRANSMITTED) != 0]
    assert again["segment"].tolist()[:3] == [5, 8, 9]
    assert (sub["fast_retransmits"], sub["timeouts"], sub["in_recovery"]) == (1, 0, 0)
    assert sub["duplicate_packets"] == len(again) - 2


def test_timer_restarts_at_the_third_duplicate():
    """The retransmission of 5 is lost too: the timer fires 2 ms after it was sent, not after the last new ACK."""
    sub, sent = subflow_with_losses(60, SCHEME, always=5, transport={"max_rto_s": 2e-3})
    again = sent["time_ps"][(sent["flags"] & RETRANSMITTED) != 0]
    assert again[1] - again[0] == 2 * 10**9
    assert sub["timeouts"] > 1


def test_timeout_halves_the_window_each_time():
    """ns-2 has no memory of an earlier timeout: from a window of 10, ssthresh is 5, then 2 segments."""
    for segments_lost, ssthresh in ((1, 5), (2, 2)):
        end = {"once_a": 0} if segments_lost == 1 else {"always": 0}
        sub, _ = subflow_with_losses(1, SCHEME, **end, transport={"max_rto_s": 2e-3})
        assert sub["ssthresh_bytes"] == ssthresh * MSS


@pytest.mark.parametrize("handshake", [False, True])
def test_a_lost_first_packet(handshake):
    sub, sent = subflow_with_losses(3, SCHEME, once_a=0, transport={"handshake": handshake})
    assert sent["segment"].tolist() == [0, 1, 2, 0]
    assert (sub["timeouts"], sub["cwnd_bytes"]) == (1, 2 * MSS)


def test_duplicates_of_what_was_in_flight_start_nothing():
    """5, 7 and 9 are lost, and 11 always: going back makes three duplicates for 11 too, yet only the timer acts."""
    sub, _ = subflow_with_losses(60, SCHEME, once_a=5, once_b=7, once_c=9, always=11, transport={"max_rto_s": 2e-3})
    assert sub["una"] == 11
    assert sub["fast_retransmits"] == 1
    assert sub["timeouts"] > 1
