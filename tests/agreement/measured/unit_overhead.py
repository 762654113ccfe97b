r"""Repair packets and overhead counted in simulated packets, with r given and with r from the sender's estimate.

==================================  =========  ============================  =======  =====================
Quantity                            Symbol     Name                          Unit     Equation
==================================  =========  ============================  =======  =====================
packets sent, r given               r, eta     :func:`packets_sent`          packets  caps Eq. 7
same, r from the sender's p_B       r, eta     :func:`live_redundancy`       packets  caps Eq. 7
estimate when a unit was sent       p_B        :func:`held_blocking`         ACKs     caps Sec. VI-A
r/k and FCT by reading of CAPS      r, k       :func:`by_reading`            packets  caps Sec. VI-B
==================================  =========  ============================  =======  =====================

CAPS can be read in four ways (:mod:`capsim.protocols.layers.params`), each a scheme: ``caps``, ``caps_dark``,
``caps_decode``, ``caps_ns2``. All functions except :func:`by_reading` are about ``caps_decode``, where a unit is
acknowledged when it decodes.
"""

from fractions import Fraction
from typing import Any

import msgspec
import numpy as np
from pandas import DataFrame, merge_asof

from capsim import Result, Scenario, Trace, load_scenario, simulate
from capsim.run.coding_units import (
    PINNED,
    START_S,
    listed_flows,
    pinned,
    run_units,
)
from capsmodel.coding.caps_setting import WINDOW_PACKETS
from capsmodel.coding.redundancy import repair_packets
from capsmodel.experiments.measurement import measurement

__all__ = ["by_reading", "live_redundancy", "live_scenario", "packets_sent", "rtt_samples"]

_PERIOD_PS, _RTT_FACTOR = 200_000_000, 2  # of the scheme ``caps_decode``
_PS = 1e12


@measurement("unit-packets-sent", revision=1)
def packets_sent(
    k: int,
    *,
    r: int,
    n_paths: int,
    long_flows: int,
    windows: int,
    seed: int,
    window_packets: int = WINDOW_PACKETS,
    engine: str = "compiled",
) -> dict[str, Any]:
    """Return the packets of windows in units of `k` + `r` and of the long flows; `k` divides the window."""
    result = run_units(
        k, r=r, n_paths=n_paths, long_flows=long_flows, windows=windows, window_packets=window_packets,
        seed=seed, engine=engine,
    )  # fmt: skip
    least, most = result.units["n"].agg(["min", "max"])
    return _sent(result) | {"least_n_packets": int(least), "largest_n_packets": int(most)}


def _sent(result: Result) -> dict[str, Any]:
    flows = result.flows
    short = flows[flows["short"]]
    repair = int(short["repair_packets"].sum())
    return {
        "source_packets": int(short["coded_packets"].sum()) - repair,
        "repair_packets": repair,
        "long_packets": int(flows.loc[~flows["short"], "packets_sent"].sum()),
        "all_packets": int(flows["packets_sent"].sum()),
        "retransmitted_packets": int(flows["retransmissions"].sum()),
    }


def live_scenario(
    unit_size: str | None, *, n_paths: int, long_flows: int, flows: int, seed: int, initial_blocking_prob: float = 0.0
) -> Scenario:
    """Return the preset ``caps-units`` with transport and coding of the unchanged scheme.

    Flows of 64 packets start 12 ms apart with an initial window of 10; r follows from what each flow measures.

    Parameters
    ----------
    unit_size : str or None
        ``"window"``, ``"optimal"`` or ``"fixed"`` (10 packets); None for the scheme's own.
    n_paths, long_flows : int
        Parallel paths, and how many of them carry a long flow, at most 4.
    flows : int
        Coded flows.
    seed : int
        Seed of the run.
    initial_blocking_prob : float
        Estimate of p_B before the first measurement of a flow. With 0 all r follows from measurements; the schemes
        themselves start with 1/6.
    """
    base, spacing_s = load_scenario("caps-units"), 12e-3
    traffic = listed_flows(WINDOW_PACKETS, long_flows=long_flows, flows=flows, at_once=1, spacing_s=spacing_s)
    transport = {"max_window_bytes": base.params["transport"]["max_window_bytes"]}
    coding = {"initial_blocking_prob": initial_blocking_prob} | ({"unit_size": unit_size} if unit_size else {})
    return base.replace(
        fabric=msgspec.structs.replace(base.fabric, paths=n_paths),
        traffic=(traffic,),
        params={"transport": transport, "layer": coding},
        seed=seed,
        end_s=START_S + flows * spacing_s,
        trace="packets",
    )


@measurement("overhead-by-reading", revision=1)
def by_reading(reading: str, *, engine: str = "compiled", **setting: Any) -> dict[str, Any]:
    """Return packets sent and completion times under one reading of CAPS, each long flow on its own path.

    Parameters
    ----------
    reading : str
        ``"caps"``, ``"caps_dark"``, ``"caps_decode"`` or ``"caps_ns2"``.
    engine : str
        ``"compiled"`` or ``"reference"``.
    setting
        The arguments of :func:`live_scenario` except `unit_size`, which is the reading's own.

    Returns
    -------
    dict
        Packets as in :func:`packets_sent`, and ``mean_fct_s`` of the coded flows, in seconds.
    """
    scenario = live_scenario(None, **setting).replace(trace="off")
    result = simulate(scenario, scheme=pinned(reading), engine=engine)
    short = result.flows[result.flows["short"]]
    return _sent(result) | {
        "mean_fct_s": float(short["fct_s"].mean()),
        "unfinished_flows": int((~short["finished"]).sum()),
    }


