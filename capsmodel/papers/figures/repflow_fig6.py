"""RepFlow Fig. 6: 99th percentile completion time of short flows with and without replication, Eq. 11-12.

Not stated: the plotted loads, the lower end of the size integral, and the rounding of rounds. Chosen: loads 0.02 to
0.9, the web search size distribution of reference [4] in packets of 1500 B from one packet on, rounds not rounded, and
the paper's k = 12, M = 44 and eps = 0.05. Beside the paper's exponential tail stands the exact quantile of the M/D/1
queue, with whole rounds: a fraction of a round would give flows below k a negative wait. Printed is a reduction of 40
to 70%.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from pandas import DataFrame

from capsmodel.fct.completion import tail_fct
from capsmodel.papers.figures import PublishedFigure, _repflow

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLAIMS = ("repflow-f6",)


def compute() -> DataFrame:
    """Return load, scheme, form of the model and slowdown."""
    forms: dict[str, Callable[..., Any]] = {
        _repflow.PAPER_FORM: tail_fct,
        _repflow.EXACT_FORM: partial(tail_fct, tail="exact", rounding="whole"),
    }
    return _repflow.completion(forms)


def draw(frame: DataFrame) -> "Figure":
    """Draw the 99th percentile and its change."""
    figure, left, right = _repflow.draw_pair(frame, "RepFlow Fig. 6: short flows, 99th percentile")
    _repflow.reduction_band(right, "repflow-f6", "paper: 40 to 70% less")
    return _repflow.finish(figure, [left, right])


FIGURE = PublishedFigure(__name__, __doc__, compute=compute, draw=draw, claims=CLAIMS)
