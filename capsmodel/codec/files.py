"""Files of packets: what one holds and where, which of its packets arrive when some are lost, and the stream it gives.

A header gives the packet's length, so the file needs no index of its own, may be cut, and may be joined with another.
Where a header is damaged, the reader goes on at the next magic; where only the payload is, behind the packet, so that a
file of packets that was sent as data is never mistaken for the stream that carries it. Every byte is checksummed once.

A file of repair packets, to be kept beside the file that was coded, has of each source packet the header alone, whose
checksum tells whether the bytes in that file are undamaged. They are looked for at their places: bytes put in or taken
out damage all that follows.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from capsmodel._files import atomic_writer, opened
from capsmodel.checks import generator, probability, require
from capsmodel.codec.base import BlockCode
from capsmodel.codec.inputs import CodecError, Ints, PacketError, whole_number
from capsmodel.codec.inputs import Flags as Flags
from capsmodel.codec.packets import (
    APART,
    HEADER_BYTES,
    HEADER_DTYPE,
    LAST,
    MAGIC,
    Header,
    Packet,
    PayloadApart,
    Unit,
    joined,
    parse,
    to_bytes,
)
from capsmodel.codec.streams import Reception, StreamEncoder, StreamIncomplete, UnitDecoder

_CHUNK_BYTES = 1 << 20
_LISTED = 20


@dataclass
class Rejections:
    """Stretches of a file that were not taken: all are counted, the first few are reported.

    Attributes
    ----------
    count
        How many there are.
    first
        Offset in the file, byte, and reason, of the first 20.
    """

    count: int = 0
    first: list[tuple[int, str]] = field(default_factory=list)

    def add(self, offset: int, reason: object) -> None:
        """Note one."""
        self.count += 1
        if len(self.first) < _LISTED:
            self.first.append((offset, str(reason)))

    def lines(self) -> list[str]:
        """Return what is to be said of them, a line each."""
        more = self.count - len(self.first)
        return [f"offset {offset}: {reason}" for offset, reason in self.first] + [f"and {more} more"] * (more > 0)


class _Window:
    """The part of a file that the reader looks at, read on demand."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.data = bytearray()
        self.offset = 0

    def hold(self, size: int) -> bool:
        """Read until at least `size` bytes are held, and say whether there are as many."""
        while len(self.data) < size and (chunk := self._file.read(_CHUNK_BYTES)):
            self.data += chunk
        return len(self.data) >= size

    def drop(self, size: int) -> None:
        """Move past `size` bytes."""
        del self.data[:size]
        self.offset += size


def read_packets(file: BinaryIO) -> Iterator[tuple[int, Packet | PacketError]]:
    """Yield each packet of a file with its offset, byte; in the place of bytes that are no packet, the reason.

    Parameters
    ----------
    file : binary file
        Packets one after the other. At most one packet and 1 MiB are held in memory.
    """
    return ((offset, packet) for offset, packet, _ in _scan(file))


def _scan(file: BinaryIO) -> Iterator[tuple[int, Packet | PacketError, bytes]]:
    """Yield what `read_packets` does, and the bytes where a header is or should be."""
    window = _Window(file)
    while window.hold(1):
        window.hold(HEADER_BYTES)
        offset, head = window.offset, bytes(window.data[:HEADER_BYTES])
        packet: Packet | PacketError
        try:
            size = Header.read(head).announced_bytes
        except PacketError as error:
            packet = error
            _skip_to_magic(window)
        else:
            window.hold(size)
            packet = _parsed(bytes(window.data[:size]))
            window.drop(min(size, len(window.data)))
        yield offset, packet, head


def _parsed(data: bytes) -> Packet | PacketError:
    try:
        return parse(data)
    except PacketError as error:
        return error


def _skip_to_magic(window: _Window) -> None:
    """Move to the next place after this one where a packet may begin, or to the end of the file."""
    window.drop(1)
    while (at := window.data.find(MAGIC)) < 0:
        window.drop(max(0, len(window.data) - len(MAGIC) + 1))
        if not window.hold(len(MAGIC)):
            window.drop(len(window.data))
            return
    window.drop(at)


