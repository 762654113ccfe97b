"""DC2-MTCP Section IV-A: the threshold of asynchronous loss (delta) and the span of post-coding (beta) that work best.

Chosen: as in ``_dc2mtcp``, at the middle factor of sizes and with two subflows, for the paper says no more than that
delta was tested from 0 to 20 and beta up to C_max = 15. "Best" is the least completion time of short flows; beta is
"large enough" if flows end sooner than with smaller spans.
"""

from collections.abc import Mapping
from typing import Any

from capsim import Scenario
from capsmodel.papers.experiments import _dc2mtcp as shared
from capsmodel.papers.experiments._dc2mtcp import DC2
from capsmodel.papers.statements import Statement, same_scheme

DELTA, BETA, FACTOR = 3, 10, 4
DELTAS, SMALLER_BETAS = (0, 1, 6, 10, 20), (1, 5)


def at(delta: int, beta: int) -> str:
    """Return the name of a place."""
    return f"delta {delta}, beta {beta}"


BEST = at(DELTA, BETA)
OTHER_DELTAS = {at(delta, BETA): {"delta": delta, "beta": BETA} for delta in DELTAS}
OTHER_BETAS = {at(DELTA, beta): {"delta": DELTA, "beta": beta} for beta in SMALLER_BETAS}
PLACES = {BEST: {"delta": DELTA, "beta": BETA}} | OTHER_DELTAS | OTHER_BETAS


def sooner_than(others: Mapping[str, Any]) -> Statement:
    """Return the statement that flows end sooner with the paper's values than with others."""
    return same_scheme([DC2], [(BEST, other) for other in others], column="multipath_fct_short_s", direction="lower")


STATEMENTS = {
    "dc2mtcp-s4a-delta": sooner_than(OTHER_DELTAS),
    "dc2mtcp-s4a-beta": sooner_than(OTHER_BETAS),
}


def scenario(place: Mapping[str, Any], settings: Mapping[str, Any]) -> Scenario:
    """Return the random pattern at the middle factor."""
    return shared.scenario({"factor": FACTOR, "hot": False}, settings)


def parameters(place: Mapping[str, Any], settings: Mapping[str, Any], scheme: str) -> dict[str, Any]:
    """Return those of all experiments over two subflows, and the two that are varied."""
    found = shared.parameters({"subflows": shared.SUBFLOWS[0]}, settings, scheme)
    return found | {"layer.pre_limit": place["delta"], "layer.post_span": place["beta"]}


EXPERIMENT = shared.experiment(
    module=__name__,
    about=__doc__,
    id="dc2mtcp-e06-tuning",
    places=PLACES,
    sampled=(BEST, at(20, BETA), at(DELTA, 1)),
    scenario=scenario,
    statements=STATEMENTS,
    parameters=parameters,
)
