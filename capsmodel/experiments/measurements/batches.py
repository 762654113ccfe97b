"""Columns of rows that hold the mean of a long run, with what a comparison needs to know of it."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from capsmodel.experiments.agreement import MeanAndError
from capsmodel.experiments.steady_state import batch_means

__all__ = ["BATCHES", "batch_columns", "batch_mean"]

BATCHES = 40


def batch_columns(**runs: npt.ArrayLike) -> dict[str, float]:
    """Return the mean of each run, its standard error by batch means, and the degrees of freedom of the errors.

    Parameters
    ----------
    **runs : array_like
        Observations in order, without the start; the name is that of the column and ends with the unit.

    Returns
    -------
    dict
        ``name`` and ``error_name`` for each run, and ``degrees_of_freedom``; :func:`batch_mean` reads them. The error
        of a run that does not vary is unknown, NaN: nothing happened that could happen.

    Examples
    --------
    >>> row = batch_columns(wait_s=np.arange(80.0) % 7)
    >>> list(row), row["wait_s"]
    (['wait_s', 'error_wait_s', 'degrees_of_freedom'], 2.925)
    """
    columns: dict[str, float] = {}
    for name, run in runs.items():
        samples = np.asarray(run, float)
        if np.ptp(samples) == 0:
            columns |= {name: float(samples[0]), f"error_{name}": float("nan")}
        else:
            found = batch_means(samples, batches=BATCHES)
            columns |= {name: found.value, f"error_{name}": found.standard_error}
    return columns | {"degrees_of_freedom": BATCHES - 1}


def batch_mean(row: Mapping[str, Any], name: str) -> MeanAndError:
    """Return a mean that :func:`batch_columns` put into a row, as samples for a comparison.

    Parameters
    ----------
    row : mapping
        Row of a table, or a dict.
    name : str
        Column.

    Examples
    --------
    >>> batch_mean(batch_columns(wait_s=np.arange(80.0) % 7), "wait_s").degrees_of_freedom
    39.0
    """
    return MeanAndError(
        mean=float(row[name]),
        standard_error=float(row[f"error_{name}"]),
        degrees_of_freedom=float(row["degrees_of_freedom"]),
    )
