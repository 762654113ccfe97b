"""``--simulate`` of ``optimal-k`` and ``choose-unit``: windows in coding units, or units over paths, as packets."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from capsim import simulate
from capsim.run.coding_units import (
    MOST_RTT_S,
    PACKET_BYTES,
    PINNED,
    mean_packet_delays_s,
    queued_packets,
    window_delays_s,
    windows_scenario,
)
from capsim.run.unequal_paths import sent_units, units_apart
from capsmodel.checks import require
from capsmodel.cli.shared.output import Output, explain, print_table
from capsmodel.cli.shared.table import Column
from capsmodel.cli.shared.unit_setting import UnitSetting
from capsmodel.coding.optimal_unit import MOST_CURVE_SIZES
from capsmodel.coding.paths.losses import PathLosses
from capsmodel.coding.paths.unit_choice import unit_failure_prob
from capsmodel.experiments.number_texts import with_error
from capsmodel.experiments.progress import track
from capsmodel.experiments.statistics.intervals import mean_interval, wilson_interval

WINDOWS, SEED = 200, 1
UNITS, UNITS_WITH_BYTES = 2000, 200
_MOST_PACKETS = 4_000_000  # of a row
_LEAST_FAILURES = 20  # expected of the packets of a row, or it tells nothing
_MOST_ROWS = 5
_MOST_PATHS, _RS_PACKETS = 20, 256
_READINGS = {"window_delay": window_delays_s, "packet_delay": mean_packet_delays_s}
_TO_LAST_ACK = Column("window_delay_s", "simulated: to the last ACK, ms", factor=1e3, error="window_delay_half_width_s")
_COLUMNS = (
    Column("blocking_prob", "blocking probability"),
    Column("k", "k"),
    Column("r", "r"),
    Column("formula_s", "formula, ms", factor=1e3),
    _TO_LAST_ACK,
    Column("packet_delay_s", "simulated: mean over packets, ms", factor=1e3, error="packet_delay_half_width_s"),
)


def print_sent_windows(
    window_packets: int, best: list[dict[str, Any]], *, setting: UnitSetting, output: Output
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
    print_table(rows, columns=_COLUMNS, title=title, output=output)
    if output.is_text:
        explain(*(_fastest(rows, row["blocking_prob"], row["k"]) for row in best))


_SENT_UNITS = (
    Column("r", "r, repair packets"),
    Column("failure_prob", "fails, exact"),
    Column("packets_failure_prob", "fails in packets", ends=("packets_low", "packets_high")),
    Column("bytes_failed", "fail in bytes"),
    Column("bytes_packets_failed", "the same in packets"),
    Column("bytes_units", "of units"),
)


def print_sent_units(k: int, r: int, *, losses: PathLosses, output: Output) -> None:
    """Send units of `k` source packets over the paths, with up to `r` repair packets, and print how many fail.

    Units that fail once in a million are not seen to fail; those with fewer repair packets are, by the same losses.
    """
    exact = {less: float(unit_failure_prob(k, r=less, losses=losses)) for less in range(r + 1)}
    shown = [less for less, prob in exact.items() if prob * _units(k + less, losses) >= _LEAST_FAILURES]
    require(bool(shown), f"--simulate sends {UNITS} units, of which too few fail even without repair packets")
    chosen = sorted({shown[round(place)] for place in np.linspace(0, len(shown) - 1, _MOST_ROWS)})
    each = track(chosen, total=len(chosen), label="simulating units")
    rows = [_unit_row(k, less, exact[less], losses=losses) for less in each]
    title = f"Units of {k} source packets over {losses.n_paths} paths, simulated; 95% intervals"
    print_table(rows, columns=_SENT_UNITS, title=title, output=output)
    if output.is_text:
        note = f" Units have no bytes where 2 k + r is above {_RS_PACKETS}." if 2 * k + r > _RS_PACKETS else ""
        explain(
            f"Packets cross links that lose them, {rows[0]['packets_units']} units in each row; of some their bytes do "
            "too, and a Reed-Solomon decoder says which fail. The law of the exact column gives "
            f"{exact[r]:.3g} for r = {r}, too seldom to be compared.{note}"
            if exact[r] * rows[0]["packets_units"] < _LEAST_FAILURES
            else "Packets cross links that lose them; of some units their bytes do too, for a Reed-Solomon decoder."
            + note
        )


def _units(n: int, losses: PathLosses) -> int:
    """Return how many units of n packets are sent that count."""
    return max(UNITS // 20, min(UNITS, _MOST_PACKETS // (n * units_apart(losses, n))))


def _failed(k: int, r: int, units: int, *, losses: PathLosses, payload: str = "") -> npt.NDArray[np.bool_]:
    """Return which units failed."""
    parts = sent_units(k, r=r, losses=losses, units=units, seed=SEED + r, payload=payload)
    return np.concatenate([part.failed for part in parts])


def _unit_row(k: int, r: int, prob: float, *, losses: PathLosses) -> dict[str, Any]:
    failed = _failed(k, r, _units(k + r, losses), losses=losses)
    within = wilson_interval(int(failed.sum()), trials=len(failed))
    row: dict[str, Any] = {"k": k, "r": r, "failure_prob": prob, "packets_units": len(failed)}
    row |= {"packets_failure_prob": float(failed.mean()), "packets_low": within.low, "packets_high": within.high}
    units = max(20, UNITS_WITH_BYTES // units_apart(losses, k + r))
    names = ("bytes_units", "bytes_failed", "bytes_packets_failed")
    if 2 * k + r > _RS_PACKETS:  # all packets sent are computed, and have numbers from k on
        return row | dict.fromkeys(names)
    carried, counted = (_failed(k, r, units, losses=losses, payload=payload) for payload in ("rs", ""))
    return row | dict(zip(names, (len(carried), int(carried.sum()), int(counted.sum())), strict=True))


def _check(window_packets: int, setting: UnitSetting) -> None:
    size, rtt_s = setting.packet_size, setting.rtt_long
    require(size == PACKET_BYTES, f"--packet-size {size}B: --simulate sends packets of {PACKET_BYTES}B")
    require(rtt_s <= MOST_RTT_S, f"--rtt-long {rtt_s * 1e3:g}ms: --simulate takes at most {MOST_RTT_S * 1e3:g}ms")
    most = min(queued_packets(rtt_long_s=rtt_s, rate_bps=setting.rate), MOST_CURVE_SIZES)
    rule = f"with --simulate at most {most}, those that a long flow has in flight for an RTT of --rtt-long"
    require(window_packets <= most, f"a window of {window_packets} packets, but {rule}")


def _paths(prob: float) -> tuple[int, int]:
    """Return a number of paths and how many of them are blocked, at the share nearest to a probability."""
    share = Fraction(prob).limit_denominator(_MOST_PATHS)
    times = max(1, _MOST_PATHS // 2 // share.denominator)
    return share.denominator * times, share.numerator * times


def _row(prob: float, k: int, *, window_packets: int, setting: UnitSetting) -> dict[str, Any]:
    curve = setting.curve(window_packets, prob)
    r = int(curve.r[k - 1])
    n_paths, blocked = _paths(prob)
    scenario = windows_scenario(
        k,
        r=r,
        n_paths=n_paths,
        blocked=blocked,
        window_packets=window_packets,
        windows=WINDOWS,
        rate_bps=setting.rate,
        rtt_short_s=setting.rtt_short,
        rtt_long_s=setting.rtt_long,
        seed=SEED,
    )
    result = simulate(scenario, scheme=PINNED, engine="compiled", progress=None)
    row: dict[str, Any] = {"asked_prob": prob, "blocking_prob": blocked / n_paths}
    row |= {"n_paths": n_paths, "blocked_paths": blocked, "k": k, "r": r}
    row |= {"formula_s": float(curve.delay_s[k - 1]), "windows": WINDOWS}
    for name, read in _READINGS.items():
        interval = mean_interval(read(result))
        row |= {f"{name}_s": interval.value, f"{name}_half_width_s": interval.half_width}
    return row


def _fastest(rows: list[dict[str, Any]], prob: float, best_k: int) -> str:
    """Return how long the best unit by the formula takes, beside the size that is fastest of those sent."""
    own = [row for row in rows if row["asked_prob"] == prob]
    (best,) = (row for row in own if row["k"] == best_k)
    first = min(own, key=lambda row: float(row["window_delay_s"]))
    mine, least = (
        with_error(1e3 * row["window_delay_s"], 1e3 * row["window_delay_half_width_s"]) for row in (best, first)
    )
    blocked = f"p_B = {best['blocking_prob']:.4g} ({best['blocked_paths']} of {best['n_paths']} paths)"
    fastest = f"of those sent, k = {first['k']} is fastest, {least} ms"
    return f"{blocked}: to the last ACK k = {best_k} takes {mine} ms; {fastest}."
