"""CAPS Fig. 17: schemes on a leaf-spine under web search and data mining, and readings of CAPS.

Not stated: link rate, delay, buffers, what load refers to, TCP, timers, the number of flows and of runs. Chosen: the
preset ``caps-leaf-spine``, with 8 of its 24 leaves. The rest of the fabric is as in the paper: 36 hosts and 12 uplinks
a leaf, 12 paths, the same load of uplinks and downlinks. With 8 leaves a downlink carries traffic from 7 other leaves
instead of 23, and 1 flow in 8 instead of 1 in 24 stays in its leaf; it is counted too. Web search at loads 0.3, 0.6 and
0.8 with 2500 flows, data mining at 0.6 with 1200, four seeds, all schemes on the same flows; ratios are geometric means
over seeds. Mean throughput is over long flows. A scheme has to be better than each that a claim names at each load;
"well above" is taken as "significantly". ECMP_pq and RPS_pq drop packets of long flows from a full buffer to admit
short ones; web search at 0.6 was also run with one buffer shared by both classes and tail drop, for the table. Presto
and Freeway are not run here: claims that depend on them stay open. The readings of CAPS other than the default one are
drawn and named in the reasons but do not decide the verdicts.
"""

from collections.abc import Callable
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from pandas import DataFrame

from capsmodel.experiments.statistics.intervals import welch_difference
from capsmodel.experiments.sweep import Task
from capsmodel.papers.figures import PublishedFigure
from capsmodel.papers.figures import _caps_schemes as shared
from capsmodel.papers.figures import _drawing as drawing
from capsmodel.papers.figures._points import Ratio, ratio_of_logs
from capsmodel.papers.index import Claim
from capsmodel.papers.measurements.caps_comparison import SHARED_BUFFER, leaf_spine
from capsmodel.papers.verdicts import SIGNIFICANTLY, Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WEB, DATA = "web search", "data mining"
# Workload in the simulator, load, flows.
SETTINGS = (("websearch", 0.3, 2500), ("websearch", 0.6, 2500), ("websearch", 0.8, 2500), ("datamining", 0.6, 1200))
WORKLOADS = {"websearch": WEB, "datamining": DATA}
SCHEMES = ("ecmp", "rps", "repflow", "ecmp_pq", "rps_pq", "caps")
COLUMNS = {"afct_short": "mean_fct_s", "p99_fct_short": "p99_fct_s", "long_goodput": "throughput_bps"}


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
    return found[["form", "load", "scheme", "seed", *COLUMNS.values(), *others]]


def _runs(frame: DataFrame, claim: Claim) -> shared.Runs:
    """Return the quantity of a claim under its workload, by load."""
    rows = frame[[claim.conditions.startswith(form) for form in frame["form"]]]
    return shared.runs_by_place(rows, COLUMNS[claim.metric], sweep="load")


def _compared(runs: shared.Runs, claim: Claim) -> tuple[shared.Compared, list[str], str]:
    """Return the ratios that a claim is about, the schemes not run here, and the reason, which lists all ratios."""
    subject, baselines = claim.subject_scheme.lower(), shared.named(claim.baseline_scheme)
    found = shared.ratios(runs, subject, baselines)
    reason = f"{subject} at load {', '.join(runs)} over {shared.values_text(found)}"
    for reading in shared.READINGS if subject == "caps" else ():
        reason += f"; {reading}: over {shared.values_text(shared.ratios(runs, reading, baselines), brief=True)}"
    return found, shared.absent(runs, baselines), reason


def judge_headline(claim: Claim, frame: DataFrame) -> Verdict:
    """Judge the reductions of the abstract under both workloads."""
    found: dict[tuple[str, str], Ratio] = {}
    baselines = shared.named(claim.baseline_scheme)
    for form, rows in frame.groupby("form", sort=False):
        runs = shared.runs_by_place(rows, "mean_fct_s", sweep="load")
        found |= {(f"{name}, {form}", at): one for (name, at), one in shared.ratios(runs, "caps", baselines).items()}
    reason = f"Fig. 17 only; caps over {shared.values_text(found)}"
    return shared.judge_reduction(claim, found, reason, shared.absent(runs, baselines))


def judge_order(claim: Claim, frame: DataFrame) -> Verdict:
    """Judge whether a scheme is better, or worse, than each that the claim names, at each load."""
    runs = _runs(frame, claim)
    found, missing, reason = _compared(runs, claim)
    size = SIGNIFICANTLY[1] if "well above" in claim.text else None
    return shared.judge_order(claim, found, equal=1, size=size, missing=missing, reason=reason)


def judge_closeness(claim: Claim, frame: DataFrame) -> Verdict:
    """Judge whether CAPS_dark is close to CAPS at each load."""
    found, _, reason = _compared(_runs(frame, claim), claim)
    return shared.judge_closeness(claim, found, reason)


def judge_workloads(claim: Claim, frame: DataFrame) -> Verdict:
    """Judge whether short flows of every scheme are faster under data mining, at the load that both have."""
    both = frame[frame["load"] == frame.loc[frame["form"] == DATA, "load"].iloc[0]]
    logs = {key: np.log(rows["mean_fct_s"]) for key, rows in both.groupby(["form", "scheme"])}
    found = {
        (name, WEB): ratio_of_logs(welch_difference(logs[DATA, name], logs[WEB, name]))
        for name in (*SCHEMES, "caps_dark")
    }
    reason = f"load {both['load'].iloc[0]:g}, data mining over web search: {shared.values_text(found)}"
    return shared.judge_order(claim, found, equal=1, missing=["presto", "freeway"], reason=reason)


JUDGES: dict[str, Callable[[Claim, DataFrame], Verdict]] = {
    "caps-abs-afct": judge_headline,
    # Web search, (a) to (c), and ECMP with priorities are judged on all leaves, by the experiment caps-leafspine.
    **{f"caps-f17{panel}-{name}": judge_order for panel in "de" for name in ("best", "rpspq")},
    **{f"caps-f17f-{name}": judge_order for name in ("rps", "caps", "rpspq")},
    **{f"caps-f17{panel}-dark": judge_closeness for panel in "def"},
    "caps-f17-dm-ws": judge_workloads,
}


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


FIGURE = PublishedFigure(__name__, __doc__, tasks=tasks, table=table, draw=draw, judges=JUDGES)
