"""DCTCP (RFC 8257): the receiver echoes each mark, the sender cuts its window by the fraction of marked bytes.

============================ ====== ================= ==================
Quantity                     Symbol Name              Source
============================ ====== ================= ==================
estimate of marked fraction  alpha  ``conn.alpha``    RFC 8257, 3.3
weight of a new observation  g      ``ewma_gain``     RFC 8257, 3.3
============================ ====== ================= ==================

Losses are repaired as NewReno does (RFC 8257, section 3.5).
"""

from dataclasses import dataclass
from typing import Any

from capsim.hooks import Transport, inlined
from capsim.protocols.transports import newreno
from capsim.protocols.transports.newreno import hear_acknowledgement
from capsim.protocols.transports.tcp import TcpParams, open_connection, receive
from capsim.records import ECN_ECHO, ESTABLISHED


@dataclass(frozen=True, kw_only=True)
class DctcpParams(TcpParams):
    """Parameters of TCP, and of DCTCP.

    Parameters
    ----------
    ewma_gain : float
        g of RFC 8257, section 3.3.
    initial_alpha : float
        alpha before the first observation window (RFC 8257: 1).
    """

    ecn: bool = True
    ewma_gain: float = 1 / 16
    initial_alpha: float = 1.0


def open_(params: Any, conn: Any, now_ps: int) -> int:
    """Start a connection."""
    open_dctcp(params, conn, now_ps)
    return 0


@inlined
def open_dctcp(params: Any, conn: Any, now_ps: int) -> None:
    """Begin with alpha at its initial value and an empty observation window."""
    open_connection(params, conn, now_ps)
    conn.alpha = params.initial_alpha


def hear(params: Any, conn: Any, segments: Any, packet: Any, now_ps: int) -> int:
    """Count marks, then act as NewReno, then cut the window at most once per window."""
    una = conn.una
    limit = conn.cwnd_bytes
    hear_acknowledgement(params, conn, segments, packet, now_ps)
    if conn.state == ESTABLISHED and conn.una > una:
        _observe(params, conn, packet, (conn.una - una) * params.mss_bytes)
        if packet.flags & ECN_ECHO or conn.una <= conn.reduced_until:
            _reduce(params, conn, packet, limit)
    return 0


@inlined
def _observe(params: Any, conn: Any, packet: Any, acked_bytes: int) -> None:
    """Update alpha when the observation window ends (RFC 8257, section 3.3)."""
    conn.acked_bytes += acked_bytes
    if packet.flags & ECN_ECHO:
        conn.marked_bytes += acked_bytes
    if conn.una > conn.window_end:
        fraction = conn.marked_bytes / conn.acked_bytes
        conn.alpha = (1.0 - params.ewma_gain) * conn.alpha + params.ewma_gain * fraction
        conn.acked_bytes = 0
        conn.marked_bytes = 0
        conn.window_end = conn.next_segment


@inlined
def _reduce(params: Any, conn: Any, packet: Any, limit: int) -> None:
    """Cut the window by alpha / 2, once until what is in flight now is acknowledged, and do not grow meanwhile."""
    if conn.in_recovery:
        return
    if conn.una > conn.reduced_until:
        cut = int(conn.cwnd_bytes * (1.0 - conn.alpha / 2.0))
        conn.cwnd_bytes = max(cut, params.mss_bytes)
        conn.ssthresh_bytes = conn.cwnd_bytes
        conn.reduced_until = conn.next_segment
    else:
        conn.cwnd_bytes = min(conn.cwnd_bytes, limit)


DCTCP = Transport(
    name="dctcp",
    open=open_,
    send=newreno.send,
    receive=receive,
    hear=hear,
    expire=newreno.expire,
    params=DctcpParams(),
)
