"""Runs of whole fabrics with steady starts, which excerpts of them are compared with.

They are kept in ``data/results/whole_fabrics*.csv``, a row a fabric and scheme: what ran (``id`` of the run and the
version of the package), its flows, traversals and processor time, and the slowdowns that the test reads. ``python
tests/agreement/measured/whole_fabrics.py`` runs what is not there and adds it to the last of the files.

How many flows a host sends was fixed before each run: so many that runs of 128 hosts begin with 0.9 or more of the
flows in progress that their scheme keeps (``settled_start``, :mod:`capsim.results.load_record`). From a start with the
slowdown of two links that share their rates these are 12.5 flows under ``uet`` (0.99; in a fat-tree 0.99) and under
``rps+dctcp+rack`` (0.96). Under ``dctcp`` 12.5 flows have 0.85 and 62.5 have 0.9, since it keeps flows five times as
long as alone: with 12.5 flows it begins with a slowdown of 5.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from capsim import FatTree, LeafSpine, Poisson, Result, Scenario, simulate
from capsim.fabric.kinds import AnyFabric
from capsim.results.fct import slowdown_by_size
from capsmodel import __version__

RESULTS = Path(__file__).parents[3] / "data" / "results"
ADDED = RESULTS / "whole_fabrics.3.csv"
EVERY_SIZE = (0, float("inf"))
LINKS = {"rate_bps": 100e9, "delay_s": 1e-6}


@dataclass(frozen=True)
class Whole:
    """A fabric that ran whole: its hosts, the schemes that it ran, flows a host, and with which slowdown they begin."""

    fabric: AnyFabric
    hosts: int
    schemes: tuple[str, ...]
    flows_per_host: float = 62.5
    slowdowns: Mapping[str, float] = field(default_factory=dict)

    def scenario(self, scheme: str, load: float = 0.6) -> Scenario:
        """Return the web search at a load."""
        flows = round(self.flows_per_host * self.hosts)
        entry = Poisson(
            workload="websearch", load=load, flows=flows, start="steady", slowdown=self.slowdowns.get(scheme)
        )
        return Scenario(fabric=self.fabric, traffic=(entry,), profile="100g", nic="round_robin")


WHOLES = {
    "128 hosts, 16 leaves": Whole(LeafSpine(leaves=16, hosts_per_leaf=8, spines=8, **LINKS), 128, ("uet", "dctcp")),
    "512 hosts, 64 leaves": Whole(
        LeafSpine(leaves=64, hosts_per_leaf=8, spines=8, **LINKS), 512, ("uet", "dctcp", "rps+dctcp+rack")
    ),
    "1,024 hosts, 64 leaves": Whole(LeafSpine(leaves=64, hosts_per_leaf=16, spines=16, **LINKS), 1024, ("uet",)),
    "128 hosts, 8 pods": Whole(FatTree(pods=8, **LINKS), 128, ("uet",)),
    "1,024 hosts, 16 pods": Whole(FatTree(pods=16, **LINKS), 1024, ("uet",), flows_per_host=12.5),
    "4,096 hosts, 256 leaves": Whole(
        LeafSpine(leaves=256, hosts_per_leaf=16, spines=16, **LINKS),
        4096,
        ("uet", "rps+dctcp+rack", "dctcp"),
        flows_per_host=12.5,
        slowdowns={"dctcp": 5.0},
    ),
}


def run_of(scenario: Scenario, scheme: str, seed: int) -> Result:
    """Return a run with its seed."""
    return simulate(scenario.replace(seed=seed), scheme=scheme)


def kept_row(name: str, scheme: str) -> dict[str, object]:
    """Return the row of a whole run."""
    result = run_of(WHOLES[name].scenario(scheme), scheme, seed=1)
    row = slowdown_by_size(result.flows.assign(seed=1), EVERY_SIZE).iloc[-1]
    names = ("flows", "unfinished_flows", "mean_slowdown", "p50_slowdown", "p99_slowdown")
    ran = {"traversals": result.resources.traversals, "cpu_s": round(result.resources.cpu_s, 1)}
    about = {"fabric": name, "scheme": scheme, "seed": 1, "model": __version__, "id": str(result.manifest["id"])}
    return about | ran | {name: row[name] for name in names}


def wholes() -> pd.DataFrame:
    """Return the rows that are kept, by fabric and scheme."""
    files = sorted(RESULTS.glob("whole_fabrics*.csv"))
    return pd.concat([pd.read_csv(file) for file in files]).set_index(["fabric", "scheme"])


if __name__ == "__main__":
    there = set(wholes().index)
    for fabric, whole in WHOLES.items():
        for one in whole.schemes:
            if (fabric, one) not in there:
                row = pd.DataFrame([kept_row(fabric, one)])
                row.to_csv(ADDED, mode="a", header=not ADDED.is_file(), index=False)
