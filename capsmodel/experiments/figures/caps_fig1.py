"""CAPS Fig. 1(b): queueing delay of sprayed short flows with and without long flows; (a) is the fabric, 40 paths.

Not stated: arrival times, sizes of the short flows, hosts, transport, where the delay is measured, the panel's axis.
Chosen: the preset ``caps-fig1``, with flows that start within 0.1 ms; NewReno; the sum of a data packet's waits at both
switches, averaged over the packets of a flow, then over flows. The time over which the short flows start is swept to
show its influence; the claim is judged at the preset.
"""

from typing import TYPE_CHECKING

from pandas import DataFrame

from capsmodel._paper_index import Claim, read_claims
from capsmodel.experiments.figures import _drawing as drawing
from capsmodel.experiments.figures import _head_of_line as shared
from capsmodel.experiments.sweep import Task
from capsmodel.experiments.verdicts import Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import Series

SPREADS_S = (shared.PRESET_SPREAD_S, 1e-3, 1e-2, 1e-1)


def tasks(*, quick: bool) -> list[Task]:
    """Return the runs: spreads of start times, with and without long flows, 30 seeds (2 when `quick`)."""
    return shared.tasks(SPREADS_S, runs=2 if quick else 30)


def data(rows: DataFrame) -> DataFrame:
    """Return the mean queueing delay of each run."""
    return shared.with_form(rows)[["form", "spread_s", "seed", "queueing_delay_s"]]


def _runs(frame: DataFrame) -> "Series[float]":
    return frame.set_index(["form", "spread_s", "seed"])["queueing_delay_s"]


def _reduction(frame: DataFrame, spread_s: float) -> tuple[float, float, float]:
    return shared.reduction_pct(_runs(frame[frame["spread_s"] == spread_s]).droplevel("spread_s"), subject=0)


def judge_delay(claim: Claim, frame: DataFrame) -> Verdict:
    """Judge the reduction at the preset; the others go into the reason."""
    sparse, _, _ = _reduction(frame, SPREADS_S[-1])
    reason = (
        "four sprayed flows load 40 paths to a tenth; short flows that start within 0.1 ms queue behind each other; "
        f"only where they start over 0.1 s do long flows make {sparse:.0f}% of the delay, which is microseconds then"
    )
    return shared.by_reduction(claim, _reduction(frame, shared.PRESET_SPREAD_S), float(claim.high), reason)


JUDGES = {"caps-f1b-qdelay": judge_delay}


def draw(frame: DataFrame) -> "Figure":
    """Draw the delay over the spread of start times, and what long flows make of it."""
    figure, (left, right) = drawing.panels("CAPS Fig. 1(b): queueing delay of 100 sprayed short flows", 2)
    shared.error_bars(left, _runs(frame), "spread_s", 1e6)
    found = [_reduction(frame, spread_s) for spread_s in SPREADS_S]
    means, halves = [value for value, _, _ in found], [high - value for value, _, high in found]
    right.errorbar(
        SPREADS_S, means, yerr=halves, fmt="o-", capsize=3, color=drawing.COLOURS[2], label="long flows away"
    )
    limit = float(read_claims()["caps-f1b-qdelay"].high)
    drawing.paper_level(right, limit, f"paper: up to around {limit:g}%")
    left.set(xscale="log", yscale="log", xlabel="short flows start within, s", ylabel="mean queueing delay, µs")
    right.set(xscale="log", xlabel="short flows start within, s", ylabel="queueing delay saved, %", ylim=(0, 100))
    return drawing.finish(figure, [left, right], tuple(JUDGES))
