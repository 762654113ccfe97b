"""Runs at a load, measured by what their flows wait: short ones that begin in the steady state, and long ones.

============================== ========================================================= ====
Quantity                       Name                                                      Unit
============================== ========================================================= ====
mean of what flows of at most  `short_wait_s`: completion time beyond that alone         s
100 kB wait for others
mean slowdown of larger flows  `long_slowdown`: completion time over that alone          1
============================== ========================================================= ====

Eight hosts at 100 Gbps send by a transport like Ultra Ethernet's. ``python tests/agreement/measured/steady_load.py``
writes `steady_load.csv`, a row for each long run that begins empty: of 25,000 flows those from the 4000th to the
24,000th, which the beginning and the end do not touch. It takes about five minutes.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pandas as pd

from capsim import LeafSpine, Poisson, Scenario, simulate

LONG_RUNS = Path(__file__).with_suffix(".csv")
RUNS = {  # long runs of each workload and load
    ("fb_hadoop_homa", 0.3): 24,
    ("fb_hadoop_homa", 0.6): 24,
    ("fb_cachefollower_homa", 0.3): 6,
    ("fb_cachefollower_homa", 0.6): 6,
    ("websearch", 0.3): 3,
}
LONG_FLOWS = 25_000
SETTLED = slice(4_000, 24_000)
_FABRIC = LeafSpine(leaves=2, hosts_per_leaf=4, spines=4, rate_bps=100e9, delay_s=1e-6)
_NEVER_S = 60.0
_SHORT_BYTES = 100_000


def run(traffic: Poisson, *, seed: int, part: slice = slice(None)) -> dict[str, float]:
    """Return what the counted flows of a run wait, of those the `part` in the order of their starts."""
    scenario = Scenario(
        fabric=_FABRIC, traffic=(traffic,), profile="100g", nic="round_robin", end_s=_NEVER_S, seed=seed
    )
    flows = simulate(scenario, scheme="uet").flows
    flows = flows[flows["counted"]].sort_values("start_s")[part]
    short = flows["flow_bytes"] <= _SHORT_BYTES
    return {
        "short_wait_s": float((flows["fct_s"] - flows["ideal_fct_s"])[short].mean()),
        "long_slowdown": float((flows["fct_s"] / flows["ideal_fct_s"])[~short].mean()),
    }


def short_runs(workload: str, load: float, *, start: Literal["empty", "steady"], seeds: Sequence[int]) -> pd.DataFrame:
    """Return a row for each of some runs of 1000 counted flows."""
    traffic = Poisson(workload=workload, load=load, flows=1000, start=start)
    return pd.DataFrame([run(traffic, seed=seed) for seed in seeds])


def long_runs(workload: str, load: float) -> pd.DataFrame:
    """Return the kept rows of long runs."""
    rows = pd.read_csv(LONG_RUNS)
    return rows[(rows["workload"] == workload) & (rows["load"] == load)]


def write() -> None:
    """Write the long runs anew."""
    rows = []
    for (workload, load), number in RUNS.items():
        traffic = Poisson(workload=workload, load=load, flows=LONG_FLOWS)
        for seed in range(1001, 1001 + number):
            point = {"workload": workload, "load": load, "seed": seed}
            rows.append(point | run(traffic, seed=seed, part=SETTLED))
    pd.DataFrame(rows).to_csv(LONG_RUNS, index=False, float_format="%.6g")


if __name__ == "__main__":
    write()
