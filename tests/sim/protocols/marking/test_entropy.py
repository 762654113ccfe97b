"""Entropies by hand and by second descriptions: which one each policy takes, what it learns; one entropy is ECMP."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.engine_setups import (
    CROWDED,
    assert_same_trace,
    flow_list,
    marking_early,
    memory_of,
    one_run,
    params_of,
    record,
    setup_of,
)
from support.scripted import MSS, Receiver

from capsim import Dumbbell, LinkChange, ParallelPaths, ParameterError, scheme
from capsim.engines import run
from capsim.protocols.marking.entropy import ENTROPY, EntropyParams, Policy
from capsim.protocols.marking.five_tuple import FIVE_TUPLE
from capsim.records import ACK, ARRIVED, CODED, DATA, NONE, PACKET, SUBFLOW, SYN
from capsim.roles.hooks import ACKED, DUPLICATE, EXPIRED, HEADER, MARKED

pytestmark = pytest.mark.agreement

MS = 10**9  # picoseconds


class Hosts:
    """The component with records of its own: `take` gives the entropy of the next packet, `learn` tells it."""

    def __init__(self, policy, **params):
        component = replace(ENTROPY, params=EntropyParams(policy=policy, **params))
        self.params, self.own = params_of(component), SimpleNamespace(subflow=memory_of(component, "subflow"))
        self.sub = record(SUBFLOW, hash=77, una=0, next_segment=10)

    def take(self, u0=0.0, kind=DATA):
        packet = record(PACKET, kind=kind, entropy=NONE)
        self.hash = ENTROPY.mark(self.params, self.own, None, self.sub, packet, u0)
        return packet.entropy

    def learn(self, entropy=NONE, signals=ACKED, at_ms=0):
        packet = record(PACKET, kind=ACK, entropy=entropy)
        ENTROPY.learn(self.params, self.own, None, self.sub, packet, signals, at_ms * MS)

    def round(self, marks, acks=10, at_ms=0):
        """Acknowledge a window, of which so many echo a mark."""
        for ack in range(acks):
            self.sub.una += 1
            if ack == acks - 1:
                self.sub.next_segment = self.sub.una + acks
            self.learn(0, ACKED | (MARKED if ack < marks else 0), at_ms)


@pytest.mark.parametrize("policy", Policy)
def test_one_entropy_is_ecmp_packet_for_packet(policy):
    """Whatever is learned, and with losses and timeouts."""
    for name in ("dctcp_rack_reps", "dctcp_plb"):
        chosen = marking_early(name)
        plain = replace(chosen.short, marking=FIVE_TUPLE)
        kind, flows = CROWDED["leaf-spine"]
        one = run(setup_of(kind, flows, chosen.with_params(marking={"policy": policy.name.lower(), "entropies": 1})))
        assert_same_trace(one, run(setup_of(kind, flows, replace(chosen, short=plain, long=plain))))


def test_hashes_of_entropies():
    """None of 0, of others one each; SYNs and acknowledgements have the hash of their subflow."""
    hosts = Hosts(Policy.OBLIVIOUS, entropies=64)
    hashes = {hosts.take(): hosts.hash for _ in range(64)}
    assert hashes[0] == 77
    assert len(set(hashes.values())) == 64
    assert hosts.take(kind=CODED) == 0
    assert (hosts.take(kind=SYN), hosts.hash) == (NONE, 77)


@given(st.lists(st.floats(0, 1, exclude_max=True), min_size=3, max_size=3))
def test_oblivious_takes_each_once_a_round(draws):
    """In the order of a counter with some bits flipped, drawn at the beginning of the round."""
    hosts = Hosts(Policy.OBLIVIOUS, entropies=8)
    for u0 in draws:
        flipped = int(8 * u0)
        assert [hosts.take(u0) for _ in range(8)] == [place ^ flipped for place in range(8)]


PENALTIES = {ACKED: 0, ACKED | MARKED: 1, HEADER: 4, HEADER | MARKED: 4, DUPLICATE | MARKED: 1}
SEEN = st.lists(st.tuples(st.sampled_from(list(PENALTIES)), st.integers(0, 7), st.integers(0, 2)), max_size=120)


@given(SEEN)
def test_bitmap_passes_over_each_penalty_once(events):
    """Against lists: a mark is one, a header four, of at most 15 in store; each costs the entropy one of its turns."""
    hosts, owed, at = Hosts(Policy.BITMAP, entropies=8), [0] * 8, 0
    for signals, entropy, taken in events:
        hosts.learn(entropy, signals)
        owed[entropy] = min(owed[entropy] + PENALTIES[signals], 15)
        for _ in range(taken):
            while owed[at]:
                owed[at] -= 1
                at = (at + 1) % 8
            assert hosts.take(0.0) == at
            at = (at + 1) % 8


@given(SEEN)
def test_mixed_is_a_bitmap_where_nothing_has_come_back_unmarked(events):
    """Against lists: the last eight that did come first, the oldest of them at once."""
    hosts, bitmap, known = Hosts(Policy.MIXED, entropies=8), Hosts(Policy.BITMAP, entropies=8), []
    for signals, entropy, taken in events:
        hosts.learn(entropy, signals)
        bitmap.learn(entropy, signals)
        known = [*known, entropy][-8:] if PENALTIES[signals] == 0 else known
        for _ in range(taken):
            assert hosts.take(0.0) == (known.pop(0) if known else bitmap.take(0.0))
    hosts.learn(NONE, EXPIRED)
    assert hosts.take(0.0) == (known.pop(0) if known else bitmap.take(0.0))


def test_reps_takes_the_oldest_that_came_back_unmarked():
    """Each once; else a random one. More than eight push out the oldest."""
    hosts = Hosts(Policy.REPS, entropies=128)
    assert [hosts.take(u0) for u0 in (0.0, 0.5, 0.999)] == [0, 64, 127]
    hosts.learn(5)
    hosts.learn(6, ACKED | MARKED)
    hosts.learn(7, DUPLICATE)
    hosts.learn(8, HEADER)
    hosts.learn(NONE)
    assert [hosts.take(0.25) for _ in range(3)] == [5, 7, 32]
    for entropy in range(10, 20):
        hosts.learn(entropy)
    assert [hosts.take(0.25) for _ in range(9)] == [*range(12, 20), 32]


def test_reps_freezes_after_a_timeout():
    """For 10 ms known entropies again and again; then 16 random ones, and what has come back since is taken."""
    hosts = Hosts(Policy.REPS, entropies=128)
    for entropy in (3, 4, 5):
        hosts.learn(entropy)
    assert hosts.take() == 3
    hosts.learn(signals=EXPIRED, at_ms=1)
    assert [hosts.take(0.5) for _ in range(4)] == [4, 5, 3, 4]
    hosts.learn(signals=EXPIRED, at_ms=9)
    hosts.learn(9, at_ms=10)
    assert sorted(hosts.take(0.5) for _ in range(4)) == [3, 4, 5, 9]
    hosts.learn(11, at_ms=11)
    assert [hosts.take(0.5) for _ in range(18)] == [64] * 16 + [11, 64]


def test_a_timeout_before_anything_came_back():
    """Nothing is known, so entropies are random."""
    hosts = Hosts(Policy.REPS, entropies=128)
    hosts.learn(signals=EXPIRED)
    assert [hosts.take(u0) for u0 in (0.0, 0.5)] == [0, 64]


def test_plb_changes_after_twelve_congested_rounds_in_turn():
    """More than half of the acknowledgements marked; half is not more, and begins the count anew."""
    hosts = Hosts(Policy.PLB)
    hosts.round(0)
    for marks, rounds in ((6, 11), (5, 1), (6, 11)):
        for _ in range(rounds):
            hosts.round(marks)
            assert hosts.take(0.5) == 0
    hosts.round(6)
    changed = 1 + int(0.5 * 127)
    assert [hosts.take(0.5), hosts.take(0.9)] == [changed, changed]
    for _ in range(12):
        hosts.round(6)
    assert hosts.take(0.999) == (changed + 127) % 128


def test_plb_rests_after_a_timeout_that_changed_the_entropy():
    """For 60 s."""
    hosts = Hosts(Policy.PLB)
    hosts.learn(signals=EXPIRED, at_ms=1)
    assert hosts.take(0.0) == 1
    for at_ms in (2, 60_000):
        for _ in range(12):
            hosts.round(10, at_ms=at_ms)
        assert hosts.take(0.0) == 1
    for _ in range(12):
        hosts.round(10, at_ms=60_001)
    assert hosts.take(0.0) == 2


def test_flowbender_changes_after_one_round():
    """More than 5% of its acknowledgements marked: one of twenty is not, two are."""
    hosts = Hosts(Policy.FLOWBENDER, marked_share=0.05, congested_rounds=1, pause_s=0.0)
    hosts.round(0, acks=20)
    for marks, entropy in ((1, 0), (2, 1)):
        hosts.round(marks, acks=20)
        assert hosts.take(0.0) == entropy


def test_an_acknowledgement_echoes_the_entropy_of_its_packet():
    """What comes back later by a timer answers no packet, and says none."""
    receiver = Receiver("rack", ack_every=2, ack_delay_s=1e-3, n_segments=10)
    assert receiver.reply(DATA, segment=0, bytes=MSS + 40, flags=0, entropy=5) is None
    assert receiver.reply(DATA, segment=1, bytes=MSS + 40, flags=0, entropy=6).entropy == 6
    assert receiver.hosts.packets[receiver.hosts.take_packet()].entropy == NONE


@pytest.mark.parametrize("at_host", [False, True])
def test_the_answer_to_a_header_echoes_its_entropy_unless_no_path_leads_around(at_host):
    """Two flows meet in the fabric, or at the link of their receiver."""
    learned = []
    params = replace(EntropyParams(), policy=Policy.OBLIVIOUS, entropies=1)

    def learn(params, own, flow, sub, packet, signals, now_ps):
        learned.append((signals & HEADER, packet.entropy))
        return 0

    marking = replace(ENTROPY, learn=learn, params=params)
    base = scheme("ndp")
    stack = replace(base.short, marking=marking)
    fabric = Dumbbell(hosts_per_side=2, rate_bps=1e10 if at_host else 1e9, host_rate_bps=1e9)
    flows = flow_list([(0, 2, 50_000, 0.0), (1, 2 if at_host else 3, 50_000, 0.0)])
    run(setup_of(fabric, flows, replace(base, short=stack, long=stack)), engine="reference")
    headers = {entropy for is_header, entropy in learned if is_header}
    assert headers == {NONE if at_host else 0}


def test_what_is_learned_keeps_packets_off_a_slow_path():
    """Of four paths one has a tenth of the rate: spraying sends a quarter there, with REPS less than half of that."""
    slow = LinkChange(between=("left", "right"), parallel=1, rate_bps=1e8)
    fabric = ParallelPaths(paths=4, hosts_per_side=2, delay_s=5e-6, links=(slow,))
    flows = flow_list([(0, 2, 600_000, 0.0), (1, 3, 600_000, 0.0)])
    share = {}
    for policy in ("oblivious", "reps"):
        chosen = marking_early("dctcp_rack_reps").with_params(marking={"policy": policy})
        trace = one_run(setup_of(fabric, flows, chosen)).trace
        data = trace[(trace["what"] == ARRIVED) & (trace["kind"] == DATA)]
        names = np.array(fabric.build().port_names)
        over = [np.sum(data["port"] == port) for port in np.flatnonzero(np.char.startswith(names, "left>right"))]
        share[policy] = over[0] / sum(over)
    assert share["oblivious"] > 0.15
    assert share["reps"] < share["oblivious"] / 2


def test_a_number_of_entropies_that_has_no_bits():
    with pytest.raises(ParameterError, match=r"marking\.entropies = 100, but it must be a power of two"):
        scheme("dctcp_plb").with_params(marking={"entropies": 100})
