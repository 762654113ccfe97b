r"""Progressive decoding of linear combinations: work on each packet as it arrives, and count that work.

=======================================  ======  ==========================  ======  ===========================
Quantity                                 Symbol  Name                        Unit    Equation
=======================================  ======  ==========================  ======  ===========================
original packets in the decoding matrix  m       `WorkCount.originals`       packet  dc2mtcp u (V) decoding work
coded packets in the decoding matrix     l       `WorkCount.coded`           packet  dc2mtcp u (V) decoding work
rows compared with the arrival                   `WorkCount.rows_examined`   row     dc2mtcp u (V) decoding work
row operations carried out                       `WorkCount.row_operations`  row     dc2mtcp u (V) decoding work
products and sums in them                        `WorkCount.multiply_adds`   byte
=======================================  ======  ==========================  ======  ===========================

Both decoders keep a matrix [A | P] of coefficients and payloads in reduced row echelon form: the row of column c, if
there is one, has a 1 in column c and zeros in the columns of all other rows. A row whose coefficients are zero but
for its own 1 is a decoded packet. They differ in what an original packet (one that was not coded) costs:

- `GaussJordan` does the same with every arrival: (1) subtract from it the rows of its columns, (2) give it the row of
  its first remaining column, (3) subtract it from all other rows.
- `Preemptive` gives an original packet its own row at once. The coded row that stood there is pushed out and
  treated as newly arrived. Step (3) then looks at the coded rows only, since an original row has nothing to subtract.
"""

import struct
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from capsmodel.checks import generator
from capsmodel.codec.gf256 import INV, MUL
from capsmodel.codec.inputs import (
    NotEnoughPackets,
    PacketError,
    Packets,
    check_id,
    check_packet,
    described,
    whole_number,
)
from capsmodel.codec.linalg import add_scaled, clear_column, reduce_row, scale


@dataclass
class WorkCount:
    """Work that a progressive decoder has done so far.

    Attributes
    ----------
    originals
        Original packets taken, m.
    coded
        Coded packets taken, l.
    rows_examined
        Rows whose coefficient in the column at hand was looked at: the literature's measure of an elimination that
        treats all rows in the same way.
    row_operations
        Rows scaled or added to another, zero factors left out.
    multiply_adds
        Products in GF(2^8), each with its sum: row operations times the row's bytes.
    """

    originals: int = 0
    coded: int = 0
    rows_examined: int = 0
    row_operations: int = 0
    multiply_adds: int = 0


