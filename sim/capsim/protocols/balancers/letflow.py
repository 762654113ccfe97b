"""LetFlow (Vanini et al. 2017): a flow goes to a path at random whenever it has been silent for a gap (a *flowlet*).

Nothing is measured: on a slow path the acknowledgements clock fewer packets, so that gaps are more frequent there, and a
flow leaves it sooner. A switch knows flows by a table of flowlets, at the place that the hash of the packet names.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated, Any

from capsim import bounds
from capsim.hooks import inlined
from capsim.protocols.balancers.ecmp import hashed
from capsim.records import NONE
from capsim.roles import Balancer


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
def flowlet_path(params: Any, path: int, last_ps: int, n_paths: int, now_ps: int, u0: float) -> int:
    """Return the path of the flowlet, for a new one, or where routes have changed, at random."""
    if path < n_paths and goes_on(params.gap_ps, params.aging, last_ps, now_ps):
        return path
    return int(u0 * n_paths)


def choose(
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
    """Return the path of the packet's flowlet."""
    if params.table == Table.PER_FLOW:
        flow = own.passing
        flow.path = flowlet_path(params, flow.path, flow.last_ps, len(candidates), now_ps, u0)
        flow.last_ps = now_ps
        return int(flow.path)
    table, place = own.switch, hashed(switch, packet, params.table_entries)
    path = flowlet_path(params, table.path[place], table.last_ps[place], len(candidates), now_ps, u0)
    table.path[place] = path
    table.last_ps[place] = now_ps
    return path


LETFLOW = Balancer(
    name="letflow",
    choose=choose,
    params=LetflowParams(),
    memory={
        "switch": (("path", "(table_entries,)i4"), ("last_ps", "(table_entries,)i8", NONE)),
        "passing": (("path", "i8"), ("last_ps", "i8", NONE)),
    },
    draws=True,
    reads_queues=False,
)
