"""Trimming: of a data packet that finds no room the header goes on, ahead of all data, and tells of it (NDP, 2017).

Data are taken while those in the queue do not exceed a limit. Then the arriving packet loses its payload, or the last
that waits does so and makes room for it, one as often as the other, so that no arrival is favoured. Headers, which
trimmed packets and all control packets are, leave before data and have twice the room of these. htsim's composite queue
does the same; its default of 8 packets is that of NDP. The NICs of hosts trim nothing, as a host need not send what it
has no room for, and send in order of arrival, or as the NIC of the scheme says.

A port of the network trims by what it has in bytes; the buffers of the fabric count at hosts only. Where nothing is
left of what it trims, with `trim_bytes` 0, it drops in place of that (htsim's ``-disable_trim``).

It may mark too: not what arrives, but what has left, by the data that stay behind it. So the sender hears sooner of a
queue that has grown while its packet waited (htsim's ``decide_ECN``). Headers and control packets have no mark.
"""

from dataclasses import dataclass
from typing import Annotated, Any

from capsim.base import bounds
from capsim.base.inlined import inlined
from capsim.base.randomness import MASK, mix
from capsim.records import CODED, DATA, ECN_CAPABLE, NONE, TRIMMED
from capsim.roles.components import Queue
from capsim.roles.hooks import ACCEPT, EVICT, MARK, REFUSE, TRIM, TRIM_LAST, has_room

HEADER_ROOM = 2  # headers have so many times the room of data (htsim)


@dataclass(frozen=True, kw_only=True)
class TrimParams:
    """Parameters of trimming.

    Parameters
    ----------
    limit_bytes : int
        Data that a port of a switch takes, the packet in service included: 8 packets of 1500 bytes (NDP), or the
        bandwidth-delay product (Ultra Ethernet), which a profile sets.
    trim_bytes : int
        What is left of a trimmed packet, in bytes; 0: nothing, it is dropped.
    headers_per_data : int
        So many headers in a row leave while data wait (NDP: 10; htsim: 100,000).
    mark_low_bytes : int
        Up to so many bytes of data behind a packet that has left it is not marked; from there to `mark_high_bytes` the
        share that is marked grows in proportion (Ultra Ethernet: 0.2 bandwidth-delay products).
    mark_high_bytes : int
        With more bytes of data behind it each packet that leaves is marked (Ultra Ethernet: 0.8 bandwidth-delay
        products); 0: none is.
    reference_rate_bps : int
        Limit and thresholds are those of a port of this rate, in bit/s; those of other ports are in proportion to their
        rates, as on links that htsim slows down. 0: all ports have the same.
    """

    limit_bytes: Annotated[int, bounds.PORT_BYTES] = 12_000
    trim_bytes: Annotated[int, bounds.HEADER_BYTES] = 64
    headers_per_data: Annotated[int, bounds.WINDOW_PACKETS] = 100_000
    mark_low_bytes: Annotated[int, bounds.PORT_BYTES] = 0
    mark_high_bytes: Annotated[int, bounds.PORT_BYTES] = 0
    reference_rate_bps: Annotated[int, bounds.PACE_OR_NONE_BPS] = 0

    @property
    def marks(self) -> bool:
        """Return whether it may mark."""
        return self.mark_high_bytes > 0


@inlined
def coin(packet: Any, now_ps: int) -> int:
    """Return 32 random bits of a packet and a time."""
    return mix((now_ps ^ (now_ps >> 32) ^ (packet.sub << 16) ^ packet.segment) & MASK)


@inlined
def at_port(params: Any, port: Any, size_bytes: int) -> int:
    """Return what a limit or a threshold is at a port."""
    if params.reference_rate_bps == 0:
        return size_bytes
    return int(size_bytes * (port.rate_bps / params.reference_rate_bps))


def admit(
    params: Any, own: Any, port: Any, packet: Any, queue_packets: int, queue_bytes: int, now_ps: int, u0: float
) -> int:
    """Return ACCEPT with room, else TRIM or TRIM_LAST for data, or REFUSE or EVICT, and REFUSE for headers."""
    if port.of_host:
        return ACCEPT if has_room(port, packet, queue_packets, queue_bytes) else REFUSE
    limit_bytes = at_port(params, port, params.limit_bytes)
    if packet.flags & TRIMMED or (packet.kind != DATA and packet.kind != CODED):
        headers_bytes = port.queue_bytes - port.data_bytes + packet.bytes
        return ACCEPT if headers_bytes <= HEADER_ROOM * limit_bytes else REFUSE
    if port.data_bytes + packet.bytes <= limit_bytes:
        return ACCEPT
    if params.trim_bytes == 0:
        return REFUSE if coin(packet, now_ps) & 1 else EVICT
    return TRIM if coin(packet, now_ps) & 1 else TRIM_LAST


def evict(params: Any, own: Any, port: Any, packets: Any, packet: Any, now_ps: int) -> int:
    """Return the last packet with data that waits, or NONE."""
    return int(port.wait_tail) if packets[port.wait_tail].rank else NONE


def take(params: Any, own: Any, port: Any, packets: Any, now_ps: int) -> int:
    """Return the first header, but the first packet with data after so many headers in a row."""
    number, last = port.wait_head, packets[port.wait_tail]
    if packets[number].rank or not last.rank:
        own.port.headers = 0
        return int(number)
    own.port.headers += 1
    if own.port.headers > params.headers_per_data:
        own.port.headers = 0
        while not packets[number].rank:
            number = packets[number].next
    return int(number)


def leave(params: Any, own: Any, port: Any, packet: Any, now_ps: int) -> int:
    """Return MARK for a packet behind which there are more data than the thresholds allow."""
    low_bytes = at_port(params, port, params.mark_low_bytes)
    high_bytes = at_port(params, port, params.mark_high_bytes)
    if port.data_bytes <= low_bytes or packet.flags & TRIMMED or not packet.flags & ECN_CAPABLE:
        return ACCEPT
    if port.data_bytes > high_bytes:
        return MARK
    share = (port.data_bytes - low_bytes) / (high_bytes - low_bytes)
    return MARK if coin(packet, now_ps) < share * (MASK + 1) else ACCEPT


TRIM_QUEUE = Queue(
    name="trim",
    admit=admit,
    take=take,
    leave=leave,
    evict=evict,
    params=TrimParams(),
    headers_first=True,
    memory={"port": (("headers", "i8"),)},  # sent in a row while data waited
)
