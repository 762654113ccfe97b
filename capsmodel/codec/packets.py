"""The packet on the wire: a header that explains itself (`headers`), then the payload.

Any packet tells all that is needed to decode its unit, so that r and the code may change from unit to unit, and packets
concatenated in a file delimit themselves.
"""

import struct
from dataclasses import dataclass

import numpy as np

from capsmodel.codec.crc32c import crc32c
from capsmodel.codec.errors import PacketError, Packets
from capsmodel.codec.headers import CHECKED_BYTES, HEADER_BYTES, Header, Unit
from capsmodel.codec.inputs import check_packet


@dataclass(frozen=True, eq=False)
class Packet:
    """One packet of a coding unit: the unit, the packet's number in it, and the payload, shape (packet_bytes,)."""

    unit: Unit
    index: int
    payload: Packets


def to_bytes(packet: Packet) -> bytes:
    """Return header and payload of a packet, ``HEADER_BYTES + packet_bytes`` bytes.

    Raises
    ------
    PacketError
        When the payload has another length than the unit says, or a value does not fit its field.
    """
    check_packet(packet.payload, packet_bytes=packet.unit.packet_bytes, packet_id=packet.index)
    head, payload = packet.unit.head(packet.index), packet.payload.tobytes()
    return b"".join([head, struct.pack(">I", crc32c(head + payload)), payload])


def parse(data: bytes | memoryview) -> Packet:
    """Return the packet that `data` holds, all of it.

    Raises
    ------
    PacketError
        When it is truncated or too long, its checksum does not match, or a field breaks its rule; the text gives
        value, rule and remedy.

    Examples
    --------
    >>> parse(b"CAPS")
    Traceback (most recent call last):
    ...
    capsmodel.codec.errors.PacketError: 4 bytes, but a header has 48: the packet is truncated
    """
    head = Header.read(data)
    if len(data) != head.announced_bytes:
        change = "truncated" if len(data) < head.announced_bytes else "followed by other bytes"
        raise PacketError(f"{len(data)} bytes, but the header announces {head.announced_bytes}: the packet is {change}")
    payload = data[HEADER_BYTES:]
    found = crc32c(b"".join((data[:CHECKED_BYTES], payload)))
    if head.crc != found:
        raise PacketError(
            f"checksum {found:08x}, but the header says {head.crc:08x}: the packet is damaged, discard it"
        )
    return Packet(Unit.of(head), head.index, np.frombuffer(payload, np.uint8))
