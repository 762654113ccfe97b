"""What the figures of units in packets share: tasks, shares with intervals, differences of shares."""

import numpy as np
from pandas import DataFrame, Series

from capsmodel.experiments.statistics import wilson_interval
from capsmodel.experiments.sweep import Task

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
