"""Verdicts on published claims against computed values, and on what figures measure: the rules beside the words.

The words and what they need are in :mod:`capsmodel.experiments.words`, for computed values, figures and studies alike.

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

from capsmodel.checks import FloatArray, IntArray, require
from capsmodel.experiments.words import (
    ANY_SIZE,
    LEVEL,
    MUCH,
    SIGNIFICANTLY,
    SIZE,
    STATEMENT,
    WORD_OF_SIZE,
    VerdictWord,
    kendall,
    word_on,
)
from capsmodel.papers.claim_list import PublishedClaim, read_claims
from capsmodel.papers.index import Quantity, read_checks

WORDS_OF_SIZE = {"": ANY_SIZE, "significantly": SIGNIFICANTLY, "much": MUCH}
"""The same by the word in `by` of a claim."""


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
Computed = float | np.floating[Any] | Values | tuple[Values, Values]
"""What a formula gives: a number, the values of a sweep, or those of subject and baseline."""


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


def _finite(claim: PublishedClaim, values: npt.ArrayLike) -> FloatArray:
    """Return values that can be judged: each comparison with NaN fails, which would be a word."""
    got = np.asarray(values, dtype=float)
    require(np.isfinite(got), f"{claim.id}: {got.tolist()} are not all finite numbers, so there is nothing to judge")
    return got


def by_size(claim: PublishedClaim, value: float, reason: str) -> Verdict:
    """Judge a value against a claimed one."""
    _finite(claim, value)
    met = abs(value - float(claim.low)) <= tolerance(claim, claim.low)
    return Verdict(claim.id, (value,), word_on(LEVEL, [met]), reason)


def by_truth(claim: PublishedClaim, holds: bool, value: float, reason: str) -> Verdict:
    """Judge a statement that either holds or does not."""
    _finite(claim, value)
    return Verdict(claim.id, (value,), word_on(STATEMENT, [holds]), reason)


def by_place(claim: PublishedClaim, place: float, reason: str, *, near: tuple[float, float] | None = None) -> Verdict:
    """Judge the place of an optimum; `near` are the outermost places that are as good, where the optimum is flat."""
    low, high = _finite(claim, near or (place, place))
    met = low <= float(claim.low) <= high
    return Verdict(claim.id, (place,), word_on(SIZE, [met]), reason)


def by_bound(claim: PublishedClaim, values: Values, reason: str) -> Verdict:
    """Judge a bound over a sweep; the value is the one nearest to it or farthest beyond."""
    got = _finite(claim, values)
    low, high = printed_range(claim)
    worst = got.max() if claim.relation == "below" else got.min()
    return Verdict(claim.id, (float(worst),), word_on(STATEMENT, (got >= low) & (got <= high)), reason)


def by_range(claim: PublishedClaim, values: Values, reason: str) -> Verdict:
    """Judge a range of reductions or increases over a sweep: all inside it, of the right sign, or not."""
    got = _finite(claim, values)
    low, high = printed_range(claim)
    return Verdict(claim.id, _ends(got), word_on(SIZE, (got >= low) & (got <= high), got > 0), reason)


def by_order(
    claim: PublishedClaim, subject: Values, baseline: Values, reason: str, *, size: tuple[float, float] = ANY_SIZE
) -> Verdict:
    """Judge an order over a sweep, with the size of its words; the value is the range of subject over baseline."""
    ratio = _finite(claim, np.asarray(subject, dtype=float) / np.asarray(baseline, dtype=float))
    lower = claim.relation == "lower"
    met, direction = (ratio < one[0] if lower else ratio > one[1] for one in (size, ANY_SIZE))
    kind = STATEMENT if size == ANY_SIZE else WORD_OF_SIZE
    return Verdict(claim.id, _ends(ratio), word_on(kind, met, direction), reason, quantity="ratio")


def by_closeness(claim: PublishedClaim, subject: Values, baseline: Values, reason: str) -> Verdict:
    """Judge "about equal" over a sweep; the value is the range of subject over baseline."""
    ratio = _finite(claim, np.asarray(subject, dtype=float) / np.asarray(baseline, dtype=float))
    low, high = SIGNIFICANTLY
    word = word_on(STATEMENT, (ratio >= low) & (ratio <= high))
    return Verdict(claim.id, _ends(ratio), word, reason, quantity="ratio")


def by_relation(claim: PublishedClaim, found: Computed, reason: str = "") -> Verdict:
    """Judge a number, the values of a sweep, or those of subject and baseline, by the relation of the claim."""
    reason = reason or claim.note
    if isinstance(found, tuple):
        subject, baseline = found
        if claim.relation == "close":
            return by_closeness(claim, subject, baseline, reason)
        return by_order(claim, subject, baseline, reason, size=WORDS_OF_SIZE[claim.by])
    match claim.relation:
        case "rising" | "falling":
            return by_trend(claim, np.asarray(found, dtype=float), reason)
        case "true":
            return by_truth(claim, bool(found), float(np.asarray(found)), reason)
        case "below" | "above":
            return by_bound(claim, np.atleast_1d(np.asarray(found, dtype=float)), reason)
        case "lower" | "higher" if claim.unit == "%":
            verdict = by_range(claim, np.atleast_1d(np.asarray(found, dtype=float)), reason)
            return verdict if np.ndim(found) else replace(verdict, value=verdict.value[:1])
        case "best at":
            return by_place(claim, float(np.asarray(found)), reason)
    return by_size(claim, float(np.asarray(found)), reason)


def by_trend(claim: PublishedClaim, values: Values, reason: str) -> Verdict:
    """Judge a rise or a fall by the signs of Kendall's tau and of last minus first; the value is both ends."""
    got = _finite(claim, values)
    sign = 1 if claim.relation == "rising" else -1
    tau = kendall(got)
    holds = sign * tau > 0 and sign * (got[-1] - got[0]) > 0
    steps = sign * np.diff(got)
    kind = "monotone" if (steps >= 0).all() or (steps <= 0).all() else f"not monotone, Kendall tau {tau:.2f}"
    ends = (float(got[0]), float(got[-1]))
    return Verdict(claim.id, ends, word_on(STATEMENT, [holds]), f"{reason}; {kind}", quantity="first and last")


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
