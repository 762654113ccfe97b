"""Files of packets back to the file that was sent, or to what can be had of it.

A file can be read twice: first all headers, then the packets of one unit after the other. So the order of the packets
does not matter, no window is needed, a unit that fails does not hold up the others, and all that fail are told.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from capsmodel._files import atomic_writer, opened
from capsmodel.codec.errors import CodecError, Ints, PacketError
from capsmodel.codec.headers import LAST, Unit
from capsmodel.codec.packet_index import PacketIndex, Rejections
from capsmodel.codec.stream_decoder import Reception, StreamIncomplete
from capsmodel.codec.unit_decoder import UnitDecoder

_TOLD_UNITS = 10
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


def decode_file(source: Path, target: Path, *, stream: int | None = None, partial: bool = False) -> Decoding:
    """Write the stream whose packets are in file `source` to file `target`.

    Parameters
    ----------
    source : Path
        File of packets, in any order, perhaps of several streams.
    target : Path
        File to write.
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
        When the file holds no packet of the stream, or several streams of which none has the majority.
    OSError
        When a file cannot be read or written.
    """
    with opened(source) as file:
        index = PacketIndex(file)
        chosen = index.stream(stream)
        foreign = len(index.headers) - index.streams()[chosen]
        result = Decoding(chosen, foreign, Reception(), index.rejected)
        with atomic_writer(target) as out:
            assembly = _Assembly(index, out, result)
            assembly.run()
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
        more = f"; and {len(self.lines) - _TOLD_UNITS} more" if len(self.lines) > _TOLD_UNITS else ""
        return f"the stream is incomplete: {'; '.join(self.lines[:_TOLD_UNITS])}{more}"

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
