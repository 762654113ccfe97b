"""Presto: how flows are cut into flowcells, which path each takes, and what the receiver holds, packet by packet."""

import numpy as np
import pytest
from support.balancer_setups import OneSwitch
from support.engine_setups import CROWDED, DUMBBELL, PARALLEL, differences, flow_list, one_run, setup_of
from support.scripted import MSS, US, Receiver, Sender

from capsim import LinkChange, ParallelPaths, scheme
from capsim.engines import run
from capsim.engines.hosts import handlers
from capsim.protocols.balancers.labelled import LABELLED
from capsim.protocols.layers.presto import Placement
from capsim.records import DATA, ENQUEUED, NONE


def presto(**layer):
    return scheme("presto").with_params(layer=layer)


def cells_sent(count, **layer):
    """Return flowcell and label of the first `count` segments of a long flow."""
    sender = Sender(presto(**layer), initial_window_packets=count)
    own = [sender.hosts.packet[packet.number][0, "layer"] for packet in sender.packets]
    assert [packet.segment for packet in sender.packets] == list(range(count))
    return [each.cell for each in own], [packet.label for packet in sender.packets]


def test_a_flowcell_has_at_most_64_kb_of_payload():
    """44 segments of 1460 bytes are 64,240 bytes; the 45th would make 65,700."""
    cells, labels = cells_sent(100)
    assert cells == [0] * 44 + [1] * 44 + [2] * 12
    assert [label - labels[0] for label in labels] == cells  # the next path each


