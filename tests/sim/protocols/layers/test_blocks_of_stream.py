"""A block code with repetition as fallback, over one path: what is sent, when a block is there, what is repeated."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.engine_setups import FAR_SWITCH, LINK, MSS, Losses, flow_list, sent_by, setup_of, with_losses
from support.layer_setups import layer_memory

from capsim import ParameterError, scheme
from capsim.engines import run
from capsim.records import CODED, RETRANSMITTED

PACKET_US, HOP_US, BACK_US = 12, 62, 3 * 50.32
K, R = 32, 8
REQUEST_US = 25


def message(name, n_segments, *, repair=R, window=200, **losses):
    """Return the records of a message, what its host sent, and the set-up; the window holds all of it."""
    lossy = with_losses(scheme(name), Losses(at_node=FAR_SWITCH, **losses))
    layer = {} if name == "rack" else {"min_repair": repair}
    flows = flow_list([(0, 1, n_segments * MSS, 0.0)])
    transport = {"initial_window_packets": window}
    setup = setup_of(LINK, flows, lossy, layer=layer, transport=transport, end_ps=10**12)
    records = run(setup, engine="reference")
    return records.subs[0], sent_by(records, setup), layer_memory(records)


def arrival_us(position):
    """Return when the packet that left as number `position` of a burst at time 0 is at the receiver."""
    return position * PACKET_US + 3 * HOP_US


@pytest.mark.parametrize("n", [1, 31, 32, 33, 64, 100])
def test_without_losses_it_costs_r_packets_for_each_block_and_the_time_of_those_between(n):
    """For whole blocks r/k of the packets more; nobody waits for the repair packets of the last block."""
    blocks = -(-n // K)
    coded, sent, layer = message("ec_rack", n)
    plain, _, _ = message("rack", n)
    assert coded["packets_sent"] == n + blocks * R
    assert (coded["retransmissions"], layer["units_asked"][0], layer["units_decoded"][0]) == (0, 0, blocks)
    assert (sent["kind"] == CODED).sum() == blocks * R
    assert coded["received_ps"] - plain["received_ps"] == (blocks - 1) * R * PACKET_US * 10**6


def test_what_is_acknowledged_needs_no_repair_packets():
    """With a window of ten the first acknowledgements come before 32 packets have left: one block fewer in 100."""
    coded, _, layer = message("ec_rack", 100, window=10)
    assert (coded["packets_sent"], layer["units"][0], layer["units_decoded"][0]) == (100 + 3 * R, 3, 3)


@pytest.mark.parametrize("n", [1, 32, 100])
def test_without_repair_packets_and_losses_it_is_rack(n):
    plain, coded = (message(name, n, repair=0, window=10)[0] for name in ("rack", "ec_rack"))
    for name in ("received_ps", "closed_ps", "packets_sent", "bytes_sent", "cwnd_bytes", "srtt_ps", "rto_ps"):
        assert plain[name] == coded[name], name


def test_without_repair_packets_what_is_lost_is_repeated_once():
    """Segments 3 and 40 of 64: each is asked for 25 us after the last packet of its block.

    What is held of the second block is delivered before the retransmission of 3, or RACK would repeat it too.
    """
    coded, sent, layer = message("ec_rack", 64, repair=0, once_a=3, once_b=40)
    again = sent[sent["flags"] & RETRANSMITTED != 0]
    assert again["segment"].tolist() == [3, 40]
    assert (coded["timeouts"], layer["units_decoded"][0]) == (0, 2)
    asked_us = arrival_us(31) + REQUEST_US
    assert asked_us + BACK_US < again["time_ps"][0] / 1e6 < asked_us + BACK_US + 5


@settings(max_examples=15, deadline=None)
@given(st.sets(st.integers(0, K + R - 1), min_size=1, max_size=4))
def test_any_k_of_a_block_are_enough(lost):
    """32 segments and 8 repair packets on one path: complete when the 32nd packet comes, and nothing is repeated."""
    names = dict(zip(("once_a", "once_b", "once_c", "once_d"), sorted(lost), strict=False))
    sub, _, layer = message("ec_rack", K, **names)
    kth = sorted(set(range(K + R)) - lost)[K - 1]
    assert sub["received_ps"] == arrival_us(kth) * 10**6
    assert (sub["retransmissions"], layer["units_asked"][0]) == (0, 0)


def test_a_block_that_lacks_packets_is_repeated():
    """Three of the first block's 34 are lost, one too many.

    Its last packet, number 33, comes at 582 us; 25 us later the acknowledgements of what was held leave. The fourth of
    these reports three segments above the gap, so 3 leaves, and 9 and 20 follow in recovery.
    """
    sub, sent, layer = message("ec_rack", 64, repair=2, once_a=3, once_b=9, once_c=20)
    again = sent[sent["flags"] & RETRANSMITTED != 0]
    assert again["segment"].tolist() == [3, 9, 20]
    asked_us = arrival_us(33) + REQUEST_US
    assert asked_us + BACK_US < again["time_ps"][0] / 1e6 < asked_us + BACK_US + 5
    assert (layer["units_asked"][0], layer["units_decoded"][0], sub["timeouts"]) == (1, 2, 0)


def test_units_of_which_nothing_is_held_cannot_be_waited_for():
    """The default CAPS acknowledges each packet, and a code that is not systematic keeps what it cannot deliver."""
    flows = flow_list([(0, 1, MSS, 0.0)])
    for name in ("caps", "cdcps"):
        with pytest.raises(ParameterError, match="held behind a gap"):
            run(setup_of(LINK, flows, name, layer={"request_s": 1e-6}), engine="reference")
