r"""Coding units beside long flows, one number a run: simulated, or as the closed form has it.

=======================================  ======  ===========================  =======  ====================
Quantity                                 Symbol  Column                       Unit     Equation
=======================================  ======  ===========================  =======  ====================
units decoded from unblocked packets     p_S     ``decode_prob``              1        caps Fig. 6(c)
the same, or the mean delay of a window  p_S     ``unit_value``               1, s     caps Fig. 8(c), 8(d)
unit of the least delay of a window      k       ``window_delay_fastest_k``   packets  caps Fig. 8(d)
=======================================  ======  ===========================  =======  ====================

A packet is blocked when it crosses the path of a long flow, each on a path of its own; long flows make a third of the
paths of Fig. 8 slow. Windows have 64 packets, which no unit exceeds.
"""

from typing import Any, Literal, get_args

import numpy as np

from capsmodel.checks import choice
from capsmodel.coding.caps_setting import SETTING, WINDOW_PACKETS
from capsmodel.coding.decoding import decode_prob
from capsmodel.coding.optimal_unit import delay_curve
from capsmodel.coding.redundancy import repair_packets
from capsmodel.coding.unit_parameters import Objective
from capsmodel.coding.window_delay import window_delay_s
from capsmodel.experiments.measurement import measurement
from capsmodel.papers.measurements.unit_decoding import decoded_units
from capsmodel.papers.measurements.unit_delays import window_delays

__all__ = ["decoded_share", "fastest_unit", "unit_quantity"]

Quantity = Literal["decode_prob", "window_delay_s", "packet_delay_s"]
By = Literal["simulation", "formula"]


@measurement("decoded-share", revision=1)
def decoded_share(k: int, *, r: int, n_paths: int, long_flows: int, units: int, seed: int) -> dict[str, float]:
    """Return the share `decode_prob` of units that decode from the packets that are not blocked.

    Parameters
    ----------
    k, r, n_paths, long_flows, units, seed
        As :func:`~capsmodel.papers.measurements.unit_decoding.decoded_units`.
    """
    (row,) = decoded_units(
        k, r=r, n_paths=n_paths, long_flows=long_flows, units=units, seed=seed
    ).to_dict("records")  # fmt: skip
    return {"decode_prob": row["successes"] / row["trials"]}


def _repair(objective: Objective, k: int, blocking_prob: float) -> int:
    if objective == "eq4":
        return int(repair_packets(k, blocking_prob=blocking_prob))
    return int(delay_curve(WINDOW_PACKETS, blocking_prob=blocking_prob, **SETTING).r[k - 1])


@measurement("unit-quantity", revision=1)
def unit_quantity(
    k: int, *, quantity: Quantity, by: By, objective: Objective, n_paths: int, long_flows: int, runs: int, seed: int
) -> dict[str, float]:
    """Return what a unit of k packets has, simulated or by the closed form, as `unit_value`.

    Parameters
    ----------
    k : int
        Source packets of a unit, 1 to 64.
    quantity : str
        ``decode_prob``, the share of units that decode from unblocked packets; ``window_delay_s``, the mean delay of a
        window until its last acknowledgement; ``packet_delay_s``, the mean over its packets until their delivery in
        order, in seconds. The formula is of p_S for the first and of d_w for both delays.
    by : str
        ``simulation`` or ``formula``.
    objective : str
        What chooses the repair packets, and the formula of the delay: ``eq4``, by the ceiling rule, or
        ``with_redundancy_cost``.
    n_paths, long_flows : int
        Parallel paths, and how many of them carry a long flow, at most 4.
    runs : int
        Units, or windows, that are simulated.
    seed : int
        Seed of the run.
    """
    choice("quantity", quantity, get_args(Quantity))
    choice("by", by, get_args(By))
    prob = long_flows / n_paths
    r = _repair(objective, k, prob)
    if by == "formula":
        if quantity == "decode_prob":
            return {"unit_value": float(decode_prob(k, r=r, blocking_prob=prob))}
        window: dict[str, Any] = {"window_packets": WINDOW_PACKETS, "blocking_prob": prob, **SETTING}
        return {"unit_value": float(window_delay_s(k, r=r, objective=objective, **window))}
    if quantity == "decode_prob":
        shares = decoded_share(k, r=r, n_paths=n_paths, long_flows=long_flows, units=runs, seed=seed)
        return {"unit_value": shares["decode_prob"]}
    delays = window_delays(k, r=r, n_paths=n_paths, long_flows=long_flows, windows=runs, seed=seed)
    return {"unit_value": float(delays[quantity].mean())}


SIZES = (1, 2, 3, 4, 6, *range(8, 61, 4), 61, 62, 64)
"""Units among which the fastest is looked for, packets."""


@measurement("fastest-unit", revision=1)
def fastest_unit(*, objective: Objective, n_paths: int, long_flows: int, windows: int, seed: int) -> dict[str, float]:
    """Return which unit of `SIZES` has the least mean delay of a window, and whether it is inside of these.

    Parameters
    ----------
    objective, n_paths, long_flows, seed
        As :func:`unit_quantity`.
    windows : int
        Windows that are simulated for each size.

    Returns
    -------
    dict
        Of both delays of :func:`unit_quantity`: ``window_delay_fastest_k`` and ``window_delay_is_u_shaped``, 1 if it is
        neither the smallest nor the largest unit, else 0; likewise ``packet_delay``.
    """
    delays = [
        window_delays(
            k,
            r=_repair(objective, k, long_flows / n_paths),
            n_paths=n_paths,
            long_flows=long_flows,
            windows=windows,
            seed=seed,
        ).mean()
        for k in SIZES
    ]
    row: dict[str, float] = {}
    for name in ("window_delay", "packet_delay"):
        place = int(np.argmin([one[f"{name}_s"] for one in delays]))
        row |= {f"{name}_fastest_k": SIZES[place], f"{name}_is_u_shaped": float(0 < place < len(SIZES) - 1)}
    return row
