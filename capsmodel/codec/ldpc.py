r"""LDPC-Staircase (RFC 5170): repair packets are running XORs of a few source packets.

========================  ======  ==============================  ======  =====================
Quantity                  Symbol  Name                            Unit    Equation
========================  ======  ==============================  ======  =====================
ones in a source column   N1      ``n1``                          –       RFC 5170, section 6.2
seed of the check matrix          ``seed``                        –       RFC 5170, section 5.7
receptions needed         k'      `LdpcStaircase.packets_needed`  packet  caps, section VI-A
========================  ======  ==============================  ======  =====================

Encoding costs N1 k + r XORs of packets and no multiplication. The price is that not any k packets will do: decoding
needs k' >= k of them, and k' depends on which arrive and on how hard the decoder tries. Peeling finds one symbol at a
time; Gaussian elimination over GF(2) finds all that the reception determines.
"""

import functools
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from capsmodel.checks import require
from capsmodel.codec import ldpc_decoding
from capsmodel.codec.base import Decoder, PatternCode, Recovery, SourcePlaces
from capsmodel.codec.inputs import Flags, Ints, NotEnoughPackets, Packets
from capsmodel.codec.kernels.sums import carry_out
from capsmodel.codec.ldpc_decoding import located, schedule
from capsmodel.codec.ldpc_matrix import CheckMatrix, Indices, check_matrix, checked


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


class _LdpcRecovery:
    """The XORs that give the lost source packets, and where their operands are.

    Packets beyond the sources lie in a work array: first the repair packets that are used, then what is computed.
    """

    def __init__(self, matrix: CheckMatrix, k: int, numbers: Ints) -> None:
        n = matrix.symbol_start.size - 1
        held = np.zeros(n, np.bool_)
        held[numbers] = True
        self._targets, self._start, self._operands, self.known = schedule(matrix, k, held)
        self._placement = SourcePlaces(numbers, k)
        self._repairs, self._work_rows = located(n, k, numbers, self._targets, self._operands)

    def run(self, received: Packets, source: Packets) -> None:
        """Fill `source`; see `Recovery.run`."""
        self._placement.copy(received, source)
        if self._targets.size:
            work = np.empty((*source.shape[:-2], self._work_rows, source.shape[-1]), np.uint8)
            work[..., : self._repairs.size, :] = received[..., self._repairs, :]
            carry_out(self._targets, self._start, self._operands, source, work)


_matrix = functools.lru_cache(maxsize=16)(check_matrix)


class LdpcStaircase(PatternCode):
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
    wire_number = 2
    variants = MappingProxyType({n1: MappingProxyType({"n1": n1}) for n1 in range(3, 11)})
    default_variant = 3
    default_seed = 1

    def __init__(self, k: int, *, r: int, packet_bytes: int, n1: int = 3, seed: int = 1) -> None:
        super().__init__(k, r=r, packet_bytes=packet_bytes)
        *_, self.n1, self.seed = checked(self.k, r=self.r, n1=n1, seed=seed)

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, n1={self.n1}, seed={self.seed})"

    @functools.cached_property
    def matrix(self) -> CheckMatrix:
        """Check matrix, made when it is first needed: not for a unit of which fewer than k packets come."""
        return _matrix(self.k, r=self.r, n1=self.n1, seed=self.seed)

    @functools.cached_property
    def _sums(self) -> tuple[Indices, Indices, Indices]:
        """The XORs that give the repair packets, for `carry_out`: each is the sum of the rest of its row."""
        start, symbols = self.matrix.row_start, self.matrix.row_symbols
        rows = np.arange(self.r + 1, dtype=np.int32)
        repair = rows[:-1] + np.int32(self.k)
        return repair, start - rows, symbols[symbols != np.repeat(repair, np.diff(start))]

    @classmethod
    def matrix_bytes(cls, k: int, r: int) -> int:
        """Return the memory that elimination may take, bytes: one bit for each row of H and lost symbol."""
        return r * (k + r) // 8

    def _encode(self, source: Packets, repair: Packets) -> None:
        carry_out(*self._sums, source, repair)

    def decoder(self) -> "LdpcDecoder":
        """Return a new incremental decoder for one coding unit."""
        return LdpcDecoder(self)

    def _determines(self, numbers: Ints) -> bool:
        held = np.zeros(self.n, np.bool_)
        held[numbers] = True
        return bool(ldpc_decoding.determined(self.matrix, self.k, held, True))

    def elimination_s(self, lost: float) -> float:
        """Return about how long the equations that peeling leaves take, in seconds; see `BlockCode.elimination_s`."""
        stalls = lost > (1 - 0.04 * self.n1) * self.r  # as measured: the denser the matrix, the sooner peeling ends
        return 1e-13 * self.n1 * min(lost, self.r) ** 3 if stalls else 0.0

    def recovery(self, numbers: Ints) -> Recovery:
        """Return how to decode packets of these numbers; see `PatternCode.recovery`."""
        recovery = _LdpcRecovery(self.matrix, self.k, numbers)
        if not recovery.known.all():
            raise NotEnoughPackets(max(1, self.k - numbers.size), received=numbers.size, k=self.k)
        return recovery

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
        counts = [[ldpc_decoding.packets_needed(self.matrix, self.k, row, ml) for row in rows] for ml in (False, True)]
        return PacketsNeeded(*(np.array(count).reshape(orders.shape[:-1]) for count in counts))


