"""Quantities in the unit that people would choose, with the unit of their name's last part."""

import math
from decimal import Decimal
from typing import Any

# By the last part of the name: units from large to small, each with its factor.
_UNITS: dict[str, tuple[tuple[str, float], ...]] = {
    "s": (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9), ("ps", 1e-12)),
    "bps": (("Tbps", 1e12), ("Gbps", 1e9), ("Mbps", 1e6), ("kbps", 1e3), ("bps", 1.0)),
    "bytes": (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("KB", 1e3), ("B", 1.0)),
}


def quantity(name: str, value: object) -> str:
    """Return the value of the quantity called `name`, as an option takes it.

    Examples
    --------
    >>> quantity("min_rto_s", 0.2), quantity("rate_bps", 1e10), quantity("mss_bytes", 1460), quantity("ecn", False)
    ('200ms', '10Gbps', '1460B', 'false')
    """
    if isinstance(value, bool):
        return str(value).lower()
    units = _UNITS.get(name.rpartition("_")[2], ())
    if not isinstance(value, int | float) or not units:
        return number(value)
    if value == 0:
        return f"0{units[0][0] if name.endswith('_s') else units[-1][0]}"
    places = 0 if name.endswith("_bytes") else 3
    fitting = (f"{value / factor:.15g}{unit}" for unit, factor in units if _is_short(value / factor, places))
    return next(fitting, number(value))


def _is_short(value: float, places: int) -> bool:
    """Return whether a value is at least 1 and has at most so many digits behind the point."""
    return abs(value) >= 1 and abs(value * 10**places - round(value * 10**places)) < 1e-6


_DIGITS = 4
# From here on, and below the least, an exponent is shorter.
_LARGEST, _LEAST_EXPONENT = 1e7, -4
# Errors of this share of a value and above are given as ends on a log scale: there the ends of both scales differ by a
# 20th of the value, and times have none below 0.
_WIDE = 0.3
_MOST_LOG = 300.0  # beyond it there is no float
# Below this share of the value an error comes from rounding in float64, as of samples that are all the same.
_ROUNDING = 1e-9


