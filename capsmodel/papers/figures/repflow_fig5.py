"""RepFlow Fig. 5: mean completion time of long flows with and without replication of the short ones, Eq. 7-8.

Not stated: the plotted loads, the lower end of the size integral, and the rounding of rounds. Chosen: loads 0.02 to
0.9, the web search size distribution of reference [4] in packets of 1500 B from one packet on, rounds not rounded, and
the paper's k = 12, M = 44 and eps = 0.05. Printed is "only mildly affected", taken as within 10%.
"""

from typing import TYPE_CHECKING

from pandas import DataFrame

from capsmodel.experiments.words import CLOSE_RELATIVE
from capsmodel.fct.long_flows import mean_fct_long
from capsmodel.papers.figures import PublishedFigure, _repflow
from capsmodel.papers.figures import _drawing as drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLAIMS = ("repflow-f5",)


def compute() -> DataFrame:
    """Return load, scheme, form of the model and slowdown."""
    return _repflow.completion({_repflow.PAPER_FORM: mean_fct_long})


def draw(frame: DataFrame) -> "Figure":
    """Draw the mean and its change."""
    figure, left, right = _repflow.draw_pair(frame, "RepFlow Fig. 5: long flows, mean")
    drawing.paper_band(right, 0, 100 * CLOSE_RELATIVE, 'paper: "mildly affected", taken as up to 10%')
    right.set_ylim(0, None)
    return _repflow.finish(figure, [left, right])


FIGURE = PublishedFigure(__name__, __doc__, compute=compute, draw=draw, claims=CLAIMS)
