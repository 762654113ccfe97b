"""Tables of runs, for the commands that simulate."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from capsim.results.files import check_entries
from capsim.study.metrics import OF_COLLECTIVES, known_metric
from capsmodel._files import check_writable
from capsmodel.cli.shared.output import Output, explain, print_table
from capsmodel.cli.shared.table import Column
from capsmodel.experiments.number_texts import number, sizes_text
from capsmodel.experiments.statistics.intervals import samples_for

if TYPE_CHECKING:
    import pandas as pd

    from capsim import Studied
    from capsim.study.campaign import Verdict


Row = dict[str, Any]
_NAMED_POINTS = 4  # in a line below a table
WITHIN = 0.1
"""Half the length of an interval over its value, for which :func:`seeds_line` says how many seeds it needs."""


TABLES = ("runs.csv", "table.csv", "by_size.csv", "by_part.csv", "verdicts.csv", "settings.csv")
FIGURES = ("study.png", "settings.png", "compare.png", "fct_cdf.png")
"""What `study` and `compare` write into DIR beside the runs, from which each goes on whichever made them."""

shown = known_metric


def check_place(folder: Path) -> None:
    """Refuse, before any run, a DIR that cannot be written to, or holds what neither `study` nor `compare` writes."""
    from capsim.study.study import RESULTS, ROWS  # which a single simulation does not need

    check_entries(folder, made_of=frozenset({ROWS, RESULTS, *TABLES, *FIGURES, "study.toml", "scenario.toml"}))
    check_writable(folder)


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
    return [{"sizes": sizes_text(row["above_bytes"], row["up_to_bytes"]), **row} for row in records(by_size)]


BY_LAYER = (
    Column("layer", "links"),
    Column("ports", "number"),
    Column("packets_in", "packets"),
    Column("loss_ratio", "dropped or lost, %", 1e2),
    Column("utilisation", "used, %", 1e2),
    Column("max_utilisation", "busiest, %", 1e2),
    Column("mean_queue_packets", "mean queue, packets"),
)


BY_OPERATION = (
    Column("traffic_entry", "entry"),
    Column("algorithm", "algorithm"),
    Column("iteration", "iteration"),
    Column("group", "group"),
    Column("hosts", "hosts"),
    Column("start_s", "begins, ms", 1e3),
    Column("completion_s", "takes, ms", 1e3),
    Column("bus_bandwidth_bps", "bus bandwidth, Gbit/s", 1e-9),
)


def layer_rows(layers: "pd.DataFrame") -> list[Row]:
    """Return the rows of :func:`capsim.results.summary.by_layer`."""
    return records(layers.reset_index())


def metric_rows(
    table: "pd.DataFrame", axes: Sequence[str], metrics: Sequence[str], *, first_scheme: str | None
) -> tuple[list[Row], list[Column]]:
    """Return one row for each point of a metric table, and a column for each metric, with its ratio behind it.

    Parameters
    ----------
    table : DataFrame
        As :func:`capsim.study.scheme_runs.metric_table` returns it.
    axes, metrics : sequence of str
        What stands in the rows, and in the columns. Of a single metric the seeds with a value have a column too where
        they differ.
    first_scheme : str, optional
        Print the ratio to it behind each metric.
    """
    rows: dict[tuple[Any, ...], Row] = {}
    for record in table[table["metric"].isin(metrics)].to_dict("records"):
        point = tuple(record[axis] for axis in axes)
        row = rows.setdefault(point, dict(zip(axes, point, strict=True)))
        row |= _cells(record)
    columns = [Column(axis, axis) for axis in axes]
    if len(metrics) == 1 and len({row["seeds"] for row in rows.values()}) > 1:
        columns.append(Column("seeds", "seeds"))
    for metric in metrics:
        columns.append(Column(metric, shown(metric).label, shown(metric).factor, f"{metric}_error"))
        if first_scheme is not None:
            ends = f"{metric}_ratio_low", f"{metric}_ratio_high"
            columns.append(Column(f"{metric}_ratio", f"ratio to {first_scheme}", ends=ends))
    return list(rows.values()), columns


def _cells(record: Mapping[Any, Any]) -> Row:
    metric = record["metric"]
    ratio = {f"{metric}_{name}": record[name] for name in ("ratio", "ratio_low", "ratio_high")}
    return {metric: float(record["mean"]), f"{metric}_error": record["half_width"], "seeds": record["seeds"], **ratio}


def interval_words(seeds: int) -> str:
    """Return what the means of `seeds` runs and their intervals are, in tables that :func:`metric_rows` makes."""
    from capsim.study.scheme_runs import TAIL_SEEDS  # which a single simulation does not need

    if seeds == 1:
        return "one run each, so no interval"
    ends = "±, or (low-high) on a log scale where it is 0.3 of the mean and more"
    of_tails = f"; of percentiles from {TAIL_SEEDS} seeds on" if seeds < TAIL_SEEDS else ""
    return f"means over {seeds} seeds with 95% intervals ({ends}{of_tails})"


def without_value(studied: "Studied", metrics: Sequence[str], *, printed: Sequence[str]) -> list[str]:
    """Return a line that names the metrics that no run has a value of, unless they are printed; none where all have."""
    absent = [shown(metric).words for metric in metrics if metric not in {*studied.measured(metrics), *printed}]
    return [f"left out, since no run has a value: {'; '.join(absent)}"] if absent else []


def equal_times(studied: "Studied") -> list[str]:
    """Return a line that names the times of collective operations of which another one says the same; none if all."""
    absent = [shown(one).words for one in studied.measured(OF_COLLECTIVES) if one not in studied.of_operations]
    return [f"left out, since equal to another time in every run: {'; '.join(absent)}"] if absent else []


def seeds_line(widths: Iterable[tuple[str, float, int]]) -> str:
    """Return how many seeds would make each interval that is wider than 10% as short; empty where none is.

    Parameters
    ----------
    widths : iterable of (str, float, int)
        Words for a value that is above 0; half the length of its interval over the value, NaN where there is none; the
        seeds behind it. Of equal words the widest counts.
    """
    wide: dict[str, float] = {}
    for words, width, seeds in widths:
        if width > WITHIN:
            wide[words] = max(wide.get(words, 0.0), samples_for(width, samples=seeds, target=WITHIN))
    needed = ", ".join(f"{words} {number(seeds)}" for words, seeds in wide.items())
    return f"seeds for intervals within {100 * WITHIN:g}%: {needed}" if needed else ""


def fewer_seeds(runs: "pd.DataFrame", axes: Sequence[str]) -> list[str]:
    """Return a line that names the points with fewer runs than others; none where all have as many."""
    counts = runs.groupby(list(axes), sort=False, as_index=False).agg(runs=("seed", "size"))
    most = int(counts["runs"].max()) if len(counts) else 0
    fewer = counts[counts["runs"] < most].assign(of=most)
    return [f"fewer seeds, since the claims on them are decided: {_points(fewer, axes, 'runs')}"] if len(fewer) else []


def missing_ratios(
    table: "pd.DataFrame", axes: Sequence[str], metrics: Sequence[str], *, runs: "pd.DataFrame", first_scheme: str
) -> list[str]:
    """Return a line for each metric without a ratio at some points, or with fewer pairs than runs: where, and why.

    Parameters
    ----------
    table : DataFrame
        As :func:`capsim.study.scheme_runs.metric_table` returns it, with a first scheme.
    axes, metrics : sequence of str
        What names a point, ``scheme`` among it, and the metrics whose ratios are printed.
    runs : DataFrame
        A row for each run, with a column for each axis.
    first_scheme : str
        The scheme that the others are compared with.
    """
    lines, counts = [], Counter(runs[list(axes)].itertuples(index=False, name=None))

    def pairs_run(row: "pd.Series[Any]") -> int:
        own = tuple(row[axis] for axis in axes)
        return min(counts[own], counts[tuple(first_scheme if axis == "scheme" else row[axis] for axis in axes)])

    table = table.assign(of=table.apply(pairs_run, axis=1))
    for metric in metrics:
        rows = table[(table["metric"] == metric) & (table["seeds"] > 0)]
        with_0 = rows[rows["pairs_with_0"] > 0]
        if len(with_0):
            where = _points(with_0, axes, "pairs_with_0")
            lines.append(f"{shown(metric).words}: no ratio where a run has 0, which has no logarithm: {where}")
        fewer = rows[rows["pairs"] < rows["of"]]
        if len(fewer):
            where = _points(fewer, axes, "pairs")
            lines.append(f"{shown(metric).words}: a ratio over fewer seeds where some have no such flows: {where}")
    return lines


def _points(rows: "pd.DataFrame", axes: Sequence[str], count: str) -> str:
    """Return the names of the first points, each with its count and of how many that is, ``of``."""
    names = [
        f"{', '.join(str(record[axis]) for axis in axes)} ({record[count]} of {record['of']})"
        for record in records(rows)
    ]
    more = len(names) - _NAMED_POINTS
    return "; ".join(names[:_NAMED_POINTS]) + (f"; {more} more" if more > 0 else "")


_VERDICTS = (
    Column("id", "claim"),
    Column("word", "verdict"),
    Column("seeds", "seeds"),
    Column("point", "at"),
    Column("ours", "ours", ends=("low", "high")),
)
_AS_FILED = Column("before", "filed")
_BEGINS = Column("begins", "begins")
_OF_OPEN = (Column("printed", "printed"), Column("bound", "bound"))


def print_verdicts(studied: "Studied", output: Output, before: Mapping[str, str] = MappingProxyType({})) -> None:
    """Print the verdict on each claim with our value at each point, and the verdict as filed where one is known.

    Where one is open because of a bound that its interval lies across, what is printed and the bound stand behind ours.
    """
    rows, columns = records(studied.verdicts()), list(_VERDICTS)
    if any(row["begins"] for row in rows):
        columns.insert(2, _BEGINS)
    if any(row["bound"] for row in rows):
        columns += [column for column in _OF_OPEN if any(row[column.key] for row in rows)]
    if before:
        rows = [row | {"before": before.get(row["id"], "-")} for row in rows]
        columns.insert(1, _AS_FILED)
    print_table(rows, columns=columns, title=studied.study.name, output=output)
    if not output.is_text:
        return
    if rows:
        level = f"its interval at {100 * rows[0]['level']:g}%"
        explain(f"ours: the {rows[0]['about']}, (low-high) {level}; tables of metrics have means, at 95%")
    verdicts = {name: studied.verdict(name) for name, claim in studied.study.claims.items() if claim.is_simulated}
    totals = Counter(verdict.word for verdict in verdicts.values())
    counts = ", ".join(f"{count} {verdict}" for verdict, count in totals.items())
    explain("", f"{totals.total()} claims: {counts}. {totals_line(studied.runs) if len(studied.runs) else 'No run.'}")
    explain(*(line for name, verdict in verdicts.items() for line in _what_decides(name, verdict)))


def _what_decides(claim: str, verdict: "Verdict") -> list[str]:
    """Return a line for a claim that is open after its runs: the seeds that would decide it, or why no number does."""
    if not (verdict.seeds and verdict.takes_seeds):
        return [f"{claim} stays open: {verdict.stays_open}"] if verdict.seeds and verdict.stays_open else []
    takes = f"about {verdict.takes_seeds} seeds ({number(verdict.takes_cpu_s)} CPU s)"
    return [f"{claim}: {takes} may decide it, if further ones scatter as these: give --seeds {verdict.takes_seeds}"]


def totals_line(runs: "pd.DataFrame") -> str:
    """Return how many runs there are, and what they took in all."""
    totals = [f"{len(runs)} runs"]
    if "traversals" in runs:  # not every measurement has it
        totals.append(f"{runs['traversals'].sum():.0f} link traversals")
    totals.append(f"{runs['cpu_s'].sum():.1f} CPU s")
    if "unfinished_flows" in runs:
        totals.append(f"{runs['unfinished_flows'].sum():.0f} flows unfinished")
    return ", ".join(totals)
