"""MMPTCP Fig. 3: core switches with short queues, at 2560 short flows a second on the 4:1 fat-tree of 512 hosts.

Chosen: as in all experiments of MMPTCP (`_mmptcp.py`); shares of 0, 20, 40 and 60% of the 16 core switches, rounded
down. Section 3.4 says that loss rises under all schemes, significantly under TCP and PS_TCP, and that "the opposite" is
seen under PS and MMPTCP: it rises less.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from capsim import Scenario
from capsmodel.papers.experiments import _mmptcp as shared
from capsmodel.papers.experiments._mmptcp import NAMES, over
from capsmodel.papers.statements import Comparison, Statement, levels

SHARES_PCT = (0, 20, 40, 60)
PLACES = {f"{share}% hot": {"hot_pct": share} for share in SHARES_PCT}
ALL, MOST = list(PLACES), list(PLACES)[-1]
SCHEMES = ("TCP", "PS_TCP", "PS", "MMPTCP", "MPTCP")
TCP_CARRIES_SHORT_FLOWS = ("TCP", "PS_TCP")


def rises_less(name: str) -> Statement:
    """Return the statement that hot spots add less to the loss of a scheme than where TCP has the short flows."""
    one, first = NAMES[name], ALL[0]
    return Statement(
        comparisons=tuple(
            Comparison(
                f"rise from {first} to {MOST}, less that of {other}",
                ((1, (one, MOST)), (-1, (one, first)), (-1, (NAMES[other], MOST)), (1, (NAMES[other], first))),
            )
            for other in TCP_CARRIES_SHORT_FLOWS
        )
    )


def second_to_mptcp() -> Statement:
    """Return the statement that TCP comes before the schemes that its claim names, and MPTCP before it."""
    others = over("mmptcp-f3c-tcpsd", [MOST])
    first = Comparison(f"MPTCP over TCP, {MOST}", ((1, (NAMES["MPTCP"], MOST)), (-1, (NAMES["TCP"], MOST))))
    return replace(others, comparisons=(*others.comparisons, first))


STATEMENTS = {
    "mmptcp-f3a-worst": shared.each_over(TCP_CARRIES_SHORT_FLOWS, ("MMPTCP", "MPTCP", "PS"), ALL),
    **{
        claim: over(claim, ALL)
        for claim in ("mmptcp-f3a-best", "mmptcp-f3b-best", "mmptcp-f3c-mptcp", "mmptcp-f3d-best", "mmptcp-concl-loss")
    },
    **{f"mmptcp-f3{panel}-trend": levels([NAMES[one] for one in SCHEMES], ALL) for panel in "bcd"},
    "mmptcp-f3c-tcp60": levels([NAMES["TCP"]], [MOST]),
    "mmptcp-f3c-tcp60sd": levels([NAMES["TCP"]], [MOST]),
    "mmptcp-f3c-tcpsd": second_to_mptcp(),
    **{f"mmptcp-f3d-{one.lower()}": levels([NAMES[one]], ALL) for one in TCP_CARRIES_SHORT_FLOWS},
    **{f"mmptcp-f3d-{one.lower()}": rises_less(one) for one in ("MMPTCP", "PS")},
}


def scenario(place: Mapping[str, Any], settings: Mapping[str, Any]) -> Scenario:
    """Return the mix on the whole tree, with the hot spots of a place."""
    fabric = shared.with_hot_spots(shared.tree(4), place["hot_pct"] / 100)
    return shared.mix(fabric, flows_per_s=2560.0, run_s=settings["run_s"])


EXPERIMENT = shared.experiment(
    module=__name__,
    about=__doc__,
    id="mmptcp-e06-hotspot",
    places=PLACES,
    sampled=(ALL[0], MOST),
    scenario=scenario,
    statements=STATEMENTS,
)
