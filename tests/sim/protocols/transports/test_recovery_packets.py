"""Scripted losses: what the sender sends, packet by packet, worked out by hand from the RFCs."""

from dataclasses import replace
from typing import Any

import pytest
from support.engine_setups import (
    MSS,
    flow_list,
    one_run,
    setup_of,
    subflow_with_losses,
)

from capsim import Balancer, LinkChange, ParallelPaths, scheme
from capsim.records import RETRANSMITTED

RTT_US = 6 * 50 + 3 * 12 + 3 * 0.32  # six links, a data packet forth, an acknowledgement back


def test_slow_start_sends_two_for_each_acknowledgement():
    sub, sent = subflow_with_losses(31, transport={"initial_window_packets": 1})
    assert sent["segment"].tolist() == list(range(31))
    gaps = [round((sent["time_ps"][i] - sent["time_ps"][0]) / (RTT_US * 1e6), 1) for i in (1, 3, 7, 15)]
    assert gaps == pytest.approx([1, 2, 3, 4], abs=0.11)  # rounds of 1, 2, 4, 8, 16
    assert sub["cwnd_bytes"] == 32 * MSS


def test_congestion_avoidance_adds_a_segment_per_round():
    sub, sent = subflow_with_losses(100, transport={"initial_window_packets": 10, "initial_ssthresh_bytes": 10 * MSS})
    # Eq. 3 of RFC 5681, in whole bytes, once for each of the 100 acknowledgements.
    cwnd = 10 * MSS
    for _ in range(100):
        cwnd += max(1, MSS * MSS // cwnd)
    assert sub["cwnd_bytes"] == cwnd
    assert len(sent) == 100


def test_fast_retransmit_and_inflation():
    """Segment 5 is lost out of a first window of 10.

    Acknowledgements 1-5 let 10-19 go. Duplicates from 6, 7: limited transmit of 20, 21. From 8: segment 5 again,
    ssthresh = 15 / 2 segments (FlightSize 17 without the 2 of limited transmit), window 10.5 segments. The next 13
    duplicates inflate it: with 17 segments in flight, the 8th to 13th let 22-27 go. The acknowledgement of 22 ends
    the recovery with min(ssthresh, FlightSize + 1 segment) = 7 segments: 28 goes.
    """
    sub, sent = subflow_with_losses(40, once_a=5)
    assert sent["segment"].tolist()[:31] == [*range(22), 5, *range(22, 28), 28, 29]
    assert sub["fast_retransmits"] == sub["retransmissions"] == 1
    assert sub["timeouts"] == sub["duplicate_packets"] == 0
    assert sub["ssthresh_bytes"] == 15 * MSS // 2
    assert sub["dup_acks_received"] == 16


def test_partial_acknowledgement_repairs_one_hole_per_round():
    """NewReno: three losses in a window, one fast retransmit, two more repairs one round trip apart each."""
    sub, sent = subflow_with_losses(60, once_a=5, once_b=8, once_c=12)
    again = sent[(sent["flags"] & RETRANSMITTED) != 0]
    assert again["segment"].tolist() == [5, 8, 12]
    rounds_us = [(later - first) / 1e6 for first, later in zip(again["time_ps"], again["time_ps"][1:], strict=False)]
    for round_us in rounds_us:
        assert RTT_US <= round_us < 1.6 * RTT_US
    assert (sub["fast_retransmits"], sub["timeouts"], sub["retransmissions"]) == (1, 0, 3)


def test_sack_repairs_three_holes_in_one_round():
    sub, sent = subflow_with_losses(60, "sack", once_a=5, once_b=8, once_c=12)
    again = sent[(sent["flags"] & RETRANSMITTED) != 0]
    assert again["segment"].tolist() == [5, 8, 12]
    assert (again["time_ps"][-1] - again["time_ps"][0]) / 1e6 < RTT_US
    assert (sub["fast_retransmits"], sub["timeouts"], sub["retransmissions"]) == (1, 0, 3)
    assert sub["duplicate_packets"] == 0


def test_timeouts_double_up_to_the_maximum():
    """RFC 6298, 5.5: a lone segment that never arrives goes out at 0, 2, 6, 14 ms, then every 10 ms."""
    _, sent = subflow_with_losses(1, always=0, transport={"max_rto_s": 10e-3})
    assert (sent["time_ps"][:6] / 10**9).tolist() == [0, 2, 6, 14, 24, 34]


@pytest.mark.parametrize(("keep_backoff", "rto_ms"), [(True, 4), (False, 2)])
def test_karn_no_sample_from_a_retransmission(keep_backoff, rto_ms):
    sub, sent = subflow_with_losses(1, once_a=0, transport={"keep_backoff": keep_backoff})
    assert sent["time_ps"].tolist() == [0, 2 * 10**9]
    assert sub["srtt_ps"] == 0
    assert sub["rto_ps"] == rto_ms * 10**9
    assert sub["timeouts"] == 1


def test_loss_of_the_last_segment_costs_a_timeout():
    whole, _ = subflow_with_losses(10)
    sub, sent = subflow_with_losses(10, once_a=9)
    last_ack_ps = whole["closed_ps"] - 12_000_000  # of segment 8: one packet time before the tenth
    assert sent["segment"].tolist() == [*range(10), 9]
    assert sent["time_ps"][-1] == last_ack_ps + 2 * 10**9
    assert sub["timeouts"] == 1


def test_timeout_goes_back_and_skips_what_has_arrived():
    """The first of 3 is lost: too few duplicates; after the timeout one segment, and its acknowledgement covers all."""
    sub, sent = subflow_with_losses(3, once_a=0)
    assert sent["segment"].tolist() == [0, 1, 2, 0]
    assert (sub["timeouts"], sub["fast_retransmits"], sub["cwnd_bytes"]) == (1, 0, 2 * MSS)
    assert sub["ssthresh_bytes"] == 2 * MSS  # max(3 / 2, 2) segments


def test_repeated_timeouts_of_a_segment_halve_once():
    """RFC 5681, section 3.1: ssthresh is held when the same segment times out again."""
    sub, _ = subflow_with_losses(20, always=0, transport={"max_rto_s": 10e-3})
    assert sub["timeouts"] > 5
    assert sub["ssthresh_bytes"] == 10 * MSS  # all 20 were in flight: duplicates had inflated the window


def first_late(
    params: Any, own: Any, switch: Any, sub: Any, packet: Any, ports: Any, candidates: Any, now_ps: int, u0: float
) -> int:
    """Send segment 2 over the slow path, everything else over the fast one."""
    return 1 if packet.kind == 0 and packet.segment == 2 and not packet.flags & 1 else 0


@pytest.mark.parametrize("overtaking", [1, 2, 3, 4, 6])
def test_reordering_by_three_is_taken_for_a_loss(overtaking):
    """Segment 2 of 10 is overtaken by j later ones: nothing happens for j < 3, a spurious fast retransmit from 3 on.

    Then the late packet makes a partial acknowledgement, and so does each that follows: NewReno takes the next segment
    for lost too, until all that was in flight is acknowledged. That is 1 + (10 - (3 + j)) needless retransmissions.
    """
    late_s = 50e-6 + overtaking * 12e-6 + 6e-6
    slow = LinkChange(between=("left", "right"), parallel=2, delay_s=late_s)
    kind = ParallelPaths(paths=2, hosts_per_side=1, delay_s=50e-6, links=(slow,))
    base = replace(scheme("rps"), balancer=Balancer(name="first_late", choose=first_late))
    records = one_run(setup_of(kind, flow_list([(0, 1, 10 * MSS, 0.0)]), base))
    sub = records.subs[0]
    assert sub["reordered_packets"] == 1
    assert sub["dup_acks_received"] == overtaking
    assert sub["fast_retransmits"] == int(overtaking >= 3)
    assert sub["retransmissions"] == sub["duplicate_packets"] == (8 - overtaking if overtaking >= 3 else 0)
    assert records.ports["packets_dropped"].sum() == 0
