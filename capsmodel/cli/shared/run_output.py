"""Tables and figures of runs, for the commands that simulate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from capsim.results.fct import fct_cdf
from capsmodel.cli.shared.numbers import size_text
from capsmodel.cli.shared.table import Column
from capsmodel.plotting import new_figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from capsim import Compared, Studied


Row = dict[str, Any]
_NAMED_POINTS = 4  # in a line below a table


@dataclass(frozen=True)
class Shown:
    """How a metric is shown: its words, its unit, and the factor to it from the unit of its name."""

    words: str
    unit: str = ""
    factor: float = 1.0

    @property
    def head(self) -> str:
        """Return words and unit."""
        return f"{self.words}, {self.unit}" if self.unit else self.words


_MS, _PERCENT, _MBPS = ("ms", 1e3), ("%", 1e2), ("Mbit/s", 1e-6)

SHOWN: dict[str, Shown] = {
    "flows": Shown("flows"),
    "unfinished_flows": Shown("of them unfinished"),
    "short_flows": Shown("short flows"),
    "long_flows": Shown("long flows"),
    "unstarted_flows": Shown("flows not started"),
    "mean_fct_short_s": Shown("mean FCT, short", *_MS),
    "p50_fct_short_s": Shown("median FCT, short", *_MS),
    "p95_fct_short_s": Shown("p95 FCT, short", *_MS),
    "p99_fct_short_s": Shown("p99 FCT, short", *_MS),
    "p999_fct_short_s": Shown("p99.9 FCT, short", *_MS),
    "timeout_ratio_short": Shown("short flows with a timeout", *_PERCENT),
    "mean_fct_short_without_timeouts_s": Shown("mean FCT of the other short flows", *_MS),
    "mean_fct_long_s": Shown("mean FCT, long", *_MS),
    "mean_slowdown_short": Shown("mean slowdown, short"),
    "p99_slowdown_short": Shown("p99 slowdown, short"),
    "mean_slowdown": Shown("mean slowdown, all"),
    "mean_throughput_long_bps": Shown("mean throughput, long", *_MBPS),
    "mean_goodput_long_bps": Shown("throughput, long, since the warm-up", *_MBPS),
    "reorder_ratio": Shown("packets reordered", *_PERCENT),
    "packets_dropped": Shown("packets dropped"),
    "retransmissions": Shown("packets sent again"),
    "fast_retransmits": Shown("fast retransmits"),
    "timeouts": Shown("timeouts"),
    "coding_overhead": Shown("repair over source packets", *_PERCENT),
    "stalled_unit_ratio": Shown("coding units stalled", *_PERCENT),
    "traffic_ratio": Shown("bytes sent over bytes of flows"),
    "offered_load_hosts": Shown("offered load, hosts"),
    "offered_load_inner": Shown("offered load, busiest switch links"),
    "offered_over_asked": Shown("offered over asked load"),
    "backlog_growth": Shown("flows in progress, last over middle third"),
}


def shown(metric: str) -> Shown:
    """Return how a metric is shown; one of another package by its name."""
    return SHOWN.get(metric, Shown(metric.replace("_", " ")))


def mean_above_p99(scheme: str) -> str:
    """Return why the mean of short flows may be above their 99th percentile."""
    return (
        f"{scheme}: the mean is above the 99th percentile, because fewer than 1% of the short flows waited for a "
        "retransmission timeout, hundreds of times as long as the others take."
    )


def records(table: "pd.DataFrame") -> list[dict[str, Any]]:
    """Return the rows of a table as dictionaries."""
    return [{str(key): value for key, value in row.items()} for row in table.to_dict("records")]


BY_SIZE = (
    Column("sizes", "flow size"),
    Column("flows", "flows"),
    Column("unfinished_flows", "unfinished"),
    Column("mean_fct_s", "mean FCT, ms", 1e3),
    Column("median_fct_s", "median, ms", 1e3),
    Column("p95_fct_s", "p95, ms", 1e3),
    Column("p99_fct_s", "p99, ms", 1e3),
    Column("mean_slowdown", "mean slowdown"),
    Column("p99_slowdown", "p99 slowdown"),
)


def size_rows(by_size: "pd.DataFrame") -> list[Row]:
    """Return the rows of :func:`capsim.results.fct.fct_by_size` with the sizes in words."""
    return [{"sizes": _sizes(row["above_bytes"], row["up_to_bytes"]), **row} for row in records(by_size)]


BY_LAYER = (
    Column("layer", "links"),
    Column("ports", "number"),
    Column("packets_in", "packets"),
    Column("loss_ratio", "dropped or lost, %", 1e2),
    Column("utilisation", "used, %", 1e2),
    Column("max_utilisation", "busiest, %", 1e2),
    Column("mean_queue_packets", "mean queue, packets"),
)


def layer_rows(layers: "pd.DataFrame") -> list[Row]:
    """Return the rows of :func:`capsim.results.summary.by_layer`."""
    return records(layers.reset_index())


def _sizes(above: float, up_to: float) -> str:
    if up_to == float("inf"):
        return f">{size_text(above)}"
    return f"{size_text(above) if above > 0 else 0}-{size_text(up_to)}"


def metric_rows(
    table: "pd.DataFrame", axes: Sequence[str], metrics: Sequence[str], *, first_scheme: str | None
) -> tuple[list[Row], list[Column]]:
    """Return one row for each point of a metric table, and a column for each metric, with its ratio behind it.

    Parameters
    ----------
    table : DataFrame
        As :func:`capsim.run.runs.metric_table` returns it.
    axes, metrics : sequence of str
        What stands in the rows, and in the columns.
    first_scheme : str, optional
        Print the ratio to it behind each metric.
    """
    rows: dict[tuple[Any, ...], Row] = {}
    for record in table[table["metric"].isin(metrics)].to_dict("records"):
        point = tuple(record[axis] for axis in axes)
        row = rows.setdefault(point, dict(zip(axes, point, strict=True)))
        row |= _cells(record)
    columns = [Column(axis, axis) for axis in axes]
    for metric in metrics:
        columns.append(Column(metric, shown(metric).head, shown(metric).factor, f"{metric}_error"))
        if first_scheme is not None:
            ends = f"{metric}_ratio_low", f"{metric}_ratio_high"
            columns.append(Column(f"{metric}_ratio", f"ratio to {first_scheme}", ends=ends))
    return list(rows.values()), columns


def _cells(record: Mapping[Any, Any]) -> Row:
    metric = record["metric"]
    ratio = {f"{metric}_{name}": record[name] for name in ("ratio", "ratio_low", "ratio_high")}
    return {metric: float(record["mean"]), f"{metric}_error": record["half_width"], **ratio}


def missing_ratios(table: "pd.DataFrame", axes: Sequence[str], metrics: Sequence[str], *, seeds: int) -> list[str]:
    """Return a line for each metric without a ratio at some points, or with fewer pairs than `seeds`: where, and why.

    Parameters
    ----------
    table : DataFrame
        As :func:`capsim.run.runs.metric_table` returns it, with a first scheme.
    axes, metrics : sequence of str
        What names a point, and the metrics whose ratios are printed.
    seeds : int
        Runs of each point.
    """
    lines = []
    for metric in metrics:
        rows = table[(table["metric"] == metric) & (table["seeds"] > 0)]
        with_0 = rows[rows["pairs_with_0"] > 0]
        if len(with_0):
            where = _points(with_0, axes, "pairs_with_0", seeds)
            lines.append(f"{shown(metric).words}: no ratio where a run has 0, which has no logarithm: {where}")
        fewer = rows[rows["pairs"] < seeds]
        if len(fewer):
            where = _points(fewer, axes, "pairs", seeds)
            lines.append(f"{shown(metric).words}: a ratio over fewer seeds where some have no such flows: {where}")
    return lines


def _points(rows: "pd.DataFrame", axes: Sequence[str], count: str, seeds: int) -> str:
    names = [
        f"{', '.join(str(record[axis]) for axis in axes)} ({record[count]} of {seeds})" for record in records(rows)
    ]
    more = len(names) - _NAMED_POINTS
    return "; ".join(names[:_NAMED_POINTS]) + (f"; {more} more" if more > 0 else "")


PLOTTED = ("mean_fct_short_s", "p99_fct_short_s", "mean_throughput_long_bps")


def draw_comparison(compared: "Compared") -> "Figure":
    """Return the figure of a comparison: one panel for each metric, dots with 95% intervals."""
    figure = new_figure(width_in=10.0, height_in=1.4 + 0.36 * len(compared.schemes))
    table = compared.table(PLOTTED)
    panels = figure.subplots(1, len(PLOTTED), sharey=True)
    for panel, metric in zip(panels, PLOTTED, strict=True):
        rows, factor = table[table["metric"] == metric], shown(metric).factor
        mean, half_width = rows["mean"] * factor, rows["half_width"].fillna(0.0) * factor
        panel.margins(x=0.08, y=0.15)
        panel.errorbar(mean, rows["scheme"], xerr=half_width, fmt="o", capsize=3)
        panel.axvline(0, alpha=0)  # the margin is taken of a range that begins at zero
        panel.set(xlabel=shown(metric).head)
        panel.set_xlim(left=0)
        panel.locator_params(axis="x", nbins=5, prune="upper")  # labels of neighbours do not touch
        panel.grid(axis="x", alpha=0.3)
    panels[0].invert_yaxis()
    return figure


def draw_fct_cdf(flows: Mapping[str, "pd.DataFrame"]) -> "Figure":
    """Return the distribution of completion times of short and of long flows, a curve for each scheme."""
    figure = new_figure(width_in=10.0, height_in=4.0)
    panels = figure.subplots(1, 2, sharey=True)
    for panel, kind in zip(panels, ("short", "long"), strict=True):
        for scheme, table in flows.items():
            cdf = fct_cdf(table, kind="short" if kind == "short" else "long")
            panel.step(cdf["fct_s"] * 1e3, cdf["cdf_prob"], where="post", label=scheme)
        panel.set(xscale="log", xlabel=f"completion time of {kind} flows, ms", ylim=(0, 1.02))
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("share of flows")
    panels[0].legend(frameon=False)
    return figure


def draw_study(studied: "Studied", metrics: Sequence[str]) -> "Figure":
    """Return the figure of a study: one panel for each metric, a curve for each scheme and further axis."""
    figure = new_figure(width_in=4.4 * len(metrics) + 1.0, height_in=4.2)
    x, *others = _axes(studied)
    table = studied.table(metrics)
    grid = studied.study.grid
    panels = figure.subplots(1, len(metrics), squeeze=False)[0]
    for panel, metric in zip(panels, metrics, strict=True):
        rows = table[table["metric"] == metric]
        for values in product(*(grid[axis] for axis in others)):
            _curve(panel, rows, x, dict(zip(others, values, strict=True)), shown(metric).factor)
        panel.set(xlabel=x, ylabel=shown(metric).head)
        panel.set_ylim(bottom=0)
        panel.grid(alpha=0.3)
    handles, labels = panels[0].get_legend_handles_labels()
    if others:
        figure.legend(handles, labels, loc="outside lower center", ncols=min(4, len(labels)), frameon=False)
    return figure


def _axes(studied: "Studied") -> list[str]:
    """Return the axes with several values: first one of numbers, if there is one, that the curves go along."""
    grid = studied.study.grid
    several = [name for name, values in grid.items() if len(values) > 1] or list(grid)[:1]
    return sorted(several, key=lambda name: not all(isinstance(value, int | float) for value in grid[name]))


def _curve(panel: "Axes", rows: "pd.DataFrame", x: str, point: Mapping[str, Any], factor: float) -> None:
    for axis, value in point.items():
        rows = rows[rows[axis] == value]
    numbers = all(isinstance(value, int | float) for value in rows[x])
    along = rows[x].astype(float) if numbers else rows[x].astype(str)
    label = ", ".join(str(value) if axis == "scheme" else f"{axis} {value}" for axis, value in point.items())
    style = "o-" if numbers else "o"
    panel.errorbar(
        along, rows["mean"] * factor, rows["half_width"].fillna(0) * factor, fmt=style, capsize=3, label=label
    )
