"""CAPS Fig. 6(a): repair packets of a coding unit over the blocking probability.

Not stated: the plotted p_B and k. Chosen: p_B from 0 to 0.5, and k = 10 (Fig. 6(b)), 20, 40 and 64 (the window of
Section VI-D). Printed for k = 10 are the r of Section IX-E for 1 to 4 of 12 paths.
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

CLAIMS = ("caps-f6a-pb", "caps-f6a-k")
UNITS = (10, 20, 40, 64)
_PRINTED = {blocked / 12: f"caps-ixe-r{blocked}" for blocked in (1, 2, 3, 4)}


def compute() -> DataFrame:
    """Return k, p_B and r, by CAPS's ceiling rule."""
    probs = np.linspace(0, 0.5, 601)
    k, prob = (values.ravel() for values in np.meshgrid(UNITS, probs, indexing="ij"))
    return DataFrame({"k": k, "blocking_prob": prob, "r": repair_packets(k, blocking_prob=prob).astype(int)})


def draw(frame: DataFrame) -> "Figure":
    """Draw r over p_B for each k."""
    figure, (axes,) = drawing.panels("CAPS Fig. 6(a): redundancy for a blocking probability")
    drawing.curves(axes, frame, x="blocking_prob", y="r", by="k", label="k = {}", drawstyle="steps-pre")
    printed = [cell(claim) for claim in _PRINTED.values()]
    drawing.paper_points(axes, list(_PRINTED), printed, "paper, Section IX-E: k = 10, 1 to 4 of 12 paths")
    axes.set(xlabel="blocking probability $p_B$", ylabel="repair packets r", xlim=(0, 0.5), ylim=(0, None))
    return drawing.finish(figure, [axes])


FIGURE = PublishedFigure(__name__, __doc__, compute=compute, draw=draw, claims=CLAIMS)
