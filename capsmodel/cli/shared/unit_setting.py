"""The options of ``capsmodel optimal-k`` that say what the delay of a window depends on."""

from dataclasses import dataclass
from typing import Any

from cyclopts import Group, Parameter

from capsmodel.cli.shared.options import Flag, MaybeCount, Rate, Size, Time
from capsmodel.coding.caps_setting import SETTING
from capsmodel.coding.optimal_unit import MOST_CURVE_SIZES, DelayCurve, delay_curve
from capsmodel.coding.unit_parameters import DEFAULT_OBJECTIVE, Objective

SETTING_GROUP = Group("Setting", sort_key=30)


@Parameter(name="*", group=SETTING_GROUP)
@dataclass(frozen=True, kw_only=True)
class UnitSetting:
    """What the delay of a window depends on, besides window and blocking probability.

    Parameters
    ----------
    rate
        Rate C of a path.
    rtt_short
        Largest round-trip time of a path without long flows.
    rtt_long
        Largest round-trip time of a path with long flows.
    packet_size
        Size of a packet.
    objective
        CAPS Eq. 4 as printed, or with the time to send the repair packets.
    max_k
        Largest k to consider; the window when not given.
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
