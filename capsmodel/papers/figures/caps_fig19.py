"""CAPS Fig. 19: average and smoothed RTT of short flows in bursts, and the blocking probability from each.

Not stated: the unit of lambda, how senders are pooled, whose RTTs are shown, hosts of a flow. Chosen: the preset
``caps-bursts`` at the paper's scale, 560 hosts, four bursts a run; lambda in each unit in which Fig. 20 is tried, of
which the longer one has bursts that overlap; the RTTs of all short flows pooled in sampling periods of 200 us with 20
ACKs or more; CAPS without coding, since the packets of a unit have the same segment number in the trace. Close means
within 10%, as everywhere in the ledger; a claim fails if it holds in neither unit.
"""

from typing import TYPE_CHECKING

import numpy as np
from pandas import DataFrame

from capsmodel.experiments.statistics.intervals import MeanInterval, mean_interval
from capsmodel.experiments.sweep import Task
from capsmodel.experiments.words import CLOSE_RELATIVE, STATEMENT, within
from capsmodel.papers.claim_list import PublishedClaim
from capsmodel.papers.figures import PublishedFigure
from capsmodel.papers.figures import _drawing as drawing
from capsmodel.papers.figures._points import word_on_points
from capsmodel.papers.measurements.burst_rtts import burst_periods
from capsmodel.papers.verdicts import Verdict, of_sample

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import Series

PER_SECOND = {"bursts per second": 1, "bursts per 100 ms": 10}
"""Bursts a second of the units that lambda may have, as in the study caps-dynamic."""
LAMBDAS, UNITS = (5, 10, 20, 40), PER_SECOND.items()
ESTIMATES = {"twice_average_prob": "twice the average", "twice_smoothed_prob": "twice the smoothed RTT"}


def tasks(*, quick: bool = False) -> list[Task]:
    """Return the runs: lambda from 5 to 40 in each unit, 10 seeds; only the highest rate and 2 seeds when `quick`."""
    every = sorted({one * count for one in LAMBDAS for _, count in UNITS})
    rates, seeds = (every[-1:], (1, 2)) if quick else (every, range(1, 11))
    return [Task(burst_periods, bursts_per_s=rate, seed=seed) for rate in rates for seed in seeds]


def table(rows: DataFrame) -> DataFrame:
    """Return a row for each sampling period of each run."""
    return rows[["bursts_per_s", "seed", "time_s", "rtt_average_s", "rtt_smoothed_s", *ESTIMATES]]


def _by_rate(frame: DataFrame, column: str) -> list[MeanInterval]:
    """Return the mean over periods, with its interval over runs, for each rate of bursts."""
    runs = frame.groupby(["bursts_per_s", "seed"])[column].mean()
    return [mean_interval(values) for _, values in runs.groupby(level="bursts_per_s")]


def _closeness(claim: PublishedClaim, frame: DataFrame, reason: str) -> Verdict:
    """Judge the relative distances in column "apart", a mean for each rate; the value is their range over the rates."""
    found = _by_rate(frame, "apart")
    word = word_on_points(STATEMENT, found, lambda one: within(one, -np.inf, CLOSE_RELATIVE))
    ends = min(distance.value for distance in found), max(distance.value for distance in found)
    verdict = Verdict(claim.id, ends, word, "; ".join([reason, *_by_unit(frame)]), quantity="relative distance")
    return of_sample(verdict, f"{min(one.samples for one in found)} runs")


def _by_unit(frame: DataFrame) -> list[str]:
    """Return the distances with lambda in each unit, in words: those of half of the periods show that no few decide."""
    parts = {unit: frame[frame["bursts_per_s"].isin([one * count for one in LAMBDAS])] for unit, count in UNITS}
    found = [(unit, rows.groupby("bursts_per_s")["apart"]) for unit, rows in parts.items() if len(rows)]
    return [f"lambda in {unit}: mean {_range(one.mean())}, median {_range(one.median())}" for unit, one in found]


def _range(values: "Series[float]") -> str:
    return f"{values.min():.2g} to {values.max():.2g}"


def judge_rtt(claim: PublishedClaim, frame: DataFrame) -> Verdict:
    """Judge the mean distance of the smoothed RTT from the average of the period, relative to it."""
    apart = (frame["rtt_smoothed_s"] / frame["rtt_average_s"] - 1).abs()
    reason = "a burst lasts about as long as the smoothing, 8 periods of 200 us, and its RTT rises and falls by far"
    return _closeness(claim, frame.assign(apart=apart), reason)


def judge_probability(claim: PublishedClaim, frame: DataFrame) -> Verdict:
    """Judge the mean distance of the two probabilities, relative to the mean of the one from the average."""
    usual = frame.groupby(["bursts_per_s"])["twice_average_prob"].transform("mean")
    apart = (frame["twice_smoothed_prob"] - frame["twice_average_prob"]) / usual
    reason = "the smoothed RTT still holds the previous burst, so RTTs of a new burst lie above or below its double"
    return _closeness(claim, frame.assign(apart=apart.abs()), reason)


def draw(frame: DataFrame) -> "Figure":
    """Draw both RTTs over the periods of one run, and the mean probabilities over lambda."""
    figure, (left, right) = drawing.panels("CAPS Fig. 19: average and smoothed RTT in bursts", 2)
    one = frame[(frame["bursts_per_s"] == frame["bursts_per_s"].max()) & (frame["seed"] == 1)]
    order = np.arange(len(one))
    average_ms, smoothed_ms = one["rtt_average_s"] * 1e3, one["rtt_smoothed_s"] * 1e3
    left.plot(order, average_ms, color=drawing.COLOURS[0], label="average of the period")
    left.plot(order, smoothed_ms, color=drawing.COLOURS[1], label="smoothed")
    low, high = (average_ms * (1 + sign * CLOSE_RELATIVE) for sign in (-1, 1))
    left.fill_between(
        order, low, high, color="black", alpha=0.2, gid=drawing.PUBLISHED, label="paper: close, taken as 10%"
    )
    for colour, (column, label) in zip(drawing.COLOURS, ESTIMATES.items(), strict=False):
        found, rates = drawing.bars(_by_rate(frame, column)), frame["bursts_per_s"].unique()
        right.errorbar(rates, *found, fmt="o-", capsize=3, color=colour, label=label)
    left.set(xlabel="sampling periods with ACKs, in order", ylabel="RTT, ms", yscale="log")
    right.set(xlabel="bursts per second", ylabel="blocking probability found", xscale="log", ylim=(0, None))
    return drawing.finish(figure, [left, right])


FIGURE = PublishedFigure(__name__, __doc__, tasks=tasks, table=table, draw=draw)