@measurement("live-redundancy", revision=1)
def live_redundancy(unit_size: str, *, engine: str = "compiled", **setting: Any) -> dict[str, Any]:
    """Return packets sent when r follows from the sender's own estimate, and that estimate.

    Parameters
    ----------
    unit_size : str
        As in :func:`live_scenario`.
    engine : str
        ``"compiled"`` or ``"reference"``.
    setting
        The other arguments of :func:`live_scenario`.

    Returns
    -------
    dict
        Packets sent as in :func:`packets_sent`; ``units``, and ``units_by_rule``, how many of them have the r that the
        ceiling rule gives for the sender's estimate of p_B; ``mean_held_prob``, the mean estimate over source packets;
        ``needed_packets``, the sum of k p/(1 - p), at most k each, before it is rounded up.
    """
    scenario = live_scenario(unit_size, **setting)
    result = simulate(scenario, scheme=PINNED, engine=engine)
    k, sent = result.units["k"].to_numpy(), (result.units["n"] - result.units["k"]).to_numpy()
    held = held_blocking(result, initial_blocking_prob=setting.get("initial_blocking_prob", 0.0))
    units = list(zip(k.tolist(), held, strict=True))
    return _sent(result) | {
        "units": k.size,
        "units_by_rule": int(np.sum(sent == [_rule(one, share) for one, share in units])),
        "mean_held_prob": float(np.average([float(share) for share in held], weights=k)),
        "needed_packets": float(sum(_needed(one, share) for one, share in units)),
    }


def _needed(k: int, held: Fraction) -> Fraction:
    """Return k p/(1 - p), at most k as the scheme has it."""
    return Fraction(k) if held >= Fraction(1, 2) else k * held / (1 - held)


def _rule(k: int, held: Fraction) -> int:
    """Return r of the ceiling rule, at most k."""
    return k if held >= Fraction(1, 2) else int(repair_packets(k, blocking_prob=held))


def held_blocking(result: Result, *, initial_blocking_prob: float = 0.0) -> list[Fraction]:
    """Return the estimate p_B = n_L / n of the sender when it sent each unit: an independent calculation.

    Read off the packet trace: the RTT of an acknowledgement is the time since the unit of its packet was sent, and it
    is large above twice the smoothed RTT of the sampling periods before. For ``caps_decode`` only.
    """
    sent_ps = _picoseconds(result.units["sent_s"])
    initial = Fraction(initial_blocking_prob).limit_denominator(1_000_000)
    held = [initial] * len(sent_ps)
    samples = dict(iter(rtt_samples(result).groupby("subflow")))
    for subflow, rows in result.units.assign(row=np.arange(len(sent_ps))).groupby("subflow"):
        if subflow not in samples:
            continue
        shares = _shares(samples[subflow])
        for row in rows["row"].tolist():
            known = [share for period, share in shares if period < sent_ps[row] // _PERIOD_PS]
            held[row] = known[-1] if known else initial
    return held


def _picoseconds(times_s: Any) -> Any:
    return np.rint(np.asarray(times_s) * _PS).astype(np.int64)


def rtt_samples(result: Result) -> DataFrame:
    """Return each acknowledgement that a coded flow takes an RTT from, in order, with ``time_ps`` and ``rtt_ps``."""
    acks, units = Trace.of(result).at("left>host", event="arrived", packet="ack"), result.units
    acks = acks[acks["flags"] & 1 == 0]
    found = acks.merge(result.flows.loc[result.flows["short"], ["flow"]], on="flow")
    found = found.assign(time_ps=_picoseconds(found["time_s"]))
    units = units.assign(unit_ps=_picoseconds(units["sent_s"]))[["subflow", "first_segment", "unit_ps"]]
    # The unit of a segment is the last one that does not start after it.
    joined = merge_asof(
        found.sort_values("segment"), units.sort_values("first_segment"),
        left_on="segment", right_on="first_segment", by="subflow",
    ).sort_values("time_ps", kind="stable")  # fmt: skip
    return joined.assign(rtt_ps=joined["time_ps"] - joined["unit_ps"])


def _shares(samples: DataFrame) -> list[tuple[int, Fraction]]:
    """Return each sampling period that had acknowledgements with its n_L / n, in order."""
    shares, smoothed_ps = [], 0
    for period, rtts in samples.groupby(samples["time_ps"] // _PERIOD_PS)["rtt_ps"]:
        values = [int(value) for value in rtts]
        # In the first period an RTT is compared with the mean of those before it.
        usual = (
            [smoothed_ps] * len(values) if smoothed_ps else [0, *(sum(values[:i]) // i for i in range(1, len(values)))]
        )
        large = sum(rtt > _RTT_FACTOR * mean for rtt, mean in zip(values, usual, strict=True) if mean)
        shares.append((int(period), Fraction(large, len(values))))
        mean_ps = sum(values) // len(values)
        smoothed_ps = (7 * smoothed_ps + mean_ps) // 8 if smoothed_ps else mean_ps
    return shares
