"""A published claim, our value and the verdict in sentences."""

from collections.abc import Sequence

from capsmodel.cli.shared.numbers import number
from capsmodel.papers.index import Claim, LedgerEntry, Quantity
from capsmodel.papers.verdicts import Verdict

# Relations that are said by their sign or word in front of the number.
_RELATIONS = {
    "less_than": "below ",
    "greater_than": "above ",
    "approx": "about ",
    "ratio": "a ratio of ",
    "reduction_pct": "a reduction by ",
    "increase_pct": "an increase by ",
    "argmax": "an optimum at ",
}
_QUANTITIES: dict[Quantity, str] = {
    "ratio": "a ratio of ",
    "difference": "a difference of ",
    "reduction, %": "a reduction by ",
    "relative distance": "a relative distance of ",
    "Kendall's tau": "a Kendall's tau of ",
    "first and last": "from ",
    "place of the least": "the least at ",
}
_PLAIN = frozenset({"ratio", "fraction", "probability", "x", "1 if true", "relative difference", "close"})


def claim_text(claim: Claim, found: LedgerEntry | Verdict) -> list[str]:
    """Return what the paper says in our words, what we have, and why, a sentence or two each."""
    printed = printed_size(claim)
    said = f"The paper ({claim.where}): {claim.text}" + (f", {printed}" if printed else "") + "."
    ours = [f"Ours: {our_value(claim, found)}."] if found.value else []
    return [said, *ours, *filter(None, [_why(claim, found)])]


def printed_size(claim: Claim) -> str:
    """Return the number or the direction that is claimed; empty where there is none."""
    low, high = claim.low, claim.high
    if not (low or high):
        return claim.unit if claim.relation in ("ordering", "trend") else ""
    size = low if low == high else f"{low} to {high}" if low and high else f"at least {low}" if low else f"up to {high}"
    return f"{_RELATIONS.get(claim.relation, '')}{size}{_unit(claim)}"


def _unit(claim: Claim) -> str:
    """Return the unit behind a number; a plain number has none, nor has a direction."""
    return "" if claim.unit in _PLAIN or claim.relation in ("ordering", "trend") else f" {claim.unit}"


def our_value(claim: Claim, found: LedgerEntry | Verdict) -> str:
    """Return what we have, with its unit and its interval."""
    values = " to ".join(map(number, found.value))
    interval = f", interval {' to '.join(map(number, found.interval))}" if found.interval else ""
    if found.quantity:
        return _QUANTITIES[found.quantity] + values + _behind(claim, found.quantity) + interval
    if claim.relation == "statement" and claim.unit == "1 if true":
        return "it holds" if found.value[0] else "it does not hold"
    return values + _unit(claim) + interval


def _behind(claim: Claim, quantity: Quantity) -> str:
    """Return what stands behind a number that is not in the unit of the claim."""
    if quantity == "difference":
        return f" in {claim.metric}" + (", subject minus baseline" if claim.relation == "ordering" else "")
    return " %" if quantity == "reduction, %" else ""


def skewed(least: float, most: float) -> str:
    """Return a sentence on the skewness of the samples of a claim.

    Examples
    --------
    >>> skewed(-0.25, 3.1), skewed(1.5, 1.5)
    ('Skewness of the samples: -0.25 to 3.1.', 'Skewness of the samples: 1.5.')
    """
    return f"Skewness of the samples: {' to '.join(dict.fromkeys((number(least), number(most))))}."


def _why(claim: Claim, found: LedgerEntry | Verdict) -> str:
    decided_by = found.decided_by if isinstance(found, LedgerEntry) else ""
    reason = f"Why: {found.reason.rstrip('.')}." if found.reason else ""
    place = decided_by or f"waits for {claim.experiment_id}"
    return " ".join(part for part in (reason, f"({place})" if isinstance(found, LedgerEntry) else "") if part)


def counted(words: Sequence[str], order: Sequence[str]) -> str:
    """Return how often each word occurs, in the order given: ``12 reproduced, 61 open``.

    Examples
    --------
    >>> counted(["open", "refuted", "open"], ["reproduced", "refuted", "open"])
    '1 refuted, 2 open'
    """
    return ", ".join(f"{words.count(word)} {word.replace('differs', 'differ')}" for word in order if word in words)
