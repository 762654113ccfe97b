"""MMPTCP Table 1, 100 Mbps, and Fig. 2: MPTCP and MMPTCP on the 4:1 fat-tree of 512 hosts.

Chosen: as in all experiments of MMPTCP (`_mmptcp.py`); counts of flows are over the paper's 20 runs, the tail is the
99th percentile. The most timeouts of a flow, a maximum over 100 000 flows of 20 runs, are not judged.
"""

from capsmodel.papers.experiments import _mmptcp as shared
from capsmodel.papers.experiments import mmptcp_t2, mmptcp_t3
from capsmodel.papers.experiments._mmptcp import CELLS, PAPER_RUNS, cells, over
from capsmodel.papers.statements import levels

PLACE = mmptcp_t2.PLACE
COUNTED = {"n-mptcp": "mptcp", "n-mmptcp": "mmptcp", "gt2": "mptcp", "gt20": "mptcp", "lt2": "mmptcp", "no": "mmptcp"}
"""Scheme of each claim about a number of flows."""

STATEMENTS = {
    **cells("mmptcp-t1-100", ("MPTCP", "MMPTCP"), CELLS, PLACE),
    **{f"mmptcp-s32-{name}": levels([scheme], [PLACE], times=PAPER_RUNS) for name, scheme in COUNTED.items()},
    **{f"mmptcp-s32-{name}": over(f"mmptcp-s32-{name}", [PLACE]) for name in ("100", "tail")},
}

EXPERIMENT = shared.experiment(
    module=__name__,
    about=__doc__,
    id="mmptcp-e02-t1-100",
    places=mmptcp_t2.EXPERIMENT.places,
    sampled=(PLACE,),
    scenario=mmptcp_t3.scenario,
    statements=STATEMENTS,
)
