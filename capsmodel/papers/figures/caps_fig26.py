"""CAPS Fig. 26: incast of short flows without long ones, for several schemes and readings of CAPS.

Not stated: TCP, timers, how many hosts and leaves there are, which buffer belongs to which panel, whose timeouts are
counted, the number of runs. Chosen: the preset ``caps-incast``, 20 to 180 senders to one receiver at the same instant,
40 paths; 20 runs for each number, all schemes on the same flows, with 256 packets a port, Section III's buffer, and
with 100, the other one of the paper. Timeouts are those of all connections, RepFlow's second copies included. What the
two buffers do is judged here, all other claims about the figure in the study caps-incast1.
"""

from itertools import product
from typing import TYPE_CHECKING

from pandas import DataFrame

from capsmodel.experiments.statistics.intervals import paired_difference
from capsmodel.experiments.sweep import Task
from capsmodel.papers.claim_list import PublishedClaim
from capsmodel.papers.figures import PublishedFigure
from capsmodel.papers.figures import _caps_schemes as shared
from capsmodel.papers.figures import _drawing as drawing
from capsmodel.papers.measurements.caps_comparison import incast
from capsmodel.papers.verdicts import Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCHEMES = ("ecmp", "rps", "repflow", "caps")
BUFFER_PACKETS, OTHER_BUFFER_PACKETS = 256, 100
THRESHOLD_SENDERS = 100
"""Number of senders up to which the paper claims CAPS to be best."""
COLUMNS = ("timeouts", "goodput_bps", "mean_fct_s")


def tasks(*, quick: bool = False) -> list[Task]:
    """Return a task for each number of senders, buffer and scheme, of 20 runs; of 2 and fewer senders when `quick`."""
    senders, runs = ((20, 60), 2) if quick else ((20, 60, 100, 140, 180), 20)
    return [
        Task(incast, form=form, senders=count, buffer_packets=packets, runs=runs, seed=1)
        for count, packets in product(senders, (BUFFER_PACKETS, OTHER_BUFFER_PACKETS))
        for form in (*SCHEMES, *shared.READINGS)
    ]


def table(rows: DataFrame) -> DataFrame:
    """Return what each run gives; `flows` is the number of senders, `repair_ratio` r/k."""
    found = rows.rename(columns={"form": "scheme", "senders": "flows"})
    counts = ("winner_timeouts", "timed_out_ratio", "repair_ratio", "lost_ratio")
    return found[["flows", "buffer_packets", "scheme", "seed", *COLUMNS, *counts]]


def _lost(frame: DataFrame, buffer_packets: int) -> shared.Runs:
    """Return the share of lost packets by the number of senders, with one of the two buffers."""
    return shared.runs_by_place(frame[frame["buffer_packets"] == buffer_packets], "lost_ratio", sweep="flows")


def judge_buffer(claim: PublishedClaim, frame: DataFrame) -> Verdict:
    """Judge whether each scheme loses a larger share with the smaller buffer."""
    large, small = (_lost(frame, packets) for packets in (BUFFER_PACKETS, OTHER_BUFFER_PACKETS))
    found: shared.Compared = {
        (name, place): paired_difference(small[place][name], large[place][name]) for name in SCHEMES for place in large
    }
    reason = (
        f"lost over sent packets, {OTHER_BUFFER_PACKETS} minus {BUFFER_PACKETS} packets: {shared.values_text(found)}"
    )
    return shared.judge_differences(claim, found, reason)


def draw(frame: DataFrame) -> "Figure":
    """Draw timeouts and completion times over the number of senders, and the timeouts of the readings of CAPS."""
    figure, panels = drawing.panels("CAPS Fig. 26: incast of short flows, 256 packets a port", 3)
    rows = frame[frame["buffer_packets"] == BUFFER_PACKETS]
    left, middle, right = panels
    shared.over_sweep(left, rows, "timeouts", 1, sweep="flows", schemes=SCHEMES)
    shared.over_sweep(middle, rows, "mean_fct_s", 1e3, sweep="flows", schemes=SCHEMES)
    shared.over_sweep(right, rows, "timeouts", 1, sweep="flows", schemes=("caps", *shared.READINGS))
    for axes, label in zip(panels, ("timeouts a run", "mean completion time, ms", "timeouts a run"), strict=True):
        drawing.paper_place(axes, THRESHOLD_SENDERS, "paper: CAPS best up to here")
        axes.set(xlabel="senders", ylabel=label, ylim=(0, None))
    return drawing.finish(figure, panels)


FIGURE = PublishedFigure(__name__, __doc__, tasks=tasks, table=table, draw=draw)
