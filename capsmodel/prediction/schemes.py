"""What a formula must know of a scheme: paths, order of service, control of windows, and a few numbers.

========= ============================================================ =========================================
Part      Values                                                       Examples
========= ============================================================ =========================================
`path`    ``one``, ``sprayed``: by flow or by packet                   ECMP; RPS
`order`   ``arrival``, ``priority``, ``remaining``: service at ports   FIFO; short flows first; pFabric
`nic`     ``turns``, ``arrival``: what a host sends next               RDMA NICs, ``fq``; ns-2
`control` ``marks``, ``delays``, ``losses``, ``none``: what cuts       DCTCP; NSCC with ports that trim; NewReno;
          windows                                                      pFabric
========= ============================================================ =========================================

What a prediction rests on, for short flows (mean and quantiles) and long ones (mean):

=========== ========================================================================================================
`derived`   no number of it was fitted to packets
`fitted`    constants of :mod:`~capsmodel.prediction.waits` and :mod:`~capsmodel.prediction.start` are in it
`bound`     flows take longer: timers, or what another order of service costs, are left out
=========== ========================================================================================================

NewReno over ports that drop has no formula. From 1 to 12% of its short flows meet a full port and wait for a timer,
which at about 1% moves the 99th percentile from one value to another; long flows lose retransmissions. What is left is
how long they would take if nothing were lost.
"""

from dataclasses import dataclass
from typing import Literal

from capsmodel.checks import choice, non_negative, one_number, positive, require, whole

Basis = Literal["derived", "fitted", "bound"]

_WORDS = {
    "path": ("one", "sprayed"),
    "order": ("arrival", "priority", "remaining"),
    "nic": ("turns", "arrival"),
    "control": ("marks", "delays", "losses", "none"),
}


@dataclass(frozen=True, kw_only=True)
class SchemeModel:
    """A scheme as its completion times depend on it.

    Parameters
    ----------
    path : {"one", "sprayed"}
        Whether a flow has one path or each of its packets another.
    order : {"arrival", "priority", "remaining"}
        Which packet a port sends first: the oldest, one of a short flow, one of the flow with the least left.
    nic : {"turns", "arrival"}
        Whether a host sends a packet of each flow in turn, or as they came; with another `order` than ``arrival``
        hosts send by it.
    control : {"marks", "delays", "losses", "none"}
        What makes windows smaller.
    first_window_packets : float
        Window at the beginning, in packets, at least 1.
    most_window_packets : float
        Largest window, in packets, at least `first_window_packets`.
    standing_packets : float
        What a port that several flows share keeps in its queue, in packets, at least 0: the threshold K with ``marks``,
        the length from which it trims with ``delays``.
    payload_bytes, header_bytes, ack_bytes : int
        Of a full packet and of an acknowledgement, in bytes; payload at least 1.

    Raises
    ------
    ParameterError
        If an argument leaves its range.

    Examples
    --------
    >>> SchemeModel(path="one", control="marks", first_window_packets=10, standing_packets=15).short_basis
    'fitted'
    """

    path: str = "one"
    order: str = "arrival"
    nic: str = "turns"
    control: str = "marks"
    first_window_packets: float = 10.0
    most_window_packets: float = float("inf")
    standing_packets: float = 0.0
    payload_bytes: int = 1460
    header_bytes: int = 40
    ack_bytes: int = 64

    def __post_init__(self) -> None:
        for name, words in _WORDS.items():
            choice(name, getattr(self, name), words)
        first = one_number(positive, "first_window_packets", self.first_window_packets)
        require(first >= 1, f"first_window_packets = {first:g}, but it must be at least 1")
        enough = self.most_window_packets >= first
        require(enough, f"most_window_packets = {self.most_window_packets:g}, below first_window_packets = {first:g}")
        one_number(non_negative, "standing_packets", self.standing_packets)
        one_number(whole, "payload_bytes", self.payload_bytes, minimum=1)
        for name in ("header_bytes", "ack_bytes"):
            one_number(whole, name, getattr(self, name))

    @property
    def packet_bytes(self) -> int:
        """Size of a full packet, in bytes."""
        return self.payload_bytes + self.header_bytes

    @property
    def wire_ratio(self) -> float:
        """What links carry for each byte of payload, acknowledgements included, a ratio."""
        return (self.packet_bytes + self.ack_bytes) / self.payload_bytes

    @property
    def short_basis(self) -> Basis:
        """What mean and quantiles of short flows rest on."""
        if self.order != "arrival":
            return "derived"
        return self._basis()

    @property
    def long_basis(self) -> Basis:
        """What the mean of long flows rests on."""
        return "bound" if self.order != "arrival" else self._basis()

    def _basis(self) -> Basis:
        if self.control == "losses":
            return "bound"
        return "derived" if self.control == "none" and self.nic == "turns" else "fitted"


__all__ = ["Basis", "SchemeModel"]
