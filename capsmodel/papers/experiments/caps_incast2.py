"""CAPS Fig. 27: incast of short flows beside three long ones.

Chosen: as caps-incast1, with three long flows of 14.6 MB that start with the short ones. Both cases are compared on the
same short flows; the first one has buffers of its own. "Up to 120" senders are judged at 20, 60 and 100.
"""

from collections.abc import Mapping
from typing import Any

from capsim import Scenario
from capsmodel.papers.experiments import PublishedExperiment
from capsmodel.papers.experiments import _caps as shared
from capsmodel.papers.experiments._caps import SHORT_FLOWS, of_all_traffic, over
from capsmodel.papers.statements import levels, same_scheme

ALONE = {f"{count} flows alone": {"short_flows": count, "long": False} for count in SHORT_FLOWS}
BESIDE = {f"{count} flows": {"short_flows": count, "long": True} for count in SHORT_FLOWS}
ALL, FEW = list(BESIDE), list(BESIDE)[:3]
PAIRS = list(zip(BESIDE, ALONE, strict=True))
SCHEMES = ("ecmp", "rps", "repflow", "freeway", "caps")

STATEMENTS = {
    "caps-f27a": same_scheme(["caps"], PAIRS),
    "caps-f27a-over": of_all_traffic("coded_share", ALL),
    "caps-f27b": same_scheme(SCHEMES, PAIRS),
    "caps-f27c": same_scheme(SCHEMES, PAIRS),
    **{claim: over(claim, ALL) for claim in ("caps-f27c-caps", "caps-f27d", "caps-f27e-freeway", "caps-f27e-close")},
    "caps-f27e-caps": over("caps-f27e-caps", FEW),
    **{claim: over(claim, ALL) for claim in ("caps-f27f-rps", "caps-f27f-flow")},
    "caps-f27f-n": levels(SCHEMES, ALL),
}


def scenario(place: Mapping[str, Any], settings: Mapping[str, Any]) -> Scenario:
    """Return the incast of a place, with long flows or without."""
    return shared.incast(place, settings["long_receiver"] if place["long"] else "")


def parameters(place: Mapping[str, Any], settings: Mapping[str, Any], scheme: str) -> dict[str, Any]:
    """Return the buffer of the first scenario, for places without long flows."""
    return {} if place["long"] else {"fabric.buffer_packets": settings["first_scenario_buffer_packets"]}


EXPERIMENT = PublishedExperiment(
    module=__name__,
    about=__doc__,
    id="caps-e26-incast2",
    places=BESIDE | ALONE,
    sampled=tuple(f"{count} flows{alone}" for count in (20, 100, 180) for alone in ("", " alone")),
    scenario=scenario,
    small=shared.small,
    statements=STATEMENTS,
    adapted=shared.adapted,
    parameters=parameters,
)
