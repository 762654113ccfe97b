r"""Random linear network code over GF(2^8): packets are random combinations of the source packets.

| Quantity | Symbol | Name | Unit | Equation |
|---|---|---|---|---|
| combination | C = Σ α_i P_i | `RandomLinear.coded` | packet | dc2mtcp u (IV-C) coded packet |
| coefficients of packet p | α | `RandomLinear.coefficients` | element of GF(2^8) | RFC 8681, section 3.6 |
| rank of what arrived | | `RandomLinearDecoder.rank` | packet | cdcps, section V-A |

A packet carries no coefficients. Its repair key, (seed + packet number) mod 2^16, seeds TinyMT32, from which both ends
draw them. Any k packets with independent coefficients decode; k random packets are dependent with a probability of
about 1/255, so this code needs the rank and not the count.
"""

from contextlib import suppress

import numpy as np
import numpy.typing as npt

from capsmodel.checks import require
from capsmodel.codec.base import (
    BatchDecoder,
    BlockCode,
    CodecError,
    Packets,
    check_received,
    check_source,
    whole_number,
)
from capsmodel.codec.combiner import Combiner
from capsmodel.codec.elimination import absorb
from capsmodel.codec.linalg import inverse
from capsmodel.codec.tinymt import DENSE, coefficients

_KEYS = 0x10000  # repair keys have 16 bits (RFC 8681)
_MAX_COEFFICIENTS = 1 << 26


class RandomLinear(BlockCode):
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
        self.systematic, self.density = bool(systematic), density
        keys = (self.seed + np.arange(self.n)) % _KEYS
        self.coefficients = coefficients(keys, count=self.k, density=density)
        if systematic:
            self.coefficients[: self.k] = np.eye(self.k, dtype=np.uint8)
        self._repair = Combiner(self.coefficients[self.k :])
        self._all = self._repair if systematic else Combiner(self.coefficients)

    def __repr__(self) -> str:
        options = f"seed={self.seed}, systematic={self.systematic}, density={self.density}"
        return f"{super().__repr__()[:-1]}, {options})"

    def encode(self, source: Packets) -> Packets:
        """Return the repair packets, shape (r, packet_bytes), of the source packets, shape (k, packet_bytes)."""
        return self._repair(check_source(source, k=self.k, packet_bytes=self.packet_bytes))

    def coded(self, source: Packets) -> Packets:
        """Return all n packets to send, shape (n, packet_bytes); random combinations throughout unless systematic."""
        if self.systematic:
            return super().coded(source)
        return self._all(check_source(source, k=self.k, packet_bytes=self.packet_bytes))

    def decoder(self) -> "RandomLinearDecoder":
        """Return a new incremental decoder for one coding unit."""
        return RandomLinearDecoder(self)

    def decode(self, received: Packets, ids: npt.ArrayLike) -> Packets:
        """Return the source packets from m received packets in any order; see `BlockCode.decode`."""
        packets, numbers = check_received(received, ids, n=self.n, packet_bytes=self.packet_bytes)
        if numbers.size == self.k and not self.systematic:  # as a rule k packets are independent
            with suppress(CodecError):
                return Combiner(inverse(self.coefficients[numbers]))(packets)
        decoder = self.decoder()
        decoder.add_all(numbers, packets)
        return decoder.source()


class RandomLinearDecoder(BatchDecoder):
    """Incremental decoder that keeps count of the rank: a packet that depends on earlier ones adds nothing."""

    def __init__(self, code: RandomLinear) -> None:
        super().__init__(code)
        self._coefficients = code.coefficients
        self._systematic = code.systematic
        self._echelon: Packets = np.empty((code.k, code.k), np.uint8)
        self._pivots = np.zeros(code.k, np.bool_)
        self._innovative: list[int] = []

    @property
    def rank(self) -> int:
        """Independent packets received so far; k of them determine the source."""
        return len(self._innovative)

    @property
    def missing(self) -> int:
        """How many more independent packets are needed; 0 once the source is determined."""
        return self.k - self.rank

    def _absorb(self, number: int) -> None:
        self._absorb_all(np.array([number]))

    def _absorb_all(self, numbers: npt.NDArray[np.int64]) -> None:
        ordered = np.sort(numbers)  # source packets first: they cost no arithmetic
        innovative = absorb(self._echelon, self._pivots, self._coefficients[ordered])
        self._innovative += ordered[innovative].tolist()

    def _recover(self) -> Packets:
        numbers = np.sort(self._innovative)
        known = numbers[numbers < self.k] if self._systematic else numbers[:0]
        used = numbers[known.size :]
        source = np.empty((self.k, self.packet_bytes), np.uint8)
        source[known] = self._packets[known]
        if used.size:
            is_unknown = np.ones(self.k, np.bool_)
            is_unknown[known] = False
            unknown = np.flatnonzero(is_unknown)
            rows = self._coefficients[used]
            sums = self._packets[used]
            if known.size:  # take the known sources out of the combinations first
                sums ^= Combiner(rows[:, known])(self._packets[known])
            source[unknown] = Combiner(inverse(rows[:, unknown]))(sums)
        return source
