r"""The header of a packet: 48 bytes that tell all that is needed to decode the packet's unit.

All fields are unsigned, big-endian.

======  =====  ============  =========================================================================================
offset  bytes  field         meaning
======  =====  ============  =========================================================================================
0       4      magic         ``CAPS``
4       1      version       2
5       1      code          ``wire_number`` of the code: 1 Reed-Solomon, 2 LDPC-Staircase, 3 random linear, own codes
                             from 128
6       1      variant       a key of the code's ``variants``: matrix convention, N1, or density and systematic or not
7       1      flags         bit 0: last unit of the stream; the others 0
8       8      stream        number of the stream, drawn at random by the sender: tells foreign packets
16      4      unit          number of the coding unit in the stream, from 0
20      2      index         number of the packet in its unit, 0 .. k + r - 1
22      2      k             source packets of the unit
24      2      r             repair packets of the unit
26      2      head_crc      low 16 bits of the CRC-32C of bytes 0 to 43, itself 0 there: whether the length can be
                             believed
28      4      packet_bytes  length of the payload, byte
32      4      seed          seed of the code: the LDPC matrix, or the repair key of packet 0; else 0
36      4      source_bytes  bytes of data in the unit; zeros pad them to k packet_bytes
40      4      unit_crc      CRC-32C of the unit's data, checked after decoding
44      4      crc           CRC-32C of the 44 bytes before it and of the payload
======  =====  ============  =========================================================================================

Checksums find accidents. They do not find forgery: whoever can write packets can compute them.
"""

import struct
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from capsmodel.checks import ParameterError
from capsmodel.codec.base import BlockCode
from capsmodel.codec.crc32c import crc32c
from capsmodel.codec.errors import PacketError
from capsmodel.codec.inputs import check_id
from capsmodel.codec.registry import MAX_PACKET_BYTES, build_code, get_code, numbered_code

MAGIC = b"CAPS"
VERSION = 2
LAST = 1  # flag of the last unit
# Name of each field, and its type as `struct` and NumPy call it.
FIELDS = (
    ("magic", "4s"), ("version", "B"), ("code", "B"), ("variant", "B"), ("flags", "B"), ("stream", "Q"),
    ("unit", "I"), ("index", "H"), ("k", "H"), ("r", "H"), ("head_crc", "H"), ("packet_bytes", "I"),
    ("seed", "I"), ("source_bytes", "I"), ("unit_crc", "I"), ("crc", "I"),
)  # fmt: skip
HEADER_DTYPE = np.dtype([(name, "S4" if code == "4s" else {"B": "u1", "H": ">u2", "I": ">u4", "Q": ">u8"}[code])
                         for name, code in FIELDS])  # fmt: skip
"""The header as a NumPy record: ``np.frombuffer(headers, HEADER_DTYPE)`` reads a capture as an array."""
HEADER_BYTES = HEADER_DTYPE.itemsize
CHECKED_BYTES = HEADER_BYTES - 4  # of the header, covered by the packet's checksum
_LAYOUT = struct.Struct(">" + "".join(code for _, code in FIELDS))
_HEAD_CRC = 26  # offset


