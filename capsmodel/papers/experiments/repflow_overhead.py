"""RepFlow Table III: bytes that replication adds, of both workloads, on a fat-tree of 1024 hosts.

Chosen: as repflow-ns3-ws. The overhead is the bytes of the flows that are sent twice over the bytes of all flows; in
the other setting it is half of what both copies sent, headers and retransmissions included.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from capsmodel.papers.experiments import _repflow as shared
from capsmodel.papers.experiments._repflow import DATA, LOADS, WEB, over, place_name, places
from capsmodel.papers.statements import Statement, levels

STATEMENTS = {
    **{
        f"repflow-t3-{short}-{load:g}": levels(["repflow"], [place_name(workload, load)])
        for short, workload in (("web", WEB), ("data", DATA))
        for load in LOADS
    },
    "repflow-t3-dctcp": over("repflow-t3-dctcp", [*places(WEB), *places(DATA)]),
}


def adapted(statement: Statement, settings: Mapping[str, Any]) -> Statement:
    """Return the statement about what the setting counts."""
    return replace(statement, column="copied_sent_ratio") if settings["overhead_of"] == "bytes sent" else statement


EXPERIMENT = shared.experiment(
    module=__name__,
    about=__doc__,
    id="repflow-e09-overhead",
    statements=STATEMENTS,
    adapted=adapted,
)
