"""Verdicts on published claims against computed or measured values: the words (`MEANINGS`) and their rules.

- *Reading error.* A printed number, be it a size, a bound or an end of a range, is met within half a unit of its last
  digit; one that papers give in round figures (printed with ``~``, as a ratio or as a difference in percent) within
  `APPROX_RELATIVE`.
- *Up to.* A difference of up to some size is passed at no point, and reached (within its reading error) at one.
- *Words.* "Close", "significantly" and "much" have the sizes of the constants below.
- *Noise.* A measured value is its interval, of 95% in a figure. A statement holds where the whole interval supports it,
  fails where the whole interval contradicts it, and is undecided otherwise; a claim that depends on an undecided one
  stays open. A printed size is met by an interval that contains it (within its reading error) and lies close to it as a
  whole (`CLOSE_RELATIVE`), and missed by one that does not contain it. So a value that is off by a few per cent has the
  word that its runs prove first. That *some* of several points is met or missed takes a part of the level of each.
- *Twice.* What is refuted was found in two ways: by two disjoint families of seeds in a study, otherwise by the
  judge and by what ``data/papers/checks.toml`` names: another implementation, another argument, or other seeds.
- *Settings.* Where a paper leaves a setting out and a figure sweeps it, the size is judged at the value chosen for it,
  and the claim is refuted only if its direction fails at all values. A study is judged in the setting of the text
  alone; in which others the verdict holds is reported beside it (:mod:`capsim.study.campaign`).

Rules that were changed when values were known are listed in ``docs/verdict_rules.md``, with dates.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from capsmodel.checks import FloatArray, IntArray, require
from capsmodel.experiments.words import ANY_SIZE, MUCH, SIGNIFICANTLY, VerdictWord, kendall, verdict_word
from capsmodel.papers.claim_list import Claim, read_claims
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


def tolerance(claim: Claim, printed: str) -> float:
    """Return how far a value may lie from a number that the claim prints."""
    return claim.said.tolerance(printed)


def printed_range(claim: Claim) -> tuple[float, float]:
    """Return the values that a claim allows: its bounds, each moved out by its tolerance; infinite for an open end."""
    return claim.said.range


def of_sample(verdict: Verdict, sample: str) -> Verdict:
    """Return the verdict; if it is open, its reason first names the sample that does not decide, such as "30 runs"."""
    if verdict.verdict != "open":
        return verdict
    return replace(verdict, reason=f"{sample} do not decide: {verdict.reason}")


def checked(verdict: Verdict) -> Verdict:
    """Return the verdict of a figure's runs; what they refute is open unless its check in ``checks.toml`` does too."""
    check = read_checks().get(verdict.id)
    if verdict.verdict != "refuted" or (check and check.refutes):
        return verdict
    known = f"another check does not: {check.how.rstrip('.')}" if check else "and no other check was made"
    reason = f"{verdict.reason}; these runs refute it, {known}"
    return of_sample(replace(verdict, verdict="open", reason=reason), "the runs")


def _ends(values: npt.ArrayLike) -> tuple[float, float]:
    return float(np.min(values)), float(np.max(values))


def _finite(claim: Claim, values: npt.ArrayLike) -> FloatArray:
    """Return values that can be judged: each comparison with NaN fails, which would be a word."""
    got = np.asarray(values, dtype=float)
    require(np.isfinite(got), f"{claim.id}: {got.tolist()} are not all finite numbers, so there is nothing to judge")
    return got


def by_size(claim: Claim, value: float, reason: str) -> Verdict:
    """Judge a value against a claimed one."""
    _finite(claim, value)
    met = abs(value - float(claim.low)) <= tolerance(claim, claim.low)
    return Verdict(claim.id, (value,), "reproduced" if met else "differs in size", reason)


def by_truth(claim: Claim, holds: bool, value: float, reason: str) -> Verdict:
    """Judge a statement that either holds or does not."""
    _finite(claim, value)
    return Verdict(claim.id, (value,), "reproduced" if holds else "refuted", reason)


def by_place(claim: Claim, place: float, reason: str, *, near: tuple[float, float] | None = None) -> Verdict:
    """Judge the place of an optimum; `near` are the outermost places that are as good, where the optimum is flat."""
    low, high = _finite(claim, near or (place, place))
    return Verdict(claim.id, (place,), "reproduced" if low <= float(claim.low) <= high else "refuted", reason)


def by_bound(claim: Claim, values: Values, reason: str) -> Verdict:
    """Judge a bound over a sweep; the value is the one nearest to it or farthest beyond."""
    got = _finite(claim, values)
    low, high = printed_range(claim)
    worst = got.max() if claim.relation == "below" else got.min()
    return Verdict(claim.id, (float(worst),), verdict_word((got >= low) & (got <= high)), reason)


def by_range(claim: Claim, values: Values, reason: str) -> Verdict:
    """Judge a range of reductions or increases over a sweep: all inside it, of the right sign, or not."""
    got = _finite(claim, values)
    low, high = printed_range(claim)
    return Verdict(claim.id, _ends(got), verdict_word((got >= low) & (got <= high), got > 0), reason)


def by_order(
    claim: Claim, subject: Values, baseline: Values, reason: str, *, size: tuple[float, float] = ANY_SIZE
) -> Verdict:
    """Judge an order over a sweep, with the size of its words; the value is the range of subject over baseline."""
    ratio = _finite(claim, np.asarray(subject, dtype=float) / np.asarray(baseline, dtype=float))
    lower = claim.relation == "lower"
    met, direction = (ratio < one[0] if lower else ratio > one[1] for one in (size, ANY_SIZE))
    return Verdict(claim.id, _ends(ratio), verdict_word(met, direction), reason, quantity="ratio")


def by_closeness(claim: Claim, subject: Values, baseline: Values, reason: str) -> Verdict:
    """Judge "about equal" over a sweep; the value is the range of subject over baseline."""
    ratio = _finite(claim, np.asarray(subject, dtype=float) / np.asarray(baseline, dtype=float))
    low, high = SIGNIFICANTLY
    return Verdict(claim.id, _ends(ratio), verdict_word((ratio >= low) & (ratio <= high)), reason, quantity="ratio")


def by_relation(claim: Claim, found: Computed, reason: str = "") -> Verdict:
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


def by_trend(claim: Claim, values: Values, reason: str) -> Verdict:
    """Judge a rise or a fall by the signs of Kendall's tau and of last minus first; the value is both ends."""
    got = _finite(claim, values)
    sign = 1 if claim.relation == "rising" else -1
    tau = kendall(got)
    holds = sign * tau > 0 and sign * (got[-1] - got[0]) > 0
    steps = sign * np.diff(got)
    kind = "monotone" if (steps >= 0).all() or (steps <= 0).all() else f"not monotone, Kendall tau {tau:.2f}"
    ends = (float(got[0]), float(got[-1]))
    word: VerdictWord = "reproduced" if holds else "refuted"
    return Verdict(claim.id, ends, word, f"{reason}; {kind}", quantity="first and last")


def not_testable(claim: Claim, reason: str) -> Verdict:
    """Record why a claim cannot be decided here."""
    return Verdict(claim.id, (), "not testable", reason)
