"""Verdicts on published claims against computed values, and on what figures measure: the rules of sizes.

The verdicts and what they need are in :mod:`capsmodel.experiments.words`, and what a claim says of a value in
:mod:`capsim.study.claims.relations`, for formulas and studies alike: what is computed is a point of zero width.

- *Reading error.* A printed number that a formula gives is met within half a unit of its last digit; one that papers
  give in round figures (printed with ``~``, as a ratio or as a difference in percent) within `APPROX_RELATIVE`. What is
  measured agrees within 10%.
- *Up to.* A difference of up to some size is passed at no point, and reached at one.
- *Words.* "Close", "significantly" and "much" have the sizes of the constants of that module.
- *Noise.* A measured value is its interval, in a figure as in a study at the level of a claim
  (:mod:`capsim.study.claims.decide`).
- *Twice.* What fails was found in two ways: by two disjoint sets of seeds in a study, otherwise by the judge and by
  what ``data/papers/checks.toml`` names: another implementation, another argument, or other seeds.
- *Settings.* Where a paper leaves a setting out and a figure sweeps it, the claim is judged at the value chosen for it;
  if it fails there and holds at another value, it depends on the setting. In which settings the verdict of a study
  holds is reported beside it (:mod:`capsim.study.campaign`).

Rules that were changed when values were known are listed in ``data/papers/rules_history.md``, with dates.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from capsim.study.claims.relations import Relation, Says
from capsim.study.file import Claim
from capsmodel.checks import FloatArray, IntArray, require
from capsmodel.experiments.statistics.intervals import Interval
from capsmodel.experiments.words import VerdictWord, kendall, verdict_word
from capsmodel.papers.claim_list import PublishedClaim, read_claims
from capsmodel.papers.index import LedgerEntry, Quantity

Values = Sequence[float] | FloatArray | IntArray
Numbers = float | np.floating[Any] | Values | tuple[Values, Values]
"""A number, the values of a sweep, or those of subject and baseline."""


def cell(claim_id: str) -> float:
    """Return a number that a paper prints in a table, by its claim."""
    return float(read_claims()[claim_id].low)


def tolerance(claim: PublishedClaim, printed: str) -> float:
    """Return how far a value may lie from a number that the claim prints."""
    return claim.said.tolerance(printed)


def _ends(values: npt.ArrayLike) -> tuple[float, float]:
    return float(np.min(values)), float(np.max(values))


@dataclass(frozen=True)
class Computed:
    """What a formula gives for a claim, where it is more than numbers.

    Attributes
    ----------
    values : float, array_like, or pair of array_like
        A number, the values of a sweep, or those of subject and baseline.
    reason : str
        In place of the note of the claim.
    says : Says, optional
        What each value must be, in place of what the relation of the claim says.
    shown : tuple of float
        What is recorded in place of the values.
    quantity : str
        What that is.
    """

    values: Numbers
    reason: str = ""
    says: Says | None = None
    shown: tuple[float, ...] = ()
    quantity: Quantity = ""


@dataclass(frozen=True)
class _Points:
    """Values without noise, what each must be, and what is recorded of them."""

    values: FloatArray
    says: Says
    shown: tuple[float, ...]
    quantity: Quantity = ""
    reason: str = ""
    times_printed: float = 0.0

    def word(self) -> VerdictWord:
        """Return the verdict on them."""
        intervals, says = [_exactly(one) for one in self.values], self.says
        reached = says.reached is None or any(map(says.reached, intervals))
        direction = says.direction if self.quantity == "ratio" else None
        mean = direction(_exactly(float(np.exp(np.log(self.values).mean())))) if direction else None
        return verdict_word(says.kind, map(says.answers, intervals), reached=reached, on_average=mean)


def _exactly(value: float) -> Interval:
    return Interval(value=value, low=value, high=value, confidence=1.0, samples=1)


def computed(claim: PublishedClaim, given: Numbers | Computed) -> LedgerEntry:
    """Judge what a formula gives by the relation of the claim: the values are points of zero width.

    Raises
    ------
    ParameterError
        If a value is no finite number: each comparison with it fails, which would be a verdict.
    """
    value = given if isinstance(given, Computed) else Computed(given)
    points = _points(claim, value)
    return LedgerEntry(
        decided_by="",
        quantity=value.quantity or points.quantity,
        value=value.shown or points.shown,
        interval=(),
        verdict=points.word(),
        reason=(value.reason or claim.note) + points.reason,
        times_printed=float(f"{points.times_printed:.3g}"),
    )


def _points(claim: PublishedClaim, value: Computed) -> _Points:
    is_pair = isinstance(value.values, tuple)
    sides = value.values if isinstance(value.values, tuple) else (value.values, 1.0)
    values: FloatArray = np.divide(*(np.asarray(one, dtype=float) for one in sides))
    rule = "are not all finite numbers, so there is nothing to judge"
    require(np.isfinite(values), f"{claim.id}: {values.tolist()} {rule}")
    several = np.atleast_1d(values)
    ends = _ends(several) if values.ndim or is_pair else (float(values),)
    if value.says:
        return _Points(several, value.says, ends)
    is_ratio = is_pair or claim.relation in ("lower", "higher")
    relation = _relation(claim, has_baseline=is_ratio)
    if relation.is_trend:
        return _trend(relation, several)
    if relation.is_percentage and not is_pair:
        several = 1 + (1 if relation.upward else -1) * several / 100
    if claim.relation in ("below", "above"):
        ends = (ends[-1] if claim.relation == "below" else ends[0],)
    says = relation.of_ratio() if is_ratio else relation.of_value()
    times = relation.times_printed(several, of_ratio=is_ratio)
    return _Points(several, says, ends, "ratio" if is_pair else "", times_printed=times)


def _relation(claim: PublishedClaim, *, has_baseline: bool) -> Relation:
    filed = Claim(id=claim.id, is_=claim.relation, printed=claim.printed, by=claim.by)
    return Relation.of(filed, has_baseline=has_baseline, where=claim.id, is_computed=True)


def _trend(relation: Relation, values: FloatArray) -> _Points:
    """Return Kendall's tau and last minus first, whose signs a rise or a fall needs; both ends are recorded."""
    tau, ends = kendall(values), (float(values[0]), float(values[-1]))
    steps = np.diff(values)
    kind = "monotone" if (steps >= 0).all() or (steps <= 0).all() else f"not monotone, Kendall tau {tau:.2f}"
    points = np.array([tau, ends[1] - ends[0]])
    return _Points(points, relation.of_order(0.0), ends, "first and last", f"; {kind}")
