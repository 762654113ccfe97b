"""CONGA (Alizadeh et al. 2014): leaves tell each other how loaded paths are; a flowlet takes the least loaded one.

Every port has an estimate of its load, X, to which each packet adds its bytes and which falls by `dre_decay` of itself
every `dre_period_s` (discounting rate estimator): X is about rate · tau, tau = dre_period_s / dre_decay. A packet
between leaves carries the number of its uplink and the largest load of the ports on its way; the leaf where it ends
keeps it and sends it back, one entry with each packet in the other direction.

================================== ============== ===============================
Quantity                           Symbol         Name
================================== ============== ===============================
load of a port, bits               X, Q           ``own.ports[p].dre``
load of an uplink's path           congestion-to  ``own.paths[i].remote``
load measured of the other leaf's  congestion-    ``own.paths[i].measured``
uplinks                            from
uplink and load in the packet      LBTag, CE      ``own.packet.tag``, ``.load``
entry sent back                    FB             ``own.packet.back_tag``, ``.back_load``
================================== ============== ===============================

For two tiers; a switch above the leaves that has a choice goes by the hash.
"""

from dataclasses import dataclass
from typing import Annotated, Any

from capsim.base import bounds
from capsim.base.clock import PS_PER_S
from capsim.base.inlined import inlined
from capsim.protocols.balancers.ecmp import hashed
from capsim.protocols.balancers.leaf_pairs import FIRST_LEAF, LAST_LEAF, LEAF_FIELDS, WITHIN_LEAF, stage
from capsim.protocols.balancers.letflow import (
    FLOWLETS,
    LetflowParams,
    goes_on,
    note_packet,
    place_of,
    present_flowlet,
)
from capsim.records import NONE
from capsim.roles.components import Balancer

PORT_BITS = 8.0 * PS_PER_S  # of a byte, times what 1 bit/s takes


@dataclass(frozen=True, kw_only=True)
class CongaParams(LetflowParams):
    """Parameters of flowlets, here of CONGA's 500 us and 64 K places, and of the measurement.

    Parameters
    ----------
    dre_period_s : float
        How often X falls, in seconds. The publication gives this over `dre_decay`, 160 us.
    dre_decay : float
        The part by which X falls each time; 0.1 to 0.2 in public code.
    metric_bits : int
        Q: loads are sent in steps of 2^-Q of the capacity, 3 bits as published.
    age_s : float
        Loads that were not reported again for so long count as 0, in seconds; 10 ms as published, where they fall
        gradually.
    """

    dre_period_s: Annotated[float, bounds.PERIOD_S] = 16e-6
    dre_decay: Annotated[float, bounds.DECAY] = 0.1
    metric_bits: Annotated[int, bounds.METRIC_BITS] = 3
    age_s: Annotated[float, bounds.PERIOD_S] = 10e-3


@inlined
def decayed(params: Any, known: Any, now_ps: int) -> float:
    """Let X of a port fall for the periods that have passed, and return it in bytes."""
    periods = now_ps // params.dre_period_ps - known.period
    known.period += periods
    while periods > 0 and known.dre >= 1.0:
        known.dre *= 1.0 - params.dre_decay
        periods -= 1
    return float(known.dre)


@inlined
def load(params: Any, known: Any, port: Any, now_ps: int) -> int:
    """Return the load of a port in steps of 2^-Q: X over what its link carries in tau."""
    share = (
        decayed(params, known, now_ps) * PORT_BITS * params.dre_decay / (float(port.rate_bps) * params.dre_period_ps)
    )
    steps = 1 << params.metric_bits
    return min(int(share * steps), steps - 1)


@inlined
def path_load(params: Any, own: Any, ports: Any, candidates: Any, path: int, now_ps: int) -> int:
    """Return the larger of an uplink's own load and what the other leaf has last said of the whole path."""
    known = own.paths[path]
    remote = known.remote if known.told_ps != NONE and now_ps - known.told_ps <= params.age_ps else 0
    port = candidates[path]
    return max(remote, load(params, own.ports[port], ports[port], now_ps))


