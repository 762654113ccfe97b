"""CAPS Fig. 9(b): mean window delay with and without coding over the blocking probability.

Not stated: the plotted p_B, and k for any p_B but four. Chosen: p_B from 0.01 to 0.5 with the k that is best for each,
by Eq. 4 and by Eq. 4 plus the time to send the repair packets (r free), in the setting of Section VI-D. The paper's own
four k are marked, with r by the ceiling rule.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from pandas import DataFrame, concat

from capsmodel.coding.caps_setting import PAPER_PROBS, SETTING, WINDOW_PACKETS
from capsmodel.coding.optimal_unit import optimal_coding_unit
from capsmodel.coding.redundancy import repair_packets
from capsmodel.coding.window_delay import uncoded_window_delay_s, window_delay_s
from capsmodel.papers.closed_forms.caps import EQ4_ARGUMENTS, PAPER_UNITS
from capsmodel.papers.figures import PublishedFigure
from capsmodel.papers.figures import _drawing as drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLAIMS = ("caps-f9b-dwnc",)
PAPER, UNCODED = "k of the paper", "without coding"
_OPTIMA: dict[str, Any] = {"best k by Eq. 4": "eq4", "best k and r, repair packets timed": "with_redundancy_cost"}


def _rows(scheme: str, prob: npt.ArrayLike, k: npt.ArrayLike, r: npt.ArrayLike, delay_s: npt.ArrayLike) -> DataFrame:
    columns = {"scheme": scheme, "blocking_prob": prob, "k": k, "r": r, "window_delay_s": delay_s}
    return DataFrame(columns).astype({"k": int, "r": int})


def _of_paper() -> DataFrame:
    r = repair_packets(PAPER_UNITS, blocking_prob=PAPER_PROBS)
    delay_s = window_delay_s(PAPER_UNITS, blocking_prob=PAPER_PROBS, r=r, **EQ4_ARGUMENTS)
    return _rows(PAPER, PAPER_PROBS, PAPER_UNITS, r, delay_s)


def compute() -> DataFrame:
    """Return scheme, p_B, k, r and the delay of a window; an uncoded window has k = 1, r = 0."""
    probs = np.arange(1, 51) / 100
    uncoded_s = uncoded_window_delay_s(
        WINDOW_PACKETS, blocking_prob=probs, rtt_short_s=SETTING["rtt_short_s"], rtt_long_s=SETTING["rtt_long_s"]
    )
    parts = [_rows(UNCODED, probs, 1, 0, uncoded_s)]
    for scheme, objective in _OPTIMA.items():
        best = optimal_coding_unit(WINDOW_PACKETS, blocking_prob=probs, objective=objective, **SETTING)
        parts.append(_rows(scheme, probs, best.k, best.r, best.delay_s))
    return concat([*parts, _of_paper()], ignore_index=True)


def draw(frame: DataFrame) -> "Figure":
    """Draw the delay over p_B for each scheme."""
    figure, (axes,) = drawing.panels("CAPS Fig. 9(b): delay with and without coding, w = 64")
    ours, theirs = frame[frame["scheme"] != PAPER], frame[frame["scheme"] == PAPER]
    drawing.curves(axes, ours, x="blocking_prob", y="window_delay_s", by="scheme", label="{}", scale=1e3)
    label = f"Eq. 4 at the paper's k = {', '.join(map(str, PAPER_UNITS))}"
    drawing.paper_points(axes, theirs["blocking_prob"].tolist(), (theirs["window_delay_s"] * 1e3).tolist(), label)
    axes.set(xlabel="blocking probability $p_B$", ylabel="mean window delay, ms", ylim=(0, 3.2))
    return drawing.finish(figure, [axes], loc="center right", bbox_to_anchor=(1, 0.72))


FIGURE = PublishedFigure(__name__, __doc__, compute=compute, draw=draw, claims=CLAIMS)
