r"""Random linear network code over GF(2^8): packets are random combinations of the source packets.

========================  =============  ===========================  ==================  =============================
Quantity                  Symbol         Name                         Unit                Equation
========================  =============  ===========================  ==================  =============================
combination               C = Σ α_i P_i  `RandomLinear.coded`         packet              dc2mtcp u (IV-C) coded packet
coefficients of packet p  α              `RandomLinear.coefficients`  element of GF(2^8)  RFC 8681, section 3.6
rank of what arrived                     `RandomLinearDecoder.rank`   packet              cdcps, section V-A
========================  =============  ===========================  ==================  =============================

A packet carries no coefficients. Its repair key, (seed + packet number) mod 2^16, seeds TinyMT32, from which both ends
draw them. Any k packets with independent coefficients decode; k random packets are dependent with a probability of
about 1/255, so this code needs the rank and not the count.
"""

import functools
from contextlib import suppress
from types import MappingProxyType

import numpy as np

from capsmodel.checks import require
from capsmodel.codec.base import COEFFICIENTS_PER_S
from capsmodel.codec.combiner import Combiner, combine
from capsmodel.codec.decoder import Decoder
from capsmodel.codec.elimination import absorb
from capsmodel.codec.errors import CodecError, Flags, Ints, NotEnoughPackets, Packets
from capsmodel.codec.inputs import check_units, flag, whole_number
from capsmodel.codec.linalg import inverse
from capsmodel.codec.recovery import PatternCode, Placement, Recovery
from capsmodel.codec.tinymt import DENSE, coefficients

_KEYS = 0x10000  # repair keys have 16 bits (RFC 8681)
_MAX_COEFFICIENTS = 1 << 26
_KEPT_COEFFICIENTS = 1 << 20  # up to here all are drawn once; beyond, a decoder draws those of the packets it gets
_DRAWING = 30  # to draw a coefficient takes as long as to combine so many


class _Recovery:
    """Which packets to use, where they go, and the combinations that are the lost ones."""

    def __init__(self, code: "RandomLinear", numbers: Ints) -> None:
        ranked = np.argsort(numbers, kind="stable")  # source packets first: they cost no arithmetic
        count = int(np.count_nonzero(numbers < code.k)) if code.systematic else 0
        known, coded = numbers[ranked[:count]], numbers[ranked[count:]]
        self._placement = Placement(known, code.k)
        self._lost = lost = self._placement.lost
        rows = code.rows(coded)
        chosen, solution = _solved(rows[:, lost])
        if solution is None:
            raise NotEnoughPackets(lost.size - chosen.size, received=numbers.size, k=code.k)
        self._used = np.concatenate([ranked[:count], ranked[count:][chosen]])
        self._combiner = None
        if known.size and lost.size:
            share = combine(solution, rows[chosen[:, None], known])  # of the known sources in the lost ones
            solution = np.concatenate([share, solution], axis=1)
        if lost.size:
            self._combiner = Combiner(solution)

    def run(self, received: Packets, source: Packets) -> None:
        """Fill `source`; see `Recovery.run`."""
        used = received[:, self._used]
        self._placement.copy(used, source)
        if self._combiner is not None:
            self._combiner.write(used, source, self._lost)


def _solved(rows: Packets) -> tuple[Ints, Packets | None]:
    """Return independent rows of a matrix, and the inverse of these if they are as many as the columns."""
    size = rows.shape[1]
    if len(rows) == size:  # as a rule as many random rows as columns are independent
        with suppress(CodecError):
            return np.arange(size), inverse(rows)
    chosen = np.flatnonzero(_innovative(rows))
    return chosen, inverse(rows[chosen]) if chosen.size == size else None


def _innovative(rows: Packets) -> Flags:
    """Say which rows of coefficients are independent of those before them."""
    size = rows.shape[1]
    return absorb(np.empty((size, size), np.uint8), np.zeros(size, np.bool_), np.array(rows, order="C"))