class _Original:
    """The file that was coded, perhaps damaged or cut: it has the payloads of the source packets."""

    def __init__(self, file: BinaryIO, headers: npt.NDArray[Any]) -> None:
        self._file = file
        full = headers[headers["flags"] & LAST == 0]
        # All units of a stream but the last have one length, so the number of a unit says where it begins.
        self._unit_bytes = dict(zip(full["stream"].tolist(), full["source_bytes"].tolist(), strict=True))

    def place(self, head: Header) -> tuple[int, int]:
        """Return the first byte of a source packet and the one behind its last, without the zeros that fill it."""
        begin = head.unit * self._unit_bytes.get(head.stream, 0)
        first = min(head.index * head.packet_bytes, head.source_bytes)
        return begin + first, begin + min(first + head.packet_bytes, head.source_bytes)

    def packet(self, head: bytes) -> Packet:
        """Return the source packet of a header that stands alone.

        Raises
        ------
        PacketError
            When the bytes at its place have another checksum than its sender's.
        """
        header = Header.read(head)
        first, end = self.place(header)
        self._file.seek(first)
        try:
            return joined(head, self._file.read(end - first).ljust(header.packet_bytes, b"\0"))
        except PacketError:
            where = f"bytes {first} to {end - 1}" if end > first else "the end"
            raise PacketError(
                f"packet {header.index} of unit {header.unit}: {where} of the original are damaged"
            ) from None


class PacketIndex:
    """The undamaged packets of a file: their headers, as an array, and where they are.

    Takes 56 bytes for each packet, whatever the file holds.

    Parameters
    ----------
    file : binary file
        Packets.
    original : binary file, optional
        The file that was coded, perhaps damaged or cut. A source packet of which `file` has the header alone is there
        if the bytes at its place have the checksum of its sender.

    Attributes
    ----------
    headers : structured array of `HEADER_DTYPE`, shape (packets,)
        Headers in the order of the file.
    offsets : array of int64, shape (packets,)
        Place of each packet in the file, or of its payload in the original, byte.
    apart : int
        Headers of the file whose payload is in the original.
    rejected : Rejections
        What else the file holds.
    """

    def __init__(self, file: BinaryIO, original: BinaryIO | None = None) -> None:
        self._file = file
        self.rejected = Rejections()
        heads, offsets = bytearray(), array("q")
        alone, places = bytearray(), array("q")
        self.apart = 0
        for offset, packet, head in _scan(file):
            self.apart += isinstance(packet, PayloadApart)
            if isinstance(packet, PayloadApart) and original:
                alone += head
                places.append(offset)
            elif isinstance(packet, PacketError):
                self.rejected.add(offset, packet)
            else:
                heads += head
                offsets.append(offset)
        self._original = _Original(original, np.frombuffer(heads + alone, HEADER_DTYPE)) if original else None
        for number, offset in enumerate(places):
            self._find(bytes(alone[number * HEADER_BYTES : (number + 1) * HEADER_BYTES]), offset, heads, offsets)
        self.headers = np.frombuffer(heads, HEADER_DTYPE)
        self.offsets: npt.NDArray[np.int64] = np.array(offsets, np.int64)

    def _find(self, head: bytes, offset: int, heads: bytearray, offsets: "array[int]") -> None:
        """Add a source packet whose payload is in the original, or reject its header, which is at `offset`."""
        assert self._original is not None
        try:
            self._original.packet(head)
        except PacketError as error:
            self.rejected.add(offset, error)
        else:
            heads += head
            offsets.append(self._original.place(Header.read(head))[0])

    def streams(self) -> Counter[int]:
        """Return the number of packets of each stream."""
        numbers, counts = np.unique(self.headers["stream"], return_counts=True)
        return Counter(dict(zip(numbers.tolist(), counts.tolist(), strict=True)))

    def stream(self, wanted: int | None) -> int:
        """Return the stream to decode: the one wanted, the only one, or that of more than half of all packets.

        Raises
        ------
        CodecError
            When there is no packet, none of the stream wanted, or no stream has the majority.
        """
        streams = self.streams()
        listed = ", ".join(f"{stream:016x} ({count} packets)" for stream, count in streams.most_common(5))
        if not streams:
            reason = f": {self.rejected.first[0][1]}" if self.rejected.count else ", it is empty"
            raise CodecError(f"the file holds no packet{reason}")
        if wanted is not None and wanted not in streams:
            raise CodecError(f"the file holds no packet of stream {wanted:016x}; there are {listed}")
        chosen, count = streams.most_common(1)[0]
        if wanted is None and 2 * count <= streams.total():
            raise CodecError(f"the file holds several streams, {listed}: say with --stream which one is wanted")
        return chosen if wanted is None else wanted

    def units(self, stream: int) -> dict[int, list[npt.NDArray[np.int64]]]:
        """Return the packets of each unit of a stream: of those under one header together, the most numerous first."""
        of_stream = np.flatnonzero(self.headers["stream"] == stream)
        heads = self.headers[of_stream]
        heads["index"] = heads["head_crc"] = heads["crc"] = 0  # what is left is the same in all packets of a unit
        heads["flags"] &= LAST
        _, group = np.unique(heads.view(f"V{HEADER_BYTES}"), return_inverse=True)
        order = np.argsort(group, kind="stable")
        bounds = np.flatnonzero(np.diff(group[order])) + 1
        units: dict[int, list[npt.NDArray[np.int64]]] = {}
        for members in np.split(of_stream[order], bounds):
            units.setdefault(int(self.headers["unit"][members[0]]), []).append(members)
        for groups in units.values():
            groups.sort(key=len, reverse=True)
        return dict(sorted(units.items()))

    def unit(self, packet: int) -> Unit:
        """Return the unit of a packet, by its place in the index."""
        return Unit.of(Header(*self.headers[packet].tolist()))

    def read(self, packet: int) -> Packet:
        """Read a packet anew, by its place in the index.

        Raises
        ------
        PacketError
            When the file was changed since.
        """
        if self.headers["flags"][packet] & APART and self._original is not None:
            return self._original.packet(self.headers[packet].tobytes())
        self._file.seek(int(self.offsets[packet]))
        return parse(self._file.read(HEADER_BYTES + int(self.headers["packet_bytes"][packet])))


