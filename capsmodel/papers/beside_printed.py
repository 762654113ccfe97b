"""A claim beside our value of it: what the paper prints and what we have, on one scale.

============================== ======================================== ==============================================
Relation or unit of the claim  our value                                printed
============================== ======================================== ==============================================
``ordering``                   subject over baseline, or the difference the side of 1, or of 0, on which it must lie
                               of a metric that can be 0
``close``, ``flat``            subject over baseline                    what still counts as close
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

from capsmodel.papers.index import Claim, LedgerEntry
from capsmodel.papers.metric_columns import compared_by_difference
from capsmodel.papers.statements import Statement
from capsmodel.papers.verdicts import SIGNIFICANTLY

__all__ = ["BesidePrinted", "beside_printed"]

RATIO, DIRECTION = "subject over baseline", "over the sweep"
_DIRECTIONS = {"increasing": 1.0, "decreasing": -1.0}
_PERCENT = {"reduction_pct": "reduction, %", "increase_pct": "increase, %"}


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
        return BesidePrinted(RATIO, *SIGNIFICANTLY, entry.value, entry.interval)
    if claim.relation == "trend":
        if claim.unit not in _DIRECTIONS:
            return BesidePrinted(DIRECTION, np.nan, np.nan)
        printed = _DIRECTIONS[claim.unit]
        return BesidePrinted(DIRECTION, printed, printed, _direction(entry, from_ends=statement is None))
    if claim.relation == "ordering":
        is_difference = compared_by_difference(claim.metric)
        scale, equal = (f"{claim.metric}: subject minus baseline", 0.0) if is_difference else (RATIO, 1.0)
        low, high = (-np.inf, equal) if claim.unit == "lower" else (equal, np.inf)
        return BesidePrinted(scale, low, high, entry.value, entry.interval)
    return BesidePrinted(_scale(claim), *_printed(claim), entry.value, entry.interval)


def _scale(claim: Claim) -> str:
    if claim.unit in ("ratio", "x") and claim.baseline_scheme:
        return RATIO
    return _PERCENT.get(claim.relation, claim.unit)


def _direction(entry: LedgerEntry, *, from_ends: bool) -> tuple[float, ...]:
    """Return 1, -1 or 0; a formula has the values at both ends, an experiment a range of differences."""
    if not entry.value:
        return ()
    changes = np.diff(entry.value) if from_ends else np.asarray(entry.value)
    return (float(np.sign(changes.min()) if np.ptp(np.sign(changes)) == 0 else 0),)


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
