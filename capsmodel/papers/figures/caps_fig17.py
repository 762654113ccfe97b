"""CAPS Fig. 17: readings of CAPS on a third of the leaf-spine, under web search and data mining.

Not stated: link rate, delay, buffers, what load refers to, TCP, timers, the number of flows and of runs. Chosen: the
preset ``caps-leaf-spine``, with 8 of its 24 leaves. The rest of the fabric is as in the paper: 36 hosts and 12 uplinks
a leaf, 12 paths, the same load of uplinks and downlinks. With 8 leaves a downlink carries traffic from 7 other leaves
instead of 23, and 1 flow in 8 instead of 1 in 24 stays in its leaf; it is counted too. Web search at loads 0.3, 0.6 and
0.8 with 2500 flows, data mining at 0.6 with 1200, four seeds, all schemes on the same flows; ratios are geometric means
over seeds. Mean throughput is over long flows. ECMP_pq and RPS_pq drop packets of long flows from a full buffer to
admit short ones; web search at 0.6 was also run with one buffer shared by both classes and tail drop, for the table. No
claim is judged by these runs: the experiment ``caps-leafspine`` has the whole fabric and all schemes.
"""

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from pandas import DataFrame

from capsmodel.experiments.sweep import Task
from capsmodel.papers.figures import PublishedFigure
from capsmodel.papers.figures import _caps_schemes as shared
from capsmodel.papers.figures import _drawing as drawing
from capsmodel.papers.measurements.caps_comparison import SHARED_BUFFER, leaf_spine

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WEB, DATA = "web search", "data mining"
# Workload in the simulator, load, flows.
SETTINGS = (("websearch", 0.3, 2500), ("websearch", 0.6, 2500), ("websearch", 0.8, 2500), ("datamining", 0.6, 1200))
WORKLOADS = {"websearch": WEB, "datamining": DATA}
SCHEMES = ("ecmp", "rps", "repflow", "ecmp_pq", "rps_pq", "caps")
COLUMNS = ("mean_fct_s", "p99_fct_s", "throughput_bps")


def tasks(*, quick: bool = False) -> list[Task]:
    """Return the runs: four settings, 4 seeds; on 2 leaves, 150 flows, two settings and 2 seeds when `quick`."""
    settings = [(*one[:2], 150) for one in SETTINGS if one[1] == 0.6] if quick else SETTINGS
    fixed: dict[str, Any] = {"leaves": 2, "warm_up_s": 0.0} if quick else {"leaves": 8, "warm_up_s": 0.2}
    return [
        Task(leaf_spine, form=form, workload=workload, load=load, flows=flows, **fixed, seed=seed)
        for seed, (workload, load, flows) in product(range(1, 3 if quick else 5), settings)
        for form in (
            *SCHEMES,
            *shared.READINGS,
            *(SHARED_BUFFER.values() if (workload, load) == SETTINGS[1][:2] else ()),
        )
    ]


def table(rows: DataFrame) -> DataFrame:
    """Return what each run gives; `repair_ratio` is r/k, 0 where nothing is coded."""
    found = rows.assign(scheme=rows["form"], form=rows["workload"].map(WORKLOADS))
    others = ("untimed_fct_s", "timed_out_ratio", "repair_ratio", "reordered_ratio")
    return found[["form", "load", "scheme", "seed", *COLUMNS, *others]]


def _by_reading(axes: "Axes", frame: DataFrame) -> None:
    """Draw the ratio to RPS of the mean completion time, for each reading of CAPS, a colour for each setting."""
    readings = ("caps", *shared.READINGS)
    for number, ((form, load), rows) in enumerate(frame.groupby(["form", "load"], sort=False)):
        runs = shared.runs_by_place(rows, "mean_fct_s", sweep="load")
        found = drawing.bars(shared.ratios(runs, name, ["rps"])["rps", f"{load:g}"] for name in readings)
        places, colour = np.arange(len(readings)) + 0.12 * (number - 1.5), drawing.COLOURS[number]
        axes.errorbar(places, *found, fmt="o", markersize=3, capsize=3, color=colour, label=f"{form}, {load:g}")
    axes.axhline(1, color="0.6", linewidth=0.8)
    axes.set_xticks(range(len(readings)), [name.replace("_", "\n").replace(", ", "\n") for name in readings])


def draw(frame: DataFrame) -> "Figure":
    """Draw completion times and throughput over load, and the ratio to RPS of each reading of CAPS."""
    figure, (left, middle, right) = drawing.panels("CAPS Fig. 17: leaf-spine, 36 hosts and 12 uplinks a leaf", 3)
    figure.set_figheight(7.6)
    web = frame[frame["form"] == WEB]
    shared.over_sweep(left, web, "mean_fct_s", 1e3, sweep="load", schemes=SCHEMES)
    shared.over_sweep(middle, web, "throughput_bps", 1e-6, sweep="load", schemes=SCHEMES)
    _by_reading(right, frame)
    low_pct, high_pct = drawing.claimed("caps-f17a-rps")
    drawing.paper_band(right, 1 - high_pct / 100, 1 - low_pct / 100, "paper, web search")
    left.set(xlabel="load", ylabel="mean FCT of short flows, ms", yscale="log")
    middle.set(xlabel="load", ylabel="throughput of long flows, Mbit/s", ylim=(0, None))
    right.set(xlabel="reading of CAPS", ylabel="mean FCT over that of RPS", yscale="log")
    return drawing.finish(figure, [left, middle, right])


FIGURE = PublishedFigure(__name__, __doc__, tasks=tasks, table=table, draw=draw)
