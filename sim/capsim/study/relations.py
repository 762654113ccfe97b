"""What the interval of a comparison must be so that a claim is met with its size, or so that its direction holds."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, log10

from capsim.study.file import Claim
from capsmodel.checks import ParameterError, require
from capsmodel.experiments.printed import FACTOR, ORDERS_OF_MAGNITUDE, Printed
from capsmodel.experiments.statistics.intervals import Interval
from capsmodel.experiments.words import (
    ANY_SIZE,
    CLOSE_RELATIVE,
    MUCH,
    SIGNIFICANTLY,
    Holds,
    above,
    below,
    has_size,
    within,
)

__all__ = ["Predicate", "Relation", "in_percent", "on_side", "reduction_pct"]

Predicate = Callable[[Interval], Holds]
PERCENT = "%"
_PCT = 100.0
_SIZES = {"": ANY_SIZE, "significantly": SIGNIFICANTLY, "much": MUCH}
_WITH_BASELINE = ("lower", "higher", "not higher", "not lower", "close")
_WITH_SIZE = ("equal", "below", "above")


def on_side(upward: bool, bound: float) -> Predicate:
    """Return that a value is above a bound, or below it."""
    side = above if upward else below
    return lambda found: side(found, bound)


def _inside(low: float, high: float) -> Predicate:
    return lambda found: within(found, low, high)


def _is_printed(printed: Printed) -> Predicate:
    """Return what a value must be that is printed: that size, or in that range."""
    if printed.is_range:
        return _inside(*printed.range)
    size, allowed = float(printed.low), printed.tolerance(printed.low)
    return lambda found: has_size(found, size, allowed)


def in_percent(ratio: Interval, *, upward: bool) -> Interval:
    """Return a ratio with its interval as an increase, or a reduction, in percent."""
    sign = 1 if upward else -1
    value, *ends = (sign * _PCT * (one - 1) for one in (ratio.value, ratio.low, ratio.high))
    return Interval(value=value, low=min(ends), high=max(ends), confidence=ratio.confidence, samples=ratio.samples)


def reduction_pct(ratio: Interval) -> Interval:
    """Return a ratio with its interval as a reduction in percent."""
    return in_percent(ratio, upward=False)


@dataclass(frozen=True)
class Relation:
    """What a claim says about a value, or a value over a baseline.

    Attributes
    ----------
    is_ : str
        Key ``is`` of the claim.
    printed : Printed, optional
        The size that it has.
    size : float
        The ratio that its word of size asks for; 1 without one.
    """

    is_: str
    printed: Printed | None = None
    size: float = 1.0

    @classmethod
    def of(cls, claim: Claim, *, has_baseline: bool, where: str) -> "Relation":
        """Return the relation of a claim.

        Raises
        ------
        ParameterError
            If it lacks its baseline or its size, or its size has no meaning for it.
        """
        name = claim.is_
        require(bool(name), f"{where}: is is missing: say what is claimed, as in lower or equal")
        printed = Printed.read(claim.printed, where=f"{where}: printed") if claim.printed else None
        needs = name in _WITH_BASELINE and not has_baseline
        require(not needs, f"{where}: is = {name!r} compares: name a baseline")
        require(printed is not None or name not in _WITH_SIZE, f"{where}: is = {name!r} needs a size: give printed")
        if printed is not None and name in ("lower", "higher"):
            known = printed.unit in (PERCENT, FACTOR)
            require(known, f"{where}: printed = {claim.printed!r}, but a size of {name} is a percentage or a factor x")
            printed = Printed(printed.low, printed.high, printed.unit, is_round=True)
        of_ratio = has_baseline and name == "equal" and printed is not None and printed.unit == PERCENT
        rule = "of a comparison, equal has a factor x or a difference in percentage points"
        require(not of_ratio, f"{where}: printed = {claim.printed!r}: {rule}")
        require(not (printed and claim.by), f"{where}: by and printed are both a size: leave one out")
        return cls(name, printed, 1 + CLOSE_RELATIVE if name == "not higher" else _size_of(name, claim.by))

    @property
    def upward(self) -> bool:
        """Whether it says that a value is larger."""
        return self.is_ in ("higher", "rising", "above", "not lower")

    @property
    def is_trend(self) -> bool:
        """Whether it is about a series."""
        return self.is_ in ("rising", "falling")

    @property
    def is_order(self) -> bool:
        """Whether it says which of two is larger, and no size."""
        return self.is_ in ("lower", "higher", "not higher", "not lower") and self.printed is None

    @property
    def is_percentage(self) -> bool:
        """Whether it prints a difference in percent."""
        return self.is_ in ("lower", "higher") and self.printed is not None and self.printed.unit == PERCENT

    @property
    def is_gap(self) -> bool:
        """Whether, of two values, it prints the difference in their unit, and no ratio."""
        ratios = ("", PERCENT, FACTOR, ORDERS_OF_MAGNITUDE)
        return self.is_ == "equal" and self._said.unit not in ratios

    @property
    def is_in_orders(self) -> bool:
        """Whether it prints the logarithm of a ratio."""
        return self.printed is not None and self.printed.unit == ORDERS_OF_MAGNITUDE

    @property
    def _said(self) -> Printed:
        if self.printed is None:
            raise ParameterError(f"is = {self.is_!r} prints no size")
        return self.printed

    def of_order(self, bound: float) -> tuple[Predicate, Predicate]:
        """Return what a difference must be that is above or below a bound."""
        side = on_side(self.upward, bound)
        return side, side

    def of_ratio(self) -> tuple[Predicate, Predicate]:
        """Return what a ratio of subject over baseline must be: with the size of the claim, and for its direction."""
        if self.is_in_orders:
            low, high = self._said.range
            return _inside(10**low, 10**high), on_side(True, 1.0)
        if self.is_percentage:
            met = _is_printed(self._said.from_zero())  # "up to" a size begins at no difference
            return (lambda found: met(in_percent(found, upward=self.upward))), on_side(self.upward, 1.0)
        if self.is_ in ("below", "above"):
            return self.of_bound(equal=1.0)
        if self.is_ == "close" or (self.is_ == "equal" and self.printed is not None):
            close = _inside(*self._near) if self.is_ == "close" else _is_printed(self._said)
            return close, close
        if self.printed is not None:
            return _is_printed(self.printed), on_side(self.upward, 1.0)
        return on_side(self.upward, self.size), on_side(self.upward, 1.0)

    @property
    def _near(self) -> tuple[float, float]:
        """Return the ratios that are close."""
        if self.printed is None:
            return SIGNIFICANTLY
        near = float(self.printed.high) / _PCT
        return 1 - near, 1 + near

    def reached(self) -> Predicate | None:
        """Return what the largest of all points must be where the claim prints a size that differences go "up to"."""
        if not self.is_percentage or self._said.low or not self._said.high:
            return None
        printed, sign = float(self._said.high), 1 if self.upward else -1
        allowed = self._said.tolerance(self._said.high)
        return _inside(*sorted(1 + sign * (printed + one) / _PCT for one in (-allowed, allowed)))

    def of_gap(self) -> tuple[Predicate, Predicate]:
        """Return what a difference must be: the printed one, and on the same side of 0."""
        return _is_printed(self._said), on_side(float(self._said.low) > 0, 0.0)

    def of_value(self) -> tuple[Predicate, Predicate]:
        """Return what a value must be: a printed one, or on the right side of a printed bound."""
        if self.is_ in ("below", "above"):
            return self.of_bound(equal=0.0)
        # A printed size that is missed differs; "none at all" is a statement, which is wrong where there is some.
        if self._said.low == self._said.high == "0":
            return _inside(0.0, 0.0), _inside(0.0, 0.0)
        return _is_printed(self._said), lambda _: True

    def of_bound(self, *, equal: float) -> tuple[Predicate, Predicate]:
        """Return that a value keeps to a printed bound.

        A printed bound that is `equal` (0 of a value, 1 of a ratio) is exact: "above 0" is a direction, not a size.
        """
        said = self._said
        low, high = (
            equal if printed and float(printed) == equal else end
            for printed, end in zip((said.low, said.high), said.range, strict=True)
        )
        kept = on_side(True, low) if self.is_ == "above" else on_side(False, high)
        return kept, kept

    def in_unit(self, ratio: float) -> float:
        """Return a ratio as the percentage, or power of ten, that the claim gives; others are in its unit already."""
        if self.is_in_orders:
            return log10(ratio) if ratio > 0 else -inf
        return (1 if self.upward else -1) * _PCT * (ratio - 1) if self.is_percentage else ratio


def _size_of(name: str, word: str) -> float:
    """Return the ratio that a word of size asks for."""
    if name == "not lower":
        return 1 - CLOSE_RELATIVE
    less, more = _SIZES[word]
    return more if name == "higher" else less
