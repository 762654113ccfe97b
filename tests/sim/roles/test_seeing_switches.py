"""What switches see: every packet, at every switch, with the memory of its port, of where it goes and comes from."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.engine_setups import CROWDED, FABRICS, LEAF_SPINE, flow_list, one_run, setup_of

from capsim import Balancer, scheme
from capsim.records import ACK, ARRIVED, NONE, SYN_ACK

FIRST_LEAF, LAST_LEAF = 1, 2


def first_port(
    params: Any,
    own: Any,
    switch: Any,
    sub: Any,
    packet: Any,
    ports: Any,
    candidates: Any,
    now_ps: int,
    u0: float,
) -> int:
    """The path by turns, counted per set of candidates and per port chosen."""
    own.set.chosen += 1
    path = own.set.chosen % len(candidates)
    own.ports[candidates[path]].chosen += 1
    return int(path)


def witness(params: Any, own: Any, switch: Any, sub: Any, packet: Any, port: Any, now_ps: int) -> int:
    """Count packets in every scope; measure the time from the first to the last leaf and send it back."""
    own.switch.seen += 1
    own.fabric.seen += 1
    own.port.seen_bytes += packet.bytes
    own.towards.seen += 1
    own.back.seen += 1
    own.paths[0].seen += 1
    own.back_paths[0].seen += 1
    own.passing.seen += 1
    own.subflow.seen += 1
    last = port.to_node == packet.target
    if switch.tier == 0 and not last:
        own.packet.stamp_ps = now_ps
        own.packet.echo_ps = own.towards.delay_ps
    elif last:
        own.back.delay_ps = now_ps - own.packet.stamp_ps
        own.back.echo_ps = own.packet.echo_ps
    return 0


WITNESS = replace(
    scheme("rps"),
    name="witness",
    balancer=Balancer(
        name="witness",
        choose=first_port,
        see=witness,
        memory={
            "fabric": (("seen", "i8"),),
            "switch": (("seen", "i8"),),
            "set": (("chosen", "i8"),),
            "port": (("seen_bytes", "i8"), ("chosen", "i8")),
            "towards": (("seen", "i8"), ("delay_ps", "i8", NONE), ("echo_ps", "i8", NONE)),
            "path": (("seen", "i8"),),
            "subflow": (("seen", "i8"),),
            "passing": (("seen", "i8"),),
            "packet": (("stamp_ps", "i8"), ("echo_ps", "i8")),
        },
    ),
)


@pytest.mark.parametrize("fabric", FABRICS)
def test_every_packet_is_seen_once_at_every_switch(fabric):
    setup = setup_of(*CROWDED[fabric], WITNESS)
    raw = one_run(setup)
    own = {
        scope: raw.own.records(f"balancer_{scope}", "balancer")
        for scope in ("fabric", "switch", "set", "port", "towards", "path", "subflow", "passing")
    }
    n_hosts, n_switches = setup.fabric.n_hosts, setup.fabric.n_switches
    lines = raw.trace[raw.trace["what"] == ARRIVED]
    node = setup.fabric.port_to[lines["port"]]
    at_switch = node >= n_hosts
    arrived = np.bincount(node[at_switch] - n_hosts, minlength=n_switches)
    assert own["switch"]["seen"].tolist() == arrived.tolist()
    assert own["fabric"]["seen"].tolist() == [arrived.sum()]
    from_switch = setup.fabric.port_from >= n_hosts
    assert own["port"]["seen_bytes"].tolist() == np.where(from_switch, raw.ports["bytes_in"], 0).tolist()
    assert own["port"]["chosen"].sum() == own["set"]["chosen"].sum()
    by_sub = np.bincount(lines["sub"][at_switch], minlength=len(raw.subs))
    assert own["subflow"]["seen"].tolist() == by_sub.tolist()
    assert own["path"]["seen"].sum() == 2 * arrived.sum()
    back = np.isin(lines["kind"][at_switch], (ACK, SYN_ACK))
    tier = setup.fabric.switch_tier[node[at_switch] - n_hosts]
    tiers = setup.fabric.switch_tier.max() + 1
    place = (2 * lines["sub"][at_switch] + back) * tiers + tier
    assert own["passing"]["seen"].tolist() == np.bincount(place, minlength=2 * tiers * len(raw.subs)).tolist()
    leaves, leaf_of = np.unique(setup.fabric.leaf_of_host, return_inverse=True)
    ends = np.stack([raw.subs["src"], raw.subs["dst"]])[:, lines["sub"][at_switch]]
    towards = np.zeros((n_switches, len(leaves)), np.int64)
    np.add.at(towards, (node[at_switch] - n_hosts, leaf_of[ends[0]]), 1)  # one end is where it goes,
    np.add.at(towards, (node[at_switch] - n_hosts, leaf_of[ends[1]]), 1)  # the other where it comes from
    assert own["towards"]["seen"].tolist() == towards.ravel().tolist()


def test_switches_measure_a_delay_and_send_it_back():
    """One packet of 1040 bytes and its acknowledgement of 40: leaf to leaf over two links of 2 us, at 1 Gbit/s."""
    raw = one_run(setup_of(LEAF_SPINE, flow_list([(0, 3, 1000, 0.0)]), WITNESS))
    towards = raw.own.records("balancer_towards", "balancer").reshape(-1, 3)
    there_ps, back_ps = (2 * (2_000_000 + 8000 * size) for size in (1040, 40))
    assert towards["delay_ps"][1, 0] == there_ps  # what leaf 1 knows of packets from leaf 0
    assert towards["delay_ps"][0, 1] == back_ps
    assert towards["echo_ps"][0, 1] == there_ps  # leaf 0 is told what leaf 1 has measured
    assert towards["echo_ps"][1, 0] == NONE
