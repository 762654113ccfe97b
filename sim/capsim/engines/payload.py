"""Payload: coded packets carry the bytes of a real code, whose decoder says what each of them is worth.

A simulation counts packets: any k of a unit decode it, as with an MDS code. With ``payload`` the k source packets of a
unit are bytes, the others what the code of that name makes of them, and a packet counts only if the decoder needs one
fewer after it. Reed-Solomon codes then give the run that counts, packet by packet; with random linear codes some
packets depend on others, and LDPC codes need k' > k. Decoded bytes are compared with the source.

Combinations of data segments of a whole stream (DC2-MTCP) are those of a code by themselves: random linear, ``rlnc``.
Their layer decodes with the coefficients of the code in every run, so that here only the bytes are computed.

Both engines ask the same function of Python before a packet of data is delivered to its host. A layer says by its
`unit_packet` which packet of which unit it is, or by its `combination` what it mixes; engines and this file know
nothing else of it.
"""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from capsim.engines.initial_state import ring_segments
from capsim.engines.state import Setup, Table, stack_state
from capsim.records import CODED, NONE
from capsim.roles.components import Layer, UnitPacket
from capsmodel.checks import ParameterError, require
from capsmodel.codec import CODES, Decoder, LdpcStaircase, ReedSolomon, get_code
from capsmodel.codec.dc2 import Dc2Option, Dc2Receiver
from capsmodel.codec.gf256 import mul

Bytes = npt.NDArray[np.uint8]
LEAST_LDPC_REPAIR = 3  # ones in a column of its matrix (RFC 6816)
FIELD = 256  # elements of GF(2^8): a Reed-Solomon code has no more packets
KEYS = 2**16  # seeds of a code; a step that is no power of two keeps those of neighbouring units apart
KEY_STEP = 257
COMBINATIONS = "rlnc"  # the code of layers that send combinations of a stream


class PayloadError(RuntimeError):
    """A unit decoded to other bytes than were sent: a defect of the simulator or of a code, never of the input."""


class Rows:
    """A structured table whose rows have the fields as attributes, as plain numbers."""

    def __init__(self, table: Table):
        self.table, self.names = table, table.dtype.names or ()

    def __getitem__(self, index: int) -> SimpleNamespace:
        """Return a copy of a row."""
        return SimpleNamespace(**dict(zip(self.names, self.table[index].tolist(), strict=True)))


NO_BYTES: Bytes = np.zeros((0, 0), np.uint8)


class _Reception:
    """What the receiver of one unit has."""

    def __init__(self) -> None:
        self.numbers: list[int] = []  # of the packets that came
        self.source: Bytes = NO_BYTES
        self.coded: Bytes = NO_BYTES  # all packets of the unit
        self.decoder: Decoder | None = None
        self.decoded = False


class _Stream:
    """The receiver of a flow whose data segments are mixed."""

    def __init__(self, flow: int, *, window_packets: int, packet_bytes: int):
        self.flow, self.packet_bytes = flow, packet_bytes
        self.receiver = Dc2Receiver(packet_bytes=packet_bytes, window_packets=window_packets)

    def take(self, mixed: dict[int, int], *, coded: bool) -> None:
        """Take a packet that mixes data segments by these coefficients; compare what it lets through."""
        segments = sorted(mixed)
        offsets = tuple(segment - segments[0] for segment in segments)
        option = Dc2Option(offsets, tuple(mixed[segment] for segment in segments)) if coded else Dc2Option()
        payload = np.zeros(self.packet_bytes, np.uint8)
        for segment, coefficient in mixed.items():
            payload ^= mul(coefficient, _segment(self.flow, segment, self.packet_bytes))
        first = self.receiver.next_dsn
        for segment, decoded in enumerate(self.receiver.add(segments[0], option, payload), start=first):
            _compare(decoded, _segment(self.flow, segment, self.packet_bytes), f"data segment {segment}")


def _codes(layer: Layer) -> bool:
    return layer.unit_packet is not None or layer.combination is not None


def check_payload(setup: Setup) -> None:
    """Refuse a code that there is not, one that has no unit as large as may come, and a scheme that codes nothing.

    Raises
    ------
    ParameterError
        One line with what is possible.
    """
    name, scheme = setup.payload, setup.scheme
    require(name in CODES, f"payload = {name!r}, but there are the codes {', '.join(sorted(CODES))}")
    coding = any(_codes(stack.layer) for stack in scheme.stacks)
    require(coding, f"payload = {name!r}, but the scheme {scheme.name} codes nothing: leave it out, or take caps")
    require(
        name == COMBINATIONS or all(stack.layer.combination is None for stack in scheme.stacks),
        f"payload = {name!r}, but the scheme {scheme.name} sends random linear combinations: take {COMBINATIONS}",
    )
    for k in _largest_units(setup):
        try:
            get_code(name)(k, r=LEAST_LDPC_REPAIR if name == "ldpc" else 0, packet_bytes=1)
        except ParameterError as error:
            remedy = 'by layer.unit_size = "fixed" and layer.fixed_packets, or by transport.max_window_bytes'
            sizes = f"windows and flows allow {k} source packets in a unit"
            raise ParameterError(f"payload = {name!r}: {sizes}: {error}, {remedy}") from None


