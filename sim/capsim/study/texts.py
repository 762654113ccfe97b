"""Means of runs and claims in a few lines, or in the cells of a notebook's table.

Also what a percentile that is not recorded is answered with.
"""

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from capsim.study.file import Claim
from capsim.study.metrics import METRICS, known_metric
from capsim.study.points import Point, point_name
from capsmodel.checks import ParameterError
from capsmodel.experiments.number_texts import positive_with_error

Row = Mapping[Hashable, Any]
"""A row of a table of metrics (:func:`capsim.study.scheme_runs.metric_table`)."""
MOST_SHOWN = 8
"""Points that have a line."""


def mean_lines(rows: Sequence[Row], points: Sequence[Point]) -> list[str]:
    """Return a line for each of the first points with its means.

    Parameters
    ----------
    rows : sequence of mapping
        Of a metric table: all metrics of a point, one after the other.
    points : sequence of Point
        In the order of the rows.
    """
    count = max(1, len(dict.fromkeys(row["metric"] for row in rows)))
    lines = [
        f"  {point_name(point)}: {'; '.join(map(_in_words, rows[start : start + count]))}"
        for point, start in zip(points, range(0, len(rows), count), strict=False)
    ]
    more = len(lines) - MOST_SHOWN
    return lines[:MOST_SHOWN] + ([f"  and {more} more"] if more > 0 else [])


def _in_words(row: Row) -> str:
    """Return a row of a metric table in words."""
    known = known_metric(str(row["metric"]))
    unit = f" {known.shown_unit}" if known.shown_unit else ""
    return f"{known.words} {_mean(row)}{unit}"


def _mean(row: Row) -> str:
    """Return a mean with its half-width, in the unit in which people read it."""
    factor = known_metric(str(row["metric"])).factor
    return positive_with_error(row["mean"] * factor, row["half_width"] * factor)


def mean_cells(rows: Iterable[Row], axes: Sequence[str]) -> list[dict[str, str]]:
    """Return a row for each point: the values of its axes, and its means with their half-widths.

    Examples
    --------
    >>> row = {"scheme": "rps", "metric": "mean_fct_short_s", "mean": 0.003, "half_width": 0.0004}
    >>> mean_cells([row], ["scheme"])
    [{'scheme': 'rps', 'mean FCT, short, ms': '3.00 ± 0.40'}]
    """
    cells_of: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows:
        point = {axis: str(row[axis]) for axis in axes}
        cells = cells_of.setdefault(tuple(point.values()), point)
        cells[known_metric(str(row["metric"])).label] = _mean(row)
    return [*cells_of.values()]


def claimed(claim: Claim) -> str:
    """Return what a claim says in words."""
    if claim.text:
        return claim.text
    sides = [_terms(claim.subject), claim.is_, _terms(claim.baseline), claim.printed]
    return f"{known_metric(claim.metric).words}: {' '.join(filter(None, sides))}"


def _terms(terms: Any) -> str:
    listed = terms if isinstance(terms, tuple) else (terms,)
    return " or ".join(one if isinstance(one, str) else point_name(one.items()) for one in listed)


def check_percentile(name: str, where: str) -> None:
    """Refuse a percentile that there is not, which the nearest name would turn into another statistic.

    Raises
    ------
    ParameterError
        Whose text begins with `where` and names the percentiles of the same quantity.

    Examples
    --------
    >>> check_percentile("p99_fct_s", "metric")
    >>> check_percentile("p9999_fct_s", "metric")
    Traceback (most recent call last):
    capsmodel.checks.ParameterError: metric: p9999_fct_s is no percentile that is recorded: there are p99_fct_short_s, \
p50_fct_short_s, p75_fct_short_s, p95_fct_short_s, p999_fct_short_s, p99_fct_s
    """
    percentile = re.match(r"p[0-9.]+_(?P<quantity>[a-z]+)", name)
    if percentile is None or name in METRICS:
        return
    same = [one for one in METRICS if re.match(rf"p[0-9]+_{percentile['quantity']}", one)]
    if same:
        raise ParameterError(f"{where}: {name} is no percentile that is recorded: there are {', '.join(same)}")
