"""Counter-based random numbers: a number is a function of a key and a count, so no stream can shift another.

The same source runs in both engines. Hashes are 32 bits wide and the multipliers below 2**31, so that no product
leaves int64: compiled code may assume that signed numbers do not overflow.

============================= ====== ============ =======
Quantity                      Symbol Name         Unit
============================= ====== ============ =======
hash of a 32-bit number              ``mix``      1
key of a stream                      ``key``      1
uniform number on [0, 1)      u      ``uniform``  1
                                     ``draw``
============================= ====== ============ =======
"""

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from capsim.base.inlined import inlined

Numbers = TypeVar("Numbers", int, npt.NDArray[np.int64])

MASK = 0xFFFFFFFF
FIRST, SECOND = 0x21F0AAAD, 0x735A2D97


@inlined
def mix(value: Numbers) -> Numbers:
    """Return a hash of `value` (0 to 2**32 - 1) in the same range; a permutation, so nothing collides.

    An array of int64 gives the hash of each of its elements.

    Notes
    -----
    Two rounds of xor-shift and multiplication by an odd constant; the constants are those that a public search for
    low avalanche bias ("hash-prospector") found below 2**31.

    Examples
    --------
    >>> mix(1) != mix(2)
    True
    """
    value = value ^ (value >> 16)  # not in place: the array is the caller's
    value = (value * FIRST) & MASK
    value = value ^ (value >> 15)
    value = (value * SECOND) & MASK
    return value ^ (value >> 15)


@inlined
def uniform(stream: int, count: int) -> float:
    """Return the number `count` of a stream, uniform on [0, 1) in steps of 2**-32.

    Examples
    --------
    >>> 0.0 <= uniform(key(5, 1, 0), 0) < 1.0
    True
    """
    inner = mix((count + stream) & MASK)
    return float(mix(inner ^ mix(stream ^ (count >> 32) ^ SECOND))) * 2.0**-32


@inlined
def draw(switch: Any) -> float:
    """Return the next number of a switch's stream, :func:`uniform` of its ``stream`` and ``draws``.

    The part of the hash that changes once in 2**32 draws is kept in ``stream_high``.
    """
    if switch.draws & MASK == 0:
        switch.stream_high = mix(switch.stream ^ (switch.draws >> 32) ^ SECOND)
    inner = mix((switch.draws + switch.stream) & MASK)
    switch.draws += 1
    return float(mix(inner ^ switch.stream_high)) * 2.0**-32


def key_base(seed: int, purpose: int) -> int:
    """Return what all streams for a purpose have in common (:func:`key_of`)."""
    return int(mix(mix(seed & MASK) ^ mix((seed >> 32) + purpose)))


@inlined
def key_of(base: int, index: Numbers) -> Numbers:
    """Return the key of the stream `index`; of each stream if `index` is an array of int64."""
    return mix((base + index) & MASK)


def key(seed: int, purpose: int, index: Numbers) -> Numbers:
    """Return the key of the stream `index` for a purpose; of each stream if `index` is an array of int64.

    Examples
    --------
    >>> key(1, 2, 3) == key(1, 2, 3), key(1, 2, 3) == key(1, 3, 3)
    (True, False)
    """
    return key_of(key_base(seed, purpose), index)
