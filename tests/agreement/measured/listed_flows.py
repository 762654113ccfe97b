"""A list of flows on a fabric that ran whole, whose leaves receive unequal loads.

Web search on 16 leaves, 8,000 flows with random senders; leaves receive from 1.5 to 0.5 times the mean of all, in even
steps, the busiest at a load of about 0.6. The slowdowns of the whole are kept in ``data/results/listed_flows.csv``, a
row a class of load of the receiver's leaf, the busiest first, and one for all. ``python
tests/agreement/measured/listed_flows.py`` makes the file.
"""

import numpy as np
import pandas as pd
from agreement.measured.whole_fabrics import EVERY_SIZE, LINKS, RESULTS, run_of

from capsim import LeafSpine, Listed, Scenario
from capsim.results.fct import counted_flows, slowdown_by_size
from capsmodel import __version__, load_workload

LISTED_FLOWS = RESULTS / "listed_flows.csv"
SCHEME, LEAVES, HOSTS, CLASSES = "uet", 16, 8, 4
_FLOWS, _LOAD = 8000, 0.4
_WEIGHTS = np.linspace(1.5, 0.5, LEAVES)


def scenario() -> Scenario:
    """Return the whole."""
    rng, hosts, sizes = np.random.default_rng(1), LEAVES * HOSTS, load_workload("websearch")
    dst = HOSTS * rng.choice(LEAVES, _FLOWS, p=_WEIGHTS / LEAVES) + rng.integers(0, HOSTS, _FLOWS)
    src = (dst + rng.integers(1, hosts, _FLOWS)) % hosts
    per_s = _LOAD * hosts * LINKS["rate_bps"] / (8 * sizes.mean_bytes)
    columns = (src, dst, sizes.sample(_FLOWS, rng=rng, whole=True), rng.exponential(1 / per_s, _FLOWS).cumsum())
    rows = tuple(zip(*(column.tolist() for column in columns), strict=True))
    fabric = LeafSpine(leaves=LEAVES, hosts_per_leaf=HOSTS, spines=8, **LINKS)
    return Scenario(fabric=fabric, traffic=(Listed(flows=rows),), profile="100g", nic="round_robin")


def rows_of(flows: pd.DataFrame, classes: pd.Series) -> pd.DataFrame:
    """Return the slowdowns of each class, and of all."""
    parts = [(str(number), flows[classes == number]) for number in range(CLASSES)] + [("all", flows)]
    tables = [slowdown_by_size(ours, EVERY_SIZE).iloc[[-1]].assign(of_class=name) for name, ours in parts]
    return pd.concat(tables).set_index("of_class").drop(columns=["above_bytes", "up_to_bytes"])


def kept_rows() -> pd.DataFrame:
    """Return the rows of the whole."""
    result = run_of(scenario(), SCHEME, seed=1)
    flows = counted_flows(result.flows).assign(seed=1)
    load = sum(np.bincount(flows[end] // HOSTS, flows["flow_bytes"], minlength=LEAVES) for end in ("src", "dst"))
    place = np.argsort(np.argsort(-load, kind="stable"))
    table = rows_of(flows, pd.Series(place[flows["dst"] // HOSTS] * CLASSES // LEAVES, flows.index))
    ran = {"traversals": result.resources.traversals, "cpu_s": round(result.resources.cpu_s, 1)}
    return table.assign(model=__version__, id=str(result.manifest["id"]), **ran)


if __name__ == "__main__":
    kept_rows().to_csv(LISTED_FLOWS)
