r"""The sending end of a stream: bytes in, packets out.

===================================  ======  ===============  ======  ==================
Quantity                             Symbol  Name             Unit    Equation
===================================  ======  ===============  ======  ==================
source and repair packets of a unit  k, r    `StreamEncoder`  packet  caps, section VI-A
===================================  ======  ===============  ======  ==================

The stream is cut into units of ``k * packet_bytes`` bytes. The last unit has as many source packets as its bytes need,
the last of them padded with zeros, and the same r. An empty stream is one unit without data.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from capsmodel.checks import generator, require
from capsmodel.codec.base import BlockCode
from capsmodel.codec.inputs import CodecError, PacketError, check_data, whole_number
from capsmodel.codec.packets import Packet, Unit, crc32c, parse, to_bytes
from capsmodel.codec.registry import MAX_UNIT_BYTES, build_code, get_code


class StreamEncoder:
    """Cuts a byte stream into coding units and codes each as soon as it is full.

    At most one unit is held back, because the last one is marked.

    Parameters
    ----------
    k, r : int
        Source and repair packets of a unit.
    packet_bytes : int
        Length of each payload, byte.
    code : str
        Name of a registered code: ``rs``, ``ldpc``, ``rlnc`` or one of your own.
    variant : int, optional
        Variant of the code, see `BlockCode.variants`; the code's default when not given.
    seed : int, optional
        Seed of the code; the code's default when not given.
    rng
        Source of the stream's number, anything `numpy.random.default_rng` takes.
    repair_only : bool
        Give the header alone of each source packet, for a receiver that has the data, perhaps damaged.

    Attributes
    ----------
    stream : int
        Number of the stream; a receiver has to know it.
    source_bytes : int
        Bytes taken so far.
    units : int
        Units coded so far.

    Raises
    ------
    ParameterError
        When the code refuses these parameters, or does not send the source packets as they are and is asked to leave
        them out.

    Examples
    --------
    >>> encoder = StreamEncoder(k=4, r=2, packet_bytes=100, code="rs", rng=1)
    >>> packets = encoder.feed(b"The quick brown fox") + encoder.finish()
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
        repair_only: bool = False,
    ) -> None:
        made = get_code(code)
        self.k, self.packet_bytes, self.code = k, packet_bytes, code
        self.variant = made.default_variant if variant is None else variant
        self.seed = (made.default_seed or 0) if seed is None else seed
        self.repair_only = repair_only
        self.set_repair_packets(r)
        systematic = self._build(k, r).systematic
        require(systematic or not repair_only, f"all packets of {code} are repair packets: none can be left out")
        self.stream = int(generator(rng).integers(2**64, dtype=np.uint64))
        self.source_bytes = 0
        self._pending = bytearray()
        self.units = 0
        self._finished = False

    def set_repair_packets(self, r: int) -> None:
        """Give r repair packets to each unit that is coded from now on.

        Raises
        ------
        ParameterError
            When the code refuses r.
        """
        self._build(self.k, r)  # refuse bad parameters at once
        self.r = r

    def _build(self, k: int, r: int) -> BlockCode:
        return build_code(self.code, k=k, r=r, packet_bytes=self.packet_bytes, variant=self.variant, seed=self.seed)

    def feed(self, data: Any) -> list[bytes]:
        """Take bytes, any contiguous buffer, and return the packets of the units that they fill.

        Raises
        ------
        CodecError
            When the stream was finished before.
        ParameterError
            When `data` is no buffer of bytes.
        """
        self._check_open()
        view = check_data("data", data)
        self._pending += view
        self.source_bytes += len(view)
        packets: list[bytes] = []
        unit_bytes = self.k * self.packet_bytes
        done = 0
        while len(self._pending) - done > unit_bytes:  # a unit that is just full may be the last
            packets += self._packets(bytes(self._pending[done : done + unit_bytes]), last=False)
            done += unit_bytes
        del self._pending[:done]
        return packets

    def finish(self) -> list[bytes]:
        """Return the packets of the last unit; the stream is then at its end.

        Raises
        ------
        CodecError
            When the stream was finished before.
        """
        self._check_open()
        packets = self._packets(bytes(self._pending), last=True)
        self._finished = True
        self._pending.clear()
        return packets

    def _check_open(self) -> None:
        if self._finished:
            raise CodecError(f"stream {self.stream:016x} was finished: begin another with a new StreamEncoder")

    def _packets(self, data: bytes, *, last: bool) -> list[bytes]:
        """Return the packets of one unit."""
        k = max(1, -(-len(data) // self.packet_bytes))
        source = np.zeros(k * self.packet_bytes, np.uint8)
        source[: len(data)] = np.frombuffer(data, np.uint8)
        coded = self._build(k, self.r).coded(source.reshape(k, self.packet_bytes))
        unit = Unit(
            stream=self.stream,
            number=self.units,
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
        packets = [
            to_bytes(Packet(unit, index, payload), apart=self.repair_only and index < k)
            for index, payload in enumerate(coded)
        ]
        self.units += 1
        return packets


class UnitDecoder:
    """Takes the packets of one unit and gives its bytes once they are determined and have the sender's checksum.

    Parameters
    ----------
    unit : Unit
        What the packets have in common.

    Raises
    ------
    PacketError
        When the unit describes no code.
    """

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        code = unit.block_code()
        self.reserved_bytes = unit.n * unit.packet_bytes + code.matrix_bytes(unit.k, unit.r)
        self._decoder = code.decoder()

    @property
    def received(self) -> int:
        """Different packets taken so far."""
        return self._decoder.received

    @property
    def missing(self) -> int:
        """How many more packets are needed at least."""
        return self._decoder.missing

    def add(self, packet: Packet) -> bytes | None:
        """Take one packet; return the unit's bytes once they are determined.

        Raises
        ------
        PacketError
            When other bytes were received under the packet's number.
        CodecError
            When the packets decode to bytes that lack the sender's checksum.
        """
        if not self._decoder.add(packet.index, packet.payload):
            return None
        data = self._decoder.source().tobytes()[: self.unit.source_bytes]
        if crc32c(data) != self.unit.unit_crc:
            raise CodecError(
                f"unit {self.unit.number} decoded to bytes with another checksum than its sender's: "
                "a packet is wrong, the unit must be received again"
            )
        return data

    def known_bytes(self) -> list[tuple[int, bytes]]:
        """Return the bytes that are known of a unit that lacks packets: where they begin in the unit, and they."""
        known, packets = self._decoder.known()
        size = self.unit.packet_bytes
        at = np.flatnonzero(known) * size
        return [
            (start, packet.tobytes()[: self.unit.source_bytes - start])
            for start, packet in zip(at.tolist(), packets, strict=True)
        ]


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


@dataclass
class Reception:
    """What was done with the packets received.

    Attributes
    ----------
    used
        Packets that a unit needed.
    repeated
        Packets that repeated an earlier one of their unit.
    late
        Packets of units that were complete already.
    beyond
        Packets refused because they lay beyond the window.
    discarded
        Packets of units that were thrown away because they lacked the sender's checksum.
    units
        Units delivered.
    source_bytes
        Bytes delivered.
    """

    used: int = 0
    repeated: int = 0
    late: int = 0
    beyond: int = 0
    discarded: int = 0
    units: int = 0
    source_bytes: int = 0


@dataclass
class _Done:
    """A complete unit that waits for those before it."""

    unit: Unit
    data: bytes

    @property
    def reserved_bytes(self) -> int:
        return len(self.data)


class StreamDecoder:
    """Takes packets of one stream in any order and returns its bytes in order.

    Parameters
    ----------
    stream : int
        Number of the stream, as its sender (`StreamEncoder.stream`) or ``capsmodel codec inspect`` shows it. Packets
        of other streams are refused.
    window_units : int
        Units held at most: a packet that is further ahead of the next unit to deliver is refused.
    window_bytes : int
        Memory that the units held may take, byte; the next unit to deliver is taken in any case.

    Examples
    --------
    >>> from capsmodel.codec import StreamEncoder
    >>> encoder = StreamEncoder(k=2, r=1, packet_bytes=8, rng=1)
    >>> packets = encoder.feed(b"sixteen letters!") + encoder.finish()
    >>> decoder = StreamDecoder(stream=encoder.stream)
    >>> decoder.add(packets[2]), decoder.add(packets[0]), decoder.complete
    (b'', b'sixteen letters!', True)
    >>> decoder.finish()
    """

    def __init__(
        self, *, stream: int, window_units: int = DEFAULT_WINDOW_UNITS, window_bytes: int = 2 * MAX_UNIT_BYTES
    ) -> None:
        self.stream = whole_number("stream", stream, minimum=0, maximum=2**64 - 1)
        self.window_units = whole_number("window_units", window_units, minimum=1)
        self.window_bytes = whole_number("window_bytes", window_bytes, minimum=1)
        self.reception = Reception()
        self._open: dict[int, UnitDecoder | _Done] = {}
        self._next = 0
        self._ended = False

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
        entry = self._open.get(unit.number)
        if unit.number < self._next or isinstance(entry, _Done):
            self.reception.late += 1
            return b""
        if entry is None:
            entry = self._opened(unit)
        before = entry.received
        try:
            data = entry.add(packet)
        except PacketError:
            raise
        except CodecError:  # nothing of the unit is kept, and what its packets claimed goes with it
            self.reception.used -= before
            self.reception.discarded += before + 1
            self._open.pop(unit.number, None)
            raise
        # Only now is it sure that the packet is good, so only now may it leave a trace.
        self._count(entry.received > before)
        self._open[unit.number] = entry if data is None else _Done(unit, data)
        return self._deliver()

    def _count(self, is_new: bool) -> None:
        if is_new:
            self.reception.used += 1
        else:
            self.reception.repeated += 1

    def _opened(self, unit: Unit) -> UnitDecoder:
        """Return a decoder for a unit of which no packet came yet, unless the units held take too much memory."""
        entry = UnitDecoder(unit)
        held_bytes = sum(other.reserved_bytes for other in self._open.values())
        if unit.number > self._next and held_bytes + entry.reserved_bytes > self.window_bytes:
            self.reception.beyond += 1
            raise PacketError(
                f"unit {unit.number} takes {entry.reserved_bytes} bytes beside {held_bytes} of units held, but "
                f"the window is {self.window_bytes}: send the missing packets of unit {self._next} first or enlarge "
                "window_bytes"
            )
        return entry

    @property
    def _last(self) -> int | None:
        """Number of the last unit, if a packet of it is here."""
        if self._ended:
            return self._next - 1
        return next((number for number, entry in self._open.items() if entry.unit.last), None)

    @property
    def complete(self) -> bool:
        """Whether the whole stream was delivered."""
        return self._ended

    def finish(self) -> None:
        """Check that the whole stream was delivered.

        Raises
        ------
        StreamIncomplete
            When it was not; the text lists packets missing by unit.
        """
        if self._ended:
            return
        newest = max([self._next - 1, *self._open])
        missing, lines = {}, []
        for number in range(self._next, newest + 1):
            entry = self._open.get(number)
            if entry is None:
                missing[number] = 1
                lines.append(f"unit {number}: no packet arrived")
            elif isinstance(entry, UnitDecoder):
                missing[number] = entry.missing
                lines.append(
                    f"unit {number}: {entry.received} packets arrived, "
                    f"at least {missing[number]} more needed for k = {entry.unit.k}"
                )
        if self._last is None:
            missing[newest + 1] = 1
            lines.append(self._beyond(newest + 1))
        raise StreamIncomplete("the stream is incomplete: " + "; ".join(lines), missing)

    def _beyond(self, number: int) -> str:
        """Return what is to be said of the units from `number` on, of which none is held."""
        refused = self.reception.beyond
        if refused:
            return f"unit {number} and any after it: {refused} packets arrived beyond the window and were refused"
        return f"unit {number} and any after it: no packet arrived, the end of the stream is missing"

    def _check_place(self, unit: Unit) -> None:
        """Raise PacketError unless the unit belongs to this stream, its window and its other packets."""
        if unit.stream != self.stream:
            raise PacketError(f"the packet is of stream {unit.stream:016x}, not {self.stream:016x}: it is foreign")
        if unit.number >= self._next + self.window_units:
            self.reception.beyond += 1
            raise PacketError(
                f"unit {unit.number} is beyond the window: unit {self._next} is not complete yet and only "
                f"{self.window_units} units are held; send its missing packets first or enlarge window_units"
            )
        entry, last = self._open.get(unit.number), self._last
        if entry is not None and unit != entry.unit:
            raise PacketError(f"the packet's header contradicts other packets of unit {unit.number}: one is damaged")
        if last is not None and (unit.number > last or unit.last != (unit.number == last)):
            raise PacketError(f"unit {unit.number} contradicts the end of the stream, which is unit {last}")
        if unit.last and unit.number < max(self._open, default=0):
            raise PacketError(f"unit {unit.number} claims to be the last, but packets of later units have arrived")

    def _deliver(self) -> bytes:
        """Return the bytes of the units that are next in order."""
        parts = []
        while isinstance(entry := self._open.get(self._next), _Done):
            parts.append(entry.data)
            del self._open[self._next]
            self._next += 1
            self._ended = entry.unit.last
            self.reception.units += 1
            self.reception.source_bytes += len(entry.data)
        return b"".join(parts)
