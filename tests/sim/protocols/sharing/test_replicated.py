"""Flows and SYNs sent twice: RepFlow-DCTCP and RepSYN; DCTCP over spraying. Scripted replies and limiting cases."""

import numpy as np
import pytest
from support.engine_setups import CROWDED, flow_list, one_run, setup_of
from support.scripted import MSS, US, Hosts

from capsim import Dumbbell, LinkChange, ParallelPaths, scheme
from capsim.engines import run
from capsim.engines.hosts import handlers
from capsim.records import ACK, CLOSED, DATA, ECN_CAPABLE, HANDSHAKE_ACK, NONE, SYN, SYN_ACK
from capsim.study.measures import with_late_replicas

LINK = Dumbbell(hosts_per_side=2, rate_bps=1e9, delay_s=10e-6, buffer_packets=30)


APART = flow_list([(0, 1, 50 * MSS, 50_000.0 * i) for i in range(12)])  # each alone in the fabric


def two_paths(delay_s):
    """Return two paths, one of which has a link of that delay towards the receivers."""
    slow = LinkChange(between=("left", "right"), parallel=2, one_way=True, delay_s=delay_s)
    return ParallelPaths(paths=2, hosts_per_side=1, rate_bps=1e9, delay_s=10e-6, links=(slow,))


class Openings:
    """A flow of 100 segments under RepSYN whose other end is the test."""

    def __init__(self, **options):
        self.hosts = Hosts(setup_of(LINK, flow_list([(0, 2, 100 * MSS, 0.0)]), "repsyn", **options))
        handlers.start(self.hosts, 0, 0)
        self.subs = self.hosts.subs

    def reply(self, number, kind, *, at_us, **values):
        """Deliver a reply to a subflow; return kind and subflow of the packets that leave for it."""
        before = len(self.hosts.sent)
        packet = self.hosts.arriving(number, kind=kind, flags=0, sent_ps=0, **values)
        handlers.deliver(self.hosts, packet.number, at_us * US)
        return [(packet.kind, packet.sub) for packet in self.hosts.sent[before:]]


def test_two_syns_leave_with_hashes_of_their_own():
    openings = Openings()
    assert [(packet.kind, packet.sub) for packet in openings.hosts.sent] == [(SYN, 0), (SYN, 1)]
    assert len({packet.hash for packet in openings.hosts.sent}) == 2


@pytest.mark.parametrize("first", [0, 1])
def test_the_first_answered_carries_the_flow_and_the_other_is_closed(first):
    openings = Openings()
    assert openings.reply(first, SYN_ACK, at_us=100, ack=0) == [(HANDSHAKE_ACK, first), *10 * [(DATA, first)]]
    loser = openings.subs[1 - first]
    assert (loser.state, loser.closed_ps, loser.timer_ps) == (CLOSED, 100 * US, NONE)
    assert openings.reply(1 - first, SYN_ACK, at_us=110, ack=0) == []
    assert openings.subs[first].closed_ps == NONE
    assert openings.reply(first, ACK, at_us=200, ack=1) == 2 * [(DATA, first)]


def test_without_a_handshake_the_first_carries_the_flow():
    openings = Openings(transport={"handshake": False})
    assert [(packet.kind, packet.sub) for packet in openings.hosts.sent] == 10 * [(DATA, 0)]
    assert openings.subs[1].state == CLOSED


def test_the_flow_takes_the_path_that_answers_first():
    """Of two paths one is slower by 1 ms; where a SYN takes the other, the flow needs what it needs there."""
    twice = one_run(setup_of(two_paths(1e-3), APART, "repsyn", end_ps=2 * 10**12))
    once = one_run(setup_of(two_paths(10e-6), APART, "ecmp", transport={"handshake": True}, end_ps=2 * 10**12))
    fct_ps = twice.flows["received_ps"] - twice.flows["start_ps"]
    fast_ps = once.flows["received_ps"] - once.flows["start_ps"]
    same_hash = fct_ps > 1.5 * fast_ps
    winners = twice.flows["winner"] - 2 * np.arange(len(APART))
    assert 0 < same_hash.sum() < len(APART)  # both SYNs on the slow path, one time in four
    assert (fct_ps[~same_hash] <= fast_ps[~same_hash] * 1.02).all()
    assert set(winners[~same_hash]) == {0, 1}


