"""CDCPS Fig. 4: reordering probability of a sprayed flow over the congested ones of 40 paths, Eq. 1-3.

Not stated: the plotted flow sizes. Chosen: S = 2, 5, 10, 20 and 100 packets. Printed is the place of the maximum.
"""

from typing import TYPE_CHECKING

import numpy as np
from pandas import DataFrame

from capsmodel.papers.closed_forms.cdcps import CONGESTED_PATHS
from capsmodel.papers.figures import PublishedFigure
from capsmodel.papers.figures import _drawing as drawing
from capsmodel.reordering.probability import reordering_prob

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLAIMS = ("cdcps-f4-max", "cdcps-f4-s", "cdcps-f4-nb")
N_PATHS = 40
FLOW_PACKETS = (2, 5, 10, 20, 100)


def compute() -> DataFrame:
    """Return S, n_b and P_r."""
    size, congested = (values.ravel() for values in np.meshgrid(FLOW_PACKETS, CONGESTED_PATHS, indexing="ij"))
    prob = reordering_prob(size, congested_prob=congested / N_PATHS)
    return DataFrame({"flow_packets": size, "congested_paths": congested, "reordering_prob": prob})


def draw(frame: DataFrame) -> "Figure":
    """Draw P_r over n_b for each S."""
    figure, (axes,) = drawing.panels("CDCPS Fig. 4: reordering of a sprayed flow, 40 paths")
    x, y = "congested_paths", "reordering_prob"
    drawing.curves(axes, frame, x=x, y=y, by="flow_packets", label="S = {} packets", marker=".", ms=4, lw=1)
    place, _ = drawing.claimed("cdcps-f4-max")
    drawing.paper_place(axes, place, f"paper: largest at {place:g} paths")
    axes.set(xlabel="congested paths $n_b$", ylabel="reordering probability $P_r$", xlim=(0, 40), ylim=(0, 1.02))
    return drawing.finish(figure, [axes], loc="upper left", bbox_to_anchor=(1.0, 1.0))


FIGURE = PublishedFigure(__name__, __doc__, compute=compute, draw=draw, claims=CLAIMS)
