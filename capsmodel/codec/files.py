"""Files of packets: packets one after the other, each as `packets.to_bytes` writes it, and nothing else.

====================  ======  ====================  ======  ===============================================
Quantity              Symbol  Name                  Unit    Meaning
====================  ======  ====================  ======  ===============================================
packets of a file             `read_packets`        packet  parsed, or the reason why bytes are no packet
file to packets               `encode_file`
packets to file               `decode_file`
packets that arrive           `lose_packets`        packet
====================  ======  ====================  ======  ===============================================

A header gives the packet's length, so the file needs no index, may be cut, and may be joined with another of its
stream. After damage the reader goes on at the next magic. The suffix is ``.caps``. Results are written to a temporary
file beside the target and renamed: a target is complete or is not there.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import numpy as np

from capsmodel._files import atomic_writer
from capsmodel.codec.base import CodecError, PacketError
from capsmodel.codec.packets import HEADER_BYTES, MAGIC, Packet, announced_bytes, parse, to_bytes
from capsmodel.codec.reception import Draw, Flags
from capsmodel.codec.stream import DEFAULT_WINDOW_UNITS, Reception, StreamDecoder, StreamEncoder

SUFFIX = ".caps"
_CHUNK_BYTES = 1 << 20


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
    window = _Window(file)
    while window.hold(1):
        offset = window.offset
        found: Packet | PacketError
        try:
            window.hold(HEADER_BYTES)
            size = announced_bytes(bytes(window.data[:HEADER_BYTES]))
            window.hold(size)
            found = parse(bytes(window.data[:size]))
            window.drop(size)
        except PacketError as error:
            found = error
            _skip_to_magic(window)
        yield offset, found


def _skip_to_magic(window: _Window) -> None:
    """Move to the next place after this one where a packet may begin, or to the end of the file."""
    window.drop(1)
    while (at := window.data.find(MAGIC)) < 0:
        window.drop(max(0, len(window.data) - len(MAGIC) + 1))
        if not window.hold(len(MAGIC)):
            window.drop(len(window.data))
            return
    window.drop(at)


def encode_file(source: Path, target: Path, encoder: StreamEncoder) -> int:
    """Write the packets of file `source` to file `target` and return their number.

    Raises
    ------
    OSError
        When a file cannot be read or written; `target` is then as it was.
    """
    count = 0
    with source.open("rb") as file, atomic_writer(target) as out:
        while chunk := file.read(_CHUNK_BYTES):
            for packet in encoder.feed(chunk):
                out.write(packet)
                count += 1
        for packet in encoder.finish():
            out.write(packet)
            count += 1
    return count


def lose_packets(source: Path, target: Path, *, draw: Draw, rng: np.random.Generator) -> int:
    """Write to `target` the packets of file `source` that one reception lets through, and return their number.

    Parameters
    ----------
    source, target : Path
        Files of packets; those of a unit stand together.
    draw : callable
        Such as :func:`capsmodel.codec.reception.arrivals`, its losses fixed.
    rng : numpy.random.Generator
        Source of the losses.
    """
    kept = 0
    arrived: dict[tuple[int, int], Flags] = {}
    with source.open("rb") as stream, atomic_writer(target) as out:
        for _, found in read_packets(stream):
            if not isinstance(found, Packet):
                continue
            unit = found.unit
            key = (unit.stream, unit.number)
            if key not in arrived:
                arrived = {key: draw(unit.n, 1, rng)[0]}
            if arrived[key][found.index]:
                out.write(to_bytes(found))
                kept += 1
    return kept


@dataclass
class Decoding:
    """How a file of packets was decoded.

    Attributes
    ----------
    reception
        What became of the good packets.
    rejected
        Offset in the file, byte, and reason, for each stretch of bytes that was not taken.
    """

    reception: Reception
    rejected: list[tuple[int, str]] = field(default_factory=list)


def decode_file(source: Path, target: Path, *, window_units: int = DEFAULT_WINDOW_UNITS) -> Decoding:
    """Write the stream whose packets are in file `source` to file `target`.

    Raises
    ------
    StreamIncomplete
        When packets are missing; `target` is then as it was.
    CodecError
        When the file holds no packet at all.
    OSError
        When a file cannot be read or written.
    """
    decoder = StreamDecoder(window_units=window_units)
    result = Decoding(decoder.reception)
    with source.open("rb") as file, atomic_writer(target) as out:
        for offset, found in read_packets(file):
            try:
                if isinstance(found, PacketError):
                    raise found
                out.write(decoder.add_packet(found))
            except CodecError as error:
                result.rejected.append((offset, str(error)))
        if decoder.stream is None:
            reason = f": {result.rejected[0][1]}" if result.rejected else ", it is empty"
            raise CodecError(f"{source} holds no packet{reason}")
        decoder.finish()
    return result
