"""Cells of packets that predictions of completion times are compared with, and the file that keeps them.

A cell is a fabric, sizes of flows, a load and a scheme. Runs start in the steady state of their load, and their counted
flows offer exactly that load. ``PYTHONPATH=tests python -m agreement.measured.predicted_cells`` runs the cells that the
file lacks and adds a row for each: an hour and a half of processor time in all.

============ =====================================================================
group        cells
============ =====================================================================
``fit``      a leaf-spine of 4 x 6 x 6 at 100 Gbps: what the constants of
             :mod:`capsmodel.prediction.waits` were fitted to, and no test uses
``grid``     a leaf-spine of 4 x 4 x 4 at 100 Gbps, six loads of three workloads,
             with `GRID_SEEDS`
``in order`` the same, hosts that send packets in order of arrival
``priority`` the same, ports that serve by priority or by what is left
``timers``   the same, Reno over ports that drop
``drawn``    fabrics, rates, workloads and loads drawn by `DRAWN_SEEDS`, held out; the
             last was taken after the last change of a formula
============ =====================================================================
"""

import csv
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np
from agreement.measured.max_min_flows import links_of_flows, max_min_times

from capsim import FatTree, LeafSpine, Poisson, Scenario, model_inputs, simulate
from capsim.fabric.kinds import AnyFabric
from capsim.fabric.traffic import draw_flows
from capsmodel import load_workload

KEPT = Path(__file__).parents[3] / "data" / "results" / "prediction.csv"
DRAWN_SEEDS, DRAWN_CELLS = (56, 57, 58, 59, 60, 61, 62, 63), 8
SHORT_BYTES, LONG_BYTES = 100_000, 1_000_000

TURNS = ("uet", "dctcp", "rps+dctcp+rack", "rps+dctcp")
PRIORITY = ("ecmp_pq", "pfabric")
TIMERS = ("ecmp", "rps", "repflow", "caps")
IN_ORDER = "in order"
GRID_SEEDS = (31, 32, 33, 34, 35)
FIT_SEEDS = (7, 8, 9, 10, 11)
DRAWN_RUN_SEEDS = (41, 42, 43, 44, 45)
"""Of the runs of drawn cells. From one to another the 99th percentile of 1,300 short flows varies by half."""
GRID = (
    ("websearch", 0.2),
    ("websearch", 0.4),
    ("websearch", 0.6),
    ("fb_cachefollower_homa", 0.3),
    ("fb_cachefollower_homa", 0.6),
    ("fb_hadoop_homa", 0.3),
)
FITTED = (("websearch", 0.3), ("websearch", 0.5), ("fb_cachefollower_homa", 0.45))
_SMALL = {"fabric": "leaf-spine:4x4x4", "profile": "100g"}
_FIT = {"fabric": "leaf-spine:4x6x6", "profile": "100g"}
_DRAWN_FROM: dict[str, tuple[Any, ...]] = {
    "profile": ("10g", "25g", "100g", "400g"),
    "fabric": ("leaf-spine:2x8x8", "leaf-spine:3x6x4", "leaf-spine:8x2x2", "fat-tree:4"),
    "workload": ("websearch", "fb_cachefollower_homa", "fb_hadoop_homa", "univ1_benson_pkts", "alistorage2019"),
    "load": (0.2, 0.3, 0.4, 0.5, 0.6, 0.7),
}


@dataclass(frozen=True)
class Cell:
    """A setting of a run; `flows` are counted."""

    group: str
    fabric: str
    profile: str
    workload: str
    load: float
    scheme: str
    flows: int
    seed: int

    def kind(self) -> AnyFabric:
        """Return the fabric."""
        name, _, counts = self.fabric.partition(":")
        numbers = [int(part) for part in counts.split("x")]
        links = {"rate_bps": float(self.profile[:-1]) * 1e9, "delay_s": 1e-6}
        if name == "fat-tree":
            return FatTree(pods=numbers[0], **links)
        return LeafSpine(leaves=numbers[0], hosts_per_leaf=numbers[1], spines=numbers[2], **links)

    def scenario(self) -> Scenario:
        """Return what is run."""
        traffic = Poisson(workload=self.workload, load=self.load, flows=self.flows, exact_load=True, start="steady")
        return Scenario(
            fabric=self.kind(),
            traffic=(traffic,),
            scheme=self.scheme,
            profile=self.profile,
            nic="fifo" if self.group == IN_ORDER else "round_robin",
            seed=self.seed,
            end_s=20.0,
        )


