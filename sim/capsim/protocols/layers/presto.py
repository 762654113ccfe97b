"""Presto (He et al. 2015): flows are cut into flowcells of 64 KB, each with the label of the next path; reassembly.

**Sender.** A packet that would make the flowcell larger than 64 KB begins the next one, on the next path
(:mod:`capsim.base.labels`). Flowcells are numbered in the order of sending: a retransmission is in the present one.

**Receiver.** Paths are of equal length, so packets of one flowcell come in order, and a gap within it is a loss: TCP is
told at once. A gap between flowcells can be one or the other. What is behind it is held until the gap is filled, or for
`hold_factor` times the mean time that such gaps have lasted, and longer while the flowcell behind the gap still grows.

========================================== ========== =========================
Quantity                                   Symbol     Name
========================================== ========== =========================
flowcell of the last packet in order       f_last     ``own.subflow.last_cell``
next segment in order                      expSeq     ``own.subflow.expected``
mean duration of gaps filled               EWMA       ``own.subflow.gap_ps``
hold time over that mean                   alpha      ``hold_factor``
hold time over the wait for further ones   beta       ``grow_divisor``
========================================== ========== =========================

Offloading (TSO, GRO) is not simulated: the unit is a packet at both ends.

Reassembly does not help where losses are many: with short queues and NewReno, what is held comes late, and flows may
take longer than without it (``reassembly``).
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated, Any

from capsim.base import bounds
from capsim.base.inlined import inlined
from capsim.base.randomness import MASK, mix
from capsim.records import DATA, NONE
from capsim.roles.components import Layer
from capsim.roles.hooks import DELIVER, HOLD, PASS

LARGEST_LABEL = 2**31 - 1


class Placement(IntEnum):
    """Which path a flowcell takes: the one after that of the flowcell before, or a random one."""

    ROUND_ROBIN = 0
    RANDOM = 1


@dataclass(frozen=True, kw_only=True)
class PrestoParams:
    """Parameters of Presto.

    Parameters
    ----------
    cell_bytes : int
        Most payload of a flowcell, in bytes; 64 KB is the largest segment that a sender offloads.
    placement : Placement
        ``"round_robin"`` as published; ``"random"`` as the paper of CAPS describes Presto.
    hashed_start : bool
        Whether the first flowcell takes the path of the flow's hash; otherwise all flows begin at the first path. The
        publication does not say; public code has either.
    reassembly : bool
        Whether the receiver holds what is behind a gap between flowcells, as published.
    advance_at_repairs : bool
        Whether a retransmission below the next segment in order also moves `f_last` to its flowcell. Public sources do
        not tell; without it only the next segment in order does.
    hold_factor : float
        alpha, 2 as published: packets are held for alpha times the mean duration of gaps.
    grow_divisor : float
        beta, 2 as published: and at least until a 1/beta of that has passed since their flowcell last grew.
    gap_weight : float
        Weight of the last gap in that mean. The publication does not give it; 1/8 as in TCP's RTT (RFC 6298).
    first_gap_s : float
        Duration taken for the mean before the first gap is filled, in seconds; not given either, about an RTT.
    """

    cell_bytes: Annotated[int, bounds.THRESHOLD_BYTES] = 65_536
    placement: Placement = Placement.ROUND_ROBIN
    hashed_start: bool = True
    reassembly: bool = True
    advance_at_repairs: bool = False
    hold_factor: Annotated[float, bounds.FACTOR] = 2.0
    grow_divisor: Annotated[float, bounds.DIVISOR] = 2.0
    gap_weight: Annotated[float, bounds.RATIO] = 0.125
    first_gap_s: Annotated[float, bounds.PERIOD_S] = 100e-6


def accept(params: Any, own: Any, flow: Any, sub: Any, counters: Any, packet: Any, now_ps: int) -> int:
    """Write flowcell and label into a packet that leaves."""
    cells = own.subflow
    if packet.kind == DATA:
        payload_bytes = sub.short_bytes if packet.segment == sub.short_segment else sub.mss_bytes
        if cells.cell_bytes + payload_bytes > params.cell_bytes:
            cells.cell += 1
            cells.cell_bytes = 0
        cells.cell_bytes += payload_bytes
    start = sub.hash if params.hashed_start else 0
    label = start + cells.cell
    if params.placement == Placement.RANDOM:
        label = mix(label & MASK)
    packet.label = label & LARGEST_LABEL
    own.packet.cell = cells.cell
    return PASS


@inlined
def in_turn(params: Any, cells: Any, cell: int, segment: int) -> bool:
    """Return whether a packet goes to TCP at once; if it is the next one in order, note it."""
    if cell > cells.last_cell and segment > cells.expected:
        return False
    if cell > cells.last_cell and (segment == cells.expected or params.advance_at_repairs):
        cells.last_cell = cell
    if cell == cells.last_cell:
        cells.expected = max(cells.expected, segment + 1)
    return True


@inlined
def begin_gap(cells: Any, cell: int, came_ps: int) -> None:
    """Note when the first packet behind a gap has come."""
    cells.gap_cell = cell
    cells.gap_begun_ps = came_ps
    cells.grown_ps = came_ps


def collect(params: Any, own: Any, flow: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Hold a packet that is behind a gap between flowcells."""
    cells, cell = own.subflow, own.packet.cell
    if packet.kind != DATA or not params.reassembly or in_turn(params, cells, cell, packet.segment):
        return DELIVER
    own.packet.came_ps = now_ps
    cells.held_packets += 1
    if cells.gap_cell == NONE or cell < cells.gap_cell:
        begin_gap(cells, cell, now_ps)
    elif cell == cells.gap_cell:
        cells.grown_ps = now_ps
    return HOLD


