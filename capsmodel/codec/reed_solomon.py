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

Packets of other programs have the same numbers (source packets 0 .. k - 1, repair packets k .. n - 1) and the same
bytes. What stands around these differs:

===========================  =============  ==========================================================================
Program                      Convention     A packet of theirs
===========================  =============  ==========================================================================
ISA-L                        ``cauchy``     a bare block; matrix of ``gf_gen_cauchy1_matrix``
pyeclib                      ``cauchy``     80 bytes of header, then the block; ``isa_l_rs_cauchy``
zfec                         ``zfec``       a bare block of ``Encoder(k, n)``; files of its command line have headers
RFC 5510                     ``rfc5510``    FEC Encoding ID 5: source block number (24 bits), encoding symbol ID (8
                                            bits), which is the number here, then the block
OpenFEC                      ``zfec``       a bare block, with its encoding symbol ID beside it
klauspost/reedsolomon,       ``backblaze``  a bare block
reed-solomon-erasure
===========================  =============  ==========================================================================

All packets of a unit have one length: the last source packet is filled with zeros, and the length of the data is sent
beside it.

*Lagrange*: the code evaluates, at the repair points, the polynomial of degree below k that takes the source bytes at
the source points: ``a_p`` = product over m of (y_p + x_m), ``1 / b_i`` = product over m other than i of (x_i + x_m).
"""

import functools
from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from capsmodel.checks import choice, require
from capsmodel.codec import linalg
from capsmodel.codec.base import Decoder, PatternCode, Recovery, SourcePlaces
from capsmodel.codec.gf256 import EXP, LOG
from capsmodel.codec.inputs import Ints, NotEnoughPackets, Packets
from capsmodel.codec.kernels.combiner import Combiner

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


@functools.lru_cache(maxsize=64)
def _tables(convention: str, k: int, r: int) -> tuple[Packets, Ints, Packets]:
    """Return points, scales (see `cauchy_recovery`) and parity matrix of a code: one for all lengths of packets."""
    points = CONVENTIONS[convention][: k + r]
    source, repair = points[:k], points[k:]
    logs = _log_differences(repair, source)
    log_a, log_b = np.zeros(r, np.int64), np.zeros(k, np.int64)
    if convention != "cauchy":
        log_a, log_b = logs.sum(axis=1), -_log_differences(source, source).sum(axis=1)
    parity: Packets = EXP[(log_a[:, None] + log_b - logs) % 255]
    parity.setflags(write=False)
    return points, np.concatenate([log_b, -log_a]), parity


class _ReedSolomonRecovery:
    """Which packets to use, where they go, and what gives the lost ones."""

    def __init__(self, points: Packets, scales: Ints, k: int, numbers: Ints) -> None:
        self._used = None
        if numbers.size > k:
            self._used = np.argsort(numbers, kind="stable")[:k]  # source packets first: they cost no arithmetic
            numbers = numbers[self._used]
        self._placement = SourcePlaces(numbers, k)
        self._lost = self._placement.lost
        self._combiner = None
        if self._lost.size:
            self._combiner = Combiner(linalg.cauchy_recovery(points, scales=scales, ids=numbers, lost=self._lost))

    def run(self, received: Packets, source: Packets) -> None:
        """Fill `source`; see `Recovery.run`."""
        if self._used is not None:
            received = received.take(self._used, -2)
        self._placement.copy(received, source)
        if self._combiner is not None:
            self._combiner.write(received, source, self._lost)


class ReedSolomon(PatternCode):
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
    wire_number = 1
    variants = MappingProxyType({number: {"convention": name} for number, name in enumerate(CONVENTIONS)})

    def __init__(self, k: int, *, r: int, packet_bytes: int, convention: str = "cauchy") -> None:
        super().__init__(k, r=r, packet_bytes=packet_bytes)
        choice("convention", convention, CONVENTIONS)
        limit = len(CONVENTIONS[convention])
        by = "" if convention == "cauchy" else f" by {convention}"
        require(self.n <= limit, f"k + r = {self.n}, but a unit{by} has at most {limit} packets: use smaller units")
        self.convention = convention
        self._points, self._scales, self.parity_matrix = _tables(convention, self.k, self.r)
        self._parity: Combiner | None = None  # made when needed; a `cached_property` would slow all attributes down

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, convention={self.convention!r})"

    def _encode(self, source: Packets, repair: Packets) -> None:
        if self._parity is None:
            self._parity = Combiner(self.parity_matrix)
        self._parity.write(source, repair)

    def decoder(self) -> "ReedSolomonDecoder":
        """Return a new incremental decoder."""
        return ReedSolomonDecoder(self)

    def _determines(self, numbers: Ints) -> bool:
        return True

    def elimination_s(self, lost: float) -> float:
        """Return 0: any k packets determine the source."""
        return 0.0

    def recovery(self, numbers: Ints) -> Recovery:
        """Return how to decode packets of these numbers; see `PatternCode.recovery`."""
        if numbers.size < self.k:
            raise NotEnoughPackets(self.k - numbers.size, received=numbers.size, k=self.k)
        return _ReedSolomonRecovery(self._points, self._scales, self.k, numbers)


class ReedSolomonDecoder(Decoder):
    """Incremental decoder: keeps packets until there are k, then solves for the lost source packets."""

    def __init__(self, code: ReedSolomon) -> None:
        super().__init__(code)
        self._code = code

    @property
    def missing(self) -> int:
        """How many more packets are needed: k less those received."""
        return self.k - self.received

    def _absorb(self, number: int) -> None:
        """Nothing is computed before the unit is complete."""

    def _recover(self) -> Packets:
        numbers = np.flatnonzero(self._held)
        return self._code.decode(self._packets[numbers], numbers)