def cells() -> Iterator[Cell]:
    """Yield all cells, those first that most rests on."""
    small = [{**_SMALL, "workload": workload, "load": load} for workload, load in GRID]
    fitted = [{**_FIT, "workload": workload, "load": load} for workload, load in FITTED]
    for seed in FIT_SEEDS:
        yield from _group("fit", fitted, TURNS[:3], seed=seed)
    for seed in GRID_SEEDS:
        yield from _group("grid", small, TURNS, seed=seed)
    yield from _group(IN_ORDER, small, TURNS[1:3], seed=31)
    first, *others = (drawn_cells(seed) for seed in DRAWN_SEEDS)
    for seed in DRAWN_RUN_SEEDS:
        yield from _group("drawn", chain(first, *others), TURNS[:3], seed=seed)
    yield from _group("priority", small, PRIORITY, seed=31)
    yield from _group("drawn", first, PRIORITY, seed=41)
    yield from _group("timers", small, TIMERS, seed=31)
    yield from _group("drawn", first, TIMERS, seed=41)


def _group(group: str, settings: Iterable[dict[str, Any]], schemes: Iterable[str], *, seed: int) -> Iterator[Cell]:
    return (_cell(group, **each, scheme=scheme, seed=seed) for each, scheme in product(settings, schemes))


def drawn_cells(seed: int) -> list[dict[str, Any]]:
    """Return cells that nobody chose: each part is drawn among its values by a seed.

    Drawn again is a cell whose inner links would have a load above 0.75, and 10 Gbps with more hosts than uplinks.
    """
    rng = np.random.default_rng(seed)
    found: list[dict[str, Any]] = []
    while len(found) < DRAWN_CELLS:
        cell = {name: values[int(rng.integers(len(values)))] for name, values in _DRAWN_FROM.items()}
        narrow = cell["fabric"] == "leaf-spine:3x6x4"
        refused = narrow and (cell["profile"] == "10g" or cell["load"] * 1.5 * 12 / 17 > 0.75)
        if not refused and cell not in found:
            found.append(cell)
    return found


def _cell(group: str, fabric: str, profile: str, workload: str, load: float, scheme: str, *, seed: int) -> Cell:
    """Return a cell with as many flows as make about two million packets."""
    payload_bytes = 4110 if profile in ("100g", "400g") else 1460
    sizes = load_workload(workload)
    packets = sizes.expectation(lambda x: np.maximum(np.ceil(x / payload_bytes), 1))
    budget = 2e6 if group == "grid" else 1.2e6
    flows = int(np.clip(budget / packets, 2500, 25_000))
    return Cell(group, fabric, profile, workload, load, scheme, flows, seed)


def run(cell: Cell, *, steady: float | None = None) -> dict[str, Any]:
    """Return the row of a cell: what it is, where it comes from, what its counted flows have found, and max-min.

    `steady` is the steady slowdown of max-min, where another seed of the cell has it.
    """
    result = simulate(cell.scenario())
    flows = result.flows[result.flows["counted"]]
    short, long = flows[flows["flow_bytes"] <= SHORT_BYTES], flows[flows["flow_bytes"] > LONG_BYTES]
    slowdown = long["fct_s"] / long["ideal_fct_s"]
    return {
        **asdict(cell),
        "id": result.manifest["id"],
        "version": result.manifest["software"]["version"],
        "unfinished": int((~flows["finished"]).sum()),
        "short_flows": len(short),
        "short_mean_s": short["fct_s"].mean(),
        "short_error_s": short["fct_s"].std() / np.sqrt(len(short)),
        "short_p99_s": short["fct_s"].quantile(0.99),
        "short_timeout_share": float((short["winner_timeouts"] > 0).mean()),
        "long_flows": len(long),
        "long_slowdown": slowdown.mean(),
        "long_slowdown_p99": slowdown.quantile(0.99),
        **max_min(cell, steady=steady),
    }


