"""A transport like Ultra Ethernet's: its window, what is missing, its timer; NSCC against a second description."""

from dataclasses import replace
from itertools import cycle
from types import SimpleNamespace

import numpy as np
import pytest
from support.engine_setups import (
    CROWDED,
    DUMBBELL,
    MSS,
    differences,
    flow_list,
    memory_of,
    one_run,
    params_of,
    record,
    setup_of,
)
from support.scripted import US, Receiver, Sender

from capsim import Dumbbell, FatTree, LeafSpine, LinkChange, Nic, ParallelPaths, scheme
from capsim.engines import run
from capsim.engines.hosts import handlers
from capsim.engines.hosts.primitives import on_sent
from capsim.protocols.congestion.none import NO_CONGESTION
from capsim.protocols.congestion.nscc import NSCC
from capsim.records import ACK, CONGESTION_EXPERIENCED, DATA, ECN_ECHO, RETRANSMITTED, SUBFLOW, TRIMMED
from capsim.results.conservation import check
from capsim.results.ideal import ideal_fct_s
from capsim.roles.hooks import ACKED, CERTAIN, EXPIRED, HEADER, LOST, MARKED, OPENED

FIXED = replace(scheme("uet").short, congestion=NO_CONGESTION)
WINDOW = replace(scheme("uet"), short=FIXED, long=FIXED)  # whatever comes


class Answered(Sender):
    """A sender whose test writes ACKs and NACKs; each returns the segments that leave for it."""

    def answer(self, segment, *, ack=0, trimmed=0, sent_us=0, at_us=None, flags=0, come=()):
        self.now_us = self.now_us if at_us is None else at_us
        values = {"kind": ACK, "flags": flags, "segment": segment, "ack": ack, "sent_ps": round(sent_us * US)}
        packet = self.hosts.arriving(self.sub.id, **values)
        self.options(packet).trimmed = trimmed
        self.options(packet).first = min(come, default=segment)
        self.options(packet).come = sum(1 << (one - min(come)) for one in come)
        handlers.deliver(self.hosts, packet.number, round(self.now_us * US))
        return self._new_segments()

    def nack(self, segment, **options):
        return self.answer(segment, trimmed=1, **options)

    def hold(self):
        """Let packets wait at the NIC from now on."""
        waits = SimpleNamespace(enqueue=lambda packet, _: self.hosts.sent.append(packet))
        self.hosts.port_objects = [waits] * len(self.hosts.port_objects)

    def leave(self, packet, at_us):
        """Let the NIC take a packet."""
        on_sent(self.hosts, self.sub.id, packet.number, round(at_us * US))


def test_each_answer_makes_room_for_a_packet_whatever_the_order():
    sender = Answered(WINDOW, initial_window_packets=4)
    assert [packet.segment for packet in sender.packets] == [0, 1, 2, 3]
    assert sender.answer(2, at_us=100) == [4]
    assert (sender.sub.una, sender.sub.flight_bytes, sender.sub.rtt_ps) == (0, 4 * MSS, 100 * US)
    assert sender.answer(2, at_us=100) == []
    assert sender.answer(0, ack=1, at_us=110) == [5]
    assert sender.answer(1, ack=3, at_us=120) == [6]
    assert sender.answer(5, ack=6, at_us=200, sent_us=110) == [7, 8, 9]  # tells of 3 and 4 too
    assert (sender.sub.una, sender.sub.flight_bytes, sender.sub.newly_acked_bytes) == (6, 4 * MSS, 3 * MSS)
    assert sender.sub.dup_acks_received == 0


def test_what_is_missing_leaves_before_what_is_new():
    """A NACK makes room at once, in the order of segments; that of another copy than the last says nothing."""
    sender = Answered(WINDOW, initial_window_packets=4)
    sender.sub.cwnd_bytes = 2 * MSS  # nothing may leave yet
    assert [sender.nack(segment, at_us=100) for segment in (3, 1)] == [[], []]
    assert (sender.sub.flight_bytes, sender.own("transport").missing) == (2 * MSS, 2)
    assert [sender.answer(0, ack=1, at_us=110), sender.answer(2, ack=1, at_us=120)] == [[1], [3]]
    assert sender.nack(1, at_us=130) == []
    assert sender.nack(1, at_us=140, sent_us=110) == [1]
    assert (sender.sub.retransmissions, sender.sub.lost_flight_bytes) == (3, MSS)
    sender.sub.cwnd_bytes = 1
    assert sender.answer(3, ack=1, at_us=150, sent_us=120) == []
    assert sender.answer(1, ack=4, at_us=160, sent_us=140) == [4]  # one packet, however small the window is


