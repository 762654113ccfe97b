"""What the interval of a point must be for a claim: with its size, in its direction, or without an effect."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import inf, isfinite, log10

from capsim.study.file import Claim
from capsmodel.checks import ParameterError, require
from capsmodel.experiments.printed import FACTOR, ORDERS_OF_MAGNITUDE, Printed, reading_error
from capsmodel.experiments.statistics.intervals import Interval
from capsmodel.experiments.words import (
    ANY_SIZE,
    CLOSE_RELATIVE,
    LEVEL,
    MUCH,
    NOT_WORSE,
    SIGNIFICANTLY,
    SIZE,
    STATEMENT,
    WORD_OF_SIZE,
    Holds,
    Kind,
    PointAnswers,
    above,
    below,
    near,
    within,
)

__all__ = ["TRENDS", "Bounded", "Predicate", "Relation", "Says", "in_percent", "on_side", "reduction_pct"]

Predicate = Callable[[Interval], Holds]
PERCENT = "%"
_PCT = 100.0
_HALF = 0.5
_SIZES = {"": ANY_SIZE, "significantly": SIGNIFICANTLY, "much": MUCH}
_WITH_BASELINE = ("lower", "higher", "not higher", "not lower", "close")
_WITH_SIZE = ("equal", "below", "above", "best at")
TRENDS = ("rising", "falling")
"""Claims about a series."""
_OF_FORMULAS = ("best at", "u-shaped")
_WITHOUT_SIZE = ("not higher", "not lower", *TRENDS, "true")


@dataclass(frozen=True)
class Bounded:
    """A predicate with the bounds at which its answer changes: it has none while one of them lies in the interval."""

    holds: Predicate
    bounds: tuple[float, ...]

    def __call__(self, interval: Interval) -> Holds:
        """Return whether it holds of an interval."""
        return self.holds(interval)

    def inside(self, interval: Interval) -> tuple[float, ...]:
        """Return the bounds that lie in an interval, in rising order."""
        return tuple(sorted(one for one in self.bounds if interval.low <= one <= interval.high))


@dataclass(frozen=True, kw_only=True)
class Says:
    """What the interval of a point must be for a claim.

    Attributes
    ----------
    kind : Kind
        What the claim gives.
    size : callable
        For the claim as it is made, with its size if it has one.
    direction : callable, optional
        Apart from its size; None of a printed value, which has none.
    not_worse : callable, optional
        So that it is contrary by no more than is allowed at a point of many; `direction` where left out.
    no_effect : callable, optional
        So that there is no effect of more than 10% in its direction; where left out, that the direction does not hold.
    reached : callable, optional
        What one of the points must be where differences go "up to" a size.
    """

    kind: Kind
    size: Predicate
    direction: Predicate | None = None
    not_worse: Predicate | None = None
    no_effect: Predicate | None = None
    reached: Predicate | None = None

    @classmethod
    def statement(cls, holds: Predicate) -> "Says":
        """Return those of a claim without a size: it holds, or it does not."""
        return cls(kind=STATEMENT, size=holds, direction=holds)

    def answers(self, interval: Interval) -> PointAnswers:
        """Return what an interval says of the claim."""
        found_size, direction = self.size(interval), self.direction(interval) if self.direction else None
        allowed = PointAnswers.of(found_size, direction)
        not_worse = self.not_worse(interval) if self.not_worse else allowed.not_worse
        no_effect = self.no_effect(interval) if self.no_effect else allowed.no_effect
        return PointAnswers(found_size, direction, not_worse, no_effect)

    def undecided_at(self, interval: Interval) -> tuple[float, ...]:
        """Return the bounds that an interval lies across, and that keep what it says of the claim undecided.

        Those of the size that is claimed come first; where it is missed those of the direction, then that of no effect.

        Examples
        --------
        >>> lower_by_half = Relation(is_="lower", printed=Printed.read("50 %")).of_ratio()
        >>> wide = Interval(value=0.5, low=0.4, high=0.52, confidence=0.99, samples=8)
        >>> [round(bound, 3) for bound in lower_by_half.undecided_at(wide)]  # within 10% of a reduction by 50%
        [0.45]
        """
        questions = (self.reached,) if self.size(interval) else (self.size, self.direction, self.no_effect)
        undecided = (one for one in questions if isinstance(one, Bounded) and one(interval) is None)
        return next((one.inside(interval) for one in undecided), ())


def on_side(upward: bool, bound: float) -> Bounded:
    """Return that a value is above a bound, or below it."""
    side = above if upward else below
    return Bounded(lambda interval: side(interval, bound), (bound,))


def _inside(low: float, high: float) -> Bounded:
    return Bounded(lambda interval: within(interval, low, high), tuple(filter(isfinite, (low, high))))


def in_percent(ratio: Interval, *, upward: bool) -> Interval:
    """Return a ratio with its interval as an increase, or a reduction, in percent."""
    sign = 1 if upward else -1
    value, *ends = (sign * _PCT * (one - 1) for one in (ratio.value, ratio.low, ratio.high))
    return Interval(value=value, low=min(ends), high=max(ends), confidence=ratio.confidence, samples=ratio.samples)


def reduction_pct(ratio: Interval) -> Interval:
    """Return a ratio with its interval as a reduction in percent."""
    return in_percent(ratio, upward=False)


def _inverse(ratio: Interval) -> Interval:
    """Return a ratio with its interval the other way round: baseline over subject."""
    value, high, low = (1 / one if one > 0 else inf for one in (ratio.value, ratio.low, ratio.high))
    return Interval(value=value, low=low, high=high, confidence=ratio.confidence, samples=ratio.samples)


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
    is_computed : bool
        Whether values are computed: then a printed number is met within its reading error, and not within 10%.
    """

    is_: str
    printed: Printed | None = None
    size: float = 1.0
    is_computed: bool = False

    @classmethod
    def of(cls, claim: Claim, *, has_baseline: bool, where: str, is_computed: bool = False) -> "Relation":
        """Return the relation of a claim.

        Raises
        ------
        ParameterError
            If it lacks its baseline or its size, or its size has no meaning for it.
        """
        name = claim.is_
        require(bool(name), f"{where}: is is missing: say what is claimed, as in lower or equal")
        printed = Printed.read(claim.printed, where=f"{where}: printed") if claim.printed else None
        rule = "is said of formulas: of runs write rising or falling, or a claim for each two values that are compared"
        require(is_computed or name not in _OF_FORMULAS, f"{where}: is = {name!r} {rule}")
        needs = name in _WITH_BASELINE and not has_baseline
        require(not needs, f"{where}: is = {name!r} compares: name a baseline")
        require(printed is not None or name not in _WITH_SIZE, f"{where}: is = {name!r} needs a size: give printed")
        require(not (printed and claim.by), f"{where}: by and printed are both a size: leave one out")
        has_word = name in ("lower", "higher")
        require(has_word or not claim.by, f"{where}: by = {claim.by!r}, but only lower and higher have a word of size")
        if printed is not None:
            _check_sense(name, printed, has_baseline=has_baseline, where=f"{where}: printed = {claim.printed!r}")
            printed = replace(printed, is_round=printed.is_round or has_word)
        size = 1 + CLOSE_RELATIVE if name == "not higher" else _size_of(name, claim.by)
        return cls(name, printed, size, is_computed)

    @property
    def upward(self) -> bool:
        """Whether it says that a value is larger."""
        return self.is_ in ("higher", "rising", "above", "not lower")

    @property
    def is_trend(self) -> bool:
        """Whether it is about a series."""
        return self.is_ in TRENDS

    @property
    def is_order(self) -> bool:
        """Whether it says which of two is larger, and no size."""
        return self.is_ in ("lower", "higher", "not higher", "not lower") and self.printed is None

    @property
    def is_percentage(self) -> bool:
        """Whether it prints a difference in percent."""
        return self.is_ in ("lower", "higher") and self.printed is not None and self.printed.unit == PERCENT

    @property
    def is_factor(self) -> bool:
        """Whether it prints how many times lower, or higher, the subject is."""
        return self.is_ in ("lower", "higher") and self.printed is not None and self.printed.unit == FACTOR

    @property
    def is_times_lower(self) -> bool:
        """Whether it prints the ratio of baseline over subject."""
        return self.is_factor and not self.upward

    @property
    def is_up_to(self) -> bool:
        """Whether it prints the size that differences go "up to"."""
        return (self.is_percentage or self.is_factor) and not self._printed.low

    @property
    def is_gap(self) -> bool:
        """Whether, of two values, it prints the difference in their unit, and no ratio."""
        ratios = ("", PERCENT, FACTOR, ORDERS_OF_MAGNITUDE)
        return self.is_ == "equal" and self._printed.unit not in ratios

    @property
    def is_in_orders(self) -> bool:
        """Whether it prints the logarithm of a ratio."""
        return self.printed is not None and self.printed.unit == ORDERS_OF_MAGNITUDE

    @property
    def _printed(self) -> Printed:
        if self.printed is None:
            raise ParameterError(f"is = {self.is_!r} prints no size")
        return self.printed

    def of_order(self, bound: float) -> Says:
        """Return what a difference must be that is above or below a bound."""
        return Says.statement(on_side(self.upward, bound))

    def of_ratio(self) -> Says:
        """Return what a ratio of subject over baseline must be."""
        if self.is_ in ("below", "above"):
            return self.of_bound(equal=1.0)
        if self.is_ in ("not higher", "not lower"):
            return Says.statement(on_side(self.upward, self.size))
        if self.is_ == "close":
            return Says.statement(_inside(*self._near))
        met = self._size_of_ratio()
        if self.is_ == "equal" and self._effect < CLOSE_RELATIVE:
            return Says(kind=LEVEL, size=met)
        up = self._is_more
        kind = SIZE if self.printed else STATEMENT if self.size == 1 else WORD_OF_SIZE
        return Says(
            kind=kind,
            size=met,
            direction=on_side(up, 1.0),
            not_worse=on_side(up, 1 / NOT_WORSE if up else NOT_WORSE),
            no_effect=on_side(not up, 1 + (1 if up else -1) * min(CLOSE_RELATIVE, self._effect / 2)),
            reached=self._reached(),
        )

    def _size_of_ratio(self) -> Bounded:
        if self.is_in_orders:
            low, high = self._printed.range
            return _inside(10**low, 10**high)
        if self.printed is None:
            return on_side(self.upward, self.size)
        met = self._is_printed(self._printed)
        if self.is_up_to:  # it begins at no difference
            met = _inside(0.0 if self.is_percentage else 1.0, self._printed.range[1])
        return self._of_printed(met)

    def _of_printed(self, met: Bounded) -> Bounded:
        """Return what a ratio must be so that the percentage, or the number of times, is as it must be."""
        return Bounded(lambda interval: met(self._as_printed(interval)), tuple(map(self._as_ratio, met.bounds)))

    def _as_printed(self, ratio: Interval) -> Interval:
        """Return a ratio with its interval as the percentage, or the number of times, that the claim gives."""
        if self.is_percentage:
            return in_percent(ratio, upward=self.upward)
        return _inverse(ratio) if self.is_times_lower else ratio

    def _is_printed(self, printed: Printed) -> Bounded:
        """Return what a value must be that is printed: near that size, or in that range."""
        if printed.is_range or self.is_computed:
            return _inside(*printed.range)
        return _inside(*near(float(printed.low), reading_error(printed.low)))

    @property
    def _is_more(self) -> bool:
        """Return whether the ratio is claimed to be above 1."""
        return self.upward if self.is_ != "equal" else self.is_in_orders or self._least > 1

    @property
    def _least(self) -> float:
        """Return the printed number that is nearest to no difference."""
        return float(self._printed.low or self._printed.high)

    @property
    def _effect(self) -> float:
        """Return by how much, relative to equality, the ratio differs at least as claimed; infinite of an order."""
        if self.printed is None or self.is_in_orders:
            return inf
        least = 1 / self._least if self.is_times_lower else self._least
        return self._least / _PCT if self.is_percentage else abs(least - 1)

    @property
    def _near(self) -> tuple[float, float]:
        """Return the ratios that are close."""
        if self.printed is None:
            return SIGNIFICANTLY
        near = float(self.printed.high) / _PCT
        return 1 - near, 1 + near

    def _reached(self) -> Bounded | None:
        """Return what the largest of all points must be where the claim prints a size that differences go "up to"."""
        if not self.is_up_to:
            return None
        printed = self._printed.high
        return self._of_printed(_inside(*near(float(printed), reading_error(printed))))

    def of_gap(self) -> Says:
        """Return what a difference in a unit must be: the printed one, or at least on the same side of 0."""
        up = self._least > 0
        met, direction = self._is_printed(self._printed), on_side(up, 0.0)
        no_effect = on_side(not up, CLOSE_RELATIVE * self._least)
        return Says(kind=SIZE, size=met, direction=direction, no_effect=no_effect)

    def of_value(self) -> Says:
        """Return what a value must be: a printed one, on the right side of a printed bound, or 1 and not 0 if true."""
        if self.is_ in ("below", "above"):
            return self.of_bound(equal=0.0)
        if self.is_ == "true":
            return Says.statement(on_side(True, _HALF))
        if self.is_ == "best at":  # the place of an optimum is met or not: it has no size by which it differs
            at_place = _inside(float(self._printed.low), float(self._printed.high))
            return Says(kind=SIZE, size=at_place, direction=at_place)
        # A printed size that is missed differs; "none at all" is a statement, which is wrong where there is some.
        if self._printed.low == self._printed.high == "0":
            return Says.statement(_inside(0.0, 0.0))
        return Says(kind=LEVEL, size=self._is_printed(self._printed))

    def of_bound(self, *, equal: float) -> Says:
        """Return that a value keeps to a printed bound.

        A printed bound that is `equal` (0 of a value, 1 of a ratio) is exact: "above 0" is a direction, not a size.
        """
        says = self._printed
        low, high = (
            equal if printed and float(printed) == equal else end
            for printed, end in zip((says.low, says.high), says.range, strict=True)
        )
        return Says.statement(on_side(True, low) if self.is_ == "above" else on_side(False, high))

    def times_printed(self, values: Iterable[float], *, of_ratio: bool) -> float:
        """Return the factor by which the worst value, or ratio, is off what is printed; 0 if that has none."""
        if self.printed is None or self.is_ not in ("lower", "higher", "equal"):
            return 0.0
        return self.printed.factor_off(values, scaled=self._as_ratio if of_ratio else float, is_up_to=self.is_up_to)

    def _as_ratio(self, printed: float) -> float:
        """Return what is printed as the ratio that it stands for."""
        if self.is_in_orders:
            return float(10.0**printed)
        if self.is_times_lower:
            return 1 / printed if printed else inf
        return 1 + (1 if self.upward else -1) * printed / _PCT if self.is_percentage else printed

    def in_unit(self, ratio: float) -> float:
        """Return a ratio in the unit that the claim gives: a percentage, a power of ten, how many times lower."""
        if self.is_in_orders:
            return log10(ratio) if ratio > 0 else -inf
        if self.is_times_lower:
            return 1 / ratio if ratio > 0 else inf
        return (1 if self.upward else -1) * _PCT * (ratio - 1) if self.is_percentage else ratio


