"""A subflow that is granted its segments piece by piece, as those are that share a stream: by hand."""

from dataclasses import replace

import pytest
from support.scripted import US, Sender

from capsim import scheme
from capsim.engines.hosts import senders
from capsim.protocols.schemes import caps_ns2, dctcp, dctcp_sack, ecmp, sack
from capsim.protocols.sharing.single import SINGLE
from capsim.records import CLOSED, ESTABLISHED, NONE

STACKS = {"newreno": ecmp.STACK, "sack": sack.STACK, "tahoe": caps_ns2.LONG}
MARKING_STACKS = {"dctcp": dctcp.STACK, "dctcp_sack": dctcp_sack.STACK}


def grant_nothing(params, own, flow, subs, maps, data, now_ps):
    """Leave it to the test."""
    return NONE


class Granted(Sender):
    """A sender that gets its segments from the test; initial window 10."""

    def __init__(self, name):
        by_hand = replace(SINGLE, name="by_hand", schedule=grant_nothing)
        stack = replace((STACKS | MARKING_STACKS)[name], sharing=by_hand)
        super().__init__(replace(scheme("ecmp"), short=stack, long=stack))

    def grant(self, count, *, final=False):
        """Grant further segments, the last ones if `final`; return those that leave."""
        self.sub.end += count
        self.sub.final = int(final)
        senders.push(self.hosts, self.sub.id, round(self.now_us * US))
        return self._new_segments()


@pytest.fixture(params=STACKS)
def sender(request):
    return Granted(request.param)


def test_it_sends_what_it_is_granted_and_asks_for_more_while_its_window_has_room(sender):
    assert (sender.packets, sender.sub.ready, sender.timer_us) == ([], 1, None)
    assert (sender.grant(3), sender.sub.ready) == ([0, 1, 2], 1)
    assert (sender.grant(7), sender.sub.ready) == ([3, 4, 5, 6, 7, 8, 9], 0)
    assert (sender.grant(3), sender.sub.ready) == ([], 0)
    assert (sender.ack(1), sender.sub.ready) == ([10, 11], 0)  # cwnd 11
    assert (sender.ack(2), sender.sub.ready) == ([12], 1)


def test_with_all_acknowledged_it_stays_open_and_its_timer_is_off(sender):
    sender.grant(3)
    assert sender.ack(3, at_us=100) == []
    assert (sender.sub.state, sender.timer_us, sender.sub.ready) == (ESTABLISHED, None, 1)
    sender.ack(3, at_us=150)  # with nothing outstanding it is no duplicate
    assert (sender.sub.dup_acks, sender.sub.dup_acks_received) == (0, 0)
    sender.now_us = 10_000
    assert sender.grant(1) == [3]
    assert sender.timer_us == 10_000 + 2000


@pytest.mark.parametrize("name", MARKING_STACKS)
def test_with_all_acknowledged_dctcp_counts_no_duplicates(name):
    sender = Granted(name)
    sender.grant(3)
    sender.acks(1, 3)
    sender.duplicates(3, 2)
    assert sender.own("congestion").early_bytes == 0


def test_the_last_grant_ends_it(sender):
    """It asks for nothing more, and closes with its last acknowledgement."""
    assert (sender.grant(3, final=True), sender.sub.ready) == ([0, 1, 2], 0)
    sender.ack(2)
    assert (sender.sub.state, sender.sub.ready) == (ESTABLISHED, 0)
    sender.ack(3)
    assert (sender.sub.state, sender.timer_us) == (CLOSED, None)


@pytest.mark.parametrize(("final", "ready"), [(False, 1), (True, 0)])
def test_a_recovery_of_sack_asks_for_new_segments_too(final, ready):
    """Ten out, 0 lost, 1-7 SACKed: 0 again, 8 and 9 are in the network, cwnd 5."""
    sender = Granted("sack")
    sender.grant(10, final=final)
    assert sender.ack(0, blocks=[(1, 8)]) == [0]
    assert sender.sub.ready == ready


def test_what_is_granted_in_a_recovery_of_sack_is_sent_in_it():
    """RFC 6675, NextSeg rule 2, as far as the window has room."""
    sender = Granted("sack")
    sender.grant(10)
    sender.ack(0, blocks=[(1, 8)])
    assert (sender.grant(3), sender.sub.ready) == ([10, 11], 0)
