"""DC2-MTCP Fig. 6: short and long flows over several subflows beside hot flows of 100 MB.

Chosen: as dc2mtcp-random-fct, with hot flows in each round from hosts that send no other flow over several subflows;
they count among the long ones. Section VI-A adds random failures to this pattern, and Section VI-C explains its results
by them: in each round four links to core switches fail, as in the preset ``dc2mtcp-hot-spot``. Headlines "under varying
network conditions" are means over both patterns, factors and numbers of subflows. "More stable" is a smaller growth of
the time of short flows from the least to the largest factor of the sizes.
"""

from capsmodel.papers.experiments import _dc2mtcp as shared
from capsmodel.papers.experiments._dc2mtcp import DC2, IETF, SC, SUBFLOWS, over, places
from capsmodel.papers.statements import Comparison, Statement

FCT = "multipath_fct_short_s"
TPUT = "multipath_throughput_long_bps"
TWO, FOUR = places(2, hot=True), places(4, hot=True)
RANDOM = [*places(2), *places(4)]
CONDITIONS = [*RANDOM, *TWO, *FOUR]


def growth() -> Statement:
    """Return how much more the time of short flows grows with the sizes under DC2-MTCP than under the others."""
    ends = {subflows: (names[0], names[-1]) for subflows, names in zip(SUBFLOWS, (TWO, FOUR), strict=True)}
    return Statement(
        comparisons=tuple(
            Comparison(
                f"{other}, {subflows} subflows",
                ((1, (DC2, last)), (-1, (DC2, first)), (-1, (other, last)), (1, (other, first))),
            )
            for other in (IETF, SC)
            for subflows, (first, last) in ends.items()
        ),
        column=FCT,
    )


STATEMENTS = {
    "dc2mtcp-f6-tput": over("dc2mtcp-f6-tput", [*TWO, *FOUR], column=TPUT, average=True),
    "dc2mtcp-abs-fct": over("dc2mtcp-abs-fct", CONDITIONS, column=FCT, average=True),
    "dc2mtcp-abs-tput": over("dc2mtcp-abs-tput", CONDITIONS, column=TPUT, average=True),
    "dc2mtcp-f6-stable": growth(),
    **{claim: over(claim, TWO, column=FCT, average=True) for claim in ("dc2mtcp-f6-2", "dc2mtcp-f6-sc2")},
    **{claim: over(claim, FOUR, column=FCT, average=True) for claim in ("dc2mtcp-f6-4", "dc2mtcp-f6-sc4")},
}

EXPERIMENT = shared.experiment(
    module=__name__,
    about=__doc__,
    id="dc2mtcp-e09-hotspot",
    places=shared.all_places() | shared.all_places(hot=True),
    sampled=(*shared.sampled(), *shared.sampled(hot=True)),
    statements=STATEMENTS,
)
