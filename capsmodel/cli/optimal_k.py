"""``capsmodel optimal-k --simulate``: windows in coding units, sent packet by packet, beside the formula."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
from cyclopts import Parameter

from capsim import LinkChange, Listed, Scenario, simulate
from capsmodel.checks import FloatArray, require
from capsmodel.cli.shared.numbers import with_error
from capsmodel.cli.shared.options import Count, Flag, MaybeCount, Numbers, Rate, Size, Time, path_pair
from capsmodel.cli.shared.output import AS_TEXT, OUTPUT, Output, explain, print_table, say, text_curve
from capsmodel.cli.shared.table import Column
from capsmodel.coding.caps_setting import PAPER_PROBS, SETTING, WINDOW_PACKETS
from capsmodel.coding.optimal_unit import MOST_CURVE_SIZES, DelayCurve, delay_curve, optimal_coding_unit
from capsmodel.coding.unit_parameters import DEFAULT_OBJECTIVE, Objective
from capsmodel.experiments.progress import track
from capsmodel.experiments.statistics.intervals import mean_interval
from capsmodel.papers.measurements.coding_units import (
    MSS_BYTES,
    PINNED,
    START_S,
    mean_packet_delays_s,
    units_scenario,
    window_delays_s,
)

WINDOWS, SEED = 200, 1
_MOST_PATHS = 20
_FULL_PACKET_BYTES = 1500  # with the headers of the transport
_LINKS_OF_A_ROUND = 6
_MOST_RTT_S = 3e-3  # a long flow fills its path before the first window starts
_READINGS = {"window_delay": window_delays_s, "packet_delay": mean_packet_delays_s}
_TO_LAST_ACK = Column("window_delay_s", "simulated: to the last ACK, ms", factor=1e3, error="window_delay_half_width_s")
_SENT_COLUMNS = (
    Column("blocking_prob", "blocking probability"),
    Column("k", "k"),
    Column("r", "r"),
    Column("formula_s", "formula, ms", factor=1e3),
    _TO_LAST_ACK,
    Column("packet_delay_s", "simulated: mean over packets, ms", factor=1e3, error="packet_delay_half_width_s"),
)


def print_sent_windows(
    window_packets: int, best: list[dict[str, Any]], *, setting: "UnitSetting", output: Output
) -> None:
    """Simulate the best unit of each row, and others up to the whole window, and print their delays."""
    _check(window_packets, setting)
    setting = replace(setting, max_k=None)  # the whole window is one of the units sent
    points = [
        (row["blocking_prob"], k)
        for row in best
        for k in sorted({row["k"], *(max(1, window_packets // part) for part in (4, 2, 1))})
    ]
    rows = [
        _row(prob, k, window_packets=window_packets, setting=setting)
        for prob, k in track(points, total=len(points), label="simulating windows")
    ]
    title = f"Delay of a window of {window_packets} packets, mean ± 95% half-width over {WINDOWS} windows"
    print_table(rows, columns=_SENT_COLUMNS, title=title, output=output)
    if output.is_text:
        explain(*(_fastest(rows, row["blocking_prob"], row["k"]) for row in best))


def _check(window_packets: int, setting: "UnitSetting") -> None:
    size, rtt_s = setting.packet_size, setting.rtt_long
    require(size == _FULL_PACKET_BYTES, f"--packet-size {size}B: --simulate sends packets of {_FULL_PACKET_BYTES}B")
    require(rtt_s <= _MOST_RTT_S, f"--rtt-long {rtt_s * 1e3:g}ms: --simulate takes at most {_MOST_RTT_S * 1e3:g}ms")
    queued = _queued_packets(setting)
    most = min(queued, MOST_CURVE_SIZES)
    rule = f"with --simulate at most {most}, those that a long flow has in flight for an RTT of --rtt-long"
    require(window_packets <= most, f"a window of {window_packets} packets, but {rule}")


def _queued_packets(setting: "UnitSetting") -> int:
    """Return the packets in flight of a long flow alone on its path, which make its round trip RTT_L."""
    return round(setting.rtt_long * setting.rate / (8 * _FULL_PACKET_BYTES))


def _paths(prob: float) -> tuple[int, int]:
    """Return a number of paths and how many of them are blocked, at the share nearest to a probability."""
    share = Fraction(prob).limit_denominator(_MOST_PATHS)
    times = max(1, _MOST_PATHS // 2 // share.denominator)
    return share.denominator * times, share.numerator * times


def _row(prob: float, k: int, *, window_packets: int, setting: "UnitSetting") -> dict[str, Any]:
    curve = setting.curve(window_packets, prob)
    r = int(curve.r[k - 1])
    n_paths, blocked = _paths(prob)
    result = simulate(_scenario(k, r, n_paths, blocked, window_packets, setting), scheme=PINNED, engine="compiled")
    row: dict[str, Any] = {"asked_prob": prob, "blocking_prob": blocked / n_paths}
    row |= {"n_paths": n_paths, "blocked_paths": blocked, "k": k, "r": r}
    row |= {"formula_s": float(curve.delay_s[k - 1]), "windows": WINDOWS}
    for name, read in _READINGS.items():
        found = mean_interval(read(result))
        row |= {f"{name}_s": found.value, f"{name}_half_width_s": found.half_width}
    return row


def _scenario(k: int, r: int, n_paths: int, blocked: int, window_packets: int, setting: "UnitSetting") -> Scenario:
    """Return the preset ``caps-units`` at the rates and round trips of the setting; the last host sends windows."""
    base = units_scenario(k, r=r, n_paths=n_paths, long_flows=0, windows=1, seed=SEED)
    queued, window_s = _queued_packets(setting), 8 * window_packets * _FULL_PACKET_BYTES / setting.rate
    spacing_s = setting.rtt_long + 4 * window_s
    end_s = START_S + WINDOWS * spacing_s
    fabric = msgspec.structs.replace(
        base.fabric,
        hosts_per_side=blocked + 1,
        rate_bps=setting.rate,
        delay_s=setting.rtt_short / _LINKS_OF_A_ROUND,
        buffer_packets=4 * queued,
        # So that long flows queue at their path and not at their host, as in the preset.
        links=tuple(
            LinkChange(between=(f"host{host}", "left"), one_way=True, rate_bps=10 * setting.rate)
            for host in range(blocked)
        ),
    )
    windows = {"initial_window_packets": window_packets, "max_window_bytes": queued * MSS_BYTES}
    return base.replace(
        fabric=fabric,
        traffic=(_traffic(blocked, window_packets, spacing_s, long_bytes=int(end_s * setting.rate / 8)),),
        params=base.params | {"transport": base.params["transport"] | windows},
        short_bytes=window_packets * MSS_BYTES,
        end_s=end_s + 2 * _MOST_RTT_S,
    )


def _traffic(blocked: int, window_packets: int, spacing_s: float, *, long_bytes: int) -> Listed:
    """Return a long flow for each blocked path, and windows one after the other."""
    hosts, size = blocked + 1, window_packets * MSS_BYTES
    long = [(host, host + hosts, max(long_bytes, size + 1), 0.0) for host in range(blocked)]
    windows = [(blocked, blocked + hosts, size, START_S + i * spacing_s) for i in range(WINDOWS)]
    return Listed(flows=(*long, *windows))


def _fastest(rows: list[dict[str, Any]], prob: float, best_k: int) -> str:
    """Return how long the best unit by the formula takes, beside the size that is fastest of those sent."""
    own = [row for row in rows if row["asked_prob"] == prob]
    (best,) = (row for row in own if row["k"] == best_k)
    first = min(own, key=lambda row: float(row["window_delay_s"]))
    mine, least = (
        with_error(1e3 * row["window_delay_s"], 1e3 * row["window_delay_half_width_s"]) for row in (best, first)
    )
    told = f"p_B = {best['blocking_prob']:.4g} ({best['blocked_paths']} of {best['n_paths']} paths)"
    return (
        f"{told}: to the last ACK k = {best_k} takes {mine} ms; of those sent, k = {first['k']} is fastest, {least} ms."
    )


_COLUMNS = (
    Column("blocking_prob", "blocking probability"),
    Column("k", "k, source packets"),
    Column("r", "r, repair packets"),
    Column("repair_share", "repair share, %", factor=100),
    Column("delay_s", "delay, ms", factor=1e3),
    Column("near", "k within 1%"),
    Column("uncoded_delay_s", "uncoded delay, ms", factor=1e3),
    Column("unit_decode_prob", "unit decodes, prob."),
)
_WHAT_PACKETS_SAY = (
    "What packets say (notebook 9, capsmodel reproduce caps-fig8d): sent through the simulator, a window has its last "
    "ACK soonest when the whole window is one unit, and later than the formula says, which leaves out the time to send "
    "the window. Only the mean over packets has its optimum near this k, and only with this r. --simulate shows both."
)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class UnitSetting:
    """What the delay of a window depends on, besides window and blocking probability.

    Parameters
    ----------
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
    """

    rate: Rate = SETTING["rate_bps"]
    rtt_short: Time = SETTING["rtt_short_s"]
    rtt_long: Time = SETTING["rtt_long_s"]
    packet_size: Size = SETTING["packet_bytes"]
    objective: Objective = DEFAULT_OBJECTIVE
    max_k: MaybeCount = None
    whole_units: Flag = False

    def arguments(self) -> dict[str, Any]:
        """Return them as arguments of :func:`optimal_coding_unit`."""
        return {
            "rtt_short_s": self.rtt_short, "rtt_long_s": self.rtt_long, "packet_bytes": self.packet_size,
            "rate_bps": self.rate, "objective": self.objective, "whole_units": self.whole_units, "max_k": self.max_k,
        }  # fmt: skip

    def curve(self, window_packets: int, prob: float) -> DelayCurve:
        """Return the delay of every k that a curve holds."""
        most = min(window_packets if self.max_k is None else self.max_k, MOST_CURVE_SIZES)
        return delay_curve(window_packets, blocking_prob=prob, **(self.arguments() | {"max_k": most}))


CAPS_SETTING = UnitSetting()


def optimal_k(
    window_packets: Count = WINDOW_PACKETS,
    *,
    blocking_prob: Numbers = PAPER_PROBS,
    paths: MaybeCount = None,
    blocked_paths: MaybeCount = None,
    setting: UnitSetting = CAPS_SETTING,
    simulate: Flag = False,
    plot: Annotated[Path | None, Parameter(group=OUTPUT)] = None,
    output: Output = AS_TEXT,
) -> None:
    """Find the coding unit (k source, r repair packets) with the smallest mean delay of a window.

    The defaults are the setting of CAPS, section VI-D.

    Parameters
    ----------
    window_packets
        Congestion window w, in packets.
    blocking_prob
        Probability p_B that a packet is blocked; several, separated by commas, give a row each; 5/16 is one too.
    paths
        Equal-cost paths n; with --blocked-paths it replaces --blocking-prob by p_B = n_L / n.
    blocked_paths
        Paths n_L that carry a long flow.
    simulate
        Send 200 windows through the simulator for some k, and print what they took beside the formula.
    plot
        Write the delay curves to this file (PNG, PDF or SVG; needs matplotlib).
    """
    probs = _blocking_probs(blocking_prob, paths, blocked_paths)
    if plot is not None:
        from capsmodel.plotting import check_figure_path  # matplotlib takes a second to load

        check_figure_path(plot)
    rows = optimal_k_rows(window_packets, blocking_prob=probs, setting=setting)
    title = f"Optimal coding unit, window {window_packets} packets, objective {setting.objective}"
    if simulate:
        from capsmodel.cli.optimal_k import print_sent_windows  # the simulator takes a second to load

        print_sent_windows(window_packets, rows, setting=setting, output=output)
    else:
        shown = [row | {"near": f"{row['near_k_min']}-{row['near_k_max']}"} for row in rows] if output.is_text else rows
        print_table(shown, columns=_COLUMNS, title=title, output=output)
        if output.is_text:
            _explain(window_packets, rows[0], setting)
    if plot is not None:
        _plot(window_packets, probs, setting, plot)
        if output.is_text:
            say(f"wrote {plot}")


def _blocking_probs(given: tuple[float, ...], paths: int | None, blocked_paths: int | None) -> tuple[float, ...]:
    both = path_pair(paths, blocked_paths)
    if both is None:
        return given
    n_paths, blocked = both
    rule = f"with {n_paths} paths it must lie in 0..{n_paths - 1}: a path each, and one left free"
    require(0 <= blocked < n_paths, f"--blocked-paths = {blocked}, but {rule}")
    return (blocked / n_paths,)


def optimal_k_rows(
    window_packets: int, *, blocking_prob: Sequence[float], setting: UnitSetting
) -> list[dict[str, Any]]:
    """Return a row for each blocking probability."""
    probs: FloatArray = np.array(blocking_prob)
    best = optimal_coding_unit(window_packets, blocking_prob=probs, **setting.arguments())
    return [
        {
            "blocking_prob": float(probs[i]),
            "k": int(best.k[i]),
            "r": int(best.r[i]),
            "repair_share": int(best.r[i]) / int(best.k[i] + best.r[i]),
            "delay_s": float(best.delay_s[i]),
            "near_k_min": int(best.near_k_min[i]),
            "near_k_max": int(best.near_k_max[i]),
            "uncoded_delay_s": float(best.uncoded_delay_s[i]),
            "unit_decode_prob": float(best.decode_prob[i]),
        }
        for i in range(probs.size)
    ]


def _explain(window_packets: int, row: dict[str, Any], setting: UnitSetting) -> None:
    """Print what the first answer costs, how flat the optimum is, and what simulated packets say."""
    curve = setting.curve(window_packets, row["blocking_prob"])
    delays_ms = np.asarray(curve.delay_s) * 1e3
    explain(
        f"Mean delay of a window over k = 1..{delays_ms.size} at p_B = {row['blocking_prob']:g}: from "
        f"{delays_ms.min():.4g} ms (k = {row['k']}) to {delays_ms.max():.4g} ms"
    )
    say(*("  " + line for line in text_curve(delays_ms.tolist())))
    if not row["r"]:
        explain("Coding does not pay here: without repair packets the mean delay of a window is the least.")
        return
    sent = row["k"] + row["r"]
    explain(
        f"What it costs: {row['repair_share']:.0%} of the packets sent are repair packets ({row['r']} of {sent} in a "
        "unit), also when nothing is blocked.",
        f"How flat it is: {_near(curve, row)}",
        _WHAT_PACKETS_SAY,
    )


def _near(curve: DelayCurve, row: dict[str, Any]) -> str:
    """Return which sizes are within 1% of the least delay, and the one that sends the fewest repair packets."""
    near = np.flatnonzero(np.asarray(curve.delay_s) <= 1.01 * row["delay_s"])
    if not near.size:
        return f"sizes from {row['near_k_min']} to {row['near_k_max']} are within 1% of the least delay."
    k, r = curve.k[near], np.asarray(curve.r)[near]
    share = 100 * r / (k + r)
    least = int(share.argmin())
    return (
        f"{near.size} sizes from k = {k[0]} to {k[-1]} are within 1% of the least delay; of these k = {k[least]}, r = "
        f"{r[least]} has the smallest share of repair packets, {share[least]:.0f}%."
    )


def _plot(window_packets: int, probs: Sequence[float], setting: UnitSetting, file: Path) -> None:
    from capsmodel.plotting import plot_delay_curves, save_figure

    curves = [setting.curve(window_packets, prob) for prob in probs]
    title = f"Optimal coding unit, window of {window_packets} packets,\nobjective {setting.objective}"
    save_figure(plot_delay_curves(curves, probs, title=title), file)
