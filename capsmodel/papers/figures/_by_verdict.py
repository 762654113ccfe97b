"""Claims of a paper by verdict, those that differ also by the factor by which they do: a bar for each."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from capsmodel.papers import ClaimRow, claim_totals
from capsmodel.papers.figures._by_setting import COLOUR_OF
from capsmodel.papers.index import DISTANCES, NO_FACTOR
from capsmodel.plotting import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DIFFERS = "differs"
_SHADES = (0.25, 0.5, 0.75, 1.0, 0.1)
"""How dark the parts of what differs are: darker for larger factors, and lightest without one."""


def draw_by_verdict(title: str, rows: Sequence[ClaimRow]) -> "Figure":
    """Return a figure with a bar for each verdict.

    Parameters
    ----------
    title : str
        Above the figure.
    rows : sequence of ClaimRow
        Claims of one paper.
    """
    counts = {row["verdict"]: int(list(row.values())[1]) for row in claim_totals(rows)}
    verdicts = [verdict for verdict in COLOUR_OF if verdict in counts]
    parts = [f"  {name}" for name in (*DISTANCES, NO_FACTOR)]
    figure = new_figure(width_in=6.4, height_in=2.9)
    axes = figure.subplots()
    places = np.arange(len(verdicts))
    whole = [0 if verdict == _DIFFERS else counts[verdict] for verdict in verdicts]
    axes.barh(places, whole, color=[COLOUR_OF[verdict] for verdict in verdicts])
    left, place = 0, verdicts.index(_DIFFERS)
    for name, shade in zip(parts, _SHADES, strict=True):
        label = name.strip() if counts[name] else None
        axes.barh(place, counts[name], left=left, color=COLOUR_OF[_DIFFERS], alpha=shade, label=label)
        left += counts[name]
    for at, verdict in zip(places, verdicts, strict=True):
        axes.text(counts[verdict], float(at), f" {counts[verdict]}", va="center", fontsize=8)
    axes.set_yticks(places, verdicts, fontsize=8)
    axes.invert_yaxis()
    axes.set(xlabel="claims", title=title, xlim=(0, 1.12 * max(counts[verdict] for verdict in verdicts)))
    axes.legend(
        title="off what is printed",
        fontsize=7,
        title_fontsize=7,
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        frameon=False,
    )
    return figure
