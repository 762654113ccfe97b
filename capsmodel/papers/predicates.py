"""Conditions on an interval: a claim is met with its size, or its direction holds."""

from collections.abc import Callable
from dataclasses import replace

from capsmodel.checks import ParameterError
from capsmodel.experiments.statistics.intervals import Interval
from capsmodel.papers.index import Claim
from capsmodel.papers.metric_columns import ORDERS_OF_MAGNITUDE
from capsmodel.papers.verdicts import (
    SIGNIFICANTLY,
    Holds,
    above,
    below,
    has_size,
    printed_range,
    tolerance,
    within,
)

__all__ = [
    "PERCENT_SIGNS",
    "Predicate",
    "of_gap",
    "of_ratio",
    "of_value",
    "on_side",
    "percent",
    "reduction_pct",
    "up_to",
]

_PCT = 100.0
PERCENT_SIGNS = {"reduction_pct": -1, "increase_pct": 1}
"""Relations that print a difference in percent, and whether the subject is below or above the baseline."""

Predicate = Callable[[Interval], Holds]


def on_side(claim: Claim, bound: float) -> Predicate:
    """Return that a value is below, or above, a bound, as the claim says."""
    side = below if claim.unit == "lower" else above
    return lambda found: side(found, bound)


def _inside(low: float, high: float) -> Predicate:
    return lambda found: within(found, low, high)


def _printed(claim: Claim) -> Predicate:
    """Return what a value must be that is printed: that size, or in that range."""
    if claim.low != claim.high:
        return _inside(*printed_range(claim))
    printed, allowed = float(claim.low), tolerance(claim, claim.low)
    return lambda found: has_size(found, printed, allowed)


def _percentage(claim: Claim) -> Predicate:
    """Return what a ratio must be whose difference from 1 is printed in percent: that size, or in that range."""
    met = _printed(claim if claim.low else replace(claim, low="0"))  # "up to" a size begins at no difference
    return lambda found: met(_in_percent(claim.relation, found))


def percent(relation: str, ratio: float) -> float:
    """Return a ratio as a reduction, or an increase, in percent; `relation` is one of `PERCENT_SIGNS`."""
    return PERCENT_SIGNS[relation] * _PCT * (ratio - 1)


def _in_percent(relation: str, ratio: Interval) -> Interval:
    """Return a ratio with its interval as a reduction, or an increase, in percent."""
    value, *ends = (percent(relation, one) for one in (ratio.value, ratio.low, ratio.high))
    return Interval(value=value, low=min(ends), high=max(ends), confidence=ratio.confidence, samples=ratio.samples)


def reduction_pct(ratio: Interval) -> Interval:
    """Return a ratio with its interval as a reduction in percent."""
    return _in_percent("reduction_pct", ratio)


def _bound(claim: Claim, *, equal: float) -> Predicate:
    """Return that a value keeps to a printed bound.

    A printed bound that is `equal` (0 of a value, 1 of a ratio) is exact: "above 0" is a direction, no rounded size.
    """
    low, high = (
        equal if printed and float(printed) == equal else end
        for printed, end in zip((claim.low, claim.high), printed_range(claim), strict=True)
    )
    return (lambda found: below(found, high)) if claim.relation == "less_than" else (lambda found: above(found, low))


def of_ratio(claim: Claim, size: float | None) -> tuple[Predicate, Predicate]:
    """Return what a ratio of subject over baseline must be: with the size of the claim, and for its direction."""
    low, high = printed_range(claim)
    if claim.unit == ORDERS_OF_MAGNITUDE:
        return _inside(10**low, 10**high), lambda found: above(found, 1.0)
    match claim.relation:
        case "reduction_pct" | "increase_pct":
            side = below if claim.relation == "reduction_pct" else above
            return _percentage(claim), lambda found: side(found, 1.0)
        case "ratio":
            return _printed(claim), lambda found: above(found, 1.0)
        case "approx" | "absolute" | "trend":  # of trends, those that are flat
            close = _inside(*SIGNIFICANTLY) if claim.unit in ("close", "flat") else _printed(claim)
            return close, close
        case "less_than" | "greater_than":
            kept = _bound(claim, equal=1.0)
            return kept, kept
        case "ordering":
            return on_side(claim, 1.0 if size is None else size), on_side(claim, 1.0)
    raise ParameterError(f"{claim.id}: {claim.relation!r} says nothing about a ratio")


def up_to(claim: Claim) -> Predicate | None:
    """Return what the largest of all points must be where the claim prints a size that differences go "up to"."""
    if claim.relation not in PERCENT_SIGNS or claim.low or not claim.high:
        return None
    printed, allowed = float(claim.high), tolerance(claim, claim.high)
    ends = sorted(1 + PERCENT_SIGNS[claim.relation] * (printed + one) / _PCT for one in (-allowed, allowed))
    return _inside(*ends)


def of_gap(claim: Claim) -> tuple[Predicate, Predicate]:
    """Return what a difference must be: the printed one, and on the same side of 0."""
    sign = above if float(claim.low) > 0 else below
    return _printed(claim), lambda found: sign(found, 0.0)


def of_value(claim: Claim) -> tuple[Predicate, Predicate]:
    """Return what a value must be: a printed one, or on the right side of a printed bound."""
    if claim.relation in ("less_than", "greater_than"):
        kept = _bound(claim, equal=0.0)
        return kept, kept
    # A printed size that is missed differs; "none at all" is a statement, which is wrong where there is some.
    if claim.low == claim.high == "0":
        return _inside(0.0, 0.0), _inside(0.0, 0.0)
    return _printed(claim), lambda _: True
