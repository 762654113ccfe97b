"""``capsmodel optimal-k --simulate``: windows in coding units, sent packet by packet, beside the formula."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import msgspec

from capsim import LinkChange, Listed, Scenario, simulate
from capsmodel.checks import require
from capsmodel.cli.shared.numbers import with_error
from capsmodel.cli.shared.output import Output, explain, print_table
from capsmodel.cli.shared.table import Column
from capsmodel.cli.unit_setting import UnitSetting
from capsmodel.coding.optimal_unit import MOST_CURVE_SIZES
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


def _check(window_packets: int, setting: UnitSetting) -> None:
    size, rtt_s = setting.packet_size, setting.rtt_long
    require(size == _FULL_PACKET_BYTES, f"--packet-size {size}B: --simulate sends packets of {_FULL_PACKET_BYTES}B")
    require(rtt_s <= _MOST_RTT_S, f"--rtt-long {rtt_s * 1e3:g}ms: --simulate takes at most {_MOST_RTT_S * 1e3:g}ms")
    queued = _queued_packets(setting)
    most = min(queued, MOST_CURVE_SIZES)
    rule = f"with --simulate at most {most}, those that a long flow has in flight for an RTT of --rtt-long"
    require(window_packets <= most, f"a window of {window_packets} packets, but {rule}")


def _queued_packets(setting: UnitSetting) -> int:
    """Return the packets in flight of a long flow alone on its path, which make its round trip RTT_L."""
    return round(setting.rtt_long * setting.rate / (8 * _FULL_PACKET_BYTES))


def _paths(prob: float) -> tuple[int, int]:
    """Return a number of paths and how many of them are blocked, at the share nearest to a probability."""
    share = Fraction(prob).limit_denominator(_MOST_PATHS)
    times = max(1, _MOST_PATHS // 2 // share.denominator)
    return share.denominator * times, share.numerator * times


def _row(prob: float, k: int, *, window_packets: int, setting: UnitSetting) -> dict[str, Any]:
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


def _scenario(k: int, r: int, n_paths: int, blocked: int, window_packets: int, setting: UnitSetting) -> Scenario:
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
