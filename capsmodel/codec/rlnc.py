r"""TinyMT32 and the coding coefficients that a random linear code draws from it.

===============================  ======  ======================  ===========================  =====================
Quantity                         Symbol  Name                    Unit                         Equation
===============================  ======  ======================  ===========================  =====================
32-bit output number i                   `TinyMT32.next_uint32`  –                            RFC 8682, section 2
coefficients of a repair packet  α       `coefficients`          element of GF(2^8) or GF(2)  RFC 8681, section 3.6
===============================  ======  ======================  ===========================  =====================

Two ends that share a 16-bit repair key draw the same coefficients, so a packet carries its key and not its k
coefficients. RFC 8682 pins the generator's parameters so that every implementation draws the same numbers. The
code below is plain Python on integers masked to 32 bits: no product exceeds 63 bits, so Numba compiles the same
lines with int64.
"""

import functools
from contextlib import suppress
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from capsmodel._compilation import jit
from capsmodel.checks import require, whole
from capsmodel.codec.base import COEFFICIENTS_PER_S, Decoder, PatternCode, Recovery, SourcePlaces
from capsmodel.codec.inputs import CodecError, Flags, Ints, NotEnoughPackets, Packets, check_units, flag, whole_number
from capsmodel.codec.kernels.combiner import Combiner, combine
from capsmodel.codec.linalg import absorb, inverse

_MASK32 = 0xFFFFFFFF
_MAT1, _MAT2, _TMAT = 0x8F7011EE, 0xFC78FF1F, 0x3793FDFF  # RFC 8682, section 2.1
_MIN_LOOP = 8
_PRE_LOOP = 8
DENSE = 15  # density threshold DT of RFC 8681 at which every coefficient is non-zero


@jit
def _next_state(state: npt.NDArray[np.int64]) -> None:
    """Advance the four words in `state` by one step of the recursion."""
    y = state[3]
    x = (state[0] & 0x7FFFFFFF) ^ state[1] ^ state[2]
    x ^= (x << 1) & _MASK32
    y ^= (y >> 1) ^ x
    state[0] = state[1]
    state[1] = state[2]
    state[2] = x ^ ((y << 10) & _MASK32)
    state[3] = y
    if y & 1:
        state[1] ^= _MAT1
        state[2] ^= _MAT2


@jit
def _seeded(seed: int) -> npt.NDArray[np.int64]:
    """Return the state after initialisation with a 32-bit `seed`."""
    state = np.array([seed, _MAT1, _MAT2, _TMAT], dtype=np.int64)
    for i in range(1, _MIN_LOOP):
        previous = state[(i - 1) & 3]
        state[i & 3] ^= (i + 1812433253 * (previous ^ (previous >> 30))) & _MASK32
    for _ in range(_PRE_LOOP):
        _next_state(state)
    return state


@jit
def _draw(state: npt.NDArray[np.int64]) -> int:
    """Advance `state` and return the tempered 32-bit output."""
    _next_state(state)
    t1 = (state[0] + (state[2] >> 8)) & _MASK32
    t0: int = state[3] ^ t1
    if t1 & 1:
        t0 ^= _TMAT
    return t0


@jit
def _fill(keys: npt.NDArray[np.int64], density: int, out: npt.NDArray[np.uint8]) -> None:
    """Write one row of GF(2^8) coefficients per repair key: RFC 8681's rule for m = 8."""
    for row in range(out.shape[0]):
        state = _seeded(keys[row])
        for column in range(out.shape[1]):
            out[row, column] = 0
            if density == DENSE or (_draw(state) & 15) <= density:
                value = 0
                while value == 0:
                    value = _draw(state) & 255
                out[row, column] = value


@jit
def _fill_binary(keys: npt.NDArray[np.int64], density: int, out: npt.NDArray[np.uint8]) -> None:
    """Write one row of GF(2) coefficients per repair key: RFC 8681's rule for m = 1."""
    for row in range(out.shape[0]):
        state = _seeded(keys[row])
        for column in range(out.shape[1]):
            out[row, column] = 1 if density == DENSE or (_draw(state) & 15) <= density else 0


