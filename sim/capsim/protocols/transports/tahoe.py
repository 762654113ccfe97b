"""TCP Tahoe (Jacobson 1988) as in ns-2's ``Agent/TCP``: after a third duplicate it starts again as after a timeout.

============================ ========================================================== =====================
Event                        What follows                                               Source
============================ ========================================================== =====================
third duplicate ACK          ssthresh = max(window / 2, 2 MSS), cwnd = 1 MSS, go back   ns-2, ``tahoe_action``
timeout                      the same, and the RTO doubles                              ns-2, ``slowdown``
============================ ========================================================== =====================

"Go back" is to the first unacknowledged segment. There is no fast recovery. As in ns-2 (``bug_fix_``) the duplicates
of what was in flight at the last loss start nothing. Slow start, congestion avoidance, the timer and the receiver are
those of the other variants.
"""

from typing import Any

from capsim.hooks import Transport, inlined
from capsim.protocols.transports.newreno import hear_acknowledgement, send
from capsim.protocols.transports.tcp import (
    TcpParams,
    back_off,
    expire_syn,
    open_connection,
    receive,
    start_timer,
)
from capsim.records import ACK, ESTABLISHED, SYN_SENT


def hear(params: Any, conn: Any, segments: Any, packet: Any, now_ps: int) -> int:
    """Take an acknowledgement: new data as NewReno outside recovery, where this variant always is."""
    duplicate = packet.kind == ACK and packet.ack == conn.una and conn.una < conn.high
    if conn.state == ESTABLISHED and duplicate:
        hear_duplicate(params, conn, now_ps)
    else:
        hear_acknowledgement(params, conn, segments, packet, now_ps)
    return 0


@inlined
def hear_duplicate(params: Any, conn: Any, now_ps: int) -> None:
    """Start again at the third duplicate."""
    conn.dup_acks += 1
    conn.dup_acks_received += 1
    if conn.dup_acks == params.dup_ack_threshold and conn.una - 1 > conn.recover:
        conn.fast_retransmits += 1
        start_again(params, conn)
        start_timer(conn, now_ps)


@inlined
def start_again(params: Any, conn: Any) -> None:
    """Go back to the first unacknowledged segment, with a window of one segment and half the window as threshold."""
    window = min(conn.cwnd_bytes, max(params.max_window_bytes, params.mss_bytes))
    conn.ssthresh_bytes = max(window // 2, 2 * params.mss_bytes)
    conn.cwnd_bytes = params.mss_bytes
    conn.recover = conn.high - 1
    conn.next_segment = conn.una


def expire(params: Any, conn: Any, segments: Any, now_ps: int) -> int:
    """Start again, with the RTO doubled."""
    if conn.state == SYN_SENT:
        expire_syn(params, conn, now_ps)
    else:
        start_again(params, conn)
        back_off(params, conn, now_ps)
    return 0


TAHOE = Transport(
    name="tahoe",
    open=open_connection,
    send=send,
    receive=receive,
    hear=hear,
    expire=expire,
    params=TcpParams(),
)
