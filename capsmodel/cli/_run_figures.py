"""Figures of comparisons and studies."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import pandas as pd

from capsim import Compared, Studied
from capsim.results.fct import fct_cdf
from capsmodel.cli._run_tables import shown
from capsmodel.plotting import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PLOTTED = ("mean_fct_short_s", "p99_fct_short_s", "mean_throughput_long_bps")


def draw_comparison(compared: Compared) -> "Figure":
    """Return the figure of a comparison: one panel for each metric, dots with 95% intervals."""
    figure = new_figure(width_in=10.0, height_in=1.4 + 0.36 * len(compared.schemes))
    table = compared.table(PLOTTED)
    panels = figure.subplots(1, len(PLOTTED), sharey=True)
    for panel, metric in zip(panels, PLOTTED, strict=True):
        rows, factor = table[table["metric"] == metric], shown(metric).factor
        mean, half_width = rows["mean"] * factor, rows["half_width"].fillna(0.0) * factor
        panel.margins(x=0.08, y=0.15)
        panel.errorbar(mean, rows["scheme"], xerr=half_width, fmt="o", capsize=3)
        panel.axvline(0, alpha=0)  # the margin is taken of a range that begins at zero
        panel.set(xlabel=shown(metric).head)
        panel.set_xlim(left=0)
        panel.locator_params(axis="x", nbins=5, prune="upper")  # labels of neighbours do not touch
        panel.grid(axis="x", alpha=0.3)
    panels[0].invert_yaxis()
    return figure


def draw_fct_cdf(flows: Mapping[str, pd.DataFrame]) -> "Figure":
    """Return the distribution of completion times of short and of long flows, a curve for each scheme."""
    figure = new_figure(width_in=10.0, height_in=4.0)
    panels = figure.subplots(1, 2, sharey=True)
    for panel, kind in zip(panels, ("short", "long"), strict=True):
        for scheme, table in flows.items():
            cdf = fct_cdf(table, kind="short" if kind == "short" else "long")
            panel.step(cdf["fct_s"] * 1e3, cdf["cdf_prob"], where="post", label=scheme)
        panel.set(xscale="log", xlabel=f"completion time of {kind} flows, ms", ylim=(0, 1.02))
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("share of flows")
    panels[0].legend(frameon=False)
    return figure


def draw_study(studied: Studied, metrics: Sequence[str]) -> "Figure":
    """Return the figure of a study: one panel for each metric, a curve for each scheme and further axis."""
    figure = new_figure(width_in=4.4 * len(metrics) + 1.0, height_in=4.2)
    x, *others = _axes(studied)
    table = studied.table(metrics)
    grid = studied.study.grid
    panels = figure.subplots(1, len(metrics), squeeze=False)[0]
    for panel, metric in zip(panels, metrics, strict=True):
        rows = table[table["metric"] == metric]
        for values in product(*(grid[axis] for axis in others)):
            _curve(panel, rows, x, dict(zip(others, values, strict=True)), shown(metric).factor)
        panel.set(xlabel=x, ylabel=shown(metric).head)
        panel.set_ylim(bottom=0)
        panel.grid(alpha=0.3)
    handles, labels = panels[0].get_legend_handles_labels()
    if others:
        figure.legend(handles, labels, loc="outside lower center", ncols=min(4, len(labels)), frameon=False)
    return figure


def _axes(studied: Studied) -> list[str]:
    """Return the axes with several values: first one of numbers, if there is one, that the curves go along."""
    grid = studied.study.grid
    several = [name for name, values in grid.items() if len(values) > 1] or list(grid)[:1]
    return sorted(several, key=lambda name: not all(isinstance(value, int | float) for value in grid[name]))


def _curve(panel: "Axes", rows: pd.DataFrame, x: str, point: Mapping[str, Any], factor: float) -> None:
    for axis, value in point.items():
        rows = rows[rows[axis] == value]
    numbers = all(isinstance(value, int | float) for value in rows[x])
    along = rows[x].astype(float) if numbers else rows[x].astype(str)
    label = ", ".join(str(value) if axis == "scheme" else f"{axis} {value}" for axis, value in point.items())
    style = "o-" if numbers else "o"
    panel.errorbar(
        along, rows["mean"] * factor, rows["half_width"].fillna(0) * factor, fmt=style, capsize=3, label=label
    )
