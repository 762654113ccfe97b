"""A fabric that ran whole with one slow link, and excerpts of a leaf that has it and of leaves that have not.

Of 16 leaves one has an uplink at 25 of 100 Gbps. The whole ran with three seeds; all its flows from that leaf, to it
and of the rest are kept in ``data/results/touched_leaf.csv``, a row a part. ``python
tests/agreement/measured/touched_leaf.py`` makes the file.
"""

from typing import Any

import pandas as pd
from agreement.measured.whole_fabrics import EVERY_SIZE, LINKS, RESULTS, Whole, run_of

from capsim import LeafSpine, LinkChange, Scenario
from capsim.results.fct import counted_flows, slowdown_by_size
from capsim.study.comparison import PARTS
from capsmodel import __version__

TOUCHED_LEAF = RESULTS / "touched_leaf.csv"
SCHEME, LOAD, SEEDS = "uet", 0.5, 3
_SLOW = LinkChange(between=("leaf0", "spine0"), rate_bps=25e9)
_FABRIC = LeafSpine(leaves=16, hosts_per_leaf=8, spines=8, links=(_SLOW,), **LINKS)


def scenario() -> Scenario:
    """Return the whole."""
    return Whole(_FABRIC, 128, (SCHEME,)).scenario(SCHEME, LOAD)


def kept_rows() -> list[dict[str, Any]]:
    """Return the rows of the whole, with intervals over its seeds."""
    results = {seed: run_of(scenario(), SCHEME, seed) for seed in range(1, SEEDS + 1)}
    flows = pd.concat([counted_flows(one.flows).assign(seed=seed) for seed, one in results.items()])
    sends, receives = (flows[end] // _FABRIC.hosts_per_leaf == 0 for end in ("src", "dst"))
    parts = (flows[sends], flows[receives & ~sends], flows[~sends & ~receives])
    ran = {
        "model": __version__,
        "ids": " ".join(str(one.manifest["id"]) for one in results.values()),
        "traversals": sum(one.resources.traversals for one in results.values()),
        "cpu_s": round(sum(one.resources.cpu_s for one in results.values()), 1),
    }
    return [
        {"part": part, "share": len(ours) / len(flows), "seeds": SEEDS} | ran | _row(ours)
        for part, ours in zip(PARTS, parts, strict=True)
    ]


def _row(flows: pd.DataFrame) -> dict[Any, Any]:
    """Return the slowdowns of flows of all sizes."""
    table = slowdown_by_size(flows, EVERY_SIZE).drop(columns=["above_bytes", "up_to_bytes"])
    return table.to_dict("records")[-1]


if __name__ == "__main__":
    pd.DataFrame(kept_rows()).to_csv(TOUCHED_LEAF, index=False)
