"""AG (reconstructed): how long trains are, what leaves tell each other about delays; its limits."""

from types import SimpleNamespace

import numpy as np
from support.balancer_setups import OneSwitch
from support.engine_setups import CROWDED, LEAF_SPINE, differences, flow_list, memory_of, one_run, record, setup_of

from capsim import LeafSpine, LinkChange, records, scheme
from capsim.engines import run
from capsim.protocols.balancers.granularity import GRANULARITY, TrainPath, see

DRAWS = [(path + 0.5) / 4 for path in range(4)]
HOST = 3


class Leaf(OneSwitch):
    """A leaf whose uplinks have 1 Gbit/s and these mean delays in microseconds."""

    def __init__(self, *delays_us, **params):
        super().__init__(GRANULARITY, **params)
        for port, entry, delay_us in zip(self.candidates, self.own["paths"], delays_us, strict=True):
            self.ports[port].rate_bps = 10**9
            entry.delay_ps = records.NONE if delay_us is None else round(delay_us * 1e6)

    def train(self, interval_us, packets):
        """Return the path of each packet of a flow, drawing the four in turn."""
        return [self.path(interval_us * number, hash=1, bytes=1500, u0=DRAWS[number % 4]) for number in range(packets)]


def test_equal_paths_take_packet_by_packet():
    assert Leaf(50, 50, 50, 50).train(20, 8) == [0, 1, 2, 3, 0, 1, 2, 3]
    assert Leaf(None, None, None, 70).train(20, 8) == [0, 1, 2, 3, 0, 1, 2, 3]  # nothing to compare it with


def test_a_train_lasts_for_the_difference_of_the_delays():
    """Delta = 60 us: three packets at intervals of 20 us, two at 30 us, one at more than 60."""
    assert Leaf(50, 110, 80, 90).train(20, 8) == [0, 0, 0, 3, 3, 3, 2, 2]
    assert Leaf(50, 110, 80, 90).train(30, 6) == [0, 0, 2, 2, 0, 0]
    assert Leaf(50, 110, None, None).train(1000, 4) == [0, 1, 2, 3]


def test_an_interval_is_at_least_the_time_of_a_packet():
    """Packets that come together: 12 us each at 1 Gbit/s, so that 60 us are five."""
    assert Leaf(50, 110, 80, 90).train(0, 7) == [0, 0, 0, 0, 0, 1, 1]


def test_the_interval_is_a_mean():
    """First 20 us, then one of 100 us with weight 1/2: 60 us, which is Delta."""
    leaf = Leaf(0, 60, 0, 0, interval_weight=0.5)
    assert [leaf.path(now_us, hash=1, bytes=1500, u0=DRAWS[2]) for now_us in (0, 20)] == [2, 2]
    assert leaf.path(120, hash=1, bytes=1500, u0=DRAWS[3]) == 3


def test_small_differences_count_as_none():
    assert Leaf(50, 75, 50, 50, tolerance_s=25e-6).train(1, 5) == [0, 1, 2, 3, 0]
    assert Leaf(50, 75.1, 50, 50, tolerance_s=25e-6).train(1, 4) == [0, 0, 0, 3]


def test_the_fastest_path():
    assert Leaf(50, 110, 40, 90, path=TrainPath.FASTEST).path(hash=1, bytes=1500, u0=0.9) == 2
    unmeasured = Leaf(50, None, 40, None, path=TrainPath.FASTEST)
    assert {unmeasured.path(hash=number, bytes=1500, u0=u0) for number, u0 in enumerate(DRAWS)} == {1, 3}


def sees(own, *, now_us, to_node, tier=0):
    packet, port = record(records.PACKET, target=HOST), record(records.PORT, to_node=to_node)
    params = Leaf(0, 0, 0, 0, delay_weight=0.5).params
    see(params, own, record(records.SWITCH, tier=tier), record(records.SUBFLOW), packet, port, round(now_us * 1e6))


