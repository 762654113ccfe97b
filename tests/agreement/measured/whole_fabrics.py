"""Runs of whole fabrics with steady starts, which excerpts of them are compared with.

They are kept in ``whole_fabrics.csv``, written by ``python tests/agreement/measured/whole_fabrics.py``, a row a scheme:
what ran (``id`` of the run and the version of the package), its flows, and the slowdowns that the test reads.
"""

from pathlib import Path

import pandas as pd

from capsim import LeafSpine, Poisson, Scenario, simulate
from capsim.results.fct import slowdown_by_size
from capsmodel import __version__

KEPT = Path(__file__).with_suffix(".csv")
SCHEMES = ("uet", "dctcp")
EVERY_SIZE = (0, float("inf"))
WHOLE = Scenario(
    fabric=LeafSpine(leaves=16, hosts_per_leaf=8, spines=8, rate_bps=100e9, delay_s=1e-6),
    traffic=(Poisson(workload="websearch", load=0.6, flows=8000, start="steady"),),
    profile="100g",
    nic="round_robin",
)


def flows_of(scenario: Scenario, scheme: str, seed: int) -> tuple[pd.DataFrame, str]:
    """Return the flows of a run with its seed, and the id of the run."""
    result = simulate(scenario.replace(seed=seed), scheme=scheme)
    return result.flows.assign(seed=seed), str(result.manifest["id"])


def kept_row(scheme: str) -> dict[str, object]:
    """Return the row of a whole run."""
    flows, run = flows_of(WHOLE, scheme, seed=1)
    row = slowdown_by_size(flows, EVERY_SIZE).iloc[-1]
    names = ("flows", "unfinished_flows", "mean_slowdown", "p50_slowdown", "p99_slowdown")
    return {"scheme": scheme, "seed": 1, "model": __version__, "id": run, **{name: row[name] for name in names}}


if __name__ == "__main__":
    pd.DataFrame([kept_row(scheme) for scheme in SCHEMES]).to_csv(KEPT, index=False)
