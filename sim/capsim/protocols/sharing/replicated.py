"""Replication (RepFlow): several subflows, each of which carries the whole flow; the first to be complete counts."""

from dataclasses import dataclass

from capsim.protocols.sharing.copies import CopiesParams, begin
from capsim.records import CLOSED, NONE
from capsim.roles.components import Sharing
from capsim.roles.hooks import COMPLETE


@dataclass(frozen=True, kw_only=True)
class ReplicatedParams(CopiesParams):
    """Parameters of replication.

    Parameters
    ----------
    copies : int
        As in :class:`~capsim.protocols.sharing.copies.CopiesParams`; each carries the whole flow.
    abort_losers : bool
        Whether the others stop sending when the first is complete at the receiver. The sender learns of it at once,
        which no network can do: it shows what stopping could gain at most.
    """

    abort_losers: bool = False


def note(params, own, flow, sub, subs, maps, data, signals: int, now_ps: int, u0: float) -> int:
    """Stop the other copies when the first is complete."""
    other = flow.first_sub
    while params.abort_losers and other != NONE:
        if other != sub.id and subs[other].closed_ps == NONE:
            subs[other].state = CLOSED
        other = subs[other].next_sub
    return 0


REPLICATED = Sharing(name="replicated", begin=begin, note=note, listens=COMPLETE, params=ReplicatedParams())