def test_the_size_of_flowcells(subtests):
    for cell_bytes, packets in [(0, 1), (2 * MSS - 1, 1), (2 * MSS, 2), (10**9, 100)]:
        with subtests.test(cell_bytes=cell_bytes, packets=packets):
            cells, _ = cells_sent(20, cell_bytes=cell_bytes)
            first = cells[0]
            assert cells == [first + number // packets for number in range(20)]


def test_flows_begin_at_the_path_of_their_hash_or_at_the_first():
    sender = Sender("presto")
    assert sender.packets[0].label == sender.sub.hash & (2**31 - 1)
    assert cells_sent(1, hashed_start=False)[1] == [0]


def test_random_placement_draws_a_path_for_each_flowcell():
    """Labels are even over four paths, and the same for the packets of a flowcell."""
    cells, labels = cells_sent(600, cell_bytes=MSS, placement=Placement.RANDOM)
    counts = np.bincount(np.array(labels) % 4, minlength=4)
    assert len(set(cells)) == 600
    assert np.all(np.abs(counts - 150) < 4 * np.sqrt(600 * 3 / 16))
    _, pairs = cells_sent(600, cell_bytes=2 * MSS, placement=Placement.RANDOM)
    assert pairs[0::2] == pairs[1::2]


def test_a_retransmission_is_in_the_present_flowcell():
    sender = Sender(presto(cell_bytes=MSS), initial_window_packets=10)
    sender.duplicates(0, 3)
    assert [packet.segment for packet in sender.packets[10:]] == [10, 11, 0]  # limited transmit, then the repair
    own = [sender.hosts.packet[packet.number][0, "layer"] for packet in sender.packets]
    assert [each.cell for each in own] == list(range(13))


def test_switches_take_the_digits_of_a_label_off():
    """Labels 0 to 11 name the 4 x 3 paths of two tiers once each; acknowledgements have none and go by their hash."""
    lower, upper = (OneSwitch(LABELLED, n_paths=n_paths, tier=tier) for tier, n_paths in enumerate((4, 3)))
    paths = set()
    for label in range(12):
        first = lower.path(label=label)
        paths.add((first, upper.path(label=lower.packet.label)))
        assert upper.packet.label == 0
    assert len(paths) == 12
    assert len({lower.path(label=NONE, hash=number) for number in range(50)}) == 4
    assert len({lower.path(label=NONE, hash=7) for _ in range(50)}) == 1
    assert lower.packet.label == NONE


class Reassembly(Receiver):
    """The receiver of Presto; a packet is its segment and its flowcell."""

    def __init__(self, **layer):
        super().__init__(presto(**layer))

    def take(self, segment, cell, *, at_us=0.0):
        """Take a packet; return the numbers in the acknowledgements that it causes."""
        packet = self.hosts.arriving(self.sub.id, kind=DATA, segment=segment, bytes=MSS + 40, flags=0)
        self.hosts.packet[packet.number][0, "layer"].cell = cell
        before = len(self.hosts.sent)
        handlers.deliver(self.hosts, packet.number, round(at_us * US))
        return [reply.ack for reply in self.hosts.sent[before:]]

    def wake(self):
        """Go to the end of the hold; return the acknowledgements then, and the time in us."""
        now_ps, before = self.sub.receive_wake_ps, len(self.hosts.sent)
        handlers.wake(self.hosts, handlers.RECEIVE_WAKE, self.sub.id, now_ps)
        return [reply.ack for reply in self.hosts.sent[before:]], now_ps / US

    @property
    def held(self):
        """The segments that are held, in order."""
        found, number = [], self.sub.held
        while number != NONE and (not found or number != self.sub.held):
            found.append(self.hosts.packets[number].segment)
            number = self.hosts.packets[number].next
        assert len(found) == self.hosts.counters[0].held
        return found


def test_what_is_in_order_goes_up_at_once():
    receiver = Reassembly()
    assert [receiver.take(segment, segment // 2) for segment in range(6)] == [[number] for number in range(1, 7)]
    assert receiver.sub.receive_wake_ps == NONE


def test_a_gap_within_a_flowcell_is_a_loss():
    """Segment 1 is missing: each later one of its flowcell causes a duplicate acknowledgement at once."""
    receiver = Reassembly()
    assert [receiver.take(segment, 0) for segment in (0, 2, 3)] == [[1], [1], [1]]
    assert receiver.take(4, 1) == [1]  # next in order after what has come: no gap between the flowcells


def test_what_is_behind_a_gap_between_flowcells_waits_for_it():
    receiver = Reassembly()
    assert receiver.take(0, 0) == [1]
    assert [receiver.take(segment, cell) for segment, cell in ((3, 1), (5, 2), (2, 1))] == [[], [], []]
    assert receiver.held == [2, 3, 5]
    assert receiver.take(1, 0) == [2, 3, 4]  # and segment 5 waits for segment 4
    assert receiver.take(4, 1) == [5, 6]
    assert receiver.held == []
    assert receiver.sub.receive_wake_ps == NONE
    assert receiver.own("layer").held_packets == 3


def test_earlier_flowcells_and_retransmissions_never_wait():
    receiver = Reassembly()
    assert receiver.take(0, 0) == [1]
    assert receiver.take(1, 1) == [2]
    assert receiver.take(5, 0) == [2]  # of an earlier flowcell
    assert receiver.take(0, 2) == [2]  # of a later one, but before what is expected
    assert receiver.held == []


@pytest.mark.parametrize(("advance", "acks"), [(False, []), (True, [2])])
def test_a_retransmission_may_make_its_flowcell_the_present_one(advance, acks):
    """What comes behind it is behind a gap between flowcells, or behind a loss in one."""
    receiver = Reassembly(advance_at_repairs=advance)
    receiver.take(0, 0)
    receiver.take(1, 1)
    assert receiver.take(0, 2) == [2]
    assert receiver.take(3, 2) == acks


def test_a_hold_ends_after_twice_the_mean_gap():
    """First taken for 100 us: segment 2 comes at 10 us and is given up for at 210 us; then it is a loss for TCP."""
    receiver = Reassembly()
    receiver.take(0, 0)
    assert receiver.take(2, 1, at_us=10) == []
    assert receiver.wake() == ([1], 210)
    assert receiver.take(3, 1, at_us=211) == [1]  # its flowcell is the present one now
    assert receiver.own("layer").expired_holds == 1


def test_a_hold_lasts_while_its_flowcell_grows():
    """A packet that comes 50 us before the end of a hold of 200 us keeps it for half of that: until 150 + 100 us."""
    receiver = Reassembly()
    receiver.take(0, 0)
    receiver.take(2, 1)
    receiver.take(3, 1, at_us=150)
    receiver.take(6, 2, at_us=249)  # of another flowcell
    assert receiver.wake() == ([1, 1], 250)
    assert receiver.held == [6]
    assert receiver.wake()[1] == 249 + 200


def test_the_hold_follows_the_gaps_that_were_filled():
    """A gap of 20 us, weight 1/2: the mean falls from 100 to 60 us, the next hold is 120 us."""
    receiver = Reassembly(gap_weight=0.5)
    receiver.take(0, 0)
    receiver.take(2, 1, at_us=5)
    assert receiver.take(1, 0, at_us=25) == [2, 3]
    receiver.take(4, 2, at_us=30)
    assert receiver.sub.receive_wake_ps == 150 * US


def test_without_reassembly_nothing_waits():
    receiver = Reassembly(reassembly=False)
    assert [receiver.take(segment, segment) for segment in (0, 3, 1)] == [[1], [1], [2]]


@pytest.mark.parametrize("kind", [DUMBBELL, ParallelPaths(paths=1, hosts_per_side=3, buffer_packets=10)])
def test_on_one_path_it_is_ecmp(kind):
    """Nothing overtakes, so nothing waits; packet for packet, losses included."""
    flows = flow_list([(host, 3 + (host + 1) % 3, 300_000, 3.0 * host) for host in range(3)])
    presto_run, ecmp_run = one_run(setup_of(kind, flows, "presto")), run(setup_of(kind, flows, "ecmp"))
    assert ecmp_run.ports["packets_dropped"].sum() > 0
    assert np.array_equal(presto_run.trace, ecmp_run.trace)


def test_flowcells_of_one_packet_are_spraying_in_turn():
    """One flow, without reassembly: the counter of the flow is that of its switch."""
    flows = flow_list([(0, 5, 400_000, 0.0)])
    layer = {"cell_bytes": 0, "hashed_start": False, "reassembly": False}
    found = [
        one_run(setup_of(PARALLEL, flows, name, **options)).trace
        for name, options in (
            ("presto", {"layer": layer}),
            ("rps", {"balancer": {"round_robin": True, "spray_acks": False}}),
        )
    ]
    assert np.array_equal(*found)


def bytes_by_path(setup):
    result = one_run(setup)
    names = setup.fabric.port_names
    data = result.trace[(result.trace["what"] == ENQUEUED) & (result.trace["kind"] == DATA)]
    return [
        int(data["bytes"][data["port"] == port].sum())
        for port in range(len(names))
        if names[port].startswith("left>right")
    ]


def test_paths_carry_the_same_but_for_a_flowcell():
    """A flow of 2 MB over four paths: round robin leaves a difference of at most one flowcell with its headers."""
    shares = bytes_by_path(setup_of(PARALLEL, flow_list([(0, 5, 2_000_000, 0.0)]), "presto"))
    assert len(shares) == 4
    assert max(shares) - min(shares) <= 44 * (MSS + 40)


def unequal():
    """Return the set-up of one flow over four paths, one of them 30 us longer."""
    slow = LinkChange(between=("left", "right"), parallel=1, delay_s=40e-6)
    return ParallelPaths(paths=4, hosts_per_side=4, delay_s=10e-6, buffer_packets=1000, links=(slow,))


@pytest.mark.parametrize("reassembly", [True, False])
def test_reassembly_hides_unequal_paths_from_tcp(reassembly):
    """Without it TCP takes flowcells that overtake others for losses; with it there is not one duplicate ACK."""
    flows = flow_list([(0, 5, 1_000_000, 0.0)])
    result = one_run(
        setup_of(unequal(), flows, presto(reassembly=reassembly), transport={"initial_window_packets": 60})
    )
    assert result.ports["packets_dropped"].sum() == 0
    assert (result.subs["dup_acks_received"][0] == 0) == reassembly
    assert (result.own.records("subflow", (0, "layer"))["held_packets"][0] > 0) == reassembly


@pytest.mark.parametrize(
    ("fabric", "options"),
    [
        ("leaf-spine", {"cell_bytes": 5000, "placement": "random"}),
        ("fat-tree", {"cell_bytes": 2000, "first_gap_s": 5e-6, "hashed_start": False}),
    ],
    ids=["random", "short holds"],
)
def test_engines_agree(fabric, options):
    assert differences(setup_of(*CROWDED[fabric], "presto", layer=options)) == []
