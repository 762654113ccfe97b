r"""Coding units sent through packet simulation, and the quantities measured in one run.

==================================  =========  ==============================  =======  ==================
Quantity                            Symbol     Name                            Unit     Equation
==================================  =========  ==============================  =======  ==================
packets not blocked                 --         :func:`unblocked_packets`       1        caps Fig. 6(c)
units that decode without others    --         :func:`units_in_time`           1        caps Fig. 8(c)
delay of a window, as simulated     d_w        :func:`window_delays_s`         s        caps Fig. 8(d)
same, mean over its packets         d_w        :func:`mean_packet_delays_s`    s        caps Fig. 8(d)
wait for a unit, as simulated       d_B        :func:`unit_waits_s`            s        caps Eq. 3
==================================  =========  ==============================  =======  ==================

The set-up is the preset ``caps-units``; its notes list what the paper leaves open and what was chosen. Tasks of a sweep
are in :mod:`~capsmodel.papers.measurements.unit_decoding`, ``unit_delays`` and ``unit_overhead``.
"""

from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from capsim import Balancer, Listed, Result, Scenario, Scheme, Trace, load_scenario, scheme, simulate
from capsmodel.checks import require
from capsmodel.coding.caps_setting import SETTING, WINDOW_PACKETS
from capsmodel.papers.measurements._packets import MSS_BYTES

__all__ = [
    "AT_ONCE",
    "FABRIC",
    "MSS_BYTES",
    "PINNED",
    "START_S",
    "WINDOW_PACKETS",
    "listed_flows",
    "mean_packet_delays_s",
    "pinned",
    "run_units",
    "unblocked_packets",
    "unit_waits_s",
    "units_in_time",
    "units_scenario",
    "window_delays_s",
]

FABRIC = SETTING
"""The setting of CAPS Section VI-D, which the preset builds, as arguments of :mod:`capsmodel.coding.optimal_unit`."""
START_S = 0.02
AT_ONCE = 20
"""Hosts that send windows; four more send long flows."""
_LONG_HOSTS = 4
_NEVER_S = 1e6


def _pin_long_spray_short(
    params: Any, own: Any, switch: Any, sub: Any, packet: Any, ports: Any, candidates: Any, now_ps: int, u0: float
) -> int:
    """Send the long flow of host h over path h, and each packet of a short flow over a random path."""
    return int(u0 * len(candidates)) if sub.short else sub.src % len(candidates)


def pinned(name: str) -> Scheme:
    """Return a scheme with short flows sprayed at random and each long flow on its own path, marked as long."""
    balancer = Balancer(name="pinned", choose=_pin_long_spray_short, draws=True, reads_queues=False)
    summary = "coded and sprayed short flows, each long flow on its own path"
    return replace(scheme(name), name=f"{name}_pinned", summary=summary, balancer=balancer, known_sizes=True)


PINNED = pinned("caps_decode")
"""The decoding that the formulas describe: packets wait until k have arrived, and the unit is then delivered to TCP."""


def listed_flows(packets: int, *, long_flows: int, flows: int, at_once: int, spacing_s: float) -> Listed:
    """Return long flows from the first hosts, and short ones of `packets` from the others, `at_once` at a time.

    Raises
    ------
    ParameterError
        If there are more long flows or short ones at once than hosts for them.
    """
    require(long_flows <= _LONG_HOSTS, f"long_flows = {long_flows}, but {_LONG_HOSTS} hosts send them")
    require(at_once <= AT_ONCE, f"at_once = {at_once}, but {AT_ONCE} hosts send windows")
    hosts = _LONG_HOSTS + AT_ONCE
    long = [(host, host + hosts, 10**9, 0.0) for host in range(long_flows)]
    senders = np.arange(flows) % AT_ONCE + _LONG_HOSTS
    start_s = START_S + np.arange(flows) // at_once * spacing_s
    rows = zip(senders.tolist(), start_s.tolist(), strict=True)
    return Listed(flows=tuple(long + [(host, host + hosts, packets * MSS_BYTES, start) for host, start in rows]))


