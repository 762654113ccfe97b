"""CAPS Fig. 1(b): queueing delay of sprayed short flows with and without long flows; (a) is the fabric, 40 paths.

Not stated: arrival times, sizes of the short flows, hosts, transport, where the delay is measured, the panel's axis.
Chosen: the preset ``caps-fig1``, with flows that start within 0.1 ms; NewReno; the sum of a data packet's waits at both
switches, averaged over the packets of a flow, then over flows. The time over which the short flows start is swept to
show its influence; the size is judged at the preset. Reductions are geometric means over runs.
"""

from typing import TYPE_CHECKING

from pandas import DataFrame

from capsim.study.relations import reduction_pct
from capsmodel.experiments.sweep import Task
from capsmodel.experiments.words import has_size
from capsmodel.papers.claim_list import PublishedClaim, read_claims
from capsmodel.papers.figures import PublishedFigure
from capsmodel.papers.figures import _drawing as drawing
from capsmodel.papers.figures import _head_of_line as shared
from capsmodel.papers.verdicts import Verdict, tolerance

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import Series


_DELAY = "queueing_delay_s"


def tasks(*, quick: bool = False) -> list[Task]:
    """Return the runs: spreads of start times, with and without long flows, 30 seeds (2 when `quick`)."""
    return shared.tasks(shared.SPREADS_S, runs=2 if quick else 30)


def table(rows: DataFrame) -> DataFrame:
    """Return the mean queueing delay of each run."""
    return shared.with_form(rows)[["form", "spread_s", "seed", _DELAY]]


def _runs(frame: DataFrame) -> "Series[float]":
    return frame.set_index(["form", "spread_s", "seed"])[_DELAY]


def judge_delay(claim: PublishedClaim, frame: DataFrame) -> Verdict:
    """Judge "up to around" so many percent as a size at the preset."""
    printed, allowed = float(claim.high), tolerance(claim, claim.high)
    reason = (
        "the spread of start times is not stated and decides; short flows that start within 0.1 ms, as here, queue "
        "behind each other, and four sprayed flows load 40 paths to a tenth"
    )
    return shared.judge_reduction(
        claim, frame, _DELAY, subject=0, met=lambda found: has_size(found, printed, allowed), reason=reason
    )


def draw(frame: DataFrame) -> "Figure":
    """Draw the delay over the spread of start times, and its reduction without long flows."""
    figure, (left, right) = drawing.panels("CAPS Fig. 1(b): queueing delay of 100 sprayed short flows", 2)
    shared.error_bars(left, _runs(frame), "spread_s", 1e6)
    changes = [shared.change(frame, _DELAY, subject=0, spread_s=spread_s) for spread_s in shared.SPREADS_S]
    found, colour = drawing.bars(map(reduction_pct, changes)), drawing.COLOURS[2]
    right.errorbar(shared.SPREADS_S, *found, fmt="o-", capsize=3, color=colour, label="without long flows")
    limit = float(read_claims()["caps-f1b-qdelay"].high)
    drawing.paper_level(right, limit, f"paper: up to around {limit:g}%")
    left.set(xscale="log", yscale="log", xlabel="short flows start within, s", ylabel="mean queueing delay, µs")
    right.set(xscale="log", xlabel="short flows start within, s", ylabel="queueing delay saved, %", ylim=(0, 100))
    return drawing.finish(figure, [left, right])


FIGURE = PublishedFigure(__name__, __doc__, tasks=tasks, table=table, draw=draw)
