"""NDP: what a sender does with ACKs, NACKs and PULLs, the turns of a receiver's pacer, and incasts in both engines."""

import numpy as np
import pytest
from support.engine_setups import CROWDED, DUMBBELL, LEAF_SPINE, MSS, flow_list, one_run, setup_of
from support.scripted import US, Hosts, Sender

from capsim import Dumbbell, LeafSpine, LinkChange, ParallelPaths, ParameterError, Transport
from capsim.base.clock import serialisation_ps
from capsim.engines import run
from capsim.engines.hosts import handlers
from capsim.protocols.transports.ndp import NDP
from capsim.protocols.transports.ndp_receiver import FREED
from capsim.records import ACK, ARRIVED, DATA, NONE, RETRANSMITTED, TRIMMED
from capsim.results.conservation import check
from capsim.results.ideal import ideal_fct_s

FULL = MSS + 40
RTO = {"min_rto_s": 1e-3, "initial_rto_s": 1e-3}
STEP = serialisation_ps(FULL, 10**9)  # picoseconds of a full packet at 1 Gbps


class Puller(Sender):
    """A sender whose test writes ACKs, NACKs and PULLs; each returns the segments that leave for it."""

    def answer(self, segment, *, ack=0, pulls=0, trimmed=0, sent_us=0, at_us=None, flags=RETRANSMITTED):
        self.now_us = self.now_us if at_us is None else at_us
        values = {"kind": ACK, "flags": flags, "segment": segment, "ack": ack, "sent_ps": round(sent_us * US)}
        packet = self.hosts.arriving(self.sub.id, **values)
        options = self.options(packet)
        options.pulls, options.trimmed = pulls, trimmed
        handlers.deliver(self.hosts, packet.number, round(self.now_us * US))
        return self._new_segments()

    def ack(self, segment, **options):
        return self.answer(segment, **options)

    def nack(self, segment, **options):
        return self.answer(segment, trimmed=1, **options)

    def pull(self, pulls, **options):
        return self.answer(NONE, pulls=pulls, **options)


def test_a_window_leaves_at_once_then_a_packet_for_each_pull():
    """Counted: a PULL that overtakes another one brings two packets, and the late one none."""
    sender = Puller("ndp", initial_window_packets=5)
    assert [packet.segment for packet in sender.packets] == [0, 1, 2, 3, 4]
    assert sender.ack(0, ack=1) == []
    assert sender.ack(1, ack=2, pulls=1) == [5]
    assert sender.pull(3, ack=2) == [6, 7]
    assert sender.pull(2, ack=2) == []
    assert sender.pull(3, ack=4) == []
    assert sender.sub.una == 4


def test_a_pull_brings_what_was_trimmed_before_what_is_new():
    """In order of segments; a NACK alone brings nothing, and that of a copy that is not the last one says nothing."""
    sender = Puller("ndp", initial_window_packets=5)
    assert [sender.nack(segment, at_us=100) for segment in (3, 1, 3)] == [[], [], []]
    assert sender.pull(1, at_us=110) == [1]
    assert sender.pull(3, at_us=120) == [3, 5]
    assert sender.nack(1, at_us=130) == []  # of the copy that left at 0
    assert sender.pull(4, at_us=140) == [6]
    sender.nack(1, at_us=150, sent_us=110)
    sender.ack(1, at_us=160)  # the first copy had come after all
    assert sender.pull(5, at_us=170) == [7]
    assert (sender.sub.retransmissions, sender.sub.timeouts) == (2, 0)
    assert sender.nack(1, at_us=180, sent_us=110) == []
    assert sender.own("transport").missing == 0


def test_a_pull_that_finds_nothing_to_send_is_kept():
    """For a packet of which a header is still to tell; what a short flow leaves of the window is not."""
    sender = Puller("ndp", n_segments=3)
    assert sender.nack(0) == []
    assert sender.pull(1, at_us=10) == [0]
    assert sender.pull(2, at_us=10) == []
    assert sender.nack(2, at_us=20) == [2]
    sender.ack(0, ack=3, at_us=30)
    assert sender.sub.closed_ps == 30 * US


