r"""Windows in coding units over parallel paths, packet by packet: scenarios, and what is read from a run.

==================================  =========  ==============================  =======  ==================
Quantity                            Symbol     Name                            Unit     Equation
==================================  =========  ==============================  =======  ==================
packets not blocked                 --         :func:`unblocked_packets`       1        caps Fig. 6(c)
units that decode without others    --         :func:`units_in_time`           1        caps Fig. 8(c)
delay of a window, as simulated     d_w        :func:`window_delays_s`         s        caps Fig. 8(d)
same, mean over its packets         d_w        :func:`mean_packet_delays_s`    s        caps Fig. 8(d)
wait for a unit, as simulated       d_B        :func:`unit_waits_s`            s        caps Eq. 3
==================================  =========  ==============================  =======  ==================

The set-up is the preset ``caps-units``; its notes list what the paper leaves open and what was chosen.
:func:`units_scenario` varies units and paths, :func:`windows_scenario` rates and round trips too.
"""

from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from capsim.fabric.listed import Listed
from capsim.fabric.wiring import LinkChange
from capsim.protocols.registry import scheme
from capsim.results.result import Result
from capsim.results.trace import Trace
from capsim.roles.components import Balancer, Scheme, SegmentParams
from capsim.run.simulation import simulate
from capsim.scenario.scenario import Scenario, load_scenario
from capsmodel.checks import require
from capsmodel.coding.caps_setting import SETTING, WINDOW_PACKETS

__all__ = [
    "AT_ONCE",
    "MOST_RTT_S",
    "MSS_BYTES",
    "PACKET_BYTES",
    "PINNED",
    "START_S",
    "listed_flows",
    "mean_packet_delays_s",
    "pinned",
    "queued_packets",
    "run_units",
    "unblocked_packets",
    "unit_waits_s",
    "units_in_time",
    "units_scenario",
    "window_delays_s",
    "windows_scenario",
]

MSS_BYTES = SegmentParams.mss_bytes
"""Payload of a full packet, 1460 bytes."""
PACKET_BYTES = MSS_BYTES + SegmentParams.header_bytes
"""A full packet, 1500 bytes."""
START_S = 0.02
AT_ONCE = 20
"""Hosts that send windows; four more send long flows."""
MOST_RTT_S = 3e-3
"""Longest round trip beside a long flow, which has to fill its path before the first window starts, in seconds."""
_LONG_HOSTS = 4
_LINKS_OF_A_ROUND = 6
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


def queued_packets(*, rtt_long_s: float, rate_bps: float) -> int:
    """Return the packets in flight of a long flow alone on its path, which make its round trip `rtt_long_s`."""
    return round(rtt_long_s * rate_bps / (8 * PACKET_BYTES))


def windows_scenario(
    k: int,
    *,
    r: int,
    n_paths: int,
    blocked: int,
    window_packets: int,
    windows: int,
    rate_bps: float,
    rtt_short_s: float,
    rtt_long_s: float,
    seed: int,
) -> Scenario:
    """Return windows that one host sends one after the other, over paths of which some carry a long flow each.

    Parameters
    ----------
    k, r : int
        As in :func:`units_scenario`.
    n_paths, blocked : int
        Parallel paths, and how many of them carry a long flow.
    window_packets, windows : int
        Size of a window in packets, at most :func:`queued_packets`, and how many are sent.
    rate_bps : float
        Rate of every link, in bit/s.
    rtt_short_s, rtt_long_s : float
        Round trip on an idle path, and behind a long flow, at most `MOST_RTT_S`, in seconds.
    seed : int
        Seed of the run.
    """
    base = units_scenario(k, r=r, n_paths=n_paths, long_flows=0, windows=1, seed=seed)
    queued = queued_packets(rtt_long_s=rtt_long_s, rate_bps=rate_bps)
    window_s = 8 * window_packets * PACKET_BYTES / rate_bps
    spacing_s = rtt_long_s + 4 * window_s
    end_s = START_S + windows * spacing_s
    size, hosts, long_bytes = window_packets * MSS_BYTES, blocked + 1, int(end_s * rate_bps / 8)
    long = [(host, host + hosts, max(long_bytes, size + 1), 0.0) for host in range(blocked)]
    short = [(blocked, blocked + hosts, size, START_S + i * spacing_s) for i in range(windows)]
    fabric = msgspec.structs.replace(
        base.fabric,
        hosts_per_side=hosts,
        rate_bps=rate_bps,
        delay_s=rtt_short_s / _LINKS_OF_A_ROUND,
        buffer_packets=4 * queued,
        # So that long flows queue at their path and not at their host, as in the preset.
        links=tuple(
            LinkChange(between=(f"host{host}", "left"), one_way=True, rate_bps=10 * rate_bps) for host in range(blocked)
        ),
    )
    bounds = {"initial_window_packets": window_packets, "max_window_bytes": queued * MSS_BYTES}
    return base.replace(
        fabric=fabric,
        traffic=(Listed(flows=(*long, *short)),),
        params=base.params | {"transport": base.params["transport"] | bounds},
        short_bytes=size,
        end_s=end_s + 2 * MOST_RTT_S,
    )


def run_units(k: int, *, engine: str = "compiled", **setting: Any) -> Result:
    """Simulate :func:`units_scenario` of the same arguments with long flows pinned to the first paths."""
    return simulate(units_scenario(k, **setting), scheme=PINNED, engine=engine, progress=None)


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
    units, packet_s = result.units, 8 * SETTING["packet_bytes"] / SETTING["rate_bps"]
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
