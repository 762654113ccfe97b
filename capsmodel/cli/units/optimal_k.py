"""``capsmodel optimal-k``: the best coding unit for a fabric, what it costs, and what packets say about it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from cyclopts import CycloptsError, Parameter

from capsmodel.checks import FloatArray, require
from capsmodel.cli.shared.options import Count, Flag, MaybeCount, MaybeProbabilities, path_pair
from capsmodel.cli.shared.output import AS_TEXT, OUTPUT, Output, explain, print_table, say, text_curve
from capsmodel.cli.shared.table import Column
from capsmodel.cli.shared.unit_setting import UnitSetting
from capsmodel.coding.caps_setting import PAPER_PROBS, WINDOW_PACKETS
from capsmodel.coding.optimal_unit import DelayCurve, optimal_coding_unit

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
    'What packets say (lesson "How large a unit?", capsmodel study caps-unit-shape): sent through the simulator, a '
    "window has its last ACK soonest when the whole window is one unit, and later than the formula says, which leaves "
    "out the time to send the window. Only the mean over packets has its optimum near this k, and only with this r. "
    "--simulate shows both."
)


CAPS_SETTING = UnitSetting()


def _belongs_to_choose_unit(_: Any, tokens: Any) -> None:
    raise CycloptsError(msg=f"{tokens[0].keyword} is an option of capsmodel choose-unit: see its --help")


_Moved = Annotated[
    None,
    Parameter(
        name=(
            "--failure-prob", "--k", "--deadline", "--retransmit", "--lost", "--code",
            "--path-file", "--spread", "--first-path", "--burst", "--interleave",
        ),
        converter=_belongs_to_choose_unit, n_tokens=1, accepts_keys=False, show=False,
    ),
]  # fmt: skip


def optimal_k(
    window_packets: Count = WINDOW_PACKETS,
    *,
    blocking_prob: MaybeProbabilities = None,
    paths: MaybeCount = None,
    blocked_paths: MaybeCount = None,
    setting: UnitSetting = CAPS_SETTING,
    simulate: Flag = False,
    plot: Annotated[Path | None, Parameter(group=OUTPUT)] = None,
    output: Output = AS_TEXT,
    moved: _Moved = None,
) -> None:
    """Find the coding unit (k source, r repair packets) with the smallest mean delay of a window.

    The defaults are the setting of CAPS, section VI-D. Units by how often they fail: capsmodel choose-unit.

    Parameters
    ----------
    window_packets
        Congestion window w, in packets.
    blocking_prob
        Probabilities p_B of a blocked packet (0.2,0.25,0.3,0.35).
    paths
        Equal-cost paths n, in place of it: p_B = n_L / n.
    blocked_paths
        Paths n_L that carry a long flow.
    simulate
        Send 200 windows packet by packet, for some k.
    plot
        Write the delay curves to this file (PNG, PDF or SVG; needs matplotlib).
    """
    del moved  # refused while it is read
    if plot is not None:
        from capsmodel.plotting import check_figure_path  # matplotlib takes a second to load

        check_figure_path(plot)
    probs = _blocking_probs(blocking_prob, paths, blocked_paths)
    rows = optimal_k_rows(window_packets, blocking_prob=probs, setting=setting)
    title = f"Optimal coding unit, window {window_packets} packets, objective {setting.objective}"
    if simulate:
        from capsmodel.cli.units.sent_windows import print_sent_windows  # the simulator takes a second to load

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


def _blocking_probs(given: tuple[float, ...] | None, paths: int | None, blocked_paths: int | None) -> tuple[float, ...]:
    both = path_pair(paths, blocked_paths)
    if both is None:
        return PAPER_PROBS if given is None else given
    require(given is None, "--blocking-prob and --paths exclude each other: give one")
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


_MINIMISED: dict[str, str] = {
    "eq4": "delay of Eq. 4, repair packets cost nothing",
    "with_redundancy_cost": "delay with the time to send repair packets",
}


def _plot(window_packets: int, probs: Sequence[float], setting: UnitSetting, file: Path) -> None:
    from capsmodel.plotting import plot_delay_curves, save_figure

    curves = [setting.curve(window_packets, prob) for prob in probs]
    title = f"Optimal coding unit, window of {window_packets} packets,\n{_MINIMISED[setting.objective]}"
    save_figure(plot_delay_curves(curves, probs, title=title), file)
