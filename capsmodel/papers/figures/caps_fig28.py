"""CAPS Fig. 28 and 29(b): CAPS beside strict priority, short flows with three long ones over 12 paths.

Not stated: TCP, timers, who receives, start times, sizes of the long flows, how a buffer is shared between the two
priorities, the number of runs. Chosen: the preset ``caps-fig1`` with 12 paths and 3 long flows of 14.6 MB, short ones
of 15 to 100 KB, each to a receiver of its own; 20 to 180 of them that start within 0.1 ms; 20 runs for each number, all
schemes on the same flows. Short flows push long ones out of a full buffer; one buffer shared by both is drawn dotted.
Shares of lost packets are of data and acknowledgements of short flows over their data packets. Whether every
scheme loses more the more short flows there are is judged here, all other claims in the study caps-priority.
"""

from typing import TYPE_CHECKING

from pandas import DataFrame

from capsim.study.metrics import FCT_PERCENTILES
from capsmodel.experiments.sweep import Task
from capsmodel.experiments.words import STATEMENT, word_on
from capsmodel.papers.claim_list import PublishedClaim
from capsmodel.papers.figures import PublishedFigure
from capsmodel.papers.figures import _caps_schemes as shared
from capsmodel.papers.figures import _drawing as drawing
from capsmodel.papers.measurements.caps_comparison import SHARED_BUFFER, beside_long_flows
from capsmodel.papers.verdicts import Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCHEMES = ("ecmp", "rps", "caps", "ecmp_pq", "rps_pq")
COLUMNS = ("lost_ratio", "reordered_ratio", "mean_fct_s", "throughput_bps")


def tasks(*, quick: bool = False) -> list[Task]:
    """Return a task for each number of short flows and scheme, of 20 runs; of 2 and two numbers when `quick`."""
    numbers, runs = ((60, 120), 2) if quick else ((20, 60, 120, 180), 20)
    return [
        Task(beside_long_flows, form=form, short_flows=count, runs=runs, seed=1)
        for count in numbers
        for form in (*SCHEMES, *SHARED_BUFFER.values(), *shared.READINGS)
    ]


def table(rows: DataFrame) -> DataFrame:
    """Return what each run gives; `flows` is the number of short flows."""
    found = rows.rename(columns={"form": "scheme", "short_flows": "flows"})
    others = ("timeouts", "timed_out_ratio", "repair_ratio")
    return found[["flows", "scheme", "seed", *COLUMNS, *others, *FCT_PERCENTILES]]


def judge_rise(claim: PublishedClaim, frame: DataFrame) -> Verdict:
    """Judge whether each scheme loses a larger share the more short flows there are."""
    runs = shared.runs_by_place(frame, "lost_ratio", sweep="flows")
    rising = {name: shared.rises(runs, name) for name in SCHEMES}
    found = {(name, "all"): last for name, (_, last) in rising.items()}
    word = word_on(STATEMENT, [one for one, _ in rising.values()])
    reason = f"{', '.join(runs)} short flows, last minus first: {shared.values_text(found)}"
    return shared.of_points(claim, found, word, reason, quantity="difference")


def draw(frame: DataFrame) -> "Figure":
    """Draw completion times, losses and throughput of long flows over the number of short ones."""
    figure, panels = drawing.panels("CAPS Fig. 28 and 29(b): three long flows on 12 paths", 3)
    figure.set_figheight(6.4)
    for axes, column, scale in zip(
        panels, ("mean_fct_s", "lost_ratio", "throughput_bps"), (1e3, 100, 1e-6), strict=True
    ):
        shared.over_sweep(axes, frame, column, scale, sweep="flows", schemes=SCHEMES)
        one_buffer = [SHARED_BUFFER.get(name, "") for name in SCHEMES]
        shared.over_sweep(axes, frame, column, scale, sweep="flows", schemes=one_buffer, style="o:")
        axes.set(xlabel="short flows")
    left, middle, right = panels
    drawing.paper_arrow(left, (0.4, 0.2), (0.4, 0.04), "paper: CAPS below all others")
    left.set(ylabel="mean FCT of short flows, ms", yscale="log")
    middle.set(ylabel="lost packets of short flows, %", ylim=(0, None))
    right.set(ylabel="throughput of long flows, Mbit/s", ylim=(0, None))
    return drawing.finish(figure, panels)


FIGURE = PublishedFigure(__name__, __doc__, tasks=tasks, table=table, draw=draw)
