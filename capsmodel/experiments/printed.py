"""A printed size as a paper gives it: ``126 ms``, ``60..70 %``, ``..45 %`` (up to), ``1.3.. x``, ``~10 x``.

A printed number is met within half a unit of its last digit; one that papers give in round figures (``~``, and sizes of
differences) within `APPROX_RELATIVE`.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from capsmodel.checks import ParameterError, require
from capsmodel.experiments.words import APPROX_RELATIVE, ROUNDING

__all__ = ["ORDERS_OF_MAGNITUDE", "UNITS", "Printed", "reading_error"]

COUNTED = (
    *("packets", "flows", "connections", "events", "timeouts", "segments", "dupACKs", "subflows"),
    *("hosts", "paths", "switches", "lines"),
)
"""What papers count."""
UNITS = {
    "": 1.0,
    "s": 1.0,
    "ms": 1e3,
    "us": 1e6,
    "bps": 1.0,
    "Mbps": 1e-6,
    "Gbps": 1e-9,
    "bytes": 1.0,
    "KB": 1e-3,
    "MB": 1e-6,
    "%": 100.0,
    "percentage points": 100.0,
    "Mb": 1e-6,
    **dict.fromkeys(COUNTED, 1.0),
}
"""Units of what is printed over those of the columns of runs."""
ORDERS_OF_MAGNITUDE = "orders of magnitude"
"""Unit of the logarithm of a ratio, to base 10."""
FACTOR = "x"
_NUMBER = r"-?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?"
_PRINTED = re.compile(rf"(?P<about>~?) ?(?P<low>{_NUMBER})?(?P<dots>\.\.)?(?P<high>{_NUMBER})? ?(?P<unit>[^\d.~-].*)?")


def reading_error(printed: str) -> float:
    """Return half a unit of the last printed digit.

    Examples
    --------
    >>> reading_error("0.013"), reading_error("1.37e7")
    (0.0005, 50000.0)
    """
    exponent = Decimal(printed).as_tuple().exponent
    return 0.5 * 10.0 ** int(exponent)


@dataclass(frozen=True)
class Printed:
    """What is printed, with its reading error.

    Attributes
    ----------
    low, high : str
        Ends of the range as printed, equal for one number; empty for an open end.
    unit : str
        One of `UNITS`, ``x`` (a factor) or ``orders of magnitude``.
    is_round : bool
        Whether the numbers are round figures.
    """

    low: str
    high: str
    unit: str = ""
    is_round: bool = False

    @classmethod
    def read(cls, text: str, *, where: str = "printed") -> "Printed":
        """Return what a text says.

        Raises
        ------
        ParameterError
            If it is none, or has an unknown unit.

        Examples
        --------
        >>> Printed.read("~10 x")
        Printed(low='10', high='10', unit='x', is_round=True)
        >>> Printed.read("60..70 %").is_range
        True
        >>> Printed.read("..45 %").range
        (-inf, 45.5000000455)
        """
        match = _PRINTED.fullmatch(text.strip())
        if match is None or not (match["low"] or match["high"]):
            raise ParameterError(f"{where} = {text!r}: write a number and its unit, as in 126 ms, 60..70 % or ~10 x")
        low, high, unit = match["low"] or "", match["high"] or "", (match["unit"] or "").strip()
        if not match["dots"]:
            require(not (low and high), f"{where} = {text!r} has two numbers: write a range as in 60..70")
            low = high = low or high
        listed = [*filter(None, UNITS), FACTOR, ORDERS_OF_MAGNITUDE]
        require(unit in ("", *listed), f"{where} = {text!r}: unknown unit {unit!r}: there are {', '.join(listed)}")
        return cls(low, high, unit, match["about"] == "~")

    @property
    def is_range(self) -> bool:
        """Whether it is a range, closed or open."""
        return self.low != self.high

    def tolerance(self, printed: str) -> float:
        """Return how far a value may lie from one of the printed numbers."""
        allowed = APPROX_RELATIVE * abs(float(printed)) if self.is_round else reading_error(printed)
        return allowed + ROUNDING * (allowed + abs(float(printed)))

    @property
    def range(self) -> tuple[float, float]:
        """Return what is allowed: both ends, each moved out by its tolerance; infinite for an open end."""
        low = float(self.low) - self.tolerance(self.low) if self.low else -np.inf
        high = float(self.high) + self.tolerance(self.high) if self.high else np.inf
        return low, high

    def factor_off(
        self, values: Iterable[float], *, scaled: Callable[[float], float] = float, is_up_to: bool = False
    ) -> float:
        """Return the factor by which the worst value above 0 is off the range; 0 if there is none.

        Parameters
        ----------
        values : iterable of float
            Ours.
        scaled : callable, optional
            What turns a printed number into one on the scale of `values`, such as a percentage into a ratio.
        is_up_to : bool
            Whether it is a size that differences go "up to": then the value nearest to it counts.

        Examples
        --------
        >>> Printed.read("10 ms").factor_off([25.0]), Printed.read("5..10 ms").factor_off([4.0, 7.0])
        (2.5, 1.25)
        """
        low_end = self.high if is_up_to else self.low
        low, high = sorted(map(scaled, (float(low_end or 0), float(self.high or np.inf))))
        factors = [max(low / one, one / high, 1.0) for one in values if high > 0 and 0 < one < np.inf]
        return (min if is_up_to else max)(factors, default=0.0)
