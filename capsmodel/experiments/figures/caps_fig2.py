"""CAPS Fig. 2: reordering, congestion window and completion time of sprayed short flows, with and without long flows.

Not stated: as for Fig. 1; how the window is averaged; the axes. Chosen: the runs of Fig. 1 at the preset ``caps-fig1``,
NewReno with a threshold of three duplicate ACKs; (a) data packets that reach the receiver after one sent later, over
all sent; (b) the window sampled every 20 us while the flow lasts, averaged over time, then over flows; (c) all flows.
"""

from typing import TYPE_CHECKING

import numpy as np
from pandas import DataFrame

from capsmodel._paper_index import Claim
from capsmodel.experiments.figures import _drawing as drawing
from capsmodel.experiments.figures import _head_of_line as shared
from capsmodel.experiments.statistics import mean_interval
from capsmodel.experiments.sweep import Task
from capsmodel.experiments.verdicts import Verdict, VerdictWord

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import Series

QUANTILES = np.arange(1, 10) / 10


def tasks(*, quick: bool) -> list[Task]:
    """Return the runs of Fig. 1 at the preset."""
    return shared.tasks((shared.PRESET_SPREAD_S,), quick=quick)


def data(rows: DataFrame) -> DataFrame:
    """Return a row for each short flow of each run."""
    columns = ["form", "seed", "fct_s", "sent_packets", "reordered_packets", "cwnd_packets"]
    return shared.with_form(rows)[columns]


def _reordered(frame: DataFrame) -> "Series[float]":
    runs = frame.groupby(["form", "seed"], sort=False)
    return runs["reordered_packets"].sum() / runs["sent_packets"].sum()


def _windows(frame: DataFrame) -> "Series[float]":
    return frame.groupby(["form", "seed"], sort=False)["cwnd_packets"].mean()


def judge_disorder(claim: Claim, frame: DataFrame) -> Verdict:
    """Judge whether fewer packets are reordered without long flows."""
    found = shared.difference(_reordered(frame))
    word: VerdictWord = "reproduced" if found.low > 0 else "refuted"
    reason = "share with long flows minus share without; a flow's packets overtake each other behind other short flows"
    return Verdict(claim.id, (found.value,), word, reason, (found.low, found.high))


def judge_window(claim: Claim, frame: DataFrame) -> Verdict:
    """Judge by how much long flows lower the mean window."""
    reason = "NewReno; spurious retransmits halve the windows of short flows alike with and without long flows"
    return shared.by_reduction(claim, shared.reduction_pct(_windows(frame), subject=4), float(claim.low), reason)


def judge_completion(claim: Claim, frame: DataFrame) -> Verdict:
    """Judge whether flows complete sooner without long flows, at each decile."""
    deciles = frame.groupby(["form", "seed"], sort=False)["fct_s"].quantile(QUANTILES.tolist())
    sooner = [shared.difference(deciles.xs(q, level=2)).low > 0 for q in QUANTILES]
    value, low, high = shared.reduction_pct(frame.groupby(["form", "seed"], sort=False)["fct_s"].mean(), subject=0)
    word: VerdictWord = "reproduced" if all(sooner) else "differs in size" if low > 0 else "refuted"
    reason = f"sooner at {sum(sooner)} of {len(sooner)} deciles; the value is the reduction of the mean, in percent"
    return Verdict(claim.id, (value,), word, reason, (low, high))


JUDGES = {"caps-f2a-disorder": judge_disorder, "caps-f2b-cwnd": judge_window, "caps-f2c-fct": judge_completion}


def _bars(axes: "Axes", runs: "Series[float]", scale: float) -> None:
    for place, (form, values) in enumerate(runs.groupby(level="form", sort=False)):
        found = mean_interval(values)
        half = scale * (found.high - found.value)
        axes.bar(place, scale * found.value, yerr=half, capsize=4, color=drawing.COLOURS[place], label=str(form))
    axes.set_xticks([])


def draw(frame: DataFrame) -> "Figure":
    """Draw the share of reordered packets, the mean window, and the law of the completion time."""
    figure, (left, middle, right) = drawing.panels("CAPS Fig. 2: what long flows do to sprayed short flows", 3)
    _bars(left, _reordered(frame), 100)
    windows = _windows(frame)
    _bars(middle, windows, 1)
    half = windows.xs(shared.FORMS[0], level="form").mean() / 2
    drawing.paper_level(middle, half, "paper: half of that without")
    for colour, (form, flows) in zip(drawing.COLOURS, frame.groupby("form", sort=False), strict=False):
        fct_ms = np.sort(flows["fct_s"]) * 1e3
        right.plot(fct_ms, np.arange(1, fct_ms.size + 1) / fct_ms.size, color=colour, label=str(form))
    left.set(xlabel="(a)", ylabel="reordered packets, %")
    middle.set(xlabel="(b)", ylabel="mean congestion window, packets")
    right.set(xlabel="(c) completion time, ms", ylabel="share of short flows", ylim=(0, 1))
    return drawing.finish(figure, [left, middle, right], tuple(JUDGES))
