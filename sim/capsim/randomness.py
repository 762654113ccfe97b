"""Counter-based random numbers: a number is a function of a key and a count, so no stream can shift another.

The same source runs in both engines: values are kept below 2**63, where Python's integers and the compiled int64
agree (a product that wraps has the same low 63 bits).

======================= ====== ============= =======
Quantity                Symbol Name          Unit
======================= ====== ============= =======
hash of a number               ``mix``       1
uniform number on [0,1) u      ``uniform``   1
======================= ====== ============= =======
"""

from capsim.hooks import inlined

MASK = 0x7FFFFFFFFFFFFFFF
FIRST, SECOND, STEP = 0x3F58476D1CE4E5B9, 0x14D049BB133111EB, 0x1E3779B97F4A7C15


@inlined
def mix(value: int) -> int:
    """Return a hash of `value` (0 to 2**63 - 1) in the same range; a permutation, so nothing collides.

    Notes
    -----
    Two rounds of xor-shift and multiplication by an odd constant, after Stafford's variant 13 of the MurmurHash3
    finaliser, on 63 bits.

    Examples
    --------
    >>> mix(1) != mix(2)
    True
    """
    value ^= value >> 30
    value = (value * FIRST) & MASK
    value ^= value >> 27
    value = (value * SECOND) & MASK
    return value ^ (value >> 31)


@inlined
def uniform(key: int, count: int) -> float:
    """Return the number `count` of the stream `key`, uniform on [0, 1) with 53 bits.

    Examples
    --------
    >>> 0.0 <= uniform(5, 0) < 1.0
    True
    """
    return float(mix((mix(key) + count * STEP) & MASK) >> 10) * 2.0**-53