class ProgressiveDecoder(ABC):
    """Decoder of a window of `columns` source packets from originals and linear combinations of them.

    Parameters
    ----------
    columns : int
        Source packets in the window, >= 1.
    packet_bytes : int
        Length of each packet, byte, >= 1.
    """

    def __init__(self, columns: int, *, packet_bytes: int) -> None:
        self.columns = whole_number("columns", columns, minimum=1)
        self.packet_bytes = whole_number("packet_bytes", packet_bytes, minimum=1)
        self.work = WorkCount()
        self._rows: Packets = np.zeros((self.columns, self.columns + self.packet_bytes), np.uint8)
        self._held = np.zeros(self.columns, np.bool_)

    @property
    def rank(self) -> int:
        """Independent packets taken so far."""
        return int(np.count_nonzero(self._held))

    @property
    def decoded(self) -> npt.NDArray[np.bool_]:
        """Which source packets are known, shape (columns,)."""
        known: npt.NDArray[np.bool_] = np.count_nonzero(self._rows[:, : self.columns], axis=1) == 1
        return known & self._held

    def knows(self, column: int) -> bool:
        """Say whether source packet `column` is decoded."""
        return bool(self._held[column]) and int(np.count_nonzero(self._rows[column, : self.columns])) == 1

    def forget(self, column: int) -> None:
        """Free the column of a decoded packet for another packet.

        Raises
        ------
        NotEnoughPackets
            When the packet is not decoded yet.
        """
        self.packet(column)
        self._rows[column] = 0
        self._held[column] = False

    def packet(self, column: int) -> Packets:
        """Return source packet `column`, shape (packet_bytes,), once it is decoded.

        Raises
        ------
        NotEnoughPackets
            When it is not decoded yet.
        """
        column = check_id(column, n=self.columns)
        if not self.knows(column):
            raise NotEnoughPackets(max(1, self.columns - self.rank), received=self.rank, k=self.columns)
        return self._rows[column, self.columns :].copy()

    def add_original(self, column: int, packet: Packets) -> None:
        """Take original packet `column`; one that is known already is ignored.

        Raises
        ------
        PacketError
            When the number or the length is wrong, or the packet contradicts what was decoded.
        """
        column = check_id(column, n=self.columns)
        row = np.zeros(self._rows.shape[1], np.uint8)
        row[column] = 1
        row[self.columns :] = check_packet(packet, packet_bytes=self.packet_bytes, packet_id=column)
        self.work.originals += 1
        self._take_original(column, row)

    def add_coded(self, coefficients: Packets, packet: Packets) -> None:
        """Take the combination of all source packets with these `coefficients`, shape (columns,).

        Raises
        ------
        PacketError
            When a shape or type is wrong, all coefficients are 0, or the packet contradicts what was decoded.
        """
        if getattr(coefficients, "dtype", None) != np.uint8 or coefficients.shape != (self.columns,):
            raise PacketError(
                f"the coefficients are {described(coefficients)}, but uint8 of shape ({self.columns},) is expected"
            )
        if not coefficients.any():
            raise PacketError("all coefficients are 0: a coded packet mixes at least one source packet")
        check_packet(packet, packet_bytes=self.packet_bytes, packet_id=int(np.argmax(coefficients != 0)))
        self.work.coded += 1
        self._eliminate(np.concatenate([coefficients, packet]))

    @abstractmethod
    def _take_original(self, column: int, row: Packets) -> None:
        """Bring the original packet of `column` into the matrix."""

    @abstractmethod
    def _rows_to_clear(self) -> npt.NDArray[np.int64]:
        """Return the rows that may hold a coefficient in a new pivot's column."""

    def _reduce(self, row: Packets) -> int:
        """Subtract from `row` the rows of its columns (step 1); return its first remaining column, or -1."""
        self.work.rows_examined += self.rank
        self._count(reduce_row(self._rows, self._held, row, MUL))
        left = np.flatnonzero(row[: self.columns])
        if left.size:
            return int(left[0])
        if row.any():
            raise PacketError("the packet contradicts the packets received before: one of them is damaged")
        return -1

    def _eliminate(self, row: Packets) -> None:
        """Treat `row` as newly arrived: reduce it, give it a row, clear its column elsewhere."""
        pivot = self._reduce(row)
        if pivot >= 0:
            if row[pivot] != 1:
                scale(row, MUL[INV[row[pivot]]])
                self._count(1)
            self._place(pivot, row)

    def _place(self, pivot: int, row: Packets) -> None:
        """Give `row` its pivot's row (step 2) and subtract it from the others (step 3)."""
        others = self._rows_to_clear()
        self.work.rows_examined += others.size
        self._count(clear_column(self._rows, others, pivot, row, MUL))
        self._rows[pivot] = row
        self._held[pivot] = True

    def _count(self, row_operations: int) -> None:
        self.work.row_operations += row_operations
        self.work.multiply_adds += row_operations * self._rows.shape[1]


class GaussJordan(ProgressiveDecoder):
    r"""Progressive Gauss-Jordan elimination as in the network-coding literature: no arrival is treated specially.

    Notes
    -----
    With m originals and l coded packets each arrival examines all rows twice, :math:`O((m+l)^2)` in total.

    References
    ----------
    dc2mtcp u (V) decoding work.

    Examples
    --------
    >>> decoder = GaussJordan(2, packet_bytes=1)
    >>> decoder.add_coded(np.array([1, 1], np.uint8), np.array([5], np.uint8))
    >>> decoder.add_original(0, np.array([6], np.uint8))
    >>> decoder.packet(1).tolist(), decoder.work.row_operations
    ([3], 2)
    """

    def _take_original(self, column: int, row: Packets) -> None:
        self._eliminate(row)

    def _rows_to_clear(self) -> npt.NDArray[np.int64]:
        return np.flatnonzero(self._held)