class RandomLinear(PatternCode):
    r"""Random linear code over GF(2^8) for coding units of k source and r repair packets.

    Parameters
    ----------
    k : int
        Source packets, k >= 1; k + r at most 65536, one repair key each.
    r : int
        Repair packets, r >= 0.
    packet_bytes : int
        Length of each packet, byte, >= 1.
    seed : int
        Repair key of packet 0, in [0, 65535].
    systematic : bool
        Send the source packets as they are (the default), or code all n packets.
    density : int
        Density threshold DT in [0, 15]: a coefficient is non-zero with probability (DT + 1)/16.

    Raises
    ------
    ParameterError
        When an argument is out of range.

    Notes
    -----
    Packet p is :math:`\sum_i \alpha_{p,i} P_i` with the coefficients of repair key (seed + p) mod 2^16. Sums and
    products are those of GF(2^8) modulo 0x11d. With `systematic`, packets 0 to k - 1 are the source.

    References
    ----------
    RFC 8681, section 3.6; cdcps, section V-A; dc2mtcp u (IV-C) coded packet.

    Examples
    --------
    >>> code = RandomLinear(16, r=1, packet_bytes=24, seed=65521)
    >>> i, j = np.ogrid[:16, :24]
    >>> code.encode((7 * i + 13 * j).astype(np.uint8))[0].tobytes().hex()  # repair key 65521 + 16 = 1
    'bef8cc8fc5a7228a3ae6b3c2403b49a3c257b0fb9f2a7f79'
    """

    name = "rlnc"
    wire_number = 3
    # Bit 0: all packets are coded; the bits above it: 15 less the density threshold.
    variants = MappingProxyType(
        {
            number: MappingProxyType({"systematic": number % 2 == 0, "density": DENSE - number // 2})
            for number in range(2 * DENSE + 2)
        }
    )
    default_seed = 0

    def __init__(
        self, k: int, *, r: int, packet_bytes: int, seed: int = 0, systematic: bool = True, density: int = DENSE
    ) -> None:
        super().__init__(k, r=r, packet_bytes=packet_bytes)
        self.seed = whole_number("seed", seed, minimum=0)
        require(self.seed < _KEYS, f"seed = {seed}, but a repair key has 16 bits: reduce it modulo 2**16")
        require(self.n <= _KEYS, f"k + r = {self.n}, but there are 65536 repair keys: use smaller coding units")
        require(
            self.n * self.k <= _MAX_COEFFICIENTS,
            f"k = {k}, r = {r} take {self.n * self.k} coefficients, but the limit is 2**26: use smaller coding units",
        )
        self.systematic = flag("systematic", systematic)
        self.density = whole_number("density", density, minimum=0, maximum=DENSE)

    def __repr__(self) -> str:
        options = f"seed={self.seed}, systematic={self.systematic}, density={self.density}"
        return f"{super().__repr__()[:-1]}, {options})"

    @functools.cached_property
    def coefficients(self) -> Packets:
        """Coefficients of every packet, shape (n, k), drawn when they are first asked for."""
        return self._drawn(np.arange(self.n))

    def rows(self, numbers: Ints) -> Packets:
        """Return the coefficients of the packets `numbers`, shape (m, k), in a new array."""
        if self.n * self.k <= _KEPT_COEFFICIENTS:
            kept: Packets = self.coefficients[numbers]
            return kept
        return self._drawn(numbers)

    def _drawn(self, numbers: Ints) -> Packets:
        drawn = coefficients((self.seed + numbers) % _KEYS, count=self.k, density=self.density)
        if self.systematic:
            is_source = numbers < self.k
            drawn[is_source] = 0
            drawn[is_source, numbers[is_source]] = 1
        return drawn

    @functools.cached_property
    def _repair(self) -> Combiner:
        return Combiner(self.coefficients[self.k :])

    @functools.cached_property
    def _all(self) -> Combiner:
        return Combiner(self.coefficients)

    def _encode(self, source: Packets, repair: Packets) -> None:
        self._repair.write(source, repair)

    def coded(self, source: Packets) -> Packets:
        """Return all n packets to send, shape (n, packet_bytes); random combinations throughout unless systematic."""
        if self.systematic:
            return super().coded(source)
        check_units("the source is", source, rows=self.k, packet_bytes=self.packet_bytes)
        return self._all(source)

    def decoder(self) -> "RandomLinearDecoder":
        """Return a new incremental decoder for one coding unit."""
        return RandomLinearDecoder(self)

    def _determines(self, numbers: Ints) -> bool:
        known = numbers[numbers < self.k] if self.systematic else numbers[:0]
        rows = np.delete(self.rows(numbers[known.size :]), known, axis=1)  # the columns that are left to determine
        return bool(np.count_nonzero(_innovative(rows)) == rows.shape[1])

    def elimination_s(self, lost: float) -> float:
        """Return about how long it takes to draw and to solve the equations; see `BlockCode.elimination_s`."""
        unknown = self.k * lost / self.n if self.systematic else self.k
        equations = self.n - lost - (self.k - unknown)
        return equations * (unknown**2 + _DRAWING * self.k) / COEFFICIENTS_PER_S

    def recovery(self, numbers: Ints) -> Recovery:
        """Return how to decode packets of these numbers; see `PatternCode.recovery`."""
        return _Recovery(self, numbers)


class RandomLinearDecoder(Decoder):
    """Incremental decoder that keeps count of the rank: a packet that depends on earlier ones adds nothing."""

    def __init__(self, code: RandomLinear) -> None:
        super().__init__(code)
        self._code = code
        self._echelon: Packets = np.empty((code.k, code.k), np.uint8)
        self._pivots = np.zeros(code.k, np.bool_)
        self._rank = 0

    @property
    def rank(self) -> int:
        """Independent packets received so far; k of them determine the source."""
        return self._rank

    @property
    def missing(self) -> int:
        """How many more independent packets are needed; 0 once the source is determined."""
        return self.k - self.rank

    def _absorb(self, number: int) -> None:
        self._rank += int(absorb(self._echelon, self._pivots, self._code.rows(np.array([number])))[0])

    def _recover(self) -> Packets:
        numbers = np.flatnonzero(self._held)
        return self._code.decode(self._packets[numbers], numbers)
