"""One subflow whose packets take many paths: more duplicate acknowledgements before a segment is taken for lost."""

from dataclasses import dataclass
from typing import Annotated, Any

from capsim.base import bounds
from capsim.base.inlined import inlined
from capsim.protocols.sharing.single import begin
from capsim.roles.components import Sharing
from capsim.roles.hooks import OPENED


@dataclass(frozen=True, kw_only=True)
class ScatteredParams:
    """Parameters of a subflow over many paths.

    Parameters
    ----------
    path_threshold : bool
        Whether the number of shortest paths between the hosts, where there are several, is added to the transport's
        ``dup_ack_threshold``. The rule of mmptcp (its section 2.4): 3 in the rack, 19 over 16 core switches.
    fixed_threshold : int
        The threshold of all flows, in place of that rule (mmptcp, Table 4); 0 for the rule.
    """

    path_threshold: bool = True
    fixed_threshold: Annotated[int, bounds.DUP_ACKS_OR_NONE] = 0


@inlined
def set_threshold(params: Any, flow: Any, sub: Any) -> None:
    """Set the threshold of a scattered subflow; limited transmit sends a segment for each duplicate below it.

    RFC 3042 sends two, one less than its threshold of three; MMPTCP_LT does the same with its larger threshold.
    """
    if params.fixed_threshold:
        sub.dup_ack_threshold = params.fixed_threshold
    elif params.path_threshold and flow.n_paths > 1:
        sub.dup_ack_threshold += flow.n_paths
    if sub.limited_packets:
        sub.limited_packets = sub.dup_ack_threshold - 1


def note(params, own, flow, sub, subs, maps, data, signals: int, now_ps: int, u0: float) -> int:
    """Set the threshold when the subflow is open."""
    set_threshold(params, flow, sub)
    return 0


SCATTERED = Sharing(name="scattered", begin=begin, note=note, listens=OPENED, params=ScatteredParams())