Draw = Callable[[int, int, np.random.Generator], Flags]
"""Packets of a unit, receptions and source of randomness, to the packets that arrive."""


def arrivals(n: int, *, blocking_prob: float, receptions: int, rng: np.random.Generator | int | None = None) -> Flags:
    """Packets that arrive when each is blocked independently, shape (receptions, n).

    Parameters
    ----------
    n : int
        Packets of a unit, k + r.
    blocking_prob : float
        Probability p_B that a packet is blocked, in [0, 1].
    receptions : int
        Independent receptions of the unit, >= 1.
    rng
        Anything `numpy.random.default_rng` takes.

    References
    ----------
    caps Eq. 1.

    Examples
    --------
    >>> arrivals(4, blocking_prob=0.0, receptions=1).tolist()
    [[True, True, True, True]]
    """
    shape = (whole_number("receptions", receptions, minimum=1), whole_number("n", n, minimum=1))
    blocked = probability("blocking_prob", blocking_prob, one=True)
    arrived: Flags = generator(rng).random(shape) >= blocked
    return arrived


def arrivals_by_path(
    n: int,
    *,
    n_paths: int,
    blocked_paths: int,
    in_turn: bool = False,
    receptions: int,
    rng: np.random.Generator | int | None = None,
) -> Flags:
    """Packets that arrive when they are spread over paths of which some are blocked, shape (receptions, n).

    Parameters
    ----------
    n : int
        Packets of a unit, k + r.
    n_paths : int
        Equal-cost paths, >= 1.
    blocked_paths : int
        Paths that deliver nothing, 0 .. n_paths; drawn anew for each reception.
    in_turn : bool
        Packet i takes path i mod n_paths in place of a path drawn at random. Then losses are not independent: the
        binomial of CAPS Eq. 1 holds for the random choice only.
    receptions : int
        Independent receptions of the unit, >= 1.
    rng
        Anything `numpy.random.default_rng` takes.

    References
    ----------
    caps, section VI-B.

    Examples
    --------
    >>> arrivals_by_path(6, n_paths=3, blocked_paths=1, in_turn=True, receptions=1, rng=1).sum()
    np.int64(4)
    """
    shape = (whole_number("receptions", receptions, minimum=1), whole_number("n", n, minimum=1))
    whole_number("n_paths", n_paths, minimum=1)
    whole_number("blocked_paths", blocked_paths, minimum=0)
    require(blocked_paths <= n_paths, f"blocked_paths = {blocked_paths}, but there are {n_paths} paths")
    source = generator(rng)
    order = source.permuted(np.tile(np.arange(n_paths), (shape[0], 1)), axis=1)
    turns = np.broadcast_to(np.arange(shape[1]) % n_paths, shape)
    path = turns if in_turn else source.integers(n_paths, size=shape)
    arrived: Flags = np.take_along_axis(order >= blocked_paths, path, axis=1)
    return arrived


