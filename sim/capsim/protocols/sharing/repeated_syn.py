"""RepSYN: two connections are opened; the one whose handshake is over first carries the flow, the other is closed."""

from capsim.protocols.sharing.copies import CopiesParams, begin
from capsim.records import CLOSED, NONE, SYN_SENT
from capsim.roles.components import Sharing
from capsim.roles.hooks import OPENED


def note(params, own, flow, sub, subs, maps, data, signals: int, now_ps: int, u0: float) -> int:
    """Close the connections that still wait for their SYN-ACK; `sub` itself where another one is open already."""
    other = flow.first_sub
    while other != NONE:
        if other != sub.id and subs[other].state == SYN_SENT:
            subs[other].state = CLOSED
        elif other != sub.id and subs[other].closed_ps == NONE and sub.closed_ps == NONE:
            sub.state = CLOSED
        other = subs[other].next_sub
    return 0


REPEATED_SYN = Sharing(name="repeated_syn", begin=begin, note=note, listens=OPENED, params=CopiesParams())
