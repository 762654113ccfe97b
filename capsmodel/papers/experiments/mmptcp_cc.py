"""MMPTCP Table 8 and Fig. 8: how the subflows of the second phase are coupled, on the 4:1 fat-tree of 512 hosts.

Chosen: as in all experiments of MMPTCP (`_mmptcp.py`). The row of linked increases equals that of Table 1, with 256
short flows a second and no hot spots, so these follow the text. Hot spots are a quarter of the core switches: links
of 10 packets, as in Section 3.4. The tail is the 99th percentile.
"""

from collections.abc import Mapping
from typing import Any

from capsim import Scenario
from capsmodel.papers.experiments import _mmptcp as shared
from capsmodel.papers.experiments._mmptcp import CELLS, cells, over

PLACE = "256 flows a second"
HOT_SHARE = 0.25
SCHEMES = {"fc": "MMPTCP_FC", "uc": "MMPTCP_UC", "li": "MMPTCP_LI"}

STATEMENTS = {
    **{
        claim.replace(name.lower(), short): statement
        for short, name in SCHEMES.items()
        for claim, statement in cells("mmptcp-t8", [name], (*CELLS, "access_loss"), PLACE).items()
    },
    **{
        claim: over(claim, [PLACE])
        for claim in (
            *(f"mmptcp-s39-uc-{name}" for name in ("fct", "gp", "util", "loss", "aloss")),
            *("mmptcp-s39-fc-loss", "mmptcp-s39-fc-util", "mmptcp-f8-uc", "mmptcp-f8-fc"),
        )
    },
}


def scenario(place: Mapping[str, Any], settings: Mapping[str, Any]) -> Scenario:
    """Return the mix on the whole tree, with hot spots or without."""
    fabric = shared.with_hot_spots(shared.tree(4), HOT_SHARE if settings["hotspots"] else 0.0)
    return shared.mix(fabric, flows_per_s=256.0, run_s=settings["run_s"])


EXPERIMENT = shared.experiment(
    module=__name__,
    about=__doc__,
    id="mmptcp-e13-cc",
    places={PLACE: {}},
    sampled=(PLACE,),
    scenario=scenario,
    statements=STATEMENTS,
)
