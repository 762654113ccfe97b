"""AG, adaptive granularity (Liu et al. 2019), reconstructed: trains of packets, the longer the more paths differ.

The formula of the publication is not public. From its abstract: a switch reroutes a flow after a *granularity* that
follows the asymmetry of the paths, measured by the difference of their one-way delays; equal paths give packets,
unequal ones give flows. **What follows is a reconstruction from this text.**

Leaves measure: a packet carries the time when it left its first leaf and its path; the last leaf keeps the delay, and
the next packet back brings it. Delta is the largest less the smallest mean delay of the paths to a leaf. A flow whose
packets come in intervals of g leaves its path after Delta / g packets, that is, at most once in Delta: reordering
grows rarer where paths differ more, but does not end.

==================================== ============= ===============================
Quantity                             Symbol        Name
==================================== ============= ===============================
mean one-way delay of a path         d_i           ``own.paths[i].delay_ps``
packets of the present train         n             ``own.passing.sent``
interval of a flow's packets         g             ``own.passing.interval_ps``
==================================== ============= ===============================

For two tiers; a switch above the leaves that has a choice goes by the hash.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated, Any

from capsim.base import bounds
from capsim.base.clock import PS_PER_S
from capsim.base.inlined import inlined
from capsim.protocols.balancers.ecmp import hashed
from capsim.protocols.balancers.leaf_pairs import FIRST_LEAF, LAST_LEAF, LEAF_FIELDS, stage
from capsim.records import NONE
from capsim.roles.components import Balancer


class TrainPath(IntEnum):
    """Which path a train takes: a random one, or that of the smallest mean delay."""

    RANDOM = 0
    FASTEST = 1


@dataclass(frozen=True, kw_only=True)
class GranularityParams:
    """Parameters of adaptive granularity; all of them are of this reconstruction.

    Parameters
    ----------
    path : TrainPath
        ``"random"`` is what the paper of CDCPS says of AG.
    delay_weight : float
        Weight of the last value in the mean delay of a path; 1/8 as in TCP's RTT.
    interval_weight : float
        Weight of the last value in the mean interval between a flow's packets; 1/8 likewise.
    tolerance_s : float
        Differences of delays below it count as none, in seconds: queues alone make equal paths differ.
    """

    path: TrainPath = TrainPath.RANDOM
    delay_weight: Annotated[float, bounds.RATIO] = 0.125
    interval_weight: Annotated[float, bounds.RATIO] = 0.125
    tolerance_s: Annotated[float, bounds.TIME_S] = 0.0


@inlined
def mean_of(mean_ps: int, value_ps: int, weight: float) -> int:
    """Return a mean with one more value; the first value is the mean."""
    return value_ps if mean_ps == NONE else mean_ps + int(weight * (value_ps - mean_ps))


@inlined
def asymmetry_ps(params: Any, paths: Any, n_paths: int) -> int:
    """Return by how much the delays of the paths that were measured differ."""
    least_ps, most_ps = NONE, NONE
    for path in range(n_paths):
        delay_ps = paths[path].delay_ps
        if delay_ps != NONE:
            least_ps = delay_ps if least_ps == NONE else min(least_ps, delay_ps)
            most_ps = max(most_ps, delay_ps)
    return most_ps - least_ps if most_ps - least_ps > params.tolerance_ps else 0


@inlined
def fastest(paths: Any, n_paths: int, u0: float) -> int:
    """Return the path of the smallest mean delay, from a random one on; what was not measured is tried first."""
    start = int(u0 * n_paths)
    best = start
    for step in range(1, n_paths):
        path = (start + step) % n_paths
        if paths[path].delay_ps < paths[best].delay_ps:
            best = path
    return best


@inlined
def note_interval(params: Any, train: Any, packet: Any, port: Any, now_ps: int) -> None:
    """Enter the time since the flow's last packet; at least the time that a packet takes at the port."""
    if train.last_ps != NONE:
        packet_ps = packet.bytes * 8 * PS_PER_S // port.rate_bps
        train.interval_ps = mean_of(train.interval_ps, max(now_ps - train.last_ps, packet_ps), params.interval_weight)
    train.last_ps = now_ps


def choose(params, own, switch, sub, packet, ports, candidates, now_ps: int, u0: float) -> int:
    """Return the path of the present train, or begin the next one."""
    if switch.tier > 0:
        return hashed(switch, packet, len(candidates))
    train = own.passing
    note_interval(params, train, packet, ports[candidates[0]], now_ps)
    difference_ps = asymmetry_ps(params, own.paths, len(candidates))
    over = train.interval_ps == NONE or train.sent * train.interval_ps >= difference_ps
    if train.sent == 0 or over or train.path >= len(candidates):
        train.sent = 0
        train.path = int(u0 * len(candidates))
        if params.path == TrainPath.FASTEST:
            train.path = fastest(own.paths, len(candidates), u0)
    train.sent += 1
    own.towards.tag = train.path
    return int(train.path)


def see(params: Any, own: Any, switch: Any, sub: Any, packet: Any, port: Any, now_ps: int) -> int:
    """Write time and path into a packet at its first leaf, and the delay last measured of the other direction."""
    where = stage(own, switch, packet, port)
    if where == FIRST_LEAF:
        own.packet.left_ps, own.packet.tag = now_ps, own.towards.tag
        own.packet.echo_ps, own.packet.echo_tag = own.towards.found_ps, own.towards.found_tag
        own.towards.found_ps = NONE
    elif where == LAST_LEAF:
        own.back.found_ps, own.back.found_tag = now_ps - own.packet.left_ps, own.packet.tag
        if own.packet.echo_ps != NONE:
            entry = own.back_paths[own.packet.echo_tag]
            entry.delay_ps = mean_of(entry.delay_ps, own.packet.echo_ps, params.delay_weight)
    return 0


GRANULARITY = Balancer(
    name="granularity",
    choose=choose,
    see=see,
    params=GranularityParams(),
    memory={
        "passing": (("path", "i8"), ("sent", "i8"), ("last_ps", "i8", NONE), ("interval_ps", "i8", NONE)),
        "towards": (*LEAF_FIELDS, ("tag", "i8"), ("found_ps", "i8", NONE), ("found_tag", "i8")),
        "path": (("delay_ps", "i8", NONE),),
        "packet": (("left_ps", "i8"), ("tag", "i8"), ("echo_ps", "i8"), ("echo_tag", "i8")),
    },
    draws=True,
    reads_queues=False,
)
