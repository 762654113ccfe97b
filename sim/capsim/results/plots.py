"""Pictures of the completion times and histograms of runs; curves differ in colour and in line."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from capsim.results.fct import Kind, counted_flows, fct_cdf
from capsim.results.result import Result
from capsmodel.checks import require
from capsmodel.plotting import legend_below, look, new_figure, plain_numbers, saved

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_QUANTITIES = {
    "wait_s": ("waiting time in a queue, µs", 1e6),
    "left_behind_bytes": ("queue behind a packet that leaves, KB", 1e-3),
    "reorder_extent_packets": ("extent of reordering, packets", 1.0),
}


def plot_cdf(
    results: Result | Mapping[str, Result | pd.DataFrame],
    file: str | Path | None = None,
    *,
    kinds: Sequence[Kind] = ("short", "long"),
) -> "Figure":
    """Return a picture of the distribution of completion times.

    Parameters
    ----------
    results : Result or mapping
        One result; or several, or tables of the flows that count, by the names of their curves.
    file : path, optional
        Where it is written too; the suffix (.pdf, .png, .svg) chooses the format.
    kinds : sequence of str
        A panel for each of ``all``, ``short`` and ``long``; those of which no flow has finished are left out.

    Raises
    ------
    ParameterError
        If there is no such kind, or no flow at all has finished.

    Examples
    --------
    >>> from capsim import Batch, Dumbbell, Scenario, simulate
    >>> scenario = Scenario(fabric=Dumbbell(hosts_per_side=2), traffic=(Batch(flow_bytes=50_000, pairs="sides"),))
    >>> figure = plot_cdf(simulate(scenario, engine="reference"))
    >>> figure.axes[0].get_xlabel()
    'completion time of short flows, ms'
    """
    several = {results.scenario.scheme: results} if isinstance(results, Result) else results
    flows = {name: _flows_of(one) for name, one in several.items()}
    drawn = {kind: {name: fct_cdf(table, kind=kind) for name, table in flows.items()} for kind in kinds}
    there = {kind: curves for kind, curves in drawn.items() if any(len(cdf) for cdf in curves.values())}
    require(bool(there), "no flow has finished, so there is no completion time to draw")
    figure = new_figure(width_in=5.0 * len(there) + 0.4, height_in=4.0 + 0.17 * len(flows) / 4)
    panels = figure.subplots(1, len(there), sharey=True, squeeze=False)[0]
    for axes, (kind, curves) in zip(panels, there.items(), strict=True):
        for number, (name, cdf) in enumerate(curves.items()):
            if len(cdf):
                style = look(number)
                axes.step(
                    cdf["fct_s"] * 1e3,
                    cdf["cdf_prob"],
                    where="post",
                    label=name,
                    color=style["color"],
                    linestyle=style["linestyle"],
                )
        axes.set(xscale="log", xlabel=f"completion time of {kind} flows, ms", ylim=(0, 1.02))
        plain_numbers(axes)
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("share of flows")
    legend_below(figure)
    return saved(figure, file)


def _flows_of(one: Result | pd.DataFrame) -> pd.DataFrame:
    return counted_flows(one.flows) if isinstance(one, Result) else one


def plot_histograms(result: Result, file: str | Path | None = None) -> "Figure":
    """Return a picture of waiting times and lengths of queues, and of reordering: the share of packets above a value.

    Parameters
    ----------
    result : Result
        Its table ``histograms`` is drawn, but for control packets.
    file : path, optional
        Where it is written too; the suffix (.pdf, .png, .svg) chooses the format.

    Raises
    ------
    ParameterError
        If the run did not keep histograms (`histograms` of :class:`capsim.Probes`).
    """
    histograms = result.histograms
    remedy = "run it with probes.histograms = true, as in --set probes.histograms=true"
    require(len(histograms) > 0, f"this run has no histograms: {remedy}")
    quantities = [name for name in _QUANTITIES if (histograms["quantity"] == name).any()]
    figure = new_figure(width_in=4.6 * len(quantities) + 0.4, height_in=4.4)
    panels = figure.subplots(1, len(quantities), squeeze=False)[0]
    data = histograms[histograms["packets"] != "control"]
    names = list(dict.fromkeys(_curve(*key) for key in zip(data["layer"], data["packets"], strict=True)))
    for axes, quantity in zip(panels, quantities, strict=True):
        rows = data[data["quantity"] == quantity]
        for (layer, packets), bins in rows.groupby(["layer", "packets"], sort=False, observed=True):
            _draw_tail(axes, bins, quantity, _curve(layer, packets), names)
        axes.set(xlabel=_QUANTITIES[quantity][0], yscale="log")
        axes.set_xscale("symlog", linthresh=1.0)
        axes.set_xlim(left=0)
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("share of packets with at least that")
    legend_below(figure)
    return saved(figure, file)


def _curve(layer: object, packets: object) -> str:
    return f"{layer}, {packets} flows" if layer else f"{packets} flows"


def _draw_tail(axes: "Axes", bins: pd.DataFrame, quantity: str, name: str, names: Sequence[str]) -> None:
    """Draw the share of packets that have at least the value at which each bin begins."""
    ordered = bins.sort_values("least")
    counts = ordered["count"].to_numpy()
    share = counts[::-1].cumsum()[::-1] / counts.sum()
    style = look(names.index(name))
    values = ordered["least"] * _QUANTITIES[quantity][1]
    axes.step(values, share, where="pre", label=name, color=style["color"], linestyle=style["linestyle"])
