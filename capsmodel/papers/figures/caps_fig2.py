"""CAPS Fig. 2: reordering, congestion window and completion time of sprayed short flows, with and without long flows.

Not stated: as for Fig. 1; how the window is averaged; the axes. Chosen: the runs of Fig. 1, drawn at the preset
``caps-fig1``; NewReno with a threshold of three duplicate ACKs; (a) data packets that reach the receiver after one sent
later, over all sent; (b) the window sampled every 20 us while the flow lasts, averaged over time, then over flows; (c)
quantiles of the flows of a run, averaged over runs; reductions are geometric means over runs. There are 30 runs for
each spread of start times, as in Fig. 1, but 160 at the preset: this number was raised for this figure alone after it
had first been drawn, because with 30 runs the intervals of (a) and (b) contain 0.
"""

from typing import TYPE_CHECKING

from pandas import DataFrame

from capsim.study.metrics import FCT_PERCENTILES
from capsmodel.experiments.statistics.intervals import mean_interval
from capsmodel.experiments.sweep import Task
from capsmodel.experiments.words import MUCH, SIGNIFICANTLY, above, has_size
from capsmodel.papers.claim_list import PublishedClaim
from capsmodel.papers.figures import PublishedFigure
from capsmodel.papers.figures import _drawing as drawing
from capsmodel.papers.figures import _head_of_line as shared
from capsmodel.papers.verdicts import Verdict, tolerance

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import Series


def tasks(*, quick: bool = False) -> list[Task]:
    """Return the runs of Fig. 1, and at the preset more of them: 160 seeds (4 when `quick`)."""
    preset, *others = shared.SPREADS_S
    return shared.tasks((preset,), runs=4 if quick else 160) + shared.tasks(others, runs=2 if quick else 30)


def table(rows: DataFrame) -> DataFrame:
    """Return share of reordered packets, mean window, and mean and quantiles of the completion time of each run."""
    columns = ("reordered_ratio", "cwnd_packets", "fct_s", *FCT_PERCENTILES)
    return shared.with_form(rows)[["form", "spread_s", "seed", *columns]]


def _preset(frame: DataFrame) -> DataFrame:
    return frame[frame["spread_s"] == shared.PRESET_SPREAD_S]


def _of_run(frame: DataFrame, column: str) -> "Series[float]":
    return _preset(frame).set_index(["form", "seed"])[column]


def judge_reordering(claim: PublishedClaim, frame: DataFrame) -> Verdict:
    """Judge whether significantly fewer packets are reordered without long flows."""
    significant_pct = 100 * (1 - SIGNIFICANTLY[0])
    reason = (
        f"reduction of the share of {_of_run(frame, 'reordered_ratio').mean():.2f}, significant from "
        f"{significant_pct:g}% on; packets that start within 0.1 ms overtake each other behind other short flows"
    )
    return shared.judge_reduction(
        claim, frame, "reordered_ratio", subject=0, met=lambda found: above(found, significant_pct), reason=reason
    )


def judge_window(claim: PublishedClaim, frame: DataFrame) -> Verdict:
    """Judge by how much long flows lower the mean window."""
    printed, allowed = float(claim.low), tolerance(claim, claim.low)
    reason = (
        "NewReno, starts within 0.1 ms: spurious retransmits halve the windows of short flows both with and without "
        "long flows"
    )
    return shared.judge_reduction(
        claim, frame, "cwnd_packets", subject=4, met=lambda found: has_size(found, printed, allowed), reason=reason
    )


def judge_completion(claim: PublishedClaim, frame: DataFrame) -> Verdict:
    """Judge whether flows complete much sooner without long flows, in the mean; the quantiles go into the reason."""
    sooner = sum(shared.difference(_of_run(frame, column)).low > 0 for column in FCT_PERCENTILES)
    much_pct = 100 * (1 - MUCH[0])
    reason = (
        f"reduction of the mean, much from {much_pct:g}% on; sooner at {sooner} of {len(FCT_PERCENTILES)} quantiles "
        "where they start within 0.1 ms; four sprayed flows load the paths to a tenth"
    )
    return shared.judge_reduction(
        claim, frame, "fct_s", subject=0, met=lambda found: above(found, much_pct), reason=reason
    )


def _points(axes: "Axes", runs: "Series[float]", scale: float) -> None:
    """Draw the mean over runs of each form, with its interval, and leave room above for the legend."""
    for place, (form, values) in enumerate(runs.groupby(level="form", sort=False)):
        found, colour = drawing.bars([mean_interval(values)], scale), drawing.COLOURS[place]
        axes.errorbar(place, *found, fmt="o", capsize=4, color=colour, label=str(form))
    axes.set(xlim=(-0.5, 1.5), ylim=(0, 1.5 * scale * float(runs.mean())), xticks=[])


def draw(frame: DataFrame) -> "Figure":
    """Draw the share of reordered packets, the mean window, and the distribution of the completion time."""
    figure, (left, middle, right) = drawing.panels("CAPS Fig. 2: sprayed short flows with and without long flows", 3)
    _points(left, _of_run(frame, "reordered_ratio"), 100)
    windows = _of_run(frame, "cwnd_packets")
    _points(middle, windows, 1)
    half = windows.xs(shared.FORMS[0], level="form").mean() / 2
    drawing.paper_level(middle, half, "paper: half of that without")
    for colour, (form, rows) in zip(drawing.COLOURS, _preset(frame).groupby("form", sort=False), strict=False):
        means, ends = drawing.bars((mean_interval(rows[column]) for column in FCT_PERCENTILES), 1e3)
        shares = [percent / 100 for percent in FCT_PERCENTILES.values()]
        right.errorbar(means, shares, xerr=ends, fmt="o-", markersize=3, color=colour, label=str(form))
    left.set(xlabel="(a)", ylabel="reordered packets, %")
    middle.set(xlabel="(b)", ylabel="mean congestion window, packets")
    right.set(xlabel="(c) completion time, ms", ylabel="share of short flows", xlim=(0, None), ylim=(0, 1.3))
    return drawing.finish(figure, [left, middle, right], loc="upper left")


FIGURE = PublishedFigure(__name__, __doc__, tasks=tasks, table=table, draw=draw)
