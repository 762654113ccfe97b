"""MMPTCP Fig. 9: schemes over the share of hosts with long flows, on the 2:1 fat-tree of 256 hosts.

Chosen: as in all experiments of MMPTCP (`_mmptcp.py`); 10, 30, 50 and 70% of the hosts. "Low load" is 10%, "high" 70%,
"higher" from 30% on. The "most stable" times are those that grow least. Schemes that are close to each other are close
to MMPTCP.
"""

from collections.abc import Mapping
from typing import Any

from capsim import Scenario
from capsmodel.papers.experiments import _mmptcp as shared
from capsmodel.papers.experiments._mmptcp import NAMES, each_over, over
from capsmodel.papers.index import read_claims
from capsmodel.papers.statements import Comparison, Statement, levels

PLACES = {f"{share}% long": {"long_share": share / 100} for share in (10, 30, 50, 70)}
ALL = list(PLACES)
LOW, HIGHER, HIGH = ALL[:1], ALL[1:], ALL[-1:]
SCHEMES = ("TCP", "PS", "PS_TCP", "MPTCP", "MPTCP_TCP", "MMPTCP")
ALIKE = ("MPTCP_TCP", "MPTCP", "PS", "PS_TCP")


def grows_least() -> Statement:
    """Return how many times longer short flows take under PS as the load grows, over the same of each other scheme."""
    first, last, ps = ALL[0], ALL[-1], NAMES["PS"]
    others = read_claims()["mmptcp-f9a-ps"].baseline_scheme.split(";")
    return Statement(
        comparisons=tuple(
            Comparison(
                f"growth from {first} to {last}, over that of {other}",
                ((1, (ps, last)), (-1, (ps, first)), (-1, (NAMES[other], last)), (1, (NAMES[other], first))),
            )
            for other in others
        )
    )


STATEMENTS = {
    "mmptcp-f9a-ps": grows_least(),
    "mmptcp-f9a-tcp": levels([NAMES["TCP"]], ALL),
    "mmptcp-f9a-mm": over("mmptcp-f9a-mm", HIGHER),
    "mmptcp-f9a-mm10": over("mmptcp-f9a-mm10", LOW),
    "mmptcp-f9b-load": levels([NAMES[one] for one in SCHEMES], ALL),
    "mmptcp-f9b-tcp": over("mmptcp-f9b-tcp", ALL),
    "mmptcp-f9b-low": each_over(ALIKE, ("MMPTCP",), LOW),
    "mmptcp-f9b-high": each_over(("MMPTCP", "MPTCP_TCP"), ("PS", "PS_TCP", "TCP"), HIGH),
    "mmptcp-f9c-ps": each_over(("PS", "PS_TCP"), ("TCP", "MPTCP", "MPTCP_TCP", "MMPTCP"), ALL),
    "mmptcp-f9c-mm": over("mmptcp-f9c-mm", ALL),
    "mmptcp-f9d-eq": each_over(ALIKE, ("MMPTCP",), ALL),
    "mmptcp-f9d-tcp": over("mmptcp-f9d-tcp", ALL),
    "mmptcp-f9d-load": levels([NAMES[one] for one in SCHEMES], ALL),
}


def scenario(place: Mapping[str, Any], settings: Mapping[str, Any]) -> Scenario:
    """Return the mix of a place; the rate of short flows is a setting."""
    return shared.mix(
        shared.tree(2),
        flows_per_s=settings["traffic.flows_per_s"],
        run_s=settings["run_s"],
        long_share=place["long_share"],
    )


EXPERIMENT = shared.experiment(
    module=__name__,
    about=__doc__,
    id="mmptcp-e14-load",
    places=PLACES,
    sampled=(ALL[0], ALL[-1]),
    scenario=scenario,
    statements=STATEMENTS,
)
