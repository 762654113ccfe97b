"""Excerpts with the flows of a whole fabric: what few leaves do to the same traffic, without the chance of other draws.

The leaves of a whole run are divided into groups at random. Each group is an excerpt: it has all flows that its leaves
send, with their sizes and starts, and an end that is outside the group moves to a host of another leaf of the group.
All groups together have each flow of the whole once.

Their rows are kept in ``data/results/moved_flows*.csv``, a row a fabric, scheme, seed of the flows and leaves of a
group. ``python tests/agreement/measured/moved_flows.py`` runs what is not there and adds it to the last of the files.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from agreement.measured.whole_fabrics import EVERY_SIZE, RESULTS, WHOLES

from capsim import FlowList, Result, excerpt
from capsim import scheme as find
from capsim.fabric.traffic import draw_flows
from capsim.results.fct import slowdown_by_size
from capsim.run.simulation import prepare, run_prepared
from capsim.scenario.profile import filled
from capsmodel import __version__

ADDED = RESULTS / "moved_flows.2.csv"
CASES = (
    *product(("512 hosts, 64 leaves",), ("uet", "dctcp", "rps+dctcp+rack"), (1,), (4, 8)),
    ("128 hosts, 8 pods", "uet", 1, 4),
    ("1,024 hosts, 64 leaves", "uet", 1, 4),
    ("1,024 hosts, 16 pods", "uet", 1, 4),
)


def moved(flows: FlowList, leaves: npt.NDArray[np.int64], hosts: int, rng: np.random.Generator) -> FlowList:
    """Return the flows that some leaves send, as flows of an excerpt of these leaves, each with so many hosts."""
    place = np.full(1 + max(flows.src.max(), flows.dst.max()) // hosts, -1)
    place[leaves] = np.arange(len(leaves))
    ours = place[flows.src // hosts] >= 0
    src, dst = flows.src[ours], flows.dst[ours]
    from_leaf, to_leaf = place[src // hosts], place[dst // hosts]
    outside = to_leaf < 0
    away, host = rng.integers(1, len(leaves), outside.sum()), dst % hosts
    to_leaf[outside] = (from_leaf[outside] + away) % len(leaves)
    host[outside] = rng.integers(0, hosts, len(src))[outside]
    columns = {name: np.asarray(getattr(flows, name))[ours] for name in ("flow_bytes", "start_ps", "short", "tag")}
    return FlowList(
        src=(from_leaf * hosts + src % hosts).astype(np.int32),
        dst=(to_leaf * hosts + host).astype(np.int32),
        **columns,
        input_row=flows.input_row[ours],
        counted=np.asarray(flows.counted)[ours],
    )


def groups(name: str, scheme: str, seed: int, leaves: int) -> Iterator[Result]:
    """Yield the run of each group of so many leaves."""
    whole, chosen = WHOLES[name].scenario(scheme).replace(seed=seed), find(scheme)
    hosts = whole.fabric.blocks().block_hosts
    flows = draw_flows(whole.traffic, whole.fabric.build(), seed=seed, short_bytes=whole.short_bytes)
    order = np.random.default_rng(7 + seed).permutation(whole.fabric.blocks().count)
    small = filled(excerpt(whole, blocks=leaves).replace(scheme=scheme), chosen).scenario
    setup = prepare(small, scheme=chosen)
    for group, ours in enumerate(order.reshape(-1, leaves)):
        rng = np.random.default_rng(100 * seed + group)
        yield run_prepared(small, replace(setup, flows=moved(flows, ours, hosts, rng)), engine="compiled")


def kept_row(name: str, scheme: str, seed: int, leaves: int) -> dict[str, Any]:
    """Return the row of the flows of all groups together, with intervals from the groups."""
    results = list(groups(name, scheme, seed, leaves))
    flows = pd.concat([one.flows.assign(seed=group) for group, one in enumerate(results)])
    keys = {"fabric": name, "scheme": scheme, "seed": seed, "leaves": leaves, "model": __version__}
    ran = {"traversals": sum(one.resources.traversals for one in results)}
    ran["cpu_s"] = round(sum(one.resources.cpu_s for one in results), 1)
    return keys | ran | slowdown_by_size(flows, EVERY_SIZE).iloc[-1].drop(["above_bytes", "up_to_bytes"]).to_dict()


def moved_rows() -> pd.DataFrame:
    """Return the rows that are kept, by fabric, scheme, seed and leaves of a group."""
    files = sorted(RESULTS.glob("moved_flows*.csv"))
    return pd.concat([pd.read_csv(file) for file in files]).set_index(["fabric", "scheme", "seed", "leaves"])


if __name__ == "__main__":
    there = set(moved_rows().index)
    for case in CASES:
        if case not in there:
            pd.DataFrame([kept_row(*case)]).to_csv(ADDED, mode="a", header=not ADDED.is_file(), index=False)
