"""Shared by sharings whose subflows are copies, all opened when the flow starts."""

from dataclasses import dataclass
from typing import Annotated, Any

from capsim.base import bounds


@dataclass(frozen=True, kw_only=True)
class CopiesParams:
    """Parameters of copies.

    Parameters
    ----------
    copies : int
        Subflows that are opened, each with a hash of its own (RepFlow, RepNet: 2).
    """

    copies: Annotated[int, bounds.COPIES] = 2

    @property
    def subflows(self) -> int:
        """Return the most subflows of a flow."""
        return self.copies


def begin(params: Any, own: Any, flow: Any, now_ps: int) -> int:
    """Open all copies."""
    return int(params.copies)
