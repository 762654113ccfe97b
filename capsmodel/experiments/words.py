"""Verdicts on claims: what holds of an interval at a point, and what that makes of a claim.

A statement about a measured value holds where the whole of its interval supports it, fails where the whole interval
contradicts it, and is undecided (None) otherwise. What each verdict needs is in `MEANINGS` and in :func:`verdict_word`;
the sizes of "close", "significantly" and "much" are constants.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal, NamedTuple

import numpy as np

from capsmodel.checks import FloatArray
from capsmodel.experiments.statistics.intervals import Interval

__all__ = [
    "ANY_SIZE",
    "APPROX_RELATIVE",
    "CLOSE_RELATIVE",
    "FOR_THE_PAPER",
    "LEVEL",
    "MEANINGS",
    "MUCH",
    "NOT_WORSE",
    "ROUNDING",
    "SIGNIFICANTLY",
    "SIZE",
    "STATEMENT",
    "VERDICT_WORDS",
    "WORD_OF_SIZE",
    "Holds",
    "Kind",
    "PointAnswers",
    "VerdictWord",
    "above",
    "all_of",
    "below",
    "kendall",
    "near",
    "verdict_word",
    "within",
    "word_on",
]

VerdictWord = Literal[
    "agrees", "holds", "holds in part", "differs", "absent", "fails", "depends", "not testable", "open"
]
MEANINGS: dict[VerdictWord, str] = {
    "agrees": "at every point our value is within 10% of what is printed, or in the printed range; a computed value is "
    "within the reading error",
    "holds": "no number is printed; the order, bound or statement holds at every point, or is better on average and "
    "nowhere worse by more than 3%",
    "holds in part": "it holds at some of the points that it is made for, and the contrary at others, of a ratio by "
    "more than 3%",
    "differs": "the size is missed at some point; the direction, if the claim has one, holds at some point, of a ratio "
    "by more than 10%",
    "absent": "an effect is claimed, and at every point there is none of more than 10%, or of half of the printed one "
    "where that is less, or the contrary",
    "fails": "the contrary holds at every point, by two sets of seeds, and the claim in no setting that was tried",
    "depends": "it is absent or fails in the setting of the text, and has the direction of the paper in another one",
    "not testable": "nothing computable is claimed, or what would decide it is not in the paper",
    "open": "nothing has been run yet, or what has been run does not decide",
}
"""What each verdict means."""
VERDICT_WORDS = tuple(MEANINGS)
FOR_THE_PAPER: tuple[VerdictWord, ...] = ("agrees", "holds", "differs")
"""Verdicts by which a claim has the direction that the paper gives it."""

APPROX_RELATIVE = 0.05
"""Relative distance at which the end of a printed range that is "about", or in round figures, still counts as met."""
CLOSE_RELATIVE = 0.10
"""Relative distance at which a value agrees with a printed one, two schemes are close, and an effect is absent."""
NOT_WORSE = 1.03
"""Ratio up to which one scheme is not worse than another at a point, where an order is claimed for many points."""
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


def above(interval: Interval, bound: float) -> Holds:
    """Return whether a measured value lies above a bound."""
    return True if interval.low > bound else False if interval.high <= bound else None


def below(interval: Interval, bound: float) -> Holds:
    """Return whether a measured value lies below a bound."""
    return True if interval.high < bound else False if interval.low >= bound else None


def within(interval: Interval, low: float, high: float) -> Holds:
    """Return whether a measured value lies in a range, ends included."""
    if low <= interval.low and interval.high <= high:
        return True
    return False if interval.high < low or interval.low > high else None


def near(printed: float, reading_error: float = 0.0) -> tuple[float, float]:
    """Return the range in which a measured value is a printed one: within 10%, or half of the last digit."""
    distance = max(reading_error, CLOSE_RELATIVE * abs(printed)) + ROUNDING * abs(printed)
    return printed - distance, printed + distance


def all_of(*parts: Holds) -> Holds:
    """Return whether all statements hold: no as soon as one fails."""
    return False if any(part is not None and not part for part in parts) else all(parts) or None


class Kind(NamedTuple):
    """What a claim gives: a printed number, a size (a number, or "much"), a direction."""

    is_printed: bool
    is_sized: bool
    is_directed: bool


LEVEL = Kind(True, True, False)
"""A printed value, such as a mean time: it has no direction."""
SIZE = Kind(True, True, True)
"""A printed size of a difference: lower by 40%."""
WORD_OF_SIZE = Kind(False, True, True)
"""A difference whose size is a word: much lower."""
STATEMENT = Kind(False, False, True)
"""An order, a bound, a trend: all that has no size."""


@dataclass(frozen=True)
class PointAnswers:
    """What the interval of one point says of a claim.

    Attributes
    ----------
    size : bool or None
        Whether the claim is met as it is made, with its size if it has one.
    direction : bool or None
        Whether its direction holds; `size` of a statement, of no meaning for a printed value.
    not_worse : bool or None
        Whether it is contrary by no more than what is allowed at a point of many; `direction` where nothing is.
    no_effect : bool or None
        Whether there is no effect in its direction of more than 10%.
    """

    size: Holds
    direction: Holds = None
    not_worse: Holds = None
    no_effect: Holds = None

    @classmethod
    def of(cls, size: Holds, direction: Holds = None) -> "PointAnswers":
        """Return those of a claim that allows nothing contrary, and any effect in whose direction is one."""
        return cls(size, direction, direction, None if direction is None else not direction)


def _no(answer: Holds) -> bool:
    return answer is not None and not answer


def verdict_word(
    kind: Kind,
    points: Iterable[PointAnswers],
    some: Iterable[PointAnswers] | None = None,
    *,
    reached: Holds = True,
    on_average: Holds = None,
    is_last: bool = True,
) -> VerdictWord:
    """Return the verdict on a claim, from what holds at its points.

    Parameters
    ----------
    kind : Kind
        What it gives.
    points : iterable of PointAnswers
        At every point where the claim is made, at the level of a verdict that speaks of *all* of them.
    some : iterable of PointAnswers, optional
        The same at the smaller level of a verdict that speaks of *some*; `points` where values have no noise.
    reached : bool or None
        Whether some point has the size that differences go "up to".
    on_average : bool or None
        Whether the direction of an order holds of the mean over its points.
    is_last : bool
        Whether no more seeds are to come: an order without a size is absent then only, since more of them may prove it.

    Notes
    -----
    Of several verdicts that are true the most specific is returned: "fails" is a case of "absent", and "holds in part"
    of a printed size one of "differs".
    """
    whole = list(points)
    parts = whole if some is None else list(some)
    if not whole:
        return "open"
    if all(one.size for one in whole) and reached:
        return "agrees" if kind.is_printed else "holds"
    if kind.is_directed and all(_no(one.direction) for one in whole):
        return "fails"
    if not kind.is_sized and on_average and all(one.not_worse for one in whole):
        return "holds"
    return _of_a_part(kind, whole, parts, reached, is_last)


def word_on(kind: Kind, size: Iterable[Holds], direction: Iterable[Holds] | None = None) -> VerdictWord:
    """Return the verdict on values without noise, or on intervals of one level: see :func:`verdict_word`.

    Parameters
    ----------
    kind : Kind
        What the claim gives.
    size : iterable of bool or None
        Whether the claim is met as it is made, at every point where it must be.
    direction : iterable of bool or None, optional
        Whether its direction holds, at these points and at others where only the direction counts; `size` if left out.

    Examples
    --------
    >>> word_on(STATEMENT, [True, True]), word_on(STATEMENT, [True, False]), word_on(SIZE, [False], [True])
    ('holds', 'holds in part', 'differs')
    """
    sizes = list(size)
    sides = sizes if direction is None else list(direction)
    pairs = zip_longest(sizes, sides, fillvalue=True)
    return verdict_word(kind, [PointAnswers.of(one, side) for one, side in pairs])


def _of_a_part(
    kind: Kind, whole: Sequence[PointAnswers], some: Sequence[PointAnswers], reached: Holds, is_last: bool
) -> VerdictWord:
    """Return the verdict on a claim that is neither met nor contradicted at all points."""
    has_none = kind.is_directed and all(one.no_effect for one in whole)
    if kind.is_sized and has_none and (_no(reached) or all(_no(one.size) for one in whole)):
        return "absent"
    holds = any(_no(one.no_effect) if kind.is_sized else one.direction for one in some)
    if kind.is_directed and holds and any(_no(one.not_worse) for one in some):
        return "holds in part"
    is_missed = _no(reached) or any(_no(one.size) for one in some)
    if kind.is_sized and is_missed and (holds or not kind.is_directed):
        return "differs"
    return "absent" if has_none and is_last and not kind.is_sized else "open"


def kendall(values: FloatArray) -> float:
    """Return Kendall's tau-a of the values against their order: 1 rising, -1 falling, in between a sawtooth."""
    signs = np.sign(values[np.newaxis, :] - values[:, np.newaxis])
    pairs = len(values) * (len(values) - 1) / 2
    return float(np.sum(np.triu(signs, 1)) / pairs)
