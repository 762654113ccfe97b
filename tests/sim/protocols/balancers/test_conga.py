"""CONGA: the load of a port, what leaves tell each other, which path a flowlet takes; its limits; its shares."""

from types import SimpleNamespace

import numpy as np
import pytest
from support.balancer_setups import OneSwitch
from support.engine_setups import CROWDED, differences, flow_list, memory_of, one_run, record, setup_of

from capsim import LeafSpine, LinkChange, records
from capsim.engines import run
from capsim.protocols.balancers.conga import CONGA, see
from capsim.protocols.balancers.letflow import Aging, Table

GBPS = 10**9
EXACT = {"aging": Aging.EXACT, "table": Table.PER_FLOW, "gap_s": 100e-6}
HOST, SPINE = 3, 40  # next nodes


class Leaf(OneSwitch):
    """A leaf with four uplinks of 1 Gbit/s, and its memory of one other leaf."""

    def __init__(self, **params):
        super().__init__(CONGA, **EXACT | params)
        for port in self.ports.values():
            port.rate_bps = GBPS

    def loads(self, local=(0, 0, 0, 0), remote=(0, 0, 0, 0), *, told_us=0.0):
        """Set the loads of uplinks in eighths of their capacity: tau is 160 us, 20,000 bytes at 1 Gbit/s."""
        for port, entry, here, there in zip(self.candidates, self.own["paths"], local, remote, strict=True):
            self.own["ports"][port].dre = here * 2500.0
            entry.remote, entry.told_ps = there, round(told_us * 1e6)

    def sees(self, options, *, out=0, towards_host=False, now_us=0.0, tier=0, within=False, packet_bytes=1500):
        """Let the leaf see a packet that leaves by an uplink, or to a host of its own."""
        self.record.tier = tier
        own = SimpleNamespace(
            port=self.own["ports"][self.candidates[out]],
            towards=self.own["towards"],
            back=self.own["towards"] if within or not towards_host else self.back,
            paths=self.own["paths"],
            back_paths=self.own["paths"],
            packet=options,
        )
        port = self.ports[self.candidates[out]]
        port.to_node = HOST if towards_host else SPINE
        packet = record(records.PACKET, target=HOST, bytes=packet_bytes)
        see(self.params, own, self.record, record(records.SUBFLOW), packet, port, round(now_us * 1e6))

    @property
    def back(self):
        return memory_of(CONGA, "towards")


def options(**values):
    return memory_of(CONGA, "packet", **values)


def test_a_new_flowlet_takes_the_path_with_the_smallest_maximum():
    leaf = Leaf()
    leaf.loads(local=(1, 4, 2, 0), remote=(5, 0, 2, 3))
    assert leaf.path(0, hash=1) == 2  # of the maxima 5, 4, 2, 3
    leaf.loads(local=(0, 0, 7, 0))
    assert leaf.path(99, hash=1) == 2  # the flowlet goes on
    assert leaf.path(199, hash=1) != 2


def test_of_equal_paths_the_present_one_or_one_at_random():
    leaf = Leaf()
    leaf.loads(local=(3, 0, 0, 3))
    assert [leaf.path(0, hash=number, u0=u0) for number, u0 in enumerate((0.0, 0.49, 0.5, 0.99))] == [1, 1, 2, 2]
    assert leaf.path(1000, hash=1, u0=0.9) == 1


def test_what_was_told_long_ago_counts_as_nothing():
    aged = Leaf(age_s=1e-3)
    aged.loads(remote=(1, 1, 1, 4))
    assert aged.path(1000, hash=1) == 0
    assert aged.path(1000.000001, hash=2, u0=0.99) == 3


def test_the_load_of_a_port():
    """1500 bytes each 24 us are half of 1 Gbit/s: X settles at half of what the link carries in tau, 20,000 bytes."""
    leaf = Leaf()
    for number in range(200):
        leaf.sees(options(), now_us=24 * number)
    middle = leaf.own["ports"][leaf.candidates[0]].dre
    assert abs(middle - 10_000) < 1500
    carried = options()
    leaf.sees(carried, now_us=24 * 200)
    assert carried.load in (3, 4)
    leaf.sees(carried, out=1, now_us=24 * 200)
    assert carried.load == 0  # 1500 of 20,000 bytes are below an eighth
    leaf.sees(carried, now_us=24 * 200 + 160_000)
    assert leaf.own["ports"][leaf.candidates[0]].dre == pytest.approx(1500, abs=1)


def test_a_load_is_at_most_the_last_step():
    leaf, carried = Leaf(), options()
    leaf.own["ports"][leaf.candidates[0]].dre = 1e6
    leaf.sees(carried)
    assert carried.load == 7


def test_packets_carry_the_largest_load_of_their_way():
    leaf, carried = Leaf(), options(load=99)
    leaf.own["towards"].tag = 2
    leaf.loads(local=(4, 1, 0, 0))
    leaf.sees(carried, packet_bytes=0)
    assert (carried.tag, carried.load) == (2, 4)  # from the beginning, at the first leaf
    leaf.sees(carried, out=1, tier=1, packet_bytes=0)
    assert carried.load == 4
    leaf.loads(local=(0, 6, 0, 0))
    leaf.sees(carried, out=1, tier=1, packet_bytes=0)
    assert carried.load == 6


