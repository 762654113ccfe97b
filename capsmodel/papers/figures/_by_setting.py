"""Claims by settings: what the verdict on each claim is in each combination of what the paper leaves unstated."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from capsmodel.experiments.statistics.robustness import TEXT, differences
from capsmodel.experiments.words import VERDICT_WORDS
from capsmodel.papers.figures import _drawing as drawing
from capsmodel.plotting import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BLUE, _ORANGE, _GREEN, _PINK, _SKY, _RED = drawing.COLOURS
COLOUR_OF: dict[str, str] = {
    "agrees": _BLUE,
    "holds": _SKY,
    "holds in part": _GREEN,
    "differs": _ORANGE,
    "absent": _PINK,
    "fails": _RED,
    "depends": "0.35",
    "not testable": "0.6",
    "open": "0.92",
}
_CELL_IN, _LEFT_IN, _AROUND_IN, _NARROWEST_IN = 0.2, 2.6, 1.3, 6.4


def draw_by_setting(name: str, verdicts: Mapping[str, Mapping[str, str]]) -> "Figure":
    """Return a figure with a row for each claim and a column for each setting, coloured by the verdict.

    Above the columns, a dot stands in the row of each value in which the setting differs from the text.

    Parameters
    ----------
    name : str
        Of the study.
    verdicts : mapping
        For each claim, its verdict in each setting by name; a setting that a claim lacks stays white.
    """
    settings = list(dict.fromkeys(setting for one in verdicts.values() for setting in one))
    values = [TEXT, *dict.fromkeys(value for setting in settings for value in differences(setting))]
    width_in = max(_NARROWEST_IN, _LEFT_IN + _CELL_IN * len(settings))
    figure = new_figure(width_in=width_in, height_in=_AROUND_IN + _CELL_IN * (len(values) + len(verdicts)))
    upper, lower = figure.subplots(2, sharex=True, height_ratios=[len(values), len(verdicts)])
    _draw_values(upper, settings, values)
    _draw_verdicts(lower, settings, verdicts)
    figure.suptitle(f"{name}: verdicts at the sampled points, by setting", fontsize=9)
    return figure


def _draw_values(axes: "Axes", settings: Sequence[str], values: Sequence[str]) -> None:
    """Mark what differs from the text in each column; the text itself is the first row."""
    marked = [
        (column, values.index(value))
        for column, setting in enumerate(settings)
        for value in differences(setting) or [TEXT]
    ]
    axes.plot(*zip(*marked, strict=True), "o", color="0.25", markersize=4)
    axes.set_yticks(range(len(values)), values, fontsize=7)
    axes.set_ylim(len(values) - 0.5, -0.5)
    axes.set_ylabel("setting", fontsize=7)
    _with_cells(axes, len(settings), len(values), colour="0.92")
    axes.tick_params(labelbottom=False)


def _draw_verdicts(axes: "Axes", settings: Sequence[str], verdicts: Mapping[str, Mapping[str, str]]) -> None:
    """Colour the cell of each claim and setting."""
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    order = list(COLOUR_OF)
    cells = [[order.index(one[each]) if each in one else np.nan for each in settings] for one in verdicts.values()]
    colours = ListedColormap(list(COLOUR_OF.values()))
    axes.imshow(np.array(cells), cmap=colours, vmin=-0.5, vmax=len(order) - 0.5, aspect="auto")
    axes.set_yticks(range(len(verdicts)), list(verdicts), fontsize=7)
    axes.set_ylabel("claim", fontsize=7)
    _with_cells(axes, len(settings), len(verdicts), colour="white")
    there = {verdict for one in verdicts.values() for verdict in one.values()}
    handles = [Patch(color=COLOUR_OF[verdict], label=verdict) for verdict in VERDICT_WORDS if verdict in there]
    figure = axes.get_figure()
    assert figure is not None
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), fontsize=7, frameon=False)


def _with_cells(axes: "Axes", columns: int, rows: int, *, colour: str) -> None:
    """Draw lines between cells, and nothing around them."""
    axes.set_xticks([])
    axes.set_xticks(np.arange(columns + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(rows + 1) - 0.5, minor=True)
    axes.grid(which="minor", color=colour, linewidth=1)
    axes.tick_params(which="both", length=0)
    axes.spines[:].set_visible(False)
