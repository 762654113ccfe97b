"""CAPS Fig. 8(b): mean window delay over the size of the coding unit, Eq. 4.

Not stated: the ranges of k and p_B, the window of this figure, and whether w/k is rounded. Chosen: the setting of
Section VI-D (w = 64, 1 Gbps, 1500 B, RTT 0.1 and 3 ms), w/k not rounded, and k up to 192, three times the window,
because the minimum of each curve lies near k = w or beyond. Printed are the optimal k of Section VI-D.
"""

from typing import TYPE_CHECKING

from pandas import DataFrame, concat

from capsmodel.coding.caps_setting import PAPER_PROBS, SETTING, WINDOW_PACKETS
from capsmodel.coding.optimal_unit import delay_curve
from capsmodel.papers.closed_forms.caps import PAPER_UNITS
from capsmodel.papers.figures import PublishedFigure
from capsmodel.papers.figures import _drawing as drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLAIMS = ("caps-f8b-dw", *(f"caps-optk-{prob}" for prob in PAPER_PROBS))


def _curve(prob: float, max_k: int) -> DataFrame:
    curve = delay_curve(WINDOW_PACKETS, blocking_prob=prob, objective="eq4", max_k=max_k, **SETTING)
    columns = {"k": curve.k, "blocking_prob": prob, "r": curve.r, "window_delay_s": curve.delay_s}
    return DataFrame(columns)


def compute() -> DataFrame:
    """Return k, p_B, r and d_w."""
    return concat([_curve(prob, 3 * WINDOW_PACKETS) for prob in PAPER_PROBS])


def draw(frame: DataFrame) -> "Figure":
    """Draw d_w over k for each p_B, the paper's optimum and ours on each curve."""
    figure, (axes,) = drawing.panels("CAPS Fig. 8(b): mean window delay by Eq. 4, w = 64")
    drawing.curves(axes, frame, x="k", y="window_delay_s", by="blocking_prob", label="$p_B$ = {}", scale=1e3)
    whole = frame[frame["k"] <= WINDOW_PACKETS]
    delays_ms = [rows["window_delay_s"].to_numpy() * 1e3 for _, rows in whole.groupby("blocking_prob")]
    best = [int(delays.argmin()) for delays in delays_ms]
    least = [float(delays.min()) for delays in delays_ms]
    axes.plot([i + 1 for i in best], least, "o", color="0.4", label="least $d_w$ with k up to w")
    at_printed = [float(delays[k - 1]) for delays, k in zip(delays_ms, PAPER_UNITS, strict=True)]
    drawing.paper_points(axes, PAPER_UNITS, at_printed, "paper, Section VI-D: optimal k")
    axes.axvline(WINDOW_PACKETS, color="0.6", linewidth=0.8)
    axes.annotate("k = w", (WINDOW_PACKETS + 1, 2.95), color="0.4", fontsize="small")
    axes.set(xlabel="source packets in a unit k", ylabel="mean window delay $d_w$, ms", ylim=(1.2, 3.1))
    return drawing.finish(figure, [axes])


FIGURE = PublishedFigure(__name__, __doc__, compute=compute, draw=draw, claims=CLAIMS)
