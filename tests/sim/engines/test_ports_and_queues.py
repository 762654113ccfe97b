"""What a port keeps, what it drops, and which port a packet takes: by hand, and in the reference engine."""

from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import chi2_contingency
from support.engine_setups import PARALLEL, flow_list, memory_of, params_of, record, setup_of
from support.scripted import MSS, Hosts, new_packet

from capsim import Balancer, Dumbbell, FatTree, LeafSpine, LinkChange, scheme
from capsim.engines import run
from capsim.engines.hosts import handlers
from capsim.protocols.balancers.ecmp import ECMP
from capsim.protocols.balancers.spray import RPS
from capsim.records import ACK, DATA, DROPPED, EVICTED, LINK_DOWN, NONE, PORT, QUEUE_FULL, SWITCH
from capsim.roles.hooks import has_room

HEADER = 40


def slow_port(**limit):
    """Return a dumbbell of 1 Gbps between hosts of 100 Gbps: a packet takes 12 us there, 0.12 us to come."""
    return Dumbbell(hosts_per_side=2, host_rate_bps=100e9, delay_s=1e-6, **limit)


def lost_within(end_us, setup):
    """Return who loses which segment, and why, before anything is sent again."""
    trace = reference(replace(setup, end_ps=end_us * 10**6)).trace
    lost = trace[trace["what"] == DROPPED]
    return [(int(line["sub"]), int(line["segment"]), int(line["reason"])) for line in lost]


def reference(setup):
    return run(setup, engine="reference")


# -- what a port keeps


def test_droptail_takes_what_fits_in_packets_and_in_bytes(subtests):
    cases = [
        ((NONE, 6000), (3, 4500), True),  # exactly full
        ((NONE, 6000), (3, 4501), False),
        ((4, NONE), (3, 4500), True),
        ((4, NONE), (4, 0), False),
        ((4, 6000), (2, 5000), False),
        ((NONE, NONE), (10**6, 10**9), True),
    ]
    for limits, queue, fits in cases:
        with subtests.test(limits=limits, queue=queue, fits=fits):
            port = record(PORT, limit_packets=limits[0], limit_bytes=limits[1])
            assert has_room(port, new_packet(bytes=1500), *queue) == fits


@pytest.mark.parametrize(("count_in_service", "kept"), [(False, 5), (True, 4)])
def test_a_burst_into_a_queue(count_in_service, kept):
    """Ten packets within 2 us, 12 us each to send: a buffer of 4 and, unless it is counted, the one being sent."""
    flows = flow_list([(0, 2, 10 * MSS, 0.0)])
    setup = setup_of(slow_port(buffer_packets=4), flows, count_in_service=count_in_service)
    assert lost_within(10, setup) == [(0, segment, QUEUE_FULL) for segment in range(kept, 10)]


def test_a_burst_into_a_queue_limited_in_bytes(subtests):
    """Room for 4000 bytes; a packet is being sent when, within 1 us, three of 1500 bytes and one of 1000 come."""
    cases = [
        (1500, False, [2]),  # 1500 are being sent; 1500 + 1500 + 1000 wait, exactly full
        (1500, True, [1, 2]),  # 1500 + 1500 + 1000
        (500, False, [2]),  # 500 are being sent; 1500 + 1500 + 1000 wait
        (500, True, [2, 3]),  # 500 + 1500 + 1500, and 1000 do not fit any more
    ]
    for first_bytes, count_in_service, refused in cases:
        with subtests.test(first_bytes=first_bytes, count_in_service=count_in_service, refused=refused):
            flows = flow_list([(1, 3, first_bytes - HEADER, 0.0), (0, 2, 3 * MSS + 1000 - HEADER, 0.5)])
            setup = setup_of(slow_port(buffer_bytes=4000), flows, count_in_service=count_in_service)
            assert lost_within(3, setup) == [(1, segment, QUEUE_FULL) for segment in refused]


def drops_of(size_packets, *, buffer_packets, push_out=True):
    """Return who loses which segment when a short flow meets a long one of five segments at a slow port."""
    flows = flow_list([(0, 2, 5 * MSS, 0.0), (1, 3, size_packets * MSS, 2.0)], threshold_bytes=4 * MSS)
    queue = {"push_out": push_out}
    return lost_within(10, setup_of(slow_port(buffer_packets=buffer_packets), flows, "ecmp_pq", queue=queue))


def test_push_out_takes_the_last_long_packet_that_waits():
    """0 is being sent, 1-4 wait; two short packets take the places of 4, then 3."""
    assert drops_of(2, buffer_packets=4) == [(0, 4, EVICTED), (0, 3, EVICTED)]


def test_push_out_spares_the_packet_being_sent_and_short_ones():
    """Room for one that waits: 2-4 find none; the first short packet takes the place of 1, the others are refused."""
    refused = [(0, segment, QUEUE_FULL) for segment in (2, 3, 4)]
    assert drops_of(3, buffer_packets=1) == [*refused, (0, 1, EVICTED), (1, 1, QUEUE_FULL), (1, 2, QUEUE_FULL)]


def test_without_push_out_who_comes_late_is_refused():
    assert drops_of(2, buffer_packets=4, push_out=False) == [(1, 0, QUEUE_FULL), (1, 1, QUEUE_FULL)]


# -- which port a packet takes


