r"""LDPC-Staircase (RFC 5170): repair packets are running XORs of a few source packets.

| Quantity | Symbol | Name | Unit | Equation |
|---|---|---|---|---|
| ones in a source column | N1 | ``n1`` | – | RFC 5170, section 6.2 |
| seed of the check matrix | | ``seed`` | – | RFC 5170, section 5.7 |
| receptions needed | k' | `LdpcStaircase.packets_needed` | packet | caps, section VI-A |

Encoding costs N1 k + r XORs of packets and no multiplication. The price is that not any k packets will do: decoding
needs k' >= k of them, and k' depends on which arrive and on how hard the decoder tries. Peeling finds one symbol at a
time; Gaussian elimination over GF(2) finds all that the reception determines.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from capsmodel.checks import require
from capsmodel.codec.base import BatchDecoder, BlockCode, Packets, check_received, check_source
from capsmodel.codec.ldpc_matrix import (
    CheckMatrix,
    Ints,
    check_matrix,
    determined,
    eliminate,
    packets_needed,
    peel,
    residual,
    xor_into,
)

# Columns of the packets handled at a time: the running sum stays in the first-level cache, the sources of a
# 64-packet unit in the second.
_TILE_BYTES = 4096


@njit(cache=True, inline="always")
def _xor_row(target: Packets, symbols: Ints, first: int, last: int, packets: Packets, a: int, b: int) -> None:
    """XOR ``packets[symbols[first:last], a:b]`` into `target`, four packets per pass to save loads of the sum."""
    j = first
    while j + 4 <= last:
        p, q = packets[symbols[j], a:b], packets[symbols[j + 1], a:b]
        s, t = packets[symbols[j + 2], a:b], packets[symbols[j + 3], a:b]
        for x in range(b - a):
            target[x] ^= p[x] ^ q[x] ^ s[x] ^ t[x]
        j += 4
    while j < last:
        p = packets[symbols[j], a:b]
        for x in range(b - a):
            target[x] ^= p[x]
        j += 1


@njit(cache=True)
def _encode(row_start: Ints, sources: Ints, source: Packets, repair: Packets) -> None:
    """Fill repair[i] = repair[i-1] + XOR of row i's sources, one tile of columns after the other."""
    r, packet_bytes = repair.shape
    for a in range(0, packet_bytes, _TILE_BYTES):
        b = min(a + _TILE_BYTES, packet_bytes)
        for i in range(r):
            target = repair[i, a:b]
            if i:
                target[:] = repair[i - 1, a:b]
            else:
                target[:] = 0
            _xor_row(target, sources, row_start[i], row_start[i + 1], source, a, b)


@njit(cache=True)
def _replay(h: CheckMatrix, steps: Ints, packets: Packets) -> None:
    """Carry out peeling steps on the packets: symbol = XOR of the other symbols of its row."""
    packet_bytes = packets.shape[1]
    for a in range(0, packet_bytes, _TILE_BYTES):
        b = min(a + _TILE_BYTES, packet_bytes)
        for step in range(steps.shape[0]):
            row, symbol = steps[step, 0], steps[step, 1]
            target = packets[symbol, a:b]
            target[:] = 0
            first, last = h.row_start[row], h.row_start[row + 1]
            at = first + np.searchsorted(h.row_symbols[first:last], symbol)
            _xor_row(target, h.row_symbols, first, at, packets, a, b)
            _xor_row(target, h.row_symbols, at + 1, last, packets, a, b)


@njit(cache=True)
def _syndromes(h: CheckMatrix, rows: Ints, known: npt.NDArray[np.bool_], packets: Packets) -> Packets:
    """Return the XOR of each row's known symbols, shape (rows, bytes)."""
    out = np.zeros((rows.size, packets.shape[1]), dtype=np.uint8)
    for i in range(rows.size):
        for symbol in h.row_symbols[h.row_start[rows[i]] : h.row_start[rows[i] + 1]]:
            if known[symbol]:
                xor_into(out[i], packets[symbol])
    return out


class PacketsNeeded(NamedTuple):
    """Receptions k' after which all sources are known, for each order of arrival.

    Attributes
    ----------
    peeling
        With iterative decoding alone, packets.
    elimination
        With Gaussian elimination on what peeling leaves (maximum likelihood), packets.
    """

    peeling: npt.NDArray[np.int64]
    elimination: npt.NDArray[np.int64]


