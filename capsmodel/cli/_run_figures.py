"""The figure of a comparison of schemes."""

from typing import TYPE_CHECKING

from capsim import Compared
from capsmodel.plotting import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PLOTTED = {
    "mean_fct_short_s": ("mean FCT, short flows", "ms", 1e3),
    "p99_fct_short_s": ("99th percentile FCT, short flows", "ms", 1e3),
    "mean_throughput_long_bps": ("mean throughput, long flows", "Mbit/s", 1e-6),
}


def draw(compared: Compared) -> "Figure":
    """Return the figure of a comparison: one panel for each figure of merit, dots with 95% intervals."""
    figure = new_figure(width_in=10.0, height_in=3.2)
    table = compared.table(tuple(_PLOTTED))
    panels = figure.subplots(1, len(_PLOTTED), sharey=True)
    for panel, (name, (title, unit, factor)) in zip(panels, _PLOTTED.items(), strict=True):
        rows = table[table["figure"] == name]
        mean, half_width = rows["mean"] * factor, rows["half_width"].fillna(0.0) * factor
        panel.margins(x=0.08, y=0.15)
        panel.errorbar(mean, rows["scheme"], xerr=half_width, fmt="o", capsize=3)
        panel.axvline(0, alpha=0)  # the margin is taken of a range that begins at zero
        panel.set(xlabel=f"{title} ({unit})")
        panel.set_xlim(left=0)
        panel.grid(axis="x", alpha=0.3)
    panels[0].invert_yaxis()
    return figure