def test_without_an_answer_a_packet_is_sent_again_by_the_timer():
    """When its own time is over; it needs no PULL. The end of the flow waits for none."""
    sender = Puller("ndp", initial_window_packets=3, **RTO)
    assert [sender.ack(0, ack=1, at_us=100), sender.pull(1, ack=1, at_us=200)] == [[], [3]]
    sender.ack(2, ack=1, at_us=300)
    assert (sender.timer_us, sender.expire()) == (1000, [1])
    assert (sender.timer_us, sender.expire()) == (1200, [3])
    assert (sender.timer_us, sender.sub.timeouts) == (2000, 2)


def test_the_timer_follows_round_trips_of_what_was_sent_once():
    """RFC 6298 above the least value; the first one brings the timer forward, and no expiry doubles it."""
    sender = Puller("ndp", initial_window_packets=3, min_rto_s=1e-3, initial_rto_s=20e-3)
    assert sender.timer_us == 20_000
    sender.pull(0, at_us=100)
    assert sender.timer_us == 20_000
    sender.ack(1, at_us=500, flags=0)  # SRTT 500, RTTVAR 250
    assert (sender.sub.rto_ps / US, sender.timer_us) == (1500, 2000)
    assert (sender.expire(), sender.sub.rto_ps / US) == ([0, 2], 1500)
    short = Puller("ndp", initial_window_packets=3, min_rto_s=1e-3, initial_rto_s=20e-3)
    short.ack(0, at_us=100, flags=0)
    assert (short.sub.rto_ps / US, short.timer_us) == (1000, 1100)


def test_a_sender_that_waits_for_a_pull_in_vain_sends_a_packet():
    """After an RTO without a sign of the receiver, whether it has something to send again or only new packets."""
    sender = Puller("ndp", initial_window_packets=2, n_segments=4, **RTO)
    sender.nack(0, at_us=100)
    assert (sender.ack(1, at_us=700), sender.expire(), sender.timer_us) == ([], [], 1700)
    assert (sender.expire(), sender.timer_us) == ([0], 2700)
    assert sender.ack(0, ack=2, at_us=1800) == []
    assert (sender.expire(), sender.timer_us, sender.sub.timeouts) == ([], 2800, 1)
    assert (sender.expire(), sender.sub.timeouts) == ([2], 2)


def test_no_more_than_the_ring_has_room_for():
    """PULLs that find the window full count when it opens."""
    sender = Puller("ndp", initial_window_packets=4, max_window_bytes=6 * MSS)
    assert sender.pull(4) == [4, 5]
    assert sender.ack(0, ack=2) == [6, 7]


class Pacer:
    """Receiving hosts: `take` delivers a packet of a flow, `go` lets timers fire, `pulls` are (time in steps, flow)."""

    def __init__(self, flows=3, n_segments=1000, **options):
        rows = [(host, flows, n_segments * MSS, 0.0) for host in range(flows)]
        kind = Dumbbell(hosts_per_side=flows, rate_bps=1e9)
        self.hosts = Hosts(setup_of(kind, flow_list(rows), "ndp", transport={"pull_share": 1.0} | options))
        for flow in range(flows):
            handlers.start(self.hosts, flow, 0)
        self.hosts.sent.clear()
        self.now_ps, self.pulls = 0, []

    def take(self, flow, segment, *, flags=0):
        packet = self.hosts.arriving(flow, kind=DATA, segment=segment, bytes=FULL, flags=flags)
        handlers.deliver(self.hosts, packet.number, self.now_ps)
        reply = self.hosts.sent.pop()
        return self.hosts.packet[reply.number][0, "transport"], reply

    def go(self, steps):
        """Go to a time and let all timers up to it fire, the earliest first."""
        while True:
            due = [(sub.receive_wake_ps, sub.id) for sub in self.hosts.subs if sub.receive_wake_ps != NONE]
            if not due or min(due)[0] > steps * STEP:
                break
            self.now_ps, flow = min(due)
            handlers.wake(self.hosts, handlers.RECEIVE_WAKE, flow, self.now_ps)
            self.hosts.sent.pop()
            self.pulls.append((self.now_ps / STEP, flow))
        self.now_ps = steps * STEP


