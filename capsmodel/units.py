"""Quantities as people write them, to the SI numbers that the package computes with.

Eight bits make a byte, K is 1000 and Ki is 1024: these facts stand here and nowhere else.

========= ==================== ==================
Quantity  Typed                Stored as
========= ==================== ==================
rate      ``1Gbps``, ``1Gb/s`` bits per second
size      ``1500B``, ``64KiB`` bytes
time      ``100us``, ``0.1ms`` seconds
========= ==================== ==================

The end of a name says its unit: ``min_rto_s``, ``rate_bps``, ``buffer_bytes`` (:func:`parser_of`). In a file and in
Python a plain number of such a name is in that unit; on the command line it is refused, so that ``10`` is never taken
for milliseconds.

Case does not matter, except that B stands for bytes and b for bits: a rate with a B and a size such as 8b or 1Mb are
refused. A size in lower case, 64kb, is in bytes, as a column ``flow_kb`` of a file is.
"""

import math
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import NamedTuple

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
_NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_QUANTITY = re.compile(rf"({_NUMBER})\s*([^\W\d]\S*)?")
_MOST_CHARACTERS = 64


class _Kind(NamedTuple):
    """A quantity: its units by what is typed in lower case, and as they are shown; what it may be mistaken for."""

    name: str
    units: Mapping[str, float]
    shown: str
    example: str
    mistaken: re.Pattern[str] | None = None
    remedy: str = ""

    def refusal(self, text: str, rule: str) -> ParameterError:
        """Return the error about a text that is no such quantity."""
        return ParameterError(f"{text} is not a {self.name}: {rule}")


_RATE = _Kind(
    "rate",
    RATE_UNITS | {unit.replace("bps", "b/s"): factor for unit, factor in RATE_UNITS.items()},
    "bps, kbps, Mbps, Gbps, Tbps, or bit/s or b/s in place of bps",
    "1Gbps",
    re.compile(r"B(?!it|IT)"),
    "B is bytes, write bits with a small b (1GBps is 8Gbps)",
)
_TIME = _Kind("time", TIME_UNITS, ", ".join(TIME_UNITS), "100us")
_SIZE = _Kind(
    "size",
    SIZE_UNITS,
    "B, KB, MB, GB, KiB, MiB, GiB",
    "1500B",
    re.compile(r"(?:[0-9.]\s*|[KMG]i?)b$"),
    "b is bits, write bytes with a capital B (8b is 1B)",
)


def _parse(text: str, kind: _Kind, bare_unit: str) -> float:
    if not isinstance(text, str) or len(text) > _MOST_CHARACTERS:
        shown = f"{text[:_MOST_CHARACTERS]!r}..." if isinstance(text, str) else f"a {type(text).__name__}"
        raise kind.refusal(shown, f"write at most {_MOST_CHARACTERS} characters, as in {kind.example}")
    match = _QUANTITY.fullmatch(text.strip())
    if match and kind.mistaken and kind.mistaken.search(match[0]):
        raise kind.refusal(repr(text), kind.remedy)
    unit = (match[2] or bare_unit).lower() if match else ""
    if not match or unit not in kind.units:
        raise kind.refusal(repr(text), f"write a number and a unit ({kind.shown}), as in {kind.example}")
    # In decimal, because 100 * 1e-6 is not the double nearest to 1e-4.
    try:
        factor = kind.units[unit]
        value = float(match[1]) if factor == 1 else float(Decimal(match[1]) * Decimal(str(factor)))
    except ArithmeticError:  # an exponent beyond those of Decimal
        value = math.inf
    if not math.isfinite(value) or value < 0:
        raise kind.refusal(repr(text), "it must be finite and not negative")
    return value


def parse_rate_bps(text: str, *, unit: str = "") -> float:
    """Return a rate in bits per second.

    Parameters
    ----------
    text : str
        A number and one of bps, kbps, Mbps, Gbps, Tbps (or bit/s or b/s with the same prefixes).
    unit : str, optional
        Unit of a number without one, as of a column of a file; when left out, such a number is refused.

    Raises
    ------
    ParameterError
        If the text is no number with a known unit; a bare number is refused, because rates are mistaken most, and so
        is a B, which stands for bytes.

    Examples
    --------
    >>> parse_rate_bps("10Gbps")
    10000000000.0
    """
    return _parse(text, _RATE, unit)


def parse_time_s(text: str, *, unit: str = "") -> float:
    """Return a time in seconds.

    Parameters
    ----------
    text : str
        A number and one of s, ms, us (or µs), ns, ps.
    unit : str, optional
        Unit of a number without one, as of a column of a file; when left out, such a number is refused.

    Raises
    ------
    ParameterError
        If the text is no number with a known unit.

    Examples
    --------
    >>> parse_time_s("100us")
    0.0001
    """
    return _parse(text, _TIME, unit)


def parse_size_bytes(text: str, *, unit: str = "") -> int:
    """Return a size in bytes.

    Parameters
    ----------
    text : str
        A number and one of B, KB, MB, GB (powers of 1000) or KiB, MiB, GiB (powers of 1024).
    unit : str, optional
        Unit of a number without one, as of a column of a file; when left out, such a number is refused.

    Raises
    ------
    ParameterError
        If the text is no whole number of bytes in a known unit, or in bits.

    Examples
    --------
    >>> parse_size_bytes("64KB"), parse_size_bytes("64KiB")
    (64000, 65536)
    """
    value = _parse(text, _SIZE, unit)
    if value != math.floor(value) or value >= 2.0**53:
        raise ParameterError(f"{text!r} is {value:g} bytes, but a size is a whole number of bytes below 2**53")
    return int(value)


_BY_NAME: Mapping[str, Callable[[str], float]] = {
    "_bps": parse_rate_bps,
    "_s": parse_time_s,
    "_s_per_packet": parse_time_s,
    "_bytes": parse_size_bytes,
}


def parser_of(name: str) -> Callable[[str], float] | None:
    """Return what reads the quantity of a name by the unit that the name ends in; None of one without such an end.

    Parameters
    ----------
    name : str
        Of a key or a parameter.

    Examples
    --------
    >>> parser_of("transport.min_rto_s")("10ms"), parser_of("flows"), parser_of("flows_per_s")
    (0.01, None, None)
    """
    if name.endswith("_per_s"):  # a rate of events, which has no unit to be typed
        return None
    return next((parse for end, parse in _BY_NAME.items() if name.endswith(end)), None)


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
