r"""The packet on the wire: a 48-byte header that explains itself, then the payload.

All fields are unsigned, big-endian. Any packet tells all that is needed to decode its unit, so that r and the code may
change from unit to unit, and packets concatenated in a file delimit themselves.

| offset | bytes | field | meaning |
|---|---|---|---|
| 0 | 4 | magic | ``CAPS`` |
| 4 | 1 | version | 1 |
| 5 | 1 | code | 1 Reed-Solomon, 2 LDPC-Staircase, 3 random linear |
| 6 | 1 | variant | see `VARIANTS`: matrix convention, N1, or systematic or not |
| 7 | 1 | flags | bit 0: last unit of the stream; the others 0 |
| 8 | 8 | stream | number of the stream, drawn at random by the sender: tells foreign packets |
| 16 | 4 | unit | number of the coding unit in the stream, from 0 |
| 20 | 2 | index | number of the packet in its unit, 0 .. k + r - 1 |
| 22 | 2 | k | source packets of the unit |
| 24 | 2 | r | repair packets of the unit |
| 26 | 2 | reserved | 0 |
| 28 | 4 | packet_bytes | length of the payload, byte |
| 32 | 4 | seed | seed of the code: the LDPC matrix, or the repair key of packet 0; else 0 |
| 36 | 4 | source_bytes | bytes of data in the unit; zeros pad them to k packet_bytes |
| 40 | 4 | unit_crc | CRC-32C of the unit's data, checked after decoding |
| 44 | 4 | crc | CRC-32C of the 44 bytes before it and of the payload |
"""

import functools
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from capsmodel.checks import ParameterError, require
from capsmodel.codec.base import BlockCode, PacketError, Packets
from capsmodel.codec.crc32c import crc32c
from capsmodel.codec.registry import CODES, get_code

MAGIC = b"CAPS"
VERSION = 1
# Limits, so that a header alone cannot make a reader wait for gigabytes or reserve them.
MAX_PACKET_BYTES = 1 << 20
MAX_UNIT_BYTES = 1 << 28
_FIELDS = struct.Struct(">4sBBBBQIHHHHIIII")
_CRC = struct.Struct(">I")
HEADER_BYTES = _FIELDS.size + _CRC.size
_LAST = 1

CODE_NUMBERS: Mapping[str, int] = MappingProxyType({"rs": 1, "ldpc": 2, "rlnc": 3})
_CODE_NAMES = {number: name for name, number in CODE_NUMBERS.items()}

VARIANTS: Mapping[str, Mapping[int, dict[str, Any]]] = MappingProxyType(
    {
        "rs": {0: {"convention": "cauchy"}, 1: {"convention": "zfec"}},
        "ldpc": {n1: {"n1": n1} for n1 in range(3, 11)},
        "rlnc": {0: {"systematic": True}, 1: {"systematic": False}},
    }
)


@dataclass(frozen=True)
class Unit:
    """What all packets of a coding unit have in common.

    Attributes
    ----------
    stream
        Number of the stream, in [0, 2^64).
    number
        Number of the unit in the stream, in [0, 2^32).
    code
        Name of the code, a key of `CODE_NUMBERS`.
    variant
        Variant of the code, a key of ``VARIANTS[code]``.
    k, r
        Source and repair packets.
    packet_bytes
        Length of each payload, byte, in 1 .. `MAX_PACKET_BYTES`.
    seed
        Seed of the code; 0 for Reed-Solomon.
    source_bytes
        Bytes of data, at most ``k * packet_bytes``.
    unit_crc
        CRC-32C of the data.
    last
        Whether the stream ends with this unit.
    """

    stream: int
    number: int
    code: str
    variant: int
    k: int
    r: int
    packet_bytes: int
    seed: int
    source_bytes: int
    unit_crc: int
    last: bool

    @property
    def n(self) -> int:
        """Coded packets of the unit, k + r."""
        return self.k + self.r

    def block_code(self) -> BlockCode:
        """Return the code of the unit, built once for units alike.

        Raises
        ------
        PacketError
            When the header's fields do not make a code.
        """
        try:
            return build_code(
                self.code, k=self.k, r=self.r, packet_bytes=self.packet_bytes, variant=self.variant, seed=self.seed
            )
        except ParameterError as error:
            raise PacketError(f"the header of unit {self.number} describes no code: {error}") from None


@dataclass(frozen=True)
class Packet:
    """One packet of a coding unit: the unit, the packet's number in it, and the payload, shape (packet_bytes,)."""

    unit: Unit
    index: int
    payload: Packets


