r"""Systematic Reed-Solomon codes over GF(2^8): any k of the n = k + r packets give the source (MDS).

================  =========  =====================  ====================================================
Quantity          Symbol     Name                   Meaning
================  =========  =====================  ====================================================
source point      x_i        ``points[i]``          field element of source packet i
repair point      y_p        ``points[k + p]``      field element of repair packet p
parity matrix     P          ``parity_matrix``      repair packet p = sum over i of P[p, i] source packet i
================  =========  =====================  ====================================================

Every convention here has a parity matrix of Cauchy type, ``P[p, i] = a_p b_i / (y_p + x_i)``:

==============  ===================================  ==================  ==========================================
Convention      Points, source packets first         a_p, b_i            Who uses it
==============  ===================================  ==================  ==========================================
``cauchy``      0, 1, 2, ...                         1                   ISA-L (Cauchy), klauspost/reedsolomon (Cauchy)
``zfec``        0, alpha^0, alpha^1, ...             Lagrange            zfec, OpenFEC
``rfc5510``     alpha^0, alpha^1, ...                Lagrange            RFC 5510 as written
``backblaze``   0, 1, 2, ...                         Lagrange            klauspost/reedsolomon, reed-solomon-erasure
==============  ===================================  ==================  ==========================================

*Lagrange*: the code evaluates, at the repair points, the polynomial of degree below k that takes the source bytes at
the source points: ``a_p`` = product over m of (y_p + x_m), ``1 / b_i`` = product over m other than i of (x_i + x_m).
"""

import functools
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from numba import types

from capsmodel.checks import choice, require
from capsmodel.codec import linalg
from capsmodel.codec.base import BlockCode, Decoder, Packets, check_received, check_source
from capsmodel.codec.combiner import Combiner
from capsmodel.codec.gf256 import EXP, LOG
from capsmodel.codec.jit import compiled
from capsmodel.codec.linalg import Ints

FIELD_ELEMENTS = np.arange(256, dtype=np.uint8)

CONVENTIONS: Mapping[str, Packets] = MappingProxyType(
    {
        "cauchy": FIELD_ELEMENTS,
        "zfec": np.concatenate([FIELD_ELEMENTS[:1], EXP[:255]]),
        "rfc5510": EXP[:255],
        "backblaze": FIELD_ELEMENTS,
    }
)


def _log_differences(points: Packets, others: Packets) -> Ints:
    """Return log(point + other), shape (points, others); 0 where they are equal, so that a product skips the pair."""
    logs: Packets = LOG[points[:, None] ^ others]
    return logs.astype(np.int64)


def _place(received: Packets, ids: Ints, source: Packets) -> Ints:
    """Copy the source packets among those received to their places; return the numbers of those that are lost."""
    is_lost = np.ones(source.shape[0], np.bool_)
    for i in range(ids.size):
        if ids[i] < source.shape[0]:
            target, packet = source[ids[i]], received[i]
            for j in range(target.size):  # one-dimensional, so that LLVM makes it a block copy
                target[j] = packet[j]
            is_lost[ids[i]] = False
    return np.flatnonzero(is_lost)


@functools.cache
def _compiled_place() -> Any:
    received, ids = types.Array(types.uint8, 2, "C", readonly=True), types.Array(types.int64, 1, "C", readonly=True)
    return compiled(_place, types.int64[::1](received, ids, types.uint8[:, ::1]))


class ReedSolomon(BlockCode):
    """Systematic Reed-Solomon code over GF(2^8) modulo 0x11d.

    Parameters
    ----------
    k : int
        Source packets of a coding unit, k >= 1.
    r : int
        Repair packets of a coding unit, r >= 0; k + r <= 256 (255 for ``rfc5510``).
    packet_bytes : int
        Length of each packet in bytes, >= 1.
    convention : {"cauchy", "zfec", "rfc5510", "backblaze"}
        Evaluation points and scales; sender and receiver must agree.

    Attributes
    ----------
    parity_matrix : array of uint8, shape (r, k)
        Repair packets = parity_matrix . source packets.

    Raises
    ------
    ParameterError
        When an argument is out of range or the convention is unknown.

    References
    ----------
    caps IV and cdcps V-A assume a code of which any k of n packets decode; this one has that property.

    Examples
    --------
    >>> code = ReedSolomon(3, r=2, packet_bytes=4)
    >>> source = np.arange(12, dtype=np.uint8).reshape(3, 4)
    >>> coded = np.vstack([source, code.encode(source)])
    >>> bool(np.array_equal(code.decode(coded[[4, 1, 3]], [4, 1, 3]), source))
    True
    """

    name: ClassVar[str] = "rs"

    def __init__(self, k: int, *, r: int, packet_bytes: int, convention: str = "cauchy") -> None:
        super().__init__(k, r=r, packet_bytes=packet_bytes)
        choice("convention", convention, CONVENTIONS)
        limit = len(CONVENTIONS[convention])
        require(
            self.n <= limit, f"k + r = {self.n}, but GF(2^8) has {limit} points for {convention!r}: use smaller units"
        )
        self.convention = convention
        self._points = CONVENTIONS[convention][: self.n]
        source, repair = self._points[: self.k], self._points[self.k :]
        logs = _log_differences(repair, source)
        log_a, log_b = np.zeros(self.r, np.int64), np.zeros(self.k, np.int64)
        if convention != "cauchy":
            log_a, log_b = logs.sum(axis=1), -_log_differences(source, source).sum(axis=1)
        self._scales = np.concatenate([log_b, -log_a])
        self.parity_matrix: Packets = EXP[(log_a[:, None] + log_b - logs) % 255]
        self._parity = Combiner(self.parity_matrix)

    def encode(self, source: Packets) -> Packets:
        """Return the repair packets, shape (r, packet_bytes); see :meth:`BlockCode.encode`."""
        return self._parity(check_source(source, k=self.k, packet_bytes=self.packet_bytes))

    def decode(self, received: Packets, ids: npt.ArrayLike) -> Packets:
        """Return the source packets from any k packets; see :meth:`BlockCode.decode`."""
        packets, numbers = check_received(received, ids, n=self.n, packet_bytes=self.packet_bytes)
        if numbers.size == self.k == len(set(numbers.tolist())):
            return self.solve(packets, numbers)
        return super().decode(packets, numbers)

    def decoder(self) -> "ReedSolomonDecoder":
        """Return a new incremental decoder."""
        return ReedSolomonDecoder(self)

    def solve(self, received: Packets, ids: Ints) -> Packets:
        """Return the source from exactly k packets with distinct numbers `ids`, all checked before."""
        source = np.empty((self.k, self.packet_bytes), np.uint8)
        received = np.ascontiguousarray(received)
        lost = _compiled_place()(received, ids, source)
        if lost.size:
            recovery = linalg.cauchy_recovery(self._points, scales=self._scales, ids=ids, lost=lost)
            source[lost] = Combiner(recovery)(received)
        return source


class ReedSolomonDecoder(Decoder):
    """Incremental decoder: keeps packets until there are k, then solves for the lost source packets once."""

    def __init__(self, code: ReedSolomon) -> None:
        super().__init__(code)
        self._solve: Callable[[Packets, Ints], Packets] = code.solve
        self._missing = self.k
        self._source: Packets | None = None

    @property
    def missing(self) -> int:
        """How many more packets are needed: k less those received."""
        return self._missing

    def _absorb(self, number: int) -> None:
        self._missing -= 1

    def _recover(self) -> Packets:
        if self._source is None:
            numbers = np.flatnonzero(self._held)
            self._source = self._solve(self._packets[numbers], numbers)
        return self._source