def test_the_timer_is_that_of_the_oldest_packet_and_does_not_double():
    sender = Answered(WINDOW, initial_window_packets=3, min_rto_s=1e-3)
    assert sender.answer(0, ack=1, at_us=400) == [3]
    sender.answer(2, ack=1, at_us=500)
    assert (sender.timer_us, sender.expire()) == (1000, [1])
    assert (sender.sub.lost_flight_bytes, sender.timer_us) == (MSS, 1400)
    assert sender.expire() == [3]
    assert sender.expire() == [4]  # sent at 500
    assert (sender.expire(), sender.timer_us, sender.sub.timeouts) == ([1], 2400, 4)


def test_round_trip_and_timer_begin_when_the_nic_takes_a_packet():
    """What waits there is not late, however long; a NACK says nothing of a copy that waits."""
    sender = Answered(WINDOW, initial_window_packets=2, min_rto_s=1e-3)
    sender.hold()
    assert [sender.answer(0, ack=1, at_us=400), sender.answer(1, ack=2, at_us=500)] == [[2], [3]]
    assert (sender.timer_us, sender.expire()) == (1000, [])
    assert (sender.timer_us, sender.sub.timeouts, sender.sub.flight_bytes) == (2000, 0, 2 * MSS)
    waiting = sender.packets[2]
    sender.leave(waiting, at_us=1500)
    assert waiting.sent_ps == 1500 * US
    assert (sender.expire(), sender.timer_us) == ([], 2500)
    assert (sender.expire(), sender.timer_us, sender.sub.timeouts) == ([2], 3500, 1)  # the one that still waits
    assert (sender.nack(2, ack=2, sent_us=1500), sender.own("transport").missing) == ([], 0)
    sender.leave(sender.packets[4], at_us=2600)
    assert sender.nack(2, ack=2, sent_us=2600, at_us=2800) == [2]
    assert sender.sub.rtt_ps == 200 * US


def test_a_copy_that_leaves_when_its_segment_is_acknowledged_changes_nothing():
    """Its place in the ring may have another segment."""
    sender = Answered(WINDOW, initial_window_packets=2, min_rto_s=1e-3, n_segments=4)
    sender.hold()
    assert sender.expire() == [0, 1]
    assert sender.answer(1, ack=2, at_us=1100) == [2, 3]
    before = [place.sent_ps for place in sender.hosts.segments(sender.sub, (0, "transport"))]
    sender.leave(sender.packets[2], at_us=1200)
    assert [place.sent_ps for place in sender.hosts.segments(sender.sub, (0, "transport"))] == before


def test_what_waits_for_the_nic_is_not_overtaken():
    sender = Answered(WINDOW, initial_window_packets=12, late_windows=0.1)
    sender.hold()
    sender.sub.cwnd_bytes = 20 * MSS
    assert sender.answer(1, at_us=100) == [*range(12, 21)]
    sender.sub.cwnd_bytes = 12 * MSS
    assert [sender.answer(segment, at_us=100) for segment in (2, 3, 4)] == [[], [], []]
    sender.sub.cwnd_bytes = 18 * MSS
    assert sender.answer(5, at_us=100)[:2] == [0, 6]
    lost = [packet.segment for packet in sender.packets if packet.flags & RETRANSMITTED]
    assert set(lost) <= {0, *range(6, 12)}
    assert sender.own("transport").missing + len(lost) == 7


def test_the_largest_window_so_far_bounds_how_many_come_before_a_loss():
    """Seven, where a window and a half of the present one are more."""
    sender = Answered(WINDOW, initial_window_packets=7, late_windows=1.5)
    for segment in range(1, 7):
        sender.answer(segment, at_us=100)
    assert (sender.own("transport").missing, sender.sub.retransmissions) == (0, 0)
    assert sender.answer(7, at_us=100)[0] == 0


