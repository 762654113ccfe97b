"""Claims by settings: what the verdict on each claim is in each combination of what the paper leaves unstated."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from capsmodel.papers.figures import _drawing as drawing
from capsmodel.papers.settings import TEXT
from capsmodel.papers.verdicts import VERDICT_WORDS, VerdictWord
from capsmodel.plotting import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BLUE, _ORANGE, _, _, _, _RED = drawing.COLOURS
COLOUR_OF: dict[VerdictWord, str] = {
    "reproduced": _BLUE,
    "differs in size": _ORANGE,
    "refuted": _RED,
    "not testable": "0.6",
    "open": "0.92",
}
_CELL_IN, _LEFT_IN, _TOP_IN, _BELOW_IN = 0.22, 2.4, 3.6, 0.9


def draw_by_setting(name: str, words: Mapping[str, Mapping[str, str]]) -> "Figure":
    """Return a figure with a row for each claim and a column for each setting, coloured by the verdict.

    Parameters
    ----------
    name : str
        Paper or experiment.
    words : mapping
        For each claim, its verdict in each setting by name; a setting that a claim lacks stays white.
    """
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    settings = list(dict.fromkeys(setting for one in words.values() for setting in one))
    order: list[str] = list(COLOUR_OF)
    cells = [[order.index(one[each]) if each in one else np.nan for each in settings] for one in words.values()]
    figure = new_figure(
        width_in=_LEFT_IN + _CELL_IN * len(settings) + 1, height_in=_TOP_IN + _CELL_IN * len(words) + _BELOW_IN
    )
    axes = figure.add_subplot()
    axes.imshow(np.array(cells), cmap=ListedColormap(list(COLOUR_OF.values())), vmin=-0.5, vmax=len(order) - 0.5)
    axes.set_xticks(range(len(settings)), settings, rotation=90, fontsize=6)
    axes.set_yticks(range(len(words)), list(words), fontsize=6)
    axes.xaxis.tick_top()
    axes.set_xticks(np.arange(len(settings)) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(words)) - 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=1)
    axes.tick_params(which="both", length=0)
    axes.set_xlabel(f"{name}: verdicts at the sampled places, by setting (the first column is {TEXT!r})", fontsize=7)
    axes.set_ylabel("claim", fontsize=7)
    handles = [Patch(color=COLOUR_OF[word], label=word) for word in VERDICT_WORDS]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), fontsize=7, frameon=False)
    return figure
