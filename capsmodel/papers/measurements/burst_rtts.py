"""RTTs of short flows that come in bursts, averaged and smoothed, and the blocking probability found from each.

==================================  ====================  =======  ==============================
Quantity                            Column                Unit     Equation
==================================  ====================  =======  ==============================
mean RTT of a sampling period       rtt_average_s         s        caps Fig. 19
smoothed RTT                        rtt_smoothed_s        s        caps u (IX-C) smoothed RTT
RTT above twice the average         twice_average_prob    1        caps u (VI-A, VI-B)
RTT above twice the smoothed RTT    twice_smoothed_prob   1        caps u (IX-C) smoothed RTT
==================================  ====================  =======  ==============================

The set-up is the preset ``caps-bursts``; its notes list what the paper leaves open and what was chosen.
"""

from dataclasses import replace
from typing import Literal, get_args

import msgspec
import pandas as pd

from capsim import load_scenario, scheme, simulate
from capsim.protocols.layers.none import NO_LAYER
from capsmodel.checks import choice
from capsmodel.experiments.measurement import measurement
from capsmodel.papers.measurements.blocking_estimators import first_packets, in_periods

__all__ = ["burst_distances", "burst_periods"]

Estimate = Literal["smoothed", "average"]

# The packets of a coding unit have the same segment number in the trace, so the RTT of each is not known.
_CAPS = scheme("caps")
UNCODED = replace(_CAPS, name="caps_uncoded", summary="CAPS without coding", short=replace(_CAPS.short, layer=NO_LAYER))


@measurement("burst-periods", revision=1)
def burst_periods(bursts_per_s: float, *, seed: int) -> pd.DataFrame:
    """Simulate the preset ``caps-bursts`` without coding; return a row for each sampling period with 20 ACKs or more.

    Parameters
    ----------
    bursts_per_s : float
        Rate of the Poisson process of bursts, per second.
    seed : int
        Seed of the run.

    Returns
    -------
    pandas.DataFrame
        As :func:`~capsmodel.papers.measurements.blocking_estimators.in_periods`, RTTs of all short flows pooled.
    """
    base = load_scenario("caps-bursts")
    long, short = base.traffic
    changed = msgspec.structs.replace(short, mean_off_s=1 / bursts_per_s)
    scenario = base.replace(traffic=(long, changed), seed=seed, trace="packets")
    return in_periods(first_packets(simulate(scenario, scheme=UNCODED, progress=None)))


@measurement("burst-distances", revision=1)
def burst_distances(bursts_per_s: float, *, estimate: Estimate, seed: int) -> dict[str, float]:
    """Return by which factor an estimate is typically off that from the average RTT of the period.

    Parameters
    ----------
    bursts_per_s, seed
        As :func:`burst_periods`.
    estimate : str
        ``smoothed``, or ``average``, which is off by no factor and takes no run.

    Returns
    -------
    dict
        `rtt_factor`, 1 and the mean over periods of the relative distance of the RTT from the average; `prob_factor`, 1
        and the mean distance of the blocking probability, relative to the mean of that from the average.
    """
    choice("estimate", estimate, get_args(Estimate))
    if estimate == "average":
        return {"rtt_factor": 1.0, "prob_factor": 1.0}
    rows = burst_periods(bursts_per_s, seed=seed)
    rtt = (rows["rtt_smoothed_s"] / rows["rtt_average_s"] - 1).abs().mean()
    prob = (rows["twice_smoothed_prob"] - rows["twice_average_prob"]).abs().mean() / rows["twice_average_prob"].mean()
    return {"rtt_factor": float(1 + rtt), "prob_factor": float(1 + prob)}
