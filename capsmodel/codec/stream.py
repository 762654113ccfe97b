r"""A byte stream as coding units: bytes in, packets out, and back, with bounded memory.

| Quantity | Symbol | Name | Unit | Equation |
|---|---|---|---|---|
| source and repair packets of a unit | k, r | `StreamEncoder` | packet | caps, section VI-A |
| units held by a receiver at most | | ``window_units`` | coding unit | |

The stream is cut into units of ``k * packet_bytes`` bytes. The last unit has as many source packets as its bytes need,
the last of them padded with zeros, and the same r. An empty stream is one unit without data.

What a receiver does with a packet:

| packet | |
|---|---|
| damaged, truncated, foreign, contradicting its unit | `StreamDecoder.add` raises `PacketError` with the reason |
| beyond the window of units | raises as well: the oldest unit lacks packets, or the window is too small |
| a repetition; of a unit that is complete already | ignored and counted |
| any other, in any order | taken |

A unit leaves the decoder in order, and only when its bytes have the checksum that the sender put into its packets.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from capsmodel.codec.base import BlockCode, CodecError, Decoder, PacketError, Packets, whole_number
from capsmodel.codec.crc32c import crc32c
from capsmodel.codec.packets import Packet, Unit, build_code, parse, to_bytes

DEFAULT_WINDOW_UNITS = 64


class StreamIncomplete(CodecError):
    """The stream cannot be finished: the text says how many packets are missing in which unit.

    Attributes
    ----------
    missing : dict of int to int
        Packets needed at least, by number of the unit.
    """

    def __init__(self, text: str, missing: dict[int, int]) -> None:
        self.missing = missing
        super().__init__(text)


class StreamEncoder:
    """Cuts a byte stream into coding units and codes each as soon as it is full.

    At most one unit is held back, because the last one is marked.

    Parameters
    ----------
    k, r : int
        Source and repair packets of a unit.
    packet_bytes : int
        Length of each payload, byte.
    code : {"rs", "ldpc", "rlnc"}
        Name of the code.
    variant : int, optional
        Variant of the code, see `packets.VARIANTS`; the first one of the code by default.
    seed : int, optional
        Seed of the code; by default 1 for LDPC, 0 otherwise.
    rng
        Source of the stream's number, anything `numpy.random.default_rng` takes.

    Raises
    ------
    ParameterError
        When the code refuses these parameters.

    Examples
    --------
    >>> encoder = StreamEncoder(k=4, r=2, packet_bytes=100, code="rs", rng=1)
    >>> packets = [*encoder.feed(b"The quick brown fox"), *encoder.finish()]
    >>> len(packets), len(packets[0])  # one source packet suffices for 19 bytes, and r = 2
    (3, 148)
    """

    def __init__(
        self,
        *,
        k: int,
        r: int,
        packet_bytes: int,
        code: str = "rs",
        variant: int | None = None,
        seed: int | None = None,
        rng: np.random.Generator | int | None = None,
    ) -> None:
        default_variant = 3 if code == "ldpc" else 0
        default_seed = 1 if code == "ldpc" else 0
        self.k, self.r, self.packet_bytes, self.code = k, r, packet_bytes, code
        self.variant = default_variant if variant is None else variant
        self.seed = default_seed if seed is None else seed
        self.stream = int(np.random.default_rng(rng).integers(2**64, dtype=np.uint64))
        self._block_code(k)  # refuse bad parameters at once
        self._pending = bytearray()
        self._next = 0

    def _block_code(self, k: int) -> BlockCode:
        return build_code(
            self.code, k=k, r=self.r, packet_bytes=self.packet_bytes, variant=self.variant, seed=self.seed
        )

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Take bytes and yield the packets of the units that they fill."""
        self._pending += data
        unit_bytes = self.k * self.packet_bytes
        while len(self._pending) > unit_bytes:  # a unit that is just full may be the last
            yield from self._packets(bytes(self._pending[:unit_bytes]), last=False)
            del self._pending[:unit_bytes]

    def finish(self) -> Iterator[bytes]:
        """Yield the packets of the last unit."""
        yield from self._packets(bytes(self._pending), last=True)
        self._pending.clear()

    def _packets(self, data: bytes, *, last: bool) -> Iterator[bytes]:
        """Yield the packets of one unit."""
        k = max(1, -(-len(data) // self.packet_bytes))
        source = np.zeros(k * self.packet_bytes, np.uint8)
        source[: len(data)] = np.frombuffer(data, np.uint8)
        coded = self._block_code(k).coded(source.reshape(k, self.packet_bytes))
        unit = Unit(
            stream=self.stream,
            number=self._next,
            code=self.code,
            variant=self.variant,
            k=k,
            r=self.r,
            packet_bytes=self.packet_bytes,
            seed=self.seed,
            source_bytes=len(data),
            unit_crc=crc32c(data),
            last=last,
        )
        self._next += 1
        for index, payload in enumerate(coded):
            yield to_bytes(Packet(unit, index, payload))


@dataclass
class Reception:
    """What a stream decoder did with the packets it was given.

    Attributes
    ----------
    used
        Packets that a unit needed.
    repeated
        Packets that repeated an earlier one of their unit.
    late
        Packets of units that were complete already.
    units
        Units delivered.
    source_bytes
        Bytes delivered.
    """

    used: int = 0
    repeated: int = 0
    late: int = 0
    units: int = 0
    source_bytes: int = 0


@dataclass
class _OpenUnit:
    """A unit on its way: its header, and its decoder until the bytes are there."""

    unit: Unit
    decoder: Decoder
    data: bytes | None = None


class StreamDecoder:
    """Takes packets in any order and returns the stream's bytes in order.

    Parameters
    ----------
    window_units : int
        Units held at most: a packet that is further ahead of the next unit to deliver is rejected.
    stream : int, optional
        Number of the stream; by default that of the first packet.

    Examples
    --------
    >>> encoder = StreamEncoder(k=2, r=1, packet_bytes=8, rng=1)
    >>> packets = [*encoder.feed(b"sixteen letters!"), *encoder.finish()]
    >>> decoder = StreamDecoder()
    >>> decoder.add(packets[2]), decoder.add(packets[0])
    (b'', b'sixteen letters!')
    >>> decoder.finish()
    """

    def __init__(self, *, window_units: int = DEFAULT_WINDOW_UNITS, stream: int | None = None) -> None:
        self.window_units = whole_number("window_units", window_units, minimum=1)
        self.stream = stream
        self.reception = Reception()
        self._open: dict[int, _OpenUnit] = {}
        self._next = 0
        self._last: int | None = None

    def add(self, data: bytes) -> bytes:
        """Take the bytes of one packet and return the bytes of the stream that can be delivered now.

        Raises
        ------
        PacketError
            When the packet is damaged, foreign, contradicts its unit, or lies beyond the window.
        CodecError
            When a unit decodes to bytes that lack its checksum; the unit starts anew.
        """
        return self.add_packet(parse(data))

    def add_packet(self, packet: Packet) -> bytes:
        """Take one parsed packet; see `add`."""
        unit = packet.unit
        self._check_place(unit)
        if unit.number < self._next or self._is_done(unit):
            self.reception.late += 1
            return b""
        entry = self._open.get(unit.number) or _OpenUnit(unit, unit.block_code().decoder())
        before = entry.decoder.received
        complete = entry.decoder.add(packet.index, packet.payload)
        # Only now is it sure that the packet is good, so only now may it leave a trace.
        self._open[unit.number] = entry
        self.stream = unit.stream
        if unit.last:
            self._last = unit.number
        if entry.decoder.received == before:
            self.reception.repeated += 1
        else:
            self.reception.used += 1
        if complete:
            self._close(entry)
        return self._deliver()

    def finish(self) -> None:
        """Check that the whole stream was delivered.

        Raises
        ------
        StreamIncomplete
            When it was not; the text lists packets missing by unit.
        """
        if self._last is not None and self._next > self._last:
            return
        newest = max([self._next - 1, *self._open])
        missing, lines = {}, []
        for number in range(self._next, newest + 1):
            entry = self._open.get(number)
            if entry is None:
                missing[number] = 1
                lines.append(f"unit {number}: no packet arrived")
            elif entry.data is None:
                missing[number] = entry.decoder.missing
                lines.append(
                    f"unit {number}: {entry.decoder.received} packets arrived, "
                    f"at least {missing[number]} more needed for k = {entry.unit.k}"
                )
        if self._last is None:
            missing[newest + 1] = 1
            lines.append(f"unit {newest + 1} and any after it: no packet arrived, the end of the stream is missing")
        raise StreamIncomplete("the stream is incomplete: " + "; ".join(lines), missing)

    def _check_place(self, unit: Unit) -> None:
        """Raise PacketError unless the unit belongs to this stream, its window and its other packets."""
        if self.stream is not None and unit.stream != self.stream:
            raise PacketError(f"the packet is of stream {unit.stream:016x}, not {self.stream:016x}: it is foreign")
        if unit.number >= self._next + self.window_units:
            raise PacketError(
                f"unit {unit.number} is beyond the window: unit {self._next} is not complete yet and only "
                f"{self.window_units} units are held; send its missing packets first or enlarge window_units"
            )
        if self._last is not None and (unit.number > self._last or unit.last != (unit.number == self._last)):
            raise PacketError(f"unit {unit.number} contradicts the end of the stream, which is unit {self._last}")
        if unit.last and unit.number < max(self._open, default=0):
            raise PacketError(f"unit {unit.number} claims to be the last, but packets of later units have arrived")
        entry = self._open.get(unit.number)
        if entry is not None and unit != entry.unit:
            raise PacketError(f"the packet's header contradicts other packets of unit {unit.number}: one is damaged")

    def _is_done(self, unit: Unit) -> bool:
        entry = self._open.get(unit.number)
        return entry is not None and entry.data is not None

    def _close(self, entry: _OpenUnit) -> None:
        """Decode a complete unit and compare its checksum."""
        data = _joined(entry.decoder.source(), entry.unit.source_bytes)
        if crc32c(data) != entry.unit.unit_crc:
            del self._open[entry.unit.number]
            raise CodecError(
                f"unit {entry.unit.number} decoded to bytes with another checksum than its sender's: "
                "a packet is wrong, the unit must be received again"
            )
        entry.data = data

    def _deliver(self) -> bytes:
        """Return the bytes of the units that are next in order."""
        parts = []
        while (entry := self._open.get(self._next)) is not None and entry.data is not None:
            parts.append(entry.data)
            del self._open[self._next]
            self._next += 1
            self.reception.units += 1
            self.reception.source_bytes += len(entry.data)
        return b"".join(parts)


def _joined(source: Packets, source_bytes: int) -> bytes:
    """Return the unit's data: its packets one after the other, without the padding."""
    return source.tobytes()[:source_bytes]
