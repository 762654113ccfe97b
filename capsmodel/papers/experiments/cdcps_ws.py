"""CDCPS Fig. 9(a), (c) and (e): reordering and completion times under the web search, with one slow path of eight.

Chosen: the preset ``cdcps-asymmetric``: spine 0 is slow for all, and load is that of the leaf uplinks, since with equal
links the fabric is 4:1 oversubscribed; 2000 flows, all of them counted. AG is a reconstruction. "Events" are runs of
more than three duplicate acknowledgements that reordering made and no loss, over all data packets. "No packets out of
order" and "always zero" are met by none at all.
"""

from capsmodel.papers.experiments import _cdcps as shared
from capsmodel.papers.experiments._cdcps import LOADS, SAMPLED_LOADS, WEB, over, panel, places, trend

ALL = places(WEB)
AT_06, FROM_03 = places(WEB, [0.6]), places(WEB, LOADS[2:])

STATEMENTS = {
    "cdcps-abs-mean": over("cdcps-abs-mean", ALL),
    "cdcps-abs-p99": over("cdcps-abs-p99", ALL),
    "cdcps-abs-ooo": trend("CDCPS", ALL, column="reorder_ratio"),
    **panel("a", WEB),
    **{claim: over(claim, AT_06) for claim in ("cdcps-f9c-rps", "cdcps-f9c-drill", "cdcps-f9c-ag")},
    **{claim: over(claim, ALL) for claim in ("cdcps-f9c-rpsworst", "cdcps-f9c-best", "cdcps-f9e-best")},
    **{claim: over(claim, FROM_03) for claim in ("cdcps-f9e-rps", "cdcps-f9e-drill", "cdcps-f9e-ag")},
}

EXPERIMENT = shared.over_load(
    module=__name__,
    about=__doc__,
    id="cdcps-e07-ws",
    places=shared.all_places(WEB),
    sampled=tuple(places(WEB, SAMPLED_LOADS)),
    statements=STATEMENTS,
)