def test_an_answer_to_each_packet_and_to_each_header():
    receiver = Receiver(WINDOW)
    assert (receiver.take(2).ack, receiver.take(0).ack) == (0, 1)
    reply = receiver.take(1, flags=TRIMMED)
    assert (reply.ack, reply.segment, receiver.options(reply).trimmed, reply.bytes) == (1, 1, 1, 64)
    assert receiver.options(receiver.take(1)).trimmed == 0
    assert receiver.sub.receive_next == 3


def test_what_a_window_and_a_half_overtakes_is_lost_once():
    """Six behind segment 0, in a window of four; what is lost again, or was sent after that, waits for the timer."""
    sender = Answered(WINDOW, initial_window_packets=12, late_windows=1.5, min_rto_s=1e-3)
    assert sender.answer(1, at_us=100) == [12]
    sender.sub.cwnd_bytes = 4 * MSS
    for segment in (2, 4, 5, 6):
        assert sender.answer(segment, at_us=100) == []
    assert sender.own("transport").missing == 0
    assert sender.answer(7, at_us=100) == []
    assert (sender.own("transport").missing, sender.own("transport").recover) == (2, 13)  # 0 and 3, of the next four
    assert [sender.answer(segment, at_us=100) for segment in (8, 9, 10, 11)] == [[], [0], [3], [13]]
    assert sender.answer(13, at_us=200, sent_us=100) == [14]
    assert sender.answer(0, ack=3, at_us=210, sent_us=100) == [15]
    assert (sender.sub.retransmissions, sender.own("transport").missing) == (2, 0)
    assert (sender.expire(), sender.expire()) == ([], [3, 12])  # sent at 100


def test_few_packets_out_of_order_are_no_loss():
    """At least five, whatever the window; none where the rule is off."""
    for late, resent in ((1.0, 1), (0.0, 0)):
        sender = Answered(WINDOW, initial_window_packets=2, late_windows=late)
        for segment in range(1, 5):
            sender.answer(segment, at_us=100)
        assert sender.sub.retransmissions == 0
        sender.answer(5, at_us=100)
        assert sender.sub.retransmissions == resent


def test_one_ack_for_several_packets():
    """The first at once, then each fourth; a mark, a duplicate and who asks for it do not wait."""
    receiver = Receiver(WINDOW, ack_every=4)

    def take(segment, *, asks=0, flags=0):
        packet = receiver.hosts.arriving(receiver.sub.id, kind=DATA, segment=segment, bytes=MSS + 40, flags=flags)
        receiver.options(packet).asks = asks
        sent = len(receiver.hosts.sent)
        handlers.deliver(receiver.hosts, packet.number, 0)
        found = receiver.hosts.sent[sent:]
        return [(one.ack, receiver.options(one).first, receiver.options(one).come) for one in found]

    assert [take(segment) for segment in (0, 1, 3, 5)] == [[(1, 1, 0)], [], [], []]
    assert take(7) == [(2, 2, 0b101010)]
    assert take(9, flags=CONGESTION_EXPERIENCED) == [(2, 2, 0b10101010)]
    assert take(9) == [(2, 2, 0b10101010)]
    assert take(11, asks=1) == [(2, 2, 0b1010101010)]
    assert [take(segment) for segment in (2, 4, 6)] == [[], [], []]
    assert take(8) == [(10, 10, 0)]
    assert take(10) == [(12, 12, 0)]  # it was asked for, and nothing is missing now
    assert take(80) == []
    assert take(81, asks=1) == [(12, 19, (1 << 62) + (1 << 61))]  # 63 packets at most


def test_an_ack_for_several_packets_makes_room_for_all_of_them():
    sender = Answered(WINDOW, initial_window_packets=4, ack_every=4)
    asks = [sender.options(packet).asks for packet in sender.packets]
    assert asks == [0, 0, 0, 1]  # behind the last the window is full
    assert sender.answer(3, ack=1, at_us=100, come=(2, 3)) == [4, 5, 6]
    assert (sender.sub.newly_acked_bytes, sender.sub.una) == (3 * MSS, 1)
    assert sender.answer(6, ack=4, at_us=200, sent_us=100, come=()) == [7, 8]


