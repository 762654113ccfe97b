"""What the figures of units in packets share: tasks, shares with intervals, differences of shares, error bars."""

from typing import TYPE_CHECKING, Any

import numpy as np
from pandas import DataFrame, Series

from capsmodel.experiments.figures import _drawing as drawing
from capsmodel.experiments.statistics import wilson_interval
from capsmodel.experiments.sweep import Task

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MEASUREMENTS = "capsmodel.experiments.measurements."


def decoding_task(k: int, *, r: int, n_paths: int, long_flows: int, units: int) -> Task:
    """Return the task that counts decoded units; every setting has a seed of its own."""
    setting = {"k": k, "r": r, "n_paths": n_paths, "long_flows": long_flows, "units": units}
    seed = 100_000 * n_paths + 10_000 * long_flows + 100 * k + r
    return Task(function=f"{_MEASUREMENTS}unit_decoding.decoded_units", payload={**setting, "seed": seed})


def delay_task(k: int, *, r: int, n_paths: int, long_flows: int, windows: int) -> Task:
    """Return the task that measures the mean delays of windows; every setting has a seed of its own."""
    setting = {"k": k, "r": r, "n_paths": n_paths, "long_flows": long_flows, "windows": windows}
    seed = 100_000 * n_paths + 10_000 * long_flows + 100 * k + r
    return Task(function=f"{_MEASUREMENTS}unit_delays.mean_window_delays", payload={**setting, "seed": seed})


def decode_shares(rows: DataFrame) -> DataFrame:
    """Return decoded units over all units, with the ends of Wilson's 95% interval."""
    counts = zip(rows["successes"].astype(int), rows["trials"].astype(int), strict=True)
    found = [wilson_interval(successes, trials=trials) for successes, trials in counts]
    columns = {"decode_prob": "value", "decode_low_prob": "low", "decode_high_prob": "high"}
    return DataFrame({name: [getattr(one, end) for one in found] for name, end in columns.items()}, index=rows.index)


def share_difference(later: Series, earlier: Series) -> tuple[float, float, float]:
    """Return the difference of two shares with the ends of its 95% interval (Newcombe 1998, from Wilson's)."""
    first, second = (one[["decode_prob", "decode_low_prob", "decode_high_prob"]].tolist() for one in (earlier, later))
    difference = second[0] - first[0]
    below = np.hypot(second[0] - second[1], first[2] - first[0])
    above = np.hypot(second[2] - second[0], first[0] - first[1])
    return float(difference), float(difference - below), float(difference + above)


def error_bars(axes: "Axes", frame: DataFrame, *, x: str, y: str, scale: float = 1.0, **style: Any) -> None:
    """Draw measured values ``name_unit`` with their intervals, columns ``name_low_unit`` and ``name_high_unit``."""
    name, _, unit = y.rpartition("_")
    value, low, high = (frame[column] * scale for column in (y, f"{name}_low_{unit}", f"{name}_high_{unit}"))
    ends = np.maximum([value - low, high - value], 0)
    look: dict[str, Any] = {"fmt": "o", "markersize": 3.5, "capsize": 2, "linewidth": 1} | style
    axes.errorbar(frame[x], value, yerr=ends, **look)


def paper_arrow(axes: "Axes", begin: tuple[float, float], end: tuple[float, float], text: str) -> None:
    """Draw the direction that the paper states, in parts of the panel, with its words."""
    style = {"arrowstyle": "->", "color": "black", "linewidth": 1.4}
    axes.annotate(
        "", end, begin, xycoords="axes fraction", textcoords="axes fraction", arrowprops=style, gid=drawing.PUBLISHED
    )
    axes.text(*begin, text, transform=axes.transAxes, fontsize="small", va="bottom", gid=drawing.PUBLISHED)
