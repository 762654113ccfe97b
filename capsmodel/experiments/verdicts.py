"""How a published claim or number is judged against a computed one; the rules are fixed before any value is known.

=============== ======================================================================================================
Verdict         Meaning
=============== ======================================================================================================
reproduced      our value has the claimed direction and, where the claim has a size, lies within its reading error
differs in size the direction holds, or the bound holds on a part of the sweep; the size does not
refuted         the direction, the place of the optimum, or the statement is wrong
not testable    nothing computable is claimed, or what would decide it is not in the paper
=============== ======================================================================================================
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, TypeVar

import numpy as np

from capsmodel._checks import FloatArray
from capsmodel._paper_index import Claim, PrintedNumber, read_claims

VerdictWord = Literal["reproduced", "differs in size", "refuted", "not testable"]
VERDICT_WORDS: tuple[VerdictWord, ...] = ("reproduced", "differs in size", "refuted", "not testable")

APPROX_RELATIVE = 0.05
"""Relative distance at which a number given as "about" or "nearly" still counts as met."""
CLOSE_RELATIVE = 0.10
"""Relative distance at which two schemes called close, or one only mildly worse, still count so."""


@dataclass(frozen=True)
class Verdict:
    """Our value for a claim or a number, the verdict on it, and why.

    Attributes
    ----------
    id : str
        The claim or the number.
    value : tuple of float
        What the package computes, in the unit of the claim; empty when nothing can be computed.
    verdict : str
        One of `VERDICT_WORDS`.
    reason : str
        Setting chosen where the paper leaves one out, and what explains a difference.
    interval : tuple of float
        Low and high end of the 95% interval of a single measured value; empty where a formula gives it exactly.
    """

    id: str
    value: tuple[float, ...]
    verdict: VerdictWord
    reason: str
    interval: tuple[float, ...] = ()


ClaimFunction = Callable[[Claim], Verdict]
Values = Sequence[float] | FloatArray
NumberFunction = Callable[[], Values | float | bool]

ComputedT = TypeVar("ComputedT", bound=NumberFunction)

_JUDGES: dict[str, ClaimFunction] = {}
_VALUES: dict[str, NumberFunction] = {}


def judges(*claim_ids: str) -> Callable[[ClaimFunction], ClaimFunction]:
    """Register a function as the judge of closed-form claims."""

    def register(function: ClaimFunction) -> ClaimFunction:
        _JUDGES.update(dict.fromkeys(claim_ids, function))
        return function

    return register


def computes(number_id: str) -> Callable[[ComputedT], ComputedT]:
    """Register a function as the one that computes a printed number."""

    def register(function: ComputedT) -> ComputedT:
        _VALUES[number_id] = function
        return function

    return register


def registered_claims() -> frozenset[str]:
    """Return the ids of all claims that have a judge."""
    return frozenset(_JUDGES)


def registered_numbers() -> frozenset[str]:
    """Return the ids of all numbers that have a computing function."""
    return frozenset(_VALUES)


def judge(claim: Claim) -> Verdict:
    """Return the verdict on a closed-form claim."""
    return _JUDGES[claim.id](claim)


def cell(claim_id: str) -> float:
    """Return a number that a paper prints in a table, from its row in ``claims.csv``."""
    return float(read_claims()[claim_id].low)


def reading_error(printed: str) -> float:
    """Return half a unit of the last digit printed."""
    exponent = Decimal(printed).as_tuple().exponent
    return 0.5 * 10.0 ** int(exponent)


def by_size(claim: Claim, value: float, reason: str) -> Verdict:
    """Judge a value against a claimed one: exact to its reading error, an "about" to `APPROX_RELATIVE`."""
    printed = float(claim.low)
    allowed = APPROX_RELATIVE * abs(printed) if claim.relation == "approx" else reading_error(claim.low)
    word: VerdictWord = "reproduced" if abs(value - printed) <= allowed * (1 + 1e-9) else "differs in size"
    return Verdict(claim.id, (value,), word, reason)


def by_truth(claim: Claim, holds: bool, value: float, reason: str) -> Verdict:
    """Judge a statement that either holds or does not."""
    return Verdict(claim.id, (value,), "reproduced" if holds else "refuted", reason)


def by_place(claim: Claim, place: float, reason: str) -> Verdict:
    """Judge the place of an optimum."""
    return Verdict(claim.id, (place,), "reproduced" if place == float(claim.low) else "refuted", reason)


def by_bound(claim: Claim, values: Values, reason: str) -> Verdict:
    """Judge an upper bound over a sweep: it may hold everywhere, on a part, or nowhere."""
    below = np.asarray(values) < float(claim.high)
    word: VerdictWord = "reproduced" if below.all() else "differs in size" if below.any() else "refuted"
    return Verdict(claim.id, (float(np.max(values)),), word, reason)


def by_range(claim: Claim, values: Values, reason: str) -> Verdict:
    """Judge a range of reductions or increases over a sweep: all inside it, of the right sign, or not."""
    got = np.asarray(values, dtype=float)
    low, high = float(claim.low or -np.inf), float(claim.high or np.inf)
    inside = (got >= low) & (got <= high)
    word: VerdictWord = "reproduced" if inside.all() else "differs in size" if (got > 0).any() else "refuted"
    return Verdict(claim.id, (float(got.min()), float(got.max())), word, reason)


def by_order(claim: Claim, subject: Values, baseline: Values, reason: str) -> Verdict:
    """Judge an ordering that must hold at every point of a sweep; the value is the range of subject over baseline."""
    ratio = np.asarray(subject, dtype=float) / np.asarray(baseline, dtype=float)
    holds = ratio < 1 if claim.unit == "lower" else ratio > 1
    word: VerdictWord = "reproduced" if holds.all() else "refuted"
    return Verdict(claim.id, (float(ratio.min()), float(ratio.max())), word, reason)


def by_closeness(claim: Claim, subject: Values, baseline: Values, reason: str) -> Verdict:
    """Judge "about equal": within `CLOSE_RELATIVE` at every point, at some, or at none."""
    ratio = np.asarray(subject, dtype=float) / np.asarray(baseline, dtype=float)
    close = np.abs(ratio - 1) <= CLOSE_RELATIVE
    word: VerdictWord = "reproduced" if close.all() else "differs in size" if close.any() else "refuted"
    return Verdict(claim.id, (float(ratio.min()), float(ratio.max())), word, reason)


def _kendall(values: FloatArray) -> float:
    """Return Kendall's tau-a of the values against their order: 1 rising, -1 falling, sawteeth in between."""
    signs = np.sign(values[np.newaxis, :] - values[:, np.newaxis])
    pairs = len(values) * (len(values) - 1) / 2
    return float(np.sum(np.triu(signs, 1)) / pairs)