@dataclass(slots=True, eq=False)
class Header:
    """The fields of a header, as they are on the wire; see the module."""

    magic: bytes
    version: int
    code: int
    variant: int
    flags: int
    stream: int
    unit: int
    index: int
    k: int
    r: int
    head_crc: int
    packet_bytes: int
    seed: int
    source_bytes: int
    unit_crc: int
    crc: int

    @classmethod
    def read(cls, data: bytes | memoryview) -> "Header":
        """Return the header that the first bytes of a packet hold.

        Raises
        ------
        PacketError
            When they are fewer than a header's, do not begin with the magic, or are damaged.
        """
        if len(data) < HEADER_BYTES:
            raise PacketError(f"{len(data)} bytes, but a header has {HEADER_BYTES}: the packet is truncated")
        found = cls(*_LAYOUT.unpack_from(data))
        if found.magic != MAGIC:
            raise PacketError(f"the packet begins with {found.magic!r}, but packets of this format with {MAGIC!r}")
        if found.version != VERSION:
            raise PacketError(f"version {found.version}, but this program reads {VERSION}: use the sender's release")
        if found.head_crc != _head_crc(data):
            raise PacketError("the header's checksum does not match: it is damaged, so is the length it announces")
        if not 1 <= found.packet_bytes <= MAX_PACKET_BYTES:
            raise PacketError(
                f"a payload of {found.packet_bytes} bytes is announced, but 1 to {MAX_PACKET_BYTES} are allowed"
            )
        return found

    @property
    def announced_bytes(self) -> int:
        """Length of the packet that the header announces, byte."""
        return HEADER_BYTES + self.packet_bytes


def _head_crc(head: bytes | memoryview) -> int:
    return crc32c(b"".join((head[:_HEAD_CRC], b"\0\0", head[_HEAD_CRC + 2 : CHECKED_BYTES]))) & 0xFFFF


class Unit(NamedTuple):
    """What all packets of a coding unit have in common.

    Attributes
    ----------
    stream
        Number of the stream, in [0, 2^64).
    number
        Number of the unit in the stream, in [0, 2^32).
    code
        Name of the code.
    variant
        Variant of the code, a key of its ``variants``.
    k, r
        Source and repair packets.
    packet_bytes
        Length of each payload, byte, in 1 .. `MAX_PACKET_BYTES`.
    seed
        Seed of the code; 0 for a code without.
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

    @classmethod
    def of(cls, head: Header) -> "Unit":
        """Return the unit that an undamaged header tells of.

        Raises
        ------
        PacketError
            When the fields do not make sense together.
        """
        if head.flags & ~LAST:
            raise PacketError(f"flags {head.flags:#x}: a bit is set that version {VERSION} does not define")
        if head.k < 1 or head.index >= head.k + head.r:
            raise PacketError(
                f"packet {head.index} of a unit with k = {head.k} and r = {head.r}: numbers run from 0 to k + r - 1"
            )
        full = head.k * head.packet_bytes
        least = 0 if head.k == 1 and head.flags & LAST else full - head.packet_bytes + 1  # an empty stream has a unit
        if not least <= head.source_bytes <= full:
            raise PacketError(
                f"{head.source_bytes} source bytes do not fill {head.k} packets of {head.packet_bytes} bytes"
            )
        return cls(
            stream=head.stream,
            number=head.unit,
            code=numbered_code(head.code).name,
            variant=head.variant,
            k=head.k,
            r=head.r,
            packet_bytes=head.packet_bytes,
            seed=head.seed,
            source_bytes=head.source_bytes,
            unit_crc=head.unit_crc,
            last=bool(head.flags & LAST),
        )

    @property
    def n(self) -> int:
        """Coded packets of the unit, k + r."""
        return self.k + self.r

    def block_code(self) -> BlockCode:
        """Return the code of the unit, built once for units that name the same.

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

    def head(self, index: int) -> bytes:
        """Return the first 44 bytes of the header of packet `index`: all but the packet's checksum.

        Raises
        ------
        PacketError
            When a value does not fit its field.
        """
        check_id(index, n=self.n)
        wire_number = get_code(self.code).wire_number
        flags = LAST if self.last else 0
        fields = [MAGIC, VERSION, wire_number, self.variant, flags, self.stream, self.number, index, self.k, self.r]
        fields += [0, self.packet_bytes, self.seed, self.source_bytes, self.unit_crc, 0]
        try:
            head = _LAYOUT.pack(*fields)[:CHECKED_BYTES]
        except struct.error as error:
            raise PacketError(f"a field of {self} does not fit the header: {error}") from None
        return head[:_HEAD_CRC] + struct.pack(">H", _head_crc(head)) + head[_HEAD_CRC + 2 :]
