"""Columns of a mean, its standard error and its degrees of freedom, as a comparison needs them.

A mean stands in the column ``name``, which ends with its unit, its standard error in ``error_name``, and the degrees of
freedom of all errors of a row in ``degrees_of_freedom``. :func:`mean_in_row` reads the three. The error of samples that
do not vary is unknown, NaN.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from capsmodel.checks import FloatArray, require
from capsmodel.experiments.agreement import MeanAndError
from capsmodel.experiments.statistics.intervals import MeanInterval, batch_means, mean_interval

__all__ = ["BATCHES", "batch_columns", "mean_in_row", "replicate_columns"]

BATCHES = 40


def _column(name: str, samples: FloatArray, interval: MeanInterval | None) -> dict[str, float]:
    if interval is None:
        return {name: float(samples.flat[0]), f"error_{name}": float("nan")}
    return {name: interval.value, f"error_{name}": interval.standard_error}


def batch_columns(**runs: npt.ArrayLike) -> dict[str, float]:
    """Return the columns of the means of runs, with errors by batch means.

    Parameters
    ----------
    **runs : array_like
        Observations in order, without the warm-up, under the name of their column.

    Examples
    --------
    >>> row = batch_columns(wait_s=np.arange(80.0) % 7)
    >>> list(row), row["wait_s"]
    (['wait_s', 'error_wait_s', 'degrees_of_freedom'], 2.925)
    """
    columns: dict[str, float] = {}
    for name, run in runs.items():
        samples = np.asarray(run, float)
        columns |= _column(name, samples, batch_means(samples, batches=BATCHES) if np.ptp(samples) else None)
    return columns | {"degrees_of_freedom": BATCHES - 1}


def replicate_columns(**replicates: npt.ArrayLike) -> dict[str, float]:
    """Return the columns of the means of independent replicates.

    Parameters
    ----------
    **replicates : array_like
        One value for each replicate, as many for each name, under the name of their column.

    Raises
    ------
    ParameterError
        If there are fewer than two replicates, or not the same number for each name.

    Examples
    --------
    >>> replicate_columns(window_packets=[4.0, 6.0])
    {'window_packets': 5.0, 'error_window_packets': 1.0, 'degrees_of_freedom': 1}
    """
    columns: dict[str, float] = {}
    samples = {name: np.ravel(np.asarray(values, float)) for name, values in replicates.items()}
    sizes = {values.size for values in samples.values()}
    rule = f"there are {sorted(sizes)} replicates, but a mean needs two or more, and as many for each name"
    require(len(sizes) == 1 and min(sizes) > 1, rule)
    for name, values in samples.items():
        columns |= _column(name, values, mean_interval(values) if np.ptp(values) else None)
    return columns | {"degrees_of_freedom": sizes.pop() - 1}


def mean_in_row(row: Mapping[str, Any], name: str) -> MeanAndError:
    """Return a mean that a row holds, as samples for a comparison.

    Parameters
    ----------
    row : mapping
        Row of a table, or a dict.
    name : str
        Column.

    Examples
    --------
    >>> mean_in_row(batch_columns(wait_s=np.arange(80.0) % 7), "wait_s").degrees_of_freedom
    39.0
    """
    return MeanAndError(
        mean=float(row[name]),
        standard_error=float(row[f"error_{name}"]),
        degrees_of_freedom=float(row["degrees_of_freedom"]),
    )
