"""TCP Tahoe's loss recovery (Jacobson 1988) as in ns-2's ``Agent/TCP``: after a loss it begins again where it was lost.

============================ ========================================================== =====================
Event                        What follows                                               Source
============================ ========================================================== =====================
third duplicate ACK          go back to the first unacknowledged segment                ns-2, ``tahoe_action``
timeout                      the same, and the RTO doubles                              ns-2, ``slowdown``
============================ ========================================================== =====================

There is no fast recovery. As in ns-2 (``bug_fix_``) the duplicates of what was in flight at the last loss start
nothing. The timer and the receiver are those of the other variants; the windows are those of
:mod:`capsim.protocols.congestion.tahoe`.
"""

from typing import Any

from capsim.base.inlined import inlined
from capsim.protocols.transports.newreno import send, take_acknowledgement
from capsim.protocols.transports.receiver import on_data
from capsim.protocols.transports.tcp import (
    TcpParams,
    back_off,
    echoed_mark,
    expire_syn,
    open_,
    start_timer,
)
from capsim.records import ACK, ESTABLISHED, SYN_SENT
from capsim.roles.components import Transport
from capsim.roles.hooks import DUPLICATE, EXPIRED, LOST


def on_ack(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Take an acknowledgement: new data as NewReno outside recovery, where this variant always is."""
    duplicate = packet.kind == ACK and packet.ack == sub.una and sub.una < sub.high
    if sub.state == ESTABLISHED and duplicate:
        return take_duplicate(sub, now_ps) | echoed_mark(packet)
    return take_acknowledgement(params, sub, ring, packet, now_ps, True, True)


@inlined
def take_duplicate(sub: Any, now_ps: int) -> int:
    """Go back at the third duplicate."""
    sub.dup_acks += 1
    sub.dup_acks_received += 1
    if sub.dup_acks == sub.dup_ack_threshold and sub.una - 1 > sub.recover:
        sub.fast_retransmits += 1
        go_back(sub)
        start_timer(sub, now_ps)
        return DUPLICATE | LOST
    return DUPLICATE


@inlined
def go_back(sub: Any) -> None:
    """Go back to the first unacknowledged segment."""
    sub.recover = sub.high - 1
    sub.next_segment = sub.una


def on_timeout(params: Any, own: Any, sub: Any, ring: Any, now_ps: int) -> int:
    """Go back, with the RTO doubled."""
    if sub.state == SYN_SENT:
        return expire_syn(params, sub, now_ps)
    go_back(sub)
    back_off(params, sub, now_ps)
    return EXPIRED


TAHOE = Transport(
    name="tahoe",
    open=open_,
    send=send,
    on_data=on_data,
    on_ack=on_ack,
    on_timeout=on_timeout,
    params=TcpParams(),
)