def by_trend(claim: Claim, values: Values, reason: str) -> Verdict:
    """Judge a rise or a fall by the signs of Kendall's tau and of last minus first; the value is both ends."""
    got = np.asarray(values, dtype=float)
    sign = 1 if claim.unit == "increasing" else -1
    tau = _kendall(got)
    holds = sign * tau > 0 and sign * (got[-1] - got[0]) > 0
    steps = sign * np.diff(got)
    kind = "monotone" if (steps >= 0).all() or (steps <= 0).all() else f"not monotone, Kendall tau {tau:.2f}"
    ends = (float(got[0]), float(got[-1]))
    return Verdict(claim.id, ends, "reproduced" if holds else "refuted", f"{reason}; {kind}")


def not_testable(claim: Claim, reason: str) -> Verdict:
    """Record why a claim cannot be decided here."""
    return Verdict(claim.id, (), "not testable", reason)


def judge_number(number: PrintedNumber) -> Verdict:
    """Return our value for a printed number and the verdict on it."""
    computed = _VALUES[number.id]()
    if isinstance(computed, bool):
        return Verdict(number.id, (float(computed),), "reproduced" if computed else "refuted", number.note)
    ours = np.atleast_1d(np.asarray(computed, dtype=float))
    value = tuple(float(x) for x in ours)
    if number.relation == "none":
        return Verdict(number.id, value, "not testable", number.note or "the paper prints no value for it")
    met = _meets(number, ours, np.asarray(number.printed, dtype=float))
    return Verdict(number.id, value, "reproduced" if met else "differs in size", number.note)


def _meets(number: PrintedNumber, ours: FloatArray, printed: FloatArray) -> bool:
    if number.relation == "within":
        return bool(np.all((ours >= printed[0]) & (ours <= printed[1])))
    if number.relation == "equal":
        return bool(np.all(np.abs(ours - printed) <= number.reading_error * (1 + 1e-9)))
    slack = 1e-12 * np.abs(printed)
    return bool(np.all(ours <= printed + slack) if number.relation == "at_most" else np.all(ours >= printed - slack))
