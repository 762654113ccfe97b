"""DC2-MTCP Fig. 5: throughput of long flows over several subflows in the random pattern.

Chosen: as dc2mtcp-random-fct. Long flows are those of 1 MB and more; throughput is the mean over them of their size
over their time, and "on average" the geometric mean over the factors of the sizes. "Large flows", which the text sets
apart from the average over all sizes, are those of the two largest factors.
Settings are compared at the factors from 4 on: at the reduced scale, some runs of the least have no long flow.
"""

from capsmodel.papers.experiments import _dc2mtcp as shared
from capsmodel.papers.experiments._dc2mtcp import FACTORS, SAMPLED_FACTORS, over, places

ALL, LARGE = [*places(2), *places(4)], FACTORS[-2:]
AT = {
    "dc2mtcp-f5-ietf": ALL,
    "dc2mtcp-f5-sc": ALL,
    "dc2mtcp-f5-sc5": [*places(2, LARGE), *places(4, LARGE)],
    "dc2mtcp-f5-2": places(2, LARGE),
    "dc2mtcp-f5-4": places(4, LARGE),
}

EXPERIMENT = shared.experiment(
    module=__name__,
    about=__doc__,
    id="dc2mtcp-e08-random-tput",
    places=shared.all_places(),
    sampled=shared.sampled(SAMPLED_FACTORS[1:]),
    statements={
        claim: over(claim, at, column="multipath_throughput_long_bps", average=True) for claim, at in AT.items()
    },
)
