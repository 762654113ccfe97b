"""Agreement: a queue that marks by chance, as RED does, marks the share that it asks for.

At each of its ports the numbers are others, and they are not those that decide which packets a link loses.
"""

from dataclasses import replace

import numpy as np
import pytest
from support.engine_setups import flow_list, one_run, setup_of

from capsim import ACCEPT, MARK, REFUSE, LeafSpine, LinkChange, Queue, scheme
from capsim.records import ARRIVED, CONGESTION_EXPERIENCED, CORRUPTED, ECN_CAPABLE
from capsim.roles.hooks import has_room
from capsmodel.experiments.agreement import Count

pytestmark = pytest.mark.agreement

PROB = 0.3
LOSSY = LinkChange(between=("leaf*", "spine*"), one_way=True, loss_prob=0.2)
FABRIC = LeafSpine(leaves=2, hosts_per_leaf=4, spines=2, buffer_packets=1000, links=(LOSSY,))
FLOWS = flow_list([(host, 4 + host, 1_000_000, 10.0 * host) for host in range(4)])


def mark_by_chance(params, own, port, packet, queue_packets, queue_bytes, now_ps, u0):
    """Mark a share of the ECN-capable packets that come to a port of a switch."""
    if not has_room(port, packet, queue_packets, queue_bytes):
        return REFUSE
    if port.of_host or not packet.flags & ECN_CAPABLE or packet.flags & CONGESTION_EXPERIENCED:
        return ACCEPT
    own.port.asked += 1
    return MARK if u0 < PROB else ACCEPT


RED = replace(
    scheme("dctcp"),
    name="red",
    queue=Queue(name="red", admit=mark_by_chance, draws=True, memory={"port": (("asked", "i8"),)}),
)


def test_the_share_of_marks_and_their_independence_of_losses(compare):
    """Both engines have the same flows. Wrong lines: u0 of the port next to it, and that of the losses on the link."""
    setup = setup_of(FABRIC, FLOWS, RED, end_ps=10**12)
    raw = one_run(setup)
    asked, marked = raw.own.records("queue_port", "queue")["asked"], raw.ports["packets_marked"]
    verdict = compare(PROB, Count(successes=int(marked.sum()), trials=int(asked.sum())), detect=0.05)
    assert verdict, verdict
    crossed = raw.trace[np.isin(raw.trace["port"], np.flatnonzero(raw.ports["packets_lost"]))]
    crossed = crossed[(crossed["flags"] & ECN_CAPABLE) > 0]
    lost, came = crossed[crossed["reason"] == CORRUPTED], crossed[crossed["what"] == ARRIVED]
    of_lost, of_all = ((each["flags"] & CONGESTION_EXPERIENCED > 0) for each in (lost, np.append(lost, came)))
    expected = float(of_all.mean())
    verdict = compare(expected, Count(successes=int(of_lost.sum()), trials=len(of_lost)), detect=0.15)
    assert verdict, verdict
    per_port = marked[asked > 100] / asked[asked > 100]
    assert len(set(per_port.tolist())) > 2
