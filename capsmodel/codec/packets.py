r"""CRC-32C (Castagnoli), the checksum of a packet.

========  ======  ========  ====  ======================
Quantity  Symbol  Name      Unit  Equation
========  ======  ========  ====  ======================
checksum          `crc32c`  –     RFC 3720, section 12.1
========  ======  ========  ====  ======================

The generator polynomial is 0x1EDC6F41, 0x82F63B78 with its bits reflected. Eight tables let the loop take eight bytes
a step: ``_TABLES[t][b]`` is the remainder of byte b followed by t zero bytes. Every error burst of up to 32 bits is
found; any other damage passes with probability 2^-32.
"""

import struct
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from capsmodel._compilation import jit
from capsmodel.checks import ParameterError
from capsmodel.codec.base import BlockCode
from capsmodel.codec.inputs import PacketError, Packets, check_id, check_packet
from capsmodel.codec.registry import MAX_PACKET_BYTES, build_code, get_code, numbered_code

_REFLECTED = 0x82F63B78
_ALL_ONES = 0xFFFFFFFF


def _tables() -> npt.NDArray[np.int64]:
    first = np.arange(256, dtype=np.int64)
    for _ in range(8):
        first = (first >> 1) ^ (first & 1) * _REFLECTED
    tables = [first]
    for _ in range(7):
        tables.append((tables[-1] >> 8) ^ first[tables[-1] & 0xFF])
    return np.array(tables)


_TABLES = _tables()


@jit
def _update(crc: int, data: npt.NDArray[np.uint8], tables: npt.NDArray[np.int64]) -> int:
    """Carry the inverted remainder `crc` over `data`."""
    whole = data.size - data.size % 8
    for at in range(0, whole, 8):
        low = crc ^ np.int64(data[at]) ^ np.int64(data[at + 1]) << 8 ^ np.int64(data[at + 2]) << 16
        low ^= np.int64(data[at + 3]) << 24
        crc = (
            tables[7, low & 0xFF] ^ tables[6, (low >> 8) & 0xFF] ^ tables[5, (low >> 16) & 0xFF] ^ tables[4, low >> 24]
        )
        crc ^= tables[3, data[at + 4]] ^ tables[2, data[at + 5]] ^ tables[1, data[at + 6]] ^ tables[0, data[at + 7]]
    for at in range(whole, data.size):
        crc = tables[0, (crc ^ data[at]) & 0xFF] ^ (crc >> 8)
    return crc


def crc32c(data: bytes | memoryview, crc: int = 0) -> int:
    """CRC-32C of `data`, a whole number in [0, 2^32).

    Parameters
    ----------
    data : bytes-like
        Contiguous bytes.
    crc : int
        Checksum of what came before, to continue it; 0 to start.

    References
    ----------
    RFC 3720, section 12.1 and appendix B.4.

    Examples
    --------
    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
    >>> crc32c(b"6789", crc32c(b"12345")) == crc32c(b"123456789")
    True
    """
    if not len(data):  # which np.frombuffer refuses
        return crc
    flat = np.frombuffer(data, np.uint8)
    flat.flags.writeable = False  # always: one compiled version
    return int(_update(crc ^ _ALL_ONES, flat, _TABLES)) ^ _ALL_ONES


MAGIC = b"CAPS"
VERSION = 2
LAST = 1  # flag of the last unit
APART = 2  # flag of a header alone, whose payload is in the file that was coded
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
        header = cls(*_LAYOUT.unpack_from(data))
        if header.magic != MAGIC:
            raise PacketError(f"the packet begins with {header.magic!r}, but packets of this format with {MAGIC!r}")
        if header.version != VERSION:
            raise PacketError(f"version {header.version}, but this program reads {VERSION}: use the sender's release")
        if header.head_crc != _head_crc(data):
            raise PacketError("the header's checksum does not match: it is damaged, so is the length it announces")
        if not 1 <= header.packet_bytes <= MAX_PACKET_BYTES:
            raise PacketError(
                f"a payload of {header.packet_bytes} bytes is announced, but 1 to {MAX_PACKET_BYTES} are allowed"
            )
        return header

    @property
    def announced_bytes(self) -> int:
        """Length of the packet that the header announces, byte."""
        return HEADER_BYTES if self.is_apart else HEADER_BYTES + self.packet_bytes

    @property
    def is_apart(self) -> bool:
        """Whether the payload does not follow, since it is in the file that was coded."""
        return bool(self.flags & APART)


