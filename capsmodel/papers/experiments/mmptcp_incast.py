"""MMPTCP Table 7: synchronised short flows to one host every half second, on the fat-tree of 128 hosts.

Chosen: as in all experiments of MMPTCP (`_mmptcp.py`), 40 rounds; the counts of the paper are over its 20 runs. Times
are those of flows that have ended when the run does, as in the table. "Similarly" and "slightly worse" are about
medians: the means of Table 7 have 100 flows of MMPTCP a third faster than those of TCP.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from capsim import Incast, Scenario
from capsmodel.papers.experiments import _mmptcp as shared
from capsmodel.papers.experiments._mmptcp import NAMES, PAPER_RUNS, SHORT_BYTES, over
from capsmodel.papers.statements import levels

COUNTS = (20, 40, 100)
PLACES = {f"{count} flows": {"flows": count} for count in COUNTS}
ALL = list(PLACES)
ROUNDS, PERIOD_S = 40, 0.5
SCHEMES = ("MMPTCP", "MMPTCP_LT", "TCP", "MPTCP")
CELLS = ("mean", "sd", "med", "uq")
_SMALL_ROUNDS, _SMALL_FLOWS = 2, 10

STATEMENTS = {
    **{
        f"mmptcp-t7-{count}-{scheme.lower()}-{cell}": levels([NAMES[scheme]], [f"{count} flows"])
        for count in COUNTS
        for scheme in SCHEMES
        for cell in CELLS
    },
    **{
        f"mmptcp-t7-{count}-{scheme.lower()}-done": levels([NAMES[scheme]], [f"{count} flows"], times=PAPER_RUNS)
        for count in COUNTS
        for scheme in SCHEMES
    },
    **{f"mmptcp-s38-{name}": over(f"mmptcp-s38-{name}", ALL) for name in ("mptcp-fct", "lt", "mm")},
    "mmptcp-s38-mptcp": over("mmptcp-s38-mptcp", ALL, note="flows that completed by end_s"),
    "mmptcp-s38-mptcp-n": levels([NAMES["MPTCP"]], ALL),
    "mmptcp-s38-ps": over("mmptcp-s38-ps", ALL, column="mean_fct_short_s", note="the mean completion time"),
}


def scenario(place: Mapping[str, Any], settings: Mapping[str, Any]) -> Scenario:
    """Return the rounds of a place on the whole tree."""
    traffic = Incast(
        senders_per_round=place["flows"],
        rounds=ROUNDS,
        period_s=PERIOD_S,
        same_ends=settings["incast_senders"] == "once",
        flow_bytes=SHORT_BYTES,
    )
    return shared.on_tree(shared.tree(1), (traffic,), end_s=settings["end_s"])


def small(whole: Scenario) -> Scenario:
    """Return two rounds of ten flows."""
    (traffic,) = whole.traffic
    few = msgspec.structs.replace(traffic, rounds=_SMALL_ROUNDS, senders_per_round=_SMALL_FLOWS)
    return whole.replace(traffic=(few,))


EXPERIMENT = shared.experiment(
    reduced=None,  # all settings at the scale of the paper
    module=__name__,
    about=__doc__,
    id="mmptcp-e12-incast",
    places=PLACES,
    sampled=("20 flows", "100 flows"),
    scenario=scenario,
    small=small,
    statements=STATEMENTS,
)
