"""MMPTCP Table 4 and Fig. 4: thresholds of duplicate ACKs in the first phase, on the fat-tree of 128 hosts.

Chosen: as in all experiments of MMPTCP (`_mmptcp.py`). Long flows have the threshold of the place too; all have 3 in
the second phase. "Flat" is within 10% of the value at 9. Counts of flows are over the paper's 20 runs.
"""

from collections.abc import Mapping
from typing import Any

from capsim import Scenario
from capsmodel.papers.experiments import _mmptcp as shared
from capsmodel.papers.experiments._mmptcp import PAPER_RUNS
from capsmodel.papers.statements import Statement, levels, same_scheme

THRESHOLDS = range(3, 24)
AUTO, BEST = "auto", 9
SCHEME = "mmptcp"


def at(threshold: int) -> str:
    """Return the name of a place."""
    return f"dupthresh {threshold}"


PLACES = {at(threshold): {"threshold": threshold} for threshold in THRESHOLDS} | {AUTO: {"threshold": 0}}
"""Threshold 0 is the rule of the paper."""
BEYOND = [at(threshold) for threshold in THRESHOLDS if threshold > BEST]


def against(place: str, others: list[str], **more: Any) -> Statement:
    """Return the comparison of a place with others."""
    return same_scheme([SCHEME], [(place, other) for other in others], **more)


STATEMENTS = {
    **{
        f"mmptcp-t4-d{threshold}-{cell}": levels([SCHEME], [at(threshold)])
        for threshold in THRESHOLDS
        for cell in ("fct", "sd")
    },
    "mmptcp-t4-best": against(
        at(BEST),
        [at(threshold) for threshold in THRESHOLDS if threshold != BEST],
        column="mean_fct_short_s",
        direction="lower",
    ),
    "mmptcp-t4-worst": against(at(3), [at(threshold) for threshold in THRESHOLDS[1:]]),
    "mmptcp-t4-flat": same_scheme([SCHEME], [(place, at(BEST)) for place in BEYOND]),
    "mmptcp-t4-sd": levels([SCHEME], BEYOND),
    "mmptcp-f4a-fr": against(at(3), [at(BEST), at(23), AUTO]),
    "mmptcp-f4a-to": against(at(3), [at(BEST), at(23), AUTO]),
    "mmptcp-f4c-fr": levels([SCHEME], [at(23)], times=PAPER_RUNS),
    "mmptcp-f4c-to": against(at(23), [at(3), at(BEST), AUTO]),
    "mmptcp-f4b-0": levels([SCHEME], [at(BEST)], times=PAPER_RUNS),
    "mmptcp-f4b-1": levels([SCHEME], [at(BEST)], times=PAPER_RUNS),
    "mmptcp-f4d-fr": against(AUTO, [at(3)]),
    "mmptcp-f4d-to": against(AUTO, [at(BEST)]),
}


def scenario(place: Mapping[str, Any], settings: Mapping[str, Any]) -> Scenario:
    """Return the mix on a tree, without oversubscription in the setting of the text."""
    return shared.mix(shared.tree(settings["oversubscription"]), flows_per_s=256.0, run_s=settings["run_s"])


def parameters(place: Mapping[str, Any], settings: Mapping[str, Any], scheme: str) -> dict[str, Any]:
    """Return those of all experiments, and the threshold of the place."""
    return shared.parameters(place, settings, scheme) | {"sharing.fixed_threshold": place["threshold"]}


EXPERIMENT = shared.experiment(
    module=__name__,
    about=__doc__,
    id="mmptcp-e07-dupthresh",
    places=PLACES,
    sampled=(at(3), at(BEST), at(23), AUTO),
    scenario=scenario,
    statements=STATEMENTS,
    parameters=parameters,
)