class Preemptive(ProgressiveDecoder):
    r"""The preemptive decoding algorithm of DC2-MTCP: an original packet takes its own row without elimination.

    Notes
    -----
    An original packet examines only the rows of the l coded packets, a coded packet all rows once and the coded ones
    again: :math:`O(l(m+l))` in total. The paper's claim is about rows examined. An implementation that skips zero
    coefficients carries out far fewer row operations under either algorithm, see `WorkCount.row_operations`.

    References
    ----------
    dc2mtcp u (V) decoding work.

    Examples
    --------
    >>> decoder = Preemptive(2, packet_bytes=1)
    >>> decoder.add_coded(np.array([1, 1], np.uint8), np.array([5], np.uint8))
    >>> decoder.add_original(0, np.array([6], np.uint8))
    >>> decoder.packet(1).tolist(), decoder.work.row_operations
    ([3], 1)
    """

    def __init__(self, columns: int, *, packet_bytes: int) -> None:
        super().__init__(columns, packet_bytes=packet_bytes)
        self._original = np.zeros(self.columns, np.bool_)

    def forget(self, column: int) -> None:
        """Free the column of a decoded packet; see `ProgressiveDecoder.forget`."""
        super().forget(column)
        self._original[column] = False

    def _take_original(self, column: int, row: Packets) -> None:
        if self.knows(column):
            if not np.array_equal(self._rows[column], row):
                raise PacketError(f"packet {column} is known with other bytes: one of the two is damaged")
            return
        pushed_out = self._rows[column].copy() if self._held[column] else None
        self._held[column] = False
        self._original[column] = True
        self._place(column, row)
        if pushed_out is not None:
            add_scaled(pushed_out, MUL[1], row)  # its 1 in this column, against the original packet
            self._count(1)
            self._eliminate(pushed_out)

    def _rows_to_clear(self) -> npt.NDArray[np.int64]:
        return np.flatnonzero(self._held & ~self._original)


C_MAX = 15
TCP_OPTION_BYTES = 40
_MAX_OFFSET = 0xFFFF


@dataclass(frozen=True)
class Dc2Option:
    """Which original packets a packet mixes, and with which coefficients.

    Parameters
    ----------
    offsets : tuple of int
        DSN of each mixed packet less the packet's own DSN, packets: 0 first, strictly increasing, at most 65535.
        Empty for an original packet.
    coefficients : tuple of int
        Coefficient of each mixed packet, an element of GF(2^8) other than 0.

    Raises
    ------
    PacketError
        When the parts do not make an option: the text says which rule is broken.

    References
    ----------
    dc2mtcp u (III-B) option length.

    Examples
    --------
    >>> option = Dc2Option(offsets=(0, 1, 4), coefficients=(7, 1, 200))
    >>> option.to_bytes().hex(), Dc2Option.parse(option.to_bytes()) == option
    ('03000100040701c8', True)
    """

    offsets: tuple[int, ...] = ()
    coefficients: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if len(self.offsets) != len(self.coefficients):
            raise PacketError(
                f"{len(self.offsets)} offsets but {len(self.coefficients)} coefficients: give one for each"
            )
        if self.mixed > C_MAX:
            raise PacketError(f"n = {self.mixed} packets are mixed, but the limit is {C_MAX}")
        if self.mixed and self.offsets[0] != 0:
            raise PacketError(
                f"the first offset is {self.offsets[0]}, but a coded packet has the DSN of its first packet"
            )
        steps = zip(self.offsets, self.offsets[1:], strict=False)
        if any(late <= early for early, late in steps) or any(offset > _MAX_OFFSET for offset in self.offsets):
            raise PacketError(f"offsets {self.offsets} must increase strictly and stay below 65536")
        if not all(0 < coefficient < 256 for coefficient in self.coefficients):
            raise PacketError(f"coefficients {self.coefficients} must lie in 1 .. 255")

    @property
    def mixed(self) -> int:
        """Number n of original packets mixed; 0 for an original packet."""
        return len(self.offsets)

    @property
    def fits_tcp(self) -> bool:
        """Whether the option with TCP's kind and length bytes fits into 40 bytes of options."""
        return 2 + len(self.to_bytes()) <= TCP_OPTION_BYTES

    def to_bytes(self) -> bytes:
        """Return the option: 3n - 1 bytes, or one byte for an original packet."""
        return struct.pack(f">B{max(0, self.mixed - 1)}H", self.mixed, *self.offsets[1:]) + bytes(self.coefficients)

    @classmethod
    def parse(cls, option: bytes) -> "Dc2Option":
        """Return the option that these bytes hold.

        Raises
        ------
        PacketError
            When the length does not belong to the count n, or a rule of the layout is broken.
        """
        if not option:
            raise PacketError("the DC2 option is empty: it holds at least the count n")
        n = option[0]
        expected = 3 * n - 1 if n else 1
        if len(option) != expected:
            raise PacketError(f"the DC2 option has {len(option)} bytes, but n = {n} takes {expected}")
        if n == 0:
            return cls()
        fields = struct.unpack(f">{n - 1}H{n}B", option[1:])
        return cls(offsets=(0, *fields[: n - 1]), coefficients=fields[n - 1 :])


