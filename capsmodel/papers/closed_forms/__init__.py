"""The verdict on every published claim that needs no simulation."""

from capsmodel.papers.closed_forms import caps, cdcps, dc2mtcp, mmptcp, repflow
from capsmodel.papers.index import Claim, closed_form_claims
from capsmodel.papers.verdicts import Verdict, judge

__all__ = ["PAPER_MODULES", "Claim", "Verdict", "closed_form_verdict", "closed_form_verdicts"]

# Importing one of them registers its judges.
PAPER_MODULES = (caps, mmptcp, repflow, cdcps, dc2mtcp)


def closed_form_verdicts() -> tuple[tuple[Claim, Verdict], ...]:
    """Return every claim that a closed form tests, with our value and verdict, in the order of ``claims.csv``.

    Returns
    -------
    tuple of (Claim, Verdict)
        Claims that do not reproduce are included.

    Examples
    --------
    >>> claim, verdict = next(row for row in closed_form_verdicts() if row[0].id == "caps-optk-0.2")
    >>> claim.low, verdict.value, verdict.verdict
    ('29', (61.0,), 'refuted')
    """
    return tuple((claim, judge(claim)) for claim in closed_form_claims())


def closed_form_verdict(claim: Claim) -> Verdict:
    """Return our value and verdict on one claim that a closed form tests.

    Examples
    --------
    >>> closed_form_verdict(next(claim for claim in closed_form_claims() if claim.id == "caps-optk-0.2")).value
    (61.0,)
    """
    return judge(claim)