def test_what_was_measured_goes_back_changed_entries_first():
    leaf = Leaf()
    for tag, found in ((1, 5), (3, 2)):
        leaf.sees(options(tag=tag, load=found, back_tag=-1), towards_host=True)
    sent = [options() for _ in range(5)]
    for each in sent:
        leaf.sees(each)
    assert [(each.back_tag, each.back_load) for each in sent] == [(1, 5), (3, 2), (1, 5), (3, 2), (1, 5)]
    leaf.sees(options(tag=1, load=6, back_tag=-1), towards_host=True)
    leaf.sees(sent[0])
    leaf.sees(sent[1])
    assert [(each.back_tag, each.back_load) for each in sent[:2]] == [(1, 6), (3, 2)]


def test_an_entry_that_is_measured_again_without_change_waits_for_its_turn():
    """After entry 2 it is the turn of 3, whose load is measured again as before; that of 0 changes, so 0 is first."""
    leaf = Leaf()
    for tag in range(4):
        leaf.sees(options(tag=tag, load=tag, back_tag=-1), towards_host=True)
    sent = [options() for _ in range(6)]
    for each in sent:
        leaf.sees(each)
    leaf.sees(options(tag=3, load=3, back_tag=-1), towards_host=True)
    leaf.sees(options(tag=0, load=5, back_tag=-1), towards_host=True)
    later = [options() for _ in range(3)]
    for each in later:
        leaf.sees(each)
    assert [(each.back_tag, each.back_load) for each in sent] == [(1, 1), (2, 2), (3, 3), (0, 0), (1, 1), (2, 2)]
    assert [(each.back_tag, each.back_load) for each in later] == [(0, 5), (1, 1), (2, 2)]


def test_what_comes_back_is_kept_with_its_time():
    leaf = Leaf()
    leaf.sees(options(tag=0, load=0, back_tag=2, back_load=7), towards_host=True, now_us=5)
    assert (leaf.own["paths"][2].remote, leaf.own["paths"][2].told_ps) == (7, 5_000_000)
    assert leaf.own["paths"][0].measured == 0


def test_packets_within_a_leaf_say_nothing():
    leaf = Leaf()
    leaf.sees(options(tag=1, load=7, back_tag=1, back_load=7), towards_host=True, within=True)
    assert [entry.measured for entry in leaf.own["paths"]] == [-1] * 4
    assert [entry.told_ps for entry in leaf.own["paths"]] == [-1] * 4


def test_nothing_to_tell_before_anything_came():
    carried = options(back_tag=3)
    Leaf().sees(carried)
    assert carried.back_tag == records.NONE


def test_without_steps_of_load_it_is_letflow_without_gaps():
    """All paths are equal then, and a flow keeps its first one."""
    kind, flows = CROWDED["leaf-spine"]
    conga = one_run(setup_of(kind, flows, "conga", balancer={"metric_bits": 0, "table": "per_flow"})).trace
    letflow = run(setup_of(kind, flows, "letflow", balancer={"gap_s": 4000.0, "table": "per_flow"})).trace
    assert np.array_equal(conga, letflow)


@pytest.mark.parametrize(("name", "least", "most"), [("conga", 0.6, 0.8), ("ecmp", 0.4, 0.6)])
def test_a_path_of_half_the_rate_carries_half_as_much(name, least, most):
    """Sixteen senders over two spines, one of which has half the rate downwards: 2 to 1; ECMP divides evenly."""
    slow = LinkChange(between=("spine1", "leaf1"), rate_bps=4 * GBPS, one_way=True)
    kind = LeafSpine(
        leaves=2,
        hosts_per_leaf=16,
        spines=2,
        rate_bps=8 * GBPS,
        host_rate_bps=GBPS,
        delay_s=2e-6,
        buffer_packets=100,
        links=(slow,),
    )
    rows = [
        (host, 16 + (host + shift) % 16, 150_000, 100.0 * host + 1500 * shift)
        for host in range(16)
        for shift in range(8)
    ]
    setup = setup_of(kind, flow_list(rows), name, **({"balancer": {"gap_s": 50e-6}} if name == "conga" else {}))
    result = run(setup)
    sent = [int(result.ports["bytes_out"][setup.fabric.port_names.index(f"leaf0>spine{spine}")]) for spine in range(2)]
    assert least < sent[0] / sum(sent) < most


@pytest.mark.parametrize(
    "options",
    [{"gap_s": 20e-6, "table": "per_flow", "aging": "exact"}, {"table_entries": 5, "metric_bits": 8, "age_s": 1e-4}],
    ids=["per flow", "fine steps"],
)
def test_engines_agree(options):
    assert differences(setup_of(*CROWDED["leaf-spine"], "conga", balancer=options)) == []
