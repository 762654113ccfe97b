"""Datagrams (UDP) at a constant rate, or at one during ON periods: background traffic that answers to nothing.

================================ ======================= ===============================================
Quantity                         Name                    Unit
================================ ======================= ===============================================
when the next packet leaves      ``own.subflow.next_ps`` picosecond; a packet time after the one before
what rounding down has left over ``own.subflow.owed``    picosecond / ``rate_bps``, so nothing is lost
================================ ======================= ===============================================

Nothing is acknowledged and nothing is retransmitted. A flow counts as acknowledged when its last packet has left, and
as finished when all its packets have come; one that loses packets never finishes. What it has delivered is counted in
packets that came, in any order.
"""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from capsim.base import bounds
from capsim.base.inlined import inlined
from capsim.records import CLOSED, DATA, ESTABLISHED, NONE
from capsim.roles.components import SegmentParams, Transport
from capsmodel.checks import require

PS_BITS_PER_BYTE = 8 * 10**12


@dataclass(frozen=True, kw_only=True)
class DatagramParams(SegmentParams):
    """Parameters of the sender.

    Parameters
    ----------
    rate_bps : int
        Rate of packets with their headers while the sender is ON, in bit/s; on average exact.
    on_s : float
        Length of an ON period, in seconds; a flow begins with one.
    off_s : float
        Length of an OFF period, in seconds; with 0 the rate is constant.
    mss_bytes, header_bytes : int
        As in :class:`~capsim.roles.components.SegmentParams`.
    max_window_bytes : int
        Means nothing, since no packet waits for an acknowledgement.
    """

    unread: ClassVar = frozenset({"max_window_bytes"})

    header_bytes: Annotated[int, bounds.HEADER_BYTES] = 28
    max_window_bytes: Annotated[int, bounds.WINDOW_BYTES] = 1460
    rate_bps: Annotated[int, bounds.PACE_BPS] = 100_000_000
    on_s: Annotated[float, bounds.DEADLINE_S] = 0.0
    off_s: Annotated[float, bounds.DEADLINE_S] = 0.0

    def __post_init__(self) -> None:
        bounds.check_params(self, "transport")
        require(self.on_s > 0 or self.off_s == 0, "transport.off_s needs transport.on_s, the length of an ON period")


def open_(params: Any, own: Any, flow: Any, sub: Any, now_ps: int) -> int:
    """Begin with an ON period."""
    sub.state = ESTABLISHED
    own.subflow.next_ps = now_ps
    own.subflow.begin_ps = now_ps
    return 0


def send(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Send a packet if its time has come, or set the timer."""
    if sub.state != ESTABLISHED:
        return 0
    if own.subflow.next_ps > now_ps:
        sub.send_wake_ps = own.subflow.next_ps
        return 0
    segment = sub.next_segment
    packet.kind = DATA
    packet.flags = 0
    packet.bytes = params.header_bytes + (sub.short_bytes if segment == sub.short_segment else params.mss_bytes)
    packet.priority = sub.priority
    packet.segment = segment
    packet.ack = 0
    packet.unit = NONE
    packet.sent_ps = now_ps
    sub.next_segment = segment + 1
    sub.high = sub.next_segment
    sub.una = sub.next_segment
    sub.send_wake_ps = NONE
    if sub.una == sub.end:
        sub.state = CLOSED
    plan_next(params, own.subflow, packet.bytes)
    return 1


@inlined
def plan_next(params: Any, memory: Any, sent_bytes: int) -> None:
    """Set the time of the next packet: one packet time later, or at the start of the next ON period."""
    memory.owed += sent_bytes * PS_BITS_PER_BYTE
    memory.next_ps += memory.owed // params.rate_bps
    memory.owed %= params.rate_bps
    if params.off_ps:
        period_ps = params.on_ps + params.off_ps
        into_ps = (memory.next_ps - memory.begin_ps) % period_ps
        if into_ps >= params.on_ps:
            memory.next_ps += period_ps - into_ps


def on_data(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Count the packet; there is no reply."""
    if packet.segment < sub.highest_received:
        sub.reordered_packets += 1
    sub.highest_received = max(sub.highest_received, packet.segment)
    sub.receive_next += 1
    return 0


def on_ack(params: Any, own: Any, sub: Any, ring: Any, packet: Any, now_ps: int) -> int:
    """Say nothing: no acknowledgement comes."""
    return 0


def on_timeout(params: Any, own: Any, sub: Any, ring: Any, now_ps: int) -> int:
    """Say nothing: there is no retransmission timer."""
    return 0


DATAGRAM = Transport(
    name="datagram",
    open=open_,
    send=send,
    on_data=on_data,
    on_ack=on_ack,
    on_timeout=on_timeout,
    params=DatagramParams(),
    memory={"subflow": (("next_ps", "i8"), ("owed", "i8"), ("begin_ps", "i8"))},
    send_timer=True,
    reliable=False,
)
