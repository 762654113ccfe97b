r"""The receiving end of a stream: packets in, bytes out in order, with bounded memory.

================================  ======  ================  ===========  ========
Quantity                          Symbol  Name              Unit         Equation
================================  ======  ================  ===========  ========
units held by a receiver at most          ``window_units``  coding unit
memory of the units held at most          ``window_bytes``  byte
================================  ======  ================  ===========  ========

What a receiver does with a packet:

===================================================  =================================================================
packet                                               what happens
===================================================  =================================================================
damaged, truncated, foreign, contradicting its unit  `StreamDecoder.add` raises `PacketError` with the reason
beyond the window of units or bytes                  raises as well: the oldest unit lacks packets, or the window is
                                                     too small
a repetition; of a unit that is complete already     ignored and counted
any other, in any order                              taken
===================================================  =================================================================

A packet that is refused leaves no trace but a count. A unit leaves the decoder in order, and only when its bytes have
the checksum that the sender put into its packets.

That holds against accidents. A packet that was forged under valid checksums is believed if it comes first: it may take
the place of a unit, or make the genuine packets of that unit be refused as contradicting; one wrong packet under a
valid checksum costs its whole unit. Where somebody may forge packets, authenticate them below this layer.
"""

from dataclasses import dataclass

from capsmodel.codec.errors import CodecError, PacketError
from capsmodel.codec.headers import Unit
from capsmodel.codec.inputs import whole_number
from capsmodel.codec.packets import Packet, parse
from capsmodel.codec.registry import MAX_UNIT_BYTES
from capsmodel.codec.unit_decoder import UnitDecoder

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
        Number of the stream, as its sender (`StreamEncoder.stream`) or ``capsmodel codec inspect`` tells it. Packets
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
    >>> decoder.add(packets[2]), decoder.add(packets[0])
    (b'', b'sixteen letters!')
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