def test_leaves_measure_a_delay_and_tell_it_once():
    paths = [memory_of(GRANULARITY, "path") for _ in range(4)]
    here, there = (memory_of(GRANULARITY, "towards", tag=tag) for tag in (2, 0))
    there_paths = [memory_of(GRANULARITY, "path") for _ in range(4)]
    for sent_us, came_us in ((100, 170), (300, 330)):
        packet = memory_of(GRANULARITY, "packet", echo_ps=5, left_ps=7, tag=3, echo_tag=1)
        own = SimpleNamespace(towards=here, back=here, paths=paths, back_paths=paths, packet=packet)
        sees(own, now_us=sent_us, to_node=40)
        sees(own, now_us=sent_us + 1, to_node=41, tier=1)
        other = memory_of(GRANULARITY, "towards")
        own = SimpleNamespace(towards=other, back=there, paths=paths, back_paths=there_paths, packet=packet)
        sees(own, now_us=came_us, to_node=HOST)
        assert (there.found_ps, there.found_tag) == ((came_us - sent_us) * 10**6, 2)
        reply = memory_of(GRANULARITY, "packet")
        own = SimpleNamespace(towards=there, back=there, paths=there_paths, back_paths=there_paths, packet=reply)
        sees(own, now_us=came_us, to_node=40)
        assert there.found_ps == records.NONE
        own = SimpleNamespace(towards=other, back=here, paths=paths, back_paths=paths, packet=reply)
        sees(own, now_us=came_us + 9, to_node=HOST)
    assert [entry.delay_ps for entry in paths] == [-1, -1, 50_000_000, -1]  # the mean of 70 and 30 us
    assert [entry.delay_ps for entry in there_paths] == [9_000_000, -1, -1, -1]  # of the first reply


def test_if_no_difference_counts_it_is_random_spraying():
    kind, flows = CROWDED["leaf-spine"]
    ag = one_run(setup_of(kind, flows, "ag", balancer={"tolerance_s": 4000.0})).trace
    rps = run(setup_of(kind, flows, "rps")).trace
    assert np.array_equal(ag, rps)


def test_it_measures_the_delays_of_the_paths_and_changes_path_more_rarely():
    """One path is 100 us longer, and so is its mean delay; at 12 us a packet a train has up to nine packets."""
    slow = LinkChange(between=("leaf0", "spine1"), delay_s=102e-6)
    kind = LeafSpine(leaves=2, hosts_per_leaf=2, spines=2, delay_s=2e-6, buffer_packets=1000, links=(slow,))
    flows = flow_list([(0, 2, 2_000_000, 0.0)])
    window, changes = {"max_window_bytes": 60_000, "dup_ack_threshold": 1000}, {}
    for name in ("ag", "rps"):
        setup = setup_of(kind, flows, name, transport=window)
        result = one_run(setup)
        up = [setup.fabric.port_names.index(f"leaf0>spine{spine}") for spine in range(2)]
        trace = result.trace
        lines = trace[
            (trace["what"] == records.ENQUEUED) & (trace["kind"] == records.DATA) & np.isin(trace["port"], up)
        ]
        changes[name] = np.mean(np.diff(lines["port"]) != 0)
        if name == "ag":
            paths = result.own.records("balancer_path", "balancer")["delay_ps"].reshape(-1, 2, 2)
            delay_ps = paths[0, 1]  # of leaf 0 to leaf 1
    assert abs((delay_ps[1] - delay_ps[0]) / 1e6 - 100) < 30
    assert abs(changes["rps"] - 1 / 2) < 0.06
    assert 1 / 18 - 0.03 < changes["ag"] < 1 / 6


def test_engines_agree():
    options = {"path": "fastest", "interval_weight": 0.5, "tolerance_s": 3e-6}
    assert differences(setup_of(LEAF_SPINE, CROWDED["leaf-spine"][1], "ag", balancer=options)) == []


def test_what_is_reconstructed_says_so(subtests):
    for name in ["ag", "freeway", "sc_mptcp"]:
        with subtests.test(name=name):
            assert scheme(name).about.endswith(" (reconstructed)")