class Dc2Mixer:
    r"""Time-scattering encoder: mixes one original packet at a time into the coded packet under construction.

    Parameters
    ----------
    packet_bytes : int
        Length of each packet, byte, >= 1.
    rng
        Source of the coefficients, anything `numpy.random.default_rng` takes.

    Notes
    -----
    :math:`C \leftarrow C + \alpha_i P_i` in the gap between two packets; :math:`\alpha_i` is uniform on 1 .. 255. The
    products come from logarithms, :math:`a b = \alpha^{\log a + \log b}`, tabulated once for all pairs. Packets may
    be mixed in any order: pre-coding goes forward, post-coding backward through the window.

    References
    ----------
    dc2mtcp u (IV-C) coded packet.

    Examples
    --------
    >>> mixer = Dc2Mixer(packet_bytes=2, rng=1)
    >>> mixer.mix(9, np.array([1, 2], np.uint8))
    >>> mixer.mix(7, np.array([3, 4], np.uint8))
    >>> dsn, option, packet = mixer.finish()
    >>> dsn, option.offsets
    (7, (0, 2))
    """

    def __init__(self, *, packet_bytes: int, rng: np.random.Generator | int | None = None) -> None:
        self.packet_bytes = whole_number("packet_bytes", packet_bytes, minimum=1)
        self._rng = generator(rng)
        self._restart()

    def _restart(self) -> None:
        self._sum: Packets = np.zeros(self.packet_bytes, np.uint8)
        self._factors: dict[int, int] = {}

    def mix(self, dsn: int, packet: Packets) -> None:
        """Add one original packet, shape (packet_bytes,), to the coded packet.

        Raises
        ------
        PacketError
            When the packet has the wrong number or length, is mixed in already, is one too many, or lies too far off.
        """
        _check_dsn(dsn)
        check_packet(packet, packet_bytes=self.packet_bytes, packet_id=dsn)
        if dsn in self._factors:
            raise PacketError(f"packet {dsn} is in this coded packet already: mix each packet once")
        if len(self._factors) == C_MAX:
            raise PacketError(f"this coded packet mixes {C_MAX} packets already: finish it first")
        dsns = [dsn, *self._factors]
        if max(dsns) - min(dsns) > _MAX_OFFSET:
            raise PacketError(f"packets {min(dsns)} and {max(dsns)} are too far apart for a 16-bit offset")
        factor = int(self._rng.integers(1, 256))
        add_scaled(self._sum, MUL[factor], packet)
        self._factors[dsn] = factor

    def finish(self) -> tuple[int, Dc2Option, Packets]:
        """Return DSN, option and payload of the coded packet, and start a new one.

        Raises
        ------
        PacketError
            When no packet was mixed.
        """
        if not self._factors:
            raise PacketError("the coded packet is empty: mix at least one packet")
        dsns = sorted(self._factors)
        offsets = tuple(dsn - dsns[0] for dsn in dsns)
        coefficients = tuple(self._factors[dsn] for dsn in dsns)
        payload = self._sum
        self._restart()
        return dsns[0], Dc2Option(offsets, coefficients), payload


