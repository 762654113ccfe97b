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

A set of packets is a ``uint8`` array of shape (packets, bytes), or (units, packets, bytes) for several coding units.
Codes are systematic unless asked otherwise: the first k coded packets are the source packets themselves. A code is
configured once and can then be used for any number of units.
"""

import functools
from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt
from numba import types

from capsmodel._compilation import compiled
from capsmodel.checks import ParameterError, require
from capsmodel.codec.inputs import (
    Flags,
    Ints,
    NotEnoughPackets,
    PacketError,
    Packets,
    are_plain_numbers,
    check_data,
    check_id,
    check_numbers,
    check_output,
    check_packet,
    check_range,
    check_units,
    described,
    each_unit,
    quick_output,
    whole_number,
)

COEFFICIENTS_PER_S = 5e9  # of GF(2^8) that elimination combines


class BlockCode(ABC):
    """A systematic erasure code for coding units of k source and r repair packets of equal length.

    A code of your own derives from this class and says how to encode (`_encode`) and how to decode (`decoder`); with a
    `wire_number` it can be registered (`capsmodel.codec.register`) and sent in packets.

    Parameters
    ----------
    k : int
        Source packets of a coding unit, k >= 1.
    r : int
        Repair packets of a coding unit, r >= 0.
    packet_bytes : int
        Length of each packet in bytes, >= 1.

    Attributes
    ----------
    name : str
        Name of the code.
    wire_number : int or None
        Number of the code in a packet's header, in [1, 255]; None for a code that no packet carries.
    variants : mapping of int to mapping
        Options of the constructor for each variant that a header can name, in [0, 255].
    default_variant : int
        The variant that a sender takes when none is given.
    default_seed : int or None
        The argument ``seed`` that a sender takes when none is given; None for a code without a seed.

    Raises
    ------
    ParameterError
        When k, r or packet_bytes is out of range, or the code has no unit of that size.
    """

    name: ClassVar[str]
    wire_number: ClassVar[int | None] = None
    variants: ClassVar[Mapping[int, Mapping[str, Any]]] = MappingProxyType({0: MappingProxyType({})})
    default_variant: ClassVar[int] = 0
    default_seed: ClassVar[int | None] = None
    systematic: bool = True

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

    @classmethod
    def matrix_bytes(cls, k: int, r: int) -> int:
        """Return the memory that a decoder may take for its coefficients, bytes: what a receiver puts a limit to."""
        return k * (k + r)

    @classmethod
    def variant_of(cls, **options: Any) -> int:
        """Return the number of the variant with these options, the others being those of the default variant.

        Raises
        ------
        ParameterError
            When the code has no such option, or no variant with these values.

        Examples
        --------
        >>> from capsmodel.codec import ReedSolomon
        >>> ReedSolomon.variant_of(convention="zfec")
        1
        """
        default = dict(cls.variants[cls.default_variant])
        for name, value in options.items():
            if name not in default:
                raise ParameterError(f"{name} = {value!r}, but the code {cls.name} has no such option: leave it out")
            known = list(dict.fromkeys(variant[name] for variant in cls.variants.values()))
            if value not in known:
                raise ParameterError(f"{name} = {value!r}, but packets carry {name} {', '.join(map(str, known))}")
        wanted = default | options
        return next(number for number, variant in cls.variants.items() if dict(variant) == wanted)

    def encode(self, source: Packets, out: Packets | None = None) -> Packets:
        """Return the r repair packets of the source packets.

        Parameters
        ----------
        source : array of uint8, shape (k, packet_bytes) or (units, k, packet_bytes)
            Source packets of a unit, or of several.
        out : array of uint8, shape (r, packet_bytes) or (units, r, packet_bytes), optional
            Where to put the result; it must not share memory with `source`.

        Raises
        ------
        PacketError
            When `source` is not a uint8 array of that shape.
        CodecError
            When `out` cannot take the result.
        """
        repair = quick_output(source, (self.k, self.packet_bytes), out, (self.r, self.packet_bytes))
        packets = source
        if repair is None:
            packets = check_units("the source is", source, rows=self.k, packet_bytes=self.packet_bytes)
            repair = check_output(out, (*source.shape[:-2], self.r, self.packet_bytes), source)
        self._encode(packets, repair)
        return repair

    @abstractmethod
    def _encode(self, source: Packets, repair: Packets) -> None:
        """Fill `repair`, shape (r, packet_bytes), from `source`, shape (k, packet_bytes); (units, ., .) for several."""

    def coded(self, source: Packets) -> Packets:
        """Return the n packets to send, shape (n, packet_bytes): the source packets, then the repair packets.

        Units may be several: shape (units, k, packet_bytes) gives (units, n, packet_bytes).
        """
        source = check_units("the source is", source, rows=self.k, packet_bytes=self.packet_bytes)
        packets = np.empty((*source.shape[:-2], self.n, self.packet_bytes), np.uint8)
        packets[..., : self.k, :] = source
        self._encode(source, packets[..., self.k :, :])
        return packets

    @abstractmethod
    def decoder(self) -> "Decoder":
        """Return a new incremental decoder for one coding unit."""

    def decode(self, received: Packets, ids: npt.ArrayLike, out: Packets | None = None) -> Packets:
        """Return the k source packets from m received packets in any order.

        Parameters
        ----------
        received : array of uint8, shape (m, packet_bytes) or (units, m, packet_bytes)
            Packets as received, of one unit or several. Packets beyond those that are needed are not compared with
            the result: `verify` does that.
        ids : array of int, shape (m,) or (units, m)
            The number of each packet: below k a source packet, k .. n - 1 a repair packet. One row may serve all units.
        out : array of uint8, shape (k, packet_bytes) or (units, k, packet_bytes), optional
            Where to put the result; it must not share memory with `received`.

        Raises
        ------
        NotEnoughPackets
            When the packets do not determine the source.
        PacketError
            When a packet has the wrong length or number, or two packets of one number differ.
        CodecError
            When `out` cannot take the result.
        """
        if are_plain_numbers(ids):
            source = quick_output(received, (ids.size, self.packet_bytes), out, (self.k, self.packet_bytes))
            if source is not None:
                self._decode(received, ids, source)
                return source
        packets = check_units("the received packets are", received, rows=None, packet_bytes=self.packet_bytes)
        numbers = check_numbers(ids, packets)
        source = check_output(out, (*received.shape[:-2], self.k, self.packet_bytes), received)
        if numbers.ndim == 1:
            self._decode(packets, numbers, source)
        else:
            for (of_unit, target), row in zip(each_unit(packets, source), numbers, strict=True):
                self._decode(of_unit, row, target)
        return source

    def _decode(self, received: Packets, numbers: Ints, source: Packets) -> None:
        """Fill `source`, shape (k, packet_bytes) or (units, k, packet_bytes), from packets of the same `numbers`."""
        listed = check_range(numbers, n=self.n)
        for packets, target in each_unit(received, source):
            decoder = self.decoder()
            for number, packet in zip(listed, packets, strict=True):
                decoder.add(number, packet)
            target[:] = decoder.source()

    def determines(self, ids: npt.ArrayLike) -> bool:
        """Say whether packets with these numbers determine the source, whatever their bytes.

        Parameters
        ----------
        ids : array of int, shape (m,)
            Numbers of the packets, in any order.
        """
        numbers = np.unique(check_numbers(ids, np.empty((0, np.size(ids), 0), np.uint8)))
        check_range(numbers, n=self.n)
        return numbers.size >= self.k and self._determines(numbers)

    def _determines(self, numbers: Ints) -> bool:
        """Say whether at least k different packets determine the source."""
        decoder = self.decoder()
        packet = np.zeros(self.packet_bytes, np.uint8)
        return any(decoder.add(number, packet) for number in numbers.tolist())

    def elimination_s(self, lost: float) -> float:
        """Return about how long the equations of a unit take to solve for its lost packets, in seconds on one core.

        An estimate to refuse beforehand what would take hours, within a factor of about five on a machine of 2026. Here
        for a code whose equations are dense: each of the n - lost packets is combined with k others of k coefficients.

        Parameters
        ----------
        lost : float
            Packets of the unit that did not arrive, 0 to n.

        Examples
        --------
        >>> from capsmodel.codec import RandomLinear
        >>> round(RandomLinear(2000, r=500, packet_bytes=1, systematic=False).elimination_s(250), 1)
        1.8
        """
        return self.k**2 * (self.n - lost) / COEFFICIENTS_PER_S

    def reconstruct(self, received: Packets, ids: npt.ArrayLike) -> Packets:
        """Return all n packets of a unit, shape (n, packet_bytes), lost repair packets too; see `decode`."""
        return self.coded(self.decode(received, ids))

    def verify(self, received: Packets, ids: npt.ArrayLike) -> int:
        """Compare surplus packets with the source that the others give; return how many there were to compare.

        Parameters
        ----------
        received : array of uint8, shape (m, packet_bytes)
            Packets of one unit.
        ids : array of int, shape (m,)
            The number of each packet.

        Returns
        -------
        int
            Different packets beyond k. At 0 nothing could be compared. Of a Reed-Solomon code any s surplus packets
            reveal up to s wrong ones; of the other codes some wrong packets pass, since not all k packets decode.

        Raises
        ------
        PacketError
            When the packets contradict each other: one at least is wrong, and which is not known.
        NotEnoughPackets
            When the packets do not determine the source.

        Examples
        --------
        >>> from capsmodel.codec import ReedSolomon
        >>> code = ReedSolomon(2, r=2, packet_bytes=1)
        >>> packets = code.coded(np.array([[5], [6]], np.uint8))
        >>> code.verify(packets[1:], [1, 2, 3])
        1
        """
        if np.ndim(received) != 2:
            raise PacketError(f"the received packets are {described(received)}, but verify takes those of one unit")
        expected = self.reconstruct(received, ids)
        numbers = np.asarray(ids)
        if not np.array_equal(expected[numbers], received):
            raise PacketError(f"the {numbers.size} packets contradict each other: at least one of them is wrong")
        return int(np.unique(numbers).size) - self.k


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
        self._systematic = code.systematic
        self._packets: Packets = np.empty((code.n, code.packet_bytes), np.uint8)
        self._held: Flags = np.zeros(code.n, np.bool_)
        self._received = 0

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
            self._received += 1
            self._absorb(number)
        return self.complete

    @property
    def complete(self) -> bool:
        """Whether the source is determined."""
        return self.missing == 0

    @property
    def received(self) -> int:
        """Different packets taken so far."""
        return self._received

    @property
    @abstractmethod
    def missing(self) -> int:
        """How many more packets are needed at least; 0 once the source is determined, never 0 before."""

    def source(self) -> Packets:
        """Return the source packets, shape (k, packet_bytes), as an array of their own.

        Raises
        ------
        NotEnoughPackets
            When the source is not yet determined.
        """
        if not self.complete:
            raise NotEnoughPackets(self.missing, received=self.received, k=self.k)
        return self._recover()

    def known(self) -> tuple[Flags, Packets]:
        """Return which source packets are known, shape (k,), and those packets, in order: all that a short unit gives.

        Examples
        --------
        >>> from capsmodel.codec import ReedSolomon
        >>> decoder = ReedSolomon(3, r=1, packet_bytes=1).decoder()
        >>> decoder.add(2, np.array([7], np.uint8))
        False
        >>> [found.tolist() for found in decoder.known()]
        [[False, False, True], [[7]]]
        """
        if self.complete:
            return np.ones(self.k, np.bool_), self.source()
        known = self._held[: self.k] & self._systematic
        return known, self._packets[: self.k][known]

    @abstractmethod
    def _absorb(self, number: int) -> None:
        """Account for packet `number`, now in ``self._packets[number]``; called once for each number."""

    @abstractmethod
    def _recover(self) -> Packets:
        """Return the source packets in a new array; called only when complete."""


def distinct(received: Packets, numbers: Ints) -> tuple[Packets, Ints]:
    """Return the packets of one unit without repetitions, and their numbers, ascending.

    Raises
    ------
    PacketError
        When two packets of one number differ.
    """
    first = np.unique(numbers, return_index=True)[1]
    place = np.empty(int(numbers.max(initial=-1)) + 1, np.int64)
    place[numbers[first]] = first
    for number, packet in zip(numbers.tolist(), received, strict=True):
        if not np.array_equal(received[place[number]], packet):
            raise PacketError(f"packet {number} was received before with other bytes: one of the two is damaged")
    return received[first], numbers[first]


_KEPT_PATTERNS = 512
_KEPT_PACKETS = 100  # of a unit; what is kept of a larger one takes more than some 50 KB
_LONG_BYTES = 8192  # of a packet that is worth a call of its own to copy


class Recovery(Protocol):
    """How to decode packets of given, different numbers that determine the source."""

    def run(self, received: Packets, source: Packets) -> None:
        """Fill `source`, shape (k, bytes), from `received`, shape (m, bytes); (units, ., bytes) for several."""


class PatternCode(BlockCode):
    """A code whose decoding depends on the numbers of the packets alone, up to sums of packets."""

    @abstractmethod
    def recovery(self, numbers: Ints) -> Recovery:
        """Return how to decode packets of these numbers, all different, in this order.

        Raises
        ------
        NotEnoughPackets
            When they do not determine the source.
        """

    def _decode(self, received: Packets, numbers: Ints, source: Packets) -> None:
        kept = _kept(self, numbers.tobytes()) if self.n <= _KEPT_PACKETS else _checked(self, numbers)
        if kept is not None:
            kept.run(received, source)
            return
        for packets, target in each_unit(received, source):
            self._decode(*distinct(packets, numbers), target)


def _checked(code: PatternCode, numbers: Ints) -> Recovery | None:
    """Return how to decode packets of these numbers, or None when some repeat."""
    listed = check_range(numbers, n=code.n)
    return code.recovery(numbers) if len(set(listed)) == len(listed) else None


@functools.lru_cache(maxsize=_KEPT_PATTERNS)
def _kept(code: PatternCode, numbers: bytes) -> Recovery | None:
    return _checked(code, np.frombuffer(numbers, np.int64))


def forget_patterns() -> None:
    """Forget how received packets were decoded, so that the next decode does all of its work, as for a new pattern."""
    _kept.cache_clear()


def _places(numbers: Ints, k: int) -> tuple[Ints, Ints]:
    """Return the place of each source packet among those received, 0 for a lost one, and which are lost."""
    place = np.full(k, -1)
    for i in range(numbers.size):
        if numbers[i] < k:
            place[numbers[i]] = i
    lost = np.flatnonzero(place < 0)
    place[lost] = 0
    return place, lost


@functools.cache
def _compiled_places() -> Any:
    ints = types.Array(types.int64, 1, "C")
    return compiled(_places, types.UniTuple(ints, 2)(ints.copy(readonly=True), types.intp))


class SourcePlaces:
    """Where received source packets go: those of a set of numbers, in the order received.

    Attributes
    ----------
    lost : array of int64
        Source packets that are not there.
    """

    def __init__(self, numbers: Ints, k: int) -> None:
        self._place, self.lost = _compiled_places()(numbers, k)

    def copy(self, received: Packets, source: Packets) -> None:
        """Copy what was received to `source`, see `Recovery.run`; rows of lost packets get any bytes."""
        if source.shape[-1] < _LONG_BYTES:  # one call, even though it fills the rows of lost packets as well
            received.take(self._place, -2, source, "clip")  # "clip" lets NumPy write to the output without a buffer
            return
        is_lost = set(self.lost.tolist())
        for number, place in enumerate(self._place.tolist()):
            if number not in is_lost:
                source[..., number, :] = received[..., place, :]


def split(data: Any, *, k: int) -> Packets:
    """Return `data` as k source packets of equal length, the last ones padded with zeros.

    Parameters
    ----------
    data : bytes-like
        Data of a unit, at least one byte.
    k : int
        Source packets, >= 1.

    Returns
    -------
    array of uint8, shape (k, packet_bytes)
        packet_bytes is the data's length over k, rounded up.

    Examples
    --------
    >>> split(b"seven b", k=3).shape
    (3, 3)
    """
    view, k = check_data("data", data), whole_number("k", k, minimum=1)
    require(len(view) > 0, "data is empty, but a unit has at least one byte")
    packets = np.zeros(k * -(-len(view) // k), np.uint8)
    packets[: len(view)] = view
    return packets.reshape(k, -1)


def join(source: Packets, *, source_bytes: int) -> bytes:
    """Return the first `source_bytes` bytes of source packets, one after the other: what `split` was given.

    Examples
    --------
    >>> join(split(b"seven b", k=3), source_bytes=7)
    b'seven b'
    """
    whole_number("source_bytes", source_bytes, minimum=0, maximum=source.size)
    return source.tobytes()[:source_bytes]


def encode_bytes(code: BlockCode, data: Any) -> list[bytes]:
    """Return the n packets of a unit as bytes.

    Parameters
    ----------
    code : BlockCode
        Code; ``k * packet_bytes`` bytes make a unit.
    data : bytes-like
        Data of the unit; zeros pad it when it is shorter.

    Examples
    --------
    >>> from capsmodel.codec import ReedSolomon
    >>> code = ReedSolomon(3, r=2, packet_bytes=4)
    >>> packets = encode_bytes(code, b"twelve bytes")
    >>> decode_bytes(code, {4: packets[4], 1: packets[1], 3: packets[3]})
    b'twelve bytes'
    """
    view = check_data("data", data)
    unit_bytes = code.k * code.packet_bytes
    require(len(view) <= unit_bytes, f"data of {len(view)} bytes, but a unit of this code has {unit_bytes}")
    source = np.zeros(unit_bytes, np.uint8)
    source[: len(view)] = view
    return [packet.tobytes() for packet in code.coded(source.reshape(code.k, -1))]


def decode_bytes(code: BlockCode, packets: Mapping[int, Any]) -> bytes:
    """Return the ``k * packet_bytes`` bytes of a unit from packets by their number; see `BlockCode.decode`.

    Raises
    ------
    NotEnoughPackets
        When the packets do not determine the source.
    PacketError
        When a packet has the wrong length or number.
    """
    received = np.empty((len(packets), code.packet_bytes), np.uint8)
    for row, (number, packet) in zip(received, packets.items(), strict=True):
        view = check_data(f"packet {number}", packet)
        if len(view) != code.packet_bytes:
            raise PacketError(f"packet {number} has {len(view)} bytes, but those of this code have {code.packet_bytes}")
        row[:] = view
    return code.decode(received, list(packets)).tobytes()
