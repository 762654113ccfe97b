"""Completion times of a run beside what the closed forms say of its steady state.

======================= ============================================================== ====
Quantity                Definition                                                     Unit
======================= ============================================================== ====
`short_mean_s`          mean completion time of flows of at most `short_bytes`         s
`short_p99_s`           their 99th percentile                                          s
`long_mean_slowdown`    mean of completion time over ideal time, above `LONG_BYTES`    1
`long_p99_slowdown`     its 99th percentile                                            1
======================= ============================================================== ====

Long flows of a prediction are above `LONG_BYTES`, so large that others come and go beside them; long flows of a summary
are all that are not short.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from capsim.scenario.model_inputs import model_inputs
from capsim.scenario.scenario import Scenario
from capsmodel.metrics import percentile
from capsmodel.prediction.completion import LONG_BYTES, Prediction

if TYPE_CHECKING:
    import pandas as pd

QUANTITIES = {
    "short_mean_s": "short flows, mean",
    "short_p99_s": "short flows, 99th percentile",
    "long_mean_slowdown": "long flows, mean slowdown",
    "long_p99_slowdown": "long flows, 99th percentile of the slowdown",
}


def predicted(prediction: Prediction) -> dict[str, Any]:
    """Return the quantities of a prediction, over its loads."""
    short, long = prediction.short, prediction.long
    values = (short.mean_s, short.quantile_s(0.99), long.mean_slowdown, long.quantile_slowdown(0.99))
    return dict(zip(QUANTITIES, values, strict=True))


def simulated(flows: "pd.DataFrame", *, short_bytes: int) -> dict[str, float]:
    """Return the quantities of a table of flows: of those that count, and that are complete; NaN where there is none.

    Where a counted flow is not complete the values are too low, which the summary of the run says.
    """
    ended = flows[flows["counted"] & flows["finished"]]
    short_s = ended.loc[ended["flow_bytes"] <= short_bytes, "fct_s"].to_numpy()
    slowdown = ended.loc[ended["flow_bytes"] > LONG_BYTES, "slowdown"].to_numpy()
    quantities = [value for each in (short_s, slowdown) for value in _mean_and_p99(each)]
    return dict(zip(QUANTITIES, quantities, strict=True))


def _mean_and_p99(values: Any) -> tuple[float, float]:
    return (float(values.mean()), float(percentile(values, q=0.99))) if len(values) else (np.nan, np.nan)


def beside(scenario: Scenario, flows: "pd.DataFrame") -> "pd.DataFrame":
    """Return a row for each quantity: what is predicted, what was simulated, their ratio, and what the former rests on.

    Raises
    ------
    ParameterError
        If a part of the scenario has no formula.
    """
    import pandas as pd  # takes half a second to load, which a prediction without packets does not need

    thresholds = {"short_bytes": scenario.short_bytes, "long_bytes": LONG_BYTES}
    prediction = model_inputs(scenario).predict(**thresholds)
    table = pd.DataFrame({"predicted": predicted(prediction)})
    table["simulated"] = pd.Series(simulated(flows, short_bytes=scenario.short_bytes))
    table["ratio"] = table["predicted"] / table["simulated"]
    table["rests_on"] = [prediction.rests_on[name.partition("_")[0]] for name in table.index]
    return table.rename_axis("quantity").reset_index()
