"""Quantities as people write them, to the SI numbers that the package computes with.

Eight bits make a byte, K is 1000 and Ki is 1024: these facts stand here and nowhere else.

========= ==================== ==================
Quantity  Typed                Stored as
========= ==================== ==================
rate      ``1Gbps``, ``40G``   bits per second
size      ``1500B``, ``64KiB`` bytes
time      ``100us``, ``0.1ms`` seconds
========= ==================== ==================
"""

import math
import re
from decimal import Decimal

import numpy as np
import numpy.typing as npt

from capsmodel.checks import ParameterError, closed_form, non_negative, positive

BITS_PER_BYTE = 8

KBPS, MBPS, GBPS, TBPS = 1e3, 1e6, 1e9, 1e12
PS, NS, US, MS = 1e-12, 1e-9, 1e-6, 1e-3
KB, MB, GB = 1000, 1000**2, 1000**3
KIB, MIB, GIB = 1024, 1024**2, 1024**3

# What may stand behind a number, in lower case, as a factor to the SI number.
RATE_UNITS = {"bps": 1.0, "kbps": KBPS, "mbps": MBPS, "gbps": GBPS, "tbps": TBPS}
RATE_UNITS |= {unit.replace("bps", "bit/s"): factor for unit, factor in RATE_UNITS.items()}
TIME_UNITS = {"s": 1.0, "ms": MS, "us": US, "µs": US, "μs": US, "ns": NS, "ps": PS}
SIZE_UNITS = {"b": 1, "kb": KB, "mb": MB, "gb": GB, "kib": KIB, "mib": MIB, "gib": GIB}

# Each sign has one place where it fits, so that the time to refuse a text grows with its length and no faster.
_QUANTITY = re.compile(r"([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*([^\W\d]\S*)")
_MOST_CHARACTERS = 64


def _parse(text: str, units: dict[str, float] | dict[str, int], quantity: str, example: str) -> float:
    if not isinstance(text, str) or len(text) > _MOST_CHARACTERS:
        shown = f"{text[:_MOST_CHARACTERS]!r}..." if isinstance(text, str) else f"a {type(text).__name__}"
        raise ParameterError(
            f"{shown} is not a {quantity}: write at most {_MOST_CHARACTERS} characters, as in {example}"
        )
    match = _QUANTITY.fullmatch(text.strip())
    unit = match[2].lower() if match else ""
    if not match or unit not in units:
        known = ", ".join(units)
        raise ParameterError(f"{text!r} is not a {quantity}: write a number and a unit ({known}), as in {example}")
    # In decimal, because 100 * 1e-6 is not the double nearest to 1e-4.
    try:
        value = float(Decimal(match[1]) * Decimal(str(units[unit])))
    except ArithmeticError:  # an exponent beyond those of Decimal
        value = math.inf
    if not math.isfinite(value) or value < 0:
        raise ParameterError(f"{text!r} is not a {quantity}: it must be finite and not negative")
    return value


def parse_rate_bps(text: str) -> float:
    """Return a rate in bits per second.

    Parameters
    ----------
    text : str
        A number and one of bps, kbps, Mbps, Gbps, Tbps (or bit/s with the same prefixes); case does not matter.

    Raises
    ------
    ParameterError
        If the text is no number with a known unit; a bare number is refused, because rates are mistaken most.

    Examples
    --------
    >>> parse_rate_bps("10Gbps")
    10000000000.0
    """
    return _parse(text, RATE_UNITS, "rate", "1Gbps")


def parse_time_s(text: str) -> float:
    """Return a time in seconds.

    Parameters
    ----------
    text : str
        A number and one of s, ms, us (or µs), ns, ps.

    Raises
    ------
    ParameterError
        If the text is no number with a known unit.

    Examples
    --------
    >>> parse_time_s("100us")
    0.0001
    """
    return _parse(text, TIME_UNITS, "time", "100us")


def parse_size_bytes(text: str) -> int:
    """Return a size in bytes.

    Parameters
    ----------
    text : str
        A number and one of B, KB, MB, GB (powers of 1000) or KiB, MiB, GiB (powers of 1024).

    Raises
    ------
    ParameterError
        If the text is no whole number of bytes in a known unit.

    Examples
    --------
    >>> parse_size_bytes("64KB"), parse_size_bytes("64KiB")
    (64000, 65536)
    """
    value = _parse(text, SIZE_UNITS, "size", "1500B")
    if value != math.floor(value) or value >= 2.0**53:
        raise ParameterError(f"{text!r} is {value:g} bytes, but a size is a whole number of bytes below 2**53")
    return int(value)


@closed_form
def serialisation_s(packet_bytes: npt.ArrayLike, *, rate_bps: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the time in seconds that a packet occupies a link.

    Parameters
    ----------
    packet_bytes : array_like
        Packet size, in bytes, at least 0.
    rate_bps : array_like
        Link rate, in bits per second, above 0.

    Returns
    -------
    ndarray
        8 · packet_bytes / rate_bps, in seconds, broadcast.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Examples
    --------
    >>> float(serialisation_s(1500, rate_bps=1e9))
    1.2e-05
    """
    return np.asarray(BITS_PER_BYTE * non_negative("packet_bytes", packet_bytes) / positive("rate_bps", rate_bps))
