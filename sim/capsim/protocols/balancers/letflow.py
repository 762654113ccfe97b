"""LetFlow (Vanini et al. 2017): a flow goes to a path at random whenever it has been silent for a gap (a *flowlet*).

Nothing is measured: on a slow path the acknowledgements clock fewer packets, so that gaps are more frequent there, and
a flow leaves it sooner. A switch knows flows by a table of flowlets, at the place that the hash of the packet names.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated, Any

from capsim.base import bounds
from capsim.base.inlined import inlined
from capsim.protocols.balancers.ecmp import hashed
from capsim.records import NONE
from capsim.roles.components import Balancer


class Aging(IntEnum):
    """When a flowlet ends: found by a sweep every gap, after a silence of one to two gaps; or at the gap exactly."""

    SWEEP = 0
    EXACT = 1


class Table(IntEnum):
    """Whether flows share the places of a table by their hash, or each has its own."""

    HASHED = 0
    PER_FLOW = 1


@dataclass(frozen=True, kw_only=True)
class LetflowParams:
    """Parameters of LetFlow.

    Parameters
    ----------
    gap_s : float
        Silence after which a new flowlet begins, in seconds; 0: each packet is one. LetFlow's testbed of 10 Gbit/s has
        500 us, as CONGA; public simulations have 50 to 500 us.
    aging : Aging
        ``"sweep"`` as published: one bit of age in each place, set by a sweep every `gap_s` and cleared by packets; a
        place whose bit is still set at the next sweep is free. ``"exact"`` as simulators do.
    table : Table
        ``"hashed"`` as published; two flows in one place are one flowlet. ``"per_flow"``: no such collisions.
    table_entries : int
        Places of the hashed table of a switch; the hardware described has 64 K.
    """

    gap_s: Annotated[float, bounds.DEADLINE_S] = 500e-6
    aging: Aging = Aging.SWEEP
    table: Table = Table.HASHED
    table_entries: Annotated[int, bounds.TABLE_ENTRIES] = 65_536


@inlined
def goes_on(gap_ps: int, aging: int, last_ps: int, now_ps: int) -> bool:
    """Return whether a packet belongs to the flowlet whose last packet came at `last_ps`."""
    if last_ps == NONE or gap_ps == 0:
        return False
    if aging == Aging.EXACT:
        return now_ps - last_ps < gap_ps
    return now_ps // gap_ps - last_ps // gap_ps < 2


@inlined
def place_of(params: Any, switch: Any, packet: Any) -> int:
    """Return the place of a packet's flow in the table."""
    return hashed(switch, packet, params.table_entries) if params.table == Table.HASHED else 0


@inlined
def present_flowlet(params: Any, own: Any, place: int) -> tuple[int, int]:
    """Return the path of the flowlet in a place of the table, and when its last packet came."""
    if params.table == Table.HASHED:
        return int(own.switch.path[place]), int(own.switch.last_ps[place])
    return int(own.passing.path), int(own.passing.last_ps)


@inlined
def note_packet(params: Any, own: Any, place: int, path: int, now_ps: int) -> int:
    """Note the packet that comes now as the last of its flowlet; return its path."""
    if params.table == Table.HASHED:
        own.switch.path[place] = path
        own.switch.last_ps[place] = now_ps
    else:
        own.passing.path = path
        own.passing.last_ps = now_ps
    return path


def choose(params, own, switch, sub, packet, ports, candidates, now_ps: int, u0: float) -> int:
    """Return the path of the packet's flowlet; for a new one, or where routes have removed it, at random."""
    place = place_of(params, switch, packet)
    path, last_ps = present_flowlet(params, own, place)
    if path >= len(candidates) or not goes_on(params.gap_ps, params.aging, last_ps, now_ps):
        path = int(u0 * len(candidates))
    return note_packet(params, own, place, path, now_ps)


FLOWLETS = {
    "switch": (("path", "(table_entries,)i4"), ("last_ps", "(table_entries,)i8", NONE)),
    "passing": (("path", "i8"), ("last_ps", "i8", NONE)),
}
LETFLOW = Balancer(
    name="letflow", choose=choose, params=LetflowParams(), memory=FLOWLETS, draws=True, reads_queues=False
)