def max_min(cell: Cell, *, steady: float | None = None) -> dict[str, float]:
    """Return the mean slowdown of long flows that share max-min fair: of the cell's own flows, and of the steady state.

    The second is of 80,000 flows of four other seeds. Over the first, that of packets has little noise.
    """
    if load_workload(cell.workload).cdf(LONG_BYTES) == 1:
        return {"long_max_min": np.nan, "long_max_min_steady": np.nan}
    if steady is None:
        steady = _steady(replace(cell, group="", seed=0, scheme=_path(cell)))
    return {"long_max_min": _max_min_slowdown(cell), "long_max_min_steady": steady}


def _path(cell: Cell) -> str:
    """Return a scheme with the same paths and headers."""
    return {"one": "ecmp", "sprayed": "rps"}[model_inputs(cell.scenario()).scheme.path]


@cache
def _steady(cell: Cell) -> float:
    return float(np.mean([_max_min_slowdown(replace(cell, flows=20_000, seed=900 + seed)) for seed in range(4)]))


def _max_min_slowdown(cell: Cell) -> float:
    scenario = cell.scenario()
    inputs = model_inputs(scenario)
    built = scenario.fabric.build(seed=cell.seed)
    flows = draw_flows(scenario.traffic, built, seed=cell.seed, short_bytes=SHORT_BYTES)
    alone_s = flows.flow_bytes * (8 * inputs.scheme.wire_ratio / inputs.fabric.rate_bps)
    src, dst = flows.src.astype(np.int64), flows.dst.astype(np.int64)
    rng = np.random.default_rng(cell.seed)
    links, capacity = links_of_flows(inputs.fabric, src, dst, path=inputs.scheme.path, rng=rng)
    times_s, _ = max_min_times(flows.start_ps / 1e12, alone_s, links, capacity)
    long = flows.counted & (flows.flow_bytes > LONG_BYTES)
    return float(np.nanmean(times_s[long] / alone_s[long]))


def kept_rows() -> list[dict[str, Any]]:
    """Return the rows of the file, numbers as numbers."""
    with KEPT.open(newline="") as file:
        return [{name: _number(text) for name, text in row.items()} for row in csv.DictReader(file)]


def _number(text: str) -> Any:
    try:
        return float(text) if text else np.nan
    except ValueError:
        return text


def main(kept: Path) -> None:
    """Run what `kept` lacks."""
    names = list(Cell.__dataclass_fields__)
    rows: list[dict[str, str]] = []
    if kept.is_file():
        with kept.open(newline="") as file:
            rows = list(csv.DictReader(file))
    known = {tuple(row[name] for name in names) for row in rows}
    setting = [name for name in names if name not in ("group", "flows", "seed")]
    steady = {tuple(row[name] for name in setting): row["long_max_min_steady"] for row in rows}
    for cell in dict.fromkeys(cells()):  # some settings are drawn by two seeds
        values = {name: str(value) for name, value in asdict(cell).items()}
        if tuple(values.values()) in known:
            continue
        text = steady.get(tuple(values[name] for name in setting))
        row = run(cell, steady=float(text) if text else None)
        with kept.open("a", newline="") as file:
            writer = csv.DictWriter(file, list(row), lineterminator="\n")
            if not file.tell():
                writer.writeheader()
            writer.writerow({name: _text(value) for name, value in row.items()})


def _text(value: Any) -> Any:
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.7g}"
    return value


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else KEPT)
