"""The verdict on every published claim and number that needs no simulation."""

from capsmodel.papers.closed_forms import caps, cdcps, dc2mtcp, mmptcp, repflow
from capsmodel.papers.index import Claim, PrintedNumber, chosen, closed_form_claims
from capsmodel.papers.printed_numbers import judge_number
from capsmodel.papers.verdicts import VERDICT_WORDS, Verdict, judge

__all__ = [
    "PAPER_MODULES",
    "VERDICT_WORDS",
    "Claim",
    "PrintedNumber",
    "Verdict",
    "closed_form_verdicts",
    "number_verdicts",
]

# Importing one of them registers its judges and its numbers.
PAPER_MODULES = (caps, mmptcp, repflow, cdcps, dc2mtcp)


def closed_form_verdicts() -> tuple[tuple[Claim, Verdict], ...]:
    """Return every claim that a closed form tests, with our value and verdict, in the order of ``claims.csv``.

    Returns
    -------
    tuple of (Claim, Verdict)
        Claims that do not reproduce are among them.

    Examples
    --------
    >>> claim, verdict = next(row for row in closed_form_verdicts() if row[0].id == "caps-optk-0.2")
    >>> claim.low, verdict.value, verdict.verdict
    ('29', (61.0,), 'refuted')
    """
    return tuple((claim, judge(claim)) for claim in closed_form_claims())


def number_verdicts(paper: str | None = None) -> tuple[tuple[PrintedNumber, Verdict], ...]:
    """Return every printed number of the index, with our value and verdict.

    Parameters
    ----------
    paper : str, optional
        Key of one paper; all by default.

    Returns
    -------
    tuple of (PrintedNumber, Verdict)
        In the order of the index.

    Raises
    ------
    ParameterError
        If `paper` is unknown.

    Examples
    --------
    >>> [verdict.verdict for number, verdict in number_verdicts("caps") if number.id == "caps-fig7a"]
    ['reproduced']
    """
    return tuple((number, judge_number(number)) for found in chosen(paper) for number in found.numbers)
