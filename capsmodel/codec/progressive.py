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

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from capsmodel.codec.elimination import add_scaled, clear_column, reduce_row, scale
from capsmodel.codec.errors import NotEnoughPackets, PacketError, Packets
from capsmodel.codec.gf256 import INV, MUL
from capsmodel.codec.inputs import check_id, check_packet, described, whole_number


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