class LdpcDecoder(Decoder):
    """Incremental LDPC-Staircase decoder: knows at each packet whether the source is determined.

    From the k-th packet on it keeps the equations that peeling left in echelon form, so that a further packet costs
    the reduction of one equation and not an elimination of all.
    """

    def __init__(self, code: LdpcStaircase) -> None:
        super().__init__(code)
        self._code = code
        self._unsolved = self.k

    @property
    def missing(self) -> int:
        """How many more packets are needed at least; 0 once the source is determined."""
        return max(1, self.k - self.received) if self._unsolved else 0

    def known(self) -> tuple[Flags, Packets]:
        """Return which source packets are known, those found by peeling too; see `Decoder.known`."""
        if self.complete or not self._held[self.k :].any():  # without repair packets there is nothing to solve
            return super().known()
        numbers = np.flatnonzero(self._held)
        recovery = _LdpcRecovery(self._code.matrix, self.k, numbers)
        source = np.empty((self.k, self.packet_bytes), np.uint8)
        if numbers.size:
            recovery.run(self._packets[numbers], source)
        return recovery.known, source[recovery.known]

    def _absorb(self, number: int) -> None:
        if self.received == self.k:  # fewer than k never determine k sources
            self._begin()
        elif self.received > self.k and self._column[number] >= 0:
            row = np.zeros(self._basis.shape[1], np.uint64)
            row[self._column[number] // 64] = np.uint64(1) << np.uint64(self._column[number] % 64)
            self._take(row)

    def _begin(self) -> None:
        """Peel, and take the equations that are left."""
        matrix, known = self._code.matrix, self._held.copy()
        ldpc_decoding.peel(matrix, self.k, known, np.empty((self.n, 2), np.int32))
        _, unknown, equations, self._repairs = ldpc_decoding.residual(matrix, self.k, known, 0)
        self._column = np.full(self.n, -1)
        self._column[unknown] = np.arange(unknown.size)
        self._unsolved = unknown.size - self._repairs
        self._basis = np.empty((unknown.size, equations.shape[1]), np.uint64)
        self._pivots = np.zeros(unknown.size, np.bool_)
        for row in equations:
            self._take(row)

    def _take(self, equation: npt.NDArray[np.uint64]) -> None:
        """Take an equation; one whose first unknown is a source has no unknown repair packet, so it counts."""
        column = ldpc_decoding.insert(self._basis, self._pivots, equation, self._pivots.size)
        self._unsolved -= column >= self._repairs

    def _recover(self) -> Packets:
        numbers = np.flatnonzero(self._held)
        return self._code.decode(self._packets[numbers], numbers)
