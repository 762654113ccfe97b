"""Shared by the four figures of RepFlow's model: schemes, loads, and a second panel with the change by replication."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from pandas import DataFrame, concat

from capsmodel.papers.closed_forms.repflow import REPLICATED, web_search
from capsmodel.papers.figures import _drawing as drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SCHEMES: dict[str, dict[str, Any]] = {"TCP": {}, "RepFlow": REPLICATED}
PAPER_FORM, EXACT_FORM = "paper", "exact M/D/1, whole rounds"


def completion(forms: Mapping[str, Callable[..., Any]]) -> DataFrame:
    """Return completion times over those without contention (slowdown), for each form of the model and each scheme."""
    loads = np.linspace(0.02, 0.9, 89)
    parts = [
        DataFrame(
            {"load": loads, "scheme": scheme, "form": form, "slowdown": fct(loads, sizes=web_search(), **options)}
        )
        for form, fct in forms.items()
        for scheme, options in _SCHEMES.items()
    ]
    return concat(parts, ignore_index=True)


def change_pct(frame: DataFrame, form: str) -> DataFrame:
    """Return load and the change by replication, in percent of TCP's completion time."""
    wide = frame[frame["form"] == form].pivot(index="load", columns="scheme", values="slowdown")
    return DataFrame({"load": wide.index, "change_pct": (100 * (wide["RepFlow"] / wide["TCP"] - 1)).to_numpy()})


def draw_pair(frame: DataFrame, title: str) -> tuple["Figure", "Axes", "Axes"]:
    """Draw completion times on the left and the change by replication on the right; return both panels."""
    figure, (left, right) = drawing.panels(title, 2)
    for form, style in zip(frame["form"].unique(), ("-", ":"), strict=False):
        rows, suffix = frame[frame["form"] == form], "" if form == PAPER_FORM else f", {form}"
        drawing.curves(left, rows, x="load", y="slowdown", by="scheme", label="{}" + suffix, linestyle=style)
        change = change_pct(frame, form)
        label = "RepFlow against TCP" + suffix
        right.plot(change["load"], change["change_pct"], linestyle=style, color=drawing.COLOURS[1], label=label)
    left.set(xlabel="load ρ", ylabel="completion time, idle path = 1", yscale="log", xlim=(0, 0.9))
    right.set(xlabel="load ρ", ylabel="change by replication, %", xlim=(0, 0.9))
    return figure, left, right


def reduction_band(axes: "Axes", claim: str, label: str) -> None:
    """Mark a range of reductions that a claim prints, as negative changes."""
    low, high = drawing.claimed(claim)
    drawing.paper_band(axes, -high, -low, label)


def finish(figure: "Figure", axes: Sequence["Axes"]) -> "Figure":
    """Add plain numbers on the logarithmic axis, and legends."""
    _, top = axes[0].get_ylim()
    ticks = [tick for tick in (1, 2, 3, 5, 10, 20, 50, 100, 200) if tick <= top]
    axes[0].set_yticks(ticks, [str(tick) for tick in ticks])
    axes[0].minorticks_off()
    finished = drawing.finish(figure, axes)
    # The curves of the left panel all end in its upper right corner.
    axes[0].legend(frameon=False, fontsize="small", loc="upper left")
    return finished
