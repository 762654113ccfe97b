"""The receiver of NDP (Handley et al. 2017): an answer to each packet, and PULLs at the rate of its host's link.

============================ =========================================================== ==========================
Event                        What follows                                                Source
============================ =========================================================== ==========================
a packet, or its header      an ACK, or a NACK, of that packet at once                   NDP, section 3.2
                             and one PULL is owed to the sender                          the same
the host sends no PULLs      the first one is a field of that ACK or NACK                htsim, ``NdpPullPacer``
PULLs are owed               one in the time of a full packet, a little longer,          the same; NDP, section 3.2
                             over all flows that come to the host, these in turn
all of a flow has come       what is owed to it lapses                                   htsim, ``release_pulls``
============================ =========================================================== ==========================

A PULL is an acknowledgement of no packet. It, and each ACK and NACK, says how many PULLs have left for the flow: so the
next one makes up for one that is lost.

**Turns.** The pacer of a host is the time ``own.host.next_ps`` of its next free slot. A flow that is owed PULLs has one
slot, which is the time of its timer, and takes the next free one when its PULL has left: so flows are served in turn,
one PULL each. The slots of flows that are complete are given to those that ask next, so that none stays empty while
there is a flow to use it. Flows of other stacks, in a mixture of several schemes, have a pacer of their own.
"""

from typing import Any

from capsim.base.clock import BIT_PS_PER_BYTE_S
from capsim.base.inlined import inlined
from capsim.protocols.transports.answered import take_arrival, turn_round
from capsim.records import NONE, RETRANSMITTED

FREED = 64  # slots given back that a host remembers

HOST = (
    ("rate_bps", "i8", "rate_bps"),
    ("link_bytes", "i8", "link_bytes"),
    ("next_ps", "i8"),  # the next slot that nobody has had
    ("freed_ps", f"({FREED},)i8", NONE),  # slots given back, in any order
    ("last_freed_ps", "i8", NONE),  # the latest of them
)
PULLS = (
    ("owed", "i8"),  # PULLs that have not left
    ("given", "i8"),  # PULLs that have
)


@inlined
def spacing_ps(params: Any, host: Any) -> int:
    """Return the time between two PULLs of a host: that of a full packet on its link over the share of its rate."""
    bits_ps = BIT_PS_PER_BYTE_S * (params.mss_bytes + params.header_bytes + host.link_bytes)
    return int(bits_ps / (host.rate_bps * params.pull_share) + 0.5)


@inlined
def take_slot(params: Any, host: Any, sub: Any, now_ps: int) -> None:
    """Give a flow the next slot: the earliest that was given back, or the first that nobody has had."""
    slot_ps, place = max(host.next_ps, now_ps), NONE
    if host.last_freed_ps >= now_ps:
        for index in range(FREED):
            if now_ps <= host.freed_ps[index] < slot_ps:
                slot_ps, place = host.freed_ps[index], index
    if place == NONE:
        host.next_ps = slot_ps + spacing_ps(params, host)
    else:
        host.freed_ps[place] = NONE
    sub.receive_wake_ps = slot_ps


@inlined
def give_back(host: Any, sub: Any) -> None:
    """Take its slot from a flow; of more than `FREED` to come the earliest is forgotten."""
    place = 0
    for index in range(1, FREED):
        if host.freed_ps[index] < host.freed_ps[place]:
            place = index
    host.freed_ps[place] = sub.receive_wake_ps
    host.last_freed_ps = max(host.last_freed_ps, sub.receive_wake_ps)
    sub.receive_wake_ps = NONE


@inlined
def owe(params: Any, own: Any, sub: Any, now_ps: int) -> None:
    """Owe a sender one more PULL; where the host sends none, it leaves with the present answer."""
    memory, host = own.subflow, own.host
    if sub.receive_wake_ps == NONE and host.next_ps <= now_ps:
        memory.given += 1
        host.next_ps = now_ps + spacing_ps(params, host)
        return
    memory.owed += 1
    if sub.receive_wake_ps == NONE:
        take_slot(params, host, sub, now_ps)


@inlined
def answer(params: Any, own: Any, sub: Any, packet: Any) -> int:
    """Turn a packet into an acknowledgement with the number of PULLs that have left."""
    own.packet.pulls = own.subflow.given
    return turn_round(params, sub, packet)


def on_data(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Answer a packet, or the header of one, and owe its sender a PULL unless all has come."""
    take_arrival(own, sub, ring, packet)
    if sub.receive_next == sub.end and sub.final:
        own.subflow.owed = 0
        if sub.receive_wake_ps != NONE:
            give_back(own.host, sub)
    else:
        owe(params, own, sub, now_ps)
    return answer(params, own, sub, packet)


def on_receive_timer(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Send a PULL, and take the next slot if more are owed."""
    sub.receive_wake_ps = NONE
    own.subflow.owed -= 1
    own.subflow.given += 1
    if own.subflow.owed:
        take_slot(params, own.host, sub, now_ps)
    packet.flags = RETRANSMITTED  # no measure of a round trip, nor a duplicate
    packet.priority = sub.priority
    packet.segment = NONE
    packet.unit = NONE
    packet.sent_ps = now_ps
    own.packet.trimmed = 0
    return answer(params, own, sub, packet)
