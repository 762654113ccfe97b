"""A published claim, our value and the verdict in sentences."""

import re
from collections.abc import Sequence

from capsmodel.experiments.number_texts import number
from capsmodel.papers import LedgerEntry, PublishedClaim
from capsmodel.papers.index import Quantity

# Relations that are said by their sign or word in front of the number.
_RELATIONS = {
    "below": "below ",
    "above": "above ",
    "best at": "an optimum at ",
}
_OF_PERCENT = {"lower": "a reduction by ", "higher": "an increase by "}
_POINT = re.compile(r"(.*): ([^ ]+) \(([^ ]+), ([^ ]+)\)")
_QUANTITIES: dict[Quantity, str] = {
    "ratio": "a ratio of ",
    "difference": "a difference of ",
    "reduction, %": "a reduction by ",
    "relative distance": "a relative distance of ",
    "Kendall's tau": "a Kendall's tau of ",
    "first and last": "from ",
    "place of the least": "the least at ",
}


def claim_text(claim: PublishedClaim, entry: LedgerEntry) -> list[str]:
    """Return what the paper says in our words, what we have, why, and the cause of a difference where it is known."""
    printed = printed_size(claim)
    paper_says = f"The paper ({claim.where}): {claim.text}" + (f", {printed}" if printed else "") + "."
    ours = [f"Ours: {our_value(claim, entry)}."] if entry.value else []
    cause = f"Cause: {claim.cause.rstrip('.')}." if claim.cause else ""
    return [paper_says, *ours, *filter(None, [_why(claim, entry), cause])]


def printed_size(claim: PublishedClaim) -> str:
    """Return the number or the direction that is claimed; empty where there is none."""
    low, high = claim.low, claim.high
    if not claim.printed:
        return "" if claim.relation in ("close", "true") else claim.relation
    if claim.relation in ("below", "above"):
        size = low or high
    else:
        size = (
            low
            if low == high
            else f"{low} to {high}"
            if low and high
            else f"at least {low}"
            if low
            else f"up to {high}"
        )
    return f"{_before(claim)}{size}{_unit(claim)}"


def _before(claim: PublishedClaim) -> str:
    """Return what is said in front of a printed number."""
    if claim.relation in _OF_PERCENT:
        return _OF_PERCENT[claim.relation] if claim.unit == "%" else "a ratio of "
    return _RELATIONS.get(claim.relation, "about " if claim.about else "")


def _unit(claim: PublishedClaim) -> str:
    """Return the unit behind a number; a plain number, and a ratio, have none."""
    return "" if claim.unit in ("", "x") else f" {claim.unit}"


def our_value(claim: PublishedClaim, entry: LedgerEntry) -> str:
    """Return what we have, with its unit and its interval."""
    values = " to ".join(map(number, entry.value))
    interval = f", interval {' to '.join(map(number, entry.interval))}" if entry.interval else ""
    if entry.quantity:
        return _QUANTITIES[entry.quantity] + values + _behind(claim, entry.quantity) + interval
    if claim.relation == "true" and entry.value[0] in (0.0, 1.0):
        return "it holds" if entry.value[0] else "it does not hold"
    return values + _unit(claim) + interval


def _behind(claim: PublishedClaim, quantity: Quantity) -> str:
    """Return what stands behind a number that is not in the unit of the claim."""
    if quantity == "difference":
        return f" in {claim.metric}" + (", subject minus baseline" if claim.relation in ("lower", "higher") else "")
    return " %" if quantity == "reduction, %" else ""


def points_of(entry: LedgerEntry) -> list[dict[str, str]]:
    """Return our value at each point with its interval, as the ledger has them."""
    parts = (_POINT.fullmatch(point) for point in entry.points.split("; ") if point)
    return [dict(zip(("point", "ours", "from", "to"), part.groups(), strict=True)) for part in parts if part]


def skewed(least: float, most: float) -> str:
    """Return a sentence on the skewness of the samples of a claim.

    Examples
    --------
    >>> skewed(-0.25, 3.1), skewed(1.5, 1.5)
    ('Skewness of the samples: -0.25 to 3.1.', 'Skewness of the samples: 1.5.')
    """
    return f"Skewness of the samples: {' to '.join(dict.fromkeys((number(least), number(most))))}."


def _why(claim: PublishedClaim, entry: LedgerEntry) -> str:
    reason = f"Why: {entry.reason.rstrip('.')}." if entry.reason else ""
    place = entry.decided_by
    return " ".join(filter(None, (_seeds(entry), reason, f"({place})" if place else "")))


def _seeds(entry: LedgerEntry) -> str:
    """Return how many seeds decide, or do not, and about what; empty where no runs do."""
    if not entry.seeds:
        return ""
    decided = f"{entry.seeds} seeds do not decide" if entry.verdict == "open" else f"Decided with {entry.seeds} seeds"
    return f"{decided}, about the {entry.about}."


def counted(verdicts: Sequence[str], order: Sequence[str]) -> str:
    """Return how often each verdict occurs, in the order given: ``agrees 12, open 61``.

    Examples
    --------
    >>> counted(["open", "fails", "open"], ["agrees", "fails", "open"])
    'fails 1, open 2'
    """
    return ", ".join(f"{verdict} {verdicts.count(verdict)}" for verdict in order if verdict in verdicts)