def test_an_answer_at_once_and_pulls_in_turn_in_the_time_of_a_packet():
    """The first PULL is a field of the first answer. A flow that is owed three has one turn a round, as the others."""
    pacer = Pacer()
    options, reply = pacer.take(0, 0)
    assert (options.pulls, options.trimmed, reply.ack, reply.segment, reply.bytes) == (1, 0, 1, 0, 64)
    options, reply = pacer.take(0, 2, flags=TRIMMED)
    assert (options.pulls, options.trimmed, reply.ack, reply.segment) == (1, 1, 1, 2)
    for flow, segment in ((0, 1), (1, 0), (2, 0), (2, 1), (0, 3)):
        pacer.take(flow, segment)
    pacer.go(10)
    assert pacer.pulls == [(1, 0), (2, 1), (3, 2), (4, 0), (5, 2), (6, 0)]
    assert pacer.take(1, 1)[0].pulls == 2  # its own count, and none is owed at this time


def test_what_is_owed_to_a_flow_lapses_with_its_last_packet_and_its_slot_is_used():
    pacer = Pacer(n_segments=3)
    for flow, segment in ((0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)):
        pacer.take(flow, segment)
    assert pacer.take(1, 2)[1].ack == 3
    assert pacer.hosts.subs[1].received_ps == 0
    assert pacer.hosts.subs[1].receive_wake_ps == NONE
    pacer.go(2)
    assert pacer.pulls == [(1, 0)]  # slot 2 was that of flow 1
    pacer.take(0, 0)
    pacer.go(6)
    assert pacer.pulls == [(1, 0), (2, 0), (3, 2), (4, 2)]
    assert pacer.take(1, 1)[0].pulls == 0  # a copy of what has come: nothing is owed


def test_slots_that_many_flows_give_back_are_used_from_the_earliest_on():
    """More than a host remembers: those that come last stay."""
    many = FREED + 6
    pacer = Pacer(flows=many + 1, n_segments=2)
    for flow in range(many):
        pacer.take(flow, 0)
    for flow in range(many):
        pacer.take(flow, 1)
    pacer.take(many, 0)
    pacer.go(many - FREED)
    assert pacer.pulls == [(many - FREED, many)]


@pytest.mark.parametrize(("share", "link_bytes", "slow_bps"), [(0.5, 0, None), (0.99, 38, 3e8)])
def test_pulls_have_the_rate_of_the_link_of_their_host(share, link_bytes, slow_bps):
    """With what the link adds to a packet; hosts of one fabric may have links of other rates."""
    links = () if slow_bps is None else (LinkChange(between=("host3", "right"), rate_bps=slow_bps),)
    kind = ParallelPaths(paths=4, hosts_per_side=3, rate_bps=1e9, delay_s=1e-6, links=links)
    flows = flow_list([(0, 3, 200 * MSS, 0.0), (1, 4, 200 * MSS, 0.0)])
    found = run(setup_of(kind, flows, "ndp", transport={"pull_share": share}, link_bytes=link_bytes))
    pulls = found.trace[(found.trace["what"] == ARRIVED) & (found.trace["segment"] == NONE)]
    for sub, rate_bps in ((0, slow_bps or 1e9), (1, 1e9)):
        mine = pulls[(pulls["sub"] == sub) & (pulls["port"] == pulls["port"][pulls["sub"] == sub][0])]
        step_ps = round(8e12 * (FULL + link_bytes) / (rate_bps * share))
        assert np.median(np.diff(mine["time_ps"])) == step_ps


def last_link(found, kind, host):
    """Return the trace of what has crossed the link to a host."""
    port = next(at for at, name in enumerate(kind.build().port_names) if name.endswith(f">host{host}"))
    return found.trace[(found.trace["what"] == ARRIVED) & (found.trace["port"] == port)]


def test_one_flow_alone_has_the_ideal_time_to_the_picosecond():
    """Limiting case: with a window of a bandwidth-delay product and PULLs at the rate of the link, on four paths."""
    kind = ParallelPaths(paths=4, hosts_per_side=2, rate_bps=1e9, delay_s=10e-6)
    flows = flow_list([(0, 2, 500 * MSS - 700, 3.0)])
    setup = setup_of(kind, flows, "ndp", transport={"pull_share": 1.0})
    found = run(setup)
    ideal = ideal_fct_s(flows, setup.fabric, mss_bytes=MSS, header_bytes=40)
    assert found.flows["received_ps"][0] - found.flows["start_ps"][0] == round(ideal[0] * 1e12)
    assert (found.ports["packets_trimmed"].sum(), found.subs["retransmissions"].sum()) == (0, 0)


