"""CAPS Fig. 8(a): decoding probability of a unit over its size, repair packets by the ceiling rule.

Not stated: the ranges of k and p_B, and whether r is rounded. Chosen: k = 1 to 64, the four p_B of Section VI-D and
0.5, r rounded up as printed in Section VI-B; hence the sawtooth. Printed is p_S for k = 3 and p_B = 0.5 in Fig. 7(a).
"""

from typing import TYPE_CHECKING

import numpy as np
from pandas import DataFrame

from capsmodel.coding.caps_setting import PAPER_PROBS
from capsmodel.coding.decoding import decode_prob
from capsmodel.coding.redundancy import repair_packets
from capsmodel.papers.closed_forms.caps import UNITS
from capsmodel.papers.figures import PublishedFigure
from capsmodel.papers.figures import _drawing as drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLAIMS = ("caps-f8a-k", "caps-f7a-succ")
PROBS = (*PAPER_PROBS, 0.5)


def compute() -> DataFrame:
    """Return k, p_B, r and p_S."""
    prob, k = (values.ravel() for values in np.meshgrid(PROBS, UNITS, indexing="ij"))
    r = repair_packets(k, blocking_prob=prob)
    decoded = decode_prob(k, r=r, blocking_prob=prob)
    return DataFrame({"k": k, "blocking_prob": prob, "r": r.astype(int), "decode_prob": decoded})


def draw(frame: DataFrame) -> "Figure":
    """Draw p_S over k for each p_B."""
    figure, (axes,) = drawing.panels("CAPS Fig. 8(a): decoding probability of a coding unit")
    drawing.curves(axes, frame, x="k", y="decode_prob", by="blocking_prob", label="$p_B$ = {}", marker=".", ms=4, lw=1)
    value, _ = drawing.claimed("caps-f7a-succ")
    drawing.paper_points(axes, [3], [value], "paper, Fig. 7(a): k = 3, $p_B$ = 0.5")
    axes.set(xlabel="source packets in a unit k", ylabel="decoding probability $p_S$", xlim=(0, 65), ylim=(0.45, 1))
    return drawing.finish(figure, [axes], ncols=2)


FIGURE = PublishedFigure(__name__, __doc__, compute=compute, draw=draw, claims=CLAIMS)
