"""``capsmodel optimal-k``: the best coding unit for a fabric."""

from pathlib import Path
from typing import Any

import numpy as np

from capsmodel.checks import require
from capsmodel.cli._options import Count, Flag, MaybeCount, Numbers, Rate, Size, Time
from capsmodel.cli._output import console, print_table, text_curve
from capsmodel.coding.optimal_unit import MOST_CURVE_SIZES, DelayCurve, delay_curve, optimal_coding_unit
from capsmodel.coding.unit_parameters import DEFAULT_OBJECTIVE, Objective


def _blocking_probs(given: tuple[float, ...], paths: int | None, long_flows: int | None) -> tuple[float, ...]:
    if paths is None or long_flows is None:
        require(paths is long_flows, "--paths and --long-flows go together: give both or neither")
        return given
    require(paths >= 1, f"--paths = {paths}, but a fabric has at least 1 path")
    rule = f"with {paths} paths it must lie in 0..{paths - 1}: a path each, and one left free"
    require(0 <= long_flows < paths, f"--long-flows = {long_flows}, but {rule}")
    return (long_flows / paths,)


def optimal_k(
    window_packets: Count = 64,
    *,
    blocking_prob: Numbers = (0.2, 0.25, 0.3, 0.35),
    paths: MaybeCount = None,
    long_flows: MaybeCount = None,
    rate: Rate = 1e9,
    rtt_short: Time = 1e-4,
    rtt_long: Time = 3e-3,
    packet_size: Size = 1500,
    objective: Objective = DEFAULT_OBJECTIVE,
    max_k: MaybeCount = None,
    whole_units: Flag = False,
    json: Flag = False,
    csv: Flag = False,
    plot: Path | None = None,
) -> None:
    """Find the coding unit (k source, r repair packets) with the smallest mean delay of a window.

    The defaults are the setting of CAPS, section VI-D.

    Parameters
    ----------
    window_packets
        Congestion window w, in packets.
    blocking_prob
        Probability p_B that a packet is blocked; several, separated by commas, give a row each.
    paths
        Equal-cost paths n; with --long-flows it replaces --blocking-prob by p_B = n_L / n.
    long_flows
        Paths n_L that carry a long flow.
    rate
        Rate C of a path, such as 1Gbps.
    rtt_short
        Largest round-trip time of a path without long flows, such as 100us.
    rtt_long
        Largest round-trip time of a path with long flows, such as 3ms.
    packet_size
        Packet size, such as 1500B.
    objective
        eq4: CAPS Eq. 4 as printed; with_redundancy_cost: Eq. 4 plus the time to send the repair packets, over k and r.
    max_k
        Largest k to consider; the window when not given. Curves show at most the first 8192.
    whole_units
        Round w/k up to whole units.
    json
        Print JSON.
    csv
        Print comma-separated values.
    plot
        Write the delay curves to this file (PNG, PDF or SVG; needs matplotlib).
    """
    setting: dict[str, Any] = {
        "rtt_short_s": rtt_short, "rtt_long_s": rtt_long, "packet_bytes": packet_size, "rate_bps": rate,
        "objective": objective, "whole_units": whole_units, "max_k": max_k,
    }  # fmt: skip
    probs = np.array(_blocking_probs(blocking_prob, paths, long_flows))
    require(probs.size > 0, "--blocking-prob is empty: give at least one probability, as in --blocking-prob 0.2")
    best = optimal_coding_unit(window_packets, blocking_prob=probs, **setting)
    rows = [
        {
            "blocking_prob": float(probs[i]),
            "k": int(best.k[i]),
            "r": int(best.r[i]),
            "delay_ms": float(best.delay_s[i]) * 1e3,
            "uncoded_delay_ms": float(best.uncoded_delay_s[i]) * 1e3,
            "unit_decode_prob": float(best.decode_prob[i]),
            "k_within_1pct": f"{int(best.near_k_min[i])}-{int(best.near_k_max[i])}",
        }
        for i in range(probs.size)
    ]
    title = f"Optimal coding unit, window {window_packets} packets, objective {objective}"
    print_table(rows, title=title, as_json=json, as_csv=csv)

    setting["max_k"] = min(window_packets if max_k is None else max_k, MOST_CURVE_SIZES)

    def curve(prob: float) -> DelayCurve:
        return delay_curve(window_packets, blocking_prob=prob, **setting)

    if not (json or csv):
        _print_curve(curve(float(probs[0])), float(probs[0]), rows[0])
    if plot is not None:
        from capsmodel.plotting import plot_delay_curves, save_figure

        curves = [curve(prob) for prob in probs.tolist()]
        save_figure(plot_delay_curves(curves, probs.tolist(), title=title), plot)
        if not (json or csv):
            console().print(f"wrote {plot}")


def _print_curve(curve: DelayCurve, prob: float, row: dict[str, Any]) -> None:
    delays_ms = np.asarray(curve.delay_s) * 1e3
    console().print(f"mean window delay over k = 1..{delays_ms.size} at p_B = {prob:g}, from the smallest "
                    f"{delays_ms.min():.4g} ms (k = {row['k']}) to {delays_ms.max():.4g} ms")  # fmt: skip
    for line in text_curve(delays_ms.tolist()):
        console().print("  " + line)
