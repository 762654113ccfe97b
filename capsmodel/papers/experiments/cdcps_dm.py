"""CDCPS Fig. 9(b), (d) and (f): reordering and completion times under data mining, with one slow path of eight.

Chosen: as cdcps-ws, with 1000 flows, whose bytes are in few long ones.
"""

from capsmodel.papers.experiments import _cdcps as shared
from capsmodel.papers.experiments._cdcps import DATA, SAMPLED_LOADS, over, panel, places

ALL = places(DATA)
AT_06 = places(DATA, [0.6])

STATEMENTS = {
    **panel("b", DATA),
    **{claim: over(claim, AT_06) for claim in ("cdcps-f9d-rps", "cdcps-f9d-drill", "cdcps-f9d-ag")},
    **{claim: over(claim, ALL) for claim in ("cdcps-f9d-rpsworst", "cdcps-f9d-best", "cdcps-f9f-best")},
}

EXPERIMENT = shared.over_load(
    module=__name__,
    about=__doc__,
    id="cdcps-e08-dm",
    places=shared.all_places(DATA),
    sampled=tuple(places(DATA, SAMPLED_LOADS)),
    statements=STATEMENTS,
)
