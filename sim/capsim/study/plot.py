"""Pictures and LaTeX tables of many runs: means over seeds with 95% intervals, of schemes or over axes of a study.

What a paper prints is black.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from capsim.protocols.registry import scheme as find
from capsim.roles.scheme_files import is_reference
from capsim.study.claims.design import Design
from capsim.study.claims.samples import Statement
from capsim.study.file import Claim, Panel
from capsim.study.metrics import known_metric, values_of
from capsim.study.points import Label, Point, point_name
from capsim.study.scheme_runs import mean_and_half_width
from capsmodel.checks import FloatArray, require
from capsmodel.experiments import number_texts
from capsmodel.experiments.printed import UNITS, Printed
from capsmodel.plotting import COLOURS, legend_below, look, name_places, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PLOTTED = ("mean_fct_short_s", "p99_fct_short_s", "mean_throughput_long_bps")
"""What a picture shows where nothing else is asked for."""
PLOTTED_OF_ALL = ("mean_slowdown", "mean_throughput_long_bps")
"""What it shows in their place of runs that have no short flows."""
PUBLISHED = "published"
"""Group id of everything in a figure that comes from a paper."""
_COLUMNS = 3
_AXIS_UNITS = {"_bps": ("Gbit/s", 1e-9), "_s": ("ms", 1e3), "_bytes": ("KB", 1e-3)}
_ONE_CURVE = "runs"
_NO_MEAN = (math.nan, math.nan, math.nan)


def metric_latex(table: pd.DataFrame, axes: Sequence[str]) -> str:
    r"""Return a table of metrics as LaTeX: a line for each point, a column for each metric, mean and interval.

    Parameters
    ----------
    table : DataFrame
        As :func:`capsim.study.scheme_runs.metric_table` returns it.
    axes : sequence of str
        The columns that name a point.

    Examples
    --------
    >>> rows = {"scheme": "rps_pq", "metric": "mean_fct_short_s", "mean": 0.00337, "half_width": 0.00041}
    >>> print(metric_latex(pd.DataFrame([rows]), ["scheme"]))
    \begin{tabular}{lr}
    \hline
    scheme & mean FCT, short, ms \\
    \hline
    rps\_pq & $3.37 \pm 0.41$ \\
    \hline
    \end{tabular}
    """
    metrics = list(dict.fromkeys(table["metric"]))
    rows: dict[tuple[Any, ...], dict[str, str]] = {}
    for record in table.to_dict("records"):
        known = known_metric(str(record["metric"]))
        text = number_texts.positive_with_error(record["mean"] * known.factor, record["half_width"] * known.factor)
        cells = rows.setdefault(tuple(record[axis] for axis in axes), {})
        cells[known.name] = interval_latex(text)
    heads = [*axes, *(known_metric(metric).label for metric in metrics)]
    return latex_table(heads, [(point, [cells[metric] for metric in metrics]) for point, cells in rows.items()])


def interval_latex(text: str) -> str:
    """Return a value with its error or the ends of its interval as LaTeX."""
    if "(" in text and "±" not in text:
        return re.sub(r"(?<=\d)-(?=\d)", "--", text)
    return "--" if text == "-" else f"${text.replace('±', chr(92) + 'pm')}$"


def latex_table(heads: Sequence[str], rows: Sequence[tuple[Sequence[object], Sequence[str]]]) -> str:
    r"""Return a table as LaTeX: of each row the values that name it, as they are, and cells that are LaTeX already.

    Examples
    --------
    >>> print(latex_table(["scheme", "time"], [(["rps_pq"], ["$>$ 3"])]).splitlines()[4])
    rps\_pq & $>$ 3 \\
    """
    lines = [" & ".join(map(_escaped, heads))]
    lines += [" & ".join([*map(_escaped, names), *cells]) for names, cells in rows]
    head, *body = (f"{line} \\\\" for line in lines)
    named = len(rows[0][0]) if rows else 0
    columns = "l" * named + "r" * (len(heads) - named)
    return "\n".join(
        [f"\\begin{{tabular}}{{{columns}}}", "\\hline", head, "\\hline", *body, "\\hline", "\\end{tabular}"]
    )


def _escaped(value: object) -> str:
    """Return a text as LaTeX prints it."""
    return re.sub(r"([#$%&_{}])", r"\\\1", value if isinstance(value, str) else number_texts.number(value))


def draw_side_by_side(table: pd.DataFrame, schemes: Sequence[str], metrics: Sequence[str]) -> "Figure":
    """Return a picture of means with 95% intervals, a panel for each metric and a line for each scheme.

    Parameters
    ----------
    table : DataFrame
        As :func:`capsim.study.scheme_runs.metric_table` returns it, with the column ``scheme``.
    schemes, metrics : sequence of str
        What is drawn, from the top and from the left.
    """
    require(bool(metrics), "no metric: name one, as in mean_fct_short_s")
    figure = new_figure(width_in=1.0 + 3.0 * len(metrics), height_in=1.4 + 0.36 * len(schemes))
    panels = figure.subplots(1, len(metrics), sharey=True, squeeze=False)[0]
    for axes, metric in zip(panels, metrics, strict=True):
        rows, known = table[table["metric"] == metric].set_index("scheme").loc[list(schemes)], known_metric(metric)
        mean, apart = rows["mean"] * known.factor, _distances(rows["mean"], rows["low"], rows["high"]) * known.factor
        axes.margins(x=0.08, y=0.15)
        axes.errorbar(mean, range(len(schemes)), xerr=apart, fmt="o", capsize=3, color=COLOURS[0])
        axes.axvline(0, alpha=0)  # the margin is taken of a range that begins at zero
        axes.set(xlabel=known.label)
        axes.set_xlim(left=0 if (rows["mean"].fillna(0) >= 0).all() else None)
        axes.locator_params(axis="x", nbins=5, prune="upper")  # labels of neighbours do not touch
        axes.grid(axis="x", alpha=0.3)
    panels[0].set_yticks(range(len(schemes)), list(_own_names(schemes).values()))
    panels[0].invert_yaxis()
    return figure


@dataclass(frozen=True)
class DrawnStudy:
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


def draw(studied: DrawnStudy, metrics: Sequence[str] = ()) -> "Figure":
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
    most = max((len(axis.values) for axis in design.axes.values()), default=0)
    width_in = max(4.2, 1.0 + 0.2 * most)  # room for a line of text at each value
    figure = new_figure(width_in=width_in * columns + 0.6, height_in=3.4 * rows + 0.5)
    grid = figure.subplots(rows, columns, squeeze=False)
    numbers: dict[str, int] = {}  # of the curves by name, so that one name has one look in all panels
    for axes, panel in zip(grid.flat, panels, strict=False):
        _draw_panel(axes, panel, studied, numbers)
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    legend_below(figure, left_out=_ONE_CURVE)
    return figure


def _draw_panel(axes: "Axes", panel: Panel, studied: DrawnStudy, numbers: dict[str, int]) -> None:
    design = studied.design
    metric = known_metric(_metric_of(panel, studied))
    points = [point for point in studied.points if _is_in(point, panel, studied)]
    x = panel.x or _axis_over(points, studied)
    places = [value for value in design.axes[x].values if any(dict(point)[x] == value for point in points)]
    along = {value: _place(value, number, places) for number, value in enumerate(places)}
    shown = _own_names(design.axes["scheme"].values if "scheme" in design.axes else ())
    curves = _curves(points, x, shown)
    unit, factor = _unit_of(x) if _is_numeric(places) else ("", 1.0)
    along = {value: place * factor for value, place in along.items()}
    axes.set_xscale("log" if "x" in panel.log else "linear")  # before the ticks, which it sets anew
    axes.set_yscale("log" if "y" in panel.log else "linear")
    for name, listed in curves.items():
        run_at = {dict(point)[x]: _mean(studied.runs, point, metric.name) for point in listed}
        means = np.array([run_at.get(value, _NO_MEAN) for value in places])  # a line has a gap where nothing was run
        at = list(along.values())
        values, errors = means[:, 0] * metric.factor, _distances(*means.T) * metric.factor
        style = look(numbers.setdefault(name, len(numbers))) | ({} if _is_numeric(places) else {"linestyle": "none"})
        axes.errorbar(at, values, errors, label=name, markersize=5, capsize=3, linewidth=1.2, **style)
    if gaps := _gaps(curves, x, places, design):
        axes.plot([], [], linestyle="none", label=gaps)
    _draw_printed(axes, panel, studied, x, along)
    if not _is_numeric(places):
        name_places(axes, list(along.values()), [shown.get(one, str(one)) for one in places])
    axes.set(xlabel=_words(x, unit), ylabel=metric.label, title=panel.title or panel.where)
    if "y" not in panel.log:
        axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
    axes.grid(alpha=0.3)


def _gaps(curves: Mapping[str, Sequence[Point]], x: str, places: Sequence[Label], design: Design) -> str:
    """Return what a gap in a curve means; empty where each has a value at all places."""
    every = {
        tuple((name, value if name == x else one) for name, one in listed[0])
        for listed in curves.values()
        for value in places
    }
    absent = every - {point for listed in curves.values() for point in listed}
    needed = absent & set(design.points())
    return "" if not absent else "gap: not run" if needed else "gap: not run, as no claim needs it"


def _unit_of(axis: str) -> tuple[str, float]:
    """Return the unit in which the values of an axis are drawn, and the factor to it."""
    return next((shown for end, shown in _AXIS_UNITS.items() if axis.endswith(end)), ("", 1.0))


def _words(axis: str, unit: str) -> str:
    """Return the name of an axis in words.

    Examples
    --------
    >>> _words("fabric.rate_bps", "Gbit/s"), _words("traffic.load", "")
    ('fabric rate, Gbit/s', 'traffic load')
    """
    name = axis.rpartition("_")[0] if unit else axis
    return re.sub(r"[._]", " ", name) + (f", {unit}" if unit else "")


def _metric_of(panel: Panel, studied: DrawnStudy) -> str:
    if panel.claims:
        return studied.design.metric(panel.claims[0].id)
    require(bool(panel.metric), f"{studied.design.name}.toml: panel: metric is missing: name what is drawn")
    return panel.metric


def _is_in(point: Point, panel: Panel, studied: DrawnStudy) -> bool:
    own = tuple(pair for pair in point if pair[0] != "study")
    return own == point and point in set(studied.design.selected(panel.at, where="panel.at"))


def _axis_over(points: Sequence[Point], studied: DrawnStudy) -> str:
    """Return the axis with several values that a plot is over: first one of numbers, then any, the scheme last."""
    axes = studied.design.axes
    several = [name for name in axes if len({dict(point)[name] for point in points}) > 1] or list(axes)[:1]
    order = sorted(several, key=lambda name: (not _is_numeric(list(axes[name].values)), name == "scheme"))
    return order[0]


def _own_names(schemes: Iterable[Label]) -> dict[Label, str]:
    """Return how schemes are called: one of a file by its own name, unless another has that too."""
    own = {one: find(one).name if isinstance(one, str) and is_reference(one) else str(one) for one in schemes}
    return {one: name if [*own.values()].count(name) == 1 else str(one) for one, name in own.items()}


def _curves(points: Sequence[Point], x: str, shown: Mapping[Label, str]) -> dict[str, list[Point]]:
    """Return the points of each curve by its name: the values of those other axes that have several."""
    others = [name for name, _ in points[0] if name != x] if points else []
    several = [name for name in others if len({dict(point)[name] for point in points}) > 1]
    points_of: dict[str, list[Point]] = {}
    for point in points:
        values = {name: shown.get(value, value) for name, value in point}
        points_of.setdefault(point_name((name, values[name]) for name in several) or _ONE_CURVE, []).append(point)
    return points_of


def _is_numeric(values: Sequence[Label]) -> bool:
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def _place(value: Label, number: int, values: Sequence[Label]) -> float:
    return float(value) if _is_numeric(values) else float(number)


def _mean(runs: pd.DataFrame, point: Point, metric: str) -> tuple[float, float, float]:
    """Return the mean over seeds and the ends of its 95% interval, NaN where there is none."""
    there = np.logical_and.reduce([(runs[name] == value).to_numpy() for name, value in point])
    values = values_of(runs[there], metric)
    mean, half_width = mean_and_half_width(values[np.isfinite(values)], metric)
    return mean, *number_texts.positive_ends(mean, half_width)


def _distances(mean: npt.ArrayLike, low: npt.ArrayLike, high: npt.ArrayLike) -> FloatArray:
    """Return how far the ends of intervals are from means, in two rows; 0 where there is none."""
    below, above = np.subtract(mean, low), np.subtract(high, mean)
    return np.nan_to_num(np.array([below, above], dtype=np.float64), nan=0.0)


def _draw_printed(axes: "Axes", panel: Panel, studied: DrawnStudy, x: str, along: Mapping[Label, float]) -> None:
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


def _printed(panel: Panel, studied: DrawnStudy, x: str) -> Iterator[tuple[list[Label], Printed, float]]:
    """Yield where levels are printed, what, and the factor to the unit of the plot."""
    design = studied.design
    metric = known_metric(_metric_of(panel, studied))
    for claim in _levels(panel, studied):
        statement = Statement(design, claim.id)
        if statement.relation.printed is None or not statement.is_level or claim.average:
            continue
        printed = statement.relation.printed
        factor = metric.factor / UNITS.get(printed.unit, 1.0) / design.times(claim.id)
        yield [dict(point)[x] for point in statement.points], printed, factor


def _levels(panel: Panel, studied: DrawnStudy) -> Iterator[Claim]:
    """Yield the claims of a panel, and the cells of printed tables of the same metric."""
    metric = _metric_of(panel, studied)
    own = {claim.id for claim in panel.claims}
    for claim in studied.design.claims.values():
        is_cell = claim.is_ == "equal" and claim.metric == metric
        if claim.is_simulated and claim.printed and (claim.id in own or is_cell):
            yield claim