@inlined
def least_loaded(params: Any, own: Any, ports: Any, candidates: Any, present: int, now_ps: int, u0: float) -> int:
    """Return the least loaded path: of several the present one, else one at random."""
    least, equal = path_load(params, own, ports, candidates, 0, now_ps), 1
    for path in range(1, len(candidates)):
        this = path_load(params, own, ports, candidates, path, now_ps)
        equal = equal + 1 if this == least else equal
        if this < least:
            least, equal = this, 1
    if 0 <= present < len(candidates) and path_load(params, own, ports, candidates, present, now_ps) == least:
        return present
    left, path = int(u0 * equal), 0
    while left >= 0:
        left -= path_load(params, own, ports, candidates, path, now_ps) == least
        path += 1
    return path - 1


def choose(params, own, switch, sub, packet, ports, candidates, now_ps: int, u0: float) -> int:
    """Return the path of the packet's flowlet; a new one takes the least loaded path."""
    if switch.tier > 0:
        return hashed(switch, packet, len(candidates))
    place = place_of(params, switch, packet)
    path, last_ps = present_flowlet(params, own, place)
    if path >= len(candidates) or not goes_on(params.gap_ps, params.aging, last_ps, now_ps):
        present = NONE if last_ps == NONE else path
        path = least_loaded(params, own, ports, candidates, present, now_ps, u0)
    own.towards.tag = path
    return note_packet(params, own, place, path, now_ps)


@inlined
def write_feedback(own: Any) -> None:
    """Write the next entry for the leaf that a packet goes to: in turn, those that have changed before others."""
    towards, paths = own.towards, own.paths
    own.packet.back_tag = NONE
    for step in range(1, 2 * len(paths) + 1):
        path = (towards.turn + step) % len(paths)
        if paths[path].measured != NONE and (paths[path].changed or step > len(paths)):
            own.packet.back_tag = path
            own.packet.back_load = paths[path].measured
            paths[path].changed = 0
            towards.turn = path
            break


@inlined
def read_load(own: Any, now_ps: int) -> None:
    """Keep what a packet has met on its way, and the entry that it brings back."""
    entry = own.back_paths[own.packet.tag]
    if entry.measured != own.packet.load:
        entry.changed = 1
    entry.measured = own.packet.load
    if own.packet.back_tag != NONE:
        entry = own.back_paths[own.packet.back_tag]
        entry.remote = own.packet.back_load
        entry.told_ps = now_ps


def see(params: Any, own: Any, switch: Any, sub: Any, packet: Any, port: Any, now_ps: int) -> int:
    """Add the packet to the load of its port, and write or read what it carries."""
    decayed(params, own.port, now_ps)
    own.port.dre += packet.bytes
    where = stage(own, switch, packet, port)
    if where == WITHIN_LEAF:
        return 0
    if where == LAST_LEAF:
        read_load(own, now_ps)
        return 0
    if where == FIRST_LEAF:
        own.packet.tag = own.towards.tag
        own.packet.load = 0
        write_feedback(own)
    own.packet.load = max(own.packet.load, load(params, own.port, port, now_ps))
    return 0


CONGA = Balancer(
    name="conga",
    choose=choose,
    see=see,
    params=CongaParams(),
    memory={
        **FLOWLETS,
        "port": (("dre", "f8"), ("period", "i8")),
        "towards": (*LEAF_FIELDS, ("tag", "i8"), ("turn", "i8")),
        "path": (("remote", "i8"), ("told_ps", "i8", NONE), ("measured", "i8", NONE), ("changed", "i8")),
        "packet": (("tag", "i8"), ("load", "i8"), ("back_tag", "i8"), ("back_load", "i8")),
    },
    draws=True,
    reads_queues=False,
)
