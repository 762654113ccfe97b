"""The look of all figures: our curves in colour, what the paper prints in black."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from pandas import DataFrame

from capsmodel.checks import FloatArray
from capsmodel.experiments.statistics.intervals import Interval
from capsmodel.papers.claim_list import read_claims
from capsmodel.plotting import COLOURS as COLOURS
from capsmodel.plotting import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PUBLISHED = "published"
"""Group id of everything in a figure that comes from the paper."""

_PAPER: dict[str, Any] = {"color": "black", "gid": PUBLISHED, "zorder": 5}


def panels(title: str, count: int = 1) -> tuple["Figure", list["Axes"]]:
    """Return a figure with `count` panels side by side."""
    figure = new_figure(width_in=7.2 if count == 1 else 10.0, height_in=4.6)
    figure.suptitle(title)
    axes = [figure.add_subplot(1, count, i + 1) for i in range(count)]
    for one in axes:
        one.grid(color="0.9", linewidth=0.6)
        one.spines[["top", "right"]].set_visible(False)
    return figure, axes


def curves(
    axes: "Axes", frame: DataFrame, *, x: str, y: str, by: str, label: str, scale: float = 1.0, **style: Any
) -> None:
    """Draw `y` times `scale` over `x`, a curve for each value of `by`, named by the format `label`."""
    for colour, (value, rows) in zip(COLOURS, frame.groupby(by, sort=False), strict=False):
        axes.plot(rows[x], rows[y] * scale, label=label.format(value), **({"color": colour} | style))


def bars(intervals: Iterable[Interval], scale: float = 1.0) -> tuple[FloatArray, FloatArray]:
    """Return values times `scale` and how far their intervals reach below and above, as ``errorbar`` takes them."""
    value, low, high = scale * np.array([(one.value, one.low, one.high) for one in intervals]).T
    return value, np.array([value - low, high - value])


def error_bars(axes: "Axes", frame: DataFrame, *, x: str, y: str, scale: float = 1.0, **style: Any) -> None:
    """Draw measured values ``name_unit`` with their intervals, columns ``name_low_unit`` and ``name_high_unit``."""
    name, _, unit = y.rpartition("_")
    value, low, high = (frame[column] * scale for column in (y, f"{name}_low_{unit}", f"{name}_high_{unit}"))
    ends = np.maximum([value - low, high - value], 0)
    look: dict[str, Any] = {"fmt": "o", "markersize": 3.5, "capsize": 2, "linewidth": 1} | style
    axes.errorbar(frame[x], value, yerr=ends, **look)


def paper_points(axes: "Axes", x: Sequence[float], y: Sequence[float], label: str) -> None:
    """Mark points that the paper prints."""
    axes.plot(x, y, "x", markersize=8, markeredgewidth=2, label=label, **_PAPER)


def paper_level(axes: "Axes", y: float, label: str) -> None:
    """Mark a level or a bound that the paper prints."""
    axes.axhline(y, linestyle="--", linewidth=1.2, label=label, **_PAPER)


def paper_place(axes: "Axes", x: float, label: str) -> None:
    """Mark the place of an optimum that the paper prints."""
    axes.axvline(x, linestyle="--", linewidth=1.2, label=label, **_PAPER)


def paper_band(axes: "Axes", low: float, high: float, label: str) -> None:
    """Mark a range that the paper prints."""
    axes.axhspan(low, high, alpha=0.12, linewidth=0, label=label, **_PAPER)


def paper_arrow(axes: "Axes", begin: tuple[float, float], end: tuple[float, float], text: str) -> None:
    """Draw the direction that the paper states, in parts of the panel, with its words."""
    style = {"arrowstyle": "->", "color": "black", "linewidth": 1.4}
    axes.annotate("", end, begin, xycoords="axes fraction", textcoords="axes fraction", arrowprops=style, gid=PUBLISHED)
    axes.text(*begin, text, transform=axes.transAxes, fontsize="small", va="bottom", gid=PUBLISHED)


def claimed(claim_id: str) -> tuple[float, float]:
    """Return the range that a claim prints; a bound twice."""
    claim = read_claims()[claim_id]
    return float(claim.low or claim.high), float(claim.high or claim.low)


def finish(figure: "Figure", axes: Sequence["Axes"], **legend: Any) -> "Figure":
    """Add the legends."""
    for one in axes:
        one.legend(frameon=False, fontsize="small", **legend)
    return figure