@pytest.mark.parametrize(
    ("fabric", "name", "changes", "other", "options"),
    [
        ("leaf-spine", "repsyn", {"sharing": {"copies": 1}}, "ecmp", {"transport": {"handshake": True}}),
        ("fat-tree", "repflow_dctcp", {"sharing": {"copies": 1}}, "dctcp", {}),
    ],
)
def test_with_one_copy_it_is_the_plain_scheme(fabric, name, changes, other, options):
    kind, flows = CROWDED[fabric]
    ours, theirs = one_run(setup_of(kind, flows, name, **changes)), run(setup_of(kind, flows, other, **options))
    assert np.array_equal(ours.trace, theirs.trace)


def test_on_one_path_spraying_makes_no_difference():
    kind, flows = CROWDED["dumbbell"]
    ours, theirs = one_run(setup_of(kind, flows, "dctcp_rps")), run(setup_of(kind, flows, "dctcp"))
    assert np.array_equal(ours.trace, theirs.trace)


def test_dctcp_keeps_the_queue_at_the_threshold_when_it_is_sprayed():
    """One long flow over two paths of half the rate: no queue grows far beyond K, where NewReno fills the buffer."""
    fabric = ParallelPaths(
        paths=2, hosts_per_side=1, rate_bps=5e8, host_rate_bps=1e9, delay_s=10e-6, buffer_packets=200
    )
    flows = flow_list([(0, 1, 4_000_000, 0.0)])
    largest = {}
    marks = {"queue": {"at_nics": True}}  # the paths together are as fast as the NIC, so the queue is there
    for name, queue in (("dctcp_rps", marks), ("rps", {})):
        result = run(setup_of(fabric, flows, name, transport={"dup_ack_threshold": 1000}, end_ps=10**12, **queue))
        largest[name] = result.ports["max_queue_packets"].max()
    assert largest["rps"] > 150
    assert largest["dctcp_rps"] < 60


@pytest.mark.parametrize("abort", [False, True])
def test_the_slower_copy_of_a_short_flow_runs_on_or_stops(abort):
    setup = setup_of(two_paths(1e-3), APART, "repflow_dctcp", sharing={"abort_losers": abort}, end_ps=2 * 10**12)
    result = one_run(setup)
    copies, data = result.subs, result.trace
    assert len(copies) == 2 * len(APART)
    assert (copies["high"] < 50).any() == abort
    assert (data["flags"][data["kind"] == DATA] & ECN_CAPABLE).all()


@pytest.mark.parametrize("name", ["repflow", "repflow_dctcp"])
def test_a_late_copy_starts_so_much_later_and_changes_nothing_without_delay(name):
    """Listed flows are short and come one after another: all have two copies, unless the first is acknowledged."""
    late = with_late_replicas(scheme(name), 30e-6)
    copies = one_run(setup_of(two_paths(1e-3), APART, late, end_ps=2 * 10**12)).subs
    opened_ps = copies["open_ps"][np.argsort(2 * copies["flow"] + copies["number"])].reshape(-1, 2)
    assert (opened_ps[:, 1] - opened_ps[:, 0] == 30 * US).all()
    kind, flows = CROWDED["leaf-spine"]
    ours, theirs = one_run(setup_of(kind, flows, with_late_replicas(late, 0.0))), run(setup_of(kind, flows, name))
    assert ours.flows["received_ps"].tolist() == theirs.flows["received_ps"].tolist()


def test_a_flow_that_is_over_before_has_no_late_copy():
    late = with_late_replicas(scheme("repflow"), 1.0)
    assert len(one_run(setup_of(two_paths(10e-6), APART, late, end_ps=2 * 10**12)).subs) == len(APART)
    assert with_late_replicas(scheme("ecmp"), 1.0) == scheme("ecmp")


def test_long_flows_are_those_of_dctcp():
    assert scheme("repflow_dctcp").long == scheme("dctcp").long
