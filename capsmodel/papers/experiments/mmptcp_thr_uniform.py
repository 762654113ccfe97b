"""MMPTCP Fig. 6: switching thresholds, short flows of 1 KB to 1 MB.

Chosen: as in all experiments of MMPTCP (`_mmptcp.py`), on the fat-tree with full bisection, as in the other
experiment of Section 3.7; thresholds of 100, 256, 512 and 1024 KB. The tail is the 99th percentile. The recommended
threshold is an advice and not judged.
"""

from collections.abc import Mapping
from typing import Any

from capsim import Scenario
from capsmodel.papers.experiments import _mmptcp as shared
from capsmodel.papers.statements import levels

LEAST_BYTES, MOST_BYTES = 1000, 1_024_000
PLACES = {f"{threshold} KB": {"switch_bytes": 1000 * threshold} for threshold in (100, 256, 512, 1024)}


def scenario(place: Mapping[str, Any], settings: Mapping[str, Any]) -> Scenario:
    """Return the mix; rate, share of long flows and pods are settings."""
    return shared.mix(
        shared.tree(1, pods=settings["fabric.pods"]),
        flows_per_s=settings["traffic.flows_per_s"],
        run_s=settings["run_s"],
        long_share=settings["long_share"],
        min_bytes=LEAST_BYTES,
        max_bytes=MOST_BYTES,
        short_bytes=MOST_BYTES,
    )


def parameters(place: Mapping[str, Any], settings: Mapping[str, Any], scheme: str) -> dict[str, Any]:
    """Return those of all experiments, and the threshold of the place."""
    own = {"sharing.switch_bytes": place["switch_bytes"]}
    return shared.parameters(place, settings, scheme) | own


EXPERIMENT = shared.experiment(
    reduced=None,  # all settings at the scale of the paper
    module=__name__,
    about=__doc__,
    id="mmptcp-e09-thr-uniform",
    places=PLACES,
    sampled=tuple(PLACES),
    scenario=scenario,
    statements={"mmptcp-f6-tail": levels(["mmptcp"], list(PLACES))},
    parameters=parameters,
)
