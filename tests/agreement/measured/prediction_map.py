"""The picture of where formula and packets part: their ratio by scheme, in each setting in which all were run.

``docs/prediction.md`` shows it; it is drawn when the site is built, from ``data/results/prediction.csv``.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from agreement.measured.predicted_cells import IN_ORDER, PRIORITY, TIMERS, TURNS
from agreement.measured.prediction_goals import Compared, all_compared

from capsim.results.prediction import QUANTITIES
from capsmodel.plotting import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST = 4.0  # the colour of this ratio and of all beyond
_WITHIN = {"short_mean_s": 1.10, "short_p99_s": 1.25, "long_mean_slowdown": 1.10}  # numbers in bold
_NAMES = {
    "websearch": "web\nsearch",
    "fb_cachefollower_homa": "cache\nfollower",
    "fb_hadoop_homa": "Hadoop\n",
    "univ1_benson_pkts": "university\n",
    "alistorage2019": "storage\n",
}
_ROWS = (
    *((scheme, scheme) for scheme in TURNS),
    *((f"{scheme}, NIC in order", f"{IN_ORDER} {scheme}") for scheme in TURNS[1:3]),
    *((scheme, scheme) for scheme in (*PRIORITY, *TIMERS)),
)


def _row(cell: Compared) -> str:
    return f"{IN_ORDER} {cell.scheme}" if cell.group == IN_ORDER else cell.scheme


def _column(setting: Sequence[Any]) -> str:
    fabric, profile, workload, load = setting
    return f"{_NAMES[workload]}\n{load:g}\n{fabric.replace('leaf-spine:', '')}\n{profile[:-1]} Gbps"


def ratios(cells: Sequence[Compared], name: str) -> tuple[list[str], np.ndarray]:
    """Return settings in words, and formula over packets by scheme and setting; NaN where there is none."""
    settings = list(dict.fromkeys(cell.setting for cell in cells))
    rows = [key for _, key in _ROWS]
    values = np.full((len(rows), len(settings)), np.nan)
    for cell in cells:
        values[rows.index(_row(cell)), settings.index(cell.setting)] = cell.ratio(name)
    return [_column(setting) for setting in settings], values


def _draw(axes: "Axes", name: str, values: np.ndarray) -> Any:
    image = axes.imshow(np.log(values), cmap="RdBu_r", vmin=-np.log(_MOST), vmax=np.log(_MOST), aspect="auto")
    for (row, column), ratio in np.ndenumerate(values):
        if np.isfinite(ratio):
            near = max(ratio, 1 / ratio) <= _WITHIN[name]
            color = "white" if abs(np.log(ratio)) > 0.8 else "black"
            look = {"color": color, "fontweight": "bold" if near else "normal", "fontsize": 7}
            axes.text(column, row, f"{ratio:.2f}", ha="center", va="center", **look)
    axes.set_yticks(range(len(_ROWS)), [text for text, _ in _ROWS], fontsize=7)
    for above in (len(TURNS), len(TURNS) + 2, len(TURNS) + 2 + len(PRIORITY)):
        axes.axhline(above - 0.5, color="black", linewidth=0.8)
    axes.set_title(f"{QUANTITIES[name]}: formula over packets", fontsize=9)
    return image


def draw() -> "Figure":
    """Draw the kept cells of settings in which all schemes were run."""
    kept = all_compared()
    settings = {cell.setting for cell in kept if cell.scheme in TIMERS}
    cells = [cell for cell in kept if cell.setting in settings]
    figure = new_figure(width_in=9.6, height_in=10)
    panels = figure.subplots(3, 1, sharex=True)
    for axes, name in zip(panels, _WITHIN, strict=True):
        columns, values = ratios(cells, name)
        image = _draw(axes, name, values)
    panels[-1].set_xticks(range(len(columns)), columns, fontsize=6)
    ticks = (0.25, 0.5, 0.8, 1, 1.25, 2, 4)
    bar = figure.colorbar(image, ax=panels, shrink=0.4, ticks=np.log(ticks))
    bar.ax.set_yticklabels([f"{tick:g}" for tick in ticks], fontsize=7)
    return figure