def decodes(code: BlockCode, arrived: npt.ArrayLike) -> Flags:
    """Whether the code's own decoder recovers the source from each reception, shape (receptions,).

    Parameters
    ----------
    code : BlockCode
        Code; what it decodes does not depend on ``packet_bytes``.
    arrived : array of bool, shape (receptions, n)
        Which packets arrived.

    References
    ----------
    caps Eq. 2.

    Examples
    --------
    >>> from capsmodel.codec import get_code
    >>> decodes(get_code("rs")(2, r=1, packet_bytes=1), [[True, False, True], [False, False, True]]).tolist()
    [True, False]
    """
    rows = np.atleast_2d(np.asarray(arrived, np.bool_))
    require(rows.shape[1] == code.n, f"receptions of {rows.shape[1]} packets, but the code sends {code.n}")
    return np.fromiter((code.determines(np.flatnonzero(row)) for row in rows), np.bool_, len(rows))


_LISTED_UNITS = 10
_LONGEST_GAP_BYTES = 1 << 30  # of zeros in place of units without any packet


@dataclass
class Decoding:
    """How a file of packets was decoded.

    Attributes
    ----------
    stream
        Number of the stream.
    foreign
        Packets of other streams.
    reception
        What became of the stream's packets.
    rejected
        Places of the file that were not taken, and why.
    missing_bytes
        Ranges (first, end) of the result that are not known and hold zeros; only of a partial result.
    end_is_missing
        Whether the last unit is unknown, so that the result may be too short; only of a partial result.
    """

    stream: int
    foreign: int
    reception: Reception
    rejected: Rejections
    missing_bytes: list[tuple[int, int]] = field(default_factory=list)
    end_is_missing: bool = False


def decode_file(
    source: Path, target: Path, *, original: Path | None = None, stream: int | None = None, partial: bool = False
) -> Decoding:
    """Write the stream whose packets are in file `source` to file `target`.

    Parameters
    ----------
    source : Path
        File of packets, in any order, perhaps of several streams.
    target : Path
        File to write.
    original : Path, optional
        The file that was coded, as it is now, when `source` has repair packets only; it may be the target.
    stream : int, optional
        Number of the stream wanted. Without it the file must hold one stream, or one with more than half of the
        packets.
    partial : bool
        Write what is known even when packets are missing, with zeros in place of the rest. A unit without any packet
        counts as long as the one before it.

    Returns
    -------
    Decoding
        What was taken, what was not, and which bytes are missing.

    Raises
    ------
    StreamIncomplete
        When packets are missing and `partial` is not set; `target` is then as it was.
    CodecError
        When the file holds no packet of the stream, or several streams of which none has the majority; when it needs an
        original that is not given, or is given one that it does not need.
    OSError
        When a file cannot be read or written.
    """
    with opened(source) as file, opened(original) if original else nullcontext() as beside:
        index = PacketIndex(file, beside)
        require(index.apart > 0 or not original, f"{source} has no packets beside {original}: it needs no original")
        chosen = index.stream(stream)
        foreign = len(index.headers) - index.streams()[chosen]
        result = Decoding(chosen, foreign, Reception(), index.rejected)
        with atomic_writer(target) as out:
            assembly = _Assembly(index, out, result)
            assembly.run()
            if assembly.missing and index.apart and not original:
                raise CodecError("the source packets are in the file that was coded: give it with --original")
            if assembly.missing and not partial:
                raise StreamIncomplete(assembly.summary(), assembly.missing)
    return result


