"""Which packets a file holds and where: what is read of a file before anything is decoded.

A header gives the packet's length, so the file needs no index of its own, may be cut, and may be joined with another.
Where a header is damaged, the reader goes on at the next magic; where only the payload is, behind the packet, so that a
file of packets that was sent as data is never mistaken for the stream that carries it. Every byte is checksummed once.
"""

from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from capsmodel.codec.errors import CodecError, PacketError
from capsmodel.codec.headers import HEADER_BYTES, HEADER_DTYPE, MAGIC, Header, Unit
from capsmodel.codec.packets import Packet, parse

_CHUNK_BYTES = 1 << 20
_LISTED = 20


@dataclass
class Rejections:
    """Stretches of a file that were not taken: all are counted, the first few are told.

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
    return ((offset, found) for offset, found, _ in _scan(file))


def _scan(file: BinaryIO) -> Iterator[tuple[int, Packet | PacketError, bytes]]:
    """Yield what `read_packets` does, and the bytes where a header is or should be."""
    window = _Window(file)
    while window.hold(1):
        window.hold(HEADER_BYTES)
        offset, head = window.offset, bytes(window.data[:HEADER_BYTES])
        found: Packet | PacketError
        try:
            size = Header.read(head).announced_bytes
        except PacketError as error:
            found = error
            _skip_to_magic(window)
        else:
            window.hold(size)
            found = _parsed(bytes(window.data[:size]))
            window.drop(min(size, len(window.data)))
        yield offset, found, head


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


class PacketIndex:
    """The undamaged packets of a file: their headers, as an array, and where they are.

    Takes 56 bytes for each packet, whatever the file holds.

    Attributes
    ----------
    headers : structured array of `HEADER_DTYPE`, shape (packets,)
        Headers in the order of the file.
    offsets : array of int64, shape (packets,)
        Place of each packet in the file, byte.
    rejected : Rejections
        What else the file holds.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.rejected = Rejections()
        heads, offsets = bytearray(), array("q")
        for offset, found, head in _scan(file):
            if isinstance(found, PacketError):
                self.rejected.add(offset, found)
            else:
                heads += head
                offsets.append(offset)
        self.headers = np.frombuffer(heads, HEADER_DTYPE)
        self.offsets: npt.NDArray[np.int64] = np.array(offsets, np.int64)

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
        found = self.streams()
        listed = ", ".join(f"{stream:016x} ({count} packets)" for stream, count in found.most_common(5))
        if not found:
            reason = f": {self.rejected.first[0][1]}" if self.rejected.count else ", it is empty"
            raise CodecError(f"the file holds no packet{reason}")
        if wanted is not None and wanted not in found:
            raise CodecError(f"the file holds no packet of stream {wanted:016x}; there are {listed}")
        chosen, count = found.most_common(1)[0]
        if wanted is None and 2 * count <= found.total():
            raise CodecError(f"the file holds several streams, {listed}: say with --stream which one is wanted")
        return chosen if wanted is None else wanted

    def units(self, stream: int) -> dict[int, list[npt.NDArray[np.int64]]]:
        """Return the packets of each unit of a stream: of those under one header together, the most numerous first."""
        of_stream = np.flatnonzero(self.headers["stream"] == stream)
        heads = self.headers[of_stream]
        heads["index"] = heads["head_crc"] = heads["crc"] = 0  # what is left is the same in all packets of a unit
        _, group = np.unique(heads.view(f"V{HEADER_BYTES}"), return_inverse=True)
        order = np.argsort(group, kind="stable")
        bounds = np.flatnonzero(np.diff(group[order])) + 1
        found: dict[int, list[npt.NDArray[np.int64]]] = {}
        for members in np.split(of_stream[order], bounds):
            found.setdefault(int(self.headers["unit"][members[0]]), []).append(members)
        for groups in found.values():
            groups.sort(key=len, reverse=True)
        return dict(sorted(found.items()))

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
        self._file.seek(int(self.offsets[packet]))
        return parse(self._file.read(HEADER_BYTES + int(self.headers["packet_bytes"][packet])))
