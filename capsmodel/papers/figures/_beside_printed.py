"""Claims with what the paper prints in black and our values in the colour of the verdict, a panel for each scale."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from capsmodel.checks import FloatArray
from capsmodel.papers.beside_printed import DIRECTION, BesidePrinted
from capsmodel.papers.figures._by_setting import COLOUR_OF
from capsmodel.papers.figures._drawing import PUBLISHED
from capsmodel.plotting import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INK_OF = COLOUR_OF | {"open": "0.45"}  # a point needs a darker grey than a cell
_ROW_IN, _PANEL_IN, _AROUND_IN, _WIDTH_IN = 0.22, 0.75, 0.9, 8.0
_LOGARITHMIC_FROM = 30.0
"""Largest over smallest number of a scale from which on its axis is logarithmic."""
_MOST_NAMED = 1000
"""The same below which such an axis has names within its decades."""
_MARGIN = 0.06
_TITLE_CHARACTERS = 96


@dataclass(frozen=True)
class DrawnClaim:
    """A row of the figure: name of the claim, what is printed and ours, and the verdict."""

    name: str
    found: BesidePrinted
    verdict: str


def draw_beside_printed(title: str, rows: Sequence[DrawnClaim]) -> "Figure":
    """Return a figure with a row for each claim.

    Parameters
    ----------
    title : str
        Above the figure.
    rows : sequence of DrawnClaim
        In any order; those of one scale are drawn in one panel.
    """
    panels: dict[str, list[DrawnClaim]] = {}
    for row in rows:
        panels.setdefault(row.found.scale, []).append(row)
    height_in = _AROUND_IN + _PANEL_IN * len(panels) + _ROW_IN * len(rows)
    figure = new_figure(width_in=_WIDTH_IN, height_in=height_in)
    ratios = [_PANEL_IN + _ROW_IN * len(one) for one in panels.values()]
    for axes, (scale, shown) in zip(
        figure.subplots(len(panels), squeeze=False, height_ratios=ratios)[:, 0], panels.items(), strict=True
    ):
        _draw_panel(axes, scale, shown)
    figure.suptitle(fill(title, _TITLE_CHARACTERS), fontsize=10)
    _explain(figure, dict.fromkeys(row.verdict for row in rows if row.found.ours))
    return figure


def _draw_panel(axes: "Axes", scale: str, rows: Sequence[DrawnClaim]) -> None:
    axes.set_yticks(range(len(rows)), [row.name for row in rows], fontsize=7)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel(scale, fontsize=8)
    if scale == DIRECTION:
        axes.set(xlim=(-1.2, 1.2), xticks=[-1, 0, 1], xticklabels=["falls", "neither", "rises"])
    else:
        _set_limits(axes, [row.found for row in rows])
    axes.tick_params(axis="x", labelsize=7)
    axes.tick_params(axis="y", length=0)
    axes.grid(color="0.92", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    _draw_printed(axes, [row.found for row in rows])
    for place, row in enumerate(rows):
        _draw_ours(axes, place, row)


def _set_limits(axes: "Axes", rows: Sequence[BesidePrinted]) -> None:
    """Make room for all numbers; where they span orders of magnitude and none is 0 or less, logarithmically."""
    values = _finite(value for one in rows for value in (one.low, one.high, *one.ours))
    ends = _finite(value for one in rows for value in one.interval)
    if values.size and values.min() > 0 and values.max() / values.min() >= _LOGARITHMIC_FROM:
        numbers = np.concatenate([values, ends[ends > 0]])
        room = (numbers.max() / numbers.min()) ** _MARGIN
        axes.set_xscale("log")
        axes.set_xlim(numbers.min() / room, numbers.max() * room)
        _name_ticks(axes)
        return
    numbers = np.concatenate([values, ends]) if values.size else np.array([0.0, 1.0])
    room = _MARGIN * float(np.ptp(numbers)) or 0.1 * float(np.abs(numbers).max()) or 1.0
    axes.set_xlim(numbers.min() - room, numbers.max() + room)


def _name_ticks(axes: "Axes") -> None:
    """Name 1, 2 and 5 of each decade of a logarithmic axis, which have room up to three of them; else decades."""
    from matplotlib.ticker import LogLocator

    low, high = axes.get_xlim()
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < _MOST_NAMED * low else (1,)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.minorticks_off()


def _finite(values: Iterable[float]) -> FloatArray:
    return np.array([value for value in values if np.isfinite(value)])


def _draw_printed(axes: "Axes", rows: Sequence[BesidePrinted]) -> None:
    """Draw printed numbers as crosses, ranges as bars that reach the edge at an open end."""
    style: dict[str, Any] = {"color": "black", "gid": PUBLISHED}
    points = [(one.low, place) for place, one in enumerate(rows) if one.low == one.high]
    axes.plot(*zip(*points, strict=True) if points else ((), ()), "x", markersize=6, zorder=4, **style)
    spans = [(place, one.low, one.high) for place, one in enumerate(rows) if one.low < one.high]
    for place, *span in spans:
        low, high = np.clip(span, *axes.get_xlim())
        axes.barh(place, high - low, left=low, height=0.7, alpha=0.13, linewidth=0, **style)
    ends = [(end, place) for place, *span in spans for end in span if np.isfinite(end)]
    axes.plot(*zip(*ends, strict=True) if ends else ((), ()), "|", markersize=9, zorder=4, **style)


def _draw_ours(axes: "Axes", place: int, row: DrawnClaim) -> None:
    """Draw our value with its interval, or both ends of our range with a line between, and the verdict at the right."""
    ours, colour = row.found, _INK_OF[row.verdict]
    if ours.interval:
        ends = np.clip(ours.interval, *axes.get_xlim())
        axes.plot(ends, [place] * 2, color=colour, marker="|", markersize=5, linewidth=1)
    if ours.ours:
        axes.plot(ours.ours, [place] * len(ours.ours), "o-", color=colour, markersize=5, linewidth=2.5)
    beside = axes.get_yaxis_transform()
    axes.text(1.01, place, row.verdict, transform=beside, va="center", fontsize=7, color=colour)


def _explain(figure: "Figure", verdicts: Iterable[str]) -> None:
    """Add the legend: what the paper prints, and the verdicts that occur."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles = [
        Line2D([], [], color="black", marker="x", linestyle="", label="printed"),
        Patch(color="black", alpha=0.13, label="printed range, or side"),
        *(Line2D([], [], color=_INK_OF[verdict], marker="o", label=f"ours: {verdict}") for verdict in verdicts),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, fontsize=7, frameon=False)
