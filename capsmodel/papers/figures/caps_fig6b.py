"""CAPS Fig. 6(b): decoding probability over the repair packets of a unit of 10, for long flows on 40 paths.

Not stated: the plotted numbers of long flows and the range of r. Chosen: 1, 2, 4, 6 and 8 long flows, r from 0 to 10.
Printed is one value, "almost 1" for 2 long flows and r = 2, drawn from 0.95 to 1.
"""

from typing import TYPE_CHECKING

import numpy as np
from pandas import DataFrame

from capsmodel.coding.decoding import decode_prob
from capsmodel.experiments.words import APPROX_RELATIVE
from capsmodel.papers.figures import PublishedFigure
from capsmodel.papers.figures import _drawing as drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLAIMS = ("caps-f6b-r", "caps-f6b-nl", "caps-f6b-2")
N_PATHS = 40
LONG_FLOW_PATHS = (1, 2, 4, 6, 8)
REPAIR_PACKETS = np.arange(11)


def compute() -> DataFrame:
    """Return p_S for each number of paths with a long flow and each r."""
    busy, r = (values.ravel() for values in np.meshgrid(LONG_FLOW_PATHS, REPAIR_PACKETS, indexing="ij"))
    probs = busy / N_PATHS
    decoded = decode_prob(10, r=r, blocking_prob=probs)
    return DataFrame({"long_flow_paths": busy, "r": r, "blocking_prob": probs, "decode_prob": decoded})


def draw(frame: DataFrame) -> "Figure":
    """Draw p_S over r for each number of long flows."""
    figure, (axes,) = drawing.panels("CAPS Fig. 6(b): decoding probability, k = 10, 40 paths")
    drawing.curves(axes, frame, x="r", y="decode_prob", by="long_flow_paths", label="$n_L$ = {}", marker="o", ms=4)
    value, _ = drawing.claimed("caps-f6b-2")
    drawing.paper_points(axes, [2], [value], 'paper: $n_L$ = 2, "almost 1" at r = 2')
    axes.plot([2, 2], [value - APPROX_RELATIVE, value], color="black", linewidth=1.2, gid=drawing.PUBLISHED)
    axes.set(xlabel="repair packets r", ylabel="decoding probability $p_S$")
    return drawing.finish(figure, [axes], loc="lower right")


FIGURE = PublishedFigure(__name__, __doc__, compute=compute, draw=draw, claims=CLAIMS)
