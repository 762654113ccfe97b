"""Words on samples: what holds of an interval, and what that makes of a claim.

A statement about a measured value holds where the whole of its interval supports it, fails where the whole interval
contradicts it, and is undecided (None) otherwise. The sizes of "close", "significantly" and "much" are constants.
"""

from collections.abc import Iterable
from typing import Literal

import numpy as np

from capsmodel.checks import FloatArray
from capsmodel.experiments.statistics.intervals import Interval

__all__ = [
    "ANY_SIZE",
    "APPROX_RELATIVE",
    "CLOSE_RELATIVE",
    "MEANINGS",
    "MUCH",
    "ROUNDING",
    "SIGNIFICANTLY",
    "VERDICT_WORDS",
    "Holds",
    "VerdictWord",
    "above",
    "all_of",
    "below",
    "has_size",
    "joined",
    "kendall",
    "verdict_word",
    "within",
]

VerdictWord = Literal["reproduced", "differs in size", "refuted", "not testable", "open"]
MEANINGS: dict[VerdictWord, str] = {
    "reproduced": "our value has the claimed direction and, where the claim has a size, lies within its reading error",
    "differs in size": "the direction holds, or the bound holds on a part of the sweep; the size does not hold",
    "refuted": "the direction, the place of the optimum, or the statement is wrong at every point we looked at",
    "not testable": "nothing computable is claimed, or what would decide it is not in the paper",
    "open": "nothing has been run yet, or what has been run does not decide",
}
"""What each verdict means."""
VERDICT_WORDS = tuple(MEANINGS)

APPROX_RELATIVE = 0.05
"""Relative distance at which a number given as "about", "nearly" or in round figures still counts as met."""
CLOSE_RELATIVE = 0.10
"""Relative distance at which two schemes called close, or one only mildly worse, still count so."""
ANY_SIZE = (1.0, 1.0)
"""Ratios of subject over baseline below the first of which it is lower, and above the second higher."""
SIGNIFICANTLY = (1 - CLOSE_RELATIVE, 1 + CLOSE_RELATIVE)
"""The same for "significantly" and "substantially": what is still close is no significant difference."""
MUCH = (1 / 2, 2.0)
"""The same for "much", "far" and "greatly": CAPS calls an RTT large from twice the mean on (Section VI-A)."""
ROUNDING = 1e-9
"""Relative error that floating point may add to a value that lies on a bound."""

Holds = bool | np.bool_ | None
"""Whether a statement holds; None where a sample does not decide."""


def above(found: Interval, bound: float) -> Holds:
    """Return whether a measured value lies above a bound."""
    return True if found.low > bound else False if found.high <= bound else None


def below(found: Interval, bound: float) -> Holds:
    """Return whether a measured value lies below a bound."""
    return True if found.high < bound else False if found.low >= bound else None


def within(found: Interval, low: float, high: float) -> Holds:
    """Return whether a measured value lies in a range, ends included."""
    if low <= found.low and found.high <= high:
        return True
    return False if found.high < low or found.low > high else None


def has_size(found: Interval, printed: float, allowed: float) -> Holds:
    """Return whether a measured value is a printed one: no if its interval misses it, yes if all of it is close."""
    if within(found, printed - allowed, printed + allowed) is False:
        return False
    near = max(allowed, CLOSE_RELATIVE * abs(printed))
    return within(found, printed - near, printed + near) or None


def all_of(*parts: Holds) -> Holds:
    """Return whether all statements hold: no as soon as one fails."""
    return False if any(part is not None and not part for part in parts) else all(parts) or None


def joined(*, yes: Holds, no: Holds) -> Holds:
    """Return a statement that needs another level to hold than to fail."""
    return True if yes else False if no is not None and not no else None


def verdict_word(met: Iterable[Holds], direction: Iterable[Holds] | None = None) -> VerdictWord:
    """Return the verdict on a claim from what holds at the points of a sweep, or the settings of a figure.

    Parameters
    ----------
    met : iterable of bool or None
        Whether the claim holds with its size, at every point where it must.
    direction : iterable of bool or None, optional
        Whether it holds apart from its size, at every point looked at; `met` for a claim without a size.

    Returns
    -------
    str
        "reproduced" if all is met; "refuted" if the direction fails at all points; "differs in size" if something is
        not met and the direction holds somewhere; "open" if what is undecided could change the word.
    """
    sizes = [None if one is None else bool(one) for one in met]
    directions = sizes if direction is None else [None if one is None else bool(one) for one in direction]
    if all(sizes):
        return "reproduced"
    if not any(one or one is None for one in directions):
        return "refuted"
    return "differs in size" if False in sizes and True in directions else "open"


def kendall(values: FloatArray) -> float:
    """Return Kendall's tau-a of the values against their order: 1 rising, -1 falling, in between a sawtooth."""
    signs = np.sign(values[np.newaxis, :] - values[:, np.newaxis])
    pairs = len(values) * (len(values) - 1) / 2
    return float(np.sum(np.triu(signs, 1)) / pairs)
