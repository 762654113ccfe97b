"""CAPS Fig. 10(a): share of repair packets in all traffic over the ratio of long to short packets, Eq. 7.

Not stated: p_B. Chosen: 0.1 and the four values of Section VI-D; both claims are judged at 0.25. The ratio g runs from
9 (90:10) to 99 (99:1) as printed.
"""

from typing import TYPE_CHECKING

import numpy as np
from pandas import DataFrame

from capsmodel.coding.caps_setting import PAPER_PROBS
from capsmodel.coding.redundancy import traffic_overhead
from capsmodel.papers.closed_forms.caps import RATIOS
from capsmodel.papers.figures import PublishedFigure
from capsmodel.papers.figures import _drawing as drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLAIMS = ("caps-f10a-g", "caps-f10a-max")
PROBS = (0.1, *PAPER_PROBS)


def compute() -> DataFrame:
    """Return g, p_B and the overhead."""
    prob, ratio = (values.ravel() for values in np.meshgrid(PROBS, RATIOS, indexing="ij"))
    overhead = traffic_overhead(prob, long_short_ratio=ratio)
    return DataFrame({"blocking_prob": prob, "long_short_ratio": ratio, "traffic_overhead_ratio": overhead})


def draw(frame: DataFrame) -> "Figure":
    """Draw the overhead over g for each p_B, in percent."""
    figure, (axes,) = drawing.panels("CAPS Fig. 10(a): overhead over the share of long flows")
    x, y = "long_short_ratio", "traffic_overhead_ratio"
    drawing.curves(axes, frame, x=x, y=y, by="blocking_prob", label="$p_B$ = {}", scale=100)
    bound, _ = drawing.claimed("caps-f10a-max")
    drawing.paper_level(axes, bound, f"paper: always below {bound:g}%")
    axes.set(xlabel="packets of long flows over packets of short flows g", ylabel="overhead η, % of all packets")
    axes.set(xlim=(9, 99), ylim=(0, None))
    return drawing.finish(figure, [axes])


FIGURE = PublishedFigure(__name__, __doc__, compute=compute, draw=draw, claims=CLAIMS)