def many_subflows(kind, count):
    flows = flow_list([(0, kind.build().n_hosts - 1, 1000, 0.0)] * count)
    network = Hosts(setup_of(kind, flows))
    for flow in range(count):
        handlers.start(network, flow, 0)
    return [sub.hash for sub in network.subs], [sub.reverse_hash for sub in network.subs], network.switches


def hashed_port(switch, value, n_ports):
    packet = new_packet(kind=DATA, hash=value)
    return ECMP.choose(params_of(ECMP), None, switch, None, packet, [], range(n_ports), 0, 0.0)


def independent(pairs):
    """Return whether no chi-square test at the level 1e-4 finds that the two ports of a pair depend on each other."""
    counts = Counter(pairs)
    rows, columns = (sorted({pair[side] for pair in pairs}) for side in (0, 1))
    return chi2_contingency([[counts[row, column] for column in columns] for row in rows]).pvalue > 1e-4


def test_flows_that_share_an_edge_uplink_spread_over_the_uplinks_of_the_aggregation():
    """Fat-tree of 8 pods: without a salt for each switch, all that came by one of four ports would leave by one."""
    hashes, _, switches = many_subflows(FatTree(pods=8), 2000)
    edge, aggregation = (next(switch for switch in switches if switch.tier == tier) for tier in (0, 1))
    pairs = [(hashed_port(edge, value, 4), hashed_port(aggregation, value, 4)) for value in hashes]
    assert len(set(pairs)) == 16
    assert independent(pairs)


def test_acknowledgements_hash_independently_of_their_data():
    """The reversed tuple is another hash, at the same switch too."""
    hashes, reverse, switches = many_subflows(PARALLEL, 2000)
    pairs = [
        (hashed_port(switches[0], ahead, 4), hashed_port(switches[0], back, 4))
        for ahead, back in zip(hashes, reverse, strict=True)
    ]
    assert len(set(pairs)) == 16
    assert independent(pairs)


def test_packets_carry_the_hash_of_their_direction():
    seen = set()

    def look(params, own, switch, sub, packet, ports, candidates, now_ps, u0):
        seen.add((packet.kind, packet.hash))
        return 0

    base = replace(scheme("ecmp"), balancer=Balancer(name="look", choose=look))
    sub = reference(setup_of(PARALLEL, flow_list([(0, 4, 5000, 0.0)]), base)).subs[0]
    assert seen == {(DATA, sub["hash"]), (ACK, sub["reverse_hash"])}
    assert sub["hash"] != sub["reverse_hash"]


def sprayed(kind, turns, **values):
    params, own = params_of(RPS, **values), SimpleNamespace(switch=memory_of(RPS, "switch"))
    switch, packet = record(SWITCH, salt=5), new_packet(kind=kind, hash=77)
    return [RPS.choose(params, own, switch, None, packet, [], range(4), 0, u0) for u0 in turns]


def test_spraying_follows_the_draw():
    """Each quarter of [0, 1) is a port."""
    assert sprayed(DATA, [0.0, 0.249, 0.25, 0.5, 0.749, 0.75, 0.999]) == [0, 0, 1, 2, 2, 3, 3]


@pytest.mark.parametrize("name", ["rps", "caps"])
def test_switches_draw_for_each_packet(name):
    """Of 64 packets some take each of four paths: all but one run in 10^7."""
    setup = setup_of(PARALLEL, flow_list([(0, 4, 64 * MSS, 0.0)]), name)
    trace = reference(setup).trace
    middle = [port for port, each in enumerate(setup.fabric.port_names) if each.startswith("left>right")]
    assert set(trace["port"][np.isin(trace["port"], middle)].tolist()) == set(middle)


def test_spraying_in_turn_uses_every_port_once_in_four():
    ports = sprayed(DATA, [0.0] * 12, round_robin=True)
    assert sorted(ports[:4]) == [0, 1, 2, 3]
    assert ports == ports[:4] * 3


def test_acknowledgements_stay_on_one_port_when_asked(subtests):
    for kind, spray_acks, ports in [(ACK, True, 4), (ACK, False, 1), (DATA, False, 4)]:
        with subtests.test(kind=kind, spray_acks=spray_acks, ports=ports):
            assert len(set(sprayed(kind, [0.1, 0.3, 0.6, 0.9], spray_acks=spray_acks))) == ports


def test_routes_follow_a_failure():
    """spine0 fails at 500 us for ever, routes follow 300 us later: packets are lost in between and never after."""
    failing = LinkChange(between=("leaf*", "spine0"), down_s=500e-6)
    kind = LeafSpine(leaves=2, hosts_per_leaf=1, spines=2, reroute_s=300e-6, links=(failing,))
    setup = setup_of(kind, flow_list([(0, 1, 200 * MSS, 0.0)]), "single_path")
    found = reference(setup)
    lost = found.trace[(found.trace["what"] == DROPPED) & (found.trace["reason"] == LINK_DOWN)]
    assert len(lost) > 0
    assert lost["time_ps"].min() >= 500 * 10**6
    assert lost["time_ps"].max() < 800 * 10**6
    assert found.subs["received_ps"][0] > 0
    uplink = setup.fabric.port_names.index("leaf0>spine1")
    assert found.trace[found.trace["port"] == uplink]["time_ps"].min() >= 800 * 10**6
