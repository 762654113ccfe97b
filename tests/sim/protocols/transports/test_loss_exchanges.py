"""Whole exchanges with scripted losses in the reference engine: times and counts by hand."""

from dataclasses import dataclass, replace

import pytest
from support.engine_setups import FAR_SWITCH, LINK, MSS, Losses, flow_list, sent_by, setup_of, with_losses

from capsim import ACCEPT, REFUSE, Queue, scheme
from capsim.base.clock import serialisation_ps
from capsim.engines import run
from capsim.records import DROPPED, RETRANSMITTED, SYN, SYN_ACK

RATE_BPS, DELAY_S = 10**9, 50e-6  # of `LINK`
NEAR_SWITCH = 2


def exchange(n_segments, *, base, end_ps=10**12, **transport):
    """Return the subflow, what it sent, and the whole trace."""
    setup = setup_of(LINK, flow_list([(0, 1, n_segments * MSS, 0.0)]), base, transport=transport, end_ps=end_ps)
    found = run(setup, engine="reference")
    return found.subs[0], sent_by(found, setup), found.trace


def one_way_ps(packet_bytes):
    return 3 * (serialisation_ps(packet_bytes, RATE_BPS) + round(DELAY_S * 1e12))


@dataclass(frozen=True, kw_only=True)
class LostOpening:
    """Packets of one kind are lost that were sent before a time."""

    kind: int = SYN
    until_s: float = 0.0


def refuse_opening(params, own, port, packet, queue_packets, queue_bytes, now_ps, u0):
    lost = packet.kind == params.kind and packet.sent_ps < params.until_ps and port.from_node >= NEAR_SWITCH
    return REFUSE if lost else ACCEPT


def test_opening_lost_twice(subtests):
    """RFC 6298, 2.1 and 5.5: the SYN goes at 0, 1 and 3 s; the segment arrives three one-way times after that.

    The third packet of the handshake leaves just ahead of the data.
    """
    for name in ["ecmp", "sack"]:
        for kind in [SYN, SYN_ACK]:
            with subtests.test(name=name, kind=kind):
                queue = Queue(name="lost_opening", admit=refuse_opening, params=LostOpening(kind=kind, until_s=2.0))
                base = replace(scheme(name), queue=queue)
                options = {"handshake": True, "initial_rto_s": 0.0, "min_rto_s": 0.2}
                sub, _, trace = exchange(1, base=base, end_ps=10**13, **options)
                assert (trace["what"] == DROPPED).sum() == 2
                begin_ps, data_ps = 3 * 10**12 + 2 * one_way_ps(40), serialisation_ps(40, RATE_BPS) + one_way_ps(1500)
                assert sub["received_ps"] == begin_ps + data_ps
                assert sub["timeouts"] == 2
                assert sub["srtt_ps"] == data_ps + one_way_ps(40)  # the answer to the third SYN is no sample


def test_losses_are_repaired_without_reordering_or_waste(subtests):
    """Four losses in a window of ten: each segment is sent once more, none arrives twice, none counts as reordered."""
    for name in ["ecmp", "sack", "dctcp", "dctcp_sack"]:
        with subtests.test(name=name):
            base = with_losses(scheme(name), Losses(at_node=FAR_SWITCH, once_a=3, once_b=5, once_c=7, once_d=12))
            sub, sent, _ = exchange(60, base=base)
            assert sent[(sent["flags"] & RETRANSMITTED) != 0]["segment"].tolist() == [3, 5, 7, 12]
            assert (sub["timeouts"], sub["fast_retransmits"], sub["packets_sent"]) == (0, 1, 64)
            assert (sub["reordered_packets"], sub["duplicate_packets"]) == (0, 0)


@pytest.mark.parametrize(("rescue", "timeouts"), [(True, 0), (False, 1)])
def test_rescue_saves_the_timeout_of_a_lost_end(rescue, timeouts):
    """Of ten segments in all, 0, 8 and 9 are lost: the rescue of 9 brings word of 8."""
    base = with_losses(scheme("sack"), Losses(at_node=FAR_SWITCH, once_a=0, once_b=8, once_c=9))
    sub, _, _ = exchange(10, base=base, rescue=rescue, min_rto_s=10e-3, initial_rto_s=10e-3)
    assert sub["timeouts"] == timeouts
    assert (sub["closed_ps"] < 10**10) == (timeouts == 0)


def with_four_holes(min_rto_s):
    """Return the subflow, and which segments went again when, of a flow that loses 2, 4, 6 and 8."""
    base = with_losses(scheme("ecmp"), Losses(at_node=FAR_SWITCH, once_a=2, once_b=4, once_c=6, once_d=8))
    sub, sent, _ = exchange(40, base=base, min_rto_s=min_rto_s)
    again = sent[(sent["flags"] & RETRANSMITTED) != 0]
    return sub, again["segment"].tolist(), again["time_ps"].tolist()


def test_impatient_timer_fires_during_partial_acknowledgements():
    """RFC 6582, section 3.2 step 3: one hole a round of 337 us, so 8 comes three rounds after 4 is sent again.

    RTTs of 336.96 and, 12 us of queue later, 348.96 us: SRTT 338.46, RTTVAR 129.36, RTO 855.9 us. The timer is set at
    the first partial acknowledgement, which sends 4, and fires before 8 is acknowledged: 8 goes a second time.
    """
    sub, segments, times_ps = with_four_holes(0.5e-3)
    assert segments[:5] == [2, 4, 6, 8, 8]
    assert times_ps[4] - times_ps[1] == 855_900_000
    assert sub["timeouts"] == 1


def test_longer_timer_waits_for_the_last_hole():
    sub, segments, _ = with_four_holes(1.2e-3)
    assert segments == [2, 4, 6, 8]
    assert sub["timeouts"] == 0


@pytest.mark.parametrize("name", ["ecmp", "sack", "dctcp"])
def test_long_flow_without_loss_fills_the_receive_window(name):
    sub, sent, _ = exchange(400, base=scheme(name), max_window_bytes=40 * MSS)
    assert sub["cwnd_bytes"] == 40 * MSS
    assert len(sent) == 400
