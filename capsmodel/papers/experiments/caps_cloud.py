"""CAPS Fig. 14: machines of a cloud, over the number of short flows beside two long ones on six paths.

Chosen: packets of the stated rate and buffer in place of the cloud; pairs under different leaves, so that all have the
six paths; long flows of 14.6 MB that start at 0, and short ones of uniform sizes below 100 KB from then on.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from capsim import Batch, LeafSpine, Poisson, Scenario
from capsmodel.papers.experiments import PublishedExperiment
from capsmodel.papers.experiments._caps import LONG_BYTES, SHORT_BYTES, adapted, over

SHORT_FLOWS = (10, 40, 70, 100)
PLACES = {f"{count} short flows": {"short_flows": count} for count in SHORT_FLOWS}
ALL = list(PLACES)
LONG_FLOWS, PATHS, BUFFER_PACKETS = 2, 6, 512
FLOWS_PER_S = 1000.0
_SMALL_FLOWS, _SMALL_LONG_BYTES = 10, 1_000_000

STATEMENTS = {
    claim: over(claim, ALL)
    for claim in (
        "caps-f14a-best",
        *(f"caps-f14c-{name}" for name in ("ecmp", "rps", "repflow")),
        *(f"caps-f14d-{scheme}-{name}" for scheme in ("caps", "rps") for name in ("ecmp", "repflow", "freeway")),
    )
}


def scenario(place: Mapping[str, Any], settings: Mapping[str, Any]) -> Scenario:
    """Return short flows of a Poisson process beside two long ones, on two leaves."""
    fabric = LeafSpine(leaves=2, hosts_per_leaf=PATHS, spines=PATHS, rate_bps=1e9, buffer_packets=BUFFER_PACKETS)
    short = Poisson(pairs="other-leaf", flows_per_s=FLOWS_PER_S, flows=place["short_flows"], **SHORT_BYTES)
    long = Batch(pairs="other-leaf", hosts=LONG_FLOWS, flow_bytes=LONG_BYTES)
    return Scenario(fabric=fabric, traffic=(short, long), end_s=1000.0)


def small(whole: Scenario) -> Scenario:
    """Return the same with ten short flows and long ones of a megabyte."""
    short, long = whole.traffic
    return whole.replace(
        traffic=(
            msgspec.structs.replace(short, flows=_SMALL_FLOWS),
            msgspec.structs.replace(long, flow_bytes=_SMALL_LONG_BYTES),
        )
    )


EXPERIMENT = PublishedExperiment(
    module=__name__,
    about=__doc__,
    id="caps-e16-cloud",
    places=PLACES,
    sampled=(ALL[0], ALL[2], ALL[-1]),
    scenario=scenario,
    small=small,
    statements=STATEMENTS,
    adapted=adapted,
)
