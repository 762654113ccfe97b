"""The verdict on every published claim that needs no simulation."""

from capsmodel.papers.closed_forms import caps, cdcps, coding_times, dc2mtcp, flow_sizes, mmptcp, not_run, repflow
from capsmodel.papers.index import Claim, read_claims
from capsmodel.papers.verdicts import Verdict, judge, registered_claims

__all__ = ["PAPER_MODULES", "Claim", "Verdict", "closed_form_verdict", "closed_form_verdicts"]

# Importing one of them registers its judges.
PAPER_MODULES = (caps, mmptcp, repflow, cdcps, dc2mtcp)
OTHER_MODULES = (coding_times, flow_sizes, not_run)
"""Of claims whose experiment is no closed form: times of the codec, tables of flow sizes, and what no run decides."""


def closed_form_verdicts() -> tuple[tuple[Claim, Verdict], ...]:
    """Return every claim that needs no simulation, with our value and verdict, in the order of ``claims.csv``.

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
    judged = registered_claims()
    return tuple((claim, judge(claim)) for claim in read_claims().values() if claim.id in judged)


def closed_form_verdict(claim: Claim) -> Verdict:
    """Return our value and verdict on one claim that needs no simulation.

    Examples
    --------
    >>> closed_form_verdict(read_claims()["caps-optk-0.2"]).value
    (61.0,)
    """
    return judge(claim)