def _largest_units(setup: Setup) -> Iterator[int]:
    """Yield the source packets of the largest unit that windows and flows allow, of each stack that codes units."""
    of_flows, _ = setup.flow_classes
    for index, stack in enumerate(setup.stacks):
        each = stack_state(stack)
        segments = -(-int(setup.flows.flow_bytes[of_flows == index].max(initial=0)) // each.mss_bytes)
        if stack.layer.unit_packet is not None and segments:
            window = ring_segments(segments, each.window_segments)
            yield stack.layer.params.most_source_packets(window, largest_flow=segments)


class Payload:
    """The bytes of all units of a run, and their decoders."""

    def __init__(self, setup: Setup):
        self.code = get_code(setup.payload)
        self.setup, self.stacks = setup, setup.stacks
        self.streams: dict[int, _Stream] = {}  # over flows
        self.receptions: dict[int, _Reception] = {}
        self.early: dict[int, set[int]] = {}  # over subflows: source packets that came before their unit was known

    rows = Rows

    def codes(self, stack: int) -> bool:
        """Return whether the packets of a stack carry the bytes of a code."""
        return _codes(self.stacks[stack].layer)

    def stale(self, packet: Any, stack: int, flow: int, coder: Any, units: Any, option: Any = None) -> int:
        """Return 1 for a packet that tells its receiver nothing new of a unit that it cannot decode yet, else 0.

        Parameters
        ----------
        packet, coder : record
            The packet, and what its layer keeps for the subflow.
        stack, flow : int
            Numbers.
        units : sequence of records
            All units.
        option : record, optional
            What the layer keeps in the header of the packet.
        """
        layer = self.stacks[stack].layer
        if layer.combination is not None:
            coded = packet.kind == CODED
            mixed = layer.combination(option) if coded else {packet.data: 1}
            self.stream(flow, stack).take(mixed, coded=coded)
            return 0
        in_unit = layer.unit_packet(layer.params, coder, units, packet) if layer.unit_packet else None
        if in_unit is None:
            return 0
        if in_unit.unit == NONE:
            self.early.setdefault(packet.sub, set()).add(in_unit.first_segment)
            return 0
        reception = self.receptions.setdefault(in_unit.unit, _Reception())
        if in_unit.k == 0:
            reception.numbers.append(in_unit.packet_id)
        if in_unit.k == 0 or reception.decoded:
            return 0
        return self._take(reception, in_unit, packet.sub, flow, self.stacks[stack].transport.params.mss_bytes)

    def stream(self, flow: int, stack: int) -> _Stream:
        """Return the receiver of a flow; it keeps twice what the sender can have sent and not acknowledged."""
        if flow not in self.streams:
            each = stack_state(self.stacks[stack])
            segments = -(-int(self.setup.flows.flow_bytes[flow]) // each.mss_bytes)
            window = min(segments, 2 * each.stream_segments)
            self.streams[flow] = _Stream(flow, window_packets=window, packet_bytes=each.mss_bytes)
        return self.streams[flow]

    def _take(self, reception: _Reception, in_unit: UnitPacket, sub: int, flow: int, packet_bytes: int) -> int:
        """Give a packet to the decoder of its unit; return whether it needs as many more as before."""
        total, number = self._packets(in_unit)
        decoder = reception.decoder
        if decoder is None:
            reception.source = _source(in_unit, flow, packet_bytes)
            early = self.early.get(sub, set())
            reception.numbers += [i for i in range(in_unit.k) if in_unit.first_segment + i in early]
        if decoder is None or number >= decoder.n:
            decoder = self._prepare(reception, in_unit, total)
        missing = decoder.missing
        decoder.add(number, reception.coded[number])
        reception.numbers.append(number)
        if decoder.complete:
            _compare(decoder.source(), reception.source, f"unit {in_unit.unit}")
            reception.decoded, reception.decoder = True, None
            reception.source = reception.coded = NO_BYTES
            return 0
        return int(decoder.missing == missing)

    def _packets(self, in_unit: UnitPacket) -> tuple[int, int]:
        """Return how many packets of a unit there are, and the number of the one that came.

        An LDPC code has as many as were fixed when the unit was closed, a Reed-Solomon code no more than its field has
        elements: what is sent beyond begins again with the first. The others have as many as are asked for.
        """
        if self.code is LdpcStaircase:
            total = max(in_unit.n, in_unit.k + LEAST_LDPC_REPAIR)
            return total, in_unit.packet_id % total
        if self.code is ReedSolomon and max(in_unit.n, in_unit.packet_id + 1) > FIELD:
            return FIELD, in_unit.packet_id % FIELD
        if in_unit.packet_id < in_unit.n:
            return in_unit.n, in_unit.packet_id
        return max(min(in_unit.k + in_unit.n, FIELD), in_unit.packet_id + 1), in_unit.packet_id

    def _prepare(self, reception: _Reception, in_unit: UnitPacket, total: int) -> Decoder:
        """Make a decoder for so many packets of a unit, which has what came before."""
        options = {} if self.code.default_seed is None else {"seed": 1 + in_unit.unit * KEY_STEP % (KEYS - 1)}
        code = self.code(in_unit.k, r=total - in_unit.k, packet_bytes=reception.source.shape[1], **options)
        reception.coded, reception.decoder = code.coded(reception.source), code.decoder()
        for number in reception.numbers:
            reception.decoder.add(number, reception.coded[number])
        return reception.decoder


def _source(in_unit: UnitPacket, flow: int, packet_bytes: int) -> Bytes:
    """Return the source packets of a unit: bytes that follow from the flow and the segment."""
    segments = range(in_unit.first_segment, in_unit.first_segment + in_unit.k)
    return np.stack([_segment(flow, segment, packet_bytes) for segment in segments])


def _segment(flow: int, segment: int, packet_bytes: int) -> Bytes:
    return np.random.default_rng((flow, segment)).integers(0, 256, packet_bytes, np.uint8)


def _compare(received: Bytes, source: Bytes, what: str) -> None:
    if not np.array_equal(received, source):
        raise PayloadError(f"{what} decoded to other bytes than its source: a defect of the code")