def test_the_window_follows_marks_alone():
    """By n s / w without a mark, by a third of n with one; NACKs and the timer take what is lost."""
    sender = Answered("uet", congestion={"window": "ecn"})
    first = sender.sub.cwnd_bytes
    sender.answer(0, ack=1, at_us=200, flags=ECN_ECHO)
    assert sender.sub.cwnd_bytes == int(first - MSS / 3)
    before = first - MSS / 3
    sender.answer(1, ack=2, at_us=5000)  # a delay that NSCC would answer
    assert sender.sub.cwnd_bytes == int(before + MSS * MSS / before)
    before += MSS * MSS / before
    sender.nack(2, ack=2, at_us=5000)
    assert sender.sub.cwnd_bytes == int(before - MSS)


class Second:
    """NSCC once more, in microseconds and packets, with the windows of each rule as they are written down."""

    def __init__(self, rtt, bdp, share):
        self.net, self.base, self.target, self.bdp, self.a = rtt, rtt, share * rtt, bdp, bdp * MSS / 150_000
        self.mean = self.grow = self.got = self.done = self.idle = self.ignored = self.ignore = 0.0
        self.grown = self.shrunk = self.look = 0.0
        self.armed = self.fast = False
        self.window = self.most

    @property
    def most(self):
        return 1.5 * self.bdp * self.base / self.net

    def bound(self, window):
        self.window = min(max(window, 1.0), max(self.most, 1.0))

    def blend(self, delay):
        self.mean = 0.9875 * self.mean + 0.0125 * delay

    def adapt(self, loss, mark, delay, flight, now):
        done = mark and self.ignored < self.ignore
        if not done and now > self.look:
            if self.look and (self.armed or loss or delay > 4 * self.target) and self.done < self.most / 8:
                self.bound(self.done)
                self.ignore, self.ignored, self.armed, done = flight, 0, False, True
            self.done, self.look = 0.0, now + self.base + self.target
        if done:
            self.grow = self.got = 0.0
        return done

    def ack(self, packets, rtt, mark, flight, now):
        self.base = min(self.base, rtt)
        delay = rtt - self.base
        self.done, self.got, self.ignored = self.done + packets, self.got + packets, self.ignored + packets
        self.blend(0.25 * self.base if delay > self.target and not mark else delay)
        if self.adapt(False, mark, delay, flight, now):
            return
        if delay >= self.target and not mark:
            self.grow += 5 * self.a * packets
        elif not mark:
            self.idle = self.idle + packets if delay < 1 else 0
            self.fast = delay < 1 and (self.fast or self.idle > self.window)
            if self.fast:
                self.bound(self.window + 0.25 * self.a * packets)
            else:
                self.grow += 4 * self.a * packets * (self.target - delay) / 12
        elif delay >= self.target:
            self.idle, self.fast = 0, False
            if self.mean > self.target and now - self.shrunk > self.base:
                self.bound(self.window * max(1 - 0.8 * (self.mean - self.target) / self.mean, 0.5))
                self.shrunk = now
        if self.got > 8 or now - self.grown > self.net:
            window = self.window + self.grow / self.window
            if now - self.grown >= self.net:
                window, self.grown = window + 0.15 * self.a, now
            self.bound(window)
            self.grow = self.got = 0.0

    def nack(self, rtt, flight, now):
        self.base = min(self.base, rtt)
        self.ignored += 1
        self.blend(self.net)
        self.armed = True
        if not self.adapt(True, True, 0, flight, now):
            self.bound(self.window - 1)


def phases(rng, count=80):
    """Yield answers in phases of one kind: (what, packets, round trip, time since the one before), in microseconds."""
    kinds = [["ack"], ["ack"], ["mark"], ["mark", "ack"], ["nack"], ["ack", "nack", "mark"], ["late"]]
    for _ in range(count):
        among, wait = kinds[rng.integers(len(kinds))], rng.choice([20, 80, 400])
        level, jitter = rng.choice([(300, 1), (300, 3), (400, 9), (600, 9), (1100, 9), (1500, 9), (4000, 9)])
        for _ in range(rng.integers(1, 2 if among == ["late"] else 60)):
            rtt = level + rng.integers(0, jitter)
            yield str(rng.choice(among)), int(rng.integers(1, 5)), int(rtt), int(rng.integers(1, wait))