SENDERS = 12
INCAST = LeafSpine(
    leaves=4, hosts_per_leaf=4, spines=4, rate_bps=1e10, host_rate_bps=1e10, delay_s=1e-6, buffer_packets=100
)


def test_an_incast_keeps_the_link_of_its_receiver_full_and_waits_for_no_timer():
    """From the first packet to the last pull nothing is idle; senders have equal shares all the time."""
    flows = flow_list([(host, 15, 100 * MSS, 0.0) for host in range(SENDERS)])
    setup = setup_of(INCAST, flows, "ndp", transport={"pull_share": 1.0})
    found = run(setup)
    check(found, setup.fabric)
    assert (found.subs["timeouts"].sum(), found.ports["packets_dropped"].sum()) == (0, 0)
    link = last_link(found, INCAST, 15)
    times_ps = link["time_ps"]
    busy = np.diff(times_ps) == serialisation_ps(link["bytes"][1:], 10**10)
    data = (link["kind"] == DATA) & (link["flags"] & TRIMMED == 0)
    full_until = np.flatnonzero(np.cumsum(data) <= 0.97 * data.sum())[-1]
    assert busy[:full_until].all()
    assert times_ps[data][-1] - times_ps[0] < 1.05 * SENDERS * 100 * serialisation_ps(FULL, 10**10)
    begin = np.flatnonzero(data)[SENDERS * 40]
    later = link[begin:][data[begin:]][: SENDERS * 40]
    counts = np.bincount(later["sub"], minlength=SENDERS)
    assert counts.min() >= 0.8 * counts.max()


def test_an_incast_has_nothing_sent_again_but_what_was_trimmed():
    flows = flow_list([(host, 15, 100 * MSS, 0.0) for host in range(SENDERS)])
    found = run(setup_of(INCAST, flows, "ndp"))
    assert found.ports["packets_trimmed"].sum() == found.subs["retransmissions"].sum() > 100
    assert found.subs["duplicate_packets"].sum() == 0


FAILING = LeafSpine(
    leaves=3,
    hosts_per_leaf=3,
    spines=3,
    delay_s=2e-6,
    buffer_packets=12,
    links=(LinkChange(between=("leaf0", "spine1"), down_s=100e-6, up_s=900e-6),),
    reroute_s=50e-6,
)
LOSSY = LeafSpine(leaves=3, hosts_per_leaf=3, spines=3, delay_s=2e-6, loss_prob=0.05, buffer_packets=50)
CASES = {
    "links fail": (FAILING, "ndp", {"transport": RTO}),
    "links lose all kinds": (LOSSY, "ndp", {"transport": RTO, "link_bytes": 38}),
    "no room for headers": (
        LEAF_SPINE,
        "ndp",
        {"queue": {"limit_bytes": 1500, "trim_bytes": 1400}, "transport": RTO, "ordered": True},
    ),
    "a shared stream": (DUMBBELL, "mptcp.sharing+ndp", {"transport": RTO}),
}


@pytest.mark.agreement
@pytest.mark.parametrize("case", CASES)
def test_both_engines_pull_alike(case):
    """And every flow ends, also where PULLs and headers are lost."""
    kind, name, options = CASES[case]
    flows = CROWDED["dumbbell" if kind is DUMBBELL else "leaf-spine"][1]
    if case == "no room for headers":  # each packet needs the timer some times
        flows = flow_list([(0, 8, 40_000, 0.0), (1, 8, 40_000, 0.0), (8, 0, 20_000, 50.0)])
    setup = setup_of(kind, flows, name, **options)
    found = one_run(setup, strict=True)
    check(found, setup.fabric)
    assert (found.flows["received_ps"] > 0).all()
    assert (found.flows["acked_ps"] > 0).all()


def test_where_links_lose_packets_the_timer_goes_on():
    kind, name, options = CASES["links lose all kinds"]
    assert run(setup_of(kind, CROWDED["leaf-spine"][1], name, **options)).subs["timeouts"].sum() > 3


def test_only_a_field_per_host_begins_as_what_is_known_of_a_link():
    hooks = {name: getattr(NDP, name) for name in ("open", "send", "on_data", "on_ack", "on_timeout")}
    for scope, first in (("subflow", "rate_bps"), ("host", "delay_s")):
        with pytest.raises(ParameterError, match="only a field per host begins as one of rate_bps, link_bytes"):
            Transport(name="mine", **hooks, memory={scope: (("x", "i8", first),)})
