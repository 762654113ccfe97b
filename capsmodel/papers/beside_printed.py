"""A claim beside our value of it: what the paper prints and what we have, on one scale.

=============================== ======================================== ==============================================
Relation of the claim           our value                                printed
=============================== ======================================== ==============================================
``lower``, ``higher``,          subject over baseline, the difference of the side of 1, or of 0, on which it must lie
``not higher`` without a size   a metric that can be 0, or a reduction
``close``                       subject over baseline, or their distance what still counts as close
any with the unit ``x``         subject over baseline                    the number, or the range
``rising``, ``falling``         1 if it rises, -1 if it falls, 0 if that 1 or -1
                                depends on how one looks
``lower``, ``higher`` with a    by how much the subject is below, above  the range; "up to" begins at 0
size in percent                 the baseline, in percent
others                          in the unit of the claim                 the number, the range or the side of a bound
=============================== ======================================== ==============================================
"""

from dataclasses import dataclass

import numpy as np

from capsmodel.experiments.words import CLOSE_RELATIVE, SIGNIFICANTLY
from capsmodel.papers.claim_list import PublishedClaim
from capsmodel.papers.index import LedgerEntry, Quantity

__all__ = ["BesidePrinted", "beside_printed"]

RATIO, DIRECTION = "subject over baseline", "over the sweep"
REDUCTION: Quantity = "reduction, %"
DISTANCE: Quantity = "relative distance"
_DIRECTIONS = {"rising": 1.0, "falling": -1.0, "u-shaped": np.nan}
_PERCENT = {"lower": REDUCTION, "higher": "increase, %"}
_ORDERS = ("lower", "higher", "not higher", "not lower")


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


def beside_printed(claim: PublishedClaim, entry: LedgerEntry) -> BesidePrinted:
    """Return what the paper prints and what the ledger has, on the scale of the claim.

    Examples
    --------
    >>> from capsmodel.papers import claims
    >>> row = next(row for row in claims("repflow") if row.claim.id == "repflow-t1-tail")
    >>> beside_printed(row.claim, row.entry)
    BesidePrinted(scale='reduction, %', low=50.0, high=inf, ours=(56.73469388,), interval=())
    """
    if claim.relation == "close":
        scale, close = (DISTANCE, (0.0, CLOSE_RELATIVE)) if entry.quantity == DISTANCE else (RATIO, SIGNIFICANTLY)
        return BesidePrinted(scale, *close, entry.value, entry.interval)
    if claim.relation in _DIRECTIONS:
        printed = _DIRECTIONS[claim.relation]
        return BesidePrinted(DIRECTION, printed, printed, _direction(entry) if np.isfinite(printed) else ())
    if claim.relation in _ORDERS and not claim.printed:
        scale, equal = _order_scale(claim, entry)
        is_below = claim.relation in ("lower", "not higher")
        is_below = is_below != (entry.quantity == REDUCTION)  # what is lower has a reduction above 0
        return BesidePrinted(scale, *((-np.inf, equal) if is_below else (equal, np.inf)), entry.value, entry.interval)
    if claim.relation == "true":  # 1 if it holds, or a difference that should be 0, of which nothing is printed
        holds = 1.0 if set(entry.value) <= {0.0, 1.0} else np.nan
        return BesidePrinted(_scale(claim), holds, holds, entry.value, entry.interval)
    return BesidePrinted(_scale(claim), *_printed(claim), entry.value, entry.interval)


def _scale(claim: PublishedClaim) -> str:
    if claim.unit == "x":
        return RATIO
    return _PERCENT.get(claim.relation, claim.unit or claim.metric)


def _order_scale(claim: PublishedClaim, entry: LedgerEntry) -> tuple[str, float]:
    """Return the scale of an order, and the value on it of two that are equal."""
    if entry.quantity == REDUCTION:
        return REDUCTION, 0.0
    if entry.quantity == "difference":
        return f"{claim.metric}: subject minus baseline", 0.0
    return RATIO, 1.0


def _direction(entry: LedgerEntry) -> tuple[float, ...]:
    """Return 1, -1 or 0, of the values at both ends, or of a range of differences or of Kendall's tau."""
    if not entry.quantity:
        return ()
    signs = np.sign(np.diff(entry.value) if entry.quantity == "first and last" else entry.value)
    return (float(signs[0] if np.ptp(signs) == 0 else 0),)


def _printed(claim: PublishedClaim) -> tuple[float, float]:
    """Return the range that is printed, open where there is no bound."""
    if not claim.printed:
        return np.nan, np.nan
    low = 0.0 if claim.relation in _PERCENT and claim.unit == "%" else -np.inf
    return float(claim.low or low), float(claim.high or np.inf)
