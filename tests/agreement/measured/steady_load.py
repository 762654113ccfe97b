"""Runs at a load, measured by what their flows wait: short ones that begin in the steady state, and long ones.

============================== ========================================================= ====
Quantity                       Name                                                      Unit
============================== ========================================================= ====
mean of what flows of at most  `short_wait_s`: completion time beyond that alone         s
100 kB wait for others
mean slowdown of larger flows  `long_slowdown`: completion time over that alone          1
============================== ========================================================= ====

Eight hosts at 100 Gbps send by a transport like Ultra Ethernet's. ``python tests/agreement/measured/steady_load.py``
adds to `steady_load.csv` what it lacks, a row for each long run that begins empty: of 25,000 flows those from the
4000th to the 24,000th, which the beginning and the end do not touch. All take about a quarter of an hour.

Of data mining, whose largest flows have 1 GB, such a run would take minutes, and the intervals of its load of 0.6 want
a dozen. So all its sizes are a tenth, and flows of at most 10 kB are short: the shape of the distribution, on which it
depends how slowly a run settles, is the same.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pandas as pd

from capsim import LeafSpine, Poisson, Scenario, simulate
from capsmodel import FlowSizes, load_workload

LONG_RUNS = Path(__file__).with_suffix(".csv")
RUNS = {  # long runs of each workload and load
    ("fb_hadoop_homa", 0.3): 24,
    ("fb_hadoop_homa", 0.6): 24,
    ("fb_cachefollower_homa", 0.3): 6,
    ("fb_cachefollower_homa", 0.6): 6,
    ("websearch", 0.3): 3,
    ("websearch", 0.6): 3,
    ("datamining", 0.3): 6,
    ("datamining", 0.6): 12,
}
FLOWS = 1_000
"""Flows counted of a short run."""
SETTLED = slice(4_000, 24_000)
"""Those counted of a long one."""
HOSTS, RATE_BPS = 8, 100e9
_LONG_FLOWS = 25_000
_FABRIC = LeafSpine(leaves=2, hosts_per_leaf=HOSTS // 2, spines=4, rate_bps=RATE_BPS, delay_s=1e-6)
_SCALES = {"datamining": 0.1}
_NEVER_S = 60.0


def short_bytes(workload: str) -> float:
    """Return the size of the largest short flow, in bytes."""
    return 100_000 * _SCALES.get(workload, 1.0)


def sizes_of(workload: str) -> FlowSizes:
    """Return the sizes that are sent under the name of a workload, in bytes."""
    sizes, scale = load_workload(workload), _SCALES.get(workload, 1.0)
    return FlowSizes(sizes.sizes * scale, sizes.cdf_values, name=workload)


def run(
    workload: str,
    load: float,
    *,
    flows: int,
    seed: int,
    start: Literal["empty", "steady"] = "empty",
    part: slice = slice(None),
) -> dict[str, float]:
    """Return what the counted flows of a run wait, of those the `part` in the order of their starts."""
    sizes = sizes_of(workload)
    points = tuple(zip(sizes.sizes.tolist(), sizes.cdf_values.tolist(), strict=True))
    traffic = Poisson(flow_bytes_cdf=points, load=load, flows=flows, start=start)
    scenario = Scenario(
        fabric=_FABRIC, traffic=(traffic,), profile="100g", nic="round_robin", end_s=_NEVER_S, seed=seed
    )
    table = simulate(scenario, scheme="uet").flows
    table = table[table["counted"]].sort_values("start_s")[part]
    short = table["flow_bytes"] <= short_bytes(workload)
    return {
        "short_wait_s": float((table["fct_s"] - table["ideal_fct_s"])[short].mean()),
        "long_slowdown": float((table["fct_s"] / table["ideal_fct_s"])[~short].mean()),
    }


def short_runs(workload: str, load: float, *, start: Literal["empty", "steady"], seeds: Sequence[int]) -> pd.DataFrame:
    """Return a row for each of some runs of `FLOWS` counted flows."""
    return pd.DataFrame([run(workload, load, flows=FLOWS, start=start, seed=seed) for seed in seeds])


def long_runs(workload: str, load: float) -> pd.DataFrame:
    """Return the kept rows of long runs."""
    rows = pd.read_csv(LONG_RUNS)
    return rows[(rows["workload"] == workload) & (rows["load"] == load)]


def write() -> None:
    """Add the long runs that are missing, one at a time."""
    kept = pd.read_csv(LONG_RUNS) if LONG_RUNS.exists() else pd.DataFrame(columns=["workload", "load", "seed"])
    there = set(zip(kept["workload"], kept["load"], kept["seed"], strict=True))
    wanted = [(*point, seed) for point, number in RUNS.items() for seed in range(1001, 1001 + number)]
    for workload, load, seed in (one for one in wanted if one not in there):
        measured = run(workload, load, flows=_LONG_FLOWS, seed=seed, part=SETTLED)
        row = pd.DataFrame([{"workload": workload, "load": load, "seed": seed} | measured])
        row.to_csv(LONG_RUNS, mode="a", header=not LONG_RUNS.exists(), index=False, float_format="%.6g")


if __name__ == "__main__":
    write()
