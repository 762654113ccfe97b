"""CDCPS Fig. 8: decoding probability over the repair packets of a unit of 8, for congested ones of 40 paths, Eq. 6-7.

Not stated: the plotted numbers of congested paths and the range of alpha. Chosen: 2, 4, 8, 12 and 16 paths (the axis
calls them m_L), alpha from 0 to 16. Printed is that P_d "reaches 1", later the more paths are congested; the first
alpha with P_d of at least 0.99 is marked.
"""

from typing import TYPE_CHECKING

import numpy as np
from pandas import DataFrame

from capsmodel.coding.decoding import decode_prob
from capsmodel.coding.redundancy import repair_packets_for
from capsmodel.papers.figures import PublishedFigure
from capsmodel.papers.figures import _drawing as drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLAIMS = ("cdcps-f8-a", "cdcps-f8-m")
UNIT, N_PATHS, TARGET_PROB = 8, 40, 0.99
PATHS = (2, 4, 8, 12, 16)
REPAIR_PACKETS = np.arange(17)


def compute() -> DataFrame:
    """Return congested paths, r (the paper's alpha), P_b and P_d."""
    paths, r = (values.ravel() for values in np.meshgrid(PATHS, REPAIR_PACKETS, indexing="ij"))
    prob = paths / N_PATHS
    decoded = decode_prob(UNIT, r=r, blocking_prob=prob)
    return DataFrame({"congested_paths": paths, "r": r, "blocking_prob": prob, "decode_prob": decoded})


def draw(frame: DataFrame) -> "Figure":
    """Draw P_d over alpha for each number of congested paths."""
    figure, (axes,) = drawing.panels("CDCPS Fig. 8: decoding probability, x = 8, 40 paths")
    drawing.curves(axes, frame, x="r", y="decode_prob", by="congested_paths", label="{} congested paths", marker=".")
    drawing.paper_level(axes, 1, 'paper: "reaches 1"')
    needed = repair_packets_for(UNIT, blocking_prob=np.array(PATHS) / N_PATHS, target_prob=TARGET_PROB)
    reached = decode_prob(UNIT, r=needed, blocking_prob=np.array(PATHS) / N_PATHS)
    axes.plot(needed, reached, "o", color="0.4", label=f"first $P_d$ of at least {TARGET_PROB}")
    axes.set(xlabel="repair packets α", ylabel="decoding probability $P_d$")
    return drawing.finish(figure, [axes], loc="lower right")


FIGURE = PublishedFigure(__name__, __doc__, compute=compute, draw=draw, claims=CLAIMS)
