"""The one interface of the erasure codes, in the words of the FEC framework (RFC 5052, RFC 6363).

================  ======  ================  ======  =============================================
Quantity          Symbol  Name              Unit    Meaning
================  ======  ================  ======  =============================================
source packets    k       ``k``             packet  packets of data in a coding unit
repair packets    r       ``r``             packet  packets added to a coding unit
coded packets     n       ``n``             packet  k + r, numbered 0 .. n - 1
packet length             ``packet_bytes``  byte    payload of every packet, source and repair
packet number             ``packet_id``             below k: that source packet; else repair packet id - k
================  ======  ================  ======  =============================================

A set of packets is a ``uint8`` array of shape (packets, bytes). Codes are systematic unless told otherwise: the first k
coded packets are the source packets themselves. A code is configured once and can then be used for any number of units.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from capsmodel.checks import require

Packets = npt.NDArray[np.uint8]


class CodecError(ValueError):
    """Packets cannot be encoded or decoded; the text says which and why."""


class PacketError(CodecError):
    """A packet is malformed: wrong length, wrong number, or in conflict with one that was received before."""


class NotEnoughPackets(CodecError):
    """The packets received do not determine the source.

    Attributes
    ----------
    missing : int
        How many more packets are needed at least.
    """

    def __init__(self, missing: int, *, received: int, k: int) -> None:
        self.missing = missing
        word = "packet is" if missing == 1 else "packets are"
        super().__init__(f"{received} packets received for k = {k}: at least {missing} more {word} needed")


class BlockCode(ABC):
    """A systematic erasure code for coding units of k source and r repair packets of equal length.

    Parameters
    ----------
    k : int
        Source packets of a coding unit, k >= 1.
    r : int
        Repair packets of a coding unit, r >= 0.
    packet_bytes : int
        Length of each packet in bytes, >= 1.

    Raises
    ------
    ParameterError
        When k, r or packet_bytes is out of range, or the code has no unit of that size.
    """

    name: ClassVar[str]

    def __init__(self, k: int, *, r: int, packet_bytes: int) -> None:
        self.k = whole_number("k", k, minimum=1)
        self.r = whole_number("r", r, minimum=0)
        self.packet_bytes = whole_number("packet_bytes", packet_bytes, minimum=1)

    @property
    def n(self) -> int:
        """Coded packets of a coding unit, k + r."""
        return self.k + self.r

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.k}, r={self.r}, packet_bytes={self.packet_bytes})"

    @abstractmethod
    def encode(self, source: Packets) -> Packets:
        """Return the r repair packets, shape (r, packet_bytes), of the source packets, shape (k, packet_bytes).

        Raises
        ------
        PacketError
            When `source` is not a uint8 array of that shape.
        """

    def coded(self, source: Packets) -> Packets:
        """Return the n packets to send, shape (n, packet_bytes): the source packets, then the repair packets."""
        return np.concatenate([source, self.encode(source)])

    @abstractmethod
    def decoder(self) -> "Decoder":
        """Return a new incremental decoder for one coding unit."""

    def decode(self, received: Packets, ids: npt.ArrayLike) -> Packets:
        """Return the k source packets, shape (k, packet_bytes), from m received packets in any order.

        Parameters
        ----------
        received : array of uint8, shape (m, packet_bytes)
            Packets as received.
        ids : array of int, shape (m,)
            The number of each packet: below k a source packet, k .. n - 1 a repair packet.

        Raises
        ------
        NotEnoughPackets
            When the packets do not determine the source.
        PacketError
            When a packet has the wrong length or number, or two packets of one number differ.
        """
        packets, numbers = check_received(received, ids, n=self.n, packet_bytes=self.packet_bytes)
        decoder = self.decoder()
        for number, packet in zip(numbers.tolist(), packets, strict=True):
            decoder.add(number, packet)
        return decoder.source()


class Decoder(ABC):
    """Incremental decoder of one coding unit: packets go in one by one, in any order.

    A packet that repeats an earlier one is ignored; a packet with the number of an earlier one but other bytes
    raises. A packet that arrives when the unit is complete is ignored.

    Parameters
    ----------
    code : BlockCode
        The code that produced the packets.
    """

    def __init__(self, code: BlockCode) -> None:
        self.k, self.n, self.packet_bytes = code.k, code.n, code.packet_bytes
        self._packets: Packets = np.empty((code.n, code.packet_bytes), np.uint8)
        self._held = np.zeros(code.n, np.bool_)

    def add(self, packet_id: int, packet: Packets) -> bool:
        """Take one packet, shape (packet_bytes,), and return True once the source is determined.

        Raises
        ------
        PacketError
            When the number or length is wrong, or other bytes were received under this number.
        """
        number = check_id(packet_id, n=self.n)
        row = check_packet(packet, packet_bytes=self.packet_bytes, packet_id=number)
        if self._held[number]:
            if not np.array_equal(self._packets[number], row):
                raise PacketError(f"packet {number} was received before with other bytes: one of the two is damaged")
        elif not self.complete:
            self._packets[number] = row
            self._held[number] = True
            self._absorb(number)
        return self.complete

    @property
    def complete(self) -> bool:
        """Whether the source is determined."""
        return self.missing == 0

    @property
    def received(self) -> int:
        """Different packets taken so far."""
        return int(np.count_nonzero(self._held))

    @property
    @abstractmethod
    def missing(self) -> int:
        """How many more packets are needed at least; 0 once the source is determined, never 0 before."""

    def source(self) -> Packets:
        """Return the source packets, shape (k, packet_bytes).

        Raises
        ------
        NotEnoughPackets
            When the source is not yet determined.
        """
        if not self.complete:
            raise NotEnoughPackets(self.missing, received=self.received, k=self.k)
        return self._recover()

    @abstractmethod
    def _absorb(self, number: int) -> None:
        """Account for packet `number`, now in ``self._packets[number]``; called once for each number."""

    @abstractmethod
    def _recover(self) -> Packets:
        """Return the source packets; called only when complete."""


class BatchDecoder(Decoder):
    """A decoder that can take many packets at once, for codes that decide by rank and not by count."""

    def add_all(self, numbers: npt.NDArray[np.int64], packets: Packets) -> None:
        """Take packets that :func:`check_received` returned; repeated numbers go one by one, to be compared."""
        if self._held.any() or len(set(numbers.tolist())) < numbers.size:
            for number, packet in zip(numbers.tolist(), packets, strict=True):
                self.add(number, packet)
        else:
            self._packets[numbers] = packets
            self._held[numbers] = True
            self._absorb_all(numbers)

    @abstractmethod
    def _absorb_all(self, numbers: npt.NDArray[np.int64]) -> None:
        """Account for the packets `numbers`, the first ones, now in ``self._packets``."""


def whole_number(name: str, value: int, *, minimum: int) -> int:
    """Return `value` as an int of at least `minimum`, or raise ParameterError naming the argument."""
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    require(is_whole and value >= minimum, f"{name} = {value!r}, but it must be a whole number of at least {minimum}")
    return int(value)


def check_id(packet_id: int, *, n: int) -> int:
    """Return the packet number as an int in 0 .. n - 1, or raise PacketError."""
    if not isinstance(packet_id, int | np.integer) or not 0 <= packet_id < n:
        raise PacketError(f"packet number {packet_id!r}, but this code has the packets 0 to {n - 1}")
    return int(packet_id)


def check_packet(packet: Packets, *, packet_bytes: int, packet_id: int) -> Packets:
    """Return the packet if it is a uint8 array of shape (packet_bytes,), or raise PacketError."""
    if getattr(packet, "dtype", None) != np.uint8 or packet.shape != (packet_bytes,):
        raise PacketError(
            f"packet {packet_id} is {described(packet)}, but uint8 of shape ({packet_bytes},) is expected"
        )
    return packet


def check_source(source: Packets, *, k: int, packet_bytes: int) -> Packets:
    """Return the source if it is a uint8 array of shape (k, packet_bytes), or raise PacketError."""
    if getattr(source, "dtype", None) != np.uint8 or source.shape != (k, packet_bytes):
        raise PacketError(f"the source is {described(source)}, but uint8 of shape ({k}, {packet_bytes}) is expected")
    return source


def check_received(
    received: Packets, ids: npt.ArrayLike, *, n: int, packet_bytes: int
) -> tuple[Packets, npt.NDArray[np.int64]]:
    """Return received packets and their numbers after checking shapes, types and range, or raise PacketError."""
    if getattr(received, "dtype", None) != np.uint8 or received.ndim != 2 or received.shape[1] != packet_bytes:
        wanted = f"uint8 of shape (m, {packet_bytes})"
        raise PacketError(f"the received packets are {described(received)}, but {wanted} is expected")
    numbers = np.asarray(ids)
    if numbers.shape != received.shape[:1]:
        raise PacketError(f"{len(received)} packets have ids of shape {numbers.shape}: give one number for each packet")
    if numbers.size == 0:
        return received, np.empty(0, np.int64)
    if numbers.dtype.kind not in "iu":
        raise PacketError(f"ids are {numbers.dtype}, but packet numbers are whole numbers")
    listed = numbers.tolist()  # faster than array reductions for the few packets of a coding unit
    if min(listed) < 0 or max(listed) >= n:
        check_id(next(number for number in listed if not 0 <= number < n), n=n)
    return received, np.ascontiguousarray(numbers, np.int64)


def described(value: Any) -> str:
    """Return type and shape of what was given instead of packets, for an error text."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype} of shape {value.shape}"
    return f"a {type(value).__name__}"


def by_name(codes: Iterable[type[BlockCode]]) -> dict[str, type[BlockCode]]:
    """Return the codes by their names; two codes of one name are a mistake and raise CodecError."""
    table: dict[str, type[BlockCode]] = {}
    for code in codes:
        if code.name in table:
            raise CodecError(f"two codes are named {code.name!r}: {table[code.name].__name__} and {code.__name__}")
        table[code.name] = code
    return table