@inlined
def hold_until_ps(params: Any, cells: Any) -> int:
    """Return when the flowcell behind the gap has waited long enough."""
    hold_ps = params.hold_factor * (params.first_gap_ps if cells.gap_ps == NONE else cells.gap_ps)
    return max(cells.gap_begun_ps + int(hold_ps), cells.grown_ps + int(hold_ps / params.grow_divisor))


@inlined
def enter_gap(params: Any, cells: Any, gap_ps: int) -> None:
    """Enter the duration of a gap that was filled into the mean."""
    mean_ps = params.first_gap_ps if cells.gap_ps == NONE else cells.gap_ps
    cells.gap_ps = mean_ps + int(params.gap_weight * (gap_ps - mean_ps))
    cells.gap_cell = NONE


def resume(params: Any, own: Any, flow: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Return whether the first held packet goes to TCP: the gap before it is filled, or it has waited long enough."""
    cells, cell = own.subflow, own.packet.cell
    sub.receive_wake_ps = NONE
    if in_turn(params, cells, cell, packet.segment):
        if cell == cells.gap_cell:
            enter_gap(params, cells, now_ps - cells.gap_begun_ps)
        return 1
    if cell != cells.gap_cell:
        begin_gap(cells, cell, own.packet.came_ps)
    if now_ps < hold_until_ps(params, cells):
        sub.receive_wake_ps = hold_until_ps(params, cells)
        return 0
    cells.expired_holds += 1
    cells.gap_cell = NONE
    cells.last_cell = cell
    cells.expected = packet.segment + 1
    return 1


PRESTO = Layer(
    name="presto",
    accept=accept,
    collect=collect,
    resume=resume,
    params=PrestoParams(),
    memory={
        "subflow": (
            *(("cell", "i8"), ("cell_bytes", "i8")),
            *(("last_cell", "i8"), ("expected", "i8"), ("gap_ps", "i8", NONE)),
            *(("gap_cell", "i8", NONE), ("gap_begun_ps", "i8"), ("grown_ps", "i8")),
            *(("held_packets", "i8"), ("expired_holds", "i8")),
        ),
        "packet": (("cell", "i8"), ("came_ps", "i8")),
    },
    columns={
        "subflow": {
            "held_packets": "packets that waited behind a gap between flowcells",
            "expired_holds": "gaps between flowcells that were not filled in time",
        }
    },
    receive_timer=True,
)
