"""Time inside the engines: int64 picoseconds, one rounding rule.

A picosecond divides the byte time of every rate in use exactly (1 Gbps: 8000 ps, 100 Gbps: 80 ps), and int64
holds 106 days of it. Whatever does not divide is rounded half up, here and nowhere else, so that both engines
see the same ties.

=========== ====== ==================== ==========
Quantity    Symbol Name                 Unit
=========== ====== ==================== ==========
time        t      ``to_ps``            picosecond
time        t      ``to_s``             second
packet time 8 B/C  ``serialisation_ps`` picosecond
=========== ====== ==================== ==========
"""

from decimal import ROUND_HALF_UP, Decimal
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Bytes = TypeVar("Bytes", int, npt.NDArray[np.int64])

PS_PER_S = 1_000_000_000_000
BIT_PS_PER_BYTE_S = 8 * PS_PER_S


def to_ps(time_s: float) -> int:
    """Return a time in whole picoseconds, rounded half up.

    Parameters
    ----------
    time_s : float
        Time in seconds, read as the shortest decimal that means it: 0.1 is a tenth, not the nearest double.

    Returns
    -------
    int
        Picoseconds.

    Examples
    --------
    >>> to_ps(100e-6)
    100000000
    """
    return int((Decimal(repr(float(time_s))) * PS_PER_S).to_integral_value(ROUND_HALF_UP))


def to_s(time_ps: int) -> float:
    """Return a time in seconds from picoseconds.

    Examples
    --------
    >>> to_s(100_000_000)
    0.0001
    """
    return time_ps / PS_PER_S


def whole_ps(times_s: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Return the picoseconds of which :func:`to_s` made the seconds in a table, exactly: up to 75 minutes.

    Examples
    --------
    >>> int(whole_ps(np.array([to_s(4_503_599_627_370_495)]))[0])
    4503599627370495
    """
    near = np.rint(times_s * PS_PER_S).astype(np.int64)
    return near + (times_s > near / PS_PER_S) - (times_s < near / PS_PER_S)


def serialisation_ps(packet_bytes: Bytes, rate_bps: int) -> Bytes:
    """Return the time in picoseconds that a packet occupies a link, rounded half up.

    Parameters
    ----------
    packet_bytes : int or ndarray of int64
        Bytes on the wire, at most `capsim.base.bounds.WIRE_BYTES`: from 1 152 921 on the product leaves int64.
    rate_bps : int
        Link rate in bits per second, at least 1.

    Returns
    -------
    int or ndarray of int64
        8 · packet_bytes · 10¹² / rate_bps, rounded half up.

    Examples
    --------
    >>> serialisation_ps(1500, 1_000_000_000)
    12000000
    """
    return (packet_bytes * BIT_PS_PER_BYTE_S + rate_bps // 2) // rate_bps
