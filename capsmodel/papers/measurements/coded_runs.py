r"""One run of an experiment about coding in CAPS in one row: what ``experiment_run`` has, and what coding costs.

===================================== =================== ==============================
Quantity                              Column              Unit
===================================== =================== ==============================
time until a source packet is decoded `decode_s`          s, a mean, caps Fig. 21(b)
same, and all before it in its flow   `decode_in_order_s` s, a mean
repair packets over all data packets  `repair_share`      1, caps Fig. 24
===================================== =================== ==============================

The times of a source packet are those of its unit, from when the first packet of it was sent.
"""

from typing import Any

import numpy as np
import pandas as pd

from capsmodel.experiments.measurement import measurement
from capsmodel.papers.measurements.experiment_runs import columns_of, finished_run

__all__ = ["coded_run"]


@measurement("coded-run", revision=2)
def coded_run(
    scenario: dict[str, Any], *, recovery: str = "newreno", seed: int, engine: str = "compiled"
) -> dict[str, Any]:
    """Simulate a scenario.

    Parameters
    ----------
    scenario, recovery, seed, engine
        As of :func:`~capsmodel.papers.measurements.experiment_runs.experiment_run`; the scheme codes.

    Returns
    -------
    dict
        Its columns and those of the table above.

    Raises
    ------
    ParameterError
        If flows are unfinished.
    """
    result = finished_run(scenario, recovery=recovery, seed=seed, engine=engine)
    units, flows = result.units[result.units["decoded_s"].notna()], result.flows
    return columns_of(result) | {
        "decode_s": _mean_wait_s(units, units["decoded_s"]),
        "decode_in_order_s": _mean_wait_s(units, units.groupby("flow")["decoded_s"].cummax()),
        "repair_share": float(flows["repair_packets"].sum() / flows["packets_sent"].sum()),
    }


def _mean_wait_s(units: pd.DataFrame, until_s: "pd.Series[float]") -> float:
    """Return the mean over source packets of the time from when their unit is sent until a time of the unit."""
    return float(np.average(until_s - units["sent_s"], weights=units["k"]))