def units_scenario(
    k: int,
    *,
    r: int,
    n_paths: int,
    long_flows: int,
    windows: int,
    seed: int,
    window_packets: int = WINDOW_PACKETS,
    at_once: int = 1,
    trace: bool = False,
) -> Scenario:
    """Return the preset ``caps-units`` with units of `k` source and `r` repair packets.

    Parameters
    ----------
    k, r : int
        Source packets, at least 1, and repair packets, at least 0, of a full unit, packets. A last unit of fewer
        source packets has repair packets in proportion, rounded up.
    n_paths, long_flows : int
        Parallel paths, and how many of them carry a long flow, at most 4.
    windows, window_packets : int
        How many windows are sent, and their size in packets.
    seed : int
        Seed of the run.
    at_once : int
        Windows that start together, each from its own host, at most 20.
    trace : bool
        Record the packet trace, which :func:`unblocked_packets` reads.

    Raises
    ------
    ParameterError
        If there are more long flows or windows at once than hosts for them.
    """
    base, spacing_s = load_scenario("caps-units"), 5e-3
    traffic = listed_flows(window_packets, long_flows=long_flows, flows=windows, at_once=at_once, spacing_s=spacing_s)
    # The sender derives r = ceil(k p / (1 - p)) from a blocking probability; this value of p gives the chosen r and is
    # never updated.
    share = (r - 0.5) / (k + r - 0.5) if r else 0.0
    coding = {"fixed_packets": k, "max_overhead": 100.0, "initial_blocking_prob": share, "sampling_s": _NEVER_S}
    return base.replace(
        fabric=msgspec.structs.replace(base.fabric, paths=n_paths),
        traffic=(traffic,),
        params={**base.params, "layer": {**base.params["layer"], **coding}},
        seed=seed,
        end_s=START_S + (windows - 1) // at_once * spacing_s + 10e-3,
        trace="packets" if trace else "off",
    )


def run_units(k: int, *, engine: str = "compiled", **setting: Any) -> Result:
    """Simulate :func:`units_scenario` of the same arguments with long flows pinned to the first paths."""
    return simulate(units_scenario(k, **setting), scheme=PINNED, engine=engine)


def unblocked_packets(result: Result, *, long_flows: int) -> npt.NDArray[np.bool_]:
    """Return which packets of each full unit crossed a path without a long flow, shape (units, n).

    Read off the packet trace: coded packets of a unit leave in the order of their position, so the order in which
    they queue at the first switch is that order.
    """
    rows = Trace.of(result).at("left>right", event="enqueued", packet="coded")
    order = np.lexsort((np.arange(len(rows)), rows["segment"], rows["flow"]))
    n = int(result.units["n"].iloc[0])
    require(bool((result.units["n"] == n).all()), "units differ in size: let k divide the window")
    require(len(rows) == n * len(result.units), "the trace does not hold all packets of all units")
    return np.asarray(rows["path"].to_numpy()[order].reshape(-1, n) >= long_flows)


def units_in_time(result: Result) -> npt.NDArray[np.bool_]:
    """Return which units decoded before a blocked packet of theirs could come, in the order of the ``units`` table.

    Packets leave the host back to back, 12 us each, and a blocked one waits behind about 240 of a long flow. So a unit
    of at most 150 packets is in time if it decodes within 2 ms from when its first packet leaves. For windows sent one
    at a time.
    """
    units, packet_s = result.units, 8 * FABRIC["packet_bytes"] / FABRIC["rate_bps"]
    before = units.groupby("flow")["n"].cumsum() - units["n"]
    return np.asarray(units["decoded_s"] - units["sent_s"] - before * packet_s < 2e-3)


def window_delays_s(result: Result) -> npt.NDArray[np.float64]:
    """Return the time from the start of each window to its last acknowledgement, in seconds, shape (windows,)."""
    short = result.flows[result.flows["short"]]
    require(bool(short["acked_fct_s"].notna().all()), "a window is not finished: simulate longer")
    return short["acked_fct_s"].to_numpy()


def mean_packet_delays_s(result: Result) -> npt.NDArray[np.float64]:
    """Return the mean over source packets of the time from the window's start to their in-order delivery, in seconds.

    Shape (windows,); a packet is delivered in order when its unit and all earlier ones of the window are decoded.
    """
    units = result.units
    require(bool(units["decoded_s"].notna().all()), "a unit is not decoded: simulate longer")
    released_s = units.groupby("flow")["decoded_s"].cummax() - units["sent_s"].groupby(units["flow"]).transform("min")
    weighted = (released_s * units["k"]).groupby(units["flow"]).sum() / units["k"].groupby(units["flow"]).sum()
    return np.asarray(weighted.to_numpy(np.float64))


def unit_waits_s(result: Result) -> npt.NDArray[np.float64]:
    """Return the mean wait of the packets of each unit from their arrival until it decodes, in seconds.

    Read off the packet trace of a run with r = 0 and no long flows, where every packet waits for the k-th.
    """
    rows = Trace.of(result).arrived("coded")
    came = rows.groupby(["flow", "segment"], observed=True)["time_s"].mean().rename("mean_s")
    units = result.units.join(came, on=["flow", "first_segment"])
    return np.asarray((units["decoded_s"] - units["mean_s"]).to_numpy(np.float64))
