"""Replication in which the other copies start later: each has a thread of its own, RepFlow on Mininet (Section VI)."""

from dataclasses import dataclass
from typing import Annotated, Any

from capsim.base import bounds
from capsim.protocols.sharing.replicated import ReplicatedParams, note
from capsim.roles.components import Sharing
from capsim.roles.hooks import COMPLETE


@dataclass(frozen=True, kw_only=True)
class LateCopiesParams(ReplicatedParams):
    """Parameters of late copies.

    Parameters
    ----------
    copies, abort_losers : int, bool
        As in :class:`~capsim.protocols.sharing.replicated.ReplicatedParams`.
    delay_s : float
        How much later than the first the other copies are opened, in seconds.
    """

    delay_s: Annotated[float, bounds.DEADLINE_S] = 1e-3


def begin(params: Any, own: Any, flow: Any, now_ps: int) -> int:
    """Open the first copy, and the others later."""
    flow.to_open = params.copies - 1
    flow.wake_ps = now_ps + params.delay_ps
    return 1


LATE_COPIES = Sharing(name="late_copies", begin=begin, note=note, listens=COMPLETE, params=LateCopiesParams())
