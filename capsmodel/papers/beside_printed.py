"""A claim beside our value of it: what the paper prints and what we have, on one scale.

============================== ======================================== ==============================================
Relation or unit of the claim  our value                                printed
============================== ======================================== ==============================================
``ordering``                   subject over baseline, the difference of the side of 1, or of 0, on which it must lie
                               a metric that can be 0, or a reduction
``close``, ``flat``            subject over baseline, or their distance what still counts as close
``ratio``, ``x``               subject over baseline, if there is one   the number, or the range
``trend``                      1 if it rises, -1 if it falls, 0 if that 1 or -1
                               depends on how one looks
``reduction_pct``,             by how much the subject is below, above  the range; "up to" begins at 0
``increase_pct``               the baseline, in percent
others                         in the unit of the claim                 the number, the range or the side of a bound
============================== ======================================== ==============================================
"""

from dataclasses import dataclass, replace

import numpy as np

from capsmodel.experiments.words import CLOSE_RELATIVE, SIGNIFICANTLY
from capsmodel.papers.index import Claim, LedgerEntry, Quantity
from capsmodel.papers.metric_columns import compared_by_difference
from capsmodel.papers.statements import Statement

__all__ = ["BesidePrinted", "beside_printed"]

RATIO, DIRECTION = "subject over baseline", "over the sweep"
REDUCTION: Quantity = "reduction, %"
DISTANCE: Quantity = "relative distance"
_DIRECTIONS = {"increasing": 1.0, "decreasing": -1.0}
_PERCENT = {"reduction_pct": REDUCTION, "increase_pct": "increase, %"}


@dataclass(frozen=True)
class BesidePrinted:
    """A claim on its scale.

    Attributes
    ----------
    scale : str
        What the scale shows, with its unit; claims of one scale are drawn together.
    low, high : float
        Range that the paper prints, the same number twice for a single one; infinite for an open end, NaN where it
        prints none.
    ours : tuple of float
        Our value, or both ends of our range; empty while there is none.
    interval : tuple of float
        Low and high end of the interval of a single measured value; empty where there is none.
    """

    scale: str
    low: float
    high: float
    ours: tuple[float, ...] = ()
    interval: tuple[float, ...] = ()


def beside_printed(claim: Claim, entry: LedgerEntry, statement: Statement | None = None) -> BesidePrinted:
    """Return what the paper prints and what the ledger has, on the scale of the claim.

    Parameters
    ----------
    claim : Claim
        The claim.
    entry : LedgerEntry
        What the ledger records about it.
    statement : Statement, optional
        What an experiment compares for it; left out where a closed form decides.

    Examples
    --------
    >>> from capsmodel.papers import claims
    >>> row = next(row for row in claims("repflow") if row.claim.id == "repflow-t1-tail")
    >>> beside_printed(row.claim, row.entry)
    BesidePrinted(scale='reduction, %', low=50.0, high=inf, ours=(56.73469388,), interval=())
    """
    if statement and statement.direction:  # the place of an optimum is compared with all others
        claim = replace(claim, relation="ordering", unit=statement.direction)
    if claim.unit in ("close", "flat"):
        scale, close = (DISTANCE, (0.0, CLOSE_RELATIVE)) if entry.quantity == DISTANCE else (RATIO, SIGNIFICANTLY)
        return BesidePrinted(scale, *close, entry.value, entry.interval)
    if claim.relation == "trend":
        printed = _DIRECTIONS.get(claim.unit, np.nan)
        return BesidePrinted(DIRECTION, printed, printed, _direction(entry) if claim.unit in _DIRECTIONS else ())
    if claim.relation == "ordering":
        scale, equal = _order_scale(claim, entry)
        below = (claim.unit == "lower") != (entry.quantity == REDUCTION)  # what is lower has a reduction above 0
        return BesidePrinted(scale, *((-np.inf, equal) if below else (equal, np.inf)), entry.value, entry.interval)
    return BesidePrinted(_scale(claim), *_printed(claim), entry.value, entry.interval)


def _scale(claim: Claim) -> str:
    if claim.unit in ("ratio", "x") and claim.baseline_scheme:
        return RATIO
    return _PERCENT.get(claim.relation, claim.unit)


def _order_scale(claim: Claim, entry: LedgerEntry) -> tuple[str, float]:
    """Return the scale of an order, and the value on it of two that are equal."""
    if entry.quantity == REDUCTION:
        return REDUCTION, 0.0
    if entry.quantity == "difference" or (not entry.value and compared_by_difference(claim.metric)):
        return f"{claim.metric}: subject minus baseline", 0.0
    return RATIO, 1.0


def _direction(entry: LedgerEntry) -> tuple[float, ...]:
    """Return 1, -1 or 0, of the values at both ends, or of a range of differences or of Kendall's tau."""
    if not entry.quantity:
        return ()
    signs = np.sign(np.diff(entry.value) if entry.quantity == "first and last" else entry.value)
    return (float(signs[0] if np.ptp(signs) == 0 else 0),)


def _printed(claim: Claim) -> tuple[float, float]:
    """Return the range that is printed, open where there is no bound."""
    if claim.relation == "statement" and claim.unit == "1 if true":
        return 1.0, 1.0
    if not (claim.low or claim.high):
        return np.nan, np.nan
    low, high = float(claim.low or -np.inf), float(claim.high or np.inf)
    match claim.relation:
        case "less_than":
            return -np.inf, high
        case "greater_than":
            return low, np.inf
        case "reduction_pct" | "increase_pct":
            return max(low, 0.0), high
    return low, high
