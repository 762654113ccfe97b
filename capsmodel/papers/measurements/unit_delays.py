r"""Delays of windows sent in coding units, in simulated packets.

==================================  =========  ============================  ====  ====================
Quantity                            Symbol     Name                          Unit  Equation
==================================  =========  ============================  ====  ====================
delays of windows, one by one       d_w        :func:`window_delays`         s     caps Eq. 4, Fig. 8(d)
their means, with intervals         d_w        :func:`mean_window_delays`    s     caps Eq. 4, Fig. 8(d)
wait for a unit to be complete      d_B        :func:`lone_unit_waits`       s     caps Eq. 3
==================================  =========  ============================  ====  ====================

CAPS calls d_w the average decoding delay of a window and does not say over what. Both interpretations are measured:
the time until all of the window is acknowledged, and the mean over its packets of the time until they are delivered in
order.
"""

from typing import Any

from pandas import DataFrame

from capsim.run.coding_units import (
    mean_packet_delays_s,
    run_units,
    unit_waits_s,
    window_delays_s,
)
from capsmodel.experiments.measurement import measurement
from capsmodel.experiments.statistics.intervals import mean_interval


@measurement("window-delays", revision=1)
def window_delays(
    k: int, *, r: int, n_paths: int, long_flows: int, windows: int, seed: int, engine: str = "compiled"
) -> DataFrame:
    """Return the delays of windows of 64 packets that start 5 ms apart, a row each.

    Nothing of a window is left when the next one starts, and long flows keep a fixed window, so rows are independent.

    Parameters
    ----------
    k, r : int
        Source and repair packets of a full unit, packets; repair packets of a last, smaller one in proportion.
    n_paths, long_flows : int
        Parallel paths, and how many of them carry a long flow, at most 4.
    windows : int
        Rows.
    seed : int
        Seed of the run.
    engine : str
        ``"compiled"`` or ``"reference"``.

    Returns
    -------
    DataFrame
        ``window_delay_s``, to the last acknowledgement, and ``packet_delay_s``, mean over packets to their in-order
        delivery, s.
    """
    result = run_units(k, r=r, n_paths=n_paths, long_flows=long_flows, windows=windows, seed=seed, engine=engine)
    return DataFrame({"window_delay_s": window_delays_s(result), "packet_delay_s": mean_packet_delays_s(result)})


@measurement("mean-window-delays", revision=1)
def mean_window_delays(
    k: int, *, r: int, n_paths: int, long_flows: int, windows: int, seed: int, engine: str = "compiled"
) -> dict[str, float]:
    """Return both means of :func:`window_delays`, of the same arguments, with the ends of their 95% intervals, s."""
    delays = window_delays(k, r=r, n_paths=n_paths, long_flows=long_flows, windows=windows, seed=seed, engine=engine)
    row: dict[str, float] = {}
    for name in ("window_delay", "packet_delay"):
        interval = mean_interval(delays[f"{name}_s"])
        row |= {f"{name}_s": interval.value, f"{name}_low_s": interval.low, f"{name}_high_s": interval.high}
    return row


@measurement("lone-unit-waits", revision=1)
def lone_unit_waits(k: int, *, units: int, seed: int, engine: str = "compiled") -> dict[str, Any]:
    """Return the least and the largest mean wait of a unit's packets, in seconds: one unit at a time, no long flow."""
    result = run_units(
        k, r=0, n_paths=10, long_flows=0, windows=units, seed=seed, window_packets=k, trace=True, engine=engine
    )
    waits_s = unit_waits_s(result)
    return {"units": waits_s.size, "least_wait_s": float(waits_s.min()), "largest_wait_s": float(waits_s.max())}
