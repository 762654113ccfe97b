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

import numpy as np
import numpy.typing as npt

from capsmodel._compilation import jit
from capsmodel.checks import require, whole

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