@functools.lru_cache(maxsize=16)
def build_code(code: str, *, k: int, r: int, packet_bytes: int, variant: int, seed: int) -> BlockCode:
    """Return the code that a header's fields describe.

    Raises
    ------
    ParameterError
        When code or variant is unknown, or the code refuses its parameters.
    """
    require(code in VARIANTS, f"code = {code!r}, but packets carry {', '.join(VARIANTS)}")
    known = VARIANTS[code]
    require(variant in known, f"variant = {variant}, but {code} has the variants {', '.join(map(str, known))}")
    require(k + r <= 0xFFFF, f"k + r = {k + r}, but a header counts packets in 16 bits: use smaller coding units")
    require(packet_bytes <= MAX_PACKET_BYTES, f"packet_bytes = {packet_bytes}, but the limit is {MAX_PACKET_BYTES}")
    unit_bytes = (k + r) * packet_bytes
    require(
        unit_bytes <= MAX_UNIT_BYTES, f"a unit of {unit_bytes} bytes, but the limit is {MAX_UNIT_BYTES}: use less k"
    )
    options = dict(known[variant])
    if code == "rs":
        require(seed == 0, f"seed = {seed}, but Reed-Solomon has none: use 0")
    else:
        options["seed"] = seed
    return get_code(code)(k, r=r, packet_bytes=packet_bytes, **options)


def to_bytes(packet: Packet) -> bytes:
    """Return header and payload of a packet, ``HEADER_BYTES + packet_bytes`` bytes."""
    unit = packet.unit
    head = _FIELDS.pack(
        MAGIC,
        VERSION,
        CODE_NUMBERS[unit.code],
        unit.variant,
        _LAST if unit.last else 0,
        unit.stream,
        unit.number,
        packet.index,
        unit.k,
        unit.r,
        0,
        unit.packet_bytes,
        unit.seed,
        unit.source_bytes,
        unit.unit_crc,
    )
    payload = packet.payload.tobytes()
    return b"".join([head, _CRC.pack(crc32c(payload, crc32c(head))), payload])


def announced_bytes(head: bytes | memoryview) -> int:
    """Return the length that the first bytes of a packet announce, header and payload, byte.

    Raises
    ------
    PacketError
        When they are fewer than a header's, do not begin with the magic, or announce too long a payload.
    """
    if len(head) < HEADER_BYTES:
        raise PacketError(f"{len(head)} bytes, but a header has {HEADER_BYTES}: the packet is truncated")
    fields = _FIELDS.unpack_from(head)
    if fields[0] != MAGIC:
        raise PacketError(f"the packet begins with {fields[0]!r}, but packets of this format begin with {MAGIC!r}")
    if fields[1] != VERSION:
        raise PacketError(f"version {fields[1]}, but this program reads version {VERSION}: use the sender's release")
    if not 1 <= fields[11] <= MAX_PACKET_BYTES:
        raise PacketError(f"a payload of {fields[11]} bytes is announced, but 1 to {MAX_PACKET_BYTES} are allowed")
    return HEADER_BYTES + int(fields[11])


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
    capsmodel.codec.base.PacketError: 4 bytes, but a header has 48: the packet is truncated
    """
    expected = announced_bytes(data)
    if len(data) != expected:
        change = "truncated" if len(data) < expected else "followed by other bytes"
        raise PacketError(f"{len(data)} bytes, but the header announces {expected}: the packet is {change}")
    (written,) = _CRC.unpack_from(data, _FIELDS.size)
    payload = data[HEADER_BYTES:]
    found = crc32c(payload, crc32c(data[: _FIELDS.size]))
    if written != found:
        raise PacketError(f"checksum {found:08x}, but the header says {written:08x}: the packet is damaged, discard it")
    return _checked(_FIELDS.unpack_from(data), np.frombuffer(payload, np.uint8))


def _checked(fields: tuple[Any, ...], payload: Packets) -> Packet:
    """Return the packet of intact header fields after checking what a checksum cannot: that they make sense."""
    _, _, code, variant, flags, stream, number, index, k, r, reserved, packet_bytes, seed, source_bytes, crc = fields
    if code not in _CODE_NAMES:
        raise PacketError(f"code number {code}, but this program knows 1 to {len(CODES)}: use the sender's release")
    if flags & ~_LAST or reserved:
        raise PacketError(f"flags {flags:#x}, reserved {reserved:#x}: a bit is set that version 1 does not define")
    if k < 1 or index >= k + r:
        raise PacketError(f"packet {index} of a unit with k = {k} and r = {r}: numbers run from 0 to k + r - 1")
    least = 0 if k == 1 and flags & _LAST else (k - 1) * packet_bytes + 1  # an empty stream has one empty unit
    if not least <= source_bytes <= k * packet_bytes:
        raise PacketError(f"{source_bytes} source bytes do not fill {k} packets of {packet_bytes} bytes")
    unit = Unit(
        stream=stream,
        number=number,
        code=_CODE_NAMES[code],
        variant=variant,
        k=k,
        r=r,
        packet_bytes=packet_bytes,
        seed=seed,
        source_bytes=source_bytes,
        unit_crc=crc,
        last=bool(flags & _LAST),
    )
    return Packet(unit, index, payload)
