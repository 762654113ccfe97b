"""CAPS Fig. 26: incast of short flows without long ones.

Chosen: the preset ``caps-incast``, 20 to 180 senders to one receiver over 40 paths. Timeouts are those of all
connections, RepFlow's second copies included. The paper's goodput is the payload of all flows over the time until the
last is complete. Loss and overhead as shares of all traffic of a data centre are a tenth of those of the short flows,
which are less than a tenth of it. The number of flows from which on there is incast has no definition in the text.
"""

from collections.abc import Mapping
from typing import Any

from capsim import Scenario
from capsmodel.papers.experiments import PublishedExperiment
from capsmodel.papers.experiments import _caps as shared
from capsmodel.papers.experiments._caps import PLACES, SAMPLED, of_all_traffic, over, trend

ALL, FEW, MANY = list(PLACES), list(PLACES)[:3], list(PLACES)[3:]
WITHOUT_COPIES = ("ECMP", "RPS")
"""The others of more than 100 flows: RepFlow has "the largest number of timeouts", and Freeway is ECMP here."""

STATEMENTS = {
    "caps-f26a-n": trend("CAPS", ALL),
    "caps-f26a-over": of_all_traffic("coded_share", ALL),
    "caps-f26c-caps": over("caps-f26c-caps", FEW),
    "caps-f26c-caps2": over("caps-f26c-caps2", MANY, baselines=WITHOUT_COPIES),
    "caps-f26c-repflow": over("caps-f26c-repflow", ALL),
    "caps-f26c-rps": over("caps-f26c-rps", ALL),
    "caps-f26c-freeway": over("caps-f26c-freeway", ALL, column="mean_fct_short_s"),
    "caps-f26d": over("caps-f26d", ALL),
    "caps-f26e": over("caps-f26e", FEW),
    "caps-f26e2": over("caps-f26e2", MANY),
}


def scenario(place: Mapping[str, Any], settings: Mapping[str, Any]) -> Scenario:
    """Return the incast of a place."""
    return shared.incast(place)


EXPERIMENT = PublishedExperiment(
    module=__name__,
    about=__doc__,
    id="caps-e25-incast1",
    places=PLACES,
    sampled=SAMPLED,
    scenario=scenario,
    small=shared.small,
    statements=STATEMENTS,
    adapted=shared.adapted,
)
