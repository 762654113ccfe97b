"""Shared by the figures of coding units: tasks, shares with intervals, differences of shares, a printed point."""

from typing import TYPE_CHECKING

from pandas import DataFrame, Series

from capsmodel.experiments.statistics.intervals import Interval, proportion_difference, wilson_interval
from capsmodel.experiments.sweep import Task
from capsmodel.experiments.words import APPROX_RELATIVE
from capsmodel.papers.figures import _drawing as drawing
from capsmodel.papers.figures._points import CONFIDENCE
from capsmodel.papers.measurements.unit_decoding import decoded_units
from capsmodel.papers.measurements.unit_delays import mean_window_delays

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def decoding_task(k: int, *, r: int, n_paths: int, long_flows: int, units: int) -> Task:
    """Return the task that counts decoded units; every setting has its own seed."""
    setting = {"k": k, "r": r, "n_paths": n_paths, "long_flows": long_flows, "units": units}
    seed = 100_000 * n_paths + 10_000 * long_flows + 100 * k + r
    return Task(decoded_units, **setting, seed=seed)


def delay_task(k: int, *, r: int, n_paths: int, long_flows: int, windows: int) -> Task:
    """Return the task that measures the mean delays of windows; every setting has its own seed."""
    setting = {"k": k, "r": r, "n_paths": n_paths, "long_flows": long_flows, "windows": windows}
    seed = 100_000 * n_paths + 10_000 * long_flows + 100 * k + r
    return Task(mean_window_delays, **setting, seed=seed)


def decode_shares(rows: DataFrame) -> DataFrame:
    """Return decoded units over all units, with the ends of Wilson's interval at `CONFIDENCE`."""
    counts = zip(rows["successes"].astype(int), rows["trials"].astype(int), strict=True)
    found = [wilson_interval(successes, trials=trials, confidence=CONFIDENCE) for successes, trials in counts]
    columns = {"decode_prob": "value", "decode_low_prob": "low", "decode_high_prob": "high"}
    return DataFrame({name: [getattr(one, end) for one in found] for name, end in columns.items()}, index=rows.index)


def share_difference(later: Series, earlier: Series) -> Interval:
    """Return the difference of two rows of :func:`decode_shares` with its interval."""
    return proportion_difference(share(later), share(earlier))


def share(row: Series) -> Interval:
    """Return a row of :func:`decode_shares` as an interval."""
    value, low, high = (float(row[name]) for name in ("decode_prob", "decode_low_prob", "decode_high_prob"))
    return Interval(value=value, low=low, high=high, confidence=CONFIDENCE, samples=0)


def paper_almost_one(axes: "Axes") -> None:
    """Mark the p_S that CAPS prints for two long flows and r = 2, down to what still counts as "almost 1"."""
    value, _ = drawing.claimed("caps-f6b-2")
    drawing.paper_points(axes, [2], [value], 'paper: $n_L$ = 2, "almost 1" at r = 2')
    axes.plot([2, 2], [value - APPROX_RELATIVE, value], color="black", linewidth=1.2, gid=drawing.PUBLISHED)
