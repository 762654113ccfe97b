"""Steady starts of transports that keep flows longer than fair sharing does, beside long runs that begin empty.

=============================== ======================================================== ====
Quantity                        Name                                                     Unit
=============================== ======================================================== ====
mean number of flows in         `in_progress`: time in progress of all flows between the 1
progress                        first and the last counted arrival, over that time
mean of what flows of at most   `short_wait_s`: completion time beyond that alone        s
100 kB wait for others
mean slowdown of larger flows   `long_slowdown`: completion time over that alone         1
settled share that a short run  `settled_start` (:mod:`capsim.results.load_record`)      1
finds itself, and the slowdown  `kept_slowdown`                                          1
=============================== ======================================================== ====

Facebook's Hadoop at load 0.6 between two leaves. ``python tests/agreement/measured/steady_transports.py`` adds to
`steady_transports.csv` what it lacks: long runs of 12,000 flows, of which those from the 3000th to the 11,000th are
measured, and short ones of 1000 counted flows; it then prints their ratios. All take about five minutes.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from capsim import LeafSpine, Poisson, Scenario, simulate

ROWS = Path(__file__).with_suffix(".csv")
SEEDS = {"long": range(1001, 1017), "short": range(1, 49)}
MEANS = ("in_progress", "short_wait_s", "long_slowdown")
_LONG_FLOWS, _SETTLED, _FLOWS = 12_000, slice(3_000, 11_000), 1_000
_SHORT_BYTES = 100_000
_NEVER_S = 60.0


@dataclass(frozen=True)
class Setting:
    """A transport on a fabric: scheme, rate and order at the NICs, hosts of a leaf, what the load is of, a slowdown."""

    scheme: str
    rate_gbps: int = 10
    nic: str = "fifo"
    hosts_per_leaf: int = 4
    load_of: Literal["host-links", "leaf-uplinks"] = "host-links"
    slowdown: float | None = None

    def run(self, seed: int, length: Literal["long", "short"]) -> dict[str, float]:
        """Return what a run measures."""
        fabric = LeafSpine(
            leaves=2, hosts_per_leaf=self.hosts_per_leaf, spines=4, rate_bps=self.rate_gbps * 1e9, delay_s=1e-6
        )
        many = {"long": ("empty", _LONG_FLOWS), "short": ("steady", _FLOWS)}[length]
        traffic = Poisson(
            workload="fb_hadoop_homa",
            load=0.6,
            load_of=self.load_of,
            pairs="other-leaf",
            start=many[0],
            flows=many[1],
            slowdown=self.slowdown,
        )
        profile = f"{self.rate_gbps}g"
        scenario = Scenario(fabric=fabric, traffic=(traffic,), profile=profile, nic=self.nic, end_s=_NEVER_S, seed=seed)
        result = simulate(scenario, scheme=self.scheme)
        means = measured(result.flows, _SETTLED if length == "long" else slice(None))
        return means | {name: result.loads[name] for name in ("settled_start", "kept_slowdown")}


SETTINGS = {
    "Ultra Ethernet, sprayed, 100 Gbps, in turns": Setting("uet", rate_gbps=100, nic="round_robin"),
    "DCTCP, sprayed": Setting("dctcp_rps"),
    "DCTCP, hashed": Setting("dctcp"),
    "DCTCP, sprayed, 2:1, load of the uplinks": Setting("dctcp_rps", hosts_per_leaf=8, load_of="leaf-uplinks"),
    "DCTCP, hashed, 2:1, load of the uplinks": Setting("dctcp", hosts_per_leaf=8, load_of="leaf-uplinks"),
    "CDCPS, sprayed": Setting("cdcps"),
}


def measured(flows: pd.DataFrame, part: slice) -> dict[str, float]:
    """Return the means over a part of the counted flows, in the order of their starts, and over its time."""
    counted = flows[flows["counted"]].sort_values("start_s")[part]
    first_s, last_s = counted["start_s"].min(), counted["start_s"].max()
    end_s = (flows["start_s"] + flows["fct_s"]).fillna(np.inf)
    inside_s = np.minimum(end_s, last_s) - np.maximum(flows["start_s"], first_s)
    short = counted["flow_bytes"] <= _SHORT_BYTES
    return {
        "in_progress": float(inside_s.clip(lower=0).sum() / (last_s - first_s)),
        "short_wait_s": float((counted["fct_s"] - counted["ideal_fct_s"])[short].mean()),
        "long_slowdown": float((counted["fct_s"] / counted["ideal_fct_s"])[~short].mean()),
    }


def runs(setting: str, length: str) -> pd.DataFrame:
    """Return the kept rows of a setting."""
    rows = pd.read_csv(ROWS)
    return rows[(rows["setting"] == setting) & (rows["length"] == length)]


def write() -> None:
    """Add the rows that are missing, one at a time."""
    kept = pd.read_csv(ROWS) if ROWS.exists() else pd.DataFrame(columns=["setting", "length", "seed"])
    there = set(zip(kept["setting"], kept["length"], kept["seed"], strict=True))
    wanted = [(name, length, seed) for name in SETTINGS for length, seeds in SEEDS.items() for seed in seeds]
    for name, length, seed in (one for one in wanted if one not in there):
        row = {"setting": name, "length": length, "seed": seed} | SETTINGS[name].run(seed, length)
        table = pd.DataFrame([row]).drop(columns="kept_slowdown")
        table.to_csv(ROWS, mode="a", header=not ROWS.exists(), index=False, float_format="%.6g")


def ratios(setting: str) -> dict[str, float]:
    """Return the means of short runs over those of long ones, their standard errors, and the share found."""
    short, long = runs(setting, "short"), runs(setting, "long")
    found = {"settled_start": short["settled_start"].mean()}
    for name in MEANS:
        ratio = short[name].mean() / long[name].mean()
        errors = [rows[name].sem() / rows[name].mean() for rows in (short, long)]
        found |= {name: ratio, f"{name}_se": ratio * float(np.hypot(*errors))}
    return found


if __name__ == "__main__":
    write()
    print(pd.DataFrame({name: ratios(name) for name in SETTINGS}).T.round(2).to_string())
