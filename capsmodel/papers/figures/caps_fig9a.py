"""CAPS Fig. 9(a): mean window delay over the repair packets of a unit, at the paper's optimal k.

Not stated: the range of r. Chosen: r from 0 to 40, in the setting of Section VI-D (w = 64, 1 Gbps, 1500 B, RTT 0.1 and
3 ms). Printed are k and p_B of the four curves; the r that the ceiling rule gives them is marked.
"""

from typing import TYPE_CHECKING

import numpy as np
from pandas import DataFrame

from capsmodel.coding.caps_setting import PAPER_PROBS
from capsmodel.coding.redundancy import repair_packets
from capsmodel.coding.window_delay import window_delay_s
from capsmodel.papers.closed_forms.caps import EQ4_ARGUMENTS, PAPER_UNITS
from capsmodel.papers.figures import PublishedFigure
from capsmodel.papers.figures import _drawing as drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLAIMS = ("caps-f9a-r",)
REPAIR_PACKETS = np.arange(41)


def compute() -> DataFrame:
    """Return k, p_B, r and d_w."""
    curve, r = (values.ravel() for values in np.meshgrid(np.arange(4), REPAIR_PACKETS, indexing="ij"))
    k, prob = np.array(PAPER_UNITS)[curve], np.array(PAPER_PROBS)[curve]
    delays = window_delay_s(k, blocking_prob=prob, r=r, **EQ4_ARGUMENTS)
    return DataFrame({"k": k, "blocking_prob": prob, "r": r, "window_delay_s": delays})


def draw(frame: DataFrame) -> "Figure":
    """Draw d_w over r for each pair of k and p_B."""
    figure, (axes,) = drawing.panels("CAPS Fig. 9(a): mean window delay, w = 64")
    named = frame.assign(
        curve=[f"k = {k}, $p_B$ = {p}" for k, p in zip(frame["k"], frame["blocking_prob"], strict=True)]
    )
    drawing.curves(axes, named, x="r", y="window_delay_s", by="curve", label="{}", scale=1e3)
    ruled = frame[frame["r"] == repair_packets(frame["k"], blocking_prob=frame["blocking_prob"])]
    at_rule_ms = (ruled["window_delay_s"] * 1e3).tolist()
    drawing.paper_points(axes, ruled["r"].tolist(), at_rule_ms, "the paper's k and $p_B$, r of its ceiling rule")
    axes.set(xlabel="repair packets of a unit r", ylabel="mean window delay $d_w$, ms", ylim=(0, 3.1))
    return drawing.finish(figure, [axes])


FIGURE = PublishedFigure(__name__, __doc__, compute=compute, draw=draw, claims=CLAIMS)