def number(value: Any) -> str:
    """Return a value with four digits; what does not apply (NaN, None) is a dash, what is no number stays as it is.

    Examples
    --------
    >>> [number(value) for value in (0.123456, 9999.6, 12345.6, 1e-9, float("nan"), 7, "caps")]
    ['0.1235', '10000', '12346', '1e-09', '-', '7', 'caps']
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if not isinstance(value, float):
        return str(value)
    rounded = f"{value:.{_DIGITS}g}"
    if abs(float(rounded)) >= 10**_DIGITS and abs(float(whole := f"{value:.0f}")) < _LARGEST:
        return whole
    return rounded


def with_error(value: float, half_width: float) -> str:
    """Return a value and its error: two digits of the error, and the value as far as these; no error if it is NaN.

    Examples
    --------
    >>> [with_error(*pair) for pair in ((3.3742, 0.4134), (1005.1, 76.4), (123456.0, 2345.0), (2.0, float("nan")))]
    ['3.37 ± 0.41', '1005 ± 76', '123500 ± 2300', '2']
    >>> [with_error(*pair) for pair in ((0.842000001, 7.6e-15), (0.0, 0.0), (1e6, 1e-2))]
    ['0.842 ± 0', '0 ± 0', '1000000.000 ± 0.010']
    >>> [with_error(*pair) for pair in ((1.0, 0.0996), (1e300, 1e299), (2.5e-7, 4e-8))]
    ['1.00 ± 0.10', '(1.00 ± 0.10)e+300', '(2.50 ± 0.40)e-07']
    """
    if not (math.isfinite(value) and math.isfinite(half_width)):
        return number(value)
    if half_width <= _ROUNDING * abs(value):
        return f"{number(value)} ± 0"
    places, largest = 1 - _exponent(half_width, 2), max(_exponent(value, 17), _exponent(half_width, 2))
    if _LEAST_EXPONENT <= largest < math.log10(_LARGEST):
        return f"{_rounded(value, places)} ± {_rounded(half_width, places)}"
    both = (f"{Decimal(number).scaleb(-largest):.{places + largest}f}" for number in (value, half_width))
    return f"({' ± '.join(both)})e{largest:+03d}"


def _exponent(value: float, digits: int) -> int:
    """Return the power of ten of the first digit of a number that is rounded to so many digits."""
    return int(f"{value:.{digits - 1}e}".partition("e")[2])


def positive_ends(value: float, half_width: float) -> tuple[float, float]:
    """Return the ends of the interval of a quantity that is never below 0, as a time.

    Where the error h is below 0.3 of the value x they are x - h and x + h, else, on a log scale, x exp(-h/x) and
    x exp(h/x). A value of 0 and less has x - h and x + h.

    Examples
    --------
    >>> [tuple(round(end, 2) for end in positive_ends(*pair)) for pair in ((2.0, 0.55), (2.0, 0.6), (0.0, 1.0))]
    [(1.45, 2.55), (1.48, 2.7), (-1.0, 1.0)]
    """
    if not _is_wide(value, half_width):
        return value - half_width, value + half_width
    factor = math.exp(min(half_width / value, _MOST_LOG))
    return value / factor, value * factor


def _is_wide(value: float, half_width: float) -> bool:
    return half_width >= _WIDE * value > 0


def positive_with_error(value: float, half_width: float) -> str:
    """Return a value of a quantity that is never below 0, as a time, with its error.

    Where the error is 0.3 of the value and more, the ends of the interval are given (:func:`positive_ends`).

    Examples
    --------
    >>> [positive_with_error(*pair) for pair in ((2.0, 0.55), (2.0, 0.6), (2.0, 15.0), (0.0, 1.0))]
    ['2.00 ± 0.55', '2.00 (1.48-2.70)', '2.0 (0.0011-3616.1)', '0.0 ± 1.0']
    """
    if not _is_wide(value, half_width):
        return with_error(value, half_width)
    return with_interval(value, *positive_ends(value, half_width))


def with_interval(value: float, low: float, high: float) -> str:
    """Return a value and the ends of its interval: two digits of the nearer distance; no interval if it is NaN.

    The ends of what is above 0, as ratios are, have two digits at least. A value at an end, as a share of all, has two
    digits of the distance to the other.

    Examples
    --------
    >>> [with_interval(*one) for one in ((0.7412, 0.6934, 0.7923), (1.81, 0.402, 8.15), (2.0, float("nan"), 3.0))]
    ['0.741 (0.693-0.792)', '1.8 (0.40-8.2)', '2']
    >>> with_interval(1.0, 1.0, 1.0), with_interval(0.021, -0.004, 0.046), with_interval(0.5, 0.0, 1.0)
    ('1', '0.021 (-0.004 to 0.046)', '0.50 (0.00-1.00)')
    >>> with_interval(100.0, 99.81, 100.0)
    '100.00 (99.81-100.00)'
    """
    apart = [one for one in (value - low, high - value) if not one <= _ROUNDING * abs(value)]
    near = min(apart, default=math.nan)
    if not (math.isfinite(near) and math.isfinite(low + high)):
        return number(value)
    places = 1 - math.floor(math.log10(near))
    ends = (_rounded(end, max(places, 1 - math.floor(math.log10(end))) if low > 0 else places) for end in (low, high))
    return f"{_rounded(value, places)} ({('-' if low >= 0 else ' to ').join(ends)})"


def _rounded(value: float, places: int) -> str:
    return f"{round(value, places):.{max(0, places)}f}"


def size_text(size_bytes: float) -> str:
    """Return a size in the largest unit that it fills.

    Examples
    --------
    >>> size_text(100_000), size_text(2_500_000.0), size_text(12)
    ('100KB', '2.5MB', '12B')
    """
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if size_bytes >= factor:
            return f"{size_bytes / factor:.4g}{unit}"
    return f"{size_bytes:g}B"


def time_text(time_s: float) -> str:
    """Return how long something takes, in the unit in which people plan.

    Examples
    --------
    >>> time_text(0.0), time_text(2.78), time_text(3000.0), time_text(17726.0), time_text(1e6)
    ('0 s', '2.8 s', '50 min', '4.9 h', '280 h')
    """
    unit, factor = next(((unit, one) for unit, one in (("h", 3600.0), ("min", 60.0)) if time_s >= 2 * one), ("s", 1.0))
    return f"{_rounded(time_s / factor, 1 - _exponent(time_s / factor, 2)) if time_s else 0} {unit}"


def sizes_text(above_bytes: float, up_to_bytes: float) -> str:
    """Return a bin of sizes.

    Examples
    --------
    >>> sizes_text(0, 1e4), sizes_text(1e4, 1e5), sizes_text(1e6, float("inf")), sizes_text(0, float("inf"))
    ('0-10KB', '10KB-100KB', '>1MB', 'all')
    """
    if up_to_bytes == math.inf:
        return f">{size_text(above_bytes)}" if above_bytes > 0 else "all"
    return f"{size_text(above_bytes) if above_bytes > 0 else 0}-{size_text(up_to_bytes)}"
