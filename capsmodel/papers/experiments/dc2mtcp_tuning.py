"""DC2-MTCP Section IV-A: a threshold of asynchronous loss (delta) that works, and a long enough post-coding (beta).

Chosen: as in ``_dc2mtcp``, at the middle factor of sizes and with two subflows, for the paper says no more than that
delta was tested from 0 to 20 and beta up to C_max = 15. Delta works "efficiently" if short flows end at most 10% later
than with each of the others; beta is "large enough" if they do so against the largest span.
"""

from collections.abc import Mapping
from typing import Any

from capsim import Scenario
from capsmodel.experiments.words import SIGNIFICANTLY
from capsmodel.papers.experiments import _dc2mtcp as shared
from capsmodel.papers.experiments._dc2mtcp import DC2
from capsmodel.papers.statements import Statement, same_scheme

DELTA, BETA, FACTOR = 3, 10, 4
DELTAS, LARGEST_BETA = (0, 1, 6, 10, 20), 15


def at(delta: int, beta: int) -> str:
    """Return the name of a place."""
    return f"delta {delta}, beta {beta}"


CHOSEN = at(DELTA, BETA)
OTHER_DELTAS = {at(delta, BETA): {"delta": delta, "beta": BETA} for delta in DELTAS}
LARGEST = {at(DELTA, LARGEST_BETA): {"delta": DELTA, "beta": LARGEST_BETA}}
PLACES = {CHOSEN: {"delta": DELTA, "beta": BETA}} | OTHER_DELTAS | LARGEST


def no_later_than(others: Mapping[str, Any]) -> Statement:
    """Return the statement that flows end about as soon with the paper's values as with others, or sooner."""
    return same_scheme(
        [DC2],
        [(CHOSEN, other) for other in others],
        column="multipath_fct_short_s",
        direction="lower",
        size=SIGNIFICANTLY[1],
    )


STATEMENTS = {
    "dc2mtcp-s4a-delta": no_later_than(OTHER_DELTAS),
    "dc2mtcp-s4a-beta": no_later_than(LARGEST),
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
    sampled=(CHOSEN, at(20, BETA), *LARGEST),
    scenario=scenario,
    statements=STATEMENTS,
    parameters=parameters,
)
