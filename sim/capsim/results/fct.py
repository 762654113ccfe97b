r"""Completion times of a run: which flows count, by flow size, by percentile, as a distribution.

================ ============= ======================== ======
Quantity         Symbol        Name                     Unit
================ ============= ======================== ======
completion time  :math:`T`     ``fct_s``                second
slowdown         :math:`T/T_0` ``slowdown``             1
its distribution :math:`F(x)`  :func:`fct_cdf`          1
percentile       :math:`x_q`   :func:`fct_percentile_s` second
================ ============= ======================== ======

All functions take the flows table of a result (:mod:`capsim.base.schema`). They are about the flows that the column
``counted`` says count (:func:`counted_flows`), and completion times are over those that have finished, in
:class:`~capsim.Summary` as here: with unfinished flows they are too good.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import pandas as pd

from capsmodel.checks import choice, require
from capsmodel.experiments.statistics.intervals import mean_interval
from capsmodel.metrics import percentile

Kind = Literal["all", "short", "long"]
_PERCENTS = (50, 90, 99)
_ROUNDING = 1e-12  # of a sum of weights, for a rank that is a whole number

SIZE_EDGES_BYTES = (0, 100_000, 10_000_000, float("inf"))
"""Small, medium and large flows as in pFabric (Alizadeh et al., SIGCOMM 2013, Section 5): up to 100 KB, up to 10 MB."""


def counted_flows(flows: pd.DataFrame) -> pd.DataFrame:
    """Return the flows that count: those that start after the warm-up, and not only to make the load of others.

    After a cold start those that start last end while the network empties, and count as well.
    """
    return flows[flows["counted"]]


def finished_flows(flows: pd.DataFrame, *, kind: Kind = "all") -> pd.DataFrame:
    """Return the flows that count and have finished: all, the short ones or the long ones.

    Raises
    ------
    ParameterError
        If there is no such kind.
    """
    choice("kind", kind, get_args(Kind))
    counted = counted_flows(flows)
    done = counted[counted["finished"]]
    return done if kind == "all" else done[done["short"] == (kind == "short")]


def fct_percentile_s(flows: pd.DataFrame, percent: npt.ArrayLike, *, kind: Kind = "all") -> Any:
    """Return a percentile of completion times by nearest rank (:func:`capsmodel.metrics.percentile`), in seconds.

    Parameters
    ----------
    flows : DataFrame
        The flows table of a result.
    percent : array_like
        99 for the 99th percentile: 0, which is the least time, or in [1, 100]. What is between 0 and 1 is nearly always
        meant as the q of :func:`capsmodel.metrics.percentile`, so it is refused.
    kind : str
        ``all``, ``short`` or ``long``.

    Returns
    -------
    float or ndarray
        Of the shape of `percent`; NaN if no such flow has finished.

    Raises
    ------
    ParameterError
        If `percent` leaves its range or there is no such kind.

    Examples
    --------
    >>> flows = pd.DataFrame({"counted": True, "finished": True, "short": True, "fct_s": [1.0, 2.0, 3.0, 200.0]})
    >>> fct_percentile_s(flows, [50, 99]).tolist()
    [2.0, 200.0]
    """
    percents = np.asarray(percent, np.float64)
    inside = bool(np.all((percents == 0) | (percents >= 1) & (percents <= 100)))
    rule = "99 is the 99th percentile; below the 1st give capsmodel.metrics.percentile(times, q=percent/100)"
    require(inside, f"percent = {percent!r}, but it must be 0 or in [1, 100]: {rule}")
    read = flows[["counted", "finished", "short", "fct_s"]]
    return nearest_rank(finished_flows(read, kind=kind)["fct_s"], percent)


def nearest_rank(values: npt.ArrayLike, percent: npt.ArrayLike) -> Any:
    """Return percentiles by nearest rank, NaN of nothing."""
    percents, sample = np.asarray(percent, np.float64), np.asarray(values)
    if len(sample) == 0:
        return np.full(percents.shape, np.nan)[()]
    return percentile(sample, q=percents / 100)


def fct_cdf(flows: pd.DataFrame, *, kind: Kind = "all") -> pd.DataFrame:
    """Return the empirical distribution of completion times.

    Parameters
    ----------
    flows : DataFrame
        The flows table of a result.
    kind : str
        ``all``, ``short`` or ``long``.

    Returns
    -------
    DataFrame
        One row for each distinct completion time ``fct_s``, in order: ``cdf_prob`` is F(fct_s), the share of finished
        flows with at most this time. The last is 1. Draw it with steps that jump at ``fct_s`` (``where="post"``).

    Examples
    --------
    >>> flows = pd.DataFrame({"counted": True, "finished": True, "short": True, "fct_s": [3.0, 1.0, 1.0, 2.0]})
    >>> fct_cdf(flows)["cdf_prob"].tolist()
    [0.5, 0.75, 1.0]
    """
    times_s = finished_flows(flows, kind=kind)["fct_s"].to_numpy()
    values_s, counts = np.unique(times_s, return_counts=True)
    return pd.DataFrame({"fct_s": values_s, "cdf_prob": np.cumsum(counts) / len(times_s)})


def fct_by_size(flows: pd.DataFrame, edges_bytes: Sequence[float] = SIZE_EDGES_BYTES) -> pd.DataFrame:
    """Return completion times for each bin of flow sizes.

    Parameters
    ----------
    flows : DataFrame
        The flows table of a result.
    edges_bytes : sequence of float
        Edges of the bins in increasing order, at least two, in bytes; the last may be infinite. A bin holds the sizes
        above its lower edge up to its upper edge, that included, as a short flow is one of at most ``short_bytes``.

    Returns
    -------
    DataFrame
        One row for each bin: ``above_bytes`` and ``up_to_bytes``; ``flows``, how many count, and ``unfinished_flows``
        of them; over the finished ones ``mean_fct_s``, ``median_fct_s``, ``p95_fct_s``, ``p99_fct_s``,
        ``mean_slowdown`` and ``p99_slowdown`` (percentiles by nearest rank), NaN where none has finished. HPCC and Homa
        are evaluated by the last, over bins with equally many flows.

    Raises
    ------
    ParameterError
        If the edges do not increase.

    Examples
    --------
    >>> flows = pd.DataFrame(
    ...     {"counted": True, "finished": True, "short": [True, False], "flow_bytes": [100_000, 100_001]}
    ... ).assign(fct_s=[1e-3, 9e-3], slowdown=1.25)
    >>> fct_by_size(flows)["flows"].tolist()
    [1, 1, 0]
    """
    edges = np.asarray(edges_bytes, np.float64)
    rising = edges.ndim == 1 and len(edges) >= 2 and bool(np.all(np.diff(edges) > 0))
    require(rising, f"edges_bytes = {edges_bytes}, but it must be two or more numbers in increasing order")
    counted = counted_flows(flows)
    return pd.DataFrame([_bin(counted, low, high) for low, high in pairwise(edges.tolist())])


def slowdown_by_size(flows: pd.DataFrame, edges_bytes: Sequence[float]) -> pd.DataFrame:
    r"""Return slowdowns of the flows of several seeds together, for each bin of sizes and for all, with intervals.

    Parameters
    ----------
    flows : DataFrame
        Flows tables of the seeds, one below the other, with the column ``seed``; with the column ``weight`` each flow
        counts as so many.
    edges_bytes : sequence of float
        As of :func:`fct_by_size`.

    Returns
    -------
    DataFrame
        One row for each bin, the last for all sizes: ``above_bytes``, ``up_to_bytes``, ``flows``,
        ``unfinished_flows``; of ``mean``, ``p50``, ``p90`` and ``p99`` the value, ``mean_slowdown``, and
        ``mean_slowdown_half_width``, such that :math:`x e^{\pm h/x}` are the ends of the 95% interval of a value x with
        the half-width h. Commands print x ± h where h is below 0.3 x.

    Notes
    -----
    Percentiles are of the flows of all seeds together, by nearest rank: their mean over seeds is too low where a seed
    has few flows. A flow that has not finished counts as the longest; a mean with any is NaN. The interval is
    Student's, of the logarithms of the value in each seed, as times are positive; NaN of a single seed, or where a seed
    has no such flow.

    Examples
    --------
    >>> flows = pd.DataFrame({"counted": True, "finished": True, "flow_bytes": 9, "slowdown": [1.0, 2.0, 3.0, 4.0]})
    >>> table = slowdown_by_size(flows.assign(seed=[1, 1, 2, 2]), [0, 100])
    >>> table[["flows", "mean_slowdown", "p50_slowdown"]].to_numpy().tolist()
    [[4.0, 2.5, 2.0], [4.0, 2.5, 2.0]]
    """
    counted = counted_flows(flows)
    bins = [*pairwise(np.asarray(edges_bytes, np.float64).tolist()), (0.0, float("inf"))]
    return pd.DataFrame([_slowdown_bin(counted, low, high) for low, high in bins])


def _slowdown_bin(flows: pd.DataFrame, low: float, high: float) -> dict[str, Any]:
    ours = flows[(flows["flow_bytes"] > low) & (flows["flow_bytes"] <= high)]
    slowdown = ours["slowdown"].where(ours["finished"], np.inf)
    counted = ours[["seed"]].assign(slowdown=slowdown, weight=ours.get("weight", 1.0))
    whole = _slowdowns(counted)
    of_seeds = [_slowdowns(one) for _, one in counted.groupby("seed")]
    lacking = flows["seed"].nunique() - len(of_seeds)
    row: dict[str, Any] = {"above_bytes": low, "up_to_bytes": high, "flows": len(ours)}
    row["unfinished_flows"] = int((~ours["finished"]).sum())
    for name, value in whole.items():
        logs = np.log([one[name] for one in of_seeds])
        known = len(logs) >= 2 and not lacking and bool(np.isfinite(logs).all())
        interval = mean_interval(logs) if known else None
        row[name] = value
        row[f"{name}_half_width"] = np.nan if interval is None else value * interval.half_width
    return row


def _slowdowns(counted: pd.DataFrame) -> dict[str, float]:
    """Return weighted mean and percentiles, NaN where they are of flows that have not finished."""
    names = ("mean_slowdown", *(f"p{percent}_slowdown" for percent in _PERCENTS))
    if not len(counted):
        return dict.fromkeys(names, np.nan)
    slowdown, weight = counted.sort_values("slowdown")[["slowdown", "weight"]].to_numpy().T
    upto = np.cumsum(weight)
    ranks = np.searchsorted(upto, np.array(_PERCENTS) / 100 * upto[-1] * (1 - _ROUNDING))
    values = (np.average(slowdown, weights=weight), *slowdown[ranks])
    return {name: float(value) if np.isfinite(value) else np.nan for name, value in zip(names, values, strict=True)}


def _bin(flows: pd.DataFrame, low: float, high: float) -> dict[str, Any]:
    counted = flows[(flows["flow_bytes"] > low) & (flows["flow_bytes"] <= high)]
    done = counted[counted["finished"]]
    median_s, p95_s, p99_s = nearest_rank(done["fct_s"], [50, 95, 99])
    return {
        "above_bytes": low,
        "up_to_bytes": high,
        "flows": len(counted),
        "unfinished_flows": len(counted) - len(done),
        "mean_fct_s": done["fct_s"].mean(),
        "median_fct_s": median_s,
        "p95_fct_s": p95_s,
        "p99_fct_s": p99_s,
        "mean_slowdown": done["slowdown"].mean(),
        "p99_slowdown": nearest_rank(done["slowdown"], 99),
    }