@pytest.mark.parametrize("seed", range(4))
def test_nscc_is_what_its_rules_say(seed):
    """Window by window, on 32 packets of bandwidth-delay product, with delays of up to twelve round trips."""
    bdp, rtt = 32, 300
    component = replace(NSCC, params=replace(NSCC.params, rate_bps=bdp * MSS * 8 * 10**6 // rtt, base_rtt_s=rtt * 1e-6))
    params, own = params_of(component), SimpleNamespace(subflow=memory_of(component, "subflow"))
    sub = record(SUBFLOW, mss_bytes=MSS, max_window_bytes=10**9)
    second, now = Second(rtt, bdp * (component.params.rate_bps * rtt / (bdp * MSS * 8e6)), 0.75), 1000

    def tell(signals, **values):
        for name, value in values.items():
            setattr(sub, name, value)
        NSCC.react(params, own, None, sub, None, signals, now * US)

    tell(OPENED)
    for kind, packets, rtt_us, wait in phases(np.random.default_rng(seed)):
        now += wait
        flight = int(sub.cwnd_bytes) // MSS
        sub.flight_bytes = flight * MSS
        if kind == "nack":
            tell(HEADER | LOST | CERTAIN, lost_flight_bytes=MSS, rtt_ps=rtt_us * US)
            second.nack(rtt_us, flight, now)
        elif kind == "late":
            tell(EXPIRED, lost_flight_bytes=packets * MSS)
            second.bound(second.window - packets)
        else:
            mark = kind == "mark"
            tell(ACKED | (MARKED if mark else 0), newly_acked_bytes=packets * MSS, rtt_ps=rtt_us * US)
            second.ack(packets, rtt_us, mark, flight, now)
        assert sub.cwnd_bytes / MSS == pytest.approx(second.window, rel=1e-6, abs=1.5 / MSS)


def test_one_flow_alone_has_the_ideal_time_to_the_picosecond(subtests):
    """Limiting case: the first window is one and a half bandwidth-delay products, on four paths."""
    cases = [
        ("uet", {}),
        ("uet", {"transport": {"ack_every": 4}}),
        ("uet", {"congestion": {"window": "ecn"}}),
        ("uet_drop", {}),
    ]
    for name, options in cases:
        with subtests.test(name=name, options=options):
            kind = ParallelPaths(paths=4, hosts_per_side=2, rate_bps=1e9, delay_s=10e-6)
            flows = flow_list([(0, 2, 500 * MSS - 700, 3.0)])
            setup = setup_of(kind, flows, name, **options)
            found = run(setup)
            ideal = ideal_fct_s(flows, setup.fabric, mss_bytes=MSS, header_bytes=40)
            assert found.flows["received_ps"][0] - found.flows["start_ps"][0] == round(ideal[0] * 1e12)


SEVERAL = Dumbbell(hosts_per_side=8, rate_bps=1e9, delay_s=12.5e-6)


@pytest.mark.parametrize(("count", "name"), [*zip(range(1, 9), cycle(["uet", "uet_drop"]), strict=False)])
def test_flows_of_one_host_send_nothing_again_on_an_idle_network(count, name):
    """From five on they wait longer for their NIC than the timer; then they share its rate."""
    flows = flow_list([(0, 8 + other, 60 * MSS, 0.0) for other in range(count)])
    setup = setup_of(SEVERAL, flows, name, transport={"min_rto_s": 879e-6})
    found = run(setup)
    assert (found.subs["retransmissions"].sum(), found.subs["timeouts"].sum()) == (0, 0)
    assert found.subs["rtt_ps"].max() < 400 * US
    alone_ps = run(setup_of(SEVERAL, flow_list([(0, 8, 60 * count * MSS, 0.0)]), name)).flows["received_ps"][0]
    assert found.flows["received_ps"].max() == pytest.approx(alone_ps, rel=1e-3)
    assert differences(setup, strict=True) == []


def test_learned_paths_are_ahead_of_all_in_turn():
    """A permutation at 100 Gbps, in the order that uet-htsim publishes: REPS before bitmap before oblivious."""
    kind = FatTree(pods=4, rate_bps=1e11, delay_s=1e-6)
    flows = flow_list([(host, (host + 5) % 16, 2_000_000, 0.0) for host in range(16)])
    options = {
        "transport": {"mss_bytes": 4110, "max_window_bytes": 2_000_000, "min_rto_s": 1e-4},
        "congestion": {"rate_bps": 100_000_000_000, "base_rtt_s": 14.02272e-6},
        "queue": {"limit_bytes": 43 * 4150, "mark_low_bytes": 9 * 4150, "mark_high_bytes": 35 * 4150},
    }
    last = {}
    for policy in ("mixed", "reps", "bitmap", "oblivious"):
        chosen = scheme("uet").with_params(marking={"policy": policy})
        last[policy] = run(setup_of(kind, flows, chosen, trace=0, **options)).flows["received_ps"].max()
    assert max(last["mixed"], last["reps"]) < last["bitmap"] < last["oblivious"]


def test_a_limit_that_is_never_met_neither_trims_nor_drops():
    """Limiting case, packet for packet: `uet_drop` is `uet` where ports have room and both have the same target."""
    same = {"queue": {"limit_bytes": 10**9}, "transport": {"min_rto_s": 0.01}, "congestion": {"target_share": 0.75}}
    trims, drops = (run(setup_of(*CROWDED["leaf-spine"], name, **same)) for name in ("uet", "uet_drop"))
    assert trims.subs["reordered_packets"].sum() > 0
    assert trims.trace["flags"].any()
    assert np.array_equal(trims.trace, drops.trace)


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
LATE = {"min_rto_s": 1e-3, "late_windows": 1.5}
OF_ONE_HOST = flow_list([(host, 8 - host, 40_000 + 5000 * host, 7.0 * host) for host in (0, 0, 0, 0, 0, 1, 1)])
SMALL_NICS = LeafSpine(
    leaves=3,
    hosts_per_leaf=3,
    spines=3,
    delay_s=2e-6,
    host_buffer_packets=20,
    buffer_packets=50,
    loss_prob=0.02,
    links=(LinkChange(between=("host0", "leaf0"), down_s=300e-6, up_s=600e-6),),
)
TIGHT = {"transport": {"min_rto_s": 400e-6, "late_windows": 1.5}}
CASES = {
    "several flows a host": (SMALL_NICS, "uet", {"flows": OF_ONE_HOST, **TIGHT}),
    "several flows a host, NICs in order": (
        SMALL_NICS,
        replace(scheme("uet"), nic=Nic(name="fifo")),
        {"flows": OF_ONE_HOST, "host_jitter_ps": 5 * US, "flow_jitter_ps": 9 * US, **TIGHT},
    ),
    "several flows a host, in order of scheduling": (
        SMALL_NICS,
        "uet_drop",
        {"flows": OF_ONE_HOST, "ordered": True, "queue": {"limit_bytes": 9000}, **TIGHT},
    ),
    "links fail": (FAILING, "uet", {"ordered": True}),
    "links lose all kinds": (LOSSY, "uet", {"link_bytes": 38}),
    "a shared stream": (DUMBBELL, "mptcp.sharing+uet", {}),
    "one ACK for three packets": (LOSSY, "uet", {"transport": {"ack_every": 3}, "link_bytes": 38}),
    "ports drop, windows by marks": (
        FAILING,
        "uet_drop",
        {"queue": {"limit_bytes": 9000}, "congestion": {"window": "ecn"}, "transport": LATE},
    ),
}


@pytest.mark.agreement
@pytest.mark.parametrize("case", CASES)
def test_both_engines_answer_alike(case):
    """And every flow ends, also where ACKs and headers are lost."""
    kind, name, options = CASES[case]
    flows = CROWDED["dumbbell" if kind is DUMBBELL else "leaf-spine"][1]
    setup = setup_of(kind, **{"flows": flows, "name": name} | options)
    found = one_run(setup, strict=True)
    check(found, setup.fabric)
    assert (found.flows["acked_ps"] > 0).all()
    assert (found.subs["timeouts"].sum() > 3) == (case != "a shared stream")
    marks = found.trace["flags"] & ECN_ECHO
    assert marks.any() or "host" in case
    assert (found.ports["packets_dropped"][setup.fabric.host_port].sum() > 0) == ("host" in case)
