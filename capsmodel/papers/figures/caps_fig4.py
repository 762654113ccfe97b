"""CAPS Fig. 4: ON and OFF periods of short flows beside long ones, and the RTT of each of 40 paths.

Not stated: mean lengths of the periods, flows in each, size of the long flows, transport. Chosen: 100 short flows that
start in an ON period of 1 ms in the mean, as in Section III, 30 ms apart in the mean; four endless long flows, each on
its own path; NewReno; hosts of 10 Gbps, so that a long flow queues at the switch port of its path and not in the
sending host. An interval of 500 us is ON if a packet of a short flow comes to the first switch, as Algorithm 1 samples
it. The ratio of both RTTs is a geometric mean over runs.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from pandas import DataFrame, concat

from capsmodel.experiments.statistics.intervals import paired_ratio
from capsmodel.experiments.sweep import Task
from capsmodel.experiments.words import LEVEL, MUCH, WORD_OF_SIZE, above, all_of, word_on
from capsmodel.papers.claim_list import PublishedClaim, read_claims
from capsmodel.papers.figures import PublishedFigure
from capsmodel.papers.figures import _drawing as drawing
from capsmodel.papers.figures._points import CONFIDENCE
from capsmodel.papers.measurements.blocking_estimators import on_off_periods, path_rtts
from capsmodel.papers.verdicts import Verdict, not_testable, of_sample, printed_range

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import Series

LONG_FLOWS = 4
ON, OFF, BLOCKED, FREE = "ON", "OFF", "path with a long flow", "path without"


def tasks(*, quick: bool = False) -> list[Task]:
    """Return the runs: 10 seeds (2, and shorter, when `quick`), for the periods and for the paths."""
    setting: dict[str, Any] = {"traffic": "on-off", "long_flows": LONG_FLOWS, "duration_s": 0.2 if quick else 0.3}
    seeds = range(1, 3 if quick else 11)
    functions = (on_off_periods, path_rtts)
    return [Task(function, **setting, seed=seed) for function in functions for seed in seeds]


def table(rows: DataFrame) -> DataFrame:
    """Return the lengths of all periods, by their number, and the mean RTT of each path, for each seed."""
    periods, paths = rows[rows["on_s"].notna()], rows[rows["path"].notna()]
    number = periods.groupby("seed").cumcount()
    lengths = [
        DataFrame({"form": form, "seed": periods["seed"], "part": number, "duration_s": periods[column]})
        for form, column in ((ON, "on_s"), (OFF, "off_s"))
    ]
    form = np.where(paths["blocked"].astype(bool), BLOCKED, FREE)
    rtts = DataFrame({"form": form, "seed": paths["seed"], "part": paths["path"], "duration_s": paths["rtt_s"]})
    return concat([*lengths, rtts], ignore_index=True).astype({"part": int})


def _of(frame: DataFrame, form: str) -> "Series[float]":
    return frame[frame["form"] == form].set_index(["seed", "part"])["duration_s"]


def judge_periods(claim: PublishedClaim, frame: DataFrame) -> Verdict:
    """Record that the lengths of the periods are an input."""
    return not_testable(
        claim, "the lengths are an input that the paper does not print; here flows start in 1 ms of 31 in the mean"
    )


def judge_presence(claim: PublishedClaim, frame: DataFrame) -> Verdict:
    """Record that the presence of long flows is an input."""
    reason = (
        "true for long flows that outlast the run, as chosen here; the paper prints neither their size nor the time"
    )
    return not_testable(claim, reason)


def judge_rtts(claim: PublishedClaim, frame: DataFrame) -> Verdict:
    """Judge whether each path with a long flow has a larger RTT than any without in each run, and a far larger one."""
    long, rest = _of(frame, BLOCKED).groupby("seed"), _of(frame, FREE).groupby("seed")
    found = paired_ratio(long.mean(), rest.mean(), confidence=CONFIDENCE)
    holds = bool((long.min() > rest.max()).all())
    word = word_on(WORD_OF_SIZE, [all_of(holds, above(found, MUCH[1]))], [above(found, 1)])
    reason = (
        f"mean RTT over a path with a long flow, over that of the others, far from {MUCH[1]:g} on; the smallest "
        f"{'is' if holds else 'is not'} above the largest in each run"
    )
    verdict = Verdict(claim.id, (found.value,), word, reason, (found.low, found.high), "ratio")
    return of_sample(verdict, f"{found.samples} runs")


def judge_probability(claim: PublishedClaim, frame: DataFrame) -> Verdict:
    """Judge the share of paths whose RTT exceeds twice the mean over all paths."""
    rtts = concat([_of(frame, BLOCKED), _of(frame, FREE)])
    usual = rtts.groupby("seed").transform("mean")
    shares = (rtts > 2 * usual).groupby("seed").mean()
    low, high = printed_range(claim)
    met = low <= shares.mean() <= high
    reason = (
        f"share of paths above twice the mean, as Section VI-A counts; {shares.min():g} to {shares.max():g} over runs"
    )
    return Verdict(claim.id, (float(shares.mean()),), word_on(LEVEL, [met]), reason)


def draw(frame: DataFrame) -> "Figure":
    """Draw the periods of the first seed, and the mean RTT of its paths."""
    one = frame[frame["seed"] == frame["seed"].min()]
    figure, (left, right) = drawing.panels("CAPS Fig. 4: ON and OFF periods, and the RTT of each path", 2)
    on_ms, off_ms = _of(one, ON) * 1e3, _of(one, OFF) * 1e3
    begin_ms = (on_ms + off_ms).cumsum() - on_ms - off_ms
    left.broken_barh(list(zip(begin_ms, on_ms, strict=True)), (-0.3, 0.6), color=drawing.COLOURS[0], label="ON")
    left.barh(1, float((on_ms + off_ms).sum()), height=0.6, color=drawing.COLOURS[1], label="long flows")
    left.set_yticks([0, 1], ["short flows", "long flows"])
    for colour, form in zip(drawing.COLOURS[1::-1], (BLOCKED, FREE), strict=True):
        rtts_ms = _of(one, form).droplevel("seed") * 1e3
        right.bar(rtts_ms.index.to_numpy(), rtts_ms.to_numpy(), color=colour, label=form)
    mean_ms = float(concat([_of(one, BLOCKED), _of(one, FREE)]).mean()) * 1e3
    share = float(read_claims()["caps-f4b-pb"].low)
    drawing.paper_level(right, 2 * mean_ms, f"twice the mean; paper: {share:g} of the paths above")
    left.set(xlabel="time, ms", ylabel="under way")
    right.set(xlabel="path", ylabel="mean RTT, ms", ylim=(0, 4))
    return drawing.finish(figure, [left, right])


FIGURE = PublishedFigure(__name__, __doc__, tasks=tasks, table=table, draw=draw)
