r"""Units that decode from their unblocked packets, counted in simulated packets.

==================================  =========  ============================  ====  =======================
Quantity                            Symbol     Name                          Unit  Equation
==================================  =========  ============================  ====  =======================
units decoded, of how many          p_S        :func:`decoded_units`         1     caps Eq. 2, Fig. 6(c), 8(c)
same, by path and by time           p_S        :func:`decoding_two_ways`     1     caps Eq. 2
==================================  =========  ============================  ====  =======================

The path of each packet is independent and long flows keep theirs, so the closed form has no bias here.
"""

from typing import Any

import numpy as np
from pandas import DataFrame

from capsim.run.coding_units import (
    AT_ONCE,
    run_units,
    unblocked_packets,
    units_in_time,
)
from capsmodel.coding.caps_setting import WINDOW_PACKETS
from capsmodel.experiments.measurement import measurement

_MOST_PACKETS = 100


@measurement("decoded-units", revision=1)
def decoded_units(
    k: int,
    *,
    r: int,
    n_paths: int,
    long_flows: int,
    units: int,
    seed: int,
    codes: tuple[str, ...] = ("mds",),
    engine: str = "compiled",
) -> DataFrame:
    """Return for each code how many units it recovers from the packets that crossed paths without a long flow.

    Parameters
    ----------
    k, r : int
        Source packets, at most a window, and repair packets of a unit, packets.
    n_paths, long_flows : int
        Parallel paths, and how many of them carry a long flow, at most 4.
    units : int
        Least number of units; the last window is filled up.
    seed : int
        Seed of the run.
    codes : sequence of str
        As in :func:`~capsmodel.papers.measurements.real_codes.decoded`; all see the same packets.
    engine : str
        ``"compiled"`` or ``"reference"``.
    """
    from capsmodel.papers.measurements.real_codes import decoded  # loads Numba

    # So few that the queues of 20 hosts empty before the next windows start.
    per_window = max(1, min(WINDOW_PACKETS // k, _MOST_PACKETS // (k + r)))
    windows = -(-units // per_window)
    result = run_units(
        k, r=r, n_paths=n_paths, long_flows=long_flows, windows=windows, window_packets=per_window * k,
        at_once=min(windows, AT_ONCE), seed=seed, trace=True, engine=engine,
    )  # fmt: skip
    arrived = unblocked_packets(result, long_flows=long_flows)
    counts = [int(decoded(code, arrived, k=k, seed=seed).sum()) for code in codes]
    return DataFrame({"code": list(codes), "successes": counts, "trials": len(arrived)})


@measurement("decoding-two-ways", revision=1)
def decoding_two_ways(k: int, *, r: int, n_paths: int, long_flows: int, windows: int, seed: int) -> dict[str, Any]:
    """Return how many units have k unblocked packets, how many decoded in time, and how many did both."""
    packets = WINDOW_PACKETS // k * k
    result = run_units(
        k, r=r, n_paths=n_paths, long_flows=long_flows, windows=windows, window_packets=packets, seed=seed, trace=True
    )
    by_path, by_time = unblocked_packets(result, long_flows=long_flows).sum(axis=1) >= k, units_in_time(result)
    both = int(np.sum(by_path & by_time))
    return {"units": by_path.size, "by_path": int(by_path.sum()), "by_time": int(by_time.sum()), "both": both}
