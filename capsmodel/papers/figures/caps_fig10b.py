"""CAPS Fig. 10(b): share of repair packets in all traffic over the blocking probability, Eq. 7.

Not stated: g and the range of p_B. Chosen: g = 9, 19, 49 and 99, p_B from 0 to 0.5.
"""

from typing import TYPE_CHECKING

import numpy as np
from pandas import DataFrame

from capsmodel.coding.redundancy import traffic_overhead
from capsmodel.papers.figures import PublishedFigure
from capsmodel.papers.figures import _drawing as drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLAIMS = ("caps-f10b-max",)
RATIOS = (9, 19, 49, 99)


def compute() -> DataFrame:
    """Return g, p_B and the overhead."""
    probs = np.linspace(0, 0.5, 101)
    ratio, prob = (values.ravel() for values in np.meshgrid(RATIOS, probs, indexing="ij"))
    overhead = traffic_overhead(prob, long_short_ratio=ratio)
    return DataFrame({"long_short_ratio": ratio, "blocking_prob": prob, "traffic_overhead_ratio": overhead})


def draw(frame: DataFrame) -> "Figure":
    """Draw the overhead over p_B for each g, in percent."""
    figure, (axes,) = drawing.panels("CAPS Fig. 10(b): overhead over the blocking probability")
    x, y = "blocking_prob", "traffic_overhead_ratio"
    drawing.curves(axes, frame, x=x, y=y, by="long_short_ratio", label="g = {}", scale=100)
    bound, _ = drawing.claimed("caps-f10b-max")
    drawing.paper_level(axes, bound, f"paper: less than {bound:g}%")
    axes.set(xlabel="blocking probability $p_B$", ylabel="overhead η, % of all packets", xlim=(0, 0.5), ylim=(0, None))
    return drawing.finish(figure, [axes])


FIGURE = PublishedFigure(__name__, __doc__, compute=compute, draw=draw, claims=CLAIMS)
