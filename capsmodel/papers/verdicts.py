"""Verdicts on published claims against computed values, and on what figures measure: the rules beside the words.

The words and what they need are in :mod:`capsmodel.experiments.words`, and what a claim says of a value in
:mod:`capsim.study.relations`, for formulas and studies alike: what is computed is a point of zero width.

- *Reading error.* A printed number that a formula gives is met within half a unit of its last digit; one that papers
  give in round figures (printed with ``~``, as a ratio or as a difference in percent) within `APPROX_RELATIVE`. What is
  measured agrees within 10%.
- *Up to.* A difference of up to some size is passed at no point, and reached at one.
- *Words.* "Close", "significantly" and "much" have the sizes of the constants of that module.
- *Noise.* A measured value is its interval, in a figure as in a study at the level of a claim
  (:mod:`capsim.study.decide`).
- *Twice.* What fails was found in two ways: by two disjoint families of seeds in a study, otherwise by the judge and by
  what ``data/papers/checks.toml`` names: another implementation, another argument, or other seeds.
- *Settings.* Where a paper leaves a setting out and a figure sweeps it, the claim is judged at the value chosen for it;
  if it fails there and holds at another value, it depends on the setting. In which settings the word of a study holds
  is reported beside it (:mod:`capsim.study.campaign`).

Rules that were changed when values were known are listed in ``docs/verdict_rules.md``, with dates.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from capsim.study.file import Claim
from capsim.study.relations import Relation, Says
from capsmodel.checks import FloatArray, IntArray, require
from capsmodel.experiments.statistics.intervals import Interval
from capsmodel.experiments.words import VerdictWord, kendall, verdict_word
from capsmodel.papers.claim_list import PublishedClaim, read_claims
from capsmodel.papers.index import Quantity, read_checks


@dataclass(frozen=True)
class Verdict:
    """Our value for a claim, the verdict on it, and why.

    Attributes
    ----------
    id : str
        The claim.
    value : tuple of float
        What the package computes; empty when nothing can be computed.
    verdict : str
        One of `VERDICT_WORDS`.
    reason : str
        Setting chosen where the paper leaves one out, and what explains a difference.
    interval : tuple of float
        Low and high end of the interval of a single measured value: of 95% in a figure, at the level of a claim
        (:mod:`capsim.study.decide`) in a study; empty where a formula gives it exactly.
    quantity : str
        What the value is; in the unit of the claim when left out.
    """

    id: str
    value: tuple[float, ...]
    verdict: VerdictWord
    reason: str
    interval: tuple[float, ...] = ()
    quantity: Quantity = ""


Values = Sequence[float] | FloatArray | IntArray
Numbers = float | np.floating[Any] | Values | tuple[Values, Values]
"""A number, the values of a sweep, or those of subject and baseline."""


def cell(claim_id: str) -> float:
    """Return a number that a paper prints in a table, by its claim."""
    return float(read_claims()[claim_id].low)


def tolerance(claim: PublishedClaim, printed: str) -> float:
    """Return how far a value may lie from a number that the claim prints."""
    return claim.said.tolerance(printed)


def printed_range(claim: PublishedClaim) -> tuple[float, float]:
    """Return the values that a claim allows: its bounds, each moved out by its tolerance; infinite for an open end."""
    return claim.said.range


def of_sample(verdict: Verdict, sample: str) -> Verdict:
    """Return the verdict; if it is open, its reason first names the sample that does not decide, such as "30 runs"."""
    if verdict.verdict != "open":
        return verdict
    return replace(verdict, reason=f"{sample} do not decide: {verdict.reason}")


def checked(verdict: Verdict) -> Verdict:
    """Return the verdict of a figure's runs; what fails is open unless it fails by its check in ``checks.toml`` too."""
    check = read_checks().get(verdict.id)
    if verdict.verdict != "fails" or (check and check.fails):
        return verdict
    known = f"by another check it does not: {check.how.rstrip('.')}" if check else "and no other check was made"
    reason = f"{verdict.reason}; it fails by these runs, {known}"
    return of_sample(replace(verdict, verdict="open", reason=reason), "the runs")


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

    def word(self) -> VerdictWord:
        """Return the word on them."""
        found, says = [_exactly(one) for one in self.values], self.says
        reached = says.reached is None or any(map(says.reached, found))
        direction = says.direction if self.quantity == "ratio" else None
        mean = direction(_exactly(float(np.exp(np.log(self.values).mean())))) if direction else None
        return verdict_word(says.kind, map(says.answers, found), reached=reached, on_average=mean)


def _exactly(value: float) -> Interval:
    return Interval(value=value, low=value, high=value, confidence=1.0, samples=1)


def computed(claim: PublishedClaim, given: Numbers | Computed) -> Verdict:
    """Judge what a formula gives by the relation of the claim: the values are points of zero width.

    Raises
    ------
    ParameterError
        If a value is no finite number: each comparison with it fails, which would be a word.
    """
    found = given if isinstance(given, Computed) else Computed(given)
    points = _points(claim, found)
    reason = (found.reason or claim.note) + points.reason
    shown, quantity = found.shown or points.shown, found.quantity or points.quantity
    return Verdict(claim.id, shown, points.word(), reason, quantity=quantity)


def _points(claim: PublishedClaim, found: Computed) -> _Points:
    is_pair = isinstance(found.values, tuple)
    sides = found.values if isinstance(found.values, tuple) else (found.values, 1.0)
    values: FloatArray = np.divide(*(np.asarray(one, dtype=float) for one in sides))
    require(
        np.isfinite(values), f"{claim.id}: {values.tolist()} are not all finite numbers, so there is nothing to judge"
    )
    several = np.atleast_1d(values)
    ends = _ends(several) if values.ndim or is_pair else (float(values),)
    if found.says:
        return _Points(several, found.says, ends)
    relation = _relation(claim, has_baseline=is_pair or claim.relation in ("lower", "higher"))
    if relation.is_trend:
        return _trend(relation, several)
    if is_pair:
        return _Points(several, relation.of_ratio(), ends, "ratio")
    if relation.is_percentage:
        sign = 1 if relation.upward else -1
        return _Points(1 + sign * several / 100, relation.of_ratio(), ends)
    if claim.relation in ("below", "above"):
        worst = several.max() if claim.relation == "below" else several.min()
        return _Points(several, relation.of_value(), (float(worst),))
    return _Points(several, relation.of_ratio() if claim.relation in ("lower", "higher") else relation.of_value(), ends)


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


def times_printed(claim: PublishedClaim, found: Verdict) -> float:
    """Return the factor by which our worst value is off what is printed; 0 if that has none.

    Differences in percent count as the ratios that they stand for. Of a claim that says "up to", the largest counts.
    """
    if not claim.printed or claim.relation not in ("equal", "lower", "higher") or not found.value:
        return 0.0
    is_percent = claim.relation != "equal" and claim.unit == "%"
    sign = -1 if claim.relation == "lower" else 1

    def scaled(value: float) -> float:
        return 1 + sign * value / 100 if is_percent else value

    return claim.said.factor_off(map(scaled, found.value), scaled=scaled, is_up_to=is_percent and not claim.low)


def not_testable(claim: PublishedClaim, reason: str) -> Verdict:
    """Record why a claim cannot be decided here."""
    return Verdict(claim.id, (), "not testable", reason)
