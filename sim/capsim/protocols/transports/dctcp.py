"""DCTCP (RFC 8257): the receiver echoes each mark, the sender cuts its window by the fraction of marked bytes.

============================ ====== ================= ==================
Quantity                     Symbol Name              Source
============================ ====== ================= ==================
estimate of marked fraction  alpha  ``conn.alpha``    RFC 8257, 3.3
weight of a new observation  g      ``ewma_gain``     RFC 8257, 3.3
============================ ====== ================= ==================

Losses are repaired as by NewReno, or by SACK (RFC 8257, section 3.5). The congestion window is reduced once per window
of data, for a loss or for a mark (RFC 3168, section 6.1.2). The fraction counts bytes as they arrive, as Linux does: a
duplicate acknowledgement reports one segment, so marks echoed during recovery count for the window they belong to.
"""

from dataclasses import dataclass
from typing import Annotated, Any

from capsim import bounds
from capsim.hooks import Transport, inlined
from capsim.protocols.transports import newreno, sack
from capsim.protocols.transports.newreno import hear_acknowledgement as hear_as_newreno
from capsim.protocols.transports.sack import SackParams
from capsim.protocols.transports.sack import hear_acknowledgement as hear_as_sack
from capsim.protocols.transports.tcp import TcpParams, open_connection, receive
from capsim.records import ACK, ECN_ECHO, ESTABLISHED


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
    ewma_gain: Annotated[float, bounds.RATIO] = 1 / 16
    initial_alpha: Annotated[float, bounds.RATIO] = 1.0


@dataclass(frozen=True, kw_only=True)
class DctcpSackParams(DctcpParams, SackParams):
    """Parameters of DCTCP, and of selective acknowledgement."""


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
    """Act as NewReno, then count marks, then cut the window at most once per window."""
    una, limit = conn.una, conn.cwnd_bytes
    hear_as_newreno(params, conn, segments, packet, now_ps)
    react(params, conn, packet, una, limit)
    return 0


def hear_over_sack(params: Any, conn: Any, segments: Any, packet: Any, now_ps: int) -> int:
    """Act as SACK, then count marks, then cut the window at most once per window."""
    una, limit = conn.una, conn.cwnd_bytes
    hear_as_sack(params, conn, segments, packet, now_ps)
    react(params, conn, packet, una, limit)
    return 0


@inlined
def react(params: Any, conn: Any, packet: Any, una: int, limit: int) -> None:
    """Count the bytes that the acknowledgement reports, and reduce the window for a mark.

    A mark of the window in which a loss was found (up to `recover`) does not reduce it again.
    """
    if conn.state != ESTABLISHED or packet.kind != ACK:
        return
    _count(params, conn, packet, una)
    if conn.una > una:
        _close_window(params, conn)
    if conn.una > conn.recover and (packet.flags & ECN_ECHO or conn.una <= conn.reduced_until):
        _reduce(params, conn, limit)


@inlined
def _count(params: Any, conn: Any, packet: Any, una: int) -> None:
    """Count the bytes that this acknowledgement is the first to report."""
    arrived = params.mss_bytes
    if conn.una > una:
        acked = (conn.una - una) * params.mss_bytes
        arrived = max(acked - conn.early_bytes, 0)
        conn.early_bytes = max(conn.early_bytes - acked, 0)
    elif packet.ack == una and una < conn.high:
        conn.early_bytes += arrived
    else:
        return
    conn.acked_bytes += arrived
    if packet.flags & ECN_ECHO:
        conn.marked_bytes += arrived


@inlined
def _close_window(params: Any, conn: Any) -> None:
    """Update alpha when the observation window ends (RFC 8257, section 3.3)."""
    if conn.una == conn.next_segment:
        conn.early_bytes = 0
    if conn.una > conn.window_end and conn.acked_bytes:
        fraction = conn.marked_bytes / conn.acked_bytes
        conn.alpha = (1.0 - params.ewma_gain) * conn.alpha + params.ewma_gain * fraction
        conn.acked_bytes = 0
        conn.marked_bytes = 0
        conn.window_end = conn.next_segment


@inlined
def _reduce(params: Any, conn: Any, limit: int) -> None:
    """Cut the window by alpha / 2, once until what is in flight now is acknowledged, and do not grow meanwhile."""
    if conn.una > conn.reduced_until:
        cut = int(min(conn.cwnd_bytes, limit) * (1.0 - conn.alpha / 2.0))
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
DCTCP_SACK = Transport(
    name="dctcp_sack",
    open=open_,
    send=sack.send,
    receive=sack.receive,
    hear=hear_over_sack,
    expire=sack.expire,
    params=DctcpSackParams(),
)