class _Assembly:
    """Writes the units of a stream one after the other and keeps account of what is missing."""

    def __init__(self, index: PacketIndex, out: BinaryIO, result: Decoding) -> None:
        self._index, self._out, self._result = index, out, result
        self._at = 0  # where the next unit begins in the result, byte
        self._unit_bytes = 0  # of the unit before
        self.lines: list[str] = []
        self.missing: dict[int, int] = {}

    def run(self) -> None:
        """Write all that can be decoded."""
        expected, ended = 0, False
        for number, groups in self._up_to_the_end():
            unit = self._index.unit(groups[0][0])
            if number > expected:
                self._skip(expected, number, self._unit_bytes or unit.source_bytes)
            self._write(unit, groups)
            self._unit_bytes, expected, ended = unit.source_bytes, number + 1, unit.last
        self._out.truncate(self._at)
        if not ended:
            self._result.end_is_missing = True
            self._note(
                expected, 1, f"unit {expected} and any after it: no packet arrived, the end of the stream is missing"
            )

    def summary(self) -> str:
        """Return the first units that lack packets, as text."""
        more = f"; and {len(self.lines) - _LISTED_UNITS} more" if len(self.lines) > _LISTED_UNITS else ""
        return f"the stream is incomplete: {'; '.join(self.lines[:_LISTED_UNITS])}{more}"

    def _note(self, number: int, missing: int, text: str) -> None:
        self.missing[number] = missing
        self.lines.append(text)

    def _up_to_the_end(self) -> Iterator[tuple[int, list[Ints]]]:
        """Yield the units of the stream in order; those behind its last unit are rejected."""
        units, flags = self._index.units(self._result.stream), self._index.headers["flags"]
        ends = {number: len(groups[0]) for number, groups in units.items() if flags[groups[0][0]] & LAST}
        end = max(ends, key=lambda number: ends[number]) if ends else max(units)
        for number, groups in units.items():
            if number <= end:
                yield number, groups
            else:
                self._reject(groups[0][0], f"unit {number} contradicts the end of the stream, which is unit {end}")

    def _skip(self, first: int, end: int, unit_bytes: int) -> None:
        """Leave room for units of which nothing arrived."""
        gap_bytes = (end - first) * unit_bytes
        if gap_bytes > _LONGEST_GAP_BYTES:
            raise CodecError(f"units {first} to {end - 1} have no packet: the number of unit {end} is wrong, or too "
                             "much is missing")  # fmt: skip
        name = f"unit {first}" if end == first + 1 else f"units {first} to {end - 1}"
        self._note(first, 1, f"{name}: no packet arrived")
        self._lack(self._at, self._at + gap_bytes)
        self._at += gap_bytes

    def _write(self, unit: Unit, groups: list[Ints]) -> None:
        """Write one unit, or what is known of it."""
        data, decoder = self._decoded(groups)
        if data is not None:
            known = [(0, data)]
            self._result.reception.units += 1
        else:
            known = decoder.known_bytes() if decoder and decoder.missing else []
            self._note(unit.number, max(1, decoder.missing) if decoder else 1, _shortage(unit, decoder))
        size = unit.source_bytes if data is None else len(data)
        self._place(known, size)
        self._at += size

    def _decoded(self, groups: list[Ints]) -> tuple[bytes | None, UnitDecoder | None]:
        """Return the bytes of a unit, from the largest group of packets under one header that gives them.

        When none does, the decoder of the largest group comes with None.
        """
        largest = None
        for group in groups:
            try:
                decoder = UnitDecoder(self._index.unit(group[0]))
            except CodecError as error:
                self._reject(group[0], error)
                continue
            data = self._fed(group, decoder)
            if data is not None:
                return data, decoder
            largest = largest or decoder
        return None, largest

    def _fed(self, group: Ints, decoder: UnitDecoder) -> bytes | None:
        """Give packets to a decoder until the unit is complete; return its bytes."""
        reception = self._result.reception
        for count, packet in enumerate(group.tolist(), start=1):
            before = decoder.received
            try:
                data = decoder.add(self._index.read(packet))
            except PacketError as error:
                self._reject(packet, error)
                continue
            except CodecError as error:
                self._reject(packet, error)
                reception.discarded += len(group)
                return None
            reception.repeated += decoder.received == before
            if data is not None:
                reception.used += decoder.received
                reception.late += len(group) - count
                return data
        return None

    def _place(self, known: list[tuple[int, bytes]], size: int) -> None:
        """Write what is known of a unit of `size` bytes to its place, and note what is not."""
        end = 0
        for start, data in known:
            self._lack(self._at + end, self._at + start)
            self._out.seek(self._at + start)
            self._out.write(data)
            end = start + len(data)
            self._result.reception.source_bytes += len(data)
        self._lack(self._at + end, self._at + size)

    def _lack(self, first: int, end: int) -> None:
        """Note that bytes are missing; ranges that touch become one."""
        ranges = self._result.missing_bytes
        if first == end:
            return
        if ranges and ranges[-1][1] == first:
            first = ranges.pop()[0]
        ranges.append((first, end))

    def _reject(self, packet: int, reason: object) -> None:
        self._result.rejected.add(int(self._index.offsets[packet]), reason)