class LdpcStaircase(BlockCode):
    r"""LDPC-Staircase code of RFC 5170 for coding units of k source and r repair packets.

    Parameters
    ----------
    k : int
        Source packets, k >= 1; k + r at most 65535.
    r : int
        Repair packets, r >= N1.
    packet_bytes : int
        Length of each packet, byte, >= 1.
    n1 : int
        Ones in each source column, N1 in 3 .. 10; below 3 the code of the RFC does not exist.
    seed : int
        Seed of the matrix in 1 .. 2^31 - 2.

    Raises
    ------
    ParameterError
        When an argument is out of range, or N1 > r.

    Notes
    -----
    Repair packet i is the XOR of row i's source packets and of repair packet i - 1. Two consequences of the standard's
    construction: N1 = r makes every repair packet the XOR of all sources or zero, which repairs one loss; and an even
    N1 (without extra ones) makes the last repair packet zero, so that it tells a receiver nothing.

    References
    ----------
    RFC 5170; caps, section VI-A.

    Examples
    --------
    >>> code = LdpcStaircase(10, r=5, packet_bytes=24, n1=3, seed=1)
    >>> i, j = np.ogrid[:10, :24]
    >>> code.encode((7 * i + 13 * j).astype(np.uint8))[0].tobytes().hex()
    '2339370903293f290309373923190f3923d9170903295f69'
    """

    name = "ldpc"

    def __init__(self, k: int, *, r: int, packet_bytes: int, n1: int = 3, seed: int = 1) -> None:
        super().__init__(k, r=r, packet_bytes=packet_bytes)
        self.n1, self.seed = n1, seed
        self.matrix = check_matrix(self.k, r=self.r, n1=n1, seed=seed)
        is_source = self.matrix.row_symbols < self.k
        self._sources = self.matrix.row_symbols[is_source]
        self._start = np.concatenate([[0], np.cumsum(is_source)])[self.matrix.row_start].astype(np.int32)

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, n1={self.n1}, seed={self.seed})"

    def encode(self, source: Packets) -> Packets:
        """Return the repair packets, shape (r, packet_bytes), of the source packets, shape (k, packet_bytes)."""
        check_source(source, k=self.k, packet_bytes=self.packet_bytes)
        repair = np.empty((self.r, self.packet_bytes), np.uint8)
        _encode(self._start, self._sources, np.ascontiguousarray(source), repair)
        return repair

    def decoder(self) -> "LdpcDecoder":
        """Return a new incremental decoder for one coding unit."""
        return LdpcDecoder(self)

    def decode(self, received: Packets, ids: npt.ArrayLike) -> Packets:
        """Return the source packets from m received packets in any order; see `BlockCode.decode`."""
        packets, numbers = check_received(received, ids, n=self.n, packet_bytes=self.packet_bytes)
        decoder = self.decoder()
        decoder.add_all(numbers, packets)
        return decoder.source()

    def packets_needed(self, arrivals: npt.ArrayLike) -> PacketsNeeded:
        """Receptions k' until all sources are known, packets: k'/k is the inefficiency of the code.

        Parameters
        ----------
        arrivals : array of int, shape (orders, n) or (n,)
            Orders in which the n packets of a unit arrive; each row holds the numbers 0 .. n - 1 once.

        Returns
        -------
        PacketsNeeded
            Two arrays of int, shape (orders,), or 0-d for one order; between k and n.

        Raises
        ------
        ParameterError
            When a row is not a permutation of 0 .. n - 1.

        References
        ----------
        caps, section VI-A.

        Examples
        --------
        >>> needed = LdpcStaircase(10, r=5, packet_bytes=1).packets_needed(np.arange(15)[::-1])
        >>> int(needed.peeling), int(needed.elimination)
        (12, 12)
        """
        orders = np.asarray(arrivals)
        rows = np.atleast_2d(orders)
        all_numbers = np.broadcast_to(np.arange(self.n), (len(rows), self.n))
        complete = np.array_equal(np.sort(rows, axis=1), all_numbers)
        require(complete, f"arrivals must hold each packet number 0 to {self.n - 1} once in a row: use a permutation")
        rows = rows.astype(np.int64)
        counts = [[packets_needed(self.matrix, self.k, row, ml) for row in rows] for ml in (False, True)]
        return PacketsNeeded(*(np.array(count).reshape(orders.shape[:-1]) for count in counts))


class LdpcDecoder(BatchDecoder):
    """Incremental LDPC-Staircase decoder: peeling, then Gaussian elimination on what is left."""

    def __init__(self, code: LdpcStaircase) -> None:
        super().__init__(code)
        self._matrix = code.matrix
        self._complete = False

    @property
    def missing(self) -> int:
        """How many more packets are needed at least; 0 once the source is determined."""
        return 0 if self._complete else max(1, self.k - self.received)

    def _absorb_all(self, numbers: npt.NDArray[np.int64]) -> None:
        self._complete = determined(self._matrix, self.k, self._held, True)

    def _absorb(self, number: int) -> None:
        if self.received >= self.k:  # fewer than k never determine k sources
            self._complete = determined(self._matrix, self.k, self._held, True)

    def _recover(self) -> Packets:
        known = self._held.copy()
        steps = np.empty((self.n, 2), np.int32)
        n_steps = peel(self._matrix, self.k, known, steps)
        _replay(self._matrix, steps[:n_steps], self._packets)
        if not known[: self.k].all():
            self._eliminate(known)
        return self._packets[: self.k].copy()

    def _eliminate(self, known: npt.NDArray[np.bool_]) -> None:
        """Solve for the sources that peeling left unknown and write them into the packets."""
        rows, unknown, bits, repairs = residual(self._matrix, self.k, known)
        data = _syndromes(self._matrix, rows, known, self._packets)
        order = np.empty(unknown.size, np.int32)
        eliminate(bits, unknown.size, repairs, data, order)
        sources = unknown[repairs:]
        self._packets[sources] = data[order[: sources.size]]