def _check_sense(name: str, printed: Printed, *, has_baseline: bool, where: str) -> None:
    """Refuse a size that has no meaning with what is claimed, or contradicts it.

    A percentage or factor of *lower* and *higher* is how much, or how many times, lower or higher: 0 % and 1 x are no
    difference.
    """
    require(
        name not in _WITHOUT_SIZE, f"{where}, but {name} has no size: leave it out, or claim lower, higher or equal"
    )
    if name in ("lower", "higher"):
        _check_difference(name, printed, where)
    elif name == "close":
        fits = printed.unit == PERCENT and printed.low in ("", printed.high)
        require(fits, f"{where}, but close is within a percentage: write one, as in 20 %")
    elif has_baseline:
        rule = "a factor x" + (" or a difference in a unit, as in percentage points" if name == "equal" else "")
        ratios = (FACTOR, ORDERS_OF_MAGNITUDE) if name == "equal" else (FACTOR,)
        known = printed.unit in ratios or (name == "equal" and printed.unit not in ("", PERCENT))
        require(known, f"{where}: of a comparison, {name} has {rule}; a percentage is of lower or higher")
    if name in ("below", "above"):
        bound, other = (printed.high, printed.low) if name == "below" else (printed.low, printed.high)
        rule = f"{name} has one bound: write it as a single number"
        require(bool(bound) and other in ("", bound), f"{where}, but {rule}")


def _check_difference(name: str, printed: Printed, where: str) -> None:
    require(printed.unit in (PERCENT, FACTOR), f"{where}, but a size of {name} is a percentage or a factor x")
    none, rule = 0.0, f"a percentage of {name} says by how much, from 0 % on: if the contrary is meant, turn is round"
    if printed.unit == FACTOR:
        none, rule = (
            1.0,
            (
                f"n x of {name} is n times {name}, from 1 x on: if the value is n times that of the baseline, "
                f'write is = "equal"; if it is {name} by a part, write that in percent, as in 20 %'
            ),
        )
    ends = [float(end) for end in (printed.low, printed.high) if end]
    require(min(ends) >= none, f"{where}: {rule}")
    impossible = name == "lower" and printed.unit == PERCENT and max(ends) > _PCT
    require(not impossible, f"{where}: nothing is lower by more than 100 %: write how many times, as in 2.5 x")


def _size_of(name: str, word: str) -> float:
    """Return the ratio that a word of size asks for."""
    if name == "not lower":
        return 1 - CLOSE_RELATIVE
    less, more = _SIZES[word]
    return more if name == "higher" else less
