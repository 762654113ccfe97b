"""The picture of a study: its panels over their axes, with 95% intervals, and what is printed beside them.

Curves differ in colour, mark and line, so that colour-blind readers and printers tell them apart: the palette of Okabe
and Ito (https://jfly.uni-koeln.de/color), without yellow, which is too faint on white. What a paper prints is black.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from capsim.study.claims import Design
from capsim.study.file import Claim, Panel
from capsim.study.metrics import known_metric, values_of
from capsim.study.points import Label, Point, point_name
from capsim.study.samples import Statement
from capsmodel.checks import require
from capsmodel.experiments.printed import UNITS, Printed
from capsmodel.experiments.statistics.intervals import mean_interval
from capsmodel.plotting import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000")
MARKS = ("o", "s", "^", "D", "v", "P", "X")
LINES = ("-", "--", "-.", ":")
PUBLISHED = "published"
"""Group id of everything in a figure that comes from a paper."""
_COLUMNS = 3


@dataclass(frozen=True)
class Drawn:
    """What is drawn.

    Attributes
    ----------
    design : Design
        The study.
    runs : DataFrame
        A row for each run: the axes, ``seed`` and the metrics.
    points : sequence of Point
        Those that have runs.
    """

    design: Design
    runs: pd.DataFrame
    points: Sequence[Point]


def draw(studied: Drawn, metrics: Sequence[str] = ()) -> "Figure":
    """Return the picture of a study that has runs.

    Parameters
    ----------
    studied : Drawn
        The runs.
    metrics : sequence of str
        What is drawn of a study without a panel, a panel for each.

    Raises
    ------
    ParameterError
        If there is nothing to draw.
    """
    design = studied.design
    panels = list(design.source.file.panel) or [Panel(metric=metric) for metric in metrics]
    require(bool(panels), f"{design.name} has no panel: add [[panel]] with a metric")
    require(len(studied.runs) > 0, f"{design.name} has no run yet: run it first")
    rows = -(-len(panels) // _COLUMNS)
    columns = min(_COLUMNS, len(panels))
    figure = new_figure(width_in=4.2 * columns + 0.6, height_in=3.4 * rows + 0.5)
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes, panel in zip(grid.flat, panels, strict=False):
        _draw_panel(axes, panel, studied)
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    handles: dict[str, Any] = {}
    for axes in grid.flat:
        handles |= {label: handle for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    if handles:
        columns_of_legend = min(5, len(handles))
        figure.legend(
            handles.values(), handles.keys(), loc="outside lower center", ncols=columns_of_legend, frameon=False
        )
    return figure


def _draw_panel(axes: "Axes", panel: Panel, studied: Drawn) -> None:
    design = studied.design
    metric = known_metric(_metric_of(panel, studied))
    points = [point for point in studied.points if _is_in(point, panel, studied)]
    x = panel.x or _axis_over(points, studied)
    places = [value for value in design.axes[x].values if any(dict(point)[x] == value for point in points)]
    along = {value: _place(value, number, places) for number, value in enumerate(places)}
    curves = _curves(points, x)
    for number, (name, listed) in enumerate(curves.items()):
        found = [_mean(studied.runs, point, metric.name) for point in listed]
        at = [along[dict(point)[x]] for point in listed]
        values = np.array([one[0] for one in found]) * metric.factor
        errors = np.array([one[1] for one in found]) * metric.factor
        axes.errorbar(at, values, errors, label=name, **_look(number, has_line=_is_numeric(places)))
    _draw_printed(axes, panel, studied, x, along)
    if not _is_numeric(places):
        axes.set_xticks(list(along.values()), [str(one) for one in places], rotation=20)
    axes.set(xlabel=x, ylabel=metric.label, title=panel.title or panel.where)
    axes.set_xscale("log" if "x" in panel.log else "linear")
    axes.set_yscale("log" if "y" in panel.log else "linear")
    if "y" not in panel.log:
        axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
    axes.grid(alpha=0.3)


def _look(number: int, *, has_line: bool) -> dict[str, Any]:
    line = LINES[number % len(LINES)] if has_line else "none"
    look = {"color": COLOURS[number % len(COLOURS)], "marker": MARKS[number % len(MARKS)], "linestyle": line}
    return look | {"markersize": 5, "capsize": 3, "linewidth": 1.2}


def _metric_of(panel: Panel, studied: Drawn) -> str:
    if panel.claims:
        return studied.design.metric(panel.claims[0].id)
    require(bool(panel.metric), f"{studied.design.name}.toml: panel: metric is missing: name what is drawn")
    return panel.metric


def _is_in(point: Point, panel: Panel, studied: Drawn) -> bool:
    own = tuple(pair for pair in point if pair[0] != "study")
    return own == point and point in set(studied.design.selected(panel.at, where="panel.at"))


def _axis_over(points: Sequence[Point], studied: Drawn) -> str:
    """Return the axis with several values that a plot is over: first one of numbers, then any, the scheme last."""
    axes = studied.design.axes
    several = [name for name in axes if len({dict(point)[name] for point in points}) > 1] or list(axes)[:1]
    order = sorted(several, key=lambda name: (not _is_numeric(list(axes[name].values)), name == "scheme"))
    return order[0]


def _curves(points: Sequence[Point], x: str) -> dict[str, list[Point]]:
    """Return the points of each curve by its name: the values of those other axes that have several."""
    others = [name for name, _ in points[0] if name != x] if points else []
    several = [name for name in others if len({dict(point)[name] for point in points}) > 1]
    found: dict[str, list[Point]] = {}
    for point in points:
        values = dict(point)
        found.setdefault(point_name((name, values[name]) for name in several) or "runs", []).append(point)
    return found


def _is_numeric(values: Sequence[Label]) -> bool:
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def _place(value: Label, number: int, values: Sequence[Label]) -> float:
    return float(value) if _is_numeric(values) else float(number)


def _mean(runs: pd.DataFrame, point: Point, metric: str) -> tuple[float, float]:
    """Return the mean over seeds and half of its 95% interval, 0 of fewer than two."""
    there = np.logical_and.reduce([(runs[name] == value).to_numpy() for name, value in point])
    values = values_of(runs[there], metric)
    values = values[np.isfinite(values)]
    if len(values) < 2:
        return (float(values[0]) if len(values) else math.nan), 0.0
    found = mean_interval(values)
    return found.value, found.half_width


def _draw_printed(axes: "Axes", panel: Panel, studied: Drawn, x: str, along: Mapping[Label, float]) -> None:
    """Mark the levels that are printed: values at their points, bounds and ranges as such."""
    for number, (at, printed, factor) in enumerate(_printed(panel, studied, x)):
        low, high = (float(end) * factor if end else math.nan for end in (printed.low, printed.high))
        label = "printed" if number == 0 else ""
        place = [along[value] for value in at if value in along]
        if printed.is_range and math.isfinite(low + high):
            axes.vlines(place, low, high, color="black", linewidth=3, alpha=0.5, label=label, gid=PUBLISHED)
        else:
            value = high if math.isnan(low) else low
            axes.plot(place, [value] * len(place), "x", color="black", markersize=8, label=label, gid=PUBLISHED)


def _printed(panel: Panel, studied: Drawn, x: str) -> Iterator[tuple[list[Label], Printed, float]]:
    """Yield where levels are printed, what, and the factor to the unit of the plot."""
    design = studied.design
    metric = known_metric(_metric_of(panel, studied))
    for claim in _levels(panel, studied):
        statement = Statement(design, claim.id)
        if statement.relation.printed is None or not statement.is_level or claim.average:
            continue
        said = statement.relation.printed
        factor = metric.factor / UNITS.get(said.unit, 1.0) / claim.times
        yield [dict(point)[x] for point in statement.points], said, factor


def _levels(panel: Panel, studied: Drawn) -> Iterator[Claim]:
    """Yield the claims of a panel, and the cells of printed tables of the same metric."""
    metric = _metric_of(panel, studied)
    own = {claim.id for claim in panel.claims}
    for claim in studied.design.claims.values():
        is_cell = claim.is_ == "equal" and claim.metric == metric
        if claim.is_simulated and claim.printed and (claim.id in own or is_cell):
            yield claim
