"""Verdicts on published claims against computed or measured values: the words (`MEANINGS`) and their rules.

- *Reading error.* A printed number, be it a size, a bound or an end of a range, is met within half a unit of its last
  digit; one that papers give in round figures (relations `approx`, `ratio`, `reduction_pct` and `increase_pct`) within
  `APPROX_RELATIVE`.
- *Up to.* A difference of up to some size is passed at no point, and reached (within its reading error) at one.
- *Words.* "Close", "significantly" and "much" have the sizes of the constants below.
- *Noise.* A measured value is its interval, of 95% in a figure. A statement holds where the whole interval supports it,
  fails where the whole interval contradicts it, and is undecided otherwise; a claim that depends on an undecided one
  stays open. A printed size is met by an interval that contains it (within its reading error) and lies close to it as a
  whole (`CLOSE_RELATIVE`), and missed by one that does not contain it. So a value that is off by a few per cent has the
  word that its runs prove first. That *some* of several points is met or missed takes a part of the level of each.
- *Twice.* What is refuted was found in two ways: by two disjoint families of seeds in an experiment, otherwise by the
  judge and by what ``data/papers/checks.toml`` names: another implementation, another argument, or other seeds.
- *Settings.* Where a paper leaves a setting out and a figure sweeps it, the size is judged at the value chosen for it,
  and the claim is refuted only if its direction fails at all values. An experiment is judged in the setting of the text
  alone; in which others the verdict holds is reported beside it (:mod:`capsmodel.papers.settings`).

Rules that were changed when values were known are listed in ``docs/verdict_rules.md``, with dates.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from capsmodel.checks import FloatArray, IntArray, require
from capsmodel.experiments.printed import Printed
from capsmodel.experiments.words import (
    ANY_SIZE,
    SIGNIFICANTLY,
    VerdictWord,
    kendall,
    verdict_word,
)
from capsmodel.papers.index import Claim, Quantity, read_checks, read_claims

__all__ = [
    "ClaimFunction",
    "ValueFunction",
    "Values",
    "Verdict",
    "by_bound",
    "by_closeness",
    "by_order",
    "by_place",
    "by_range",
    "by_size",
    "by_trend",
    "by_truth",
    "by_value",
    "cell",
    "checked",
    "judge",
    "judged_by_value",
    "judges",
    "not_testable",
    "of_sample",
    "printed_of",
    "printed_range",
    "registered_claims",
    "tolerance",
]

_ROUND_FIGURES = frozenset({"approx", "ratio", "reduction_pct", "increase_pct"})


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
        (:mod:`capsim.study.decide`) in an experiment; empty where a formula gives it exactly.
    quantity : str
        What the value is; in the unit of the claim when left out.
    """

    id: str
    value: tuple[float, ...]
    verdict: VerdictWord
    reason: str
    interval: tuple[float, ...] = ()
    quantity: Quantity = ""


ClaimFunction = Callable[[Claim], Verdict]
ValueFunction = Callable[[], float]
ValueFunctionT = TypeVar("ValueFunctionT", bound=ValueFunction)
Values = Sequence[float] | FloatArray | IntArray
_JUDGES: dict[str, ClaimFunction] = {}


def judges(*claim_ids: str) -> Callable[[ClaimFunction], ClaimFunction]:
    """Register a function as the judge of closed-form claims, each of which has one judge."""

    def register(function: ClaimFunction) -> ClaimFunction:
        if twice := _JUDGES.keys() & set(claim_ids):
            raise ValueError(f"claims with two judges: {', '.join(sorted(twice))}")
        _JUDGES.update(dict.fromkeys(claim_ids, function))
        return function

    return register


def judged_by_value(claim_id: str, reason: str) -> Callable[[ValueFunctionT], ValueFunctionT]:
    """Register as the judge of a closed-form claim that its value, which the function returns, has the relation."""

    def register(function: ValueFunctionT) -> ValueFunctionT:
        judges(claim_id)(lambda claim: by_value(claim, function(), reason))
        return function

    return register


def registered_claims() -> frozenset[str]:
    """Return the ids of all claims that have a judge."""
    return frozenset(_JUDGES)


def judge(claim: Claim) -> Verdict:
    """Return the verdict on a closed-form claim."""
    return _JUDGES[claim.id](claim)


def cell(claim_id: str) -> float:
    """Return a number that a paper prints in a table, from its row in ``claims.csv``."""
    return float(read_claims()[claim_id].low)


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


def printed_of(claim: Claim) -> Printed:
    """Return what a claim prints."""
    return Printed(claim.low, claim.high, claim.unit, claim.relation in _ROUND_FIGURES)


def tolerance(claim: Claim, printed: str) -> float:
    """Return how far a value may lie from a number that the claim prints."""
    return printed_of(claim).tolerance(printed)


def printed_range(claim: Claim) -> tuple[float, float]:
    """Return the values that a claim allows: its bounds, each moved out by its tolerance; infinite for an open end."""
    return printed_of(claim).range


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
    low, high = printed_range(replace(claim, low="") if claim.relation == "less_than" else replace(claim, high=""))
    worst = got.max() if claim.relation == "less_than" else got.min()
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
    lower = claim.unit == "lower"
    met, direction = (ratio < one[0] if lower else ratio > one[1] for one in (size, ANY_SIZE))
    return Verdict(claim.id, _ends(ratio), verdict_word(met, direction), reason, quantity="ratio")


def by_closeness(claim: Claim, subject: Values, baseline: Values, reason: str) -> Verdict:
    """Judge "about equal" over a sweep; the value is the range of subject over baseline."""
    ratio = _finite(claim, np.asarray(subject, dtype=float) / np.asarray(baseline, dtype=float))
    low, high = SIGNIFICANTLY
    return Verdict(claim.id, _ends(ratio), verdict_word((ratio >= low) & (ratio <= high)), reason, quantity="ratio")


def by_value(claim: Claim, value: float, reason: str) -> Verdict:
    """Judge one value by the relation of the claim; the value of a statement is whether it holds."""
    match claim.relation:
        case "statement":
            return by_truth(claim, bool(value), float(value), reason)
        case "less_than" | "greater_than":
            return by_bound(claim, [value], reason)
        case "reduction_pct" | "increase_pct":
            return replace(by_range(claim, [value], reason), value=(value,))
        case "argmax":
            return by_place(claim, value, reason)
    return by_size(claim, value, reason)


def by_trend(claim: Claim, values: Values, reason: str) -> Verdict:
    """Judge a rise or a fall by the signs of Kendall's tau and of last minus first; the value is both ends."""
    got = _finite(claim, values)
    sign = 1 if claim.unit == "increasing" else -1
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
