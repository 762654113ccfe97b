"""The fitted constants of predictions, fitted to cells that no comparison uses.

``PYTHONPATH=tests python -m agreement.measured.prediction_fit`` writes for each constant the value in use, the one that
fits best, and its standard error, a table of ``docs/prediction.md``.

Least are the squares of the logarithms of formula over packets, of the mean of short flows and of the mean slowdown of
long ones, over the cells of the group ``fit`` of the schemes that a constant is for. Noise from one setting to another
is larger than that of a run, so that the standard error is that of the jackknife over settings: each is left out in
turn. `QUEUE_KEPT` is not fitted to completion times: it is measured on queues of the same fabric (`queue_memory`).
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

import numpy as np
from agreement.measured.predicted_cells import LONG_BYTES, SHORT_BYTES, kept_rows
from agreement.measured.prediction_goals import cell_of, steady_slowdown
from agreement.measured.queue_memory import SETTINGS, correlations, kept_share
from page_tables import Table, write_table
from scipy import optimize

from capsim.scenario.model_inputs import ModelInputs, model_inputs
from capsmodel.prediction import completion, start, waits

FITS: Mapping[str, Sequence[str]] = {"dctcp": ("MARKED_SHARE", "MARKED_USE"), "uet": ("DELAY_USE",)}
"""The constants that are fitted together, by a part of the names of schemes that they are for."""
_MODULES = (waits, completion)  # which read them
_BOUNDS = {"MARKED_SHARE": (0.1, 2.0), "MARKED_USE": (0.85, 1.0), "DELAY_USE": (0.85, 1.0)}
_OF_SETTING = ("workload", "load")


def rows_of(scheme: str) -> list[dict[str, Any]]:
    """Return the kept rows of the fit whose scheme has a part of that name."""
    return [row for row in kept_rows() if row["group"] == "fit" and scheme in row["scheme"]]


def _off(
    values: Sequence[float], names: Sequence[str], cells: Sequence[tuple[ModelInputs, Mapping[str, Any]]]
) -> list[float]:
    """Return the logarithms of formula over packets, with other values of the constants."""
    with ExitStack() as patched:
        for value, name in zip(values, names, strict=True):
            for module in _MODULES:
                if hasattr(module, name):
                    patched.enter_context(patch.object(module, name, value))
        found = []
        for inputs, row in cells:
            prediction = inputs.predict(short_bytes=SHORT_BYTES, long_bytes=LONG_BYTES)
            found.append(np.log(prediction.short.mean_s / row["short_mean_s"]))
            found.append(np.log(prediction.long.mean_slowdown / steady_slowdown(row)))
    return found


def fitted(names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> list[float]:
    """Return the values of constants with the least squares of the logarithms of formula over packets."""
    cells = [(model_inputs(cell_of(row).scenario()), row) for row in rows]
    first = [getattr(waits, name) for name in names]
    bounds = tuple(zip(*(_BOUNDS[name] for name in names), strict=True))
    best = optimize.least_squares(_off, first, bounds=bounds, diff_step=0.01, args=(names, cells))
    return [float(value) for value in best.x]


def standard_errors(names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> list[float]:
    """Return the standard errors of fitted constants, by leaving out each setting in turn."""
    settings = sorted({tuple(row[name] for name in _OF_SETTING) for row in rows})
    left_out = [
        fitted(names, [row for row in rows if tuple(row[name] for name in _OF_SETTING) != one]) for one in settings
    ]
    return [float(each) for each in np.sqrt((len(settings) - 1) * np.var(left_out, axis=0))]


def fit_table() -> Table:
    """Return the table of the constants."""
    table = [["constant", "in use", "fitted", "standard error"]]
    for scheme, names in FITS.items():
        rows = rows_of(scheme)
        for name, best, error in zip(names, fitted(names, rows), standard_errors(names, rows), strict=True):
            table.append([name, f"{getattr(waits, name):g}", f"{best:.2f}", f"{error:.2f}"])
    shares = [kept_share(correlations(profile, scheme)) for profile, scheme in SETTINGS]
    error = np.std(shares, ddof=1) / np.sqrt(len(shares))
    return [*table, ["QUEUE_KEPT", f"{start.QUEUE_KEPT:g}", f"{np.mean(shares):.2f}", f"{error:.2f}"]]


if __name__ == "__main__":
    write_table("prediction_fit", fit_table())
