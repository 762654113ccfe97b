"""What CAPS Fig. 1 and 2 share: their simulations, means over runs with intervals, and how a reduction is judged."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pandas import DataFrame, Series

from capsmodel._paper_index import Claim
from capsmodel.experiments.figures import _drawing as drawing
from capsmodel.experiments.statistics import PairedDifference, mean_interval, paired_difference
from capsmodel.experiments.sweep import Task
from capsmodel.experiments.verdicts import APPROX_RELATIVE, Verdict, VerdictWord

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FUNCTION = "capsmodel.experiments.measurements.head_of_line.short_flows"
FORMS = {4: "with 4 long flows", 0: "without long flows"}
PRESET_SPREAD_S = 1e-4


def tasks(spreads_s: Sequence[float], *, runs: int) -> list[Task]:
    """Return a run with and one without long flows for each spread of start times and each of `runs` seeds."""
    return [
        Task(function=FUNCTION, payload={"long_flows": long_flows, "spread_s": spread_s, "seed": seed})
        for spread_s in spreads_s
        for seed in range(1, runs + 1)
        for long_flows in FORMS
    ]


def with_form(rows: DataFrame) -> DataFrame:
    """Return the rows with the number of long flows in words."""
    return rows.assign(form=rows["long_flows"].map(FORMS))


def difference(runs: "Series[float]") -> PairedDifference:
    """Return with minus without long flows, from a value for each form and seed; both ran on the same short flows."""
    wide = runs.unstack("form")
    return paired_difference(wide[FORMS[4]], wide[FORMS[0]])


def reduction_pct(runs: "Series[float]", *, subject: int) -> tuple[float, float, float]:
    """Return by how many percent the value with `subject` long flows lies below the other: mean and 95% interval."""
    wide = runs.unstack("form")
    other = next(count for count in FORMS if count != subject)
    found = mean_interval(100 * (1 - wide[FORMS[subject]] / wide[FORMS[other]]))
    return found.value, found.low, found.high


def by_reduction(claim: Claim, found: tuple[float, float, float], printed_pct: float, reason: str) -> Verdict:
    """Judge "about so many percent lower": the direction beyond noise, and the size within `APPROX_RELATIVE`."""
    value, low, high = found
    near = low <= printed_pct * (1 + APPROX_RELATIVE) and high >= printed_pct * (1 - APPROX_RELATIVE)
    word: VerdictWord = "refuted" if low <= 0 else "reproduced" if near else "differs in size"
    return Verdict(claim.id, (value,), word, reason, (low, high))


def error_bars(axes: "Axes", runs: "Series[float]", x: str, scale: float) -> None:
    """Draw the mean over seeds with its 95% interval over `x`, a line for each form."""
    for colour, (form, values) in zip(drawing.COLOURS, runs.groupby(level="form", sort=False), strict=False):
        points = [mean_interval(of_place) for _, of_place in values.groupby(level=x)]
        means = [scale * point.value for point in points]
        halves = [scale * (point.high - point.value) for point in points]
        places = values.index.unique(x).to_numpy()
        axes.errorbar(places, means, yerr=halves, fmt="o-", capsize=3, color=colour, label=str(form))