class Dc2Receiver:
    """Connection-level decoder: originals and coded packets of all subflows in, original packets in order out.

    Parameters
    ----------
    packet_bytes : int
        Length of each packet, byte, >= 1.
    window_packets : int
        Columns of the decoding matrix, packets: how far a packet may be ahead of the next one to deliver, and how
        long delivered packets are kept to be taken out of later coded packets.
    preemptive : bool
        Decode with the preemptive algorithm (the default) or by Gauss-Jordan elimination.

    References
    ----------
    dc2mtcp, section V.

    Examples
    --------
    >>> receiver = Dc2Receiver(packet_bytes=1, window_packets=8)
    >>> receiver.add(0, Dc2Option((0, 1), (1, 1)), np.array([7], np.uint8)).tolist()  # P0 + P1
    []
    >>> receiver.add(1, Dc2Option(), np.array([5], np.uint8)).tolist()  # P1 arrives, P0 follows from both
    [[2], [5]]
    """

    def __init__(self, *, packet_bytes: int, window_packets: int = 128, preemptive: bool = True) -> None:
        algorithm: type[ProgressiveDecoder] = Preemptive if preemptive else GaussJordan
        self.matrix = algorithm(whole_number("window_packets", window_packets, minimum=1), packet_bytes=packet_bytes)
        self.next_dsn = 0
        self._oldest = 0

    def add(self, dsn: int, option: Dc2Option, packet: Packets) -> Packets:
        """Take one packet and return the original packets that it lets through, in order, shape (m, packet_bytes).

        Raises
        ------
        PacketError
            When the number is wrong, or the packet lies beyond the window, mixes a packet that is no longer kept, has
            the wrong length, or contradicts what was decoded.
        """
        _check_dsn(dsn)
        last = dsn + (option.offsets[-1] if option.mixed else 0)
        if last < self._oldest:
            return self._deliver()  # nothing in it is still of use
        self._make_room(dsn, last)
        size = self.matrix.columns
        if option.mixed:
            coefficients = np.zeros(size, np.uint8)
            coefficients[[(dsn + offset) % size for offset in option.offsets]] = option.coefficients
            self.matrix.add_coded(coefficients, packet)
        else:
            self.matrix.add_original(dsn % size, packet)
        return self._deliver()

    def _make_room(self, first: int, last: int) -> None:
        """Forget delivered packets until `last` fits, or say why `first` .. `last` cannot be taken."""
        size = self.matrix.columns
        oldest = max(self._oldest, last - size + 1)
        if oldest > self.next_dsn:
            raise PacketError(
                f"packet {last} is more than window_packets = {size} ahead of packet {self.next_dsn}, the next to "
                "deliver: enlarge window_packets"
            )
        if first < oldest:
            raise PacketError(
                f"the coded packet mixes packet {first}, but packets before {oldest} are no longer kept: "
                "enlarge window_packets"
            )
        for gone in range(self._oldest, oldest):
            self.matrix.forget(gone % size)
        self._oldest = oldest

    def _deliver(self) -> Packets:
        """Return the packets from `next_dsn` on that are decoded without a gap."""
        size = self.matrix.columns
        out = []
        while self.next_dsn < self._oldest + size and self.matrix.knows(self.next_dsn % size):
            out.append(self.matrix.packet(self.next_dsn % size))
            self.next_dsn += 1
        return np.array(out, np.uint8).reshape(len(out), self.matrix.packet_bytes)


def _check_dsn(dsn: int) -> None:
    """Raise PacketError unless `dsn` is a data sequence number: a whole number of at least 0."""
    if not isinstance(dsn, int | np.integer) or isinstance(dsn, bool) or dsn < 0:
        raise PacketError(f"dsn = {dsn!r}, but data sequence numbers are whole numbers from 0 on")
