"""Parameter points of a coded window: their checks, and the delay of one (k, r) at each.

================================  ======  ==================  ====  ==========
Quantity                          Symbol  Name                Unit  Equation
================================  ======  ==================  ====  ==========
mean window delay of (k, r)       d_w     :func:`delay_s`     s     caps Eq. 4
================================  ======  ==================  ====  ==========
"""

from dataclasses import dataclass, fields
from typing import Literal, Self, get_args

import numpy as np
import numpy.typing as npt

from capsmodel.checks import FloatArray, ParameterError, Scalars, positive, probability, require, whole
from capsmodel.units import BITS_PER_BYTE

Objective = Literal["eq4", "with_redundancy_cost"]
DEFAULT_OBJECTIVE: Objective = "with_redundancy_cost"
Index = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Points:
    """Parameter points, one array entry each; `packet_s` is MSS/C."""

    window: FloatArray
    prob: FloatArray
    rtt_short_s: FloatArray
    rtt_long_s: FloatArray
    packet_s: FloatArray
    max_k: FloatArray

    def flat(self) -> Self:
        """Return the points as a list without shape."""
        return type(self)(*(np.ravel(getattr(self, field.name)) for field in fields(self)))

    def take(self, index: Index) -> Self:
        """Return the points at `index`."""
        return type(self)(*(getattr(self, field.name)[index] for field in fields(self)))


@dataclass(frozen=True)
class Rule:
    """How a delay is counted: with or without the cost of repair packets, w/k exact or rounded up."""

    redundancy_cost: bool
    whole_units: bool

    def units(self, at: Points, k: FloatArray | float) -> FloatArray:
        """Return the number of units of a window."""
        units = at.window / k
        return np.ceil(units) if self.whole_units else units


def delay_s(at: Points, rule: Rule, k: FloatArray | float, r: FloatArray, log_decode: FloatArray) -> FloatArray:
    """Return the mean window delay; both branches are sums of positive terms."""
    units = rule.units(at, k)
    log_window = units * log_decode
    buffered = at.rtt_short_s + (k - 1) * at.packet_s / 2
    delay = np.exp(log_window) * buffered - np.expm1(log_window) * at.rtt_long_s
    return delay + r * units * at.packet_s if rule.redundancy_cost else delay


def rule_of(objective: str, whole_units: bool) -> Rule:
    """Return the rule that `objective` names."""
    if objective not in get_args(Objective):
        raise ParameterError(f"objective = {objective!r}, but it must be one of {', '.join(get_args(Objective))}")
    return Rule(redundancy_cost=objective == "with_redundancy_cost", whole_units=whole_units)


def ordered_rtts(rtt_short_s: Scalars, rtt_long_s: Scalars) -> tuple[FloatArray, FloatArray]:
    """Check that both are above 0 and RTT_L is not below RTT_S; broadcast them."""
    short, long = np.broadcast_arrays(positive("rtt_short_s", rtt_short_s), positive("rtt_long_s", rtt_long_s))
    wrong = np.flatnonzero(long < short)
    if wrong.size:
        raise ParameterError(
            f"rtt_long_s = {long.flat[wrong[0]]:g} is below rtt_short_s = {short.flat[wrong[0]]:g}, but paths with "
            "long flows cannot be the faster ones: swap the two"
        )
    return short, long


def checked_window(window_packets: Scalars) -> FloatArray:
    """Check a congestion window: at least one packet."""
    window = positive("window_packets", window_packets)
    require(window >= 1, f"window_packets = {np.min(window, initial=1):g}, but a window holds at least 1 packet")
    return window


def checked_points(
    window_packets: Scalars,
    blocking_prob: Scalars,
    rtts_s: tuple[Scalars, Scalars],
    packet: tuple[Scalars, Scalars],
    max_k: Scalars,
) -> Points:
    """Check and broadcast; `packet`: its bytes and the rate."""
    packet_s = BITS_PER_BYTE * positive("packet_bytes", packet[0]) / positive("rate_bps", packet[1])
    columns = (
        checked_window(window_packets),
        probability("blocking_prob", blocking_prob),
        *ordered_rtts(*rtts_s),
        packet_s,
        whole("max_k", max_k, minimum=1),
    )
    return Points(*np.broadcast_arrays(*columns))


def search_points(
    window_packets: Scalars, blocking_prob: Scalars, fabric: tuple[Scalars, ...], max_k: Scalars | None, rule: Rule
) -> Points:
    """Check the points of a search over k; `fabric`: RTT_S, RTT_L, packet bytes, rate."""
    limit = np.floor(checked_window(window_packets)) if max_k is None else max_k
    at = checked_points(window_packets, blocking_prob, (fabric[0], fabric[1]), (fabric[2], fabric[3]), limit)
    check_within_window("max_k", at.max_k, at, rule)
    return at


def check_within_window(name: str, k: FloatArray, at: Points, rule: Rule) -> None:
    """Refuse units above the window where repair packets cost; the proof of the best r needs w/k >= 1."""
    require(
        not rule.redundancy_cost or bool(np.all(k <= at.window)),
        f"{name} exceeds window_packets, but a unit that is paid for cannot exceed the window: lower {name} or use eq4",
    )
