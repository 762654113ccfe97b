"""CDCPS Fig. 7: repair packets of a coding unit over the blocking probability, Eq. 5.

Not stated: the plotted x and P_b. Chosen: x = 4 (Fig. 6), 8 (Fig. 8), 16 and 32, P_b from 0 to 0.5. Printed is the
example of Fig. 6: four packets become six, two of them blocked.
"""

from typing import TYPE_CHECKING

import numpy as np
from pandas import DataFrame

from capsmodel.coding.redundancy import repair_packets
from capsmodel.papers.figures import PublishedFigure
from capsmodel.papers.figures import _drawing as drawing
from capsmodel.papers.verdicts import cell

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLAIMS = ("cdcps-f7-pb", "cdcps-f7-x")
UNITS = (4, 8, 16, 32)


def compute() -> DataFrame:
    """Return k (the paper's x), P_b and r (its alpha)."""
    probs = np.linspace(0, 0.5, 601)
    k, prob = (values.ravel() for values in np.meshgrid(UNITS, probs, indexing="ij"))
    return DataFrame({"k": k, "blocking_prob": prob, "r": repair_packets(k, blocking_prob=prob).astype(int)})


def draw(frame: DataFrame) -> "Figure":
    """Draw alpha over P_b for each x."""
    figure, (axes,) = drawing.panels("CDCPS Fig. 7: redundancy for a blocking probability")
    drawing.curves(axes, frame, x="blocking_prob", y="r", by="k", label="x = {}", drawstyle="steps-pre")
    drawing.paper_points(axes, [2 / 6], [cell("cdcps-fig6")], "paper, Fig. 6: x = 4, 2 of 6 packets blocked")
    axes.set(xlabel="blocking probability $P_b$", ylabel="repair packets α", xlim=(0, 0.5), ylim=(0, None))
    return drawing.finish(figure, [axes])


FIGURE = PublishedFigure(__name__, __doc__, compute=compute, draw=draw, claims=CLAIMS)