def _head_crc(head: bytes | memoryview) -> int:
    return crc32c(b"".join((head[:_HEAD_CRC], b"\0\0", head[_HEAD_CRC + 2 : CHECKED_BYTES]))) & 0xFFFF


class PayloadApart(PacketError):
    """A header stands alone: its payload is in the file that was coded."""


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
        """Return the unit that an undamaged header names.

        Raises
        ------
        PacketError
            When the fields do not make sense together.
        """
        if head.flags & ~(LAST | APART):
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

    def head(self, index: int, *, apart: bool = False) -> bytes:
        """Return the first 44 bytes of the header of packet `index`: all but the packet's checksum.

        With `apart` it says that no payload follows.

        Raises
        ------
        PacketError
            When a value does not fit its field.
        """
        check_id(index, n=self.n)
        wire_number = get_code(self.code).wire_number
        flags = LAST * self.last | APART * apart
        fields = [MAGIC, VERSION, wire_number, self.variant, flags, self.stream, self.number, index, self.k, self.r]
        fields += [0, self.packet_bytes, self.seed, self.source_bytes, self.unit_crc, 0]
        try:
            head = _LAYOUT.pack(*fields)[:CHECKED_BYTES]
        except struct.error as error:
            raise PacketError(f"a field of {self} does not fit the header: {error}") from None
        return head[:_HEAD_CRC] + struct.pack(">H", _head_crc(head)) + head[_HEAD_CRC + 2 :]


@dataclass(frozen=True, eq=False)
class Packet:
    """One packet of a coding unit: the unit, the packet's number in it, and the payload, shape (packet_bytes,)."""

    unit: Unit
    index: int
    payload: Packets


def to_bytes(packet: Packet, *, apart: bool = False) -> bytes:
    """Return header and payload of a packet, ``HEADER_BYTES + packet_bytes`` bytes.

    With `apart` the header alone, whose checksum covers the payload all the same: it tells whether the payload in the
    file that was coded is undamaged (:func:`joined`).

    Raises
    ------
    PacketError
        When the payload has another length than the unit says, or a value does not fit its field.
    """
    check_packet(packet.payload, packet_bytes=packet.unit.packet_bytes, packet_id=packet.index)
    head, payload = packet.unit.head(packet.index, apart=apart), packet.payload.tobytes()
    return b"".join([head, struct.pack(">I", crc32c(head + payload)), b"" if apart else payload])


def parse(data: bytes | memoryview) -> Packet:
    """Return the packet that `data` holds, all of it.

    Raises
    ------
    PacketError
        When it is truncated, too long or a header alone (`PayloadApart`), its checksum does not match, or a field
        breaks its rule; the text gives value, rule and remedy.

    Examples
    --------
    >>> parse(b"CAPS")
    Traceback (most recent call last):
    ...
    capsmodel.codec.inputs.PacketError: 4 bytes, but a header has 48: the packet is truncated
    """
    head = Header.read(data)
    if head.is_apart:
        text = (
            f"the payload of packet {head.index} of unit {head.unit} is in the file that was coded, which is not given"
        )
        raise PayloadApart(text)
    if len(data) != head.announced_bytes:
        change = "truncated" if len(data) < head.announced_bytes else "followed by other bytes"
        raise PacketError(f"{len(data)} bytes, but the header announces {head.announced_bytes}: the packet is {change}")
    return joined(data, data[HEADER_BYTES:])


def joined(data: bytes | memoryview, payload: bytes | memoryview) -> Packet:
    """Return the packet of the header with which `data` begins and of a payload of the length that it announces.

    Raises
    ------
    PacketError
        When the header cannot be read, or its checksum is not that of header and payload.
    """
    head, checksum = Header.read(data), crc32c(b"".join((data[:CHECKED_BYTES], payload)))
    if head.crc != checksum:
        raise PacketError(
            f"checksum {checksum:08x}, but the header says {head.crc:08x}: the packet is damaged, discard it"
        )
    return Packet(Unit.of(head), head.index, np.frombuffer(payload, np.uint8))