class TinyMT32:
    """The pseudo-random generator of RFC 8682: 32-bit outputs from a 32-bit seed.

    Parameters
    ----------
    seed
        Seed, a whole number in [0, 2^32).

    Raises
    ------
    ParameterError
        When `seed` is not a whole number of 32 bits.

    References
    ----------
    RFC 8682, section 2.

    Examples
    --------
    >>> generator = TinyMT32(1)
    >>> generator.next_uint32(), generator.next_uint32()
    (2545341989, 981918433)
    """

    def __init__(self, seed: int) -> None:
        whole("seed", seed)
        require(seed <= _MASK32, f"seed = {seed}, but TinyMT32 takes 32 bits: reduce it modulo 2**32")
        self._state = _seeded(int(seed))

    def next_uint32(self) -> int:
        """Return the next output, an integer in [0, 2^32)."""
        return int(_draw(self._state))

    def next_below_16(self) -> int:
        """Return the next output's low 4 bits (`tinymt32_rand16` of RFC 8682)."""
        return self.next_uint32() & 15

    def next_below_256(self) -> int:
        """Return the next output's low 8 bits (`tinymt32_rand256` of RFC 8682)."""
        return self.next_uint32() & 255


def coefficients(
    repair_keys: int | npt.ArrayLike, *, count: int, density: int = DENSE, binary: bool = False
) -> npt.NDArray[np.uint8]:
    r"""Coding coefficients of repair packets, elements of GF(2^8), or of GF(2) when `binary`.

    Parameters
    ----------
    repair_keys
        Repair key of each packet, 16 bits: a whole number in [0, 65535] or an array of them, shape (packets,).
    count
        Coefficients per packet (source packets in the coding window), at least 1.
    density
        Density threshold DT in [0, 15]: a coefficient is non-zero with probability (DT + 1)/16; 15 never gives zero
        over GF(2^8) and all ones over GF(2).
    binary
        Draw over GF(2) (m = 1 of the RFC) in place of GF(2^8) (m = 8).

    Returns
    -------
    numpy.ndarray of uint8
        Shape (packets, count); shape (count,) for a scalar key.

    Raises
    ------
    ParameterError
        When a key exceeds 16 bits, `count` is below 1 or `density` lies outside [0, 15].

    Notes
    -----
    Each packet's generator is seeded with its key. For each coefficient over GF(2^8): unless DT = 15 draw 4 bits
    and give 0 when they exceed DT; then draw 8 bits until they are non-zero.

    References
    ----------
    RFC 8681, section 3.6; RFC 8682, section 2.

    Examples
    --------
    >>> coefficients(1, count=16).tobytes().hex()
    '25e1b1b015f6368ba8edd3bb3ebe6887'
    """
    keys = whole("repair_keys", repair_keys)
    require(keys <= 0xFFFF, f"repair_keys = {keys.max():g}, but a repair key has 16 bits: reduce it modulo 2**16")
    whole("count", count, minimum=1)
    require(0 <= density <= DENSE, f"density = {density}, but the density threshold lies in [0, 15]")
    rows = np.atleast_1d(keys).astype(np.int64)
    out = np.empty((rows.size, int(count)), dtype=np.uint8)
    (_fill_binary if binary else _fill)(rows, int(density), out)
    return out if keys.ndim else out[0]


_KEYS = 0x10000  # repair keys have 16 bits (RFC 8681)
_MAX_COEFFICIENTS = 1 << 26
_KEPT_COEFFICIENTS = 1 << 20  # up to here all are drawn once; beyond, a decoder draws those of the packets it gets
_DRAWING = 30  # to draw a coefficient takes as long as to combine so many


class _RandomLinearRecovery:
    """Which packets to use, where they go, and the combinations that are the lost ones."""

    def __init__(self, code: "RandomLinear", numbers: Ints) -> None:
        ranked = np.argsort(numbers, kind="stable")  # source packets first: they cost no arithmetic
        count = int(np.count_nonzero(numbers < code.k)) if code.systematic else 0
        known, coded = numbers[ranked[:count]], numbers[ranked[count:]]
        self._placement = SourcePlaces(known, code.k)
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
        used = received.take(self._used, -2)
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
        return _RandomLinearRecovery(self, numbers)


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
