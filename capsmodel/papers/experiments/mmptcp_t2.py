"""MMPTCP Table 2: schemes at 256 short flows a second on the 4:1 fat-tree of 512 hosts.

Chosen: as in all experiments of MMPTCP (`_mmptcp.py`). Goodput is the mean of long flows.
"""

from capsmodel.papers.experiments import _mmptcp as shared
from capsmodel.papers.experiments import mmptcp_t3
from capsmodel.papers.experiments._mmptcp import CELLS, cells, over

PLACE = "256 flows a second"

STATEMENTS = {
    **cells("mmptcp-t2", ("PS", "TCP", "MMPTCP", "MPTCP"), CELLS, PLACE),
    **{
        f"mmptcp-s33-{name}": over(f"mmptcp-s33-{name}", [PLACE])
        for name in ("tcp-util", "tcp-loss", "tcp-fct", "ps-fct", "ps-loss", "gp")
    },
}

EXPERIMENT = shared.experiment(
    module=__name__,
    about=__doc__,
    id="mmptcp-e04-t2",
    places={PLACE: {"flows_per_s": 256.0}},
    sampled=(PLACE,),
    scenario=mmptcp_t3.scenario,
    statements=STATEMENTS,
)
