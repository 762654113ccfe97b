"""CAPS Fig. 12: Mininet, over the number of long flows beside a hundred short ones.

Chosen: as caps-mininet-short; two to eight long flows around the default of four. The gain of CAPS is the time of short
flows under another scheme over that under CAPS, and is compared at the ends of both sweeps: with eight long flows and a
hundred short ones, and with four and 180.
"""

from capsmodel.papers.experiments import _caps_mininet as shared
from capsmodel.papers.experiments._caps import FOUR_OTHERS, NAMES, over
from capsmodel.papers.experiments.caps_mininet_short import PLACES as SHORT_PLACES
from capsmodel.papers.statements import Comparison, Statement

SHORT_FLOWS = 100
LONG_FLOWS = (2, 4, 6, 8)
LONG_PLACES = {f"{count} long flows": {"short_flows": SHORT_FLOWS, "long_flows": count} for count in LONG_FLOWS}
ALL, LAST_SHORT = list(LONG_PLACES), list(SHORT_PLACES)[-1]


def gain() -> Statement:
    """Return the gain over each other scheme with the most long flows, over that with the most short ones."""
    caps, last_long = NAMES["CAPS"], ALL[-1]
    return Statement(
        comparisons=tuple(
            Comparison(
                other,
                (
                    (1, (NAMES[other], last_long)),
                    (-1, (caps, last_long)),
                    (-1, (NAMES[other], LAST_SHORT)),
                    (1, (caps, LAST_SHORT)),
                ),
            )
            for other in FOUR_OTHERS
        ),
        column="mean_fct_short_s",
    )


STATEMENTS = {
    "caps-f12a-best": over("caps-f12a-best", ALL),
    "caps-f12a-gain": gain(),
    "caps-f12b": over("caps-f12b", ALL),
}

EXPERIMENT = shared.experiment(
    module=__name__,
    about=__doc__,
    id="caps-e14-mininet-long",
    places=LONG_PLACES | {LAST_SHORT: SHORT_PLACES[LAST_SHORT]},
    sampled=(ALL[0], ALL[-1], LAST_SHORT),
    scenario=shared.scenario,
    statements=STATEMENTS,
)
