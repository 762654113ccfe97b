"""RepFlow Fig. 7: 99th percentile completion time of long flows with and without replication, Eq. 13-14.

Not stated: the plotted loads, the lower end of the size integral, and the rounding of rounds. Chosen: loads 0.02 to
0.9, the web search size distribution of reference [4] in packets of 1500 B from one packet on, rounds not rounded, and
the paper's k = 12, M = 44 and eps = 0.05. Beside the paper's exponential tail stands the exact quantile of the M/D/1
queue, with whole rounds. Printed is "not penalised", taken as within 10%, and that long flows do better than short
ones, which are drawn too.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from pandas import DataFrame

from capsmodel.experiments.words import CLOSE_RELATIVE
from capsmodel.fct.completion import tail_fct
from capsmodel.fct.long_flows import tail_fct_long
from capsmodel.papers.figures import PublishedFigure, _repflow
from capsmodel.papers.figures import _drawing as drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLAIMS = ("repflow-f7", "repflow-f7-ls")
SHORT = "short flows"


def compute() -> DataFrame:
    """Return load, scheme, form of the model (long flows, or short ones to compare) and slowdown."""
    exact = partial(tail_fct_long, tail="exact", rounding="whole")
    forms: dict[str, Callable[..., Any]] = {
        _repflow.PAPER_FORM: tail_fct_long,
        _repflow.EXACT_FORM: exact,
        SHORT: tail_fct,
    }
    return _repflow.completion(forms)


def draw(frame: DataFrame) -> "Figure":
    """Draw the 99th percentile and its change."""
    long = frame[frame["form"] != SHORT]
    figure, left, right = _repflow.draw_pair(long, "RepFlow Fig. 7: long flows, 99th percentile")
    short = frame[(frame["form"] == SHORT) & (frame["scheme"] == "TCP")]
    left.plot(short["load"], short["slowdown"], color="0.6", linewidth=1, label="TCP, short flows (Fig. 6)")
    drawing.paper_band(right, 0, 100 * CLOSE_RELATIVE, 'paper: "not penalised", taken as up to 10%')
    right.set_ylim(0, None)
    return _repflow.finish(figure, [left, right])


FIGURE = PublishedFigure(__name__, __doc__, compute=compute, draw=draw, claims=CLAIMS)
