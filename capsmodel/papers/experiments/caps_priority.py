"""CAPS Fig. 28 and 29(b): CAPS beside strict priority, short flows with three long ones over 12 paths.

Chosen: the preset ``caps-fig1`` with 12 paths and 3 long flows of 14.6 MB, short ones of 15 to 100 KB, each to a
receiver of its own. "Much" means by a factor of two. The queueing delay of long flows (Fig. 29(a)) is not judged yet.
"""

from capsmodel.experiments.words import MUCH
from capsmodel.papers.experiments import PublishedExperiment
from capsmodel.papers.experiments import _caps as shared
from capsmodel.papers.experiments._caps import PLACES, SAMPLED, over, trend
from capsmodel.papers.statements import Statement

ALL = list(PLACES)
CDF_PLACE = "120 flows"
MEDIAN = "fct_p50_s"

STATEMENTS: dict[str, Statement] = {
    **{
        claim: over(claim, ALL)
        for claim in (
            *(f"caps-f28{name}" for name in ("a-ecmp", "a-rps", "b-rps", "c-ecmp", "c-rps", "c-caps")),
            *(f"caps-f29b-{name}" for name in ("ecmp", "rps", "worst", "caps")),
        )
    },
    **{f"caps-f28b-{name.lower()}": trend(name, ALL) for name in ("ECMP", "ECMP_pq", "RPS_pq", "CAPS")},
    "caps-f28d": over("caps-f28d", [CDF_PLACE], column=MEDIAN, size=MUCH[0], note="the median"),
}

EXPERIMENT = PublishedExperiment(
    module=__name__,
    about=__doc__,
    id="caps-e27-priority",
    places=PLACES | {CDF_PLACE: {"short_flows": 120}},
    sampled=(*SAMPLED, CDF_PLACE),
    scenario=shared.beside_long_flows,
    small=shared.small,
    statements=STATEMENTS,
    adapted=shared.adapted,
)
