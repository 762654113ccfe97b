"""RepFlow Fig. 4: mean completion time of short flows with and without replication, Eq. 5-6.

Not stated: the plotted loads, the lower end of the size integral, and the rounding of rounds. Chosen: loads 0.02 to
0.9, the web search size distribution of reference [4] in packets of 1500 B from one packet on, rounds not rounded, and
the paper's k = 12, M = 44 and eps = 0.05. Printed is a reduction of 40 to 70% (Section IV-D).
"""

from typing import TYPE_CHECKING

from pandas import DataFrame

from capsmodel.fct.completion import mean_fct
from capsmodel.papers.figures import PublishedFigure, _repflow

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLAIMS = ("repflow-f4", "repflow-s4d", "repflow-s4b-gap")


def compute() -> DataFrame:
    """Return load, scheme, form of the model and slowdown."""
    return _repflow.completion({_repflow.PAPER_FORM: mean_fct})


def draw(frame: DataFrame) -> "Figure":
    """Draw the mean and its change."""
    figure, left, right = _repflow.draw_pair(frame, "RepFlow Fig. 4: short flows, mean")
    _repflow.reduction_band(right, "repflow-s4d", "paper, Section IV-D: 40 to 70% less")
    right.set_ylim(-75, 5)
    return _repflow.finish(figure, [left, right])


FIGURE = PublishedFigure(__name__, __doc__, compute=compute, draw=draw, claims=CLAIMS)
