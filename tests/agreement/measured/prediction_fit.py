"""The fitted constants of predictions for ports that mark, fitted once more to cells that no comparison uses.

``PYTHONPATH=tests python -m agreement.measured.prediction_fit`` prints for each constant the value in use, the one that
fits best, and its standard error.

Least are the squares of the logarithms of formula over packets, of the mean of short flows and of the mean slowdown of
long ones, over DCTCP's cells of the group ``fit``. Noise from one setting to another is larger than that of a run, so
that the standard error is that of the jackknife over settings: each is left out in turn.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np
from agreement.measured.predicted_cells import LONG_BYTES, SHORT_BYTES, kept_rows
from agreement.measured.prediction_goals import cell_of, steady_slowdown
from scipy import optimize

from capsim.scenario.model_inputs import ModelInputs, model_inputs
from capsmodel.prediction import completion, waits

CONSTANTS: Mapping[str, Sequence[ModuleType]] = {"MARKED_SHARE": (waits,), "MARKED_USE": (waits, completion)}
"""Names of the constants that are fitted, and the modules that read them."""
_LEAST, _MOST = (0.1, 0.85), (2.0, 1.0)
_OF_SETTING = ("workload", "load")


def in_use() -> dict[str, float]:
    """Return the constants of the package."""
    return {name: float(getattr(modules[0], name)) for name, modules in CONSTANTS.items()}


def marked_rows() -> list[dict[str, Any]]:
    """Return the kept rows of the fit whose ports mark."""
    return [row for row in kept_rows() if row["group"] == "fit" and "dctcp" in row["scheme"]]


def _off(constants: Sequence[float], cells: Sequence[tuple[ModelInputs, Mapping[str, Any]]]) -> list[float]:
    """Return the logarithms of formula over packets, with other constants in their modules."""
    with ExitStack() as patched:
        for value, (name, modules) in zip(constants, CONSTANTS.items(), strict=True):
            for module in modules:
                patched.enter_context(patch.object(module, name, value))
        found = []
        for inputs, row in cells:
            prediction = inputs.predict(short_bytes=SHORT_BYTES, long_bytes=LONG_BYTES)
            found.append(np.log(prediction.short.mean_s / row["short_mean_s"]))
            found.append(np.log(prediction.long.mean_slowdown / steady_slowdown(row)))
    return found


def fitted(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the constants with the least squares of the logarithms of formula over packets."""
    cells = [(model_inputs(cell_of(row).scenario()), row) for row in rows]
    best = optimize.least_squares(_off, list(in_use().values()), bounds=(_LEAST, _MOST), diff_step=0.01, args=(cells,))
    return dict(zip(CONSTANTS, map(float, best.x), strict=True))


def standard_errors(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the standard errors of the fitted constants, by leaving out each setting in turn."""
    settings = sorted({tuple(row[name] for name in _OF_SETTING) for row in rows})
    left_out = [fitted([row for row in rows if tuple(row[name] for name in _OF_SETTING) != one]) for one in settings]
    count = len(settings)
    return {name: float(np.sqrt((count - 1) * np.var([each[name] for each in left_out]))) for name in CONSTANTS}


def table() -> list[str]:
    """Return the lines of a table of the constants."""
    rows = marked_rows()
    best, errors = fitted(rows), standard_errors(rows)
    lines = ["| constant | in use | fitted | standard error |", "|---|---|---|---|"]
    return lines + [
        f"| `{name}` | {used:g} | {best[name]:.2f} | {errors[name]:.2f} |" for name, used in in_use().items()
    ]


if __name__ == "__main__":
    print("\n".join(table()))
