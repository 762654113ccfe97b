"""Details of the RFCs on which implementations differ: blocks, RescueRxt, careful variant, lost SYN, marks."""

from copy import deepcopy
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.scripted import Receiver, Sender, resent, runs_above

from capsim import Batch, LeafSpine, Scenario, scheme, simulate
from capsim.protocols.schemes import caps_ns2, ecmp
from capsim.records import ECN_ECHO, RETRANSMITTED


@given(st.permutations([*range(8), *range(8)]))
def test_as_many_blocks_as_fit_are_reported(arrivals):
    """RFC 2018, section 4: as many distinct blocks as possible, three here, as long as no more have been about."""
    receiver, came = Receiver("sack", n_segments=20), {}
    for time, segment in enumerate(arrivals):
        packet = receiver.take(segment)
        came[segment] = time
        runs = runs_above(came, packet.ack)
        if len(runs) > 3:
            return
        assert sorted(receiver.blocks(packet)) == runs


def test_blocks_that_join_keep_the_third():
    """3, 5 and 7 are runs; 6 joins two of them: (5, 8) and (3, 4) are left."""
    receiver = Receiver("sack")
    answers = [receiver.take(segment) for segment in (0, 1, 3, 5, 7, 6)]
    assert receiver.blocks(answers[-1]) == [(5, 8), (3, 4)]


def test_an_acknowledgement_of_new_data_that_sacks_three_starts_recovery():
    """RFC 6675, sections 2 and 5: new SACK information makes it a duplicate, whatever it acknowledges; 9 in flight."""
    sender = Sender("sack")
    assert 1 in sender.ack(1, blocks=[(2, 5)])
    assert (sender.sub.in_recovery, sender.ssthresh) == (1, 4.5)


def test_no_rescue_before_the_first_retransmission_is_acknowledged():
    """RFC 6675, section 5 step 4.3: RescueRxt is set to the segment resent first, and rule 4 asks HighACK > RescueRxt.

    Ten segments in all, 0, 8 and 9 lost: with 0, 8, 9 in the network and a window of five, nothing may leave yet.
    """
    sender = Sender("sack", n_segments=10)
    assert sender.ack(0, blocks=[(1, 8)]) == [0]
    assert sender.ack(8) == [9]


def test_high_rxt_begins_anew_with_each_recovery():
    """RFC 6675, section 5 step 4.3: HighRxt is the segment resent first, Pipe counts what was resent since.

    Ten segments; 0, 9 and 10 are lost, and 10 once more when it is sent again in the recovery that ends with 9. In the
    next one (FlightSize 9, cwnd 4.5), 10 again, 17 and 18 are in the network: there is room for 19.
    """
    sender = Sender("sack")
    assert sender.ack(0, blocks=[(1, 9)]) == [0, 10, 11, 12]
    assert sender.ack(9) == [13]
    assert sender.ack(9, blocks=[(11, 12)]) == [14]
    assert sender.ack(9, blocks=[(11, 13)]) == [15]
    assert sender.ack(9, blocks=[(11, 14)]) == [9, 10, 16]
    assert sender.ack(9, blocks=[(11, 15)]) == [17]
    assert sender.ack(9, blocks=[(11, 16)]) == [18]
    assert sender.ack(10, blocks=[(11, 16)]) == []
    assert sender.sub.in_recovery == 0
    assert sender.ack(10, blocks=[(11, 17)]) == [10, 19]


@pytest.mark.parametrize("stack", [ecmp.STACK, caps_ns2.LONG], ids=["newreno", "tahoe"])
def test_fast_retransmit_asks_for_more_than_recover(stack):
    """RFC 6582, section 3.2: ack_number - 1 > recover. After a timeout of 0-9, duplicates for 10 are not enough."""
    sender = Sender(replace(scheme("ecmp"), short=stack, long=stack))
    sender.expire()
    sender.ack(10)
    assert sender.sub.recover == 9
    sender.duplicates(10, 3)
    assert sender.sub.fast_retransmits == 0
    sender.ack(11)
    sender.duplicates(11, 3)
    assert sender.sub.fast_retransmits == 1
    assert resent(sender) == [0, 11]


def test_an_acknowledgement_with_an_echo_does_not_open_the_window():
    """RFC 3168, section 6.1.2: the first one, alpha = 1, leaves 10 (1 - 1/2)."""
    sender = Sender("dctcp")
    sender.ack(1, flags=ECN_ECHO)
    assert sender.cwnd == 5


@pytest.mark.parametrize("name", ["ecmp", "sack"])
def test_one_segment_after_a_lost_syn(name):
    """RFC 5681, section 3.1 and RFC 6928, section 2: the initial window is one segment then."""
    sender = Sender(name, handshake=True)
    sender.expire()
    assert sender.syn_ack(at_us=1e7, rtt_us=100, flags=RETRANSMITTED) == [0]


def test_three_seconds_after_a_lost_syn(subtests):
    """RFC 6298, 5.7: after a timeout of the SYN the RTO is at least 3 s when data transmission begins."""
    for first_s, most_s, then_s in [(1, 60, 3), (5, 60, 5), (1, 2, 2)]:
        with subtests.test(first_s=first_s, most_s=most_s, then_s=then_s):
            sender = Sender(handshake=True, initial_rto_s=float(first_s), max_rto_s=float(most_s))
            sender.expire()
            now_us = first_s * 1e6 + 100
            sender.syn_ack(at_us=now_us, rtt_us=100, flags=RETRANSMITTED)
            assert sender.timer_us == now_us + then_s * 1e6


def test_a_second_answer_to_the_syn_changes_nothing(subtests):
    """RFC 9293, section 3.10.7.4: it is old; above all it is no duplicate acknowledgement of segment 0."""
    for name in ["ecmp", "sack", "dctcp", "dctcp_sack", "caps_ns2"]:
        with subtests.test(name=name):
            sender = Sender(name, handshake=True)
            sender.syn_ack(at_us=100, rtt_us=100)
            before = fields_of(sender)
            for _ in range(4):
                assert sender.syn_ack(at_us=300, rtt_us=300) == []
            assert fields_of(sender) == before
            assert len(sender.packets) == 2 + 10


def fields_of(sender):
    """Return all that the sender's subflow and its components know, field by field."""
    records = (sender.sub, sender.own("transport"), sender.own("congestion"))
    return [{name: deepcopy(getattr(each, name)) for name in each.__slots__} for each in records]


def test_fins_of_eight_subflows_are_below_a_percent_of_a_short_flow():
    """They are not sent: 40 bytes and an acknowledgement each way and subflow, behind the data (RFC 8684, 3.3.3)."""
    traffic = (Batch(flows=1, flow_bytes=70_000, pairs="random"),)
    scenario = Scenario(fabric=LeafSpine(leaves=2, hosts_per_leaf=2, spines=8), traffic=traffic)
    flow = simulate(scenario, scheme="mptcp", engine="reference").flows.iloc[0]
    assert (flow["subflows"], flow["retransmissions"]) == (8, 0)
    assert 0 < flow["subflows"] * 2 * 40 < 0.01 * flow["bytes_sent"]
