"""How far predictions of completion times are from the kept runs, and the goals that they are held against.

``PYTHONPATH=tests python -m agreement.measured.prediction_goals`` prints the tables of ``docs/prediction.md``: the
goals, and the cells that miss one. Of long flows these have two rungs more: formula over flows that share links max-min
fair, which is what the sharing is off by, and such flows over packets, which is what windows and queues cost.

The slowdown of long flows of a run varies with the sizes that it drew by more than a formula is off. Over that of the
same flows sharing max-min fair it has little noise, so that what predictions are compared with is this ratio times the
slowdown of many such flows.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from agreement.measured.predicted_cells import LONG_BYTES, PRIORITY, SHORT_BYTES, TIMERS, TURNS, Cell, kept_rows
from page_tables import Table, read_table, write_table

from capsim import model_inputs
from capsim.results.prediction import QUANTITIES, predicted
from capsmodel.prediction.completion import Prediction
from capsmodel.prediction.sharing import fair_share_slowdown

_OF_SETTING = ("fabric", "profile", "workload", "load")
_APART = 1.2  # packets of two schemes differ by more than that: their order is a question


@dataclass(frozen=True, eq=False)
class Compared:
    """A scheme in a setting: what is predicted, and what its runs have shown."""

    group: str
    setting: tuple[Any, ...]
    scheme: str
    prediction: Prediction
    found: Mapping[str, float]
    rows: Sequence[Mapping[str, Any]]

    @property
    def values(self) -> dict[str, float]:
        """Return the predicted quantities."""
        return {name: float(value) for name, value in predicted(self.prediction).items()}

    def ratio(self, name: str) -> float:
        """Return the predicted quantity over that of packets."""
        return self.values[name] / self.found[name]

    def is_bound(self, name: str) -> bool:
        """Return whether the predicted quantity is a bound."""
        return self.prediction.rests_on[name.partition("_")[0]] == "bound"


def steady_slowdown(row: Mapping[str, Any]) -> float:
    """Return the slowdown of long flows of a run, freed of what its own sizes do to it."""
    return float(row["long_slowdown"] / row["long_max_min"] * row["long_max_min_steady"])


def cell_of(row: Mapping[str, Any]) -> Cell:
    """Return the cell of a kept row."""
    fields = {name: row[name] for name in Cell.__dataclass_fields__}
    return Cell(**fields | {name: int(fields[name]) for name in ("flows", "seed")})


def all_compared() -> list[Compared]:
    """Return the kept cells but for those of the fit, each with its runs of all seeds."""
    runs: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for row in kept_rows():
        if row["group"] != "fit":
            runs[(row["group"], *(row[name] for name in _OF_SETTING), row["scheme"])].append(row)
    return [_compared(rows) for rows in runs.values()]


def _compared(rows: list[dict[str, Any]]) -> Compared:
    first = rows[0]
    thresholds = {"short_bytes": SHORT_BYTES, "long_bytes": LONG_BYTES}
    found = {name: float(np.mean([row[name] for row in rows])) for name in ("short_mean_s", "short_p99_s")}
    found["long_mean_slowdown"] = float(np.mean([steady_slowdown(row) for row in rows]))
    setting = tuple(first[name] for name in _OF_SETTING)
    prediction = model_inputs(cell_of(first).scenario()).predict(**thresholds)
    return Compared(first["group"], setting, first["scheme"], prediction, found, rows)


def _claims(one: Compared, other: Compared, name: str) -> int:
    """Return 1 if the first is predicted to take longer, -1 the other, 0 if a bound leaves it open."""
    high = 1 if one.values[name] > other.values[name] else -1
    lower = other if high == 1 else one
    return 0 if lower.is_bound(name) else high


def _pairs(cells: Sequence[Compared]) -> Iterator[tuple[int, int]]:
    """Yield what is predicted and what is found of the order of each two schemes of a setting that differ."""
    settings: dict[tuple[Any, ...], list[Compared]] = defaultdict(list)
    for cell in cells:
        settings[cell.setting].append(cell)
    for schemes in settings.values():
        for one, other in combinations(schemes, 2):
            for name in one.found:
                ratio = one.found[name] / other.found[name]
                if np.isfinite(ratio) and max(ratio, 1 / ratio) > _APART:
                    yield _claims(one, other, name), 1 if ratio > 1 else -1


def _in_order(cells: Sequence[Compared]) -> tuple[int, int]:
    pairs = [(claimed, found) for claimed, found in _pairs(cells) if claimed]
    return sum(claimed == found for claimed, found in pairs), len(pairs)


def _of(group: str, schemes: Sequence[str]) -> Callable[[Compared], bool]:
    return lambda cell: cell.group == group and cell.scheme in schemes


@dataclass(frozen=True)
class Goal:
    """A row of the table: in `share` of the cases at least, formula over packets lies between `low` and `high`."""

    text: str
    share: float
    is_case: Callable[[Compared], bool]
    name: str
    low: float
    high: float

    def cases(self, cells: Iterable[Compared]) -> list[Compared]:
        """Return the cells that have the quantity."""
        return [cell for cell in cells if self.is_case(cell) and np.isfinite(cell.found[self.name])]

    def missed(self, cells: Iterable[Compared]) -> list[Compared]:
        """Return the cells outside."""
        return [cell for cell in self.cases(cells) if not self.low <= cell.ratio(self.name) <= self.high]


_GRID, _DRAWN, _PRIORITY = _of("grid", TURNS), _of("drawn", TURNS), _of("priority", PRIORITY)
GOALS = (
    Goal("24 cells: mean of short flows within 10%", 22 / 24, _GRID, "short_mean_s", 0.90, 1.10),
    Goal("24 cells: mean of short flows within 15%", 1.0, _GRID, "short_mean_s", 0.85, 1.15),
    Goal("24 cells: 99th percentile within 25%", 1.0, _GRID, "short_p99_s", 0.75, 1.25),
    Goal("24 cells: mean slowdown within 10%", 1.0, _GRID, "long_mean_slowdown", 0.90, 1.10),
    Goal("held out: mean of short flows within 15%", 0.9, _DRAWN, "short_mean_s", 0.85, 1.15),
    Goal("held out: 99th percentile within 30%", 0.9, _DRAWN, "short_p99_s", 0.70, 1.30),
    Goal("held out: mean slowdown within 15%", 0.9, _DRAWN, "long_mean_slowdown", 0.85, 1.15),
    Goal("priority, pFabric: mean of short flows within 10%", 1.0, _PRIORITY, "short_mean_s", 0.90, 1.10),
    Goal("priority, pFabric: 99th percentile within 20%", 1.0, _PRIORITY, "short_p99_s", 0.80, 1.20),
    Goal(
        "Reno over ports that drop: bound below packets", 0.98, lambda c: c.scheme in TIMERS, "long_mean_slowdown", 0, 1
    ),
)
_ORDER, _ORDER_SHARE = "pairs of schemes in the right order", 0.97


def goals_table() -> Table:
    """Return the table of goals."""
    cells = all_compared()
    rows = [(goal.text, len(goal.missed(cells)), len(goal.cases(cells)), goal.share) for goal in GOALS]
    good, count = _in_order(cells)
    table = [["number", "reached", "goal", "is it met?"]]
    for text, missed, of, share in [*rows, (_ORDER, count - good, count, _ORDER_SHARE)]:
        word = "yes" if of - missed >= share * of - 1e-9 else "no"
        table.append([text, f"{of - missed} of {of}", f"{share:.0%}", word])
    return table


MISSED = ["cell", "scheme", "quantity", "formula over packets", "formula over max-min", "max-min over packets"]


def missed_table() -> Table:
    """Return the table of the quantities of cells that miss a goal, without their causes."""
    cells = all_compared()
    missed = dict.fromkeys((cell, goal.name) for goal in GOALS for cell in goal.missed(cells))
    return [MISSED, *(_missed(cell, name) for cell, name in missed)]


def _missed(cell: Compared, name: str) -> list[str]:
    fabric, profile, workload, load = cell.setting
    rungs = ["", ""]
    if name == "long_mean_slowdown":
        inputs, steady = model_inputs(cell_of(cell.rows[0]).scenario()), cell.rows[0]["long_max_min_steady"]
        share = fair_share_slowdown(inputs.fabric, load=inputs.load * inputs.scheme.wire_ratio, path=inputs.scheme.path)
        rungs = [f"{share / steady:.2f}", f"{steady / cell.found[name]:.2f}"]
    setting = f"{workload} {load:g}, {fabric}, {profile}"
    return [setting, cell.scheme, QUANTITIES[name], f"{cell.ratio(name):.2f}", *rungs]


def main() -> None:
    """Write both tables."""
    write_table("prediction_goals", goals_table())
    causes = {tuple(row[:3]): row[-1] for row in read_table("prediction_missed")}
    write_table("prediction_missed", [[*row, causes.get(tuple(row[:3]), "")] for row in missed_table()])


if __name__ == "__main__":
    main()
