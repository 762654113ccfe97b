"""How a published claim is judged against a computed or a measured value: the words (`MEANINGS`) and their rules.

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
  alone; in which others the verdict holds is told beside it (:mod:`capsmodel.papers.settings`).

Not all of these rules are older than the values they judge. The reading error of a size, `APPROX_RELATIVE`,
`CLOSE_RELATIVE`, trends, and that a bound may hold on a part came with the first values and have not changed. Changed
or added when values were known: ranges were met within 5%, then as printed, and bounds as printed (RepFlow Fig. 6 and
CAPS Fig. 10(b) depend on it); "much" meant sooner at every decile, then by 10% in the mean (CAPS Fig. 2(c)) or any
difference (Fig. 9(b)); "significantly" was any difference (Fig. 2(a)); an order was refuted when it failed anywhere
(Fig. 7(c)), a monotone fall when it rose anywhere (Fig. 8(c)), a joint claim with its worse half (Fig. 8(c)-(d)), a
measured direction when it was undecided; a printed size was met by any interval that contained it, and in an experiment
only by one that lay within its reading error, which no affordable number of runs gives (cells of MMPTCP's tables, which
stayed open, are reproduced by the rule of the figures); what a paper prints of its whole fabric was compared with runs
of a reduced one in other settings than the text's, and such a setting turned a verdict wherever it had another word,
proven to change something or not; tails were carried over from the reduced fabric as means are; the best k had to equal
the printed one; settings were not swept (Fig. 2(b) and 8(d)); Fig. 10(a) had two p_B; "ten times" was compared with ten
and not with the table that it sums up (RepFlow Table I); numbers that follow from formulas and tables had verdicts of
their own beside those of the claims; "the opposite" of a significant rise was no rise at all (MMPTCP Fig. 3(d), whose
section says that loss rises under all schemes); experiments took "up to" for anything from no difference on; a printed
difference had no direction; four runs that agree in a count, or in a rank correlation, decided it; orders of magnitude
of an experiment were met within 5%; the longest flow of DC2-MTCP's Fig. 4(d) was that of a run, then that of all runs,
which is longer the more there are, and is that of a run again; completion times of RepFlow were in seconds; delta and
beta of DC2-MTCP had to be the best, which its Section IV-A does not say; a single percentage was met in an experiment
only by an interval within 5% of it, and a bound from below had no reading error there; 16 runs with none of an event
refuted that there is some (MMPTCP Section 3.2); what could not be looked at did not count for the size that differences
go "up to"; ratios of runs were averaged arithmetically in CAPS Fig. 1, 2, 4 and RepFlow Table I; that some points of a
figure are met and others missed was said at the level of a single one.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal, TypeVar

import numpy as np
import numpy.typing as npt

from capsmodel.checks import FloatArray, IntArray, require
from capsmodel.experiments.statistics.intervals import Interval
from capsmodel.papers.index import Claim, Quantity, read_checks, read_claims

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
        (:mod:`capsmodel.papers.decisions`) in an experiment; empty where a formula gives it exactly.
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
Holds = bool | np.bool_ | None
"""Whether a statement holds; None where a sample does not decide."""

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


def reading_error(printed: str) -> float:
    """Return half a unit of the last printed digit."""
    exponent = Decimal(printed).as_tuple().exponent
    return 0.5 * 10.0 ** int(exponent)


def tolerance(claim: Claim, printed: str) -> float:
    """Return how far a value may lie from a number that the claim prints."""
    allowed = APPROX_RELATIVE * abs(float(printed)) if claim.relation in _ROUND_FIGURES else reading_error(printed)
    return allowed + ROUNDING * (allowed + abs(float(printed)))


def printed_range(claim: Claim) -> tuple[float, float]:
    """Return the values that a claim allows: its bounds, each moved out by its tolerance; infinite for an open end."""
    low = float(claim.low) - tolerance(claim, claim.low) if claim.low else -np.inf
    high = float(claim.high) + tolerance(claim, claim.high) if claim.high else np.inf
    return low, high


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


def kendall(values: FloatArray) -> float:
    """Return Kendall's tau-a of the values against their order: 1 rising, -1 falling, in between a sawtooth."""
    signs = np.sign(values[np.newaxis, :] - values[:, np.newaxis])
    pairs = len(values) * (len(values) - 1) / 2
    return float(np.sum(np.triu(signs, 1)) / pairs)


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
