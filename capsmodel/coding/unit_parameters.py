"""Parameters of the delay of a coded window, checked once, and the delay of one (k, r).

========================  ======  ==============================  ====  ==========
Quantity                  Symbol  Name                            Unit  Equation
========================  ======  ==============================  ====  ==========
mean window delay         d_w     :meth:`UnitParameters.delay_s`  s     caps Eq. 4
coding units of a window  w/k     :meth:`UnitParameters.units`    1     caps Eq. 4
========================  ======  ==============================  ====  ==========
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike

from capsmodel.checks import FloatArray, ParameterError, broadcast, choice, flag, positive, probability, require, whole
from capsmodel.units import serialisation_s

Objective = Literal["eq4", "with_redundancy_cost"]
DEFAULT_OBJECTIVE: Objective = "with_redundancy_cost"


@dataclass(frozen=True)
class UnitParameters:
    """Parameter points of a coded window: arrays of one shape, an entry each for every point.

    Attributes
    ----------
    window_packets : ndarray
        Congestion window w, packets, at least 1.
    blocking_prob : ndarray
        Probability p that a packet is blocked, in [0, 1).
    rtt_short_s, rtt_long_s : ndarray
        Largest round-trip time of paths without and with long flows, s; the second is not below the first.
    packet_s : ndarray
        Time MSS/C to send a packet, s.
    max_k : ndarray
        Largest number of source packets that a search considers, packets.
    objective : {"with_redundancy_cost", "eq4"}
        Whether the time to send the repair packets is part of the delay.
    whole_units : bool
        Whether w/k is rounded up.
    """

    window_packets: FloatArray
    blocking_prob: FloatArray
    rtt_short_s: FloatArray
    rtt_long_s: FloatArray
    packet_s: FloatArray
    max_k: FloatArray
    objective: Objective
    whole_units: bool

    @classmethod
    def checked(
        cls,
        window_packets: ArrayLike,
        *,
        blocking_prob: ArrayLike,
        rtt_short_s: ArrayLike,
        rtt_long_s: ArrayLike,
        packet_bytes: ArrayLike,
        rate_bps: ArrayLike,
        objective: Objective,
        whole_units: bool,
        max_k: ArrayLike | None = None,
    ) -> Self:
        """Check what a user gave and broadcast it; without `max_k` a search goes up to the window."""
        choice("objective", objective, get_args(Objective))
        window = checked_window(window_packets)
        window, prob, short_s, long_s, packet_s, limit = broadcast(
            window,
            probability("blocking_prob", blocking_prob),
            *ordered_rtts(rtt_short_s, rtt_long_s),
            serialisation_s(positive("packet_bytes", packet_bytes), rate_bps=positive("rate_bps", rate_bps)),
            np.floor(window) if max_k is None else whole("max_k", max_k, minimum=1),
        )
        parameters = cls(
            window_packets=window,
            blocking_prob=prob,
            rtt_short_s=short_s,
            rtt_long_s=long_s,
            packet_s=packet_s,
            max_k=limit,
            objective=objective,
            whole_units=flag("whole_units", whole_units),
        )
        parameters.require_within_window("max_k", parameters.max_k)
        return parameters

    @property
    def repair_costs(self) -> bool:
        """Whether the time to send the repair packets is part of the delay."""
        return self.objective == "with_redundancy_cost"

    def require_within_window(self, name: str, k: FloatArray) -> None:
        """Refuse units above the window where repair packets cost; the proof of the best r needs w/k >= 1."""
        require(
            not self.repair_costs or bool(np.all(k <= self.window_packets)),
            f"{name} exceeds window_packets, but a unit whose repair packets cost time cannot exceed the window: "
            f"lower {name} or use eq4",
        )

    def flat(self) -> Self:
        """Return the points as a list without shape."""
        return self._each(np.ravel)

    def shaped(self, shape: tuple[int, ...]) -> Self:
        """Return the points broadcast to a shape."""
        return self._each(lambda values: np.broadcast_to(values, shape))

    def _each(self, change: Callable[[FloatArray], FloatArray]) -> Self:
        """Return a copy with every array changed by `change`."""
        return replace(
            self,
            window_packets=change(self.window_packets),
            blocking_prob=change(self.blocking_prob),
            rtt_short_s=change(self.rtt_short_s),
            rtt_long_s=change(self.rtt_long_s),
            packet_s=change(self.packet_s),
            max_k=change(self.max_k),
        )

    def units(self, k: FloatArray | float) -> FloatArray:
        """Return the number of units of k source packets in a window."""
        units = self.window_packets / k
        return np.ceil(units) if self.whole_units else units

    def delay_s(self, k: FloatArray | float, *, r: FloatArray, log_decode_prob: FloatArray) -> FloatArray:
        """Return the mean window delay, s, of units that decode with that probability; all terms are positive."""
        units = self.units(k)
        decoded_s = self.rtt_short_s + (k - 1) * self.packet_s / 2
        delay = mean_of_two(units * log_decode_prob, decoded_s, self.rtt_long_s)
        return delay + r * units * self.packet_s if self.repair_costs else delay

    def uncoded_delay_s(self) -> FloatArray:
        """Return the mean window delay without coding, s."""
        return uncoded_delay_s(
            self.window_packets,
            blocking_prob=self.blocking_prob,
            rtt_short_s=self.rtt_short_s,
            rtt_long_s=self.rtt_long_s,
        )


def uncoded_delay_s(
    window_packets: FloatArray, *, blocking_prob: FloatArray, rtt_short_s: FloatArray, rtt_long_s: FloatArray
) -> FloatArray:
    """Return the mean delay of a window without coding, s, of arguments checked before."""
    return mean_of_two(window_packets * np.log1p(-blocking_prob), rtt_short_s, rtt_long_s)


def mean_of_two(log_prob: FloatArray, first_s: FloatArray, second_s: FloatArray) -> FloatArray:
    """Return the mean of two times, the first with the probability exp(log_prob)."""
    return np.exp(log_prob) * first_s - np.expm1(log_prob) * second_s


def ordered_rtts(rtt_short_s: ArrayLike, rtt_long_s: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Check that both are above 0 and RTT_L is not below RTT_S; broadcast them."""
    short, long = broadcast(positive("rtt_short_s", rtt_short_s), positive("rtt_long_s", rtt_long_s))
    if np.any(long < short):
        wrong = np.flatnonzero(long < short)
        raise ParameterError(
            f"rtt_long_s = {long.flat[wrong[0]]:g} is below rtt_short_s = {short.flat[wrong[0]]:g}, but paths with "
            "long flows cannot be the faster ones: swap the two"
        )
    return short, long


def checked_window(window_packets: ArrayLike) -> FloatArray:
    """Check a congestion window: at least one packet."""
    window = positive("window_packets", window_packets)
    if np.any(window < 1):
        raise ParameterError(f"window_packets = {np.min(window):g}, but a window holds at least 1 packet")
    return window
