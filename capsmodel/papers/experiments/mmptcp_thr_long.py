"""MMPTCP Table 6: long flows only, of different durations, on the fat-tree of 128 hosts.

Chosen: as in all experiments of MMPTCP (`_mmptcp.py`); each host sends one flow, by a stride. A run lasts just as long
as it says. The gap of the goodputs is that of MPTCP over MMPTCP, in Mbps.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from capsim import Batch, Scenario
from capsim.fabric.kinds import FatTree
from capsmodel.papers.experiments import _mmptcp as shared
from capsmodel.papers.experiments._mmptcp import cells, endless_bytes, over
from capsmodel.papers.statements import Comparison, Statement

DURATIONS_S = (1, 2, 5, 20)
PLACES = {f"{duration_s} s": {"duration_s": float(duration_s)} for duration_s in DURATIONS_S}
ALL = list(PLACES)
CELLS = ("gp", "gpsd", "util", "loss")
_SMALL_S = 0.1

STATEMENTS: dict[str, Statement] = {
    **{
        claim: statement
        for duration_s in DURATIONS_S
        for claim, statement in cells(f"mmptcp-t6-{duration_s}s", ("MPTCP", "MMPTCP"), CELLS, f"{duration_s} s").items()
    },
    **{
        f"mmptcp-s37-same-{metric}": over(f"mmptcp-s37-same-{metric}", ALL)
        for metric in ("long_goodput", "core_utilisation", "core_loss")
    },
    "mmptcp-s37-dur": Statement(
        comparisons=tuple(Comparison(place, ((1, ("mptcp", place)), (-1, ("mmptcp", place)))) for place in ALL),
        gap=True,
    ),
}


def scenario(place: Mapping[str, Any], settings: Mapping[str, Any]) -> Scenario:
    """Return a flow from each host to the one a stride away; the stride is a setting."""
    fabric, end_s = shared.tree(1), place["duration_s"]
    traffic = Batch(pairs="stride", flow_bytes=endless_bytes(fabric, end_s))
    return shared.on_tree(fabric, (traffic,), end_s=end_s)


def reduced(whole: Scenario) -> Scenario:
    """Return the same on 16 hosts; a stride over a pod, or over half of the tree, stays one."""
    found = shared.fewer_hosts(whole)
    (traffic,) = found.traffic
    assert isinstance(traffic, Batch)
    strides = dict(zip(_strides(whole), _strides(found), strict=True))
    return found.replace(traffic=(msgspec.structs.replace(traffic, stride_hosts=strides[traffic.stride_hosts]),))


def small(whole: Scenario) -> Scenario:
    """Return a moment of that."""
    return reduced(whole).replace(end_s=_SMALL_S)


def _strides(scenario: Scenario) -> tuple[int, int]:
    """Return the hosts of a pod and half of all hosts."""
    assert isinstance(scenario.fabric, FatTree)
    hosts = scenario.fabric.size().hosts
    return hosts // scenario.fabric.pods, hosts // 2


EXPERIMENT = shared.experiment(
    module=__name__,
    about=__doc__,
    id="mmptcp-e11-thr-long",
    places=PLACES,
    sampled=("1 s", "5 s"),
    scenario=scenario,
    small=small,
    reduced=reduced,
    statements=STATEMENTS,
)