def _shortage(unit: Unit, decoder: UnitDecoder | None) -> str:
    if decoder is None:
        return f"unit {unit.number}: its header describes no code"
    if decoder.missing == 0:
        return f"unit {unit.number}: {decoder.received} packets arrived, but decode to bytes without its checksum"
    return (
        f"unit {unit.number}: {decoder.received} packets arrived, "
        f"at least {decoder.missing} more needed for k = {unit.k}"
    )


SUFFIX = ".caps"
_READ_BYTES = 1 << 20


def encode_file(source: Path, target: Path, encoder: StreamEncoder) -> int:
    """Write the packets of file `source` to file `target` and return their number.

    Raises
    ------
    OSError
        When a file cannot be read or written; `target` is then as it was.
    """
    count = 0
    with opened(source) as file, atomic_writer(target) as out:
        while chunk := file.read(_READ_BYTES):
            packets = encoder.feed(chunk)
            out.writelines(packets)
            count += len(packets)
        packets = encoder.finish()
        out.writelines(packets)
    return count + len(packets)


def packets_needed(
    code: BlockCode, *, receptions: int, rng: np.random.Generator | int | None = None
) -> npt.NDArray[np.int64]:
    """Return how many packets of a unit, in random order, it takes until the code's own decoder has the source.

    Parameters
    ----------
    code : BlockCode
        Code; what it decodes does not depend on ``packet_bytes``.
    receptions : int
        Independent random orders of the n packets, >= 1.
    rng
        Anything `numpy.random.default_rng` takes.

    Returns
    -------
    ndarray of int64, shape (receptions,)
        From k to n; n + 1 where all packets together do not decode.

    References
    ----------
    caps Eq. 2, where it is k for every code.

    Examples
    --------
    >>> from capsmodel.codec import get_code
    >>> packets_needed(get_code("rs")(4, r=2, packet_bytes=1), receptions=3, rng=1).tolist()
    [4, 4, 4]
    """
    draws, packet = generator(rng), np.zeros(code.packet_bytes, np.uint8)
    orders = (draws.permutation(code.n).tolist() for _ in range(whole_number("receptions", receptions, minimum=1)))
    return np.array([_needed(code, order, packet) for order in orders], np.int64)


def _needed(code: BlockCode, order: list[int], packet: npt.NDArray[np.uint8]) -> int:
    decoder = code.decoder()
    return next((count for count, number in enumerate(order, 1) if decoder.add(number, packet)), code.n + 1)


def lose_packets(source: Path, target: Path, *, draw: Draw, rng: np.random.Generator) -> int:
    """Write to `target` the packets of file `source` that one reception lets through, and return their number.

    Parameters
    ----------
    source, target : Path
        Files of packets; those of a unit stand together.
    draw : callable
        Such as :func:`capsmodel.codec.files.arrivals`, its losses fixed.
    rng : numpy.random.Generator
        Source of the losses.
    """
    kept = 0
    arrived: dict[Unit, Flags] = {}
    with opened(source) as stream, atomic_writer(target) as out:
        for _, packet, head in _scan(stream):
            if isinstance(packet, PayloadApart):  # no packet, so it is not lost
                out.write(head)
            if isinstance(packet, PacketError):
                continue
            if packet.unit not in arrived:
                arrived = {packet.unit: draw(packet.unit.n, 1, rng)[0]}
            if arrived[packet.unit][packet.index]:
                out.write(to_bytes(packet))
                kept += 1
    return kept
