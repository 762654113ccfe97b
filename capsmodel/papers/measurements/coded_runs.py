r"""One run of an experiment about coding in CAPS in one row: what ``experiment_run`` has, and what coding costs.

===================================== ============== ==============================
Quantity                              Column         Unit
===================================== ============== ==============================
time until a source packet is decoded `decode_s`     s, a mean, caps Fig. 21(b)
repair packets over all data packets  `repair_share` 1, caps Fig. 24
===================================== ============== ==============================

The time of a source packet is that of its unit, from when the first packet of it was sent until it was decoded.
"""

from typing import Any

import numpy as np

from capsmodel.experiments.measurement import measurement
from capsmodel.papers.measurements.experiment_runs import columns_of, finished_run

__all__ = ["coded_run"]


@measurement("coded-run", revision=1)
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
    waits_s = units["decoded_s"] - units["sent_s"]
    return columns_of(result) | {
        "decode_s": float(np.average(waits_s, weights=units["k"])),
        "repair_share": float(flows["repair_packets"].sum() / flows["packets_sent"].sum()),
    }
